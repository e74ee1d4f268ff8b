"""The search for the channel that tells least: an interior point method where second derivatives fit, first ones beyond that.

For `publish.rate_distortion`, which says what is solved and why the bound holds. Information in nats.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from scipy.linalg import LinAlgError, cho_factor, cho_solve
from scipy.optimize import linprog
from scipy.sparse import csr_array, kron, vstack

from dalenius.arrays import Bools, Floats
from dalenius.errors import ParameterError
from dalenius.publishers.information import Newton, Problem, mutual_information
from dalenius.releases.channel import Channel

__all__ = ["FORBIDDEN_COST", "MAX_NEWTON_STEPS", "MAX_PROGRAM", "ROUNDING", "TINY", "Point", "Rate", "Search", "Task"]

ROUNDING = 1e-13  # of the curve's range: distortions nearer than this to an end of it are that end
FORBIDDEN_COST = 1e9  # times the cost of saying always the same
MAX_NEWTON_STEPS = 500
MAX_PROGRAM = (
    400_000  # nonzeros of the linear program for the far end of the curve; beyond, a constant output stands in
)
TINY = 1e-280  # no entry goes below: its logarithm is needed


@dataclass(frozen=True, slots=True, eq=False)
class Rate:
    """A channel's `matrix` p(y'|x'), its information I(X;Y) in nats, and what no channel of its distortion goes below.

    `gap` says how far from the optimum this may be: read it, an iteration that came to its end says nothing.
    """

    matrix: Floats
    information: float
    bound: float
    distortion: float
    slope: float  # λ = −dR/dD in nats, infinite at the least distortion
    rounds: int

    @property
    def gap(self) -> float:
        """Information less its bound: at most so much could be saved."""
        return self.information - self.bound


@dataclass(frozen=True, slots=True, eq=False)
class Task:
    """The problem with its losses, each row less its smallest and all of them over `scale`, and cut where nothing is said."""

    channel: Channel
    problem: Problem
    system: Floats  # all inputs
    losses: Floats  # the inputs that occur, scaled
    scale: float
    least: float  # the smallest distortion
    cut: Bools  # what is never said

    @classmethod
    def of(cls, channel: Channel, system: Floats, owner: str) -> Task:
        system = np.asarray(system, dtype=np.float64)
        shape = (len(channel.inputs), len(channel.outputs))
        if system.shape != shape:
            raise ParameterError("system", owner, f"a matrix of {shape[0]} inputs by {shape[1]} outputs", system.shape)
        if not np.isfinite(system).all() or (system < 0).any():
            raise ParameterError("system", owner, "losses ≥ 0, all of them finite", "a matrix with others")
        problem = Problem.of(channel)
        losses = system[problem.live]
        least = losses.min(axis=1)
        losses = losses - least[:, None]
        # In units of what it costs to say always the same; what can be said with a probability of 1 in 10⁹ at most, with no
        # more distortion than that, is as good as forbidden: its loss is cut there, so that others keep their digits.
        scale = float((problem.weights @ losses).min()) or float(losses.max()) or 1.0
        most = FORBIDDEN_COST / problem.weights[:, None]
        cut = losses / scale > most
        losses = np.minimum(losses / scale, most)
        return cls(channel, problem, system, losses, scale, float(problem.weights @ least), cut)

    def mean(self, matrix: Floats) -> float:
        """Return E d_S in the scale of `losses`."""
        return float(self.problem.weights @ (matrix * self.losses).sum(axis=1))

    def lower(self, positive: Floats, slope: float, most: float, allowed: Bools | None = None) -> float:
        """Return the bound of the module's head at V = `positive`, slope and D = `most` in the scale of `losses`."""
        bound = -math.inf
        for _ in range(2):
            costs = self.problem.gradient(positive) + slope * self.losses
            if allowed is not None:
                costs = np.where(allowed, costs, np.inf)
            lowest = costs.min(axis=1)
            bound = max(bound, float(self.problem.weights @ lowest) - slope * most)
            positive = positive * np.exp(-np.minimum(costs - lowest[:, None], 600.0))
            positive = positive / positive.sum(axis=1, keepdims=True)
        return bound

    def rate(self, matrix: Floats, bound: float, slope: float, rounds: int) -> Rate:
        """Return the channel with rows for inputs that never occur, and all figures computed from the matrix."""
        full = np.zeros(self.system.shape)
        full[np.arange(len(full)), self.system.argmin(axis=1)] = 1.0
        said = np.where(self.cut, 0.0, matrix)
        full[self.problem.live] = said / said.sum(axis=1, keepdims=True)
        information = mutual_information(self.channel.with_matrix(full).joint)
        live = full[self.problem.live] * self.system[self.problem.live]
        distortion = float(self.problem.weights @ live.sum(axis=1))
        bound = min(max(bound, self.problem.floor), information)
        return Rate(full, information, bound, distortion, slope / self.scale, rounds)

    def nearest(self) -> Bools:
        """Return the outputs that cost each input least."""
        is_free: Bools = self.losses <= ROUNDING
        return is_free

    def silent(self) -> Floats:
        """Return the channel of least distortion among those that reveal nothing beyond background knowledge.

        They have p(y|x) = p(y|z) for all x, z that some b leaves possible together: linear in W. Where X determines the
        row and the row the output, only a constant output will do.
        """
        weights, unknown, background = self.problem.weights, self.problem.unknown, self.problem.background
        n, m = self.losses.shape
        constant = np.zeros((n, m))
        constant[:, int((weights @ self.losses).argmin())] = 1.0
        if self.problem.plain:
            return constant
        rows = (weights[:, None] * unknown / (weights @ unknown)).T  # p(x'|x)
        differences = [np.zeros((1, n))]
        for b in range(background.shape[1]):
            some = rows[background[:, b] > 0]
            differences.append(some[1:] - some[:1])
        apart = _basis(np.vstack(differences))
        observed = np.eye(m) if self.problem.observation is None else _basis(self.problem.observation.T)
        if (len(apart) == n - 1 and len(observed) == m) or apart.size * np.count_nonzero(observed) > MAX_PROGRAM:
            return constant
        sums = kron(csr_array(np.eye(n)), csr_array(np.ones((1, m))))
        same = kron(csr_array(apart), csr_array(observed)) if len(apart) else csr_array((0, n * m))
        right = np.concatenate([np.ones(n), np.zeros(same.shape[0])])
        tight = {"primal_feasibility_tolerance": 1e-10, "dual_feasibility_tolerance": 1e-10}
        costs = (weights[:, None] * self.losses).reshape(-1)
        solved = linprog(costs, A_eq=vstack([sums, same]), b_eq=right, method="highs", options=tight)
        if solved.x is None:
            return constant
        matrix = np.maximum(solved.x, 0.0).reshape(n, m)
        matrix /= matrix.sum(axis=1, keepdims=True)
        return matrix if self.mean(matrix) < self.mean(constant) else constant


