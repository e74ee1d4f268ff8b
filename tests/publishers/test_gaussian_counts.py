"""Gaussian columns: moments recounted by hand, their sensitivity, their noise, their budget, their files, bad input."""

from __future__ import annotations

import json
import math
import random
from fractions import Fraction
from pathlib import Path

import numpy as np
import opendp.prelude as dp
import pytest
from scipy.stats import kstest, laplace, norm

import dalenius as dl
from dalenius.auditing import audit
from dalenius.errors import DaleniusError, InputError
from dalenius.measures.queries import Independent, Query
from dalenius.publishers.noisy_counts import Counts, SimulatedCounts, Simulation, _sum_upwards
from dalenius.releases import NoisyCounts
from dalenius.releases.moments import Moments

dp.enable_features("contrib")

VALUES = ("flu", "pox", "none")
SCHEMA = dl.Schema(
    (
        dl.Column("hours", "quasi", "integer", dl.Domain((*map(str, range(-5, 60)), ""))),
        dl.Column("sex", "quasi", domain=dl.Domain(("F", "M"))),
        dl.Column("age", "quasi", "integer", dl.Domain(tuple(map(str, range(20, 40)))), intervals=(5,)),
        dl.Column("s", "sensitive", domain=dl.Domain(VALUES)),
    )
)
Person = tuple[str, str, str, str]


def people(seed: int, n: int = 60) -> list[Person]:
    rng = random.Random(seed)
    return [
        (
            rng.choice([*map(str, range(-5, 60)), ""]),
            rng.choice("FM"),
            str(rng.randrange(20, 40)),
            rng.choice(VALUES[:2]),
        )
        for _ in range(n)
    ]


def table(rows: list[Person]) -> dl.Table:
    return dl.Table({name: [row[j] for row in rows] for j, name in enumerate(("hours", "sex", "age", "s"))}, SCHEMA)


def recount(rows: list[Person], low: int, high: int) -> list[list[int]]:
    found = [[0] * len(VALUES) for _ in range(3)]
    for hours, _, _, value in rows:
        if hours:
            x = min(max(int(hours), low), high) - low
            for query in range(3):
                found[query][VALUES.index(value)] += x**query
    return found


@pytest.mark.parametrize("noise", ["geometric", "laplace"])
@pytest.mark.parametrize("bounds", [(0, 50), (-5, 59), (30, 31), (-20, 200)], ids=str)
def test_moments(bounds: tuple[int, int], noise: str, tmp_path: Path) -> None:
    """At ε = 10⁸ noise of the squares is ±0.003 at most, and not 0 once in 10¹⁰⁰ times if it is geometric."""
    rows = people(1)
    published = Counts(1e8, noise=noise, gaussian={"hours": bounds}, joint=(("sex", "age"),)).publish(table(rows))  # type: ignore[arg-type]
    release = published.release
    assert np.abs(release.moments["hours"].values - recount(rows, *bounds)).max() < 0.1
    assert release.tables == (("sex", "age"),)
    assert published.describe()["gaussian"] == {"hours": {"low": bounds[0], "high": bounds[1]}}
    published.write(tmp_path / "out")
    assert dl.read_release(tmp_path / "out", SCHEMA) == release
    meta = json.loads((tmp_path / "out.json").read_text(encoding="utf-8"))
    assert meta["gaussian"] == {"hours": {"low": bounds[0], "high": bounds[1]}}
    lines = (tmp_path / "out.counts.csv").read_text(encoding="utf-8").splitlines()
    assert sum(line.startswith("hours,") for line in lines) == 3 * len(VALUES)


def test_what_one_person_changes() -> None:
    """One more changes n, sum and squares by at most 1, R and R²; another in their place by twice that, and no more."""
    low, high = 10, 40
    rng = random.Random(5)
    worst = {"more": np.zeros(3), "other": np.zeros(3)}
    rows = people(0, 20)
    before = np.array(Counts(1.0, gaussian={"hours": (low, high)}).exact(table(rows)).moments["hours"])
    for _ in range(60):
        person = (rng.choice(["-5", "59", "12", "40", ""]), "F", "30", rng.choice(VALUES))
        for kind, changed in (("more", [*rows, person]), ("other", [*rows[1:], person])):
            after = Counts(1.0, gaussian={"hours": (low, high)}).exact(table(changed)).moments["hours"]
            worst[kind] = np.maximum(worst[kind], np.abs(after - before).sum(axis=1))
    assert worst["more"].tolist() == [1, 30, 900]
    assert (worst["other"] <= [2, 60, 1800]).all()
    one = [("59", "F", "30", "flu")]
    other = Counts(1.0, gaussian={"hours": (low, high)}).exact(table([("59", "F", "30", "pox")])).moments["hours"]
    own = Counts(1.0, gaussian={"hours": (low, high)}).exact(table(one)).moments["hours"]
    assert np.abs(own - other).sum(axis=1).tolist() == [2, 60, 1800]


