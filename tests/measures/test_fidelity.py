"""The costs of a release against its table: equal to the plain ones of `plain_fidelity`, worked out from the two files."""

from __future__ import annotations

import csv
import json
import math
import random
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import dalenius as dl
from dalenius import engines as engine
from dalenius.adversaries.models import fit
from dalenius.adversaries.models.population import Population
from dalenius.adversaries.models.row_weights import joint
from dalenius.auditing.people import together
from dalenius.criteria import DistinctDiversity, KAnonymity
from dalenius.hierarchy import from_paths
from dalenius.measures.fidelity import Truth, fidelity
from dalenius.measures.queries import QUERIES, Query, relative_error, workload
from dalenius.publishers.anatomy import Anatomy
from dalenius.publishers.base import Published
from dalenius.publishers.lattice import Lattice
from dalenius.publishers.microaggregation import Microaggregation
from dalenius.publishers.mondrian import Mondrian
from dalenius.publishers.noisy_counts import Counts
from dalenius.releases import Generalized, Release
from tests.measures import plain_fidelity as plain
from tests.publishers.small import grow

ASKED = 30
QUOTED = ("u", "v, w", 'x "y"', "{z}", "last")  # members of sets that must be quoted


# ---------------------------------------------------------------------------- random tables on disk


@dataclass(frozen=True)
class Case:
    """A random table on disk, for the project and for the oracle alike."""

    seed: int
    folder: Path
    schema: dl.Schema
    quasi: tuple[plain.Column, ...]
    sensitive: tuple[plain.Column, ...]
    rows: list[dict[str, str]]

    @property
    def table(self) -> Path:
        return self.folder / "table.csv"

    def people(self) -> Mapping[plain.Cell, int]:
        return plain.people(self.table, self.quasi, self.sensitive)

    def published(self) -> dl.Table:
        return dl.Table(self.table, self.schema)


def write(path: Path, lines: Sequence[Mapping[str, object]]) -> None:
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, list(lines[0]), lineterminator="\n")
        writer.writeheader()
        writer.writerows(lines)


def with_missing(paths: Mapping[str, Sequence[str]]) -> dict[str, Sequence[str]]:
    """A missing value is a branch of its own, up to the top if there is one."""
    tops = {path[-1] for path in paths.values()}
    height = len(next(iter(paths.values()))) - 1
    return {**paths, "": [""] * height + [tops.pop() if len(tops) == 1 else ""]}


def make(seed: int, folder: Path) -> Case:
    """An integer with intervals, a category with a hierarchy, one to suppress or not; at times missing values.

    With an even seed every domain is declared, missing values too, and there is one sensitive column, of which no value has
    more than half of the people; with an odd one there are two, and some domains are taken from the data.
    """
    rng = random.Random(seed)
    declared, n = seed % 2 == 0, rng.randint(10, 28)
    first = rng.randint(-4, 30)
    numbers = [str(first + step) for step in sorted(rng.sample(range(9), rng.randint(3, 6)))]
    towns = list(QUOTED[: rng.randint(3, 5)]) if seed % 3 == 0 else [f"t{i}" for i in range(rng.randint(3, 5))]
    tree: Mapping[str, Sequence[str]] = grow(rng, towns, "T", most=3)
    rng.shuffle(towns)

    def interval(number: str, width: int) -> str:
        low = int(number) // width * width
        return f"[{low}, {low + width - 1}]"

    paths: dict[str, Mapping[str, Sequence[str]]] = {
        "age": {number: (number, interval(number, 2), interval(number, 4), "*") for number in numbers},
        "town": tree,
        "sex": {sex: (sex, "*") for sex in ("M", "F")},
    }
    leaves = {"age": numbers, "town": towns, "sex": ["M", "F"]}
    lacking = {name for name in leaves if rng.random() < 0.4}
    for name in lacking if declared else ():
        leaves[name].insert(len(numbers) if name == "age" else rng.randrange(len(leaves[name])), "")

    def drawn(choices: Sequence[str]) -> list[str]:
        # Some values are common and some rare or nobody's; everybody's the same would leave nothing to suppress.
        found = rng.choices(choices, weights=[rng.random() ** 2 + 0.05 for _ in choices], k=n)
        return found if len(set(found)) > 1 else drawn(choices)

    texts = {name: drawn([*own, *([""] if name in lacking and "" not in own else [])]) for name, own in leaves.items()}
    values = {"s": ["s0", "s1", "s2", "s3"], **({} if declared else {"u": ["u1", "u0"]})}
    for name, own in values.items():
        texts[name] = drawn(own)
        while declared and max(map(texts[name].count, own)) > n // 2:
            texts[name] = drawn(own)

    def domain(name: str, own: Sequence[str]) -> dl.Domain | None:
        return dl.Domain(tuple(own)) if declared or name in ("age", "s") else None

    columns = [
        dl.Column("id", "identifier"),
        dl.Column("age", "quasi", "integer", domain=domain("age", leaves["age"]), intervals=(2, 4)),
        dl.Column("town", "quasi", domain=domain("town", leaves["town"]), hierarchy=from_paths(list(tree.values()), source="t")),
        dl.Column("sex", "quasi", domain=domain("sex", leaves["sex"]), suppress=True),
        *(dl.Column(name, "sensitive", domain=domain(name, own)) for name, own in values.items()),
    ]  # fmt: skip
    quasi = []
    for name, own in leaves.items():
        known = tuple(own) if name != "sex" or declared else tuple(dict.fromkeys(texts[name]))
        if "" in texts[name] and "" not in known:
            known = (*known, "")
        every = with_missing(paths[name]) if "" in known else paths[name]
        quasi.append(plain.Column(name, "integer" if name == "age" else "category", known, every))
    sensitive = tuple(plain.Column(name, "category", tuple(own)) for name, own in values.items())
    rows = [{"id": str(i), **{name: texts[name][i] for name in texts}} for i in range(n)]
    folder.mkdir()
    case = Case(seed, folder, dl.Schema(tuple(columns)), tuple(quasi), sensitive, rows)
    write(case.table, rows)
    return case


