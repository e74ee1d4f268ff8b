"""ε of noisy counts follows from their noise, whatever their file states.

The ε of a mechanism is enumerated here from its definition: over all pairs of neighbouring tables of at most two people, the
largest logarithm of how much likelier an output is under one than under the other. Nothing of the program is used for it.
"""

from __future__ import annotations

import dataclasses
import itertools
import json
import math
from collections import Counter
from pathlib import Path

import pytest

import dalenius as dl
from dalenius.cli.app import run as main
from dalenius.errors import DaleniusError
from dalenius.publishers.noisy_counts import Counts
from dalenius.releases import NoisyCounts

LOW, HIGH = 3, 5
SCHEMA = dl.Schema(
    [
        dl.Column("a", "quasi", domain=dl.Domain(("x", "y"))),
        dl.Column("b", "quasi", domain=dl.Domain(("u", "v"))),
        dl.Column("age", "quasi", "integer", domain=dl.Domain(("3", "4", "5"))),
        dl.Column("s", "sensitive", domain=dl.Domain(("p", "q"))),
    ]
)
TYPES = list(itertools.product("xy", "uv", (3, 4, 5), "pq"))  # everybody who can be
LAYOUTS = {  # which columns each table counts; age either counted or Gaussian
    "each alone": ([("a",), ("b",), ("age",)], False),
    "two together": ([("age",), ("a", "b")], False),
    "age is Gaussian": ([("a",), ("b",)], True),
    "Gaussian and joint": ([("a", "b")], True),
}


def numbers(people: tuple, layout: str) -> dict[tuple, tuple[int, int]]:
    """Every published number without noise, with the width of its noise against the scale."""
    tables, gaussian = LAYOUTS[layout]
    found: Counter = Counter()
    reach = HIGH - LOW
    units = {"n": 1, "sum": reach, "squares": reach**2}
    for a, b, age, s in people:
        row = {"a": a, "b": b, "age": age}
        for names in tables:
            found[names, tuple(row[name] for name in names), s] += 1
        if gaussian:
            for query, amount in (("n", 1), ("sum", age - LOW), ("squares", (age - LOW) ** 2)):
                found["gaussian", query, s] += amount
    return {place: (count, units[place[1]] if place[0] == "gaussian" else 1) for place, count in found.items()}


def log_ratio(mechanism: str, width: float, one: int, other: int) -> float:
    """The largest ln Pr[output | one]/Pr[output | other] over outputs."""
    if mechanism == "geometric":
        outputs = [float(o) for o in range(min(one, other) - 3, max(one, other) + 4)]
        mass = (1 - math.exp(-1 / width)) / (1 + math.exp(-1 / width))
    else:
        outputs = [min(one, other) - 3 + i / 8 for i in range(8 * (abs(one - other) + 6) + 1)]
        mass = 1 / (2 * width)

    def log_likely(output: float, true: int) -> float:
        return math.log(mass) - abs(output - true) / width

    return max(log_likely(o, one) - log_likely(o, other) for o in outputs)


def enumerated(layout: str, mechanism: str, scale: float, neighbours: str) -> float:
    """The ε of the mechanism."""
    pairs: list[tuple[tuple, tuple]]
    if neighbours == "add-remove":
        pairs = [((), (one,)) for one in TYPES] + [((other,), (other, one)) for one in TYPES for other in TYPES[:3]]
    else:
        pairs = [((one,), (other,)) for one in TYPES for other in TYPES]
    worst = 0.0
    for before, after in pairs:
        one, other = numbers(before, layout), numbers(after, layout)
        for left, right in ((one, other), (other, one)):
            spent = 0.0
            for place in {**left, **right}:
                unit = (left.get(place) or right[place])[1]
                counts = [side.get(place, (0, unit))[0] for side in (left, right)]
                spent += log_ratio(mechanism, scale * unit, *counts)
            worst = max(worst, spent)
    return worst


def write(folder: Path, layout: str, **meta: object) -> Path:
    """A file of counts of nobody, as another tool may write it."""
    tables, gaussian = LAYOUTS[layout]
    values = {"a": "xy", "b": "uv", "age": "345"}
    lines = ["column,value,s,count"]
    for names in tables:
        for row in itertools.product(*(values[name] for name in names)):
            column = names[0] if len(names) == 1 else json.dumps(list(names)).replace('"', '""')
            value = row[0] if len(names) == 1 else json.dumps(list(row)).replace('"', '""')
            lines += [f'"{column}","{value}",{s},0' for s in "pq"]
    if gaussian:
        lines += [f"age,{query},{s},0" for query in ("n", "sum", "squares") for s in "pq"]
        meta["gaussian"] = {"age": {"low": LOW, "high": HIGH}}
    (folder / "c.counts.csv").write_text("\n".join(lines) + "\n", encoding="utf-8")
    (folder / "c.json").write_text(json.dumps(meta), encoding="utf-8")
    return folder / "c"


