"""Adult: the optimum of the lattice equals a count of every node, and the release equals the one that ARX made."""

from __future__ import annotations

import csv
import itertools
import math
from dataclasses import dataclass, field
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest

import dalenius as dl
from dalenius import criteria as c
from dalenius.config import parse
from dalenius.publishers.lattice import Lattice
from tests.oracle import minimal

pytestmark = pytest.mark.slow

EIGHT = ("sex", "age", "race", "marital-status", "education", "native-country", "workclass", "salary-class")
FIVE = ("sex", "age", "race", "marital-status", "education")


@dataclass(frozen=True)
class Setting:
    """What is asked for, by hand; no criterion of the project is used to judge."""

    suppression: str
    k: int = 1
    distinct: int = 1
    entropy: float = 1.0
    equal: float = 1.0
    ordered: float = 1.0

    def criteria(self) -> list[c.Criterion]:
        found: list[c.Criterion] = [c.KAnonymity(self.k)] if self.k > 1 else []
        found += [c.DistinctDiversity(self.distinct)] if self.distinct > 1 else []
        found += [c.EntropyDiversity(self.entropy)] if self.entropy > 1 else []
        found += [c.TCloseness(self.equal)] if self.equal < 1 else []
        return found + ([c.TCloseness(self.ordered, "ordered")] if self.ordered < 1 else [])

    def good(self, levels: dict[str, np.ndarray]) -> np.ndarray:
        """Which classes satisfy everything."""
        good = (levels["k"] >= self.k) & (levels["distinct"] >= self.distinct)
        good &= levels["entropy"] >= self.entropy - 1e-9
        return good & (levels["equal"] <= self.equal + 1e-9) & (levels["ordered"] <= self.ordered + 1e-9)


def measured(counts: np.ndarray, table: np.ndarray) -> dict[str, np.ndarray]:
    """The levels of every class (a row of counts, a column a value)."""
    n = counts.sum(axis=1)
    q = counts / n[:, None]
    more = q - table / table.sum()
    return {
        "k": n,
        "distinct": (counts > 0).sum(axis=1),
        "entropy": np.exp(-(q * np.log(q, out=np.zeros_like(q), where=q > 0)).sum(axis=1)),
        "equal": np.abs(more).sum(axis=1) / 2,
        "ordered": np.abs(np.cumsum(more, axis=1)).sum(axis=1) / (len(table) - 1),
    }


ALL_EIGHT = (
    Setting("0", k=5),
    Setting("0.02", k=5),
    Setting("0", k=2),
    Setting("0.02", k=20),
    Setting("1", k=5),
    Setting("0.02", k=5, distinct=4),
    Setting("0", entropy=4.0),
    Setting("0.02", k=2, equal=0.4),
)
ON_FIVE = (
    Setting("0", k=20, distinct=2),
    Setting("0.02", k=5, entropy=1.5),
    Setting("0", equal=0.2),
    Setting("0.02", equal=0.2),
    Setting("1", k=2, equal=0.1),
    Setting("0.02", k=5, ordered=0.15),
)


