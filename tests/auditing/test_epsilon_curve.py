"""What ε means for a table: every figure from its own draws, the split from the cells, the same again from the same seed."""

from __future__ import annotations

import numpy as np
import pytest

import dalenius as dl
from dalenius.adversaries import Targets
from dalenius.adversaries.naive_bayes import NaiveBayes
from dalenius.auditing.epsilon_curve import EpsilonCurve, _seed, epsilon_curve
from dalenius.auditing.holdout import split
from dalenius.errors import InputError, ParameterError
from dalenius.measures import accuracy
from dalenius.publishers.noisy_counts import Simulation
from dalenius.schema import Column, Domain, Schema
from dalenius.table import Table


def people(n: int, seed: int, *, values: int = 3, areas: int = 4, missing: bool = False) -> Table:
    """The value depends on the area and the sex."""
    rng = np.random.default_rng(seed)
    area, sex = rng.integers(0, areas, n), rng.integers(0, 2, n)
    value = np.where(rng.random(n) < 0.6, (area + sex) % values, rng.integers(0, values, n))
    domains = {"area": areas, "sex": 2, "s": values}
    columns = [
        Column(name, "sensitive" if name == "s" else "quasi", domain=Domain(tuple(map(str, range(size)))))
        for name, size in domains.items()
    ]
    texts = {name: [str(code) for code in codes] for name, codes in (("area", area), ("sex", sex), ("s", value))}
    if missing:
        texts["area"][0] = ""
    return Table(texts, Schema(tuple(columns)))


@pytest.fixture(scope="module")
def table() -> Table:
    return people(3000, 1)


@pytest.fixture(scope="module")
def found(table: Table) -> EpsilonCurve:
    return epsilon_curve(table, 0.3, (1.0, 0.02), draws=4, seed=7)


def test_the_split_is_of_the_people(table: Table) -> None:
    kept, held = split(table, 0.3, seed=7)
    assert (kept.cells().people, held.cells().people) == (2100, 900)
    together: dict[tuple[int, ...], int] = {}
    for part in (kept, held):
        assert (part.cells().counts > 0).all()
        for codes, count in zip(part.cells().codes.tolist(), part.cells().counts.tolist(), strict=True):
            together[tuple(codes)] = together.get(tuple(codes), 0) + count
    cells = table.cells()
    assert together == {tuple(c): n for c, n in zip(cells.codes.tolist(), cells.counts.tolist(), strict=True)}
    assert split(table, 0.3, seed=7)[0].cells() == kept.cells()
    assert split(table, 0.3, seed=8)[0].cells() != kept.cells()
    with pytest.raises(InputError, match="no rows of its own"):
        _ = kept.rows


def test_everybody_is_equally_likely_held_out() -> None:
    """Of cells with 1, 4 and 15 people as many are held out, on average, as their share says."""
    schema = Schema((Column("q", "quasi", domain=Domain(("a", "b", "c"))), Column("s", "sensitive")))
    small = Table({"q": ["a"] + ["b"] * 4 + ["c"] * 15, "s": ["x"] * 20}, schema)
    held = np.zeros(3)
    for seed in range(300):
        cells = split(small, 0.25, seed=seed)[1].cells()
        assert cells.people == 5
        held[cells.codes[:, 0]] += cells.counts
    assert held / 300 == pytest.approx([0.25, 1.0, 3.75], abs=0.15)


def test_a_point_is_what_its_draws_give(table: Table, found: EpsilonCurve) -> None:
    """Counted again: guesses by the largest posterior, draw by draw."""
    kept, held = split(table, 0.3, seed=7)
    for point in found.points:
        epsilon = point.parameters["epsilon"]
        rates: dict[str, list[float]] = {"in": [], "out": [], "sure": [], "confidence": []}
        off = []
        for draw in range(4):
            release = Simulation(epsilon).draw(kept, _seed(7, epsilon, draw))
            exact = Simulation(1e9).draw(kept, 0).noisy  # of noise there is none
            off.append(np.mean(np.concatenate([abs(a - b).ravel() for a, b in zip(release.noisy, exact, strict=True)])))
            for who, part in (("in", kept), ("out", held)):
                cells = part.cells()
                posterior = NaiveBayes().attack(release, Targets(cells.schema, cells.codes[:, :2])).posterior
                right = posterior.argmax(axis=1) == cells.codes[:, 2]
                rates[who].append(cells.counts[right].sum() / cells.people)
                if who == "in":
                    best = posterior.max(axis=1)
                    rates["sure"].append(cells.counts[best > 0.8].sum() / cells.people)
                    rates["confidence"].append(best @ cells.counts / cells.people)
        assert point.success.rate.value == pytest.approx(np.mean(rates["in"]))
        assert (point.success.least, point.success.most) == pytest.approx((min(rates["in"]), max(rates["in"])))
        assert point.holdout_success.rate.value == pytest.approx(np.mean(rates["out"]))
        assert point.gain.rate.value == pytest.approx(np.mean(rates["in"]) - np.mean(rates["out"]))
        assert point.high_confidence_share == pytest.approx(np.mean(rates["sure"]))
        assert point.calibration_gap == pytest.approx(np.mean(rates["confidence"]) - np.mean(rates["in"]))
        assert point.count_error.mean_absolute == pytest.approx(np.mean(off))
        assert (point.success.rate.n, point.holdout_success.rate.n) == (2100, 900)
        assert point.verdict == accuracy.judge(point.gain.rate)


