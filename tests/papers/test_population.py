"""What Cormode says of the naive and of the deFinetti attack on Adult, with tolerances."""

from __future__ import annotations

import xml.etree.ElementTree as ElementTree
from pathlib import Path

import numpy as np
import pytest

import dalenius as dl
from dalenius.adversaries import ADVERSARIES
from dalenius.adversaries.models.learning import Memory
from dalenius.adversaries.models.sampling import Effort
from dalenius.measures import accuracy
from dalenius.papers import population
from dalenius.papers.base import Paper
from dalenius.papers.population import Experiments
from dalenius.papers.population_experiments import Point, Study, naive_attack, study
from dalenius.papers.population_linking import anatomized, predictions
from tests.papers.findings import FINDINGS

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def studies(data: Path) -> dict[str, Study]:
    return {target: study(data / "adult", target) for target in ("occupation", "marital-status")}


@pytest.fixture(scope="module")
def points(studies: dict[str, Study]) -> dict[str, dict[float, Point]]:
    return {
        target: {point.epsilon: point for point in naive_attack(one, (0.01, 0.1, 1.0, 10.0))}
        for target, one in studies.items()
    }


def test_the_people(studies: dict[str, Study]) -> None:
    """30,718 with an occupation and 32,561 in all, as printed; of the values 13 % and 45 % are the commonest.

    The print cuts off: 0.135 and 0.4599 are within a point of that.
    """
    assert {target: one.counted.cells().people for target, one in studies.items()} == {
        "occupation": 30_718, "marital-status": 32_561,
    }  # fmt: skip
    for target, share in (("occupation", 0.13), ("marital-status", 0.45)):
        cells = studies[target].counted.cells()
        assert cells.schema.sensitive[0].name == target
        counts = np.bincount(cells.codes[:, -1], weights=cells.counts)
        assert len(counts) == (14 if target == "occupation" else 7)
        assert counts.max() / counts.sum() == pytest.approx(share, abs=0.01)


@pytest.mark.parametrize("target", ["occupation", "marital-status"])
def test_accuracy_is_flat_to_epsilon_1_and_falls_below(target: str, points: dict[str, dict[float, Point]]) -> None:
    """Flat: within a point of accuracy. Falls: by five points at least at ε = 0.01, where the noise is of scale 500."""
    found = points[target]
    assert found[1.0].mean("counted") == pytest.approx(found[10.0].mean("counted"), abs=0.01)
    assert found[0.1].mean("counted") < found[10.0].mean("counted")
    assert found[0.01].mean("counted") < found[10.0].mean("counted") - 0.05


@pytest.mark.parametrize("target", ["occupation", "marital-status"])
def test_people_who_were_not_counted_are_guessed_about_as_well(
    target: str, points: dict[str, dict[float, Point]]
) -> None:
    """ "About as accurate": within two points at every ε."""
    for point in points[target].values():
        assert point.mean("others") == pytest.approx(point.mean("counted"), abs=0.02)
        assert point.others[0].n > 15_000


def test_it_is_far_better_than_the_commonest_value(points: dict[str, dict[float, Point]]) -> None:
    """Ten points above the printed share, where ours is 14 and 21; an accuracy of 30,000 people has an error of 0.3."""
    assert points["occupation"][10.0].mean("counted") > 0.13 + 0.1
    assert points["marital-status"][10.0].mean("counted") > 0.45 + 0.1


@pytest.mark.parametrize("target", ["occupation", "marital-status"])
def test_even_at_epsilon_001_it_is_better_than_the_commonest_value(
    target: str, points: dict[str, dict[float, Point]], studies: dict[str, Study]
) -> None:
    """ "A non-trivial accuracy": above the share of the commonest value by three errors of a mean of nine draws."""
    cells = studies[target].counted.cells()
    share = float(np.bincount(cells.codes[:, -1], weights=cells.counts).max() / cells.people)
    for who in ("counted", "others"):
        values = [rate.value for rate in getattr(points[target][0.01], who)]
        assert len(values) == 9
        assert np.mean(values) - 3 * np.std(values, ddof=1) / 3 > share


def test_where_it_is_sure(points: dict[str, dict[float, Point]]) -> None:
    """Printed: a few hundred people (1 %) for occupation, over 8,000 (25 %) for marital status, and quite accurate.

    "A few hundred": more than one, less than ten; nine draws have 419 to 442. "Quite accurate; 85 % in some cases": as right as
    it is sure, 0.8, and ten points above everybody.
    """
    sure = {target: found[10.0].sure for target, found in points.items()}
    assert 100 < np.mean([rate.n for rate in sure["occupation"]]) < 1000
    assert np.mean([rate.n for rate in sure["marital-status"]]) > 8000
    for target, rates in sure.items():
        assert np.mean([rate.value for rate in rates]) > 0.8
        assert np.mean([rate.value for rate in rates]) > points[target][10.0].mean("counted") + 0.1


