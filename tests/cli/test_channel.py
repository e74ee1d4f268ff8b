"""`dalenius channel`: every key against hand calculations, designs, curves, and one sentence for every bad input."""

from __future__ import annotations

import csv
import json
import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from dalenius.cli import app

Cli = Callable[..., tuple[int, str, str]]


@pytest.fixture
def cli(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Cli:
    monkeypatch.chdir(tmp_path)
    Path("m.csv").write_text("x,a,b\na,0.8,0.2\nb,0.3,0.7\n")
    Path("p.csv").write_text("value,probability\na,0.6\nb,0.4\n")

    def call(*arguments: str | Path) -> tuple[int, str, str]:
        code = app.run(["channel", *map(str, arguments)])
        found = capsys.readouterr()
        return code, found.out, found.err

    return call


def document(cli: Cli, *arguments: str | Path) -> dict[str, Any]:
    code, out, err = cli(*arguments, "--json", "-")
    assert code == 0, err
    found: dict[str, Any] = json.loads(out)
    return found


def test_every_number_by_hand(cli: Cli) -> None:
    found = document(cli, "m.csv", "--prior", "p.csv")
    joint = {("a", "a"): 0.48, ("a", "b"): 0.12, ("b", "a"): 0.12, ("b", "b"): 0.28}
    p_y = {"a": 0.6, "b": 0.4}
    assert found["average_privacy"] == pytest.approx(0.12 + 0.12)
    assert found["worst_case_privacy"] == pytest.approx(0.12 / 0.6)
    assert found["worst_observation"] == "a"
    assert found["prior_privacy"] == pytest.approx(0.4)
    assert found["distortion"] == pytest.approx(0.24)
    assert found["utility"] == pytest.approx(0.76)
    information = sum(p * math.log2(p / (p_y[x] * p_y[y])) for (x, y), p in joint.items())
    assert found["mutual_information"] == pytest.approx(information)
    entropy = -sum(p * math.log2(p / p_y[y]) for (_, y), p in joint.items())
    assert found["shannon_entropy"] == pytest.approx(entropy)
    assert found["min_entropy"] == pytest.approx(-math.log2(0.48 + 0.28))
    assert found["worst_min_entropy"] == pytest.approx(-math.log2(0.8))
    assert found["hartley_entropy"] == 1
    divergence = {y: sum(joint[x, y] / p_y[y] * math.log2(joint[x, y] / p_y[y] / p_y[x]) for x in "ab") for y in "ab"}
    assert found["t_kl"] == pytest.approx(max(divergence.values()))
    assert found["t_emd"] == pytest.approx(0.3)  # p(b|b) = 0.7 against 0.4
    assert found["t_emd_ground"] == "hamming"
    ratio = max(abs(math.log(joint[x, y] / p_y[y] / p_y[x])) for x in "ab" for y in "ab")
    assert found["delta_disclosure_nats"] == pytest.approx(ratio)
    assert found["delta_disclosure"] == pytest.approx(ratio / math.log(2))
    assert found["epsilon"]["local"] == pytest.approx(math.log(0.7 / 0.2))
    assert found["units"]["mutual_information"] == found["units"]["entropies"] == "bits"
    assert found["prior"] == "given"
    for bound in found["bounds"]:
        low, high = sorted((bound["exact"], bound["bound"])) if bound["direction"] == "at most" else (0, 0)
        assert (low, high) == (0, 0) or bound["exact"] == low or bound["exact"] == pytest.approx(high), bound


def test_no_bound_of_any_model_is_violated(cli: Cli) -> None:
    for text in ("flip:p=0.2", "crowds:n=7,p=0.4", "geometric:n=6,epsilon=0.7", "randomized-response:n=4,p=0.5",
                 "gaussian:grid=3,sigma=1", "planar-laplace:grid=3,epsilon=1", "threshold-mix:n=4",
                 "pool-mix:n=3,f=2,rounds=5"):  # fmt: skip
        found = document(cli, "--model", text)
        assert len(found["bounds"]) >= 15
        for bound in found["bounds"]:
            exact, limit = (math.inf if bound[key] == "inf" else bound[key] for key in ("exact", "bound"))
            slack = 1e-9
            assert exact <= limit + slack if bound["direction"] == "at most" else exact >= limit - slack, (text, bound)


def test_crowds_is_the_papers_formula(cli: Cli) -> None:
    found = document(cli, "--model", "crowds:n=10,p=0.3")
    assert found["average_privacy"] == pytest.approx(0.7 * 0.9)
    assert found["worst_case_privacy"] == pytest.approx(0.7 * 0.9)
    assert found["prior"] == "uniform"
    assert found["hartley_entropy"] == pytest.approx(math.log2(10))
    assert found["anonymity"]["reiter_rubin_worst"] == pytest.approx(0.63)
    assert found["anonymity"]["berthold"] == pytest.approx(math.log2(10))
    assert 0 < found["anonymity"]["edman"] < 1


def test_without_a_prior_a_matrix_is_uniform_and_says_so(cli: Cli) -> None:
    code, _, err = cli("m.csv")
    assert code == 0
    assert "equally likely" in err
    assert document(cli, "m.csv")["prior"] == "uniform"
    assert document(cli, "m.csv")["prior_privacy"] == 0.5


def test_outputs_that_are_no_inputs_have_no_distortion(cli: Cli) -> None:
    Path("o.csv").write_text("x,u,v\na,0.8,0.2\nb,0.3,0.7\n")
    found = document(cli, "o.csv", "--prior", "p.csv")
    assert found["distortion"] is None
    assert found["system_loss"] is None
    Path("d.csv").write_text("x,v,u\na,2,0\nb,0,1\n")
    found = document(cli, "o.csv", "--prior", "p.csv", "--system-loss", "d.csv")
    assert found["distortion"] == pytest.approx(0.6 * 0.2 * 2 + 0.4 * 0.3)
    assert found["utility"] is None  # a loss above 1 has no such thing


def test_squared_loss_has_the_mean_and_the_labels_beside_it(cli: Cli) -> None:
    Path("n.csv").write_text("x,0,10\n0,0.5,0.5\n10,0.5,0.5\n")
    found = document(cli, "n.csv", "--loss", "squared")
    assert (found["average_privacy"], found["label_privacy"], found["estimate"]) == (25, 50, "mean")
    assert found["t_emd_ground"] == "absolute"
    assert document(cli, "n.csv", "--loss", "absolute")["average_privacy"] == 5


def test_a_loss_from_a_file_and_along_a_hierarchy(cli: Cli) -> None:
    Path("l.csv").write_text("x,left,right\nb,1,0\na,0,3\n")
    found = document(cli, "m.csv", "--prior", "p.csv", "--loss", "l.csv")
    assert found["average_privacy"] == pytest.approx(min(0.12, 0.48 * 3) + min(0.28, 0.12 * 3))
    Path("t.csv").write_text("x,flu,cold,gout\nflu,1,0,0\ncold,0,1,0\ngout,0,0,1\n")
    Path("all.csv").write_text("x,flu\nflu,1\ncold,1\ngout,1\n")
    Path("h.csv").write_text("flu,lung,*\ncold,lung,*\ngout,joint,*\n")
    found = document(cli, "all.csv", "--loss", "hierarchy", "--hierarchy", "h.csv")
    assert found["average_privacy"] == pytest.approx((0 + 0.5 + 1) / 3)


def test_an_unknown_that_is_not_the_input_what_is_seen_and_known(cli: Cli) -> None:
    Path("j.csv").write_text("x,sick,well\na,0.1,0.5\nb,0.3,0.1\n")
    found = document(cli, "m.csv", "--joint", "j.csv")
    seen = {(v, y): sum(j[v] * w[y] for j, w in zip(JOINT, MATRIX, strict=True)) for v in range(2) for y in range(2)}
    expected = 1 - sum(max(seen[0, y], seen[1, y]) for y in range(2))
    assert found["average_privacy"] == pytest.approx(expected)
    assert found["distortion"] == pytest.approx(0.6 * 0.2 + 0.4 * 0.3)
    Path("o.csv").write_text("y,same\na,1\nb,1\n")
    assert document(cli, "m.csv", "--joint", "j.csv", "--observation", "o.csv")["average_privacy"] == pytest.approx(0.4)
    Path("k.csv").write_text("x,yes,no\nsick,1,0\nwell,0,1\n")
    assert document(cli, "m.csv", "--joint", "j.csv", "--background", "k.csv")["average_privacy"] == pytest.approx(0)


JOINT = ((0.1, 0.5), (0.3, 0.1))
MATRIX = ((0.8, 0.2), (0.3, 0.7))


def test_an_attacker_with_a_wrong_prior(cli: Cli) -> None:
    Path("w.csv").write_text("value,probability\na,0.01\nb,0.99\n")
    found = document(cli, "m.csv", "--prior", "p.csv", "--assumed-prior", "w.csv")
    assert found["mistaken"]["error"] == pytest.approx(0.6)  # it always says b
    code, out, _ = cli("m.csv", "--prior", "p.csv", "--assumed-prior", "w.csv")
    assert code == 0
    assert "has an error of 0.6 " in out


def test_epsilon_knows_no_prior(cli: Cli) -> None:
    """Inputs that never occur are neighbours, too."""
    Path("e.csv").write_text("x,0,1\n0,0.5,0.5\n1,0.5,0.5\n2,1,0\n")
    Path("q.csv").write_text("value,probability\n0,0.5\n1,0.5\n2,0\n")
    found = document(cli, "e.csv", "--prior", "q.csv")
    assert found["epsilon"] == {"local": "inf", "adjacent": "inf", "per_distance": "inf"}
    Path("q.csv").write_text("value,probability\n0,0.5\n1,0\n2,0.5\n")
    assert document(cli, "--model", "geometric:n=2,epsilon=1", "--prior", "q.csv")["epsilon"][
        "adjacent"
    ] == pytest.approx(1)


def test_rows_printed_with_few_digits_are_rows_that_sum_to_1(cli: Cli) -> None:
    Path("third.csv").write_text(
        "x,a,b,c\na,0.333333,0.333333,0.333333\nb,0.333333,0.333333,0.333333\nc,0.3333335,0.3333335,0.333333\n"
    )
    found = document(cli, "third.csv")
    assert found["distortion"] == pytest.approx(2 / 3, abs=1e-6)
    assert found["epsilon"]["local"] < 1e-5


def test_a_file_that_is_called_hamming_is_not_that_loss(cli: Cli) -> None:
    Path("hamming.csv").write_text("x,a,b\na,0,5\nb,1,0\n")
    Path("sub").mkdir()
    Path("sub/hamming").write_text("x,a,b\na,0,5\nb,1,0\n")
    found = document(cli, "m.csv", "--prior", "p.csv", "--loss", "sub/hamming")
    assert found["loss"] != "hamming"
    assert not any("Fano" in bound["formula"] for bound in found["bounds"])
    assert (
        found["average_privacy"]
        == document(cli, "m.csv", "--prior", "p.csv", "--loss", "hamming.csv")["average_privacy"]
    )


def test_a_mistaken_attacker_whose_estimates_are_no_values(cli: Cli) -> None:
    Path("l.csv").write_text("x,left,right\nb,1,0\na,0,3\n")
    found = document(cli, "m.csv", "--prior", "p.csv", "--loss", "l.csv", "--assumed-prior", "p.csv")
    assert found["mistaken"]["correctness"] is None
    assert found["mistaken"]["error"] == pytest.approx(found["average_privacy"])


def test_values_that_were_never_sampled_may_be_the_truth(cli: Cli) -> None:
    Path("few.csv").write_text("input,output\na,x\na,y\na,x\n")
    found = document(cli, "--samples", "few.csv")["estimated"]
    assert found["low"] == 0
    assert found["high"] > 0.9  # and not 0, as if there were no other value


def test_samples_have_an_interval(cli: Cli) -> None:
    rng = np.random.default_rng(0)
    x = rng.choice(2, size=4000, p=[0.6, 0.4])
    y = np.where(x == 0, rng.random(4000) < 0.2, rng.random(4000) < 0.7)
    with Path("s.csv").open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["input", "output"])
        writer.writerows(("ab"[i], "ab"[int(j)]) for i, j in zip(x, y, strict=True))
    found = document(cli, "--samples", "s.csv")
    assert found["estimated"]["samples"] == 4000
    assert found["estimated"]["low"] <= 0.24 <= found["estimated"]["high"]
    assert found["estimated"]["privacy"] == pytest.approx(found["average_privacy"])
    assert found["estimated"]["high"] - found["estimated"]["low"] < 0.1
    Path("c.csv").write_text("output,input,count\na,a,480\nb,a,120\na,b,120\nb,b,280\n")
    assert document(cli, "--samples", "c.csv")["average_privacy"] == pytest.approx(0.24)