def queries(layout: str) -> int:
    tables, gaussian = LAYOUTS[layout]
    return len(tables) + 3 * gaussian


@pytest.mark.slow
@pytest.mark.parametrize("neighbours", ["add-remove", "replace"])
@pytest.mark.parametrize("mechanism", ["geometric", "laplace"])
@pytest.mark.parametrize("layout", LAYOUTS)
def test_the_epsilon_of_the_noise_is_that_of_the_mechanism(
    layout: str, mechanism: str, neighbours: str, tmp_path: Path
) -> None:
    for scale in (0.001, 0.7, 20.0):
        right = enumerated(layout, mechanism, scale, neighbours)
        whole = queries(layout) * (1 if neighbours == "add-remove" else 2)
        sensitivity = 1 if scale < 1 else whole  # too small a one changes nothing
        meta = {"mechanism": mechanism, "scale": scale, "sensitivity": sensitivity, "neighbours": neighbours}
        found = dl.read_release(write(tmp_path, layout, **meta, epsilon=right), SCHEMA)
        assert isinstance(found, NoisyCounts)
        assert found.noise_epsilon == pytest.approx(right, rel=1e-9)
        for less in (right * 0.999, right / 2, 1e-9):
            with pytest.raises(DaleniusError) as caught:
                dl.read_release(write(tmp_path, layout, **meta, epsilon=less), SCHEMA)
            assert "c.json" in str(caught.value)
            assert f"ε = {less:.6g}" in str(caught.value)
            assert f"ε = {right:.6g}" in str(caught.value)


META = {"mechanism": "geometric", "scale": 4.0, "epsilon": 1.0, "sensitivity": 4, "neighbours": "add-remove"}


@pytest.mark.parametrize(
    ("meta", "epsilon"),
    [
        ({"scale": 0.001}, 4_000),  # the noise is a thousandth of what ε = 1 needs
        ({"scale": 0.001, "sensitivity": 1, "epsilon": 1_000}, 3_000),  # each person is in three tables, not in one
        ({"neighbours": "replace", "epsilon": 1.2}, 1.5),
        ({"sensitivity": 8}, 2),  # a person may be in several rows: whoever declares more is believed
        ({"sensitivity": 4.001}, 1.00025),
    ],
)
def test_an_understated_epsilon_is_refused(meta: dict[str, object], epsilon: float, tmp_path: Path) -> None:
    stated = {**META, **meta}
    with pytest.raises(DaleniusError) as caught:
        dl.read_release(write(tmp_path, "each alone", **stated), SCHEMA)
    said = f"c.json: The stated ε = {stated['epsilon']:.6g} is too small: the noise gives ε = {epsilon:.6g} "
    assert said in str(caught.value)


def test_rounding_is_no_lie(tmp_path: Path) -> None:
    for epsilon in (4 / 3 * (1 - 1e-7), 4 / 3, 4 / 3 * (1 + 1e-7)):
        found = dl.read_release(write(tmp_path, "each alone", **META | {"scale": 3, "epsilon": epsilon}), SCHEMA)
        assert isinstance(found, NoisyCounts)
        assert found.noise_epsilon == pytest.approx(4 / 3, rel=1e-15)


def test_a_loose_promise_is_kept_beside_the_real_one(tmp_path: Path) -> None:
    found = dl.read_release(write(tmp_path, "each alone", **META | {"epsilon": 50, "sensitivity": 3}), SCHEMA)
    assert isinstance(found, NoisyCounts)
    assert (found.epsilon, found.noise_epsilon) == (50, 0.75)
    assert found.promise == "ε = 0.75 by its noise; the release states 50"
    exact = write(tmp_path, "each alone", **META | {"mechanism": "none", "scale": 0, "epsilon": None})
    release = dl.read_release(exact, SCHEMA)
    assert isinstance(release, NoisyCounts)
    assert release.noise_epsilon is None
    assert release.promise == "no noise"
    with pytest.raises(DaleniusError, match=r"is too small: the noise gives ε = inf"):  # in Python, too
        dataclasses.replace(found, scale=5e-324)


