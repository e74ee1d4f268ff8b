"""The channel that tells the attacker least: minimise I(X;Y) under E d_S(X',Y') ≤ D, with a proof of how near it came.

Rebollo-Monedero et al. 2013, eq. (9); Shannon's rate-distortion problem where X = X' and Y = Y', which Blahut–Arimoto solves
slowly. All information here is in nats. The problem is convex in W = p(y'|x'), so an interior point method solves it with the
bound on the distortion as a constraint; no slope has to be searched for, and where R(D) is a straight line nothing breaks.

The bound. I is convex in W and homogeneous of degree 1, so for every positive V, whatever made it, I(W) ≥ ⟨∇I(V), W⟩.
With g = ∇I(V)/p(x') and λ ≥ 0, every channel with E d_S ≤ D has I ≥ Σ p(x') Σ_y W (g + λ d_S) − λD, and so
I ≥ Σ_x' p(x') min_y [g(x',y) + λ d_S(x',y)] − λD. It holds up to the rounding of floating-point numbers.
"""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np

from dalenius.arrays import Floats
from dalenius.errors import InputError, ParameterError
from dalenius.publishers.least_telling import ROUNDING, Rate, Search, Task
from dalenius.releases.channel import Channel

__all__ = ["Rate", "at_slope", "curve", "least_information"]

MAX_ROUNDS = 5000


def least_information(
    channel: Channel, system: Floats, distortion: float, *, gap: float = 1e-9, most_rounds: int = MAX_ROUNDS
) -> Rate:
    """Return the channel with the least I(X;Y) of those with E d_S ≤ distortion (eq. 9), whatever `channel.matrix` is.

    `system[x', y']` is d_S. Stops when the gap is reached, or cannot be: the result says which.
    """
    _check(distortion, "distortion", "least_information")
    _check(gap, "gap", "least_information")
    task = Task.of(channel, system, "least_information")
    most = (distortion - task.least) / task.scale
    if most < -ROUNDING * max(1.0, task.least / task.scale):
        raise InputError(
            f"The distortion cannot be below {task.least:.9g}: so much it costs when every input has the output "
            f"that costs it least. Got {distortion:.9g}."
        )
    return _at(task, most, task.silent(), gap, most_rounds)


def at_slope(channel: Channel, system: Floats, slope: float, *, gap: float = 1e-9, start: Floats | None = None) -> Rate:
    """Return the channel that minimises I(X;Y) + slope · E d_S, with a bound for its distortion. `start`: a first matrix."""
    if slope != math.inf:
        _check(slope, "slope", "at_slope")
    _check(gap, "gap", "at_slope")
    task = Task.of(channel, system, "at_slope")
    if slope == math.inf:
        return _at(task, 0.0, task.silent(), gap, MAX_ROUNDS)
    if slope == 0:
        return task.rate(task.silent(), task.problem.floor, 0.0, 0)
    if start is not None and np.shape(start) != task.system.shape:
        raise ParameterError("start", "at_slope", f"a matrix of shape {task.system.shape}", np.shape(start))
    search = Search(task, None, slope * task.scale, None)
    return search.run(gap, MAX_ROUNDS, None if start is None else np.asarray(start)[task.problem.live])


def curve(channel: Channel, system: Floats, *, points: int = 25, gap: float = 1e-9) -> list[Rate]:
    """Return R(D) in equal steps of D, from the least distortion possible to the least at which nothing is revealed."""
    if isinstance(points, bool) or not isinstance(points, int) or points < 2:
        raise ParameterError("points", "curve", "an int ≥ 2", points)
    task = Task.of(channel, system, "curve")
    silent = task.silent()
    return [_at(task, float(most), silent, gap, MAX_ROUNDS) for most in np.linspace(0.0, task.mean(silent), points)]


def _check(value: float, name: str, owner: str) -> None:
    if not math.isfinite(value) or value < 0:
        raise ParameterError(name, owner, "a finite number ≥ 0", value)


def _at(task: Task, most: float, silent: Floats, gap: float, most_rounds: int) -> Rate:
    """Return the optimum at a distortion in the scale of the losses."""
    if most >= task.mean(silent) - ROUNDING:
        return task.rate(silent, task.problem.floor, 0.0, 0)
    if most <= ROUNDING:
        return replace(Search(task, None, 0.0, task.nearest()).run(gap, most_rounds), slope=math.inf)
    return Search(task, most, 0.0, None).run(gap, most_rounds)
