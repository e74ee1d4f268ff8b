"""Channels of places on a grid, published with noise."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from dalenius.arrays import Floats
from dalenius.releases.models.base import EPSILON, LARGEST, Channel, Parameter, channel_model, uniform_channel

__all__ = ["gaussian", "planar_laplace"]

_SIDES = Parameter("grid", "the sides of the grid, in cells", LARGEST, "grid")
_CELL = Parameter("cell", "the distance between neighbouring cells", above=True, high=1e12, default=1.0)


@channel_model(
    "gaussian",
    "a place on a grid with Gaussian noise, truncated and renormalised",
    _SIDES,
    Parameter("sigma", "the standard deviation of the noise along each axis", above=True, high=1e12),
    _CELL,
    example="gaussian:grid=10,sigma=1",
)
def gaussian(grid: tuple[int, int], sigma: float, cell: float) -> Channel:
    """A place plus Gaussian noise (section VI-A): ∝ e^{−d²/2σ²}, truncated and renormalised on the grid.

    Labels count cells, whatever a `cell` measures: losses computed from them are in cells.
    """
    return _noise(grid, lambda cells: (cells * cell / sigma) ** 2 / 2)  # 0/σ is 0, however small σ


@channel_model(
    "planar-laplace",
    "a place on a grid with planar Laplace noise, truncated and renormalised",
    _SIDES,
    Parameter("epsilon", f"{EPSILON} per unit of distance, before truncation", above=True, high=1e6),
    _CELL,
    example="planar-laplace:grid=10,epsilon=1",
)
def planar_laplace(grid: tuple[int, int], epsilon: float, cell: float) -> Channel:
    """A place plus planar Laplace noise (Andrés et al. 2013): ∝ e^{−ε d}, truncated and renormalised on the grid.

    The continuous law has ε per unit of distance, and so has its output moved to the nearest cell. Renormalised, it has at
    most 2ε: with Z(x) = Σ_y e^{−ε d(x,y)}, p(y|x)/p(y|x') = e^{ε(d(x',y) − d(x,y))}·Z(x')/Z(x), and both factors are at most
    e^{ε d(x,x')} by the triangle inequality. A long row of cells with a small ε comes as close to 2ε as one likes: between
    its end x and the next cell both factors are nearly that large at y = x. Where Z hardly varies it is ε nearly.
    Labels count cells, whatever a `cell` measures: losses computed from them are in cells.
    """
    return _noise(grid, lambda cells: cells * (epsilon * cell))


def _grid(sides: tuple[int, int]) -> tuple[list[str], Floats]:
    """Labels `(row, column)`, and the distances of the cells' centres, in cells."""
    rows, columns = sides
    places = [(i, j) for i in range(rows) for j in range(columns)]
    at = np.array(places, dtype=np.float64)
    distances: Floats = np.hypot(at[:, None, 0] - at[None, :, 0], at[:, None, 1] - at[None, :, 1])
    return [f"({i}, {j})" for i, j in places], distances


def _noise(sides: tuple[int, int], exponent: Callable[[Floats], Floats]) -> Channel:
    """Probability ∝ e^{−exponent(distance)} at the cells' centres, truncated and renormalised on the grid."""
    labels, distances = _grid(sides)
    with np.errstate(over="ignore"):  # beyond the largest number the weight is 0 all the same
        weights = np.exp(-exponent(distances))
    return uniform_channel(labels, labels, weights / weights.sum(axis=1, keepdims=True))
