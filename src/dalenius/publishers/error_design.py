"""Channels that leave an attacker the largest estimation error that a distortion budget buys (methods, section D, ii and iii).

Rebollo-Monedero et al. 2013 state the trade-off of privacy and distortion (section IV) and solve it for a coin. Here it is
solved for any finite channel: W = p(y'|x') is chosen, the attacker knows it and answers best. Of a loss with a free estimate
(squared) the attacker of these functions still names labels: with free estimates it does at least as well, so that `bound`
is a bound for it too, and `value` is what is left of label estimates.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from numbers import Real

import numpy as np

from dalenius.arrays import Floats
from dalenius.errors import InputError, ParameterError
from dalenius.measures.loss import Loss
from dalenius.publishers.error_closed import average_mix, equal_errors
from dalenius.publishers.error_programme import TINY, Game, Part, least_spent, most_average
from dalenius.releases.channel import Channel

__all__ = [
    "MAX_HALVINGS",
    "MAX_NONZEROS",
    "Designed",
    "average_by_cuts",
    "least_distortion",
    "most_average_error",
    "most_worst_case_error",
    "worst_by_cuts",
]

MAX_NONZEROS = 4_000_000  # nonzeros of an average programme that is solved at once
MAX_HALVINGS = 20  # halvings of a t that rounding leaves undecided, before the gap is left as it is


@dataclass(frozen=True, slots=True, eq=False)
class Designed:
    """`matrix[x', y']` = p(y'|x') leaves `value` to an attacker that answers with the best label; no channel of this distortion
    leaves more than `bound`, which is proven apart from the solver. Rounding aside, value ≤ bound."""

    matrix: Floats
    value: float
    bound: float
    distortion: float
    rounds: int


def least_distortion(channel: Channel, system: Floats) -> float:
    """Return Σ_x' p(x') min_y' d_S(x', y'), the distortion of even the most faithful channel."""
    _check_system(channel, system)
    return float(channel.source.sum(axis=1) @ system.min(axis=1))


def most_average_error(
    channel: Channel, loss: Loss, system: Floats, distortion: float, *, gap: float = 1e-7, closed_form: bool = True
) -> Designed:
    """Maximise P_avg = Σ_o min_e Σ p(x', x) p(b|x) W(y'|x') p(y|y') d_A(x, e) over W with E d_S ≤ `distortion`.

    Only the alphabets, the prior and the parts of `channel` are used. `gap` is what the bound may be above the value, relative
    to the error without any output. Where d_A = d_S and nothing lies between, a closed form answers (`error_closed`), unless
    it is not wanted.
    """
    game, units = _game(channel, loss, system, distortion, gap, "most_average_error")
    if closed_form and _closed(channel, loss, system):
        matrix = average_mix(game, units.level)
        return units.designed(matrix, game.average(matrix), min(units.level, game.average(game.silent())), 0)
    return units.designed(*average_by_cuts(game, gap))


def most_worst_case_error(
    channel: Channel, loss: Loss, system: Floats, distortion: float, *, gap: float = 1e-6, closed_form: bool = True
) -> Designed:
    """Maximise P_min = min over the o that occur of min_e E[d_A(X, e) | o] over W with E d_S ≤ `distortion`.

    Not one linear programme, but for every t one is: D*(t) = min_W E d_S s.t. Σ … W (d_A − t) ≥ 0 for all o, e; the optimum is
    the largest t with D*(t) ≤ D.
    """
    game, units = _game(channel, loss, system, distortion, gap, "most_worst_case_error")
    ceiling = float(game.prior_error.min())
    if closed_form and _closed(channel, loss, system) and 0 < units.level < ceiling:
        level, room = units.level, gap * ceiling
        matrix = _lifted(game, equal_errors(game, level - room / 4), level - room / 2)
        if game.spent(matrix) <= game.budget and (value := game.worst(matrix)) >= level - room:
            return units.designed(matrix, value, level, 0)
    return units.designed(*worst_by_cuts(game, gap))


