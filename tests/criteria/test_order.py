"""t-closeness, ordered: whose order it takes, against the oracle's linear programme with an order written by hand."""

from __future__ import annotations

import json
import math
import random
from pathlib import Path

import pytest

import dalenius as dl
from dalenius import criteria as c
from dalenius.errors import InputError
from dalenius.hierarchy import from_paths
from dalenius.releases import Generalized
from tests.conftest import Run
from tests.oracle import closeness, ordered_distance

# Labels in the order that a reader would give them; sorted as text every one of these comes out otherwise.
NUMBERED = {
    "brackets": ["[0, 5)", "[5, 10)", "[10, 20)", "[20, 100)", "[100, 1000]"],
    "dashes": ["<5", "5-9", "10-19", "20-89", "90-199", ">=200"],
    "negative": ["-100--21", "-20--3", "-2-4", "5-100"],
    "decimals": ["-3", "0.5", "1.5", "9.25", "10.0", "7.3e+07", "1e8"],
    "units": ["3k", "4k", "10k", "11k"],
    "years": ["<5 years", "5-9 years", "10-19 years", "20+ years"],
    "signs": ["≤ 2", "3", "20", "> 100"],
}


def column(leaves: list[str], *, declared: bool = False, type_: str = "category") -> dl.Column:
    """A sensitive column that is bound to its values."""
    domain = dl.Domain(tuple(leaves)) if declared else None
    return dl.Column("s", "sensitive", type=type_, domain=domain)  # type: ignore[arg-type]


def released(people: list[tuple[str, str]], sensitive: dl.Column) -> Generalized:
    schema = dl.Schema((dl.Column("q", "quasi"), sensitive))
    release = dl.read_release({"q": [q for q, _ in people], "s": [s for _, s in people]}, schema)
    assert isinstance(release, Generalized)
    return release


def drawn(values: list[str], seed: int) -> list[tuple[str, str]]:
    """Sixty people in three classes; every value occurs."""
    rng = random.Random(seed)
    return [(rng.choice("abc"), value) for value in [*values, *rng.choices(values, k=60)]]


def expected(people: list[tuple[str, str]], order: list[str]) -> float:
    """The worst class by the oracle: a linear programme that moves one histogram to the other."""
    everyone = [value for _, value in people]
    classes = {q: [value for other, value in people if other == q] for q, _ in people}
    return max(float(closeness(group, everyone, ordered_distance(order))) for group in classes.values())


def ordered(release: Generalized) -> float:
    return c.measure(release.grouping())["t_closeness", "ordered"].value


@pytest.mark.parametrize("name", NUMBERED)
def test_labels_are_in_the_order_of_their_numbers(name: str) -> None:
    order = NUMBERED[name]
    assert sorted(order) not in (order, order[::-1])  # else this test could not fail
    for seed in range(5):
        people = drawn(order, seed)
        assert ordered(released(people, column(order))) == pytest.approx(expected(people, order))


def test_a_missing_value_is_the_last_one() -> None:
    order = ["5", "10", "100", ""]
    people = drawn(order, 3)
    assert ordered(released(people, column(order))) == pytest.approx(expected(people, order))


def test_a_declared_order_is_taken_whatever_the_labels_say() -> None:
    for order in (["low", "middle", "high", "extreme"], ["10", "9", "100", "20"]):
        people = drawn(order, 1)
        found = ordered(released(people, column(order, declared=True)))
        assert found == pytest.approx(expected(people, order))
        assert found != pytest.approx(expected(people, sorted(order)))


def test_the_rows_of_a_hierarchy_are_an_order_unless_numbers_say_otherwise() -> None:
    words = ["low", "middle", "high", "extreme"]
    tree = from_paths([[leaf, "*"] for leaf in words], source="test")
    people = drawn(words, 2)
    found = ordered(released(people, dl.Column("s", "sensitive", hierarchy=tree)))
    assert found == pytest.approx(expected(people, words))
    numbers = ["5-9", "10-19", "20-89", "90-199"]
    tree = from_paths([[leaf, "*"] for leaf in sorted(numbers)], source="test")
    people = drawn(numbers, 2)
    found = ordered(released(people, dl.Column("s", "sensitive", hierarchy=tree)))
    assert found == pytest.approx(expected(people, numbers))


def test_a_recipe_declares_no_order() -> None:
    words = ["low", "middle", "high"]
    release = released(drawn(words, 2), dl.Column("s", "sensitive", suppress=True))
    assert math.isnan(ordered(release))


def test_integers_are_in_the_order_of_their_values() -> None:
    order = ["-20", "-3", "5", "10", "100"]
    people = drawn(order, 4)
    for sensitive in (column(order, type_="integer"), column(sorted(order), declared=True, type_="integer")):
        assert ordered(released(people, sensitive)) == pytest.approx(expected(people, order))


