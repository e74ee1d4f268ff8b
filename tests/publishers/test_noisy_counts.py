"""Noisy counts: exact counts, OpenDP's noise and OpenDP's own ε; simulated noise never reaches a file.

OpenDP takes no seed. Every test of chance here says how seldom a right program fails it; all together less than once in
a million runs.
"""

from __future__ import annotations

import dataclasses
import json
import math
import random
import sys
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import opendp.prelude as dp
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from scipy.stats import chi2, kstest, laplace

import dalenius as dl
from dalenius.errors import DaleniusError, InputError, ParameterError
from dalenius.hierarchy import from_paths
from dalenius.publishers import counting
from dalenius.publishers.noisy_counts import Counts, PublishedCounts, SimulatedCounts, Simulation, exact
from dalenius.releases import KINDS
from dalenius.releases.noisy_counts import tables_of
from tests.publishers import plain

dp.enable_features("contrib")

LEAVES = {"a": ("z", "b", ""), "b": ("0", "1", "2", "3"), "c": ("only",), "d": ("[", '["x"]', "x, y", "é")}
VALUES = ("flu", "", "none, really", "0")
ALL_JOINT = ((), (("a", "b"),), (("b", "a"),), (("a", "b"), ("c", "d")), (("d", "a", "c"),), (("a", "b", "c", "d"),))


def schema(leaves: dict[str, tuple[str, ...]] = LEAVES, values: tuple[str, ...] = VALUES) -> dl.Schema:
    columns = [
        dl.Column(name, "quasi", "integer" if name == "b" else "category", domain=dl.Domain(own))
        for name, own in leaves.items()
    ]
    return dl.Schema([dl.Column("id", "identifier"), *columns, dl.Column("s", "sensitive", domain=dl.Domain(values))])


def people(seed: int, n: int) -> tuple[list[tuple[str, ...]], list[str]]:
    """Quasi-identifiers row by row, and sensitive values; many combinations nobody has."""
    rng = random.Random(seed)
    rows = [tuple(rng.choice(own[: rng.randint(1, len(own))]) for own in LEAVES.values()) for _ in range(n)]
    return rows, [rng.choice(VALUES[:3]) for _ in range(n)]


def table(rows: Sequence[tuple[str, ...]], values: Sequence[str]) -> dl.Table:
    columns = dict(zip(LEAVES, map(list, zip(*rows, strict=True)), strict=True))
    return dl.Table({"id": [str(i) for i in range(len(rows))], **columns, "s": list(values)}, schema())


def names_of(joint: Sequence[tuple[str, ...]]) -> list[tuple[str, ...]]:
    """Each column alone that is in no joint table, then the joint ones."""
    together = {name for names in joint for name in names}
    return [*((name,) for name in LEAVES if name not in together), *joint]


# ---------------------------------------------------------------------------- the counts


@pytest.mark.slow
@settings(max_examples=40)
@given(seed=st.integers(0, 10**6), n=st.integers(1, 40), joint=st.sampled_from(ALL_JOINT))
def test_exact_counts(seed: int, n: int, joint: tuple[tuple[str, ...], ...]) -> None:
    rows, values = people(seed, n)
    whole = exact(table(rows, values), joint)
    found, tables = whole.counts, whole.tables
    assert list(tables) == names_of(joint)
    for names, counts in zip(tables, found, strict=True):
        assert counts.ravel().tolist() == plain.exact_counts(rows, values, names, LEAVES, VALUES)
        assert counts.shape[1] == len(VALUES)
        assert counts.sum() == n  # everybody once in each table
    # One person more changes as many counts as there are tables, by one; another person in their place twice as many.
    more = exact(table([*rows, rows[0]], [*values, values[0]]), joint).counts
    assert sum(int(abs(x - y).sum()) for x, y in zip(found, more, strict=True)) == len(tables)
    other = (("b", "3", "only", "é"), "0")
    replaced = exact(table([*rows[:-1], other[0]], [*values[:-1], other[1]]), joint).counts
    change = sum(int(abs(x - y).sum()) for x, y in zip(found, replaced, strict=True))
    assert change == 2 * len(tables)  # "0" is nobody's value: they differ everywhere