def test_noise_differs_from_draw_to_draw_and_a_run_repeats(studies: dict[str, Study]) -> None:
    one, again = (naive_attack(studies["occupation"], (0.05,), draws=3)[0] for _ in range(2))
    assert one == again
    assert len({rate.value for rate in one.counted}) == 3


def test_what_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(dl.InputError, match=r"adult\.data"):
        study(tmp_path)
    with pytest.raises(dl.ParameterError, match="target"):
        study(tmp_path, "age")


@pytest.mark.parametrize("target", ["occupation", "marital-status"])
def test_the_greedy_choice_trusts_fewer_tables_under_noise(
    target: str, studies: dict[str, Study], points: dict[str, dict[float, Point]]
) -> None:
    """At ε = 1 it takes every table and is naive Bayes; at ε = 0.01 it is sure of far fewer people, and seldom wrongly so.

    Whether it is right more often there depends on the target: it is of marital status, and is not of occupation, by two or three
    points at least, where a mean of nine draws has an error of 0.7.
    """
    greedy = {
        point.epsilon: point
        for point in naive_attack(studies[target], (0.01, 0.1, 1.0), adversary="naive-bayes-greedy")
    }
    assert greedy[1.0].counted == points[target][1.0].counted
    wrong = {
        name: sum(round(rate.n * (1 - rate.value)) for rate in point.sure if rate.n)
        for name, point in (("greedy", greedy[0.01]), ("all", points[target][0.01]))
    }
    assert wrong["greedy"] < wrong["all"] / 10
    assert sum(rate.n for rate in greedy[0.01].sure) < sum(rate.n for rate in points[target][0.01].sure)
    gain = greedy[0.01].mean("counted") - points[target][0.01].mean("counted")
    assert (gain > 0.03) if target == "marital-status" else (gain < -0.02)


def test_a_drawn_classifier_is_about_as_accurate(
    studies: dict[str, Study], points: dict[str, dict[float, Point]]
) -> None:
    """Among 30,000 people there is little room: within a point at ε = 1, and not the same."""
    drawn = naive_attack(studies["occupation"], (0.01, 0.1, 1.0), adversary="naive-bayes-drawn")[2]
    assert drawn.mean("counted") == pytest.approx(points["occupation"][1.0].mean("counted"), abs=0.01)
    assert drawn.counted != points["occupation"][1.0].counted


# --- deFinetti ------------------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def found(data: Path) -> Experiments:
    return population.experiments(data, quick=True)


@pytest.fixture(scope="module")
def paper(found: Experiments) -> Paper:
    return population.shown(found)


def test_open_is_never_better_than_the_classifier_without_noise(found: Experiments) -> None:
    """As printed; half a point is left to chance."""
    for one in found.linked:
        assert one.mean("open") < found.noiseless("occupation") + 0.005


def test_seven_people_to_a_group(found: Experiments) -> None:
    """Printed: below 30 %. So is the paper's permutation; its group prediction is within four points of that, and what most
    states say is above: the paper's state is not the best that an attacker can say.

    Repetitions have 0.29 to 0.32 of group: 0.34 is a little more. A point is three errors of 30,718 people.
    """
    seven = found.at(7, 1)
    assert seven.mean("permutation") < 0.30
    assert seven.mean("group") < 0.34
    assert seven.mean("majority") > seven.mean("permutation") + 0.01
    assert seven.mean("permutation") > 1 / 7


def test_doubled_groups_fall_below_the_classifier_without_noise(found: Experiments) -> None:
    """Printed of ℓ = 5. It holds of permutation there, by two points; of group not quite: it is up to two points above. At ℓ = 7 it
    holds of all by far. Repetitions differ by about two points at ℓ = 5.
    """
    noiseless = found.noiseless("occupation")
    assert found.at(5, 2).mean("permutation") < noiseless - 0.02
    assert found.at(5, 2).mean("group") < noiseless + 0.02
    for prediction in ("permutation", "group", "majority", "open"):
        assert found.at(7, 2).mean(prediction) < noiseless - 0.05
    # In groups of ten, group is the better one; in groups of two, permutation.
    assert found.at(5, 2).mean("group") > found.at(5, 2).mean("permutation")
    assert found.at(2, 1).mean("group") < found.at(2, 1).mean("permutation")


def test_tripled_groups_leave_permutation_with_chance(found: Experiments) -> None:
    """ "About 1/ℓ": within a fifth of it. Of five repetitions the least has 0.81 of it, and the largest 1.18."""
    for level in (2, 5, 7):
        assert found.at(level, 3).mean("permutation") * level == pytest.approx(1, abs=0.2)


