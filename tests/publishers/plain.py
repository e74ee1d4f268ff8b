"""Plain second implementations of the publishers: rows in lists, recursion and loops, written from the definitions.

Nothing here imports the project's publishers or criteria, but for `Asked.criteria` and `Sheet`, which hand the same
question and the same table to both sides. A missing value is "" everywhere.
"""

from __future__ import annotations

import csv
import json
import math
import random
import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from itertools import product
from pathlib import Path

import numpy as np
import pyarrow.parquet as pq
from hypothesis import strategies as st

import dalenius as dl
from dalenius import criteria as c
from dalenius.hierarchy import from_paths
from tests.publishers.small import grow

Row = tuple[str, ...]
Rows = Sequence[Row]
Parts = list[list[int]]  # the numbers of the rows of each part
Holds = Callable[[Sequence[int]], bool]  # whether a part, by the numbers of its rows, may be published

# ---------------------------------------------------------------------------- criteria


@dataclass(frozen=True)
class Asked:
    """k, distinct ℓ, entropy ℓ and t (equal distance, against all rows); what is not asked for is its weakest value."""

    k: int = 1
    distinct: int = 1
    entropy: str = "1"
    t: str = "1"

    def holds(self, group: Sequence[str], table: Counter[str]) -> bool:
        """Whether the values of a class satisfy everything; `table` counts the values of all rows."""
        n, whole = len(group), table.total()
        mine = Counter(group)
        if n < self.k or len(mine) < self.distinct:
            return False
        if float(self.entropy) > 1:
            bits = -math.fsum(count / n * math.log(count / n) for count in mine.values())
            if math.exp(bits) < float(self.entropy) * (1 - 1e-9):
                return False
        if Fraction(self.t) < 1:
            more = sum(max(count * whole - table[value] * n, 0) for value, count in mine.items())  # Σ max(q − p, 0)
            return more <= Fraction(self.t) * n * whole
        return True

    def of(self, columns: Sequence[Sequence[str]]) -> Holds:
        """The question for the rows of a table: every sensitive column by itself must satisfy."""
        tables = [Counter(column) for column in columns]
        return lambda part: all(
            self.holds([column[i] for i in part], table) for column, table in zip(columns, tables, strict=True)
        )

    def of_each_knowing_the_others(self, columns: Sequence[Sequence[str]]) -> Holds:
        """The same for an attacker who knows the other sensitive columns: they split every part."""

        def every(part: Sequence[int]) -> bool:
            for j, column in enumerate(columns):
                pieces: dict[Row, list[str]] = {}
                for i in part:
                    known = tuple(other[i] for o, other in enumerate(columns) if o != j)
                    pieces.setdefault(known, []).append(column[i])
                if not all(self.holds(piece, Counter(column)) for piece in pieces.values()):
                    return False
            return True

        return every

    def criteria(self) -> list[c.Criterion]:
        """The same of the project."""
        found: list[c.Criterion] = [c.KAnonymity(self.k)] if self.k > 1 else []
        found += [c.DistinctDiversity(self.distinct)] if self.distinct > 1 else []
        found += [c.EntropyDiversity(float(self.entropy))] if float(self.entropy) > 1 else []
        return found + ([c.TCloseness(float(self.t))] if Fraction(self.t) < 1 else [])


# ---------------------------------------------------------------------------- columns