@pytest.mark.parametrize("noise", ["geometric", "laplace"])
@pytest.mark.parametrize("joint", ALL_JOINT, ids=str)
def test_noise_is_added_to_the_exact_counts(noise: str, joint: tuple[tuple[str, ...], ...]) -> None:
    """At ε = 1000 a geometric number is not 0 once in 10¹⁰⁸ times; a Laplace one is above 0.5 once in 10⁵⁴ times."""
    rows, values = people(3, 30)
    release = Counts(1000.0, noise=noise, joint=joint).publish(table(rows, values)).release  # type: ignore[arg-type]
    assert list(release.tables) == names_of(joint)
    for names, counts in zip(release.tables, release.noisy, strict=True):
        assert counts.round().ravel().tolist() == plain.exact_counts(rows, values, names, LEAVES, VALUES)
    assert all((counts % 1 == 0).all() for counts in release.noisy) == (noise == "geometric")


def test_what_nobody_has_is_published(tmp_path: Path) -> None:
    """The lines are those of the schema, whoever is there."""
    told = []
    for seed, n in ((1, 1), (2, 40)):
        Counts(1.0).publish(table(*people(seed, n))).write(tmp_path / "out")
        lines = plain.read_rows(tmp_path / "out.counts.csv")
        told.append([(line["column"], line["value"], line["s"]) for line in lines])
    assert told[0] == told[1] == [(name, leaf, value) for name in LEAVES for leaf in LEAVES[name] for value in VALUES]


# ---------------------------------------------------------------------------- the noise


MANY = 5000


def noises(publisher: Counts | Simulation, *, seed: int | None = None) -> tuple[NDArray[np.float64], float]:
    """20,000 draws around one person and many empty counts, and the scale that was recorded."""
    leaves = tuple(str(i) for i in range(MANY))
    declared = dl.Schema(
        [
            dl.Column("q", "quasi", "integer", domain=dl.Domain(leaves)),
            dl.Column("s", "sensitive", domain=dl.Domain(VALUES)),
        ]
    )
    one = dl.Table({"q": ["7"], "s": ["flu"]}, declared)
    if isinstance(publisher, Simulation):
        assert seed is not None
        release: dl.NoisyCounts = publisher.draw(one, seed)
    else:
        release = publisher.publish(one).release
    drawn = release.noisy[0].copy()
    drawn[7, 0] -= 1
    return drawn.ravel(), release.scale


def geometric_p(drawn: NDArray[np.float64], scale: float) -> float:
    """The chance of a χ² as large, for P(x) = (1 − α)/(1 + α) α^|x| with α = exp(−1/scale); tails are one cell each."""
    alpha = math.exp(-1 / scale)
    reach = int(scale * math.log(len(drawn) / 400))
    cells = np.clip(drawn, -reach - 1, reach + 1).astype(int) + reach + 1
    expected = (1 - alpha) / (1 + alpha) * alpha ** np.abs(np.arange(-reach - 1, reach + 2))
    expected[[0, -1]] = alpha ** (reach + 1) / (1 + alpha)
    assert expected.sum() == pytest.approx(1.0)
    assert len(drawn) * expected.min() > 35
    found = np.bincount(cells, minlength=len(expected))
    statistic = ((found - len(drawn) * expected) ** 2 / (len(drawn) * expected)).sum()
    return float(chi2.sf(statistic, len(expected) - 1))