@pytest.fixture(scope="module")
def case_of(tmp_path_factory: pytest.TempPathFactory) -> Callable[[int], Case]:
    return cache(lambda seed: make(seed, tmp_path_factory.mktemp("cases") / str(seed)))


def opened(name: Path, case: Case) -> tuple[Release, Truth]:
    """A release and its table, with one coding."""
    releases, table = together({"it": str(name)}, case.table, case.schema, kind=None, engine=engine.default())
    cells = table.cells()
    return releases["it"], Truth(cells.schema, cells.codes, cells.counts)


def asks_of(queries: Sequence[Query], schema: dl.Schema) -> list[plain.Ask]:
    """Queries in words."""

    def said(column: dl.Column, holds: np.ndarray[Any, np.dtype[np.bool_]]) -> frozenset[str]:
        return frozenset(leaf for leaf, asked in zip(column.leaves, holds.tolist(), strict=True) if asked)

    return [
        plain.Ask(
            {a: said(schema.quasi[a], holds) for a, holds in query.quasi.items()},
            said(schema.sensitive[0], query.values),
        )
        for query in queries
    ]


def right(name: Path, case: Case, asks: Sequence[plain.Ask]) -> dict[str, float]:
    """What the oracle says of a release, by its files."""
    table = case.people()
    if Path(f"{name}.counts.csv").exists():
        counts = plain.NoisyTables.read(Path(f"{name}.counts.csv"), case.quasi, case.sensitive[0])
        return plain.relative_error(asks, table, counts.answer)
    if Path(f"{name}.quasi.csv").exists():
        files = Path(f"{name}.quasi.csv"), Path(f"{name}.sensitive.csv")
        found: plain.Groups | plain.Points | plain.Boxes = plain.Groups.read(*files, case.quasi, case.sensitive)
    else:
        sidecar = Path(f"{name}.meta.json")
        kind = json.loads(sidecar.read_text(encoding="utf-8"))["kind"] if sidecar.exists() else "generalized"
        reader = plain.Points if kind == "centroids" else plain.Boxes
        found = reader.read(name, case.quasi, case.sensitive)
    taken_for = found.spread()
    costs = found.costs(table) if isinstance(found, plain.Boxes) else found.costs()
    if not isinstance(found, plain.Points):
        costs["kl_divergence"] = plain.kl_divergence(table, taken_for)
    return {**costs, **plain.relative_error(asks, table, lambda ask: ask.of(taken_for))}


def compare_with_oracle(name: Path, case: Case) -> dict[str, float]:
    release, truth = opened(name, case)
    asks = asks_of(workload(truth.schema, ASKED, case.seed), truth.schema)
    found = fidelity(release, truth, queries=ASKED, seed=case.seed)
    costs = {key: cost for key, cost in found.items() if not key.startswith("faithfulness")}
    assert costs == pytest.approx(right(name, case, asks), rel=1e-9, abs=1e-12)
    if "faithfulness" in found:
        assert found["faithfulness"] == pytest.approx(faithfulness_of(release, truth), abs=1e-9)
    return found


def faithfulness_of(release: Release, truth: Truth) -> float:
    """1 − half of what beliefs about every combination and value differ by, learnt from the release and from the table."""
    assert isinstance(release, Generalized)
    sizes = [len(column.leaves) for column in truth.schema.quasi]
    everybody = np.array(list(product(*map(range, sizes))), dtype=np.int32)
    one, other = (
        joint(Population.of(seen, truth.schema.sensitive[0].name), everybody, np.zeros(len(sizes)))
        for seen in (release, truth.identity)
    )
    return 1 - float(np.abs(one - other).sum()) / 2


# ---------------------------------------------------------------------------- what publishers write