def test_accuracy_is_above_one_in_l(found: Experiments, paper: Paper) -> None:
    """Tight groups: "far exceeds 1/ℓ", by half of it; the least of five repetitions has 1.51. Doubled ones: "by a lower amount"."""
    for level in (2, 5, 7):
        for prediction in ("permutation", "group", "majority"):
            tight, doubled = (found.at(level, merge).mean(prediction) * level for merge in (1, 2))
            assert tight > 1.5
            assert 1 < doubled < tight
    said = {one.what: str(one.ours) for one in paper["Figure 4"].compared}
    for merge, name in ((1, "tight"), (2, "doubled"), (3, "tripled")):
        right = [f"{found.at(level, merge).mean('permutation') * level:.2f}" for level in (2, 5, 7)]
        assert said[f"{name}: permutation times ℓ"] == ", ".join(right)


def test_to_locate_somebody_matters_in_small_groups_alone(found: Experiments) -> None:
    """In groups of two, group and permutation are forty points above open. "Close to the open method" in those of fourteen: within
    three; five repetitions have 1.4 on average.
    """
    for prediction in ("permutation", "group"):
        assert found.at(2, 1).mean(prediction) > found.at(2, 1).mean("open") + 0.4
        assert found.at(7, 2).mean(prediction) == pytest.approx(found.at(7, 2).mean("open"), abs=0.03)


def test_larger_groups_are_harder(found: Experiments) -> None:
    """ "Decreases as l increases": an order, and no tolerance."""
    for prediction in ("permutation", "majority", "group"):
        for merge in (1, 2, 3):
            falling = [found.at(level, merge).mean(prediction) for level in (2, 5, 7)]
            assert falling == sorted(falling, reverse=True)


def test_the_last_state_and_all_states_are_scored_as_the_adversaries_are(studies: dict[str, Study]) -> None:
    """The experiment's short cut, a chain of its own, against the adversaries themselves with the same chain.

    Chains of other seeds differ by four thousandths: a point is left.
    """
    one = studies["occupation"]
    release, people = anatomized(one, 4, 1, seed=3)
    rates = predictions(release, [people], "occupation", "block", 200, np.random.default_rng(1))[0]
    effort = Effort(mcse=0.5, chains=2, batches=4, sweeps=25, burn_in=100, most_sweeps=100)
    memory = Memory()
    for name, rate in rates.items():
        adversary = ADVERSARIES[f"definetti-{name}"](effort=effort, memory=memory)
        belief = adversary.attack(release, people.targets, rng=np.random.default_rng(2))
        right = accuracy.success(belief.answer, people.truth("occupation"), people.people)
        assert rate.value == pytest.approx(right.value, abs=0.01)


def test_the_comparison(found: Experiments) -> None:
    """Noisy counts and classes teach about the population alone; Anatomy gives persons away, the less the larger its groups.

    Intervals are of 95 %, and a point to each side. Noisy counts at ε = 1 are better than Anatomy on both scales.
    """
    by = {(one.method, one.parameter): one for one in found.compared}
    for (method, _), one in by.items():
        if method in ("noisy counts", "generalization"):
            assert one.gain.low < 0 < one.gain.high
        if method == "Anatomy":
            assert one.gain.low > 0.1
    success = [by["Anatomy", name].success.value for name in ("ℓ = 2", "ℓ = 5", "ℓ = 5, groups of 10")]
    assert success == sorted(success, reverse=True)
    errors = [by["noisy counts", f"ε = {e:g}"].error for e in (0.01, 0.1, 1.0)]
    assert errors == sorted(errors, reverse=True)
    noisy = by["noisy counts", "ε = 1"]
    for (method, _), one in by.items():
        if method == "Anatomy":
            assert one.success.low > noisy.success.high
            assert one.error > noisy.error
    assert {method for method, _ in by} == {"noisy counts", "Anatomy", "generalization"}


def test_the_exhibits(paper: Paper) -> None:
    """Every figure is there, with what is said of it and charts that can be drawn."""
    assert [one.name for one in paper.exhibits] == list(FINDINGS["population"])
    for one in paper.exhibits:
        assert all(len(row) == len(one.header) for row in one.rows)
        for chart, caption in one.charts:
            assert caption
            assert ElementTree.fromstring(chart()).tag.endswith("svg")
    assert {name for name in ("Figure 2", "Figure 5") if not paper[name].rows} == {"Figure 2", "Figure 5"}
    said = {one.what: one.ours for one in paper["Figure 1"].compared}
    assert said["occupation: ε = 1 is as good as no noise"] == "yes"
    assert said["marital-status: ε = 1 is as good as no noise"] == "yes"
    assert len(paper["Figure 4"].charts) == 3


def test_without_adult(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.delenv("DALENIUS_DATA", raising=False)
    with pytest.raises(dl.InputError, match="DALENIUS_DATA"):
        population.build()
    with pytest.raises(dl.InputError, match=r"no adult\.data"):
        population.build(tmp_path)