def _basis(rows: Floats) -> Floats:
    """Return Orthonormal rows with the same span."""
    _, sizes, directions = np.linalg.svd(rows, full_matrices=False)
    kept: Floats = directions[sizes > 1e-10 * max(1.0, float(sizes.max(initial=0.0)))]
    return kept


@dataclass(frozen=True, slots=True, eq=False)
class Point:
    """Where an interior point method stands: W, its slacks σ, the rows' multipliers, λ."""

    matrix: Floats
    slack: Floats
    rows: Floats
    slope: float


@dataclass(frozen=True, slots=True, eq=False)
class Search:
    """One optimum: at a distortion (`most`), or at a slope; with only the `allowed` outputs where some are given."""

    task: Task
    most: float | None
    slope: float
    allowed: Bools | None

    def run(self, gap: float, most_rounds: int, near: Floats | None = None) -> Rate:
        """Iterate until the gap is reached, no step helps, or the rounds are used up."""
        curved = self.task.problem.has_curvature(self.task.losses.shape[1])
        best, fewest, bound, slope, count = np.zeros(0), math.inf, -math.inf, 0.0, 0
        point, pace, last = self.start(near), 0.2 if curved else 1.0, most_rounds
        for count in range(most_rounds + 1):
            matrix = self.within(point.matrix)
            information = self.information(matrix)
            if information < fewest:
                best, fewest = matrix, information
            if curved or count % 10 == 0:
                lower = self.task.lower(point.matrix, max(point.slope, 0.0), self.most or 0.0, self.allowed)
                if lower > bound:
                    bound, slope = lower, max(point.slope, 0.0)
            if fewest - bound <= 0.5 * gap or count >= last:
                break
            if not curved:
                point, pace = self.descend(point, pace)
                continue
            point, length = self.step(point, pace)
            pace = 0.05 if length > 0.9 else 0.2 if length > 0.5 else 0.5
            if (
                length < 1e-8 or count >= MAX_NEWTON_STEPS
            ):  # rounding errors dominate: first derivatives can still improve it
                curved, pace, last = False, 1.0, count + MAX_NEWTON_STEPS
        if self.most is None:
            bound -= self.slope * self.task.mean(best)
        return self.task.rate(best, bound, slope, count)

    def information(self, matrix: Floats) -> float:
        """Return what is minimised: I = ⟨∇I(W), W⟩, as I is homogeneous; at a slope with λ E d."""
        costs = self.task.problem.gradient(matrix) + self.slope * self.task.losses
        return float(self.task.problem.weights @ (matrix * costs).sum(axis=1))

    def descend(self, point: Point, pace: float) -> tuple[Point, float]:
        """Return W e^{−t(g + λd)}, rows normalised, with the λ that gives the required distortion.

        This is monotone for t = 1, and Blahut–Arimoto if X = X'. Longer steps are tried, and taken if less is revealed.
        """
        costs, before = self.task.problem.gradient(point.matrix), self.information(point.matrix)
        while True:
            logs = np.log(np.where(point.matrix > 0, point.matrix, 1.0)) - pace * (
                costs + self.slope * self.task.losses
            )
            matrix, slope = self.tilted(np.where(point.matrix > 0, logs, -np.inf), pace * point.slope)
            if pace <= 1 or self.information(matrix) < before:
                return Point(matrix, point.slack, point.rows, slope / pace), pace * 1.3
            pace = max(1.0, pace / 2)

    def tilted(self, logs: Floats, slope: float) -> tuple[Floats, float]:
        """Return rows ∝ e^{logs − λd} and the λ that gives the distortion, by Newton's method between two bounds."""
        low, high = 0.0, math.inf
        losses, weights = self.task.losses, self.task.problem.weights
        for _ in range(100):
            free = logs - (slope * losses if self.most is not None else 0.0)
            matrix = np.exp(free - free.max(axis=1, keepdims=True))
            matrix /= matrix.sum(axis=1, keepdims=True)
            if self.most is None:
                return np.where(logs > -np.inf, np.maximum(matrix, TINY), 0.0), self.slope
            mean = (matrix * losses).sum(axis=1)
            off = float(weights @ mean) - self.most
            if abs(off) <= 1e-12 * self.most or (off <= 0 and slope == 0):
                break
            low, high = (slope, high) if off > 0 else (low, slope)
            spread = float(weights @ ((matrix * losses**2).sum(axis=1) - mean**2))
            slope = slope + off / max(spread, 1e-300)
            if not low < slope < high:
                slope = (low + high) / 2 if high < math.inf else 2 * low + 1.0
        return np.maximum(matrix, TINY), slope

    def start(self, near: Floats | None) -> Point:
        """Return a mix of the cheapest outputs and all outputs alike that has the required distortion."""
        n, m = self.task.losses.shape
        open_ = np.ones((n, m)) if self.allowed is None else self.allowed.astype(float)
        alike = open_ / open_.sum(axis=1, keepdims=True)
        first = self.task.nearest() / self.task.nearest().sum(axis=1, keepdims=True)
        share = 1 / (1 + self.slope) if self.most is None else self.most / self.task.mean(alike)
        matrix = (1 - share) * first + share * alike
        centre = 1 / m
        if near is not None:
            matrix, centre = 0.99 * near + 0.01 * matrix, 0.01 / m
        slope = self.slope if self.most is None else 1.0 / max(self.most, 1e-3)
        slack = np.where(matrix > 0, centre / np.where(matrix > 0, matrix, 1.0), 1.0)
        costs = self.task.problem.gradient(matrix) + slope * self.task.losses - slack
        return Point(matrix, slack, (matrix * costs).sum(axis=1), slope)

    def within(self, matrix: Floats) -> Floats:
        """Return rows that sum to 1 within the distortion: the cheapest outputs take the rest."""
        matrix = matrix / matrix.sum(axis=1, keepdims=True)
        if self.most is None:
            return matrix
        distortion = self.task.mean(matrix)
        if distortion <= self.most:
            return matrix
        first = self.task.nearest() / self.task.nearest().sum(axis=1, keepdims=True)
        mixed: Floats = first + (matrix - first) * (self.most / distortion)
        return mixed

    def residual(self, point: Point, centre: float, base: Floats) -> float:
        """Return how far the conditions of the central path are from true: g + λd − ν = σ, Wσ = μ, rows' sums, distortion."""
        used = point.matrix > 0
        costs = self.task.problem.gradient(point.matrix) + point.slope * self.task.losses
        stationary = np.where(used, costs - point.rows[:, None] - point.slack, 0.0)
        central = np.where(used, point.matrix * point.slack - centre, 0.0)
        weights = self.task.problem.weights
        share = 0.0 if self.task.problem.plain else 0.01 / base.shape[1]
        total = weights @ ((base + share) * stationary**2).sum(axis=1)
        total += weights @ (central**2 / np.where(used, base, 1.0)).sum(axis=1)
        return float(np.sqrt(total))

    def step(self, point: Point, shrink: float) -> tuple[Point, float]:
        """Take one Newton step towards Wσ = μ, as far as everything stays positive and the conditions improve.

        H dW + p d dλ − p dν − p dσ = −p(g + λd − ν − σ) with dσ = (μ − Wσ − σ dW)/W is
        K dW = p(μ/W − g − λd + ν + dν − d dλ), K = H + diag(pσ/W); the rows' sums give dν, the distortion dλ.
        """
        task, weights, root = self.task, self.task.problem.weights, np.sqrt(self.task.problem.weights)
        matrix, slack = point.matrix, point.slack
        used = matrix > 0
        safe = np.where(used, matrix, 1.0)
        centre = shrink * float(weights @ (matrix * slack).sum(axis=1)) / float(weights @ used.sum(axis=1))
        costs = task.problem.gradient(matrix) + point.slope * task.losses - point.rows[:, None]
        right = np.where(used, centre / safe - costs, 0.0)
        newton = Newton.at(task.problem, matrix, slack)
        schur = newton.schur()
        try:
            factor = cho_factor(schur)
        except LinAlgError:
            return point, 0.0
        missing = 1 - matrix.sum(axis=1)
        rows = cho_solve(factor, root * (missing - newton.solve(right).sum(axis=1))) / root
        change = newton.solve(right + rows[:, None])
        slope = 0.0
        if self.most is not None:
            along = cho_solve(factor, root * newton.solve(task.losses).sum(axis=1)) / root
            less = newton.solve(task.losses - along[:, None])  # how W moves against λ
            slope = (task.mean(matrix) + task.mean(change) - self.most) / task.mean(less)
            rows, change = rows + slope * along, change - slope * less
        slide = np.where(used, (centre - matrix * slack - slack * change) / safe, 0.0)
        length = min(1.0, 0.95 / max(float((-change / safe).max()), float((-slide / slack).max()), 1e-300))
        before = self.residual(point, centre, matrix)
        while length > 1e-8:
            moved = Point(
                matrix + length * change,
                slack + length * slide,
                point.rows + length * rows,
                point.slope + length * slope,
            )
            if self.residual(moved, centre, matrix) <= (1 - 0.01 * length) * before:
                return moved, length
            length /= 2
        return point, 0.0
