"""Slow, plain, second implementations, straight from the definitions: what every fast one is compared with.

Nothing here imports the project's own formulas. A *class* is a list of sensitive values, one for each row; `everyone`
is the list of the values of all rows of the table, suppressed ones included. Numbers are `Fraction`s wherever the
definition is rational; infinity is `math.inf`.
"""

import math
from collections import Counter
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from itertools import product

import numpy as np
from scipy.optimize import linprog

Value = Hashable
Number = Fraction | float
Distance = Callable[[Value, Value], Fraction]


def share(values: Sequence[Value], value: Value) -> Fraction:
    return Fraction(sum(1 for one in values if one == value), len(values))


# ---------------------------------------------------------------------------- size


def k(group: Sequence[Value]) -> int:
    """Sweeney 2002: how many people share the class."""
    return len(group)


def alpha(group: Sequence[Value]) -> Fraction:
    """Wong, Li, Fu, Wang 2006, (alpha, k)-anonymity: the largest share of one value in the class."""
    return max(share(group, value) for value in set(group))


# ---------------------------------------------------------------------------- diversity


def distinct_l(group: Sequence[Value]) -> int:
    return len(set(group))


def entropy_l(group: Sequence[Value]) -> float:
    """Machanavajjhala et al. 2007, Definition 4.1: entropy >= log l, so the level is exp(entropy)."""
    shares = [share(group, value) for value in set(group)]
    return math.exp(-math.fsum(float(p) * math.log(p) for p in shares))


def entropy_l_holds(group: Sequence[Value], threshold: float) -> bool:
    """exp(entropy) >= l exactly, in integers: n^n >= l^n * product n_i^n_i."""
    n = len(group)
    return n**n >= Fraction(threshold) ** n * math.prod(count**count for count in Counter(group).values())


def recursive_c(group: Sequence[Value], depth: int) -> Number:
    """Machanavajjhala et al. 2007, Definition 4.2: r1 < c (r_l + ... + r_m); the level is the c that is not enough."""
    counts = sorted(Counter(group).values(), reverse=True)
    tail = sum(counts[depth - 1 :])
    return Fraction(counts[0], tail) if tail else math.inf


# ---------------------------------------------------------------------------- closeness


def closeness(group: Sequence[Value], everyone: Sequence[Value], distance: Distance) -> Fraction:
    """Li, Li, Venkatasubramanian 2007: the earth mover's distance, as the linear program that defines it."""
    values = sorted(set(everyone), key=repr)
    have = Counter(group)
    want = Counter(everyone)
    # Masses times n N are integers, so some optimal flow is integer and the optimum a multiple of the unit below:
    # rounding the solver's answer to it makes it exact.
    supply = tuple(have[value] * len(everyone) for value in values)
    demand = tuple(want[value] * len(group) for value in values)
    table = tuple(tuple(distance(one, other) for other in values) for one in values)
    return _transport(supply, demand, table)


@cache
def _transport(supply: tuple[int, ...], demand: tuple[int, ...], table: tuple[tuple[Fraction, ...], ...]) -> Fraction:
    size, total = len(supply), sum(supply)
    unit = math.lcm(*(entry.denominator for row in table for entry in row)) * total
    cost = [float(entry) for row in table for entry in row]
    rows = [[float(i == source) for i in range(size) for _ in range(size)] for source in range(size)]
    rows += [[float(j == sink) for _ in range(size) for j in range(size)] for sink in range(size)]
    masses = [one / total for one in (*supply, *demand)]
    answer = linprog(cost, A_eq=np.array(rows), b_eq=np.array(masses), bounds=(0, None), method="highs")
    assert answer.status == 0, answer.message
    exact = Fraction(round(answer.fun * unit), unit)
    assert abs(float(exact) - answer.fun) < 1e-9
    return exact


def equal_distance(one: Value, other: Value) -> Fraction:
    return Fraction(int(one != other))


def ordered_distance(order: Sequence[Value]) -> Distance:
    """|i - j| / (m - 1) over the positions in the domain."""
    position = {value: place for place, value in enumerate(order)}
    return lambda one, other: Fraction(abs(position[one] - position[other]), max(len(order) - 1, 1))


def hierarchical_distance(paths: Mapping[Value, Sequence[str]]) -> Distance:
    """Height of the lowest common ancestor over the height of the tree; a path runs from the leaf to the root."""
    height = max(len(path) for path in paths.values()) - 1

    def distance(one: Value, other: Value) -> Fraction:
        for level in range(height + 1):
            if paths[one][level] == paths[other][level]:
                return Fraction(level, max(height, 1))
        raise AssertionError("a hierarchy has one root")

    return distance