@dataclass(frozen=True)
class Quasi:
    """A quasi-identifier: the leaves it may have, in any order, and the path of each, leaf first, up its hierarchy."""

    name: str
    type: str
    leaves: tuple[str, ...]
    paths: Mapping[str, Sequence[str]] | None = None

    def positions(self) -> dict[str, int]:
        """Integers by value, a missing one after the largest; categories in code-point order of their text."""
        if self.type == "integer":
            last = max((int(leaf) for leaf in self.leaves if leaf), default=0) + 1
            return {leaf: int(leaf) if leaf else last for leaf in self.leaves}
        return {leaf: place for place, leaf in enumerate(sorted(self.leaves))}

    def node(self, texts: Iterable[str]) -> tuple[int, list[str]]:
        """The lowest node that covers these leaves: its level and all its leaves. Several roots have one above them."""
        assert self.paths is not None
        some = list(texts)
        for level in range(len(self.paths[some[0]])):
            labels = {self.paths[text][level] for text in some}
            if len(labels) == 1:
                return level, [leaf for leaf in self.leaves if self.paths[leaf][level] in labels]
        return len(self.paths[some[0]]), list(self.leaves)

    def published(self, texts: Iterable[str], *, along: bool = False) -> frozenset[str]:
        """The set that stands for people with these values; with `along`, that of the lowest covering node."""
        held = set(texts)
        if self.type == "integer":
            numbers = [int(text) for text in held if text]
            between = {leaf for leaf in self.leaves if leaf and numbers and min(numbers) <= int(leaf) <= max(numbers)}
            return frozenset(between | (held & {""}))
        if along and self.paths is not None:
            return frozenset(self.node(held)[1])
        return frozenset(held)

    def members(self, label: str) -> frozenset[str]:
        """The leaves that a label stands for, of those that we write: a leaf, `[lo, hi]`, `{a, b}`, a hierarchy's label."""
        if label in self.leaves and label != "*":
            return frozenset([label])
        found = re.fullmatch(r"\[(-?\d+), (-?\d+)\]", label)
        if found and self.type == "integer":
            low, high = int(found[1]), int(found[2])
            return frozenset(leaf for leaf in self.leaves if leaf and low <= int(leaf) <= high)
        if label.startswith("{") and label.endswith("}"):
            parts = re.findall(r'"(?:[^"\\]|\\.)*"|[^,\s][^,]*', label[1:-1])
            return frozenset(json.loads(part) if part.startswith('"') else part for part in parts)
        if self.paths is not None:
            under = frozenset(leaf for leaf in self.leaves if label in self.paths[leaf][1:])
            if under:
                return under
        raise AssertionError(f"{label!r} is no label of column {self.name!r}")


# ---------------------------------------------------------------------------- Mondrian


def mondrian(rows: Rows, columns: Sequence[Quasi], holds: Holds, *, along: bool = False) -> Parts | None:
    """Strict Mondrian, part by part; None if not even all rows together may be published.

    A part is cut in the column with the widest range, compared with the whole table's, of those that have an allowable
    cut: one whose parts may all be published. `along` cuts categories that have a hierarchy into the children of the
    lowest node that covers them; the width of these is (leaves under the node − 1) / (leaves − 1).
    """
    places = [column.positions() for column in columns]
    everyone = list(range(len(rows)))
    ranges = [max(place[row[a]] for row in rows) - min(place[row[a]] for row in rows) for a, place in enumerate(places)]

    def attempt(part: list[int], a: int) -> tuple[Fraction, Callable[[], Parts]] | None:
        """The width of a part in a column, and its one cut there; None if all have one value."""
        column, place = columns[a], places[a]
        held = Counter(rows[i][a] for i in part)
        if len(held) == 1:
            return None
        if along and column.type == "category" and column.paths is not None:
            level, under = column.node(held)
            width = Fraction(len(under) - 1, len(column.leaves) - 1)
            return width, lambda: _children(part, [rows[i][a] for i in part], column, level - 1)
        ordered = sorted(held, key=place.__getitem__)
        width = Fraction(place[ordered[-1]] - place[ordered[0]], ranges[a])
        return width, lambda: _halves(part, [place[rows[i][a]] for i in part])

    done, todo = [], [everyone]
    if not holds(everyone):
        return None
    while todo:
        part = todo.pop()
        tried = [(a, found) for a in range(len(columns)) if (found := attempt(part, a)) is not None]
        for _, (_, cut) in sorted(tried, key=lambda item: (-item[1][0], item[0])):
            pieces = cut()
            if all(holds(piece) for piece in pieces):
                todo += pieces
                break
        else:
            done.append(part)
    return done


def _halves(part: list[int], places: list[int]) -> Parts:
    """The cut whose number of rows at or below is closest to half, the lower of two."""
    held = Counter(places)
    best: tuple[int, int] | None = None
    below = 0
    for place in sorted(held)[:-1]:
        below += held[place]
        if best is None or abs(2 * below - len(part)) < best[0]:
            best = abs(2 * below - len(part)), place
    assert best is not None
    return [
        [i for i, place in zip(part, places, strict=True) if place <= best[1]],
        [i for i, place in zip(part, places, strict=True) if place > best[1]],
    ]


def _children(part: list[int], texts: list[str], column: Quasi, level: int) -> Parts:
    assert column.paths is not None
    found: dict[str, list[int]] = {}
    for i, text in zip(part, texts, strict=True):
        found.setdefault(column.paths[text][level], []).append(i)
    return list(found.values())


# ---------------------------------------------------------------------------- MDAV

SAME = 1e-9  # squared distances that differ by less are equal: they are sums of rounded numbers