def average_by_cuts(game: Game, gap: float) -> tuple[Floats, float, float, int]:
    """Return the average programme: whole, if that has at most so many nonzeros, else by answers and outputs as they are missed.

    Matrix, value, bound, rounds. (A 10 × 10 grid takes 8 to 11 s whole, and 7 to 200 s by what is missed.)

    Bound: with any q(e|o) that sums to 1 and λ ≥ 0, P_avg ≤ λ D + Σ_x' max_y' [gain_q(x', y') − λ price(x', y')].
    """
    silent, cheapest = game.silent(), game.cheapest()
    ceiling = game.average(silent)
    if game.spent(silent) <= game.budget * (1 + 1e-12):
        return silent, ceiling, ceiling, 0
    if game.settled:
        return cheapest, game.average(cheapest), game.average(cheapest), 0
    part = Part.whole(game) if game.nonzeros <= MAX_NONZEROS else Part.of(game)
    matrix, value, bound, rounds = cheapest, game.average(cheapest), ceiling, 0
    while bound - value > gap * ceiling:
        rounds += 1
        solved = most_average(game, part)
        if solved is None:
            break  # the gap says how far it came
        q = (
            solved.multipliers + 1e-15
        )  # nowhere 0, so that it can be scaled to what it is but for rounding: a distribution
        q /= q.sum(axis=1, keepdims=True)
        worth = game.gain(q) - solved.price * game.price
        bound = min(bound, solved.price * game.budget + float(worth.max(axis=1).sum()))
        feasible = _within(game, solved.matrix, cheapest)
        errors = game.errors(solved.matrix)
        if (left := game.average(feasible)) > value:
            matrix, value = feasible, left
        levels = np.where(part.answered, errors, np.inf).min(axis=1)  # z_o of the solution
        if not part.add_answers(errors, levels - 1e-12) + part.add_outputs(worth, game.closed):
            break  # the programme is complete: what is left of the gap is rounding
    return matrix, value, bound, rounds


def worst_by_cuts(game: Game, gap: float) -> tuple[Floats, float, float, int]:
    """Lower t by Newton steps and halvings, adding missed answers and outputs. Return matrix, value, bound and rounds.

    Of any q ≥ 0, L(t) = Σ_x' min_y' [price − gain_q + t · weight_gain_q] ≤ D*(t) rises with t; from its root on, no t is
    within the budget. The t that is tried is a little below the bound, so that a success closes the gap; where Newton's steps
    do not shrink (D* need not be convex), the middle is tried.
    """
    silent, cheapest = game.silent(), game.cheapest()
    ceiling = float(game.prior_error.min())
    if game.spent(silent) <= game.budget * (1 + 1e-12):
        return silent, game.worst(silent), ceiling, 0
    if game.settled:
        return cheapest, game.worst(cheapest), game.worst(cheapest), 0
    part, room = Part.of(game), max(gap, TINY) * ceiling  # the solver is no sharper
    matrix, value, bound, rounds = cheapest, game.worst(cheapest), ceiling, 0
    level, last, stuck = bound - room / 2, math.inf, 0
    while bound - value > room and stuck < MAX_HALVINGS:
        rounds += 1
        solved = least_spent(game, part, level)
        if solved is None:
            break
        fixed = game.price - game.gain(solved.multipliers)
        slope = game.weight_gain(solved.multipliers.sum(axis=1))
        feasible = _lifted(game, solved.matrix, level) if game.budget > 0 else _free(game, solved.matrix, cheapest)
        if game.spent(feasible) <= game.budget + 1e-13 and (left := game.worst(feasible)) > value:
            matrix, value = feasible, left
        new = part.add_answers(game.errors(solved.matrix), level * game.weights(solved.matrix) - 1e-12)
        new += part.add_outputs(-(fixed + level * slope), game.closed)
        if float((fixed + level * slope).min(axis=1).sum()) > game.budget + 1e-12:  # t is out of reach
            before, bound = bound, _root(fixed, slope, game.budget, level)
            slow = before - bound > last / 4
            level, last = ((value + bound) / 2, math.inf) if slow else (bound - room / 2, before - bound)
        elif value >= level - room / 4:  # t is reached
            level, last = bound - room / 2, math.inf
        elif not new:  # the programme is complete, and t neither reached nor refuted: rounding
            level, stuck = (value + level) / 2, stuck + 1
    return matrix, value, bound, rounds


def _root(fixed: Floats, slope: Floats, budget: float, high: float) -> float:
    """Return the t where L(t), increasing and above the budget at `high`, passes it: the upper end of a bisection."""
    low = 0.0
    for _ in range(100):
        middle = (low + high) / 2
        if float((fixed + middle * slope).min(axis=1).sum()) > budget:
            high = middle
        else:
            low = middle
    return high


def _within(game: Game, matrix: Floats, cheapest: Floats) -> Floats:
    """Return the same channel, mixed with the cheapest as far as it overspends. (P_avg is concave: little is lost.)"""
    spent = game.spent(matrix)
    if spent <= game.budget:
        return matrix
    least = game.spent(cheapest)
    share = (game.budget - least) / (spent - least)
    return share * matrix + (1 - share) * cheapest


def _free(game: Game, matrix: Floats, cheapest: Floats) -> Floats:
    """Return the same channel without what costs anything."""
    kept = np.where(game.price > 0, 0.0, matrix)
    kept = np.where(kept.sum(axis=1, keepdims=True) > 0, kept, cheapest)
    scaled: Floats = kept / kept.sum(axis=1, keepdims=True)
    return scaled