GROUPED: dict[str, Callable[[dl.Table], Published]] = {
    "full-domain": Lattice([KAnonymity(2)]).publish,
    "full-domain, suppressed": Lattice([KAnonymity(3), DistinctDiversity(2)], suppression=0.5).publish,
    "mondrian": Mondrian([KAnonymity(2)]).publish,
    "mondrian, hierarchy": Mondrian([KAnonymity(2)], cuts="hierarchy").publish,
    "ranges": Microaggregation(3, "ranges").publish,
    "centroids": Microaggregation(3).publish,
}
OF_ONE_COLUMN: dict[str, Callable[[dl.Table], Published]] = {
    "anatomy": lambda table: Anatomy(2).publish(table, seed=1),
    "anatomy, merged": lambda table: Anatomy(2, merge=2).publish(table, seed=1),
    "counts": Counts(0.5).publish,
    "counts, joint": Counts(1.0, noise="laplace", joint=(("age", "sex"),)).publish,
    "counts, all joint": Counts(1.0, joint=(("sex", "age", "town"),)).publish,
}
MADE = {
    **{f"{kind} {seed}": (GROUPED[kind], seed) for kind, seed in product(GROUPED, range(6))},
    **{f"{kind} {seed}": (OF_ONE_COLUMN[kind], seed) for kind, seed in product(OF_ONE_COLUMN, range(0, 6, 2))},
}


@pytest.mark.slow
@pytest.mark.parametrize("made", MADE)
def test_what_publishers_write(made: str, case_of: Callable[[int], Case], tmp_path: Path) -> None:
    publish, seed = MADE[made]
    case = case_of(seed)
    published = publish(case.published())
    name = tmp_path / "release"
    published.write(name)
    found = compare_with_oracle(name, case)
    # The release that was not read from files costs the same, where its coding is the table's.
    cells = published.table.cells()
    same = fidelity(published.release, Truth(cells.schema, cells.codes, cells.counts), queries=ASKED, seed=case.seed)
    assert same == pytest.approx(found, rel=1e-12)


def test_the_suppressed_are_some(case_of: Callable[[int], Case]) -> None:
    """The releases with suppression above have suppressed rows, and classes too: else they would show nothing."""
    publish = GROUPED["full-domain, suppressed"]
    shares = [publish(case_of(seed).published()).describe() for seed in range(6)]
    assert sum(0 < found["suppressed"] < found["people"] for found in shares) > 2


# ---------------------------------------------------------------------------- releases by hand


def label(leaves: Sequence[str]) -> str:
    return leaves[0] if len(leaves) == 1 else "{" + ", ".join(map(json.dumps, leaves)) + "}"


def nodes(case: Case, rng: random.Random, name: Path) -> None:
    """Every cell at a level of its own: local recoding, some rows suppressed."""
    lines = []
    for row in case.rows:
        marks = rng.random() < 0.2
        line = {}
        for column in case.quasi:
            assert column.paths is not None
            line[column.name] = "*" if marks else rng.choice(column.paths[row[column.name]])
        lines.append({**line, **{column.name: row[column.name] for column in case.sensitive}})
    write(name, lines)


def sets(case: Case, rng: random.Random, name: Path) -> None:
    """Any sets at all, one in five of them without the person's own leaf; groups and counts of their own."""
    classes: dict[tuple[str, ...], dict[str, int]] = {}
    for row in case.rows:
        labels = []
        for column in case.quasi:
            others = [leaf for leaf in column.leaves if leaf != row[column.name]]
            picked = rng.sample(others, rng.randint(0, len(others)))
            if rng.random() >= 0.2 or not picked:
                picked.append(row[column.name])
            labels.append(label(picked))
        key = (rng.choice("ab"), *labels, *(row[column.name] for column in case.sensitive))
        classes.setdefault(key, {"count": 0})["count"] += 1
    groups: dict[tuple[str, ...], int] = {}
    header = ["group", *(column.name for column in (*case.quasi, *case.sensitive))]
    lines = []
    for key, weight in classes.items():
        number = groups.setdefault(key[: 1 + len(case.quasi)], len(groups))
        lines.append({**dict(zip(header, key, strict=True)), "group": number, **weight})
    write(name, lines)


def bands(case: Case, rng: random.Random, name: Path) -> None:
    """Ranges of integers, several rows of marks alone, and sets that have a missing value."""
    lines = []
    for row in case.rows:
        line = {}
        for column in case.quasi:
            mine = row[column.name]
            if column.type == "integer" and mine:
                ends = sorted([int(mine), *rng.choices([int(leaf) for leaf in column.leaves if leaf], k=1)])
                line[column.name] = f"[{ends[0]}, {ends[1]}]" if ends[0] < ends[1] else mine
            else:
                other = rng.choice([leaf for leaf in column.leaves if leaf != mine])
                line[column.name] = rng.choice([label([mine, other]), "*"])
        if rng.random() < 0.15:
            line = dict.fromkeys(line, "*")
        lines.append({**line, **{column.name: row[column.name] for column in case.sensitive}})
    write(name, lines)


def split(case: Case, rng: random.Random) -> list[list[dict[str, str]]]:
    """The rows in groups of one to four."""
    left = rng.sample(case.rows, len(case.rows))
    groups = []
    while left:
        size = rng.randint(1, 4)
        groups.append(left[:size])
        left = left[size:]
    return groups


def groups(case: Case, rng: random.Random, name: Path) -> None:
    """Any groups at all, their values with counts or a line a person."""
    tuples, values = [], []
    counted = rng.random() < 0.5
    for number, members in enumerate(split(case, rng)):
        tuples += [{"group": number, **{column.name: row[column.name] for column in case.quasi}} for row in members]
        mine = [{column.name: row[column.name] for column in case.sensitive} for row in members]
        if counted:
            once = [one for i, one in enumerate(mine) if one not in mine[:i]]
            values += [{"group": number, **one, "count": mine.count(one)} for one in once]
        else:
            values += [{"group": number, **one} for one in mine]
    write(Path(f"{name}.quasi.csv"), tuples)
    write(Path(f"{name}.sensitive.csv"), values)