def check_distribution(drawn: NDArray[np.float64], noise: str, scale: float) -> None:
    """A right program fails this less than once in 10⁷ times: 10⁻⁸ for the shape, 10⁻⁸ for the independence."""
    assert len(drawn) == 4 * MANY
    if noise == "geometric":
        assert (drawn % 1 == 0).all()
        assert geometric_p(drawn, scale) > 1e-8
        # The test has teeth: with a scale a fifth off, χ² is beyond the limit by 11 standard deviations.
        assert geometric_p(drawn, 1.2 * scale) < 1e-8
    else:
        assert (drawn % 1 != 0).any()
        assert kstest(drawn, laplace(scale=scale).cdf).pvalue > 1e-8
        # With a scale half off, the largest gap is 0.074, and 0.022 is the limit: 14 standard deviations.
        assert kstest(drawn, laplace(scale=1.5 * scale).cdf).pvalue < 1e-8
    # Each count has noise of its own: neighbours, and those a row apart, are not correlated (6 standard deviations).
    for apart in (1, len(VALUES)):
        correlation = np.corrcoef(drawn[:-apart], drawn[apart:])[0, 1]
        assert abs(correlation) * math.sqrt(len(drawn)) < 6


@pytest.mark.parametrize("neighbours", ["add-remove", "replace"])
@pytest.mark.parametrize("noise", ["geometric", "laplace"])
def test_noise_of_opendp(noise: str, neighbours: str) -> None:
    """P(x) ∝ exp(−|x|/scale), the scale being sensitivity / ε: 2 and 4 for one table and ε = 0.5."""
    publisher = Counts(0.5, noise=noise, neighbours=neighbours)  # type: ignore[arg-type]
    drawn, scale = noises(publisher)
    assert scale == pytest.approx({"add-remove": 2.0, "replace": 4.0}[neighbours], rel=1e-12)
    check_distribution(drawn, noise, scale)


def test_noise_is_drawn_anew() -> None:
    """Two draws of 20,000 numbers are equal never; one release keeps its own."""
    publisher = Counts(0.5)
    assert not np.array_equal(noises(publisher)[0], noises(publisher)[0])
    published = publisher.publish(table(*people(0, 5)))
    assert published.release is published.release


# ---------------------------------------------------------------------------- the budget


def opendp_epsilon(noise: str, scale: float, sensitivity: int) -> float:
    """What OpenDP says of a vector of counts that one person changes by so much in all."""
    if noise == "geometric":
        made = dp.m.make_geometric(dp.vector_domain(dp.atom_domain(T=int)), dp.l1_distance(T=int), scale)
        return float(made.map(sensitivity))
    space = dp.vector_domain(dp.atom_domain(T=float, nan=False)), dp.l1_distance(T=float)
    return float(dp.m.make_laplace(*space, scale).map(float(sensitivity)))


@pytest.mark.parametrize("neighbours", ["add-remove", "replace"])
@pytest.mark.parametrize("noise", ["geometric", "laplace"])
@pytest.mark.parametrize("joint", [(), (("a", "b"),), (("a", "c"), ("b", "d")), (("a", "b", "c"),)], ids=str)
def test_recorded_budget(noise: str, neighbours: str, joint: tuple[tuple[str, ...], ...]) -> None:
    people_of = table(*people(0, 5))
    tables = 4 - sum(len(names) - 1 for names in joint)
    for epsilon in (1.0, 0.1, 1 / 3, math.pi, 1e-3, 7.3, 50.0, 1e6, 2):
        published = Counts(epsilon, noise=noise, neighbours=neighbours, joint=joint).publish(people_of)  # type: ignore[arg-type]
        release = published.release
        assert release.sensitivity == tables * {"add-remove": 1, "replace": 2}[neighbours]
        assert release.epsilon == opendp_epsilon(noise, release.scale, int(release.sensitivity))
        assert release.epsilon is not None
        assert release.epsilon <= epsilon
        assert release.epsilon == pytest.approx(epsilon, rel=1e-12, abs=1e-9)
        # And by the definition, exp(ε) is the largest ratio: the noise is as wide as it must be.
        assert release.sensitivity / release.scale == pytest.approx(epsilon, rel=1e-12)
        assert (release.mechanism, release.neighbours, release.joint) == (noise, neighbours, joint)
        said = published.describe()
        for key in ("mechanism", "epsilon", "scale", "sensitivity", "neighbours"):
            assert said[key] == getattr(release, key)
        assert said["tables"] == [list(names) for names in names_of(joint)]


