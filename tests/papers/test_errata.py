"""Where the print is wrong: every erratum names a test that is there, and what no other test shows is shown here."""

from __future__ import annotations

import ast
import runpy
from pathlib import Path

import numpy as np
import pytest

from dalenius import datasets
from dalenius.adversaries import RandomWorlds, Targets
from dalenius.measures.threat import faithfulness
from dalenius.papers import registry
from dalenius.papers.errata import ERRATA, markdown
from dalenius.papers.population_experiments import FIELDS, naive_attack, study
from dalenius.papers.relative import PRINTED_V
from dalenius.publishers.anatomy import Anatomy
from dalenius.releases import GroupedRelease
from dalenius.reports.exhibits import Erratum

ROOT = Path(__file__).resolve().parents[2]
ALL = [one for found in ERRATA.values() for one in found]


def test_every_paper_has_some() -> None:
    assert list(ERRATA) == list(registry.TITLES)
    assert {key: len(found) for key, found in ERRATA.items()} == {
        "relative": 9, "realistic": 13, "composition": 5, "error": 3, "population": 5,
    }  # fmt: skip
    assert len({(one.where, one.printed) for one in ALL}) == len(ALL)


@pytest.mark.parametrize("one", ALL, ids=lambda one: f"{one.where}"[:40])
def test_the_test_that_shows_it_is_there(one: Erratum) -> None:
    path, _, name = one.shown_by.partition("::")
    tree = ast.parse((ROOT / path).read_text(encoding="utf-8"))
    assert name in {node.name for node in tree.body if isinstance(node, ast.FunctionDef)}
    assert all((one.where, one.printed, one.right, one.why))
    assert one.why.endswith(".")
    for text in (one.where, one.printed, one.right, one.why):
        assert text == " ".join(text.split())  # pieces were joined with one space


def test_the_page_has_them() -> None:
    """docs/errata.md is what scripts/write_errata.py would write."""
    page = (ROOT / "docs" / "errata.md").read_text(encoding="utf-8")
    written = runpy.run_path(str(ROOT / "scripts" / "write_errata.py"))["page"]()
    assert page == written
    assert markdown(registry.TITLES) in page
    for one in ALL:
        assert one.where in page
        assert one.shown_by in page


# ---------------------------------------------------------------------------- what no other test shows


def test_equation_6_is_another_number() -> None:
    """Two values, one attribute of two leaves, two rows (0, 0) and one (1, 1): the ratio of means is closed, of the mean of
    ratios a million draws are taken.
    """
    rng = np.random.default_rng(6)
    draws = 1_000_000
    value = rng.beta(3, 2, draws)  # of the first value: 1 + 2 rows, 1 + 1
    leaf = rng.beta(3, 1, draws), rng.beta(1, 2, draws)  # of leaf 0, given each value
    first, second = value * leaf[0], (1 - value) * leaf[1]
    joint = (3 / 5) * (3 / 4), (2 / 5) * (1 / 3)
    assert (first.mean(), second.mean()) == pytest.approx(joint, abs=0.002)
    ratio = first / (first + second)
    ours = joint[0] / sum(joint)
    assert abs(ratio.mean() - ours) > 10 * ratio.std() / np.sqrt(draws)
    assert abs(ratio.mean() - ours) > 0.005


def test_etv_has_no_upper_end() -> None:
    """p_I is all but sure of one leaf, p_L of the other: TV is nearly 1, and a draw in a thousand makes ETV 500 times that."""
    sure = np.array([[0.9999, 0.0001]])
    found = [faithfulness(np.ones(1), [sure], [sure[:, ::-1]], np.random.default_rng(seed)) for seed in range(8)]
    assert all(pytest.approx(2 * 0.0001, abs=1e-9) == one.RF for one in found)
    assert max(one.ETV for one in found) > 1.0
    assert min(1 - one.ETV for one in found) < 0