def matrix(rows: Rows, columns: Sequence[Quasi]) -> np.ndarray:
    """Integers less their mean, divided by their (population) standard deviation; one-hot columns divided by √2.

    A missing integer is the mean, a missing category a category; a column of one value is 0.
    """
    found = []
    for a, column in enumerate(columns):
        texts = [row[a] for row in rows]
        if column.type == "integer":
            known = [int(text) for text in texts if text]
            mean = sum(known) / len(known) if known else 0.0
            spread = math.sqrt(sum((x - mean) ** 2 for x in known) / len(known)) if known else 0.0
            found.append([(int(text) - mean) / spread if text and spread else 0.0 for text in texts])
        else:
            found += [[float(text == leaf) / math.sqrt(2) for text in texts] for leaf in column.leaves]
    return np.array(found).T


def mdav(points: np.ndarray, k: int) -> tuple[Parts, int]:
    """MDAV in quadratic time, groups in the order in which they are made; of equals the lowest row is taken.

    While 3k rows are left: the row farthest from their centroid with the k − 1 nearest to it, then the row farthest from
    that one (found while all were there) with its k − 1 nearest of the rest, unless that row is taken already. With 2k to
    3k − 1 rows only the first of these. What is left, fewer than 2k rows, is the last group. Gives, too, how often
    different points were equally far or near, so that the order of the rows decided.
    """
    left = list(range(len(points)))
    groups: Parts = []
    ties = 0
    while len(left) >= 2 * k:
        far, tied = _farthest(points, left, points[left].mean(axis=0))
        ties += tied
        centres = [far]
        if len(left) >= 3 * k:
            opposite, tied = _farthest(points, left, points[far])
            ties += tied
            centres.append(opposite)
        for centre in centres:
            if centre in left:
                group, tied = _nearest(points, left, centre, k)
                ties += tied
                groups.append(group)
                left = [i for i in left if i not in group]
    return [*groups, left], ties


def _farthest(points: np.ndarray, rows: list[int], centre: np.ndarray) -> tuple[int, bool]:
    distance = ((points[rows] - centre) ** 2).sum(axis=1)
    equal = [rows[place] for place in np.flatnonzero(distance >= distance.max() - SAME)]
    return equal[0], bool((points[equal] != points[equal[0]]).any())


def _nearest(points: np.ndarray, rows: list[int], centre: int, k: int) -> tuple[list[int], bool]:
    distance = ((points[rows] - points[centre]) ** 2).sum(axis=1)
    distance[rows.index(centre)] = -1.0  # itself first, whoever equals it
    chosen = []
    for _ in range(k):
        place = int(np.flatnonzero(distance <= distance.min() + SAME)[0])
        chosen.append(rows[place])
        last, distance[place] = distance[place], np.inf
    equal = [rows[place] for place in np.flatnonzero(distance <= last + SAME)]  # as near as the last, and not taken
    return chosen, bool(equal) and bool((points[equal] != points[chosen[-1]]).any())


def blocks(rows: Rows, columns: Sequence[Quasi], most: int) -> Parts:
    """Rows halved in the column that varies most (as `matrix` has it) until no block has more than `most`.

    Integers go before categories; of columns that vary alike the first is taken; the lower half has the odd row less.
    """
    each = [(column, a, matrix([(row[a],) for row in rows], [column])) for a, column in enumerate(columns)]
    points = sorted(each, key=lambda item: item[0].type != "integer")
    done, todo = [], [list(range(len(rows)))]
    while todo:
        block = todo.pop()
        if len(block) <= most:
            done.append(block)
            continue
        spreads = [float(values[block].var(axis=0).sum()) for _, _, values in points]
        chosen = next(j for j, spread in enumerate(spreads) if spread >= max(spreads) - SAME)
        column, a, values = points[chosen]
        place = {leaf: i for i, leaf in enumerate(column.leaves)}
        key = {i: float(values[i, 0]) if column.type == "integer" else place[rows[i][a]] for i in block}
        ordered = sorted(block, key=lambda i: (key[i], i))
        half = len(block) // 2
        todo += [sorted(ordered[:half]), sorted(ordered[half:])]
    return done


# ---------------------------------------------------------------------------- Anatomy


def anatomy_faults(values: Sequence[str], group: Sequence[int], least: int) -> list[str]:
    """What is wrong with groups (row by row) by the definition: at least so many people in each and no value twice."""
    found: dict[int, list[str]] = {}
    for value, number in zip(values, group, strict=True):
        found.setdefault(number, []).append(value)
    faults = [] if sorted(found) == list(range(len(found))) else ["groups are not numbered from 0 on"]
    if len(found) != len(values) // least:
        faults.append(f"{len(found)} groups, not {len(values) // least}")
    faults += [f"group {q} has {len(held)} people" for q, held in found.items() if len(held) < least]
    return faults + [f"group {q} has a value twice" for q, held in found.items() if len(set(held)) < len(held)]