def test_nothing_but_the_counts_depends_on_the_people(tmp_path: Path) -> None:
    """What is described, and all that is written beside the counts, is the same for any two tables."""
    told = []
    for seed, n in ((1, 1), (2, 50)):
        published = Counts(0.7, joint=(("a", "b"),)).publish(table(*people(seed, n)))
        published.write(tmp_path / f"out{seed}")
        document = json.loads((tmp_path / f"out{seed}.meta.json").read_text(encoding="utf-8"))
        checksum, each = document.pop("sha256"), document.pop("files")
        assert set(checksum) == {"release"}
        assert set(each) == {"NAME.counts.csv", "NAME.json"}
        told.append((published.describe(), document, (tmp_path / f"out{seed}.json").read_text(encoding="utf-8")))
    assert told[0] == told[1]
    assert "people" not in told[0][1]


# ---------------------------------------------------------------------------- files


@pytest.mark.parametrize("noise", ["geometric", "laplace"])
@pytest.mark.parametrize(
    "joint", [*ALL_JOINT, (("c", "d"), ("a", "b")), (("d", "a"), ("b", "c")), (("b", "d"), ("c", "a"))], ids=str
)
def test_read_back(noise: str, joint: tuple[tuple[str, ...], ...], tmp_path: Path) -> None:
    """Tables in any order. At ε = 0.01 the scale is 100 or more: 48 counts are all ≥ 0 once in 10¹² times."""
    published = Counts(0.01, noise=noise, joint=joint).publish(table(*people(5, 10)))  # type: ignore[arg-type]
    published.write(tmp_path / "out")
    assert {file.name for file in tmp_path.iterdir()} == {"out.counts.csv", "out.json", "out.meta.json"}
    back = dl.read_release(tmp_path / "out", schema())
    assert isinstance(back, dl.NoisyCounts)
    assert min(counts.min() for counts in back.noisy) < 0
    assert back.epsilon == published.release.epsilon
    # Table by table, in whatever order they come.
    mine = dict(zip(published.release.tables, published.release.noisy, strict=True))
    assert set(mine) == set(back.tables)
    assert all(np.array_equal(mine[names], counts) for names, counts in zip(back.tables, back.noisy, strict=True))
    assert back == published.release


def test_negative_counts_are_read(tmp_path: Path) -> None:
    declared = schema({"a": ("x", "y")}, ("s", "t"))
    (tmp_path / "out.counts.csv").write_text("column,value,s,count\na,x,s,-3\na,x,t,-0.5\na,y,s,0\na,y,t,2\n")
    meta = {"mechanism": "laplace", "scale": 1.0, "epsilon": 1.0, "sensitivity": 1, "neighbours": "add-remove"}
    (tmp_path / "out.json").write_text(json.dumps(meta))
    back = dl.read_release(tmp_path / "out", declared)
    assert isinstance(back, dl.NoisyCounts)
    assert back.noisy[0].tolist() == [[-3.0, -0.5], [0.0, 2.0]]


def test_a_release_with_a_count_left_out_is_refused(tmp_path: Path) -> None:
    for joint in ((), (("a", "b"),)):
        Counts(1.0, joint=joint).publish(table(*people(5, 10))).write(tmp_path / "out")
        path = tmp_path / "out.counts.csv"
        (tmp_path / "out.meta.json").unlink()  # as another tool's
        lines = path.read_text(encoding="utf-8").splitlines(keepends=True)
        path.write_text("".join(lines[:-1]), encoding="utf-8")
        with pytest.raises(InputError, match=r"1 counts of column .* are missing"):
            dl.read_release(tmp_path / "out", schema())
        path.write_text("".join([*lines, lines[-1]]), encoding="utf-8")
        with pytest.raises(InputError, match="twice"):
            dl.read_release(tmp_path / "out", schema())