def test_random_worlds_of_anatomy() -> None:
    """People of whom no two are alike: each of four values has a quarter. The print of 4 is what 6 would be."""
    people = datasets.hospital(3000, seed=1)
    cells = people.cells()
    release = Anatomy(4).publish(people, seed=0).release
    alone = np.flatnonzero(
        np.unique(cells.codes[:, :-1], axis=0, return_counts=True)[1][
            np.unique(cells.codes[:, :-1], axis=0, return_inverse=True)[1].ravel()
        ]
        * cells.counts
        == 1
    )
    belief = RandomWorlds().attack(release, Targets(release.schema, cells.codes[alone, :-1])).posterior
    mine = belief[np.arange(len(alone)), cells.codes[alone, -1]]
    in_fours = np.isclose(belief.max(axis=1), 1 / 4)
    assert in_fours.mean() > 0.9  # the rest are in a group of five
    np.testing.assert_allclose(mine[in_fours], 1 / 4)
    assert float(PRINTED_V["GT_RW"][0]) == pytest.approx(1 / 6, abs=0.001)
    assert float(PRINTED_V["GT_RW"][1]) == pytest.approx(1 / 6, abs=0.003)


def test_nine_tenths_have_flu() -> None:
    release = datasets.paper("realistic-3")
    assert isinstance(release, GroupedRelease)
    grouping = release.grouping()
    women = int(np.flatnonzero(grouping.sizes == 20_000)[0])
    mine = slice(grouping.start[women], grouping.start[women + 1])
    names = [grouping.column.leaves[code] for code in grouping.values[mine]]
    assert dict(zip(names, grouping.counts[mine].tolist(), strict=True)) == {"Flu": 18_000, "Cancer": 2000}


@pytest.mark.parametrize("k", [2, 5, 30])
def test_no_class_needs_2k_people(k: int) -> None:
    """The largest number that cannot be split into two of at least k."""
    whole = [n for n in range(k, 5 * k) if not any(part >= k and n - part >= k for part in range(n))]
    assert max(whole) == 2 * k - 1


def test_the_likeliest_value_breaks_the_bound() -> None:
    """Places 0, 9 and 10, absolute loss. A hundredth of the belief moves from 0 to 9, and with it the likeliest place."""
    places = np.array([0.0, 9.0, 10.0])
    loss = np.abs(np.subtract.outer(places, places))
    q, p = np.array([0.34, 0.33, 0.33]), np.array([0.33, 0.34, 0.33])
    variation = np.abs(p - q).sum() / 2
    by_mode = p @ loss[:, q.argmax()] - p @ loss[:, p.argmax()]
    by_bayes = p @ loss[:, (q @ loss).argmin()] - (p @ loss).min()
    assert by_mode > 4 * loss.max() * variation
    assert by_bayes <= 2 * loss.max() * variation


def test_sixty_hours_are_in_one_range(data: Path) -> None:
    lines = (data / "adult" / "adult.data").read_text(encoding="utf-8").splitlines()
    hours = [int(line.split(", ")[FIELDS.index("hours")]) for line in lines if line]
    assert hours.count(60) == 1475
    cells = study(data / "adult", "marital-status").counted.cells()
    column = [column.name for column in cells.schema.coded].index("hours")
    most = cells.schema["hours"].leaves.index("60+")
    assert cells.counts[cells.codes[:, column] == most].sum() == sum(worked > 60 for worked in hours)


def test_noise_makes_the_classifier_surer_than_right(data: Path) -> None:
    points = naive_attack(study(data / "adult", "occupation"), (0.01, 0.3, 10.0), draws=3)
    people = {point.epsilon: sum(rate.n for rate in point.sure) for point in points}
    right = {point.epsilon: sum(rate.value * rate.n for rate in point.sure) / people[point.epsilon] for point in points}
    assert people[0.01] > 5 * people[10.0]
    assert 0.15 < right[0.01] < 0.35
    assert min(right[0.3], right[10.0]) > 0.77