def opendp_epsilon(noise: str, scale: float, change: int) -> float:
    if noise == "geometric":
        made = dp.m.make_geometric(dp.vector_domain(dp.atom_domain(T=int)), dp.l1_distance(T=int), scale)
        return float(made.map(change))
    space = dp.vector_domain(dp.atom_domain(T=float, nan=False)), dp.l1_distance(T=float)
    return float(dp.m.make_laplace(*space, scale).map(float(change)))


GAUSSIAN = {"hours": (0, 50), "age": (20, 27)}


def test_sums_of_epsilons_are_rounded_upwards() -> None:
    assert _sum_upwards([1.0, 2.0**-60]) == math.nextafter(1.0, 2.0)
    assert _sum_upwards([1.0, -(2.0**-60)]) == 1.0
    assert _sum_upwards([0.5, 0.25]) == 0.75


@pytest.mark.parametrize("neighbours", ["add-remove", "replace"])
@pytest.mark.parametrize("noise", ["geometric", "laplace"])
@pytest.mark.parametrize("columns", [("hours",), ("hours", "age")])
def test_the_budget_is_opendps(columns: tuple[str, ...], noise: str, neighbours: str) -> None:
    """m tables and 3g further queries: each has its share, and the sum of OpenDP's maps is recorded."""
    gaussian = {name: GAUSSIAN[name] for name in columns}
    twice = 1 if neighbours == "add-remove" else 2
    m, g = 3 - len(gaussian), len(gaussian)
    for epsilon in (1.0, 0.1, 1 / 3, math.pi, 1e-3, 7.3):
        release = (
            Counts(epsilon, noise=noise, neighbours=neighbours, gaussian=gaussian).publish(table(people(0))).release
        )  # type: ignore[arg-type]
        assert release.sensitivity == twice * (m + 3 * g)
        spent = [opendp_epsilon(noise, release.scale, twice * (m + g))]
        for low, high in gaussian.values():
            reach = high - low
            spent += [opendp_epsilon(noise, release.scale * reach**q, twice * reach**q) for q in (1, 2)]
        assert release.epsilon is not None
        exactly = sum(map(Fraction, spent))
        assert Fraction(math.nextafter(release.epsilon, 0)) < exactly <= Fraction(release.epsilon)  # the float above
        assert release.epsilon <= epsilon
        assert release.epsilon == pytest.approx(epsilon, rel=1e-12)
        for one in spent[1:]:
            assert one == pytest.approx(epsilon / (m + 3 * g), rel=1e-9)


@pytest.mark.parametrize("simulated", [False, True])
@pytest.mark.parametrize("noise", ["geometric", "laplace"])
def test_noise_of_each_query(noise: str, simulated: bool) -> None:
    """4,000 sensitive values, 3 of them anybody's: the noise of n, sum and squares is Laplace's of scale, scale·R, scale·R².

    Two-sided geometric noise is within its steps of that: 1 in 400. A right program fails less than once in 10⁷ times.
    """
    values = tuple(map(str, range(4000)))
    declared = dl.Schema((SCHEMA["hours"], dl.Column("s", "sensitive", domain=dl.Domain(values))))
    one = dl.Table({"hours": ["12"], "s": ["7"]}, declared)
    if simulated:
        release: NoisyCounts = Simulation(0.01, noise=noise, gaussian={"hours": (2, 32)}).draw(one, 1)  # type: ignore[arg-type]
    else:
        release = Counts(0.01, noise=noise, gaussian={"hours": (2, 32)}).publish(one).release  # type: ignore[arg-type]
    assert release.scale == pytest.approx(300)
    assert release.noisy == ()
    drawn = release.moments["hours"].values.copy()
    drawn[:, 7] -= [1, 10, 100]
    assert (drawn % 1 == 0).all() == (noise == "geometric")
    for row, unit in zip(drawn, (1, 30, 900), strict=True):
        assert kstest(row, laplace(scale=300 * unit).cdf).pvalue > 1e-8
        assert kstest(row, laplace(scale=1.5 * 300 * unit).cdf).pvalue < 1e-8
    assert abs(np.corrcoef(drawn)[np.triu_indices(3, 1)]).max() * math.sqrt(4000) < 6