def test_domains_of_hierarchies() -> None:
    """A hierarchy's file declares its leaves."""
    tree = from_paths([("x", "*"), ("y", "*"), ("z", "*")], source="test")
    declared = dl.Schema(
        [dl.Column("q", "quasi", hierarchy=tree), dl.Column("s", "sensitive", domain=dl.Domain(("0", "1")))]
    )
    release = Counts(1000.0).publish(dl.Table({"q": ["y"], "s": ["0"]}, declared)).release
    assert release.noisy[0].tolist() == [[0, 0], [1, 0], [0, 0]]


# ---------------------------------------------------------------------------- simulation


def test_simulation_is_seeded() -> None:
    one = table(*people(1, 20))
    for noise in ("geometric", "laplace"):
        simulation = Simulation(0.5, noise=noise, joint=(("a", "b"),))  # type: ignore[arg-type]
        assert simulation.draw(one, 3) == simulation.draw(one, 3)
        assert simulation.draw(one, 3) != simulation.draw(one, 4)


@pytest.mark.parametrize("neighbours", ["add-remove", "replace"])
@pytest.mark.parametrize("noise", ["geometric", "laplace"])
def test_simulated_noise_has_the_same_distribution(noise: str, neighbours: str) -> None:
    drawn, scale = noises(Simulation(0.5, noise=noise, neighbours=neighbours), seed=1)  # type: ignore[arg-type]
    assert scale == {"add-remove": 2.0, "replace": 4.0}[neighbours]
    check_distribution(drawn, noise, scale)


def test_simulated_counts_are_the_exact_ones_with_noise() -> None:
    rows, values = people(3, 30)
    for joint in ALL_JOINT:
        simulated = Simulation(1000.0, joint=joint).draw(table(rows, values), 1)
        assert isinstance(simulated, SimulatedCounts)
        assert simulated.sensitivity == len(names_of(joint))
        for names, counts in zip(simulated.tables, simulated.noisy, strict=True):
            assert counts.ravel().tolist() == plain.exact_counts(rows, values, names, LEAVES, VALUES)


def test_simulated_counts_reach_no_file(tmp_path: Path) -> None:
    one = table(*people(1, 20))
    simulated = Simulation(1.0).draw(one, 1)
    copied = dataclasses.replace(simulated, epsilon=2.0)
    disguised = PublishedCounts(Counts(1.0), one, simulated)
    ways = [
        lambda: simulated.write(tmp_path / "out"),
        lambda: simulated.texts(),
        lambda: copied.write(tmp_path / "out"),
        lambda: dl.NoisyCounts.write(simulated, tmp_path / "out"),
        lambda: disguised.write(tmp_path / "out"),
    ]
    for way in ways:
        with pytest.raises(InputError, match=r"experiments and is never written.*Publish with"):
            way()
        assert list(tmp_path.iterdir()) == []
    # It is not a publisher, and its release is of a kind that no reader knows.
    assert not hasattr(Simulation(1.0), "publish")
    assert simulated.kind not in KINDS
    assert simulated.kind != dl.NoisyCounts.kind


# ---------------------------------------------------------------------------- what is refused