def test_classes_of_a_release(cli: Cli) -> None:
    Path("r.csv").write_text("city,disease\nA,Flu\nA,Flu\nA,Gout\nB,Flu\nB,Acne\n*,Gout\n")
    Path("privacy.toml").write_text(
        'sensitive = "disease"\n[columns.city]\nrole = "quasi"\n[columns.disease]\nrole = "sensitive"\n'
    )
    found = document(cli, "--release", "r.csv")
    assert found["average_privacy"] == pytest.approx(2 / 6)
    assert found["prior_privacy"] == pytest.approx(3 / 6)
    assert found["distortion"] is None
    assert found["prior"] == "shares"


def test_a_design_describes_the_channel_it_made(cli: Cli) -> None:
    """The uniform bit: the best average privacy at distortion D is D, and mutual information 1 − h(D)."""
    Path("bit.csv").write_text("x,0,1\n0,1,0\n1,0,1\n")
    for objective in ("average", "worst-case"):
        found = document(cli, "bit.csv", "--design", objective, "--distortion", "0.2")
        assert found["average_privacy"] == pytest.approx(0.2, abs=1e-6)
        assert found["design"]["value"] == pytest.approx(0.2, abs=1e-6)
        assert found["design"]["bound"] >= found["design"]["value"] - 1e-9
        assert found["distortion"] <= 0.2 + 1e-9
    found = document(cli, "bit.csv", "--design", "mutual-information", "--distortion", "0.2", "-o", "w.csv")
    h = -0.2 * math.log2(0.2) - 0.8 * math.log2(0.8)
    assert found["mutual_information"] == pytest.approx(1 - h, abs=1e-9)
    assert found["design"]["gap"] <= 2e-9
    np.testing.assert_allclose(found["matrix"], [[0.8, 0.2], [0.2, 0.8]], atol=1e-4)
    again = document(cli, "w.csv")
    assert again["mutual_information"] == pytest.approx(found["mutual_information"], abs=1e-12)