def _lifted(game: Game, matrix: Floats, level: float) -> Floats:
    """Return the channel with errors[o, e] ≥ t p(o) beyond the solver's tolerance; t is below the error without output.

    An output with probability δ whatever the input adds at least δ p(y|y') p(b) (P(b) − t) to the slack of (y, b); that all
    rows then sum to the same, 1 + Σ δ, changes nothing once divided by it, for the constraints are homogeneous.
    """
    lacking = np.maximum(level * game.weights(matrix) - game.errors(matrix).min(axis=1), 0.0)
    if not lacking.any():
        return matrix
    weight = game.mass.sum(axis=1)
    slack = game.cost.sum(axis=1).min(axis=1) - level * weight  # p(b) (P(b) − t)
    lacking = lacking.reshape(game.seen.shape[1], len(game.mass))
    if (slack[weight > 0] <= 0).any():
        return matrix
    needed = np.divide(lacking, slack, out=np.zeros_like(lacking), where=weight > 0).max(axis=1)
    by = game.seen.argmax(axis=0)  # the output that most probably leads to y
    extra = np.zeros(len(game.seen))
    is_needed = needed > 0
    np.maximum.at(extra, by[is_needed], (1 + TINY) * needed[is_needed] / game.seen[by, np.arange(len(by))][is_needed])
    mixed: Floats = (matrix + extra) / (1 + extra.sum())
    return mixed


@dataclass(frozen=True, slots=True, eq=False)
class _Units:
    """The way back from a game to the channel's own units."""

    prior: Floats
    system: Floats
    loss: float
    most: float  # the distortion allowed

    @property
    def level(self) -> float:
        """The distortion as a loss, where both are one."""
        return self.most / self.loss

    def designed(self, matrix: Floats, value: float, bound: float, rounds: int) -> Designed:
        never = self.prior <= 0  # inputs that never occur: their output is the truth
        if never.any():
            matrix = matrix.copy()
            matrix[never] = np.eye(matrix.shape[1])[self.system[never].argmin(axis=1)]
        distortion = float((self.prior[:, None] * matrix * self.system).sum())
        if distortion > self.most * (1 + 1e-9) + 1e-12 * float((self.prior @ self.system).min()):
            raise InputError(
                f"The channel could not be designed: its distortion came out as {distortion:g}, and {self.most:g} is allowed. "
                "The losses differ too much in size; leave out what may never be said."
            )
        return Designed(matrix, value * self.loss, bound * self.loss, distortion, rounds)


def _game(
    channel: Channel, loss: Loss, system: Floats, distortion: float, gap: float, owner: str
) -> tuple[Game, _Units]:
    for name, number in (("distortion", distortion), ("gap", gap)):
        if isinstance(number, bool) or not isinstance(number, Real) or not math.isfinite(number) or number < 0:
            raise ParameterError(name, owner, "a number ≥ 0", number)
    if len(loss.matrix) != len(channel.values):
        raise InputError(
            f"The loss has {len(loss.matrix)} rows; one is needed for each of {len(channel.values)} values."
        )
    least = least_distortion(channel, system)
    if distortion < least * (1 - 1e-12):
        raise InputError(
            f"The distortion cannot be below {least:.6g}: so much has even the channel that says the nearest output to each "
            f"input, and {distortion:g} was asked for."
        )
    losses = loss.matrix if _closed(channel, loss, system) else _undominated(channel, loss.matrix)
    of_loss = float(losses[channel.source.sum(axis=0) > 0].max()) or 1.0
    game = Game.of(channel, losses / of_loss, system, max(distortion - least, 0.0))
    return game, _Units(channel.source.sum(axis=1), system, of_loss, distortion)


def _undominated(channel: Channel, losses: Floats) -> Floats:
    """Drop answers that another answer beats whatever the truth is: nobody gives them, and their losses may be huge."""
    there = losses[channel.source.sum(axis=0) > 0]
    kept: list[int] = []
    for e in np.argsort(there.sum(axis=0), kind="stable").tolist():
        if not any((there[:, k] <= there[:, e]).all() for k in kept):
            kept.append(e)
    return losses[:, sorted(kept)]


def _check_system(channel: Channel, system: Floats) -> None:
    if system.shape != channel.matrix.shape:
        raise InputError(
            f"The distortion has a row for each input and a column for each output: {channel.matrix.shape[0]} by "
            f"{channel.matrix.shape[1]}, and not {system.shape}."
        )
    if not np.isfinite(system).all() or (system < 0).any():
        raise InputError("The distortion has an entry that is below 0 or no number; distortions are ≥ 0.")


def _closed(channel: Channel, loss: Loss, system: Floats) -> bool:
    """Return whether the closed forms hold."""
    whole = channel.unknown is None and channel.observation is None and channel.background is None
    return whole and np.array_equal(loss.matrix, system) and not system.min(axis=1).any()