def test_less_noise_is_more_of_everything(found: EpsilonCurve) -> None:
    low, high = found.points
    assert [point.parameters["epsilon"] for point in found.points] == [0.02, 1.0]
    assert low.success.rate.value < high.success.rate.value
    assert low.count_error.mean_absolute > 20 * high.count_error.mean_absolute
    assert low.count_error.expected == pytest.approx(100, abs=0.1)
    assert low.count_error.mean_absolute == pytest.approx(100, rel=0.3)
    assert low.count_error.average_count == pytest.approx(2 * 2100 / (4 * 3 + 2 * 3))
    for point in found.points:
        error = point.count_error
        assert error.relative == pytest.approx(error.mean_absolute / error.average_count)
        assert error.least < error.mean_absolute < error.most
    assert low.count_error.total_variation > 5 * high.count_error.total_variation > 0
    assert low.calibration_gap > 0.1 > abs(high.calibration_gap)
    assert found.reference.count_error.mean_absolute == 0
    assert found.reference.success.rate.value == pytest.approx(high.success.rate.value, abs=0.02)


def test_a_point_depends_on_its_own_epsilon_alone(table: Table, found: EpsilonCurve) -> None:
    again = epsilon_curve(table, 0.3, (0.5, 1.0), draws=4, seed=7)
    assert again.points[1].to_document() == found.points[1].to_document()
    other = epsilon_curve(table, 0.3, (1.0,), draws=4, seed=8)
    assert other.points[0].to_document() != found.points[1].to_document()
    assert len({_seed(s, e, d) for s in (0, 1) for e in (0.1, 0.2) for d in range(5)}) == 20


def test_others_who_are_another_population_say_nothing(table: Table) -> None:
    """Whether they are like the people counted is asked without noise, and of drawn ones it is known."""
    like = epsilon_curve(table, people(3000, 2), (0.1, 1.0), draws=2)
    assert all(point.comparable for point in like.points)
    assert (like.split.kind, like.split.held_out, like.split.share) == ("file", 3000, None)
    cells = table.cells()
    commonest = np.bincount(cells.codes[:, -1], weights=cells.counts).argmax()
    unlike = table.part(np.where(cells.codes[:, -1] == commonest, cells.counts, 0))
    for point in epsilon_curve(table, unlike, (0.1, 1.0), draws=2).points:
        assert not point.comparable
        assert point.verdict == "not enough data to say"


def test_a_leak_is_called_one() -> None:
    """Hardly any people to a cell: the counts tell of the very people counted, and not of others."""
    thin = people(400, 3, values=8, areas=150)
    last = epsilon_curve(thin, 0.3, (0.01, 100.0), draws=3).points
    assert last[1].verdict == "leaks about persons"
    assert last[1].gain.rate.low > 0.05
    assert last[0].verdict != "leaks about persons"


def test_laplace_neighbours_and_joint_tables(table: Table) -> None:
    plain = epsilon_curve(table, 0.3, (1.0,), draws=2)
    replaced = epsilon_curve(table, 0.3, (1.0,), draws=2, noise="laplace", neighbours="replace")
    joined = epsilon_curve(table, 0.3, (1.0,), draws=2, joint=[("area", "sex")])
    assert replaced.points[0].count_error.expected == 4.0  # two tables, twice each
    assert plain.options["sensitivity"] == 2
    assert joined.options["sensitivity"] == 1
    assert joined.points[0].count_error.average_count == pytest.approx(2100 / 24)
    assert joined.reference.success.rate.value > plain.reference.success.rate.value


def test_what_is_refused(table: Table) -> None:
    for share in (0, 1, -0.1, 1.5, float("nan"), True, "0.3"):
        with pytest.raises(ParameterError, match="share"):
            split(table, share)  # type: ignore[arg-type]
    for draws in (0, -1, 1.5, True):
        with pytest.raises(ParameterError, match="draws"):
            epsilon_curve(table, draws=draws)  # type: ignore[arg-type]
    for epsilons in ((), (0.0,), (float("nan"),), (1.0, -2.0)):
        with pytest.raises(ParameterError, match="epsilon"):
            epsilon_curve(table, epsilons=epsilons)
    with pytest.raises(InputError, match=r"1 person: a share of 0\.3 is nobody\. Hold out a larger share"):
        epsilon_curve(people(1, 0))
    with pytest.raises(InputError, match="somebody has no value in column 'area'"):
        epsilon_curve(table, people(50, 4, missing=True))
    with pytest.raises(InputError, match="no declared values"):
        epsilon_curve(
            Table({"q": ["a", "b"], "s": ["x", "y"]}, Schema((Column("q", "quasi"), Column("s", "sensitive"))))
        )


def test_a_part_is_at_most_the_whole(table: Table) -> None:
    counts = table.cells().counts
    for wrong in (counts + 1, -counts, counts[:-1]):
        with pytest.raises(ParameterError, match=r"Table\.part"):
            table.part(wrong)
    assert table.part(counts).cells() == table.cells()


def test_the_hospital_is_read_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """One scan of the rows, however many draws."""
    hospital = dl.datasets.hospital(500, seed=1)
    opened = []
    rows = type(hospital.rows)
    count = rows.count
    monkeypatch.setattr(rows, "count", lambda *a, **k: opened.append(1) or count(*a, **k))
    epsilon_curve(hospital, epsilons=(0.1, 1.0), draws=3)
    assert len(opened) == 1