@pytest.mark.parametrize("absent", ["opendp", "opendp.prelude"])
def test_without_opendp(absent: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setitem(sys.modules, absent, None)
    one = table(*people(1, 20))
    with pytest.raises(InputError, match=r"OpenDP, which is not installed.*pip install 'dalenius\[dp\]'"):
        Counts(1.0).publish(one)
    assert list(tmp_path.iterdir()) == []
    # Experiments need none.
    assert Simulation(1.0).draw(one, 1).epsilon == 1.0


@pytest.mark.parametrize("kind", [Counts, Simulation])
@pytest.mark.parametrize(
    "epsilon",
    [0, 0.0, -1, -0.5, math.nan, math.inf, -math.inf, True, False, "1", None, 1j, pytest.param(10**400, id="10^400")],
)
def test_epsilon_is_a_positive_number(kind: type[Counts | Simulation], epsilon: object) -> None:
    """Also none that no float can hold: 10⁴⁰⁰ would have scale 0."""
    with pytest.raises(ParameterError, match=r"'epsilon' parameter of noisy counts must be a number > 0.* Got "):
        kind(epsilon)  # type: ignore[arg-type]


@pytest.mark.parametrize("epsilon", [1e-310, 5e-324])
def test_an_epsilon_too_small_for_any_noise(epsilon: float) -> None:
    """The scale would be infinite."""
    with pytest.raises(DaleniusError, match=r"epsilon|ε"):
        Counts(epsilon).publish(table(*people(0, 3)))


def test_other_parameters() -> None:
    with pytest.raises(ParameterError, match="'noise' parameter of noisy counts must be one of geometric, laplace"):
        Counts(1.0, noise="none")
    with pytest.raises(ParameterError, match=r"'noise'.*Got 'gaussian'"):
        Counts(1.0, noise="gaussian")  # type: ignore[arg-type]
    with pytest.raises(ParameterError, match=r"'neighbours'.*one of add-remove, replace. Got 'none'"):
        Counts(1.0, neighbours="none")  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("joint", "message"),
    [
        ((("a", "x"),), "'x' is not a quasi-identifier"),
        ((("a", "s"),), "'s' is not a quasi-identifier"),
        ((("a", "b"), ("b", "c")), "'b' is in two joint tables, or twice in one"),
        ((("a", "a"),), "'a' is in two joint tables, or twice in one"),
        ((("a",),), "two quasi-identifiers at least"),
        (((),), "two quasi-identifiers at least"),
    ],
)
def test_joint_tables_that_cannot_be(joint: tuple[tuple[str, ...], ...], message: str) -> None:
    with pytest.raises(InputError, match=message):
        Counts(1.0, joint=joint).publish(table(*people(0, 3)))
    with pytest.raises(InputError, match=message):
        tables_of(schema(), joint)


@pytest.mark.parametrize("columns", [3, 20])
def test_tables_of_too_many_counts(columns: int) -> None:
    """Twenty columns of 2,000 values each have more combinations than 64 bits can count."""
    values = tuple(f"v{i}" for i in range(2000))
    names = tuple(f"q{j}" for j in range(columns))
    declared = dl.Schema(
        [
            *(dl.Column(name, "quasi", domain=dl.Domain(values)) for name in names),
            dl.Column("s", "sensitive", domain=dl.Domain(VALUES)),
        ]
    )
    source = dl.Table({**{name: ["v0"] for name in names}, "s": ["flu"]}, declared)
    for kind in (Counts(1.0, joint=(names,)).publish, lambda table: Simulation(1.0, joint=(names,)).draw(table, 1)):
        with pytest.raises(InputError) as refused:
            kind(source)
        assert f"The table of {' × '.join(names)} and s has {2000**columns * 4:,} counts" in str(refused.value)
        assert "at most 5,000,000" in str(refused.value)