NO_ORDER = {
    "words": ["Flu", "Gout", "Pox"],
    "a word among numbers": ["1", "2", "unknown"],
    "one inside the other": ["0-99", "5-9", "100"],
    "the same number twice": ["1", "1.0", "2"],
    "two units": ["500", "3k", "2M"],
    "backwards": ["2020-01", "2020-11", "2021-02"],
    "dates": ["2020-01-15", "2020-02-01", "2021-02-01"],
    "thousands": ["1,000", "2,000", "10,000"],
}


@pytest.mark.parametrize("name", NO_ORDER)
def test_without_an_order_there_is_no_figure(name: str) -> None:
    release = released(drawn(NO_ORDER[name], 0), column(NO_ORDER[name]))
    levels = c.measure(release.grouping())
    assert math.isnan(levels["t_closeness", "ordered"].value)
    assert levels["t_closeness", "equal"].value > 0
    with pytest.raises(InputError, match=r"'s' have no order.*domain = \[…\]") as error:
        c.TCloseness(0.5, "ordered").levels(release.grouping())
    assert str(error.value).count("\n") == 0


def test_of_two_values_any_order_is_the_same() -> None:
    people = drawn(["Flu", "Pox"], 7)
    found = ordered(released(people, column(["Flu", "Pox"])))
    assert found == pytest.approx(expected(people, ["Flu", "Pox"])) == pytest.approx(expected(people, ["Pox", "Flu"]))
    assert found > 0


# Commands -------------------------------------------------------------------------------------------------------------

SCHEMA = """sensitive = "s"
[columns.q]
role = "quasi"
domain = ["a", "b", "c"]
hierarchy = "suppress"
[columns.s]
role = "sensitive"
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "privacy.toml").write_text(SCHEMA, encoding="utf-8")
    lines = [f"{q},{s}" for q, s in drawn(NO_ORDER["words"], 0)]
    (tmp_path / "words.csv").write_text("\n".join(["q,s", *lines]) + "\n", encoding="utf-8")
    lines = [f'{q},"{s}"' for q, s in drawn(NUMBERED["brackets"], 0)]
    (tmp_path / "bands.csv").write_text("\n".join(["q,s", *lines]) + "\n", encoding="utf-8")
    return tmp_path


@pytest.mark.slow
def test_check_says_why_there_is_none(folder: Path, run: Run) -> None:
    done = run("check", "words.csv", "--json", "found.json", cwd=folder)
    assert done.returncode == 0
    document = json.loads((folder / "found.json").read_text(encoding="utf-8"))
    assert document["t_closeness"]["ordered"] is None
    assert document["sensitive"]["s"]["t_closeness"]["ordered"] is None
    line = next(line for line in done.stdout.splitlines() if "t-closeness, ordered" in line)
    assert "undefined" in line
    assert "the values have no order" in line
    done = run("check", "bands.csv", "--json", "-", cwd=folder)
    found = json.loads(done.stdout)["t_closeness"]["ordered"]
    assert found == pytest.approx(expected(drawn(NUMBERED["brackets"], 0), NUMBERED["brackets"]))


@pytest.mark.slow
def test_audit_says_why_there_is_none(folder: Path, run: Run) -> None:
    done = run("audit", "words.csv", "--truth", "words.csv", "-o", "page.html", "--json", "found.json", cwd=folder)
    assert done.returncode == 0, done.stderr
    document = json.loads((folder / "found.json").read_text(encoding="utf-8"))
    assert document["levels"]["sensitive"]["s"]["t_closeness"]["ordered"] is None
    assert "not defined: the values have no order" in (folder / "page.html").read_text(encoding="utf-8")


ASKING = {
    "check": ("check", "words.csv", "--t", "0.5:ordered"),
    "lattice": ("publish", "words.csv", "--t", "0.5:ordered", "-o", "out.csv"),
    "mondrian": ("publish", "words.csv", "--method", "mondrian", "--k", "2", "--t", "0.5:ordered", "-o", "out.csv"),
    "survey": ("lattice", "words.csv", "--t", "0.5:ordered"),
}


@pytest.mark.slow
@pytest.mark.parametrize("name", ASKING)
def test_who_asks_for_it_gets_one_sentence(name: str, folder: Path, run: Run) -> None:
    done = run(*ASKING[name], cwd=folder)
    assert done.returncode == 2, done.stdout
    assert "'s' have no order" in done.stderr
    assert "Traceback" not in done.stderr
    assert not (folder / "out.csv").exists()
    for value in NO_ORDER["words"]:
        assert value not in done.stderr