@dataclass
class Enumeration:
    """Every node of Adult counted anew with NumPy: the feasible ones of each setting, with their loss."""

    folder: Path
    quasi: tuple[str, ...]
    sensitive: str
    settings: tuple[Setting, ...]
    found: dict[Setting, dict[tuple[int, ...], float]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        with (self.folder / "adult.csv").open(encoding="utf-8", newline="") as file:
            people = list(csv.DictReader(file, delimiter=";"))
        paths = {name: self._paths(name) for name in (*self.quasi, self.sensitive)}
        # For each column and level, the label's code and the share of leaves below it, leaf by leaf.
        codes, shares = [], []
        for name in self.quasi:
            codes.append([np.unique(labels, return_inverse=True)[1] for labels in zip(*paths[name], strict=True)])
            shares.append([np.bincount(code)[code] / len(paths[name]) for code in codes[-1]])
        leaf = {name: {path[0]: i for i, path in enumerate(paths[name])} for name in paths}
        rows = np.array([[leaf[name][person[name]] for name in self.quasi] for person in people])
        cells, cell = np.unique(rows, axis=0, return_inverse=True)
        weight = np.bincount(cell.ravel())
        value = np.array([leaf[self.sensitive][person[self.sensitive]] for person in people])
        kinds = len(paths[self.sensitive])
        pairs, times = np.unique(cell.ravel() * kinds + value, return_counts=True)
        table = np.bincount(value, minlength=kinds)
        label = [[code[cells[:, a]] for code in levels] for a, levels in enumerate(codes)]
        share = [[one[cells[:, a]] for one in levels] for a, levels in enumerate(shares)]
        least = [1 / len(paths[name]) for name in self.quasi]
        self.found = {setting: {} for setting in self.settings}
        for node in itertools.product(*(range(len(levels)) for levels in codes)):
            key = np.zeros(len(cells), dtype=np.int64)
            for a, level in enumerate(node):
                key = key * (codes[a][level].max() + 1) + label[a][level]
            distinct, number = np.unique(key, return_inverse=True)
            flat = np.bincount(number[pairs // kinds] * kinds + pairs % kinds, times, len(distinct) * kinds)
            levels = measured(flat.reshape(len(distinct), kinds), table)
            for setting in self.settings:
                good = setting.good(levels)
                lost = int(levels["k"][~good].sum())
                if lost <= Fraction(setting.suppression) * len(people) and good.any():
                    kept = np.where(good[number], weight, 0)
                    means = [(share[a][level] @ kept + lost) / len(people) for a, level in enumerate(node)]
                    grown = [1 + (x - y) / (1 - y) for x, y in zip(means, least, strict=True)]
                    self.found[setting][node] = math.prod(grown) ** (1 / len(grown)) - 1

    def _paths(self, name: str) -> list[list[str]]:
        with (self.folder / f"adult_hierarchy_{name}.csv").open(encoding="utf-8", newline="") as file:
            paths = list(csv.reader(file, delimiter=";"))
        return sorted(paths, key=lambda path: int(path[0])) if name == "age" else paths


@pytest.fixture(scope="module")
def on_eight(data: Path) -> Enumeration:
    return Enumeration(data / "adult", EIGHT, "occupation", ALL_EIGHT)


@pytest.fixture(scope="module")
def on_five(data: Path) -> Enumeration:
    return Enumeration(data / "adult", FIVE, "salary-class", ON_FIVE)


@pytest.fixture(scope="module")
def eight(data: Path) -> dl.Table:
    return dl.datasets.adult(data, sensitive="occupation")


@pytest.fixture(scope="module")
def five(data: Path) -> dl.Table:
    """Salary class sensitive; the columns that are not looked at are neither."""
    roles = dict.fromkeys(FIVE, "quasi") | {"salary-class": "sensitive"}
    columns = {
        name: {"role": roles.get(name, "other"), **({"type": "integer"} if name == "age" else {})}
        for name in (*FIVE, "native-country", "workclass", "occupation", "salary-class")
    }
    schema = parse({"hierarchies": ".", "columns": columns}, folder=data / "adult", source="test")
    return dl.Table(data / "adult" / "adult.csv", schema)


def compare(enumeration: Enumeration, table: dl.Table, setting: Setting) -> None:
    costs = enumeration.found[setting]
    assert costs, "the setting should be satisfiable"
    published = Lattice(
        setting.criteria(), suppression=float(setting.suppression), minimal=True, suppressed_rows="as-is"
    ).publish(table)
    best = published.outcome.best
    assert best is not None
    assert published.outcome.optimal
    assert best.cost == pytest.approx(min(costs.values()), rel=1e-9)
    assert costs[best.node] == pytest.approx(best.cost, rel=1e-9)
    assert published.outcome.minimal is not None
    assert set(published.outcome.minimal) == minimal(costs)


@pytest.mark.parametrize("setting", ALL_EIGHT, ids=str)
def test_optimum_on_all_eight_columns(on_eight: Enumeration, eight: dl.Table, setting: Setting) -> None:
    compare(on_eight, eight, setting)


@pytest.mark.parametrize("setting", ON_FIVE, ids=str)
def test_optimum_with_salary_class_sensitive(on_five: Enumeration, five: dl.Table, setting: Setting) -> None:
    compare(on_five, five, setting)


def test_the_release_is_the_one_that_arx_made(data: Path, eight: dl.Table, tmp_path: Path) -> None:
    """k = 5, 2 % suppression, loss: cell by cell in row order."""
    Lattice([c.KAnonymity(5)], suppression=0.02, suppressed_rows="as-is").publish(eight).write(tmp_path / "ours.csv")
    with (tmp_path / "ours.csv").open(encoding="utf-8", newline="") as file:
        ours = list(csv.reader(file))
    with (data / "releases" / "arx_adult_k5.csv").open(encoding="utf-8", newline="") as file:
        arx = list(csv.reader(file, delimiter=";"))
    assert ours[0] == arx[0]
    assert len(ours) == len(arx) == 30163
    assert ours == arx