@pytest.mark.parametrize("noise", ["geometric", "laplace"])
@pytest.mark.parametrize("neighbours", ["add-remove", "replace"])
def test_what_is_published_states_what_its_noise_gives(noise: str, neighbours: str, tmp_path: Path) -> None:
    table = dl.Table({"a": ["x"], "b": ["u"], "age": [4], "s": ["p"]}, SCHEMA)
    for options in ({}, {"joint": (("a", "b"),)}, {"gaussian": {"age": (LOW, HIGH)}}):
        for epsilon in (1e-9, 0.1, 1 / 3, 7.0, 1e9):
            made = Counts(epsilon, noise=noise, neighbours=neighbours, **options).publish(table)  # type: ignore[arg-type]
            made.write(tmp_path / "c")
            back = dl.read_release(tmp_path / "c", SCHEMA)
            assert isinstance(back, NoisyCounts)
            assert back.noise_epsilon == pytest.approx(epsilon, rel=1e-9)
            assert back == made.release


@pytest.mark.parametrize("key", ["mechanism", "scale", "epsilon", "sensitivity", "neighbours"])
@pytest.mark.parametrize(
    "wrong",
    [None, True, False, "1", "", [], [1], {}, {"a": 1}, 10**400, -(10**400), -1, math.inf, math.nan, ["geometric"]],
    ids=lambda value: repr(value)[:12],
)
def test_wrong_types_are_refused_with_a_sentence(key: str, wrong: object, tmp_path: Path) -> None:
    for meta in (META, META | {"mechanism": "none", "scale": 0, "epsilon": None}):
        if key == "epsilon" and wrong is None and meta["mechanism"] == "none":
            continue
        with pytest.raises(DaleniusError) as caught:
            dl.read_release(write(tmp_path, "each alone", **meta | {key: wrong}), SCHEMA)
        assert str(caught.value).startswith("c.json: ")
        assert f"'{key}'" in str(caught.value) or "'epsilon'" in str(caught.value)


@pytest.mark.parametrize("text", ["1" * 5000, "[" * 100_000, '{"epsilon": ' + "9" * 5000 + "}"])
def test_json_that_no_reader_takes(text: str, tmp_path: Path) -> None:
    write(tmp_path, "each alone", **META)
    (tmp_path / "c.json").write_text(text, encoding="utf-8")
    with pytest.raises(DaleniusError, match=r"c\.json: not valid JSON"):
        dl.read_release(tmp_path / "c", SCHEMA)


def test_reports_say_the_real_epsilon(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """A file that states ε = 50 has noise of ε = 0.75: every report says so. One that states too little is no release."""
    monkeypatch.chdir(tmp_path)

    def cli(*arguments: str) -> tuple[int, str, str]:
        code = main(list(arguments))
        found = capsys.readouterr()
        return code, found.out, found.err

    toml = ['sensitive = "s"']
    for name, domain in (("a", '["x", "y"]'), ("b", '["u", "v"]'), ("age", '["3", "4", "5"]'), ("s", '["p", "q"]')):
        toml += [f"[columns.{name}]", f'role = "{"sensitive" if name == "s" else "quasi"}"', f"domain = {domain}"]
    (tmp_path / "privacy.toml").write_text("\n".join(toml), encoding="utf-8")
    write(tmp_path, "each alone", **META | {"epsilon": 50, "sensitivity": 3})
    (tmp_path / "table.csv").write_text("a,b,age,s\nx,u,3,p\ny,v,4,q\n", encoding="utf-8")
    code, out, _ = cli("audit", "c", "--truth", "table.csv", "-o", "report.html", "--json", "audit.json")
    assert code == 0
    assert "ε = 0.75 by its noise; the release states 50, add-remove" in " ".join(out.split())
    assert "ε = 0.75 by its noise; the release states 50" in (tmp_path / "report.html").read_text(encoding="utf-8")
    assert json.loads((tmp_path / "audit.json").read_text(encoding="utf-8"))["release"]["epsilon"] == 0.75
    write(tmp_path, "each alone", **META | {"scale": 0.001})
    for command in (["audit", "c"], ["check", "c"], ["compare", "c", "--truth", "table.csv"]):
        code, out, err = cli(*command)
        assert (code, out) == (2, "")
        assert "c.json: The stated ε = 1 is too small: the noise gives ε = 4000" in err