# ---------------------------------------------------------------------------- counts


def exact_counts(
    rows: Rows, values: Sequence[str], names: Sequence[str], leaves: Mapping[str, Sequence[str]], domain: Sequence[str]
) -> list[int]:
    """How many have each combination of these columns' leaves and each value, the value running fastest."""
    quasi = list(leaves)
    found = []
    for combination in product(*(leaves[name] for name in names)):
        for value in domain:
            count = 0
            for row, own in zip(rows, values, strict=True):
                same = all(row[quasi.index(name)] == leaf for name, leaf in zip(names, combination, strict=True))
                count += same and own == value
            found.append(count)
    return found


# ---------------------------------------------------------------------------- tables and files


def read_rows(path: Path, delimiter: str = ",") -> list[dict[str, str]]:
    """A file as texts, by readers other than ours; null is empty."""
    if path.suffix == ".parquet":
        rows = pq.read_table(path).to_pylist()
        return [{name: "" if value is None else str(value) for name, value in row.items()} for row in rows]
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file, delimiter=delimiter))


def partition(keys: Iterable[object]) -> set[frozenset[int]]:
    """The rows that share a key."""
    found: dict[object, list[int]] = {}
    for i, key in enumerate(keys):
        found.setdefault(key, []).append(i)
    return {frozenset(rows) for rows in found.values()}


@dataclass(frozen=True)
class Sheet:
    """A table for the project (`columns` as texts, `schema`) and for the references (`rows`, `values`, leaves)."""

    columns: dict[str, list[str | None]]
    schema: dl.Schema
    quasi: list[Quasi]
    rows: list[Row]
    values: list[list[str]] = field(default_factory=list)  # sensitive columns

    @property
    def table(self) -> dl.Table:
        return dl.Table(self.columns, self.schema)

    def published(self, parts: Parts, *, along: bool = False) -> dict[tuple[frozenset[str], ...], Counter[Row]]:
        """For each part the set that stands for it in every column, and its sensitive values."""
        found = {}
        for part in parts:
            sets = tuple(
                column.published([self.rows[i][a] for i in part], along=along) for a, column in enumerate(self.quasi)
            )
            assert sets not in found, "two parts are published alike"
            found[sets] = Counter(tuple(column[i] for column in self.values) for i in part)
        return found


def released(release: dl.Release) -> dict[tuple[frozenset[str], ...], Counter[Row]]:
    """The same of a generalized release of ours."""
    assert isinstance(release, dl.Generalized)
    quasi, sensitive = release.schema.quasi, release.schema.sensitive
    found: dict[tuple[frozenset[str], ...], Counter[Row]] = {}
    names = []
    for q in range(release.groups):
        sets = []
        for j, column in enumerate(quasi):
            members = release.labels[j][release.codes[q, j]].members.tolist()
            sets.append(frozenset(column.leaves[code] for code in members))
        names.append(tuple(sets))
        found[tuple(sets)] = Counter()
    assert len(found) == release.groups, "two classes have the same labels"
    cells = release.sensitive
    for q, codes, count in zip(cells.group.tolist(), cells.codes.tolist(), cells.counts.tolist(), strict=True):
        found[names[q]][tuple(column.leaves[code] for column, code in zip(sensitive, codes, strict=True))] += count
    return found


# Texts that sort oddly, look like labels or like marks; upper case sorts before lower, é and 𝔸 after z.
ODD = ["b", "a", "B", "z", "é", "𝔸", "10", "9", "a, b", "{c}", '"d"', "[1, 2]", "*", "x~y", "NA", "-"]