def test_simulations_are_seeded_and_reach_no_file(tmp_path: Path) -> None:
    simulation = Simulation(0.5, gaussian={"hours": (0, 50)})
    one = table(people(1))
    assert simulation.draw(one, 3) == simulation.draw(one, 3)
    assert simulation.draw(one, 3) != simulation.draw(one, 4)
    drawn = simulation.draw(one, 3)
    assert isinstance(drawn, SimulatedCounts)
    with pytest.raises(InputError, match="never written"):
        drawn.write(tmp_path / "out")


def test_an_audit_of_gaussian_columns(tmp_path: Path) -> None:
    one = table(people(3))
    Counts(1.0, gaussian={"hours": (0, 50)}, levels={"age": 1}).publish(one).write(tmp_path / "out")
    found = audit(tmp_path / "out", SCHEMA, truth=one.source)
    assert [attack.adversary for attack in found.attacks] == ["naive-bayes"]
    assert found.utility["relative_error"] > 0
    # All columns Gaussian but one that nobody asks: no table at all is left of two.
    both = Counts(1e6, gaussian=GAUSSIAN, joint=()).publish(one).release
    assert both.tables == (("sex",),)


def test_answers_of_gaussian_columns() -> None:
    """By the density at each value of the domain, clipped, the missing one apart."""
    rows = [(str(20 + i % 3), "F", "30", "flu") for i in range(300)]
    release = Counts(1e6, gaussian={"hours": (0, 50)}).publish(table(rows)).release
    leaves = release.schema["hours"].leaves
    density = {leaf: norm.pdf(min(max(int(leaf), 0), 50), 21, math.sqrt(2 / 3)) for leaf in leaves if leaf}
    for wanted in (range(15, 28), range(22, 28), range(40, 60)):
        query = Query({0: np.array([leaf in map(str, wanted) for leaf in leaves])}, np.ones(3, dtype=bool))
        expected = 300 * sum(density[str(x)] for x in wanted) / sum(density.values())
        assert Independent(release)(query) == pytest.approx(expected, abs=1e-6)


# ---------------------------------------------------------------------------- what is refused


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"gaussian": {"hour": (0, 9)}}, "'hour' is not a quasi-identifier, so it cannot be Gaussian. Did you mean 'hours'"),
        ({"gaussian": {"s": (0, 9)}}, "'s' is not a quasi-identifier"),
        ({"gaussian": {"sex": (0, 9)}}, 'Column \'sex\' cannot be Gaussian: it has no numbers. Declare type = "integer"'),
        ({"gaussian": {"hours": (9, 9)}}, "bounds of Gaussian column 'hours' must be LOW < HIGH. Got 9 and 9"),
        ({"gaussian": {"hours": (9, 1)}}, "must be LOW < HIGH. Got 9 and 1"),
        ({"gaussian": {"hours": (0.0, 1)}}, r"bound low of Gaussian column 'hours' must be a whole number. Got 0\.0"),
        ({"gaussian": {"hours": (0, True)}}, "bound high of .* must be a whole number. Got True"),
        ({"gaussian": {"hours": (0, 3_001)}}, "3,001 apart; at most 3,000"),
        ({"gaussian": {"hours": (0, 1, 2)}}, "'gaussian' parameter of noisy counts must be two bounds"),
        ({"gaussian": {"hours": (0, 9)}, "joint": (("hours", "sex"),)}, "'hours' is Gaussian and cannot be counted together"),
        ({"gaussian": {"age": (0, 9)}, "levels": {"age": 1}}, "'age' is Gaussian and not counted: it has no level"),
    ],
    ids=str,
)  # fmt: skip
@pytest.mark.parametrize("kind", [Counts, Simulation])
def test_what_cannot_be_gaussian(kind: type, given: dict[str, object], message: str) -> None:
    with pytest.raises(DaleniusError, match=message):
        kind(1.0, **given).exact(table(people(0)))


def test_gaussian_columns_have_declared_domains_too() -> None:
    bare = dl.Schema((dl.Column("hours", "quasi", "integer"), SCHEMA["s"]))
    with pytest.raises(InputError, match="'hours' has no declared values"):
        Counts(1.0, gaussian={"hours": (0, 9)}).publish(dl.Table({"hours": ["1"], "s": ["flu"]}, bare))
    whole = dl.Schema((dl.Column("hours", "quasi", "integer", dl.Domain(("1", "2"))), SCHEMA["s"]))
    with pytest.raises(InputError, match="'hours' has missing values, and its declared domain has none"):
        Counts(1.0, gaussian={"hours": (0, 9)}).publish(dl.Table({"hours": ["1", ""], "s": ["flu", "pox"]}, whole))