def points(case: Case, rng: random.Random, name: Path) -> None:
    """A mean and somebody's category for each group; with group numbers or, at times, only told by the points."""
    lines = []
    numbered = rng.random() < 0.5
    for number, members in enumerate(split(case, rng)):
        known = [int(row["age"]) for row in members if row["age"]]
        point = {
            column.name: members[0][column.name]
            if column.type != "integer"
            else repr(sum(known) / len(known))
            if known
            else ""
            for column in case.quasi
        }
        for row in members:
            mine = {column.name: row[column.name] for column in case.sensitive}
            lines.append({**({"group": number} if numbered else {}), **point, **mine})
    write(name, lines)
    Path(f"{name}.meta.json").write_text('{"kind": "centroids"}', encoding="utf-8")


def counts(case: Case, rng: random.Random, name: Path, *, noisy: bool) -> None:
    """Counts of the first sensitive column without noise, those of nobody left out; or any numbers at all."""
    together = rng.choice([[], [["age", "town"]], [["town", "sex", "age"]]])
    joined = {one for names in together for one in names}
    by_name = {column.name: column for column in case.quasi}
    values = case.sensitive[0].leaves
    lines: list[dict[str, object]] = []
    for names in [*([name] for name in by_name if name not in joined), *together]:
        for leaves in product(*(by_name[one].leaves for one in names)):
            for value in values:
                here = [row for row in case.rows if [row[one] for one in names] == list(leaves)]
                exact = sum(row["s"] == value for row in here)
                count = rng.choice([-5, -1.5, 0, 0, 2, 7.25, exact]) if noisy else exact
                if noisy or count or rng.random() < 0.5:
                    single = len(names) == 1
                    lines.append({
                        "column": names[0] if single else json.dumps(names),
                        "value": leaves[0] if single else json.dumps(leaves),
                        "s": value, "count": count,
                    })  # fmt: skip
    write(Path(f"{name}.counts.csv"), lines)
    noise = (
        {"mechanism": "laplace", "scale": 2, "epsilon": 1.5}
        if noisy
        else {"mechanism": "none", "scale": 0, "epsilon": None}
    )
    meta = {**noise, "sensitivity": 2, "neighbours": "add-remove"}
    Path(f"{name}.json").write_text(json.dumps(meta), encoding="utf-8")


HAND: dict[str, Callable[[Case, random.Random, Path], None]] = {
    "nodes": nodes,
    "sets": sets,
    "bands": bands,
    "groups": groups,
    "points": points,
    "exact counts": lambda case, rng, name: counts(case, rng, name, noisy=False),
    "any counts": lambda case, rng, name: counts(case, rng, name, noisy=True),
}


@pytest.mark.parametrize("seed", range(7))
@pytest.mark.parametrize("hand", HAND)
def test_releases_by_hand(hand: str, seed: int, case_of: Callable[[int], Case], tmp_path: Path) -> None:
    case = case_of(seed)
    HAND[hand](case, random.Random(seed + 100), tmp_path / "release")
    found = compare_with_oracle(tmp_path / "release", case)
    assert found.get("kl_divergence", 0) >= 0
    if hand == "nodes":
        assert "precision" in found


def test_precision_and_infinity_occur_above_and_do_not(case_of: Callable[[int], Case], tmp_path: Path) -> None:
    """Among the releases by hand there are those whose precision is undefined, and those that exclude somebody."""
    found = []
    for seed in range(7):
        name = tmp_path / f"sets{seed}"
        sets(case_of(seed), random.Random(seed + 100), name)
        found.append(fidelity(*opened(name, case_of(seed)), queries=1))
    assert {"precision" in one for one in found} >= {False}
    assert {math.isinf(one["kl_divergence"]) for one in found} == {True, False}