def test_the_curve_as_csv_and_page(cli: Cli) -> None:
    code, out, err = cli("m.csv", "--prior", "p.csv", "--design", "average", "--curve", "--points", "5", "-o", "trade")
    assert code == 0, err
    with Path("trade.csv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    assert [float(row["distortion"]) for row in rows] == pytest.approx([0, 0.1, 0.2, 0.3, 0.4])
    assert [float(row["value"]) for row in rows] == pytest.approx([0, 0.1, 0.2, 0.3, 0.4], abs=1e-6)
    page = Path("trade.html").read_text(encoding="utf-8")
    assert "<svg" in page
    assert "http" not in page.replace("http://www.w3.org", "")
    assert "trade.csv" in out
    found = document(cli, "m.csv", "--prior", "p.csv", "--design", "mutual-information", "--curve", "--points", "4")
    values = [point["value"] for point in found["curve"]]
    assert values == sorted(values, reverse=True)
    assert values[0] == pytest.approx(-0.6 * math.log2(0.6) - 0.4 * math.log2(0.4))
    assert values[-1] == pytest.approx(0, abs=1e-9)


def test_models_are_listed(cli: Cli) -> None:
    code, out, _ = cli("--model", "list")
    assert code == 0
    for name in ("flip", "crowds", "pool-mix", "planar-laplace"):
        assert name in out
    assert set(document(cli, "--model", "list")["models"]) >= {"flip", "crowds"}


BAD = [
    (("bad.csv",), {"bad.csv": "x,a,b\na,0.8,0.2\nb,0.3,0.6\n"}, "the row of input 'b' sums to 0.9, 0.1 too little"),
    (("bad.csv",), {"bad.csv": "x,a,b\na,0.8,0.2\nb,0.3,0.75\n"}, "sums to 1.05, 0.05 too much"),
    (("bad.csv",), {"bad.csv": "x,a,b\na,1.2,-0.2\nb,0.3,0.7\n"}, "bad.csv, row 0, column 'b': that number is below 0"),
    (("bad.csv",), {"bad.csv": "x,a,b\na,one,0\nb,0.3,0.7\n"}, "row 0, column 'a': a number is needed"),
    (("bad.csv",), {"bad.csv": "x,a\n"}, "a header and no rows"),
    (("m.csv", "--prior", "q.csv"), {"q.csv": "value,probability\na,0.6\nc,0.4\n"}, "1 are missing and 1 are unknown"),
    (("m.csv", "--prior", "q.csv"), {"q.csv": "value,probability\na,0.6\nb,0.3\n"}, "sums to 0.9, 0.1 too little"),
    (("m.csv", "--loss", "l.csv"), {"l.csv": "x,a,b\na,0,1\n"}, "1 rows and 2 columns, and there are 2 values"),
    (("m.csv", "--loss", "l.csv"), {"l.csv": "x,a,b\na,0,1\nc,1,0\n"}, "'b' has no row"),
    (("m.csv", "--loss", "l.csv"), {"l.csv": "x,a,b\na,0,-1\nb,1,0\n"}, "negative or not a number"),
    (("m.csv", "--loss", "haming"), {}, "and no such file. Did you mean 'hamming'"),
    (("m.csv", "--loss", "gone.csv"), {}, "and no such file"),
    (("m.csv", "--loss", "l.csv"), {"l.csv": "x,a\na,0\nb,1\n"}, "a column for 1 of the 2 values only"),
    (("m.csv", "--loss", "l.csv"), {"l.csv": "x,a,b\na,0,1e300\nb,1,0\n"}, "too large"),
    (("m.csv", "--hierarchy", "p.csv"), {}, "--hierarchy is for --loss hierarchy"),
    (("m.csv", "--sensitive", "x"), {}, "--sensitive is for a release"),
    (("m.csv", "--schema", "x.toml"), {}, "--schema is for a release"),
    (("p.csv",), {}, "that is a prior"),
    (("bad.csv",), {"bad.csv": "name,salary\nAlice,52000\n"}, "row 0, column 'salary': that number is above 1"),
    (("bad.csv",), {"bad.csv": "x,a\na,1\na,1\n"}, "row 1: that row has the name of another one"),
    (("m.csv", "--design", "average", "--curve", "--order", "2"), {}, "--order is for one channel"),
    (("m.csv", "--design", "average", "--distortion", "0.1", "-o", "-"), {}, "needs a file"),
    (("m.csv", "--json", "m.csv"), {}, "this command reads that file"),
    (
        ("m.csv", "--loss", "l.csv", "--json", "l.csv"),
        {"l.csv": "x,a,b\na,0,1\nb,1,0\n"},
        "this command reads that file",
    ),
    (("m.csv", "--json", "nodir/x.json"), {}, "does not exist"),
    (("m.csv", "--design", "average", "--distortion", "0.1", "-o", "x", "--json", "x"), {}, "cannot both be written"),
    (("--samples", "s.csv"), {"s.csv": "input,output,Count\na,b,3\n"}, "Did you mean 'count'"),
    (
        ("--samples", "s.csv", "--design", "average", "--distortion", "1"),
        {"s.csv": "input,output\na,b\n"},
        "MATRIX or --model",
    ),
    (("m.csv", "--model", "list"), {}, "not MATRIX and --model"),
    (("m.csv", "--loss", "absolute"), {}, "needs numeric labels"),
    (("m.csv", "--loss", "hierarchy"), {}, "needs a hierarchy"),
    (("none.csv",), {}, "none.csv"),
    ((), {}, "none is given"),
    (("m.csv", "--model", "flip:p=0.1"), {}, "not MATRIX and --model"),
    (("--model", "crowd:n=3"), {}, "Did you mean 'crowds'"),
    (("--model", "crowds:n=3"), {}, "came without p"),
    (("--model", "crowds:n=3,p=2"), {}, "must be a number"),
    (("m.csv", "--design", "best", "--distortion", "1"), {}, "no such objective"),
    (("m.csv", "--design", "average"), {}, "needs --distortion"),
    (("m.csv", "--distortion", "0.1"), {}, "Add --design"),
    (("m.csv", "--curve"), {}, "Add --design"),
    (("m.csv", "--points", "3"), {}, "Add --curve"),
    (("o.csv", "--design", "average", "--distortion", "1"), {"o.csv": "x,u\na,1\nb,1\n"}, "Pass --system-loss"),
    (
        ("o.csv", "--design", "average", "--distortion", "0.1", "--system-loss", "d.csv"),
        {"o.csv": "x,u\na,1\nb,1\n", "d.csv": "x,u\na,1\nb,2\n"},
        "cannot be below 1.5",
    ),
    (
        ("o.csv", "--design", "mutual-information", "--distortion", "0.1", "--system-loss", "d.csv"),
        {"o.csv": "x,u\na,1\nb,1\n", "d.csv": "x,u\na,1\nb,2\n"},
        "cannot be below 1.5",
    ),
    (("m.csv", "--design", "average", "--distortion", "-1"), {}, "The '--distortion' parameter of channel"),
    (("m.csv", "--design", "worst-case", "--distortion", "nan"), {}, "distortion"),
    (("m.csv", "--joint", "j.csv", "--prior", "p.csv"), {"j.csv": "x,s\na,0.5\nb,0.5\n"}, "Leave --prior out"),
    (("m.csv", "--joint", "j.csv"), {"j.csv": "x,s\na,0.5\nb,0.4\n"}, "the joint sums to 0.9"),
    (("m.csv", "--observation", "j.csv"), {"j.csv": "x,s\na,1\n"}, "'b' has no row"),
    (("--samples", "s.csv"), {"s.csv": "input,out\na,b\n"}, "have no column 'out'"),
    (("--samples", "s.csv"), {"s.csv": "input,count\na,1\n"}, "input and output"),
    (("--samples", "s.csv"), {"s.csv": "input,output,count\na,b,-1\n"}, "a whole number"),
    (("--samples", "s.csv", "--prior", "p.csv"), {"s.csv": "input,output\na,b\nb,b\n"}, "--prior is not needed"),
    (("m.csv", "--confidence", "2"), {}, "The '--confidence' parameter of channel"),
    (("m.csv", "--order", "-1"), {}, "The '--order' parameter of channel"),
    (("m.csv", "--prior", "p.csv", "-o", "m.csv", "--design", "average", "--distortion", "0.1"), {}, "m.csv"),
]


@pytest.mark.parametrize(("arguments", "files", "message"), BAD)
def test_bad_input_is_one_sentence(cli: Cli, arguments: tuple[str, ...], files: dict[str, str], message: str) -> None:
    for name, text in files.items():
        Path(name).write_text(text)
    code, out, err = cli(*arguments)
    assert code == 2, out
    assert message in err
    assert "Traceback" not in err
    assert out == ""


def test_no_value_of_a_person_is_named(cli: Cli) -> None:
    """Of a release and of samples an error says what does not fit, and not which value."""
    Path("r.csv").write_text("city,disease\nA,Flu\nA,Flu\n*,AIDS\n")
    Path("privacy.toml").write_text(
        'sensitive = "disease"\n[columns.city]\nrole = "quasi"\n[columns.disease]\nrole = "sensitive"\n'
    )
    Path("s.csv").write_text("input,output\nAIDS,x\nFlu,y\n")
    Path("h.csv").write_text("Gout,*\n")
    Path("k.csv").write_text("x,yes\nGout,1\n")
    for source in (("--release", "r.csv"), ("--samples", "s.csv")):
        for wrong in (
            ("--loss", "absolute"),
            ("--loss", "hierarchy", "--hierarchy", "h.csv"),
            ("--background", "k.csv"),
        ):
            code, out, err = cli(*source, *wrong)
            assert code == 2
            assert "does not fit the values that people have" in err
            assert "AIDS" not in err + out
            assert "Flu" not in err + out


def test_a_release_survives_a_slip(cli: Cli) -> None:
    Path("r.csv").write_text("city,disease\nA,Flu\nA,Flu\n")
    Path("privacy.toml").write_text(
        'sensitive = "disease"\n[columns.city]\nrole = "quasi"\n[columns.disease]\nrole = "sensitive"\n'
    )
    for target in ("r.csv", "privacy.toml"):
        before = Path(target).read_text()
        code, _, err = cli("--release", "r.csv", "--json", target)
        assert code == 2
        assert "this command reads that file" in err
        assert Path(target).read_text() == before


def test_squared_designs_say_whom_they_are_against(cli: Cli) -> None:
    Path("n.csv").write_text("x,0,1,3\n0,1,0,0\n1,0,1,0\n3,0,0,1\n")
    common = ("n.csv", "--loss", "squared", "--system-loss", "absolute", "--design", "average", "--distortion", "0.5")
    found = document(cli, *common)
    assert found["design"]["attacker"] == "answers with labels"
    assert found["average_privacy"] < found["design"]["value"]
    assert found["label_privacy"] == pytest.approx(found["design"]["value"])
    code, out, _ = cli(*common)
    assert code == 0
    assert "against an attacker who answers with labels" in " ".join(out.split())
    assert document(cli, "n.csv", "--design", "average", "--distortion", "0.2")["design"]["attacker"] == "answers best"


def test_what_is_asked_for_is_shown(cli: Cli) -> None:
    _, out, _ = cli("m.csv", "--order", "3", "--confidence", "0.9")
    assert "Rényi, order 3" in out
    assert "Sets of 90% confidence" in out
    _, out, _ = cli("--model", "crowds:n=5,p=0.3")
    assert "Edman" in out
    _, out, _ = cli("--model", "planar-laplace:grid=3,epsilon=1")
    assert "ε, per unit of distance" in out
    assert set(document(cli, "m.csv", "--order", "1.0000000001", "--order", "1")["renyi_entropy"]) == {
        "1",
        "1.0000000001",
    }


def test_the_curve_and_one_channel_of_it(cli: Cli) -> None:
    code, _, err = cli(
        "m.csv",
        "--prior",
        "p.csv",
        "--design",
        "average",
        "--distortion",
        "0.1",
        "--curve",
        "--points",
        "3",
        "-o",
        "t.csv",
    )
    assert code == 0, err
    assert sorted(path.name for path in Path().glob("t*")) == ["t.channel.csv", "t.csv", "t.html"]


def test_the_screen(cli: Cli) -> None:
    code, out, _ = cli("m.csv", "--prior", "p.csv")
    assert code == 0
    assert max(map(len, out.splitlines())) <= 80
    for words in (
        "average privacy",
        "worst-case privacy",
        "Shannon entropy",
        "δ-disclosure",
        "2 d_max TV",
        "√2 d_max √t",
    ):
        assert words in out
    assert "nan" not in out
