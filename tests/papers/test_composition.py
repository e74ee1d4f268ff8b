"""What Ganta, Kasiviswanathan and Smith say of Adult, with tolerances; and numbers of Mondrian that do not depend on chance."""

from __future__ import annotations

import xml.etree.ElementTree as ElementTree
from pathlib import Path

import numpy as np
import pytest

from dalenius.papers import composition, registry
from dalenius.papers.base import Paper
from dalenius.papers.composition import Experiments
from dalenius.papers.composition_experiments import overlapping
from tests.papers.findings import FINDINGS
from tests.papers.parts import assert_same_without_data

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def found(data: Path) -> Experiments:
    return composition.experiments(data, quick=True)


@pytest.fixture(scope="module")
def paper(data: Path, found: Experiments) -> Paper:
    """The paper as the command builds it, of experiments that are made once."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(composition, "experiments", lambda path, *, quick: {(data, True): found}[path, quick])
        return registry.build("composition", data, quick=True)


def test_the_subsets(data: Path) -> None:
    made = overlapping(data, overlap=300, people=2000, others=100, seed=3)
    assert [table.cells().people for table in made.tables] == [1100, 1100]
    assert len(made.overlap) == 300
    assert len(made.others) == 100
    for rows in made.rows:
        np.testing.assert_array_equal(rows[:300], made.overlap)
    for table, rows in zip(made.tables, made.rows, strict=True):
        cells = table.cells()
        assert sorted(map(tuple, np.repeat(cells.codes, cells.counts, axis=0).tolist())) == sorted(
            map(tuple, rows.tolist())
        )


def test_mondrian_is_deterministic(found: Experiments) -> None:
    """The subsets are drawn with a seed; all that follows has no chance in it.

    So the tolerances are of rounding alone: shares are pinned in hundredths of a per cent, and one of 5,000 people is 0.02 of them.
    """
    five, twenty = found.by_k["Mondrian"]
    assert pytest.approx(PINNED[5], abs=0.005) == five.figures.PVP
    assert pytest.approx(PINNED[20], abs=0.005) == twenty.figures.PVP
    assert five.figures.already_certain == 90
    assert five.figures.mean_prior_anonymity == pytest.approx([5.4364, 5.47], abs=1e-6)
    assert five.figures.mean_posterior_anonymity == pytest.approx(4.143, abs=1e-6)
    assert five.figures.empty_intersections == twenty.figures.empty_intersections == 0
    assert five.figures.unlocated == 0


PINNED = {5: {"100": 5.54, "50": 25.1, "33": 51.36, "25": 67.74}, 20: {"100": 0.06, "50": 0.22, "33": 2.3, "25": 9.54}}


def test_table_1_leaves_alice_one_condition(paper: Paper) -> None:
    """Counted by hand. (a), below 30: AIDS, heart disease, viral infection. (b), below 35: AIDS, tuberculosis, flu, cancer."""
    assert [row[1] for row in paper["Table 1"].rows] == ["3", "4"]
    [left] = paper["Table 1"].compared
    assert (left.printed, left.ours) == ("AIDS", "AIDS")


def test_breaches(found: Experiments, paper: Paper) -> None:
    """Printed: 12 % perfect breaches at k = 5. That is between Mondrian (4 to 9 %) and microaggregation (13 to 18 %).

    Five draws of the subsets had 3.9 to 5.7 % and 15.4 to 17.1 %; the ranges are about that, and 12 % is in neither.
    """
    first = {name: mine[0].figures.PVP for name, mine in found.by_k.items()}
    assert 4 < first["Mondrian"]["100"] < 9
    assert 13 < first["microaggregation"]["100"] < 18
    assert first["Mondrian"]["100"] < first["Mondrian and microaggregation"]["100"] < first["microaggregation"]["100"]
    assert first["Mondrian"]["25"] > 60  # "more than 60 % of the population was affected"
    for mine in found.by_k.values():
        assert mine[0].figures.PVP["100"] > mine[1].figures.PVP["100"]
    said = {one.what: one.ours for one in paper["Figure 1"].compared}
    assert said["breaches become rarer with k, Mondrian"] == "yes"


def test_a_little_less_certainty_affects_far_more_people(found: Experiments) -> None:
    """ "Increases alarmingly for slight relaxation": at k = 5 fourfold with two values in place of one, and by half with three.

    Five draws of the subsets had 4.5 to 6 times as many with two.
    """
    for mine in found.by_k.values():
        for one in mine:
            shares = [one.figures.PVP[c] for c in ("100", "50", "33", "25")]
            assert shares == sorted(set(shares))
    first = found.by_k["Mondrian"][0].figures.PVP
    assert first["50"] > 4 * first["100"]  # 25.1 and 5.54, pinned above
    assert first["33"] > 1.5 * first["50"]


def test_anonymity_drops(found: Experiments) -> None:
    """ "Much less": by one value at least of the five to eight that there were, and by half a value of the smaller of both sets."""
    for one in found.by_k["Mondrian"]:
        assert one.figures.mean_posterior_anonymity < min(one.figures.mean_prior_anonymity) - 1
        assert max(one.figures.mean_prior_anonymity) < min(one.sizes)
        assert one.figures.mean_drop > 0.5


def test_classes_are_larger_than_k_and_hide_fewer_values(found: Experiments, paper: Paper) -> None:
    """Effective anonymity is "far less" than the presumed k: so at k = 20, by half; not at k = 5, and the page says so.

    "Much larger than k": at k = 5 above the 2k − 1 that would do, at k = 20 by half. One number, without chance.
    """
    five, twenty = found.by_k["Mondrian"]
    assert max(twenty.figures.mean_prior_anonymity) < 20 / 2
    assert 5 < min(five.figures.mean_prior_anonymity) < min(five.sizes) / 2
    assert min(five.sizes) > 2 * 5 - 1
    assert min(twenty.sizes) > 1.5 * 20
    said = {one.what: one for one in paper["Figure 2"].compared}
    assert said["effective anonymity is below the class size"].ours == "yes"
    presumed = said["effective anonymity is below the presumed one, k"]
    assert presumed.ours == "for k = 20"
    assert presumed.note.startswith("not for k = 5:")
    assert said["average class, k = 5"].ours == five.sizes[0]


def test_a_centroid_is_found_mostly(found: Experiments) -> None:
    """Printed: approximately 70 %. Ours is 63 % at k = 5, and falls with k.

    How far apart categories are is not in print, and moves it: a majority is asked for, and 5 points above the print at most.
    Five draws of the subsets differ by one point.
    """
    five, twenty = found.by_k["microaggregation"]
    assert 0.55 < min(five.located) < 0.75
    assert max(twenty.located) < min(five.located)


def test_stronger_criteria_help_and_cost(found: Experiments, paper: Paper) -> None:
    """Nothing is drawn but the subsets. The factors are below ours (36 for the breaches, 2.5 for the classes), and far from 1."""
    weak, strong = found.by_criterion["entropy ℓ-diversity"]
    [close] = found.by_criterion["t-closeness"]
    assert strong.figures.PVP["33"] < weak.figures.PVP["33"] / 3
    # "Still lead to considerable breach": on Adult of some, of one in a hundred at least where ℓ = 5.
    assert strong.figures.PVP["25"] > 1
    assert strong.sizes[0] > 2 * weak.sizes[0]
    assert close.sizes[0] > strong.sizes[0]
    grown, left = paper["Figure 4"].compared
    assert grown.ours == f"{strong.sizes[0]:.0f} (ℓ = 5), {close.sizes[0]:.0f} (t = 0.4)"
    assert left.ours == f"{strong.figures.PVP['25']:.1f} % (ℓ = 5), {close.figures.PVP['25']:.1f} % (t = 0.4)"
    assert "on Adult little is left" in left.note


def test_differential_privacy_beside_it(found: Experiments) -> None:
    """Two cut releases give persons away, two noisy ones hardly: at ε = 1 being in both adds nothing that can be told.

    Intervals are of 95 %, of twice 5,000 people: 1.8 points to each side. Half a point is left to the noise, and what two noisy
    releases may add at most is half of what two cut ones add at least.
    """
    by = {(one.method, one.parameter): one for one in found.sides}
    cut, noisy = by["Mondrian twice", "k = 5"], by["noisy counts twice", "ε = 1 together"]
    assert cut.gain.low > 0.1
    assert cut.certain.value > 0.03
    assert noisy.gain.low < 0.005
    assert noisy.gain.high < 0.05
    assert noisy.certain.value == 0
    assert noisy.both.value > 0.25  # and yet much is learnt, about everybody


def test_two_noisy_releases_share_the_budget(data: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from dalenius.papers import composition_experiments as runs

    asked = []
    whole = runs.Simulation

    def spied(epsilon: float) -> runs.Simulation:
        asked.append(epsilon)
        return whole(epsilon)

    monkeypatch.setattr(runs, "Simulation", spied)
    runs.side_by_side(overlapping(data, overlap=200, people=1000, others=100), levels=(), epsilons=(1.0,))
    assert asked == [0.5, 0.5]


def test_the_exhibits(paper: Paper) -> None:
    assert [one.name for one in paper.exhibits] == list(FINDINGS["composition"])
    for one in paper.exhibits:
        assert one.rows
        assert all(len(row) == len(one.header) for row in one.rows)
        for chart, caption in one.charts:
            assert caption
            assert ElementTree.fromstring(chart()).tag.endswith("svg")


def test_exhibits_that_need_no_data(paper: Paper) -> None:
    assert_same_without_data(paper)