def make(seed: int, *, most: int = 60, sensitive: int = 2, trees: bool = False) -> Sheet:
    """1 to 4 quasi-identifiers of either type, 1 to `most` rows, values missing, never used, or all the same.

    The columns of the table stand in another order than in the schema, and integers are written in several ways.
    With `trees`, most categories have a hierarchy (and one has for sure).
    """
    rng = random.Random(seed)
    n = rng.randint(1, most) if rng.random() < 0.9 else rng.randint(1, 4)
    count = rng.randint(1, 4)
    columns: dict[str, list[str | None]] = {"id": [f"P{i}" for i in range(n)], "note": [f"n,{i % 7}" for i in range(n)]}
    declared = [dl.Column("id", "identifier"), dl.Column("note", "other")]
    quasi, texts = [], []
    for j in range(count):
        grown = trees and (j == 0 or rng.random() < 0.6)
        category = grown or rng.random() < 0.5
        column, leaves, paths = _category(rng, f"q{j}", grown=grown) if category else _integer(rng, f"q{j}")
        own = _drawn(rng, leaves, n)
        known = set(leaves) | set(own) if column.fixed else set(own)
        ordered = list(column.domain.leaves if column.domain else paths or sorted(known - {""}))
        if "" in known and "" not in ordered:
            ordered.append("")
            if paths is not None:  # a branch of its own, up to the root if there is one
                tops = {path[-1] for path in paths.values()}
                height = len(paths[ordered[0]]) - 1
                paths = {**paths, "": ("",) * height + (tops.pop() if len(tops) == 1 else "",)}
        quasi.append(Quasi(f"q{j}", column.type, tuple(ordered), paths))
        texts.append(own)
        columns[f"q{j}"] = [_written(rng, text, column.type) for text in own]
        declared.append(column)
    values = []
    for j in range(rng.randint(1, sensitive)):
        leaves = [f"{'uv'[j]}{i}" for i in range(rng.randint(1, 4))] + ([""] if rng.random() < 0.2 else [])
        values.append(rng.choices(leaves, weights=[rng.random() + 0.05 for _ in leaves], k=n))
        columns[f"s{j}"] = [_written(rng, text, "category") for text in values[-1]]
        declared.append(dl.Column(f"s{j}", "sensitive"))
    names = list(columns)
    rng.shuffle(names)
    schema = dl.Schema(declared, missing=("", "?"))
    return Sheet({name: columns[name] for name in names}, schema, quasi, list(zip(*texts, strict=True)), values)


Drawable = tuple[dl.Column, list[str], dict[str, Row] | None]  # a column, the leaves to draw from, their paths


def _category(rng: random.Random, name: str, *, grown: bool) -> Drawable:
    """With a hierarchy, with a domain in any order, or with neither."""
    leaves = rng.sample(ODD, rng.randint(1, 6))
    if grown:
        leaves = [f"{name}{leaf}" for leaf in leaves]  # labels above may not be leaves, too
        tree = grow(rng, leaves, "L", most=3)
        return dl.Column(name, "quasi", hierarchy=from_paths(list(tree.values()), source="test")), leaves, tree
    if rng.random() < 0.6:
        domain = [*leaves, *([""] if rng.random() < 0.2 else [])]
        rng.shuffle(domain)
        return dl.Column(name, "quasi", domain=dl.Domain(tuple(domain))), leaves, None
    # Whoever reads the release must tell the leaves from their labels.
    plain = [leaf for leaf in leaves if not re.search(r"[*~{\[]", leaf)] or ["a"]
    return dl.Column(name, "quasi"), plain, None


def _integer(rng: random.Random, name: str) -> Drawable:
    """Few numbers, many that are far apart, or some that are listed; a missing value may be declared."""
    low = rng.choice([0, 1, -20, 17])
    numbers = rng.choice(
        [
            list(range(low, low + rng.randint(1, 12))),
            list(range(low, low + rng.randint(300, 2000))),
            sorted(rng.sample(range(low, low + 5000), rng.randint(2, 40))),
        ]
    )
    leaves = [str(number) for number in numbers] + ([""] if rng.random() < 0.2 else [])
    return dl.Column(name, "quasi", "integer", domain=dl.Domain(tuple(leaves))), leaves, None


def _drawn(rng: random.Random, leaves: Sequence[str], n: int) -> list[str]:
    """Some values are common, some rare, some never there; some columns have one value, some missing ones."""
    some = rng.sample(list(leaves), rng.randint(1, len(leaves)))
    if rng.random() < 0.3 and "" not in some:
        some.append("")
    weights = [rng.random() ** 2 + 0.02 for _ in some]
    return rng.choices(some, weights=weights, k=n)


def _written(rng: random.Random, text: str, kind: str) -> str | None:
    """One of the texts that mean a value."""
    if text == "":
        return rng.choice(["", "?", None])
    if kind == "integer" and rng.random() < 0.2:
        sign, digits = ("-", text[1:]) if text.startswith("-") else ("", text)
        return rng.choice([f"{sign}0{digits}", f"{text}.0"])
    return text


SHEETS = st.builds(make, st.integers(0, 10**6))
WITH_TREES = st.builds(lambda seed: make(seed, trees=True), st.integers(0, 10**6))