def test_many_people_a_few_at_a_time(
    case_of: Callable[[int], Case], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The divergence is worked out for some people at a time; how many does not matter."""
    monkeypatch.setattr(fit, "MAX_PAIRS", 25)
    monkeypatch.setattr(fit, "MAX_BIT_BYTES", 1)
    for seed, hand in product(range(4), ("nodes", "groups")):
        name = tmp_path / f"{hand}{seed}"
        HAND[hand](case_of(seed), random.Random(seed), name)
        compare_with_oracle(name, case_of(seed))


# ---------------------------------------------------------------------------- what must hold whatever the table


@pytest.mark.parametrize("seed", range(6))
def test_the_table_itself_costs_nothing(seed: int, case_of: Callable[[int], Case]) -> None:
    case = case_of(seed)
    found = fidelity(*opened(case.table, case), queries=100)
    assert (found["ncp"], found["precision"], found["suppressed"]) == (0, 1, 0)
    for free in ("loss", "kl_divergence", "relative_error"):
        assert found[free] == pytest.approx(0, abs=1e-12), free


def spelt(columns: Sequence[plain.Column], how: str) -> list[str]:
    if how == "marks":
        return ["*"] * len(columns)
    return [label(list(column.leaves)) for column in columns]


@pytest.mark.parametrize("how", ["marks", "sets", "both"])
@pytest.mark.parametrize("seed", range(4))
def test_nothing_published_costs_everything(
    seed: int, how: str, case_of: Callable[[int], Case], tmp_path: Path
) -> None:
    """All marks are one class, marks among other rows are suppressed rows, and a set of all leaves is neither."""
    case = case_of(seed)
    ways = ["marks", "sets"] if how == "both" else [how]
    lines = []
    for i, row in enumerate(case.rows):
        labels = spelt(case.quasi, ways[i % len(ways)])
        quasi = dict(zip((column.name for column in case.quasi), labels, strict=True))
        lines.append({**quasi, **{column.name: row[column.name] for column in case.sensitive}})
    write(tmp_path / "r.csv", lines)
    found = fidelity(*opened(tmp_path / "r.csv", case), queries=10)
    n = len(lines)
    hidden = n // 2 + n % 2 if how == "both" else 0
    assert found["ncp"] == pytest.approx(1)
    assert found["loss"] == pytest.approx(1)
    # A level below the top that has everything in one node is the level of everything; suppressed rows are at the top.
    levels = [Fraction(column.level(frozenset(column.leaves)) or 0, column.height()) for column in case.quasi]
    shown = (n - hidden) / n
    assert found["precision"] == pytest.approx(float(1 - sum(levels, Fraction(0)) / len(levels)) * shown)
    assert found["suppressed"] == hidden / n
    assert found["discernibility"] == (n - hidden) ** 2 + hidden * n
    # Everybody could be anybody: the divergence is that from one uniform table for each combination of values.
    cells, everywhere = case.people(), math.prod(len(column.leaves) for column in case.quasi)
    share: dict[plain.Values, float] = {}
    for (_, values), count in cells.items():
        share[values] = share.get(values, 0) + count
    whole = sum(count / n * math.log(count / share[cell[1]] * everywhere) for cell, count in cells.items())
    assert found["kl_divergence"] == pytest.approx(whole)


def blocks(column: plain.Column, level: int) -> dict[str, str]:
    """For each leaf the set of those that share its node at a level, spelt out."""
    assert column.paths is not None
    node = {leaf: column.paths[leaf][level] for leaf in column.leaves}
    return {leaf: label([other for other in column.leaves if node[other] == node[leaf]]) for leaf in column.leaves}


@pytest.mark.parametrize("seed", range(6))
def test_coarser_costs_no_less(seed: int, case_of: Callable[[int], Case], tmp_path: Path) -> None:
    """Up a chain of the lattice, from the table to its top: a coarser spread is never nearer to the table (log sums)."""
    case = case_of(seed)
    rng = random.Random(seed)
    heights = {column.name: column.height() for column in case.quasi}
    levels = dict.fromkeys(heights, 0)
    last = {"ncp": -1.0, "loss": -1.0, "kl_divergence": -1.0, "discernibility": -1.0, "average_class_size": -1.0}
    while True:
        at = {column.name: blocks(column, levels[column.name]) for column in case.quasi}
        lines = [
            {name: at[name].get(text, text) if name in at else text for name, text in row.items()} for row in case.rows
        ]
        write(tmp_path / "r.csv", lines)
        found = fidelity(*opened(tmp_path / "r.csv", case), queries=1)
        for cost, before in last.items():
            assert found[cost] >= before - 1e-12, (cost, levels)
        last = {cost: found[cost] for cost in last}
        open_ = [name for name, level in levels.items() if level < heights[name]]
        if not open_:
            break
        levels[rng.choice(open_)] += 1
    assert last["kl_divergence"] > 0


def test_somebody_who_cannot_be(case_of: Callable[[int], Case], tmp_path: Path) -> None:
    """One label that leaves a person out makes the divergence infinite; in the group of another it does so, too."""
    case = case_of(2)
    rows = [{name: text for name, text in row.items() if name != "id"} for row in case.rows]
    alone = next(row for row in rows if rows.count(row) == 1)
    other = next(leaf for leaf in case.quasi[0].leaves if leaf != alone["age"])
    write(tmp_path / "r.csv", [{**row, "age": other} if row is alone else row for row in rows])
    found = fidelity(*opened(tmp_path / "r.csv", case), queries=10)
    assert found["kl_divergence"] == math.inf
    assert math.isfinite(found["relative_error"])
    # Anatomy: everybody a group, two people with different values exchanged.
    one, two = next((a, b) for a in rows for b in rows if a["s"] != b["s"] and a is alone)
    values = [row["s"] for row in rows]
    i, j = rows.index(one), rows.index(two)
    values[i], values[j] = values[j], values[i]
    tuples = [{"group": q, **{c.name: row[c.name] for c in case.quasi}} for q, row in enumerate(rows)]
    write(tmp_path / "cut.quasi.csv", tuples)
    write(tmp_path / "cut.sensitive.csv", [{"group": q, "s": value} for q, value in enumerate(values)])
    assert fidelity(*opened(tmp_path / "cut", case), queries=10)["kl_divergence"] == math.inf
    # Among suppressed rows alone nobody is excluded: anybody may be one of them.
    marks = dict.fromkeys((column.name for column in case.quasi), "*")
    write(tmp_path / "r.csv", [{**row, **marks} if row["s"] == alone["s"] else row for row in rows])
    assert math.isfinite(fidelity(*opened(tmp_path / "r.csv", case), queries=10)["kl_divergence"])


@pytest.mark.parametrize("seed", [2, 3])
def test_precision_is_of_nodes_alone(seed: int, case_of: Callable[[int], Case], tmp_path: Path) -> None:
    """One label that is no node, or one column without a hierarchy, and there is no precision, but all else."""
    case = case_of(seed)
    rows = [{name: text for name, text in row.items() if name != "id"} for row in case.rows]
    age = case.quasi[0]
    assert age.paths is not None
    own = rows[0]["age"]
    apart = next(leaf for leaf in age.leaves if leaf != own and age.paths[leaf][1] != age.paths[own][1])
    assert age.level(frozenset([own, apart])) is None
    write(tmp_path / "r.csv", [{**row, "age": label([own, apart])} if i == 0 else row for i, row in enumerate(rows)])
    found = fidelity(*opened(tmp_path / "r.csv", case), queries=10)
    assert "precision" not in found
    assert found["ncp"] > 0
    write(tmp_path / "raw.csv", rows)
    assert fidelity(*opened(tmp_path / "raw.csv", case), queries=10)["precision"] == 1
    flat = dl.Schema(
        tuple(dl.Column(c.name, c.role, c.type, c.domain) if c.name == "sex" else c for c in case.schema.columns)
    )
    bare = Case(case.seed, case.folder, flat, case.quasi, case.sensitive, case.rows)
    found = fidelity(*opened(tmp_path / "raw.csv", bare), queries=10)
    assert "precision" not in found
    assert found["ncp"] == 0


@pytest.mark.parametrize("seed", range(6))
def test_precision_is_the_lattices(seed: int, case_of: Callable[[int], Case]) -> None:
    """What the lattice says of its node, unless a label there covers the same leaves as one below: then that one counts."""
    case = case_of(seed)
    published = Lattice([KAnonymity(2)], suppression=0.2, utility="precision").publish(case.published())
    told = published.describe()
    cells = published.table.cells()
    found = fidelity(published.release, Truth(cells.schema, cells.codes, cells.counts), queries=1)
    lower = [
        column.level(column.sets(text)) != told["node"][column.name]
        for column in case.quasi
        for text in blocks(column, told["node"][column.name]).values()
    ]
    if any(lower):
        assert found["precision"] >= 1 - told["cost"] - 1e-12
    else:
        assert found["precision"] == pytest.approx(1 - told["cost"])


# ---------------------------------------------------------------------------- by hand


def small(folder: Path) -> tuple[dl.Schema, Path]:
    """Five people; ages 0 to 10, of which three occur; towns A and B in the north, C in the south."""
    towns = from_paths([["A", "N", "*"], ["B", "N", "*"], ["C", "S", "*"]], source="t")
    schema = dl.Schema(
        (
            dl.Column("age", "quasi", "integer", domain=dl.Domain(tuple(map(str, range(11))))),
            dl.Column("town", "quasi", hierarchy=towns),
            dl.Column("s", "sensitive"),
        )
    )
    (folder / "t.csv").write_text("age,town,s\n0,A,x\n0,B,y\n4,A,x\n5,C,x\n5,C,y\n", encoding="utf-8")
    return schema, folder / "t.csv"


def costs(text: str, folder: Path) -> dict[str, float]:
    schema, table = small(folder)
    (folder / "r.csv").write_text(text, encoding="utf-8")
    releases, people = together({"r": folder / "r.csv"}, table, schema, kind=None, engine=engine.default())
    cells = people.cells()
    return fidelity(releases["r"], Truth(cells.schema, cells.codes, cells.counts))


def test_by_hand(tmp_path: Path) -> None:
    found = costs('age,town,s\n"[0, 4]",N,x\n"[0, 4]",N,y\n"[0, 4]",N,x\n5,C,x\n*,*,y\n', tmp_path)
    # Ages: 4/10 three times, 0, 1; towns: 2/3 three times, 0, 1.
    assert found["ncp"] == pytest.approx((3 * 0.4 + 1 + 3 * 2 / 3 + 1) / 10)
    assert "precision" not in found  # ages have no hierarchy
    assert found["discernibility"] == 9 + 1 + 5
    assert found["average_class_size"] == 5 / 3
    assert found["suppressed"] == 1 / 5
    # (0, A, x), (4, A, x): 2/5 of 10 combinations each; (0, B, y): 1/10 and of the suppressed one 1/33; (5, C, x): 1;
    # (5, C, y): 1/33.
    shares = [2 / 10, 1 / 10 + 1 / 33, 2 / 10, 1, 1 / 33]
    assert found["kl_divergence"] == pytest.approx(sum(math.log(1 / share) / 5 for share in shares))


def test_one_leaf_costs_nothing_whatever_its_label(tmp_path: Path) -> None:
    found = costs("age,town,s\n0,A,x\n0,B,y\n4,A,x\n5,S,x\n5,S,y\n", tmp_path)  # the south is one town
    assert (found["ncp"], found["loss"]) == (0, 0)


def test_a_column_of_one_leaf_costs_nothing_suppressed_or_not(tmp_path: Path) -> None:
    one, two = dl.Column("a", "quasi", domain=dl.Domain(("x",))), dl.Column("b", "quasi", domain=dl.Domain(("0", "1")))
    schema = dl.Schema((one, two, dl.Column("s", "sensitive")))
    (tmp_path / "t.csv").write_text("a,b,s\nx,0,u\nx,1,v\nx,1,v\n", encoding="utf-8")
    for text, cost in (
        ("x,0,u\nx,1,v\n*,*,v\n", 1 / 6),
        ("x,0,u\n*,1,v\n*,1,v\n", 0),
        ("*,*,u\n*,*,v\n*,*,v\n", 1 / 2),
    ):
        (tmp_path / "r.csv").write_text("a,b,s\n" + text, encoding="utf-8")
        releases, people = together(
            {"r": tmp_path / "r.csv"}, tmp_path / "t.csv", schema, kind=None, engine=engine.default()
        )
        cells = people.cells()
        found = fidelity(releases["r"], Truth(cells.schema, cells.codes, cells.counts))
        assert found["ncp"] == pytest.approx(cost)


def test_answers_by_hand(tmp_path: Path) -> None:
    """One query on boxes, tuples and points: people of age 0 to 4 in A with x, of whom there are two."""
    schema, table = small(tmp_path)
    (tmp_path / "boxes.csv").write_text(
        'age,town,s\n"[0, 4]",N,x\n"[0, 4]",N,y\n"[0, 4]",N,x\n"[3, 8]",C,x\n*,*,x\n', encoding="utf-8"
    )
    (tmp_path / "cut.quasi.csv").write_text("group,age,town\n1,0,A\n1,0,B\n1,4,A\n2,5,C\n2,5,C\n", encoding="utf-8")
    (tmp_path / "cut.sensitive.csv").write_text("group,s,count\n1,x,2\n1,y,1\n2,x,1\n2,y,1\n", encoding="utf-8")
    (tmp_path / "points.csv").write_text("age,town,s\n4.5,A,x\n4.5,A,y\n4.5,A,x\n4.6,A,x\n4.6,A,y\n", encoding="utf-8")
    (tmp_path / "points.csv.meta.json").write_text('{"kind": "centroids"}', encoding="utf-8")
    names = {name: str(tmp_path / name) for name in ("boxes.csv", "cut", "points.csv")}
    releases, people = together(names, table, schema, kind=None, engine=engine.default())
    cells = people.cells()
    truth = Truth(cells.schema, cells.codes, cells.counts)
    ages = np.arange(11) <= 4
    query = Query({0: ages, 1: np.array([True, False, False])}, np.array([True, False]))
    answers = {
        "boxes.csv": 2 * 1 / 2
        + 0
        + 5 / 33,  # half of the north is A; nobody of C; a suppressed one with 5 of 33 chances
        "cut": 2 / 3 * 2,  # two of three tuples, two values x
        "points.csv": 2,  # 4.5 is as near to 4 as to 5 and stands at 4, 4.6 stands at 5
    }
    for name, answer in answers.items():
        assert relative_error(releases[name], truth.ask([query])) == pytest.approx(abs(answer - 2) / 2), name


def test_the_floor(tmp_path: Path) -> None:
    """Errors are relative to a thousandth of the people where fewer were asked for."""
    domains = {"q": dl.Domain(("a", "b", "c")), "s": dl.Domain(("x", "y"))}
    schema = dl.Schema((dl.Column("q", "quasi", domain=domains["q"]), dl.Column("s", "sensitive", domain=domains["s"])))
    lines = [{"q": "a", "s": "x"}] * 4990 + [{"q": "b", "s": "x"}] * 6 + [{"q": "c", "s": "y"}] * 4
    write(tmp_path / "t.csv", lines)
    write(tmp_path / "r.csv", [{"q": "*", "s": line["s"]} for line in lines])
    releases, table = together(
        {"r": tmp_path / "r.csv"}, tmp_path / "t.csv", schema, kind=None, engine=engine.default()
    )
    cells = table.cells()
    truth = Truth(cells.schema, cells.codes, cells.counts)

    def error(leaf: int, *values: bool) -> float:
        return relative_error(releases["r"], truth.ask([Query({0: np.arange(3) == leaf}, np.array(values))]))

    assert error(0, True, True) == pytest.approx(abs(5000 / 3 - 4990) / 4990)
    assert error(1, True, True) == pytest.approx((5000 / 3 - 6) / 6)  # 6 is above the floor, 5
    assert error(2, True, True) == pytest.approx((5000 / 3 - 4) / 5)
    assert error(0, False, True) == pytest.approx(4 / 3 / 5)  # there is nobody of a with y
    both = [Query({0: np.arange(3) == leaf}, np.ones(2, dtype=bool)) for leaf in (1, 2)]
    assert relative_error(releases["r"], truth.ask(both)) == pytest.approx(
        ((5000 / 3 - 6) / 6 + (5000 / 3 - 4) / 5) / 2
    )  # the mean over queries


def test_the_floor_of_a_small_table(tmp_path: Path) -> None:
    """An error is never relative to a fraction of a person: of 17 people, one too many where nobody is counts as 1."""
    domains = {"q": dl.Domain(("a", "b")), "s": dl.Domain(("x", "y"))}
    schema = dl.Schema((dl.Column("q", "quasi", domain=domains["q"]), dl.Column("s", "sensitive", domain=domains["s"])))
    lines = [{"q": "a", "s": "x"}] * 9 + [{"q": "b", "s": "y"}] * 8
    write(tmp_path / "t.csv", lines)
    write(tmp_path / "r.csv", [{"q": "*", "s": line["s"]} for line in lines])
    releases, table = together(
        {"r": tmp_path / "r.csv"}, tmp_path / "t.csv", schema, kind=None, engine=engine.default()
    )
    truth = Truth.of(table.cells())
    nobody = Query({0: np.array([True, False])}, np.array([False, True]))
    assert relative_error(releases["r"], truth.ask([nobody])) == pytest.approx(4)  # 4 of 8 are spread there, over 1
    found = fidelity(releases["r"], truth)
    assert found["relative_error_median"] < found["relative_error"]


# ---------------------------------------------------------------------------- the workload


def wide(columns: int = 5) -> dl.Schema:
    sizes = (1, 2, 3, 40, 101)[:columns]
    quasi = [
        dl.Column(f"q{size}", "quasi", kind, domain=dl.Domain(tuple(map(str, range(size)))))  # type: ignore[arg-type]
        for size, kind in zip(sizes, ("category", "integer", "category", "category", "integer"), strict=False)
    ]
    values = [
        dl.Column("s", "sensitive", domain=dl.Domain(("x", "y", "z"))),
        dl.Column("u", "sensitive", domain=dl.Domain(("0",))),
    ]
    return dl.Schema((*quasi, *values))


Asked = tuple[dict[int, list[bool]], list[bool]]


def spelt_out(queries: Sequence[Query]) -> list[Asked]:
    return [({a: holds.tolist() for a, holds in query.quasi.items()}, query.values.tolist()) for query in queries]


def test_the_workload_is_the_seeds_alone() -> None:
    once, again = (spelt_out(workload(wide(), 200, seed=3)) for _ in range(2))
    assert once == again
    assert once != spelt_out(workload(wide(), 200, seed=4))
    assert once[:50] == spelt_out(workload(wide(), 50, seed=3))
    assert len(workload(wide())) == QUERIES == 1000


def test_the_workload_is_one_for_all_releases(case_of: Callable[[int], Case], tmp_path: Path) -> None:
    """A release of leaves, one of marks and one of groups ask the same of one table."""
    case = case_of(4)
    marks = [{**{c.name: "*" for c in case.quasi}, "s": row["s"]} for row in case.rows]
    write(tmp_path / "marks.csv", marks)
    groups(case, random.Random(1), tmp_path / "cut")
    asked = [
        spelt_out(workload(opened(name, case)[1].schema, 100))
        for name in (case.table, tmp_path / "marks.csv", tmp_path / "cut")
    ]
    assert asked[0] == asked[1] == asked[2]


def test_what_queries_ask() -> None:
    schema, queries = wide(), workload(wide(), 2000, seed=1)
    many = {number: sum(len(query.quasi) == number for query in queries) for number in range(6)}
    assert many[0] == many[4] == many[5] == 0
    assert all(many[number] > 500 for number in (1, 2, 3))  # 667 on average
    for a, column in enumerate(schema.quasi):
        size = len(column.leaves)
        holds = [query.quasi[a] for query in queries if a in query.quasi]
        assert len(holds) > 600  # two of five, on average
        widths = [int(one.sum()) for one in holds]
        # A tenth to a half of the leaves, and at least one.
        assert min(widths) == max(1, size // 10)
        assert max(widths) == max(1, size // 2)
        assert {i for one in holds for i in np.flatnonzero(one).tolist()} == set(range(size))
        runs = [np.ptp(np.flatnonzero(one)) + 1 == one.sum() for one in holds]
        if size > 10:
            assert all(runs) == (column.type == "integer")
    asked = [query.values for query in queries]
    assert {int(values.sum()) for values in asked} == {1, 3}
    assert sum(int(values.sum()) == 1 for values in asked) == pytest.approx(1000, abs=110)  # five standard deviations
    single = [int(values.argmax()) for values in asked if values.sum() == 1]
    assert all(single.count(value) > 200 for value in range(3))  # of the first sensitive column, 333 each


def test_fewer_columns_than_three() -> None:
    for columns in (1, 2):
        found = {len(query.quasi) for query in workload(wide(columns), 200)}
        assert found == set(range(1, columns + 1))


def test_queries_and_seed_reach_the_error(case_of: Callable[[int], Case], tmp_path: Path) -> None:
    case = case_of(4)
    nodes(case, random.Random(3), tmp_path / "r.csv")
    release, truth = opened(tmp_path / "r.csv", case)
    errors = {
        (many, seed): fidelity(release, truth, queries=many, seed=seed)["relative_error"]
        for many in (50, QUERIES)
        for seed in (0, 1)
    }
    assert len(set(errors.values())) == 4
    assert fidelity(release, truth)["relative_error"] == errors[QUERIES, 0]