# ---------------------------------------------------------------------------- likeness


def delta(group: Sequence[Value], everyone: Sequence[Value]) -> float:
    """Brickell, Shmatikov 2008: max |log q/p| over the table's values; a vanished one is log 0."""
    worst = 0.0
    for value in set(everyone):
        q, p = share(group, value), share(everyone, value)
        worst = max(worst, abs(math.log(q / p)) if q else math.inf)
    return worst


def basic_beta(group: Sequence[Value], everyone: Sequence[Value]) -> Fraction:
    """Cao, Karras 2012, Definition 2: (q - p)/p <= beta for every value that gained."""
    gains = [(share(group, value) / share(everyone, value)) - 1 for value in set(everyone)]
    return max([Fraction(0), *gains])


def enhanced_beta(group: Sequence[Value], everyone: Sequence[Value]) -> Number:
    """Cao, Karras 2012, Definition 3: (q - p)/p <= min(beta, -ln p); the least such beta, infinite if there is none."""
    least = Fraction(0)
    for value in set(everyone):
        p = share(everyone, value)
        gain = share(group, value) / p - 1
        if gain > 0:
            if float(gain) > -math.log(p):
                return math.inf
            least = max(least, gain)
    return least


# ---------------------------------------------------------------------------- models with thresholds

SMALLER_IS_BETTER = {
    **{"k": False, "distinct": False, "entropy": False},
    **{"alpha": True, "recursive": True, "equal": True, "ordered": True, "hierarchical": True},
    **{"delta": True, "basic_beta": True, "enhanced_beta": True},
}


@dataclass(frozen=True)
class Sensitive:
    """A sensitive column: its values in their order and, if there is a hierarchy, the path of each from leaf to root.

    Several roots are as far apart as can be, as if one more level joined them.
    """

    order: tuple[Value, ...]
    paths: Mapping[Value, tuple[str, ...]] | None = None

    def distance(self, ground: str) -> Distance:
        if ground == "equal":
            return equal_distance
        if ground == "ordered":
            return ordered_distance(self.order)
        assert self.paths is not None
        paths = {value: list(path) for value, path in self.paths.items()}
        if len({path[-1] for path in paths.values()}) > 1:
            paths = {value: [*path, "the root"] for value, path in paths.items()}
        return hierarchical_distance(paths)


@dataclass(frozen=True)
class Model:
    """A privacy model by name with its threshold, which is the decimal number that a person writes."""

    name: str
    threshold: Fraction
    depth: int = 2

    def level(self, group: Sequence[Value], everyone: Sequence[Value], column: Sensitive) -> Number:
        name = self.name
        if name in ("equal", "ordered", "hierarchical"):
            return closeness(group, everyone, column.distance(name))
        if name in ("delta", "basic_beta", "enhanced_beta"):
            return {"delta": delta, "basic_beta": basic_beta, "enhanced_beta": enhanced_beta}[name](group, everyone)
        if name == "recursive":
            return recursive_c(group, self.depth)
        return {"k": k, "alpha": alpha, "distinct": distinct_l, "entropy": entropy_l}[name](group)

    def holds(self, group: Sequence[Value], everyone: Sequence[Value], column: Sensitive) -> bool:
        if self.name == "entropy":
            return entropy_l_holds(group, self.threshold)
        level = self.level(group, everyone, column)
        if self.name in ("recursive", "delta"):  # both papers write <
            return level < self.threshold
        return level <= self.threshold if SMALLER_IS_BETTER[self.name] else level >= self.threshold


# ---------------------------------------------------------------------------- utilities, row by row

Row = tuple[str, ...]
Tree = Mapping[str, tuple[str, ...]]  # each leaf of the hierarchy with its labels, level by level
Node = tuple[int, ...]


def loss(rows: Sequence[Row], trees: Sequence[Tree], node: Node, hidden: set[int]) -> float:
    """Share = leaves under the label / leaves; suppressed 1; v from the means; geometric mean of 1 + v, less 1."""
    factor = 1.0
    for a, (tree, level) in enumerate(zip(trees, node, strict=True)):
        under = Counter(path[level] for path in tree.values())
        least = Fraction(sum(1 for _ in rows), len(tree) * len(rows))
        taken = sum(len(tree) if i in hidden else under[tree[row[a]][level]] for i, row in enumerate(rows))
        mean = Fraction(taken, len(tree) * len(rows))
        factor *= float(1 + ((mean - least) / (1 - least) if least < 1 else 0))
    return factor ** (1 / len(trees)) - 1


