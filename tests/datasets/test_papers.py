"""The tables that the papers print, as they open, against what the papers say of them."""

from __future__ import annotations

import csv
import math
from collections import Counter
from itertools import permutations
from pathlib import Path

import pytest

from dalenius import Anatomized, Generalized, InputError, Table, datasets
from dalenius.releases import GroupedRelease

FOLDER = Path(datasets.__file__).parent / "papers"

HEPATITIS = {"Hepatitis B": 1, "Hepatitis C": 1, "Hepatitis D": 1, "Diabetes": 1, "Heart Disease": 2}
RELATIVE = {"Heart": 2, "Flu": 3, "Stomach": 1, "HIV": 1, "Diabetes": 1}
# Name: people, groups, the smallest group (k), how many have each sensitive value; counted by hand in the papers.
PRINTED: dict[str, tuple[int, int, int, dict[str, int]]] = {
    "composition-1a": (12, 3, 4, {"AIDS": 1, "Heart Disease": 2, "Viral Infection": 4, "Cancer": 5}),
    "composition-1b": (12, 2, 6, {"AIDS": 1, "Viral Infection": 2, "Cancer": 5, "Tuberculosis": 3, "Flu": 1}),
    "error-fig1a": (6, 6, 1, HEPATITIS),
    "error-fig1b": (6, 2, 3, HEPATITIS),
    "realistic-1": (12, 3, 4, {"Heart Disease": 3, "Viral Infection": 4, "Cancer": 5}),
    "realistic-3": (25_000, 3, 500, {"Flu": 20_000, "Cancer": 5_000}),
    "relative-1a": (8, 8, 1, RELATIVE),
    "relative-1b": (8, 4, 2, RELATIVE),
    "relative-1c": (8, 4, 2, RELATIVE),
}


def test_every_printed_table_is_listed_here_and_in_the_index() -> None:
    assert set(datasets.PAPERS) == set(PRINTED)
    index = (FOLDER / "INDEX.md").read_text(encoding="utf-8")
    for name in datasets.PAPERS:
        assert f"| `{name}` |" in index
        assert (FOLDER / name / "privacy.toml").read_text(encoding="utf-8").startswith("# source: ")


@pytest.mark.parametrize("name", datasets.PAPERS)
def test_people_groups_and_totals(name: str) -> None:
    release = datasets.paper(name)
    people, groups, k, totals = PRINTED[name]
    assert isinstance(release, Anatomized if name == "relative-1c" else Generalized)
    assert isinstance(release, GroupedRelease)
    assert (release.people, release.groups, int(release.sizes.min()), release.suppressed) == (people, groups, k, 0)
    grouping = release.grouping()
    leaves = release.schema.sensitive[0].leaves
    assert {leaf: n for leaf, n in zip(leaves, grouping.table.tolist(), strict=True) if n} == totals
    assert sum(totals.values()) == people


@pytest.mark.parametrize("name", [name for name in datasets.PAPERS if name != "relative-1c"])
def test_groups_are_those_of_a_naive_count(name: str) -> None:
    release = datasets.paper(name)
    assert isinstance(release, Generalized)
    quasi = [column.name for column in release.schema.quasi]
    expected: dict[tuple[str, ...], Counter[str]] = {}
    with (FOLDER / name / f"{name}.csv").open(encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file):
            values = expected.setdefault(tuple(row[column] for column in quasi), Counter())
            values[row[release.schema.sensitive[0].name]] += int(row.get("count", "1"))
    found: dict[tuple[str, ...], Counter[str]] = {}
    cells = release.sensitive
    for q, value, count in zip(cells.group.tolist(), cells.codes[:, 0].tolist(), cells.counts.tolist(), strict=True):
        labels = tuple(release.labels[j][code].text for j, code in enumerate(release.codes[q].tolist()))
        found.setdefault(labels, Counter())[release.schema.sensitive[0].leaves[value]] += count
    assert found == expected


