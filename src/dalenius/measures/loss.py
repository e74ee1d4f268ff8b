"""Losses: how bad an estimate is when the truth is another value (Rebollo-Monedero et al. 2013, section IV-B).

Hamming counts mistakes; absolute, squared and hierarchy losses are graded; any matrix will do. An attacker with squared loss
is not bound to the labels: its best estimate is the mean of what it believes.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from dalenius.arrays import Floats
from dalenius.bands import NUMBER
from dalenius.errors import InputError, nearest
from dalenius.hierarchy import Hierarchy
from dalenius.releases.channel import Part, rows_of

__all__ = [
    "BLOCK_ENTRIES",
    "LOSS_NAMES",
    "MAX_LOSS",
    "TIE",
    "Loss",
    "absolute",
    "coordinates",
    "distances",
    "hamming",
    "hierarchy",
    "make_loss",
    "squared",
    "tabulated",
]

LOSS_NAMES = ("hamming", "absolute", "squared", "hierarchy")
MAX_LOSS = 1e100
TIE = 1e-12  # of the largest loss: estimates so close to the best are as good
BLOCK_ENTRIES = 16_000_000  # entries of a block of posteriors × estimates
_PIECE = re.compile(NUMBER)


@dataclass(frozen=True, slots=True, eq=False)
class Loss:
    """`matrix[x, e]`: what estimate e costs when the value is x. With `points` the estimate is any point, and the loss its
    squared distance from the value's."""

    name: str
    matrix: Floats
    estimates: tuple[str, ...]
    points: Floats | None = None

    def __post_init__(self) -> None:
        if not np.isfinite(self.matrix).all() or (self.matrix < 0).any():
            raise InputError(f"The loss {self.name} has an entry that is negative or not a number; losses are ≥ 0.")
        if self.matrix.size and self.matrix.max() > MAX_LOSS:
            raise InputError(
                f"The loss {self.name} has an entry above {MAX_LOSS:g}, which is too large to compute with."
            )

    @property
    def largest(self) -> float:
        """d_max: of a free estimate, which never leaves the hull of the points, the largest between two of them."""
        return float(self.matrix.max())

    def expected(self, beliefs: Floats) -> Floats:
        """Return E d(X, e) of every belief and estimate: [belief, e]."""
        return beliefs @ self.matrix

    def best(self, beliefs: Floats) -> Floats:
        """Return min over estimates of E d(X, e), for each row of beliefs: the error of a Bayes estimator."""
        if self.points is not None:
            return self.variance(beliefs)
        return self.best_label(beliefs)

    def best_label(self, beliefs: Floats) -> Floats:
        """Return the same where the estimate must be one of the labels."""
        smallest = np.empty(len(beliefs))
        for part in self._parts(len(beliefs)):
            smallest[part] = self.expected(beliefs[part]).min(axis=1)
        return smallest

    def variance(self, beliefs: Floats) -> Floats:
        """Return E ‖X − E X‖², centred before it is squared, so that large coordinates cost no digits."""
        assert self.points is not None
        points = self.points - self.points.mean(axis=0)
        means = beliefs @ points
        spread = np.zeros(len(beliefs))
        for axis in range(points.shape[1]):
            spread += (beliefs * (points[:, axis][None, :] - means[:, axis][:, None]) ** 2).sum(axis=1)
        return spread

    def error_of(self, beliefs: Floats, others: Floats, *, ties: Literal["mean", "worst"] = "mean") -> Floats:
        """Return E_p d(X, e_q): people who believe `beliefs` judge the best estimates of `others`, row by row.

        Where several are equally good for `others`, the mean over them, as if one were tossed for, or the worst.
        """
        if self.points is not None:
            off = ((beliefs - others) @ (self.points - self.points.mean(axis=0))) ** 2
            judged_losses: Floats = self.variance(beliefs) + off.sum(axis=1)
            return judged_losses
        judged_losses = np.empty(len(beliefs))
        for part in self._parts(len(beliefs)):
            costs = self.expected(others[part])
            good = costs <= costs.min(axis=1, keepdims=True) + TIE * self.largest
            judged = self.expected(beliefs[part])
            if ties == "worst":
                judged_losses[part] = np.where(good, judged, -np.inf).max(axis=1)
            else:
                judged_losses[part] = (judged * good).sum(axis=1) / good.sum(axis=1)
        return judged_losses

    def _parts(self, rows: int) -> list[slice]:
        step = max(1, BLOCK_ENTRIES // max(1, self.matrix.shape[1]))
        return [slice(low, low + step) for low in range(0, rows, step)]

    @property
    def is_metric(self) -> bool:
        """Whether it is a distance between the values: symmetric, 0 to itself only, no detour is shorter."""
        d = self.matrix
        if d.shape[0] != d.shape[1] or not np.array_equal(d, d.T) or np.diag(d).any():
            return False
        if (d + np.eye(len(d)) <= 0).any():
            return False
        slack = 1e-12 * max(1.0, float(d.max()))
        return all((d <= d[:, [k]] + d[[k], :] + slack).all() for k in range(len(d)))


def coordinates(labels: Sequence[str], what: str) -> Floats:
    """Parse labels as points: `3`, `-1.5`, or several numbers such as `2 7` or `(2, 7)`, all of the same length."""
    rows = []
    for label in labels:
        pieces = [piece for piece in re.split(r"[\s,;:]+", label.strip().strip("()[]").strip()) if piece]
        if not pieces or not all(_PIECE.fullmatch(piece) for piece in pieces):
            raise InputError(f"{what} needs numeric labels, such as 3 or (2, 7), and {label!r} is not.")
        rows.append([float(piece) for piece in pieces])
    if len({len(point) for point in rows}) > 1:
        raise InputError(f"{what} needs labels with the same number of coordinates.")
    points = np.array(rows)
    if not (np.abs(points) <= MAX_LOSS).all():
        raise InputError(f"{what} needs numeric labels, and one is too large.")
    return points


def distances(first: Floats, second: Floats) -> Floats:
    """Return Euclidean distances between points."""
    lengths: Floats = np.sqrt(((first[:, None, :] - second[None, :, :]) ** 2).sum(axis=2))
    return lengths


def hamming(values: Sequence[str], estimates: Sequence[str] | None = None) -> Loss:
    """Return the loss that counts 1 for every mistake."""
    estimates = values if estimates is None else estimates
    place = {name: i for i, name in enumerate(values)}
    matrix = np.ones((len(values), len(estimates)))
    for e, name in enumerate(estimates):
        if name in place:
            matrix[place[name], e] = 0.0
    return Loss("hamming", matrix, tuple(estimates))


def absolute(values: Sequence[str], estimates: Sequence[str] | None = None) -> Loss:
    """Return the loss |x − e|, for points the Euclidean distance."""
    estimates = values if estimates is None else estimates
    true_points, guessed_points = coordinates(values, "The absolute loss"), coordinates(estimates, "The absolute loss")
    _same_dimension(true_points, guessed_points)
    return Loss("absolute", distances(true_points, guessed_points), tuple(estimates))


def squared(values: Sequence[str], estimates: Sequence[str] | None = None) -> Loss:
    """Return the loss ‖x − e‖². Without named estimates, e is any point."""
    true_points = coordinates(values, "The squared loss")
    guessed_points = true_points if estimates is None else coordinates(estimates, "The squared loss")
    _same_dimension(true_points, guessed_points)
    with np.errstate(over="ignore"):
        matrix = ((true_points[:, None, :] - guessed_points[None, :, :]) ** 2).sum(axis=2)
    return Loss(
        "squared", matrix, tuple(values if estimates is None else estimates), true_points if estimates is None else None
    )


def _same_dimension(first: Floats, second: Floats) -> None:
    if first.shape[1] != second.shape[1]:
        raise InputError("Values and estimates are points of different dimensions.")


def hierarchy(tree: Hierarchy, values: Sequence[str], estimates: Sequence[str] | None = None) -> Loss:
    """Return the height of the lowest common ancestor over the hierarchy's: 0 itself, 1 nothing in common but the top."""
    estimates = values if estimates is None else estimates
    leaves = {leaf: i for i, leaf in enumerate(tree.leaves)}
    for name in (*values, *estimates):
        if name not in leaves:
            raise InputError(f"The hierarchy has no leaf {name!r}.{nearest(name, leaves)}")
    rows, columns = [leaves[name] for name in values], [leaves[name] for name in estimates]
    maps = [*tree.maps]
    if len(tree.labels[-1]) > 1:  # several roots are as far apart as can be
        maps.append(np.zeros(len(tree.leaves), dtype=np.int32))
    height = max(1, len(maps) - 1)
    matrix = np.zeros((len(values), len(estimates)))
    for level in maps[:-1]:
        matrix += level[rows][:, None] != level[columns][None, :]
    return Loss("hierarchy", matrix / height, tuple(estimates))


def tabulated(
    name: str, rows: Sequence[str], part: Part, values: Sequence[str], estimates: Sequence[str] | None = None
) -> Loss:
    """Return the loss of any matrix: a row for each value and a column for each estimate, by name and in any order."""
    if len(rows) != len(values):
        raise InputError(
            f"{name}: the loss has {len(rows)} rows and {len(part.names)} columns, and there are {len(values)} values; a row "
            "is needed for each of them."
        )
    table = rows_of(rows, part, values, name)
    name = f"{name} (a file)" if name in LOSS_NAMES else name
    if estimates is None:
        missing = [value for value in values if value not in set(table.names)]
        if missing and len(missing) < len(values):
            raise InputError(
                f"{name}: the loss has a column for {len(values) - len(missing)} of the {len(values)} values only; one is needed "
                "for each of them, or for none."
            )
        return Loss(name, table.matrix, table.names)
    if set(estimates) != set(table.names) or len(table.names) != len(estimates):
        raise InputError(
            f"{name}: the loss has {len(table.names)} columns; one is needed for each of the {len(estimates)} outputs, by "
            "their names."
        )
    order = [table.names.index(estimate) for estimate in estimates]
    return Loss(name, table.matrix[:, order], tuple(estimates))


def make_loss(
    text: str,
    values: Sequence[str],
    estimates: Sequence[str] | None = None,
    *,
    tree: Hierarchy | None = None,
) -> Loss:
    """Return a loss by its name; `estimates` where they are not the values."""
    if text == "hamming":
        return hamming(values, estimates)
    if text == "absolute":
        return absolute(values, estimates)
    if text == "squared":
        return squared(values, estimates)
    if text == "hierarchy":
        if tree is None:
            raise InputError("The hierarchy loss needs a hierarchy of the values.")
        return hierarchy(tree, values, estimates)
    raise InputError(f"There is no loss {text!r}.{nearest(text, LOSS_NAMES)} Known: {', '.join(LOSS_NAMES)}.")
