"""The game behind a designed channel: what W = p(y'|x') leaves the attacker's best answers, and programmes over a part of it.

A whole programme has a variable for each (x', y') and a constraint for each observation and estimate: a million nonzeros for
a hundred places. Few of either matter, where there are many more or programmes are solved again and again. `Part` holds the
pairs looked at so far, `solve` answers for them alone, and whoever
calls adds the answers that the solution overlooked. Bounds do not lean on the solver: any multipliers q prove one by weak
duality, which `gain` evaluates over every pair.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from scipy.optimize import linprog
from scipy.sparse import block_array, coo_array, csr_array, diags_array

from dalenius.arrays import Bools, Floats, Longs
from dalenius.releases.channel import Channel

__all__ = [
    "ANSWERS_PER_ROUND",
    "FIRST_ANSWERS",
    "FIRST_OUTPUTS",
    "OUTPUTS_PER_ROUND",
    "TINY",
    "Game",
    "Part",
    "Solved",
    "least_spent",
    "most_average",
]

TINY = 1e-9  # probabilities and violations below are the solver's rounding (its tolerances are 1e-9, too)
FIRST_ANSWERS = 20  # answers to each observation that are looked at from the start
ANSWERS_PER_ROUND = 6  # overlooked answers to each observation added in a round
OUTPUTS_PER_ROUND = 5  # overlooked outputs of each input added in a round
FIRST_OUTPUTS = 12  # outputs of each input that are looked at from the start


@dataclass(frozen=True, slots=True, eq=False)
class Game:
    """Everything that the programmes need of a channel: its matrix is no part of it. An observation o is a pair (y, b).

    `cost[b, x', e]` = Σ_x p(x', x) p(b|x) d_A(x, e); `mass[b, x']` = Σ_x p(x', x) p(b|x); `seen[y', y]` = p(y|y');
    `price[x', y']` = p(x') (d_S(x', y') − min d_S(x', ·)), and `budget` what may be spent of it, both in units of what it
    costs to say always the same, so that tolerances mean the same for metres and for kilometres; losses are in units of the
    largest. What could be said with a probability of `TINY` at most is `closed` to the programmes, not to the bounds.
    """

    cost: Floats
    mass: Floats
    seen: Floats
    price: Floats
    budget: float
    closed: Bools

    @classmethod
    def of(cls, channel: Channel, losses: Floats, system: Floats, budget: float) -> Game:
        source = channel.source
        known = np.ones((source.shape[1], 1)) if channel.background is None else channel.background.matrix
        known = known / known.sum(axis=1, keepdims=True)
        seen = np.eye(len(channel.outputs)) if channel.observation is None else channel.observation.matrix
        joint = source[None, :, :] * known.T[:, None, :]
        least = system.min(axis=1, keepdims=True)
        price = source.sum(axis=1)[:, None] * (system - least)
        unit = float(price.sum(axis=0).min()) or float(price.max()) or 1.0
        price, budget = price / unit, budget / unit
        if budget <= 1e-12:  # nothing may be spent: it does not matter how much a detour costs, and 1 is a sound number
            detour = (source.sum(axis=1)[:, None] > 0) & (system - least > 1e-12 * least)
            price, budget = detour.astype(np.float64), 0.0
        closed = price > max(budget / TINY, 1.0)
        return cls(joint @ losses, joint.sum(axis=2), seen / seen.sum(axis=1, keepdims=True), price, budget, closed)

    @property
    def nonzeros(self) -> int:
        """Of the whole programme: every answer to every observation, in the variables that lead there."""
        return int(np.count_nonzero(self.seen)) * self.cost.size

    @property
    def shape(self) -> tuple[int, int]:
        return self.price.shape[0], self.price.shape[1]

    @property
    def prior_error(self) -> Floats:
        """min_e E[d_A | b] of each b that occurs: what is left when the output says nothing."""
        weight = self.mass.sum(axis=1)
        occurs = weight > 0
        errors: Floats = self.cost.sum(axis=1).min(axis=1)[occurs] / weight[occurs]
        return errors

    def errors(self, matrix: Floats) -> Floats:
        """Return [o, e]: p(o) E[d_A(X, e) | o]."""
        losses = (matrix @ self.seen).T @ self.cost  # [b, y, e]
        return np.ascontiguousarray(losses.transpose(1, 0, 2)).reshape(-1, self.cost.shape[2])

    def weights(self, matrix: Floats) -> Floats:
        """p(o)."""
        probabilities: Floats = ((matrix @ self.seen).T @ self.mass.T).ravel()
        return probabilities

    def gain(self, multipliers: Floats) -> Floats:
        """Return [x', y']: what W(y'|x') adds to Σ_{o,e} q[o, e] errors[o, e]."""
        q = multipliers.reshape(self.seen.shape[1], len(self.mass), -1).transpose(1, 2, 0)  # [b, e, y]
        gains: Floats = (self.cost @ q).sum(axis=0) @ self.seen.T
        return gains

    def weight_gain(self, multipliers: Floats) -> Floats:
        """Return [x', y']: what W(y'|x') adds to Σ_o q[o] p(o)."""
        q = multipliers.reshape(self.seen.shape[1], len(self.mass))
        weights: Floats = (q @ self.mass).T @ self.seen.T
        return weights

    def average(self, matrix: Floats) -> float:
        """Return P_avg (Rebollo-Monedero et al. 2013, section IV-B) of the best label estimate."""
        return float(self.errors(matrix).min(axis=1).sum())

    def worst(self, matrix: Floats) -> float:
        """Return P_min, over the observations that occur."""
        weight = self.weights(matrix)
        occurs = weight > 0
        return float((self.errors(matrix).min(axis=1)[occurs] / weight[occurs]).min())

    def spent(self, matrix: Floats) -> float:
        return float((self.price * matrix).sum())

    def cheapest(self) -> Floats:
        """Return the channel of least distortion."""
        matrix = np.zeros(self.shape)
        matrix[np.arange(len(matrix)), self.price.argmin(axis=1)] = 1.0
        return matrix

    @property
    def settled(self) -> bool:
        """Whether the budget leaves nothing to choose: only one output of each input is free."""
        free = (self.price <= 0).sum(axis=1)
        return self.budget <= 0 and bool((free[self.mass.sum(axis=0) > 0] <= 1).all())

    def silent(self) -> Floats:
        """Return the cheapest of the channels that always say the same."""
        matrix = np.zeros(self.shape)
        matrix[:, self.price.sum(axis=0).argmin()] = 1.0
        return matrix


@dataclass(slots=True, eq=False)
class Part:
    """What of a game has been looked at: which W(y'|x') may be above 0, and which answers e to o the attacker may give."""

    open: Bools  # [x', y']
    answered: Bools  # [o, e]

    @classmethod
    def of(cls, game: Game) -> Part:
        """Start with cheap outputs, a constant output (so that the prior's error is feasible), and answers to both."""
        rows, columns = game.shape
        start = np.zeros((rows, columns), dtype=np.bool_)
        near = np.argsort(game.price, axis=1, kind="stable")[:, :FIRST_OUTPUTS]
        start[np.arange(rows)[:, None], near] = True
        silent, cheapest = game.silent(), game.cheapest()
        start |= (silent > 0) | (cheapest > 0)
        start &= ~game.closed
        answered = np.zeros((game.seen.shape[1] * len(game.mass), game.cost.shape[2]), dtype=np.bool_)
        part = cls(start, answered)
        for matrix in (cheapest, np.full((rows, columns), 1 / columns)):
            part.add_answers(game.errors(matrix), np.full(len(answered), np.inf), most=FIRST_ANSWERS)
        return part

    @classmethod
    def whole(cls, game: Game) -> Part:
        """Return everything at once."""
        answers = (game.seen.shape[1] * len(game.mass), game.cost.shape[2])
        return cls(~game.closed, np.ones(answers, dtype=np.bool_))

    def add_answers(self, errors: Floats, below: Floats, *, most: int = ANSWERS_PER_ROUND) -> int:
        """Add for each observation the best answers with an error below its level. Return how many are new."""
        before = int(self.answered.sum())
        count = min(most, errors.shape[1])
        best = np.argpartition(errors, count - 1, axis=1)[:, :count]
        rows = np.arange(len(errors))[:, None]
        self.answered[rows, best] |= errors[rows, best] < below[:, None]
        return int(self.answered.sum()) - before

    def add_outputs(self, worth: Floats, closed: Bools) -> int:
        """Add for each input the outputs worth more than all that are open. Return how many are new."""
        before = int(self.open.sum())
        worth = np.where(closed, -np.inf, worth)
        level = np.where(self.open, worth, -np.inf).max(axis=1)
        count = min(OUTPUTS_PER_ROUND, worth.shape[1])
        best = np.argpartition(-worth, count - 1, axis=1)[:, :count]
        rows = np.arange(len(worth))[:, None]
        self.open[rows, best] |= worth[rows, best] > level[:, None] + 1e-11
        return int(self.open.sum()) - before


@dataclass(frozen=True, slots=True, eq=False)
class Solved:
    """`matrix`: W with rows that sum to 1; `multipliers[o, e]` ≥ 0 of the answers; `price` that of the budget."""

    matrix: Floats
    multipliers: Floats
    price: float
    objective: float


def most_average(game: Game, part: Part) -> Solved | None:
    """Maximise Σ_o z_o s.t. z_o ≤ errors[o, e] for the answers in the programme, rows sum to 1, distortion within the budget."""
    o, e = np.nonzero(part.answered)
    rows, entries = _answers(game, part, o, e, 0.0)
    levels = coo_array((np.ones(len(o)), (np.arange(len(o)), o)), shape=(len(o), len(part.answered)))
    inputs, outputs = np.nonzero(part.open)
    unit = game.budget or 1.0  # tolerances are absolute: a small budget is to be kept as well as a large one
    spent = csr_array(game.price[inputs, outputs][None, :] / unit)
    above = block_array([[-entries, levels], [spent, None]], format="csr")
    limit = np.append(np.zeros(rows), game.budget / unit)
    objective = np.append(np.zeros(len(inputs)), -np.ones(len(part.answered)))
    solved = _solve(part, objective, above, limit, free=len(part.answered))
    return None if solved is None else replace(solved, price=solved.price / unit)


def least_spent(game: Game, part: Part, level: float) -> Solved | None:
    """Return D*(t): min distortion s.t. errors[o, e] − t p(o) ≥ 0 for the answers in the programme, rows sum to 1.

    Each constraint is divided by its largest coefficient: those of rare observations would be rounding for the solver.
    """
    o, e = np.nonzero(part.answered)
    rows, entries = _answers(game, part, o, e, level)
    above = (-entries).tocsr()
    size = np.maximum(abs(above).max(axis=1).toarray().ravel(), 1e-300)
    solved = _solve(part, game.price[part.open], diags_array(1 / size) @ above, np.zeros(rows), free=0)
    if solved is None:
        return None
    scales = np.ones(part.answered.shape)
    scales[part.answered] = size
    return replace(solved, multipliers=solved.multipliers / scales)


def _answers(game: Game, part: Part, o: Longs, e: Longs, level: float) -> tuple[int, coo_array]:
    """Return a row for each answer: the coefficients of the open W(y'|x') in errors[o, e] − level · p(o)."""
    inputs, outputs = np.nonzero(part.open)
    y, b = np.divmod(o, len(game.mass))
    row, column = np.nonzero(game.seen.T[y][:, outputs])
    costs = game.cost[b[row], inputs[column], e[row]] - level * game.mass[b[row], inputs[column]]
    values = costs * game.seen[outputs[column], y[row]]
    return len(o), coo_array((values, (row, column)), shape=(len(o), len(inputs)))


def _solve(part: Part, objective: Floats, above: csr_array, limit: Floats, *, free: int) -> Solved | None:
    """Return a programme over the open W and `free` more variables; the answers are the first rows of `above`.

    None where the solver finds no solution although there is one; bounds do not lean on how exact it is.
    """
    inputs, _ = np.nonzero(part.open)
    rows, columns = len(part.open), len(inputs)
    sums = coo_array((np.ones(columns), (inputs, np.arange(columns))), shape=(rows, columns + free)).tocsr()
    bounds = np.array([(0.0, np.inf)] * columns + [(-np.inf, np.inf)] * free)
    for method, tolerance in (("highs-ds", TINY), ("highs-ipm", TINY), ("highs-ds", 1e-7)):
        options = {"primal_feasibility_tolerance": tolerance, "dual_feasibility_tolerance": tolerance}
        solution = linprog(
            objective,
            A_ub=above,
            b_ub=limit,
            A_eq=sums,
            b_eq=np.ones(rows),
            bounds=bounds,
            method=method,
            options=options,
        )
        if solution.status == 0:
            break
    else:
        return None
    matrix = np.zeros(part.open.shape)
    matrix[part.open] = solution.x[:columns]
    matrix[matrix < TINY] = 0.0
    matrix /= matrix.sum(axis=1, keepdims=True)
    price = -solution.ineqlin.marginals
    multipliers = np.zeros(part.answered.shape)
    answers = int(part.answered.sum())
    multipliers[part.answered] = np.maximum(price[:answers], 0.0)
    return Solved(matrix, multipliers, max(float(price[answers]), 0.0) if len(price) > answers else 0.0, solution.fun)