def sets(release: Generalized) -> list[dict[str, set[str]]]:
    return [
        {
            column.name: {column.leaves[i] for i in release.labels[j][codes[j]].members.tolist()}
            for j, column in enumerate(release.schema.quasi)
        }
        for codes in release.codes.tolist()
    ]


def test_what_the_labels_cover() -> None:
    relative = datasets.paper("relative-1b")
    assert isinstance(relative, Generalized)
    zips = {prefix: {f"{prefix}{digit}" for digit in range(10)} for prefix in ("4550", "5550")}
    assert [(each["nationality"], each["zip"]) for each in sets(relative)] == [
        ({"Malaysia", "Japan"}, zips["4550"]),
        ({"Malaysia", "India"}, {"77701"}),
        ({"Japan", "China"}, {"66601"}),
        ({"Japan"}, zips["5550"]),
    ]
    young, old = (set(map(str, ages)) for ages in (range(40), range(40, 100)))
    realistic = datasets.paper("realistic-3")
    assert isinstance(realistic, Generalized)
    assert [(each["age"], each["gender"]) for each in sets(realistic)] == [(young, {"M"}), (old, {"M"}), (old, {"F"})]
    figure = datasets.paper("error-fig1b")
    assert isinstance(figure, Generalized)
    assert [each["age"] for each in sets(figure)] == [young, set(map(str, range(40, 51)))]
    assert {len(each["nationality"]) for each in sets(figure)} == {5}
    hospital = datasets.paper("composition-1a")
    assert isinstance(hospital, Generalized)
    assert all(len(each["zip"]) == 100 for each in sets(hospital))


def test_the_worlds_of_table_one() -> None:
    """Example 1 of the paper: 6.4 · 10^5 tables are compatible with Table I(b).

    A row keeps its sensitive value, and its person may be any pair of its two sets: |nationalities| · |ZIP codes|, and
    independently so for each of the eight rows: (2 · 10)^2 · (1 · 10)^2 · (2 · 1)^2 · (2 · 1)^2.
    """
    release = datasets.paper("relative-1b")
    assert isinstance(release, Generalized)
    pairs = [math.prod(len(leaves) for leaves in each.values()) for each in sets(release)]
    assert math.prod(n**size for n, size in zip(pairs, release.sizes.tolist(), strict=True)) == 640_000


def test_the_worlds_of_the_anatomized_table() -> None:
    """In Table I(c) the two people of each group are known, and their two values may be either way round: 2^4."""
    release = datasets.paper("relative-1c")
    assert isinstance(release, Anatomized)
    worlds = 1
    for q in range(release.groups):
        values = release.sensitive.codes[release.sensitive.group == q, 0].repeat(
            release.sensitive.counts[release.sensitive.group == q]
        )
        worlds *= len(set(permutations(values.tolist())))
        assert release.quasi.counts[release.quasi.group == q].tolist() == [1, 1]  # nobody twice
    assert worlds == 16


def test_releases_of_a_printed_table_hold_its_people() -> None:
    cells = Table(FOLDER / "relative-1a" / "relative-1a.csv", FOLDER / "relative-1a" / "privacy.toml").cells()
    assert cells.people == 8
    for name in ("relative-1b", "relative-1c"):
        release = datasets.paper(name)
        assert isinstance(release, GroupedRelease)
        assert [c.leaves for c in release.schema.coded] == [c.leaves for c in cells.schema.coded]
    anatomized = datasets.paper("relative-1c")
    assert isinstance(anatomized, Anatomized)
    people = sorted(map(tuple, anatomized.quasi.codes.repeat(anatomized.quasi.counts, axis=0).tolist()))
    assert people == sorted(map(tuple, cells.codes[:, :2].repeat(cells.counts, axis=0).tolist()))


def test_an_unknown_name_is_refused_with_a_hint() -> None:
    with pytest.raises(
        InputError, match=r"no printed table 'relative-1d'\. Did you mean 'relative-1\w'\?.*realistic-3"
    ):
        datasets.paper("relative-1d")