def test_squares_of_a_billion_people_are_exact_whoever_they_are() -> None:
    """No refusal depends on how many people there are, which noise is to hide; bounds are near enough for all that may come."""
    wide = dl.Schema((dl.Column("q", "quasi", "integer", dl.Domain(("0", "3000"))), SCHEMA["s"]))
    many = dl.Table({"q": ["3000"], "s": ["flu"]}, wide)
    object.__setattr__(many.cells(), "counts", np.array([10**9]))
    for noise in ("geometric", "laplace"):
        moments = Counts(1e9, noise=noise, gaussian={"q": (0, 3_000)}).publish(many).release.moments["q"]  # type: ignore[arg-type]
        assert moments.values[2, 0] == pytest.approx(10**9 * 3000**2, abs=4)
    assert 10**9 * 3000**2 < 2**53


META = {"mechanism": "laplace", "scale": 1.0, "epsilon": 4.0, "sensitivity": 4, "neighbours": "add-remove"}
LINES = [
    *(f"hours,{query},{value},{i}" for query in ("n", "sum", "squares") for i, value in enumerate(VALUES)),
    *(f"sex,{sex},{value},1" for sex in "FM" for value in VALUES),
]
TINY = dl.Schema((SCHEMA["hours"], SCHEMA["sex"], SCHEMA["s"]))


def read(folder: Path, lines: list[str] = LINES, gaussian: object = None) -> NoisyCounts:
    (folder / "c.counts.csv").write_text("\n".join(["column,value,s,count", *lines]) + "\n", encoding="utf-8")
    meta = {**META, "gaussian": {"hours": {"low": 1, "high": 99}} if gaussian is None else gaussian}
    (folder / "c.json").write_text(json.dumps(meta), encoding="utf-8")
    found = dl.read_release(folder / "c", TINY)
    assert isinstance(found, NoisyCounts)
    return found


def test_moments_of_another_tool(tmp_path: Path) -> None:
    release = read(tmp_path, random.Random(1).sample(LINES, len(LINES)))
    assert release.moments == {"hours": Moments(1, 99, np.array([[0.0, 1, 2]] * 3))}
    assert release.tables == (("sex",),)
    assert release.moments["hours"].units == (1, 98, 98**2)


@pytest.mark.parametrize(
    ("lines", "gaussian", "message"),
    [
        (LINES[1:], None, "c.counts.csv: 1 of the rows 'n' of Gaussian column 'hours' are missing. It needs n, sum and squares"),
        (LINES[:3] + LINES[6:], None, "3 of the rows 'sum' of Gaussian column 'hours' are missing"),
        (LINES[9:], None, "3 of the rows 'n' of Gaussian"),
        ([*LINES, "hours,mean,flu,1"], None, "row 15: 'mean' is not one of n, sum and squares, as Gaussian column 'hours'"),
        ([*LINES, LINES[0]], None, "a count is given twice"),
        ([*LINES, "hours,n,flu,77"], None, "column 'hours', value 'n': a count is given twice"),
        ([*LINES, '"[""hours"", ""sex""]","[""1"", ""F""]",flu,1'], None, "'hours' is Gaussian and cannot be counted together"),
        (LINES, {}, "'n' is not a whole number, as column 'hours' needs"),
        (LINES, [], "c.json: 'gaussian' must be an object such as"),
        (LINES, {"hours": [1, 99]}, "c.json: 'gaussian' of column 'hours' needs low, high"),
        (LINES, {"hours": {"low": 1}}, "'gaussian' of column 'hours' needs low, high"),
        (LINES, {"hours": {"low": 1, "high": 9, "by": 2}}, "'gaussian' of column 'hours' needs low, high"),
        (LINES, {"hours": {"low": 9, "high": 1}}, "Gaussian column 'hours' in c.json must be LOW < HIGH"),
        (LINES, {"hours": {"low": "1", "high": 9}}, "bound low of Gaussian column 'hours' in c.json must be a whole number"),
        (LINES, {"ours": {"low": 1, "high": 9}}, "'ours' is not a quasi-identifier, so it cannot be Gaussian"),
        (LINES, {"sex": {"low": 1, "high": 9}}, "Column 'sex' cannot be Gaussian: it has no numbers"),
    ],
)  # fmt: skip
def test_files_that_are_wrong(lines: list[str], gaussian: object, message: str, tmp_path: Path) -> None:
    with pytest.raises(DaleniusError) as caught:
        read(tmp_path, lines, gaussian)
    assert message in str(caught.value)