def test_a_table_of_as_many_counts_as_can_be(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(counting, "MAX_CELLS", 3 * 4 * 4)
    exact(table(*people(0, 3)), (("a", "b"),))
    monkeypatch.setattr(counting, "MAX_CELLS", 3 * 4 * 4 - 1)
    with pytest.raises(InputError, match="Count fewer columns together"):
        exact(table(*people(0, 3)), (("a", "b"),))


@pytest.mark.parametrize("kind", [Counts, Simulation])
@pytest.mark.parametrize("name", ["a", "b", "s"])
def test_undeclared_domains(kind: type, name: str) -> None:
    """Whatever the data has: which values there are would be told without noise."""
    columns = [
        dataclasses.replace(column, domain=None) if column.name == name else column for column in schema().columns
    ]
    rows, values = people(0, 9)
    source = {"id": ["1"] * 9, **dict(zip(LEAVES, map(list, zip(*rows, strict=True)), strict=True)), "s": values}
    one = dl.Table(source, dl.Schema(columns))
    with pytest.raises(InputError, match=f"{name!r} has no declared values.*Declare domain = .* in the schema"):
        Counts(1.0).publish(one) if kind is Counts else Simulation(1.0).draw(one, 1)


@pytest.mark.parametrize("recipe", [{"intervals": (5,)}, {"mask": "right"}, {"suppress": True}], ids=str)
def test_recipes_declare_no_domain(recipe: dict[str, object]) -> None:
    kind = "integer" if "intervals" in recipe else "category"
    declared = dl.Schema(
        [dl.Column("q", "quasi", kind, **recipe), dl.Column("s", "sensitive", domain=dl.Domain(("x",)))]  # type: ignore[arg-type]
    )
    with pytest.raises(InputError, match="'q' has no declared values"):
        Counts(1.0).publish(dl.Table({"q": ["12"], "s": ["x"]}, declared))


@pytest.mark.parametrize("name", ["q", "h", "s"])
def test_missing_values_outside_the_domain(name: str) -> None:
    """That somebody lacks a value would be told by the lines of the file. No row is told, nor how many there are."""
    tree = from_paths([("x", "*"), ("y", "*")], source="test")
    declared = dl.Schema(
        [
            dl.Column("q", "quasi", domain=dl.Domain(("x", "y"))),
            dl.Column("h", "quasi", hierarchy=tree),
            dl.Column("s", "sensitive", domain=dl.Domain(("x", "y"))),
        ]
    )
    columns = {"q": ["x", "x"], "h": ["x", "y"], "s": ["x", "y"]}
    assert Counts(1.0).publish(dl.Table(columns, declared)).release.noisy[0].shape == (2, 2)
    columns[name] = ["x", ""]
    with pytest.raises(InputError, match=f'{name!r} has missing values, and its declared domain has none.*Add ""'):
        Counts(1.0).publish(dl.Table(columns, declared))


def test_values_outside_the_domain() -> None:
    declared = schema({"a": ("x", "y")}, ("s", "t"))
    with pytest.raises(InputError, match="not in the declared domain"):
        Counts(1.0).publish(dl.Table({"id": ["1"], "a": ["z"], "s": ["s"]}, declared))


def test_several_sensitive_columns() -> None:
    two = dl.Schema(
        [dl.Column(name, role, domain=dl.Domain(("x",))) for name, role in (("q", "quasi"), ("s", "sensitive"))]
        + [dl.Column("t", "sensitive", domain=dl.Domain(("x",)))]
    )
    with pytest.raises(InputError, match=r"one sensitive column, and the schema has 2.*role = \"other\""):
        Counts(1.0).publish(dl.Table({"q": ["x"], "s": ["x"], "t": ["x"]}, two))


def test_there_is_nothing_to_shuffle(tmp_path: Path) -> None:
    published = Counts(1.0).publish(table(*people(0, 3)))
    with pytest.raises(InputError, match="no rows to shuffle"):
        published.write(tmp_path / "out", shuffle=True)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("name", ["column", "value", "count", "Count", "VALUE"])
def test_sensitive_columns_that_are_named_like_ours(name: str, tmp_path: Path) -> None:
    """Also in upper case, which engines do not tell apart: nobody could read the file."""
    declared = dl.Schema(
        [dl.Column("q", "quasi", domain=dl.Domain(("x",))), dl.Column(name, "sensitive", domain=dl.Domain(("y",)))]
    )

    def publish() -> None:
        Counts(1.0).publish(dl.Table({"q": ["x"], name: ["y"]}, declared)).write(tmp_path / "out")

    with pytest.raises(InputError, match=f"need the name {name!r} for a column of their own. Rename"):
        publish()
    assert list(tmp_path.iterdir()) == []


def test_counts_that_cannot_be_are_refused(tmp_path: Path) -> None:
    """Sums of such numbers are no numbers any more."""
    Counts(1.0).publish(table(*people(0, 9))).write(tmp_path / "n")
    (tmp_path / "n.meta.json").unlink()  # as another tool's
    path = tmp_path / "n.counts.csv"
    lines = path.read_text(encoding="utf-8").splitlines()
    lines[1] = lines[1].rsplit(",", 1)[0] + ",1e19"
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    with pytest.raises(InputError, match=r"n\.counts\.csv, row 0: the count '1e19' is larger than any count can be"):
        dl.read_release(tmp_path / "n", table(*people(0, 1)).declared)
