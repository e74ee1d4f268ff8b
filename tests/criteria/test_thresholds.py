"""A threshold that every table meets demands nothing, and is refused wherever one can be given."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import dalenius as dl
from dalenius import config
from dalenius import criteria as criterion
from dalenius.cli import app
from dalenius.criteria import Criterion, Realistic, withstood
from dalenius.errors import ParameterError
from dalenius.hierarchy import from_paths
from dalenius.publishers.noisy_counts import Counts, Simulation

WHO = Realistic("I", shape="table", sigma=1000.0)
NO_NUMBERS = [math.nan, True, False, "2", "", None, [2], 10**400, -(10**400)]
BELOW_ONE = [1, 1.0, 1 - 1e-10, 1.5, -0.1, math.inf, -math.inf, *NO_NUMBERS]
POSITIVE = [math.inf, 0, 0.0, -1, -math.inf, *NO_NUMBERS]
# How each criterion is made with a threshold, thresholds that mean something, and those that do not.
CRITERIA: dict[str, tuple[Callable[[Any], Criterion], list[Any], list[Any]]] = {
    "k": (criterion.KAnonymity, [2, 10**9], [0, -1, 2.0, math.inf, *NO_NUMBERS[:-2], -(10**400)]),
    "distinct ℓ": (criterion.DistinctDiversity, [2, 50], [1, 0, -1, 2.0, math.inf, *NO_NUMBERS[:-2]]),
    "entropy ℓ": (criterion.EntropyDiversity, [1.0001, 2, 7.5], [1, 1.0, 1 + 1e-10, 0.5, *POSITIVE]),
    "recursive c": (lambda c: criterion.RecursiveDiversity(c, 2), [0.5, 1e9], POSITIVE),
    "recursive ℓ": (
        lambda least: criterion.RecursiveDiversity(3.0, least), [2, 5], [1, 0, -1, 2.0, math.inf, *NO_NUMBERS[:-2]],
    ),
    **{
        f"t, {ground}": (lambda t, g=ground: criterion.TCloseness(t, g), [0, 0.0, 0.2, 0.999], BELOW_ONE)  # type: ignore[misc]
        for ground in criterion.GROUNDS
    },
    "δ": (criterion.DeltaDisclosure, [0.1, 50.0], POSITIVE),
    "β": (criterion.BasicBetaLikeness, [0.1, 50.0], [2**53, 1e300, *POSITIVE]),
    "enhanced β": (criterion.EnhancedBetaLikeness, [0.1, 50.0], POSITIVE),
    "α": (criterion.AlphaAnonymity, [0.1, 0.999], [0, 0.0, *BELOW_ONE]),
    "ε": (lambda e: criterion.EpsilonPrivacy(WHO, e), [1, 1.0, 1e300], [0.999, 0, -1, math.inf, *NO_NUMBERS]),
}  # fmt: skip


@pytest.mark.parametrize("name", CRITERIA)
def test_criteria(name: str) -> None:
    make, good, bad = CRITERIA[name]
    for threshold in good:
        assert isinstance(make(threshold), Criterion)
    for threshold in bad:
        with pytest.raises(ParameterError, match=r"^The '\w+' parameter of .+ must be .+\. Got .+ instead\.$"):
            make(threshold)


def test_every_criterion_is_tried() -> None:
    tried = {type(make(good[0])) for make, good, _ in CRITERIA.values()}
    known = {kind for kind in vars(criterion).values() if isinstance(kind, type) and issubclass(kind, Criterion)}
    assert tried == known - {Criterion}
    numbers = [
        field.name
        for kind in tried
        for field in dataclasses.fields(kind)  # type: ignore[arg-type]
        if field.type in ("int", "float")
    ]
    assert len(CRITERIA) == len(numbers) + 2  # t three times


@pytest.mark.parametrize("name", CRITERIA)
def test_thresholds_that_are_taken_can_be_missed(name: str) -> None:
    """One person alone with a rare value misses every threshold but k = 1, which Python takes for publishing values."""
    schema = dl.Schema(
        [
            dl.Column("q", "quasi", domain=dl.Domain(("a", "b"))),
            dl.Column("s", "sensitive", hierarchy=from_paths([("x", "*"), ("y", "*")], source="test")),
        ]
    )
    people = {"q": ["a"] * 9999 + ["b"], "s": ["x"] * 9999 + ["y"]}
    grouping = dl.read_release(people, schema).grouping("s")  # type: ignore[attr-defined]
    make, good, _ = CRITERIA[name]
    for threshold in good:
        if name == "ε":  # the least stubborn adversary that there is
            made: Criterion = criterion.EpsilonPrivacy(Realistic("II", sigma=2.0), threshold)
        else:
            made = make(threshold)
        assert not made.passes(grouping).all()


def test_an_infinite_epsilon_is_withstood_by_everything() -> None:
    grouping = dl.datasets.paper("composition-1b").grouping()  # type: ignore[attr-defined]
    for wrong in (math.inf, math.nan, 0.9, True, "2"):
        with pytest.raises(ParameterError, match="epsilon"):
            withstood(grouping, wrong)  # type: ignore[arg-type]


@pytest.mark.parametrize("kind", [Counts, Simulation])
@pytest.mark.parametrize("epsilon", [*POSITIVE, 1e10, 1e-10])
def test_budgets(kind: Callable[[Any], object], epsilon: Any) -> None:
    with pytest.raises(ParameterError, match="'epsilon' parameter of noisy counts"):
        kind(epsilon)


# ------------------------------------------------------------------------ policy

SHARES = ["1", "1.0", "0.9999999999", "1.5", "-0.1", "inf", "nan", "true", '"0.5"', "[]", "{}"]
POLICY: dict[str, tuple[list[str], list[str]]] = {
    "min_k": (["2"], ["1", "0", "-1", "2.0", "inf", "nan", "true", '"5"', "[]"]),
    "min_l": (["2"], ["1", "0", "-1", "2.0", "inf", "nan", "true", '"5"', "[]"]),
    "min_entropy_l": (["1.1", "2"], ["1", "1.0", "1.0000000001", "0.5", "-1", "inf", "nan", "true", '"5"', "[]"]),
    "max_t": (["0", "0.5"], SHARES),
    "max_attacker_accuracy": (["0", "0.5"], SHARES),
    "max_attacker_gain": (["0", "0.5"], SHARES),
    "max_relative_threat": (
        ["{ quantile = 0.5, value = 2 }"],
        [
            f"{{ quantile = {q}, value = {value} }}"
            for q, value in [
                (0.5, "inf"), (0.5, "nan"), (0.5, 0), (0.5, -1), (0.5, "true"), (0.5, '"2"'), (-1, 2), (2, 2), ("nan", 2),
            ]
        ] + ["1", "true", '"1"', "[]", "{}"],
    ),
    "min_faithfulness": (["0.1", "1", "1.0"], ["0", "0.0", "-1", "1.5", "inf", "nan", "true", '"0.5"', "[]"]),
    "epsilon_privacy": (
        ['["I:table:1e3:5"]'],
        [
            "[]", '["I:table:1e3:inf"]', '["I:table:1e3:nan"]', '["I:table:1e3:0.5"]', '["I:table:inf:5"]', '[""]', "5",
            '"I:table:1e3:5"', "[5]", "true",
        ],
    ),
    "max_perfect_breach": (["0", "0.5"], SHARES),
    "max_loss": (["0", "0.5"], SHARES),
    "max_suppressed": (["0", "0.5"], SHARES),
}  # fmt: skip
SCHEMA = """sensitive = "s"
[columns.q]
role = "quasi"
hierarchy = "suppress"
domain = ["a", "b", "c"]
[columns.s]
role = "sensitive"
domain = ["x", "y", "z"]
"""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A table of people who are alone, and its schema."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "privacy.toml").write_text(SCHEMA, encoding="utf-8")
    (tmp_path / "t.csv").write_text("q,s\na,x\nb,y\nc,z\n", encoding="utf-8")
    return tmp_path


def test_every_policy_key_is_tried() -> None:
    assert set(POLICY) == set(config.Policy.model_fields)


@pytest.mark.parametrize("key", POLICY)
def test_policy(key: str, folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    good, bad = POLICY[key]
    for text in good:
        (folder / "privacy.toml").write_text(f"{SCHEMA}[policy]\n{key} = {text}\n", encoding="utf-8")
        assert app.run(["audit", "t.csv", "--json", "a.json"]) in (0, 1), text
        (folder / "a.json").unlink()
        capsys.readouterr()
    for text in bad:
        (folder / "privacy.toml").write_text(f"{SCHEMA}[policy]\n{key} = {text}\n", encoding="utf-8")
        for command in (
            ["audit", "t.csv", "--json", "a.json", "-o", "a.html"],
            ["frontier", "t.csv", "--method", "mondrian", "--k", "2", "--best", "best.csv", "--jobs", "1"],
        ):
            assert app.run(command) == 2, (text, command)
            said = capsys.readouterr()
            assert key in said.err, (text, said.err)
            assert "Traceback" not in said.err
            assert sorted(path.name for path in folder.iterdir()) == ["privacy.toml", "t.csv"], text


# ------------------------------------------------------------------------ options

NOT_WHOLE = ["1", "0", "-1", "1.5", "inf", "nan", "true", "two", ""]
OPTIONS: dict[str, list[str]] = {
    "--k": NOT_WHOLE,
    "--l": NOT_WHOLE,
    "--entropy-l": ["1", "1.0000000001", "0", "-2", "inf", "nan", "two", ""],
    "--recursive-l": ["inf,2", "3,1", "0,2", "-1,2", "nan,2", "3,inf", "3,2.5", "3,", ",2", "two,2", "", "inf"],
    "--t": ["1", "1.0", "1:ordered", "1:hierarchical", "0.99999999999", "2", "-0.1", "inf", "nan", "far", "0.2:far", ""],
    "--delta": ["inf", "0", "-1", "nan", "two", ""],
    "--beta": ["inf", "1e300", "0", "-1", "nan", "two", ""],
    "--enhanced-beta": ["inf", "0", "-1", "nan", "two", ""],
    "--alpha": ["1", "1.0", "0.99999999999", "2", "0", "-1", "inf", "nan", "two", ""],
    "--epsilon-privacy": [
        "I:table:1e3:inf", "I:table:1e3:nan", "I:table:1e3:0.5", "I:table:inf:5", "II:1e3:inf", "IV:inf", "x", "",
    ],
}  # fmt: skip
COMMANDS = {
    "publish": ["publish", "t.csv", "-o", "out.csv", "--suppression", "1"],
    "mondrian": ["publish", "t.csv", "-o", "out.csv", "--method", "mondrian"],
    "microaggregation": ["publish", "t.csv", "-o", "out.csv", "--method", "microaggregation"],
    "anatomy": ["publish", "t.csv", "-o", "out", "--method", "anatomy"],
    "lattice": ["lattice", "t.csv", "-o", "out.html", "--json", "out.json"],
    "check": ["check", "t.csv", "--json", "out.json"],
    "audit": ["audit", "t.csv", "--method", "lattice", "--json", "out.json", "-o", "out.html"],
}


def refused(arguments: list[str], folder: Path, capsys: pytest.CaptureFixture[str]) -> str:
    """What is said of a command that is refused before anything is written."""
    assert app.run(arguments) == 2, arguments
    said = capsys.readouterr()
    assert said.out == "", arguments
    assert "Traceback" not in said.err
    assert sorted(path.name for path in folder.iterdir()) == ["privacy.toml", "t.csv"], arguments
    return said.err


@pytest.mark.slow
@pytest.mark.parametrize("option", OPTIONS)
@pytest.mark.parametrize("command", COMMANDS)
def test_options(command: str, option: str, folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """All commands share an option's declaration. So `check` tries every text, and the others try one for each way to be wrong:
    the first is a number that demands nothing, the last is not a threshold."""
    texts = OPTIONS[option]
    for text in texts if command == "check" else (texts[0], texts[-1]):
        refused([*COMMANDS[command], f"{option}={text}"], folder, capsys)
        refused(
            [*COMMANDS[command], "--k=2", f"{option}={text}"], folder, capsys
        )  # nor beside one that demands something


@pytest.mark.parametrize(
    ("arguments", "texts"),
    [
        (["check", "t.csv", "--json", "out.json", "--epsilon"], ["inf", "nan", "0.5", "two"]),
        (["lattice", "t.csv", "-o", "out.html", "--epsilon"], ["inf", "nan", "0.5", "two"]),
        (["publish", "t.csv", "-o", "out", "--method", "noisy-counts", "--epsilon"], ["inf", "nan", "0", "-1", "1e10", "two"]),
        (["frontier", "t.csv", "--best", "out", "--epsilons"], ["inf", "nan", "0", "-1", "two", ""]),
        (["frontier", "t.csv", "--jobs", "1", "-o", "out.html", "--method", "lattice", "--k"], [*NOT_WHOLE, "1,5"]),
        (["frontier", "t.csv", "--jobs", "1", "-o", "out.html", "--method", "mondrian", "--l"], [*NOT_WHOLE, "5,1"]),
        (["frontier", "t.csv", "--jobs", "1", "-o", "out.html", "--method", "anatomy", "--l"], NOT_WHOLE),
        (["frontier", "t.csv", "--jobs", "1", "-o", "out.html", "--method", "microaggregation", "--k"], NOT_WHOLE),
        (["frontier", "t.csv", "--jobs", "1", "-o", "out.html", "--method", "lattice", "--t"], [*OPTIONS["--t"], "0.2,1"]),
        (["publish", "t.csv", "-o", "out.csv", "--k", "2", "--suppression"], ["inf", "nan", "-0.1", "1.1", "two"]),
        (["lattice", "t.csv", "--json", "out.json", "--k", "2", "--suppression"], ["inf", "nan", "-0.1", "1.1", "two"]),
        (["frontier", "t.csv", "--jobs", "1", "-o", "out.html", "--suppression"], ["inf", "nan", "-0.1", "1.1", "two", ""]),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) and "t.csv" in value else "",
)  # fmt: skip
def test_other_options(
    arguments: list[str], texts: list[str], folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for text in texts:
        refused([*arguments[:-1], f"{arguments[-1]}={text}"], folder, capsys)


def test_the_sentence(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    said = refused([*COMMANDS["publish"], "--beta", "inf"], folder, capsys)
    assert "The 'beta' parameter of basic β-likeness must be a finite number > 0. Got inf instead." in said
    said = refused([*COMMANDS["publish"], "--k", "1"], folder, capsys)
    assert "The '--k' parameter of k-anonymity must be an int ≥ 2 (1 demands nothing). Got 1 instead." in said
    (folder / "privacy.toml").write_text(f"{SCHEMA}[policy]\nmax_t = 1\n", encoding="utf-8")
    said = refused(["audit", "t.csv"], folder, capsys)
    assert "privacy.toml: policy.max_t: It must be below 1, or it demands nothing. Got 1." in said