def imprecision(rows: Sequence[Row], trees: Sequence[Tree], node: Node, hidden: set[int]) -> float:
    """Sweeney 2002: the mean over all cells of level / height; a suppressed cell counts 1. Precision is 1 less this."""
    total = Fraction(0)
    for tree, level in zip(trees, node, strict=True):
        height = max(len(path) for path in tree.values()) - 1
        for i in range(len(rows)):
            total += 1 if i in hidden else Fraction(level, max(height, 1))
    return float(total / (len(rows) * len(trees)))


def entropy(rows: Sequence[Row], trees: Sequence[Tree], node: Node, hidden: set[int]) -> float:
    """Bits lost, log2 n(label)/n(leaf) over the rows, divided by what suppressing all loses; mean over attributes."""
    total = 0.0
    for a, (tree, level) in enumerate(zip(trees, node, strict=True)):
        leaves = Counter(row[a] for row in rows)
        labels = Counter(tree[row[a]][level] for row in rows)
        bits, most = [], []
        for i, row in enumerate(rows):
            most.append(math.log2(Fraction(len(rows), leaves[row[a]])))
            bits.append(most[-1] if i in hidden else math.log2(Fraction(labels[tree[row[a]][level]], leaves[row[a]])))
        total += math.fsum(bits) / math.fsum(most) if any(most) else 0.0
    return total / len(trees)


def discernibility(rows: Sequence[Row], trees: Sequence[Tree], node: Node, hidden: set[int]) -> float:
    """Each row pays the size of its class, a suppressed one N (Bayardo and Agrawal 2005)."""
    paid = 0
    for members in classes(rows, trees, node).values():
        paid += sum(len(rows) if i in hidden else len(members) for i in members)
    return float(paid)


def average_class_size(rows: Sequence[Row], trees: Sequence[Tree], node: Node, hidden: set[int]) -> float:
    """N over the number of classes; the suppressed rows together are one."""
    seen = {None if i in hidden else generalized(row, trees, node) for i, row in enumerate(rows)}
    return len(rows) / len(seen)


UTILITIES = {
    "loss": loss,
    "precision": imprecision,
    "entropy": entropy,
    "discernibility": discernibility,
    "average_class_size": average_class_size,
}


# ---------------------------------------------------------------------------- the lattice, node by node and row by row


def generalized(row: Row, trees: Sequence[Tree], node: Node) -> Row:
    return tuple(tree[leaf][level] for leaf, tree, level in zip(row, trees, node, strict=True))


def classes(rows: Sequence[Row], trees: Sequence[Tree], node: Node) -> dict[Row, list[int]]:
    """The rows of each class."""
    found: dict[Row, list[int]] = {}
    for i, row in enumerate(rows):
        found.setdefault(generalized(row, trees, node), []).append(i)
    return found


def nodes(trees: Sequence[Tree]) -> list[Node]:
    return list(product(*(range(max(len(path) for path in tree.values())) for tree in trees)))


@dataclass(frozen=True)
class Lattice:
    """A table (quasi-identifiers row by row, sensitive columns) and its hierarchies."""

    rows: list[Row]
    trees: list[Tree]
    values: list[list[Value]]
    columns: list[Sensitive]

    def good(self, members: Sequence[int], models: Sequence[Model]) -> bool:
        """Whether a class satisfies every model for every sensitive column; p is that of all rows."""
        return all(
            model.holds([everyone[i] for i in members], everyone, column)
            for model in models
            for everyone, column in zip(self.values, self.columns, strict=True)
        )

    def failing(self, models: Sequence[Model]) -> dict[Node, set[int]]:
        """For each node the rows of the classes that fail."""
        found = {}
        for node in nodes(self.trees):
            bad: set[int] = set()
            for members in classes(self.rows, self.trees, node).values():
                if not self.good(members, models):
                    bad.update(members)
            found[node] = bad
        return found

    def feasible(self, failing: Mapping[Node, set[int]], suppression: str) -> dict[Node, set[int]]:
        """The nodes that suppress at most so many rows, and not everybody: that would be no release."""
        most = Fraction(suppression) * len(self.rows)
        return {node: bad for node, bad in failing.items() if len(bad) <= most and len(bad) < len(self.rows)}

    def cost(self, utility: str, node: Node, hidden: set[int]) -> float:
        return UTILITIES[utility](self.rows, self.trees, node, hidden)


def minimal(feasible: Sequence[Node] | Mapping[Node, object]) -> set[Node]:
    """The nodes of which no other one is finer or equal in every attribute."""
    return {
        node
        for node in feasible
        if not any(other != node and all(x <= y for x, y in zip(other, node, strict=True)) for other in feasible)
    }
