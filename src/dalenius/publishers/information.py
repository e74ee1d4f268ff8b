"""The information that an attacker gains from a channel, as a convex function of the channel, in nats.

Rebollo-Monedero et al. 2013, section VI: I(X;Y) where X is what the attacker wants to know, not always the system's input X',
and Y what it observes, not always the disclosed Y', with background knowledge B beside it: I(X; Y, B).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from dalenius.arrays import Bools, Floats
from dalenius.releases.channel import Channel

__all__ = ["MAX_BLOCK", "MAX_BLOCKS", "RARE_INPUT", "Newton", "Problem", "mutual_information"]

# Numbers in the second derivatives beyond which first ones are quicker: many small blocks, or one where outputs blur.
MAX_BLOCKS = 8_000_000
MAX_BLOCK = 2_000_000
RARE_INPUT = 1e-6  # inputs below would drown in the rounding of a decomposition that does not know their scale


def mutual_information(joint: Floats) -> float:
    """Return I(X;Y) of p(x, y) in nats. The terms p ln[p / (p(x) p(y))] have both signs; rounding never gives a sum below 0."""
    joint = joint / joint.sum()
    apart = joint.sum(axis=1, keepdims=True) * joint.sum(axis=0, keepdims=True)
    some = joint > 0
    return max(0.0, float((joint[some] * np.log(joint[some] / apart[some])).sum()))


def _log(values: Floats) -> Floats:
    """Return ln, and 0 for 0, because such a term has no weight."""
    logs: Floats = np.log(np.where(values > 0, values, 1.0))
    return logs


def _inverse(values: Floats) -> Floats:
    inverses: Floats = np.where(values > 0, 1.0, 0.0) / np.where(values > 0, values, 1.0)
    return inverses


@dataclass(frozen=True, slots=True, eq=False)
class Problem:
    """All but the matrix of a channel, for the inputs that occur. W[x', y'] = p(y'|x') is what is to be found.

    `weights`: p(x'). `unknown`: p(x|x'). `observation`: p(y|y') or None. `background`: p(b|x), a single b when there is none.
    """

    live: Bools
    weights: Floats
    unknown: Floats
    observation: Floats | None
    background: Floats
    plain: bool

    @classmethod
    def of(cls, channel: Channel) -> Problem:
        source = channel.source
        live, known = source.sum(axis=1) > 0, source.sum(axis=0) > 0
        weights = source.sum(axis=1)[live]
        unknown = source[np.ix_(live, known)] / weights[:, None]
        observation = None if channel.observation is None else channel.observation.matrix
        if observation is not None:
            observation = observation[:, observation.sum(axis=0) > 0]
            observation = observation / observation.sum(axis=1, keepdims=True)
        background = np.ones((unknown.shape[1], 1))
        if channel.background is not None:
            background = channel.background.matrix[known]
            background = background / background.sum(axis=1, keepdims=True)
        plain = channel.unknown is None and observation is None and channel.background is None
        return cls(live, weights, unknown, observation, background, plain)

    @property
    def floor(self) -> float:
        """I(X;B): what background knowledge tells whatever the channel does. The least that can be reached."""
        return mutual_information((self.weights @ self.unknown)[:, None] * self.background)

    def seen(self, matrix: Floats) -> Floats:
        """p(y|x')."""
        return matrix if self.observation is None else matrix @ self.observation

    def gradient(self, matrix: Floats) -> Floats:
        """Return g(x', y'), the derivative of I(X; Y, B) by W(x', y') over p(x'). Rows of the matrix need not sum to 1.

        With J(x,y) = Σ p(x',x) W(y'|x') p(y|y') and M(y,b) = Σ_x J(x,y) p(b|x), I = Σ J ln J − Σ M ln M + constants in J;
        by J(x,y): ln[J/p(x)] − Σ_b p(b|x) ln M(y,b) + Σ_b p(b|x) ln p(b|x), the ones from both logarithms cancel; and by the
        chain rule g = Σ_x p(x|x') Σ_y p(y|y') of that. Where X = X', Y = Y': ln[W(y|x)/p(y)].
        """
        p = self.weights
        if self.plain:
            gains: Floats = _log(matrix) - _log(p @ matrix)[None, :]
            return gains
        joint, beside = self._sums(matrix)
        alone = p @ self.unknown
        inner = _log(joint) - np.log(alone)[:, None] - self.background @ _log(beside).T
        inner += (self.background * _log(self.background)).sum(axis=1)[:, None]
        gains = self.unknown @ inner
        return gains if self.observation is None else gains @ self.observation.T

    def _sums(self, matrix: Floats) -> tuple[Floats, Floats]:
        """Return J(x, y) and M(y, b)."""
        joint = (self.weights[:, None] * self.unknown).T @ self.seen(matrix)
        return joint, joint.T @ self.background

    def has_curvature(self, outputs: int) -> bool:
        """Return whether second derivatives fit: a block of inputs² for each output, or one of all entries² where outputs blur."""
        n = len(self.weights)
        if self.plain:
            return True
        if self.observation is None:
            return n * n * outputs <= MAX_BLOCKS
        return (n * outputs) ** 2 <= MAX_BLOCK

    def curvature(self, matrix: Floats) -> Floats:
        """Return second derivatives in the scale of √(W p): Q[y'] (x' by x'), or one block of all (y', x') if outputs blur.

        By J(x,y) and J(z,y): [x = z]/J(x,y) − Σ_b p(b|x) p(b|z) / M(y,b); then the chain rule on both sides, and
        Q = H √(W/p) √(W/p), which is I − projection in the plain case and never larger than I.
        """
        joint, beside = self._sums(matrix)
        lifted, known = self.unknown, self.unknown @ self.background
        blocks = np.matmul(lifted[None] * _inverse(joint).T[:, None, :], lifted.T)
        blocks -= np.matmul(known[None] * _inverse(beside)[:, None, :], known.T)
        scale = np.sqrt(self.weights[:, None] * matrix).T  # [y', x']
        if self.observation is None:
            scaled: Floats = blocks * scale[:, :, None] * scale[:, None, :]
            return scaled
        o, n = self.observation, len(self.weights)
        size = n * len(o)
        pairs = (o[:, None, :] * o[None, :, :]).reshape(-1, o.shape[1])
        whole = (pairs @ blocks.reshape(len(blocks), -1)).reshape(len(o), len(o), n, n).transpose(0, 2, 1, 3)
        whole = whole.reshape(size, size) * scale.reshape(-1)[:, None] * scale.reshape(-1)[None, :]
        return np.asarray(whole[None])

    def low_rank(self, matrix: Floats, slack: Floats) -> Floats:
        """Return (Q + σ)⁻¹ where (X, Y) has fewer values than (X', Y').

        Then Q = G Gᵀ with few columns, and in the other directions there is only a small σ. With σ^−½ G = U s Vᵀ it is
        σ^−½ (I − U s²/(1+s²) Uᵀ) σ^−½, which keeps them apart.
        """
        joint, beside = self._sums(matrix)
        half = np.sqrt(joint).T[:, :, None] * self.background[None] * np.sqrt(_inverse(beside))[:, None, :]
        size, turn = np.linalg.eigh(np.eye(joint.shape[0]) - np.matmul(half, half.transpose(0, 2, 1)))
        root = turn * np.sqrt(np.where(size > 1e-14, size, 0.0))[:, None, :]
        factor = np.matmul(self.unknown[None] * np.sqrt(_inverse(joint)).T[:, None, :], root)
        if self.observation is not None:  # from [y, x', r] to [(y', x'), (y, r)]
            whole = self.observation[:, None, :, None] * factor.transpose(1, 0, 2)[None]
            factor = whole.reshape(1, matrix.size, -1)
        factor *= np.sqrt(self.weights[:, None] * matrix / slack).T.reshape(len(factor), -1, 1)
        left, size, _ = np.linalg.svd(factor, full_matrices=False)
        shrunk = left * (size**2 / (1 + size**2))[:, None, :]
        inverse: Floats = np.eye(factor.shape[1]) - np.matmul(shrunk, left.transpose(0, 2, 1))
        scale = np.sqrt(slack).T.reshape(len(factor), -1)
        return np.asarray(inverse / scale[:, :, None] / scale[:, None, :])


@dataclass(frozen=True, slots=True, eq=False)
class Newton:
    """The system K dW = p Z of a Newton step, K = H + diag(p σ/W), solved for any Z; and its sums over the rows.

    Plain: K = diag(p(1+σ)/W) − p pᵀ/p(y) for each y; by Sherman and Morrison, with u = W/(1+σ) and
    p(y) − Σ p u = Σ p u σ (no difference is left to lose digits):  dW = u (Z + Σ_x p u Z / Σ_x p u σ).
    """

    problem: Problem
    matrix: Floats
    slack: Floats
    shrunk: Floats
    inverse: Floats | None

    @classmethod
    def at(cls, problem: Problem, matrix: Floats, slack: Floats) -> Newton:
        shrunk = matrix / (1 + slack)
        if problem.plain:
            return cls(problem, matrix, slack, shrunk, None)
        seen = matrix.shape[1] if problem.observation is None else problem.observation.shape[1]
        if problem.unknown.shape[1] * seen < matrix.size and problem.weights.min() > RARE_INPUT:
            return cls(problem, matrix, slack, shrunk, problem.low_rank(matrix, slack))
        blocks = problem.curvature(matrix)
        diagonal = slack.T.reshape(blocks.shape[0], -1)
        index = np.arange(blocks.shape[1])
        blocks[:, index, index] += diagonal + 1e-15
        return cls(problem, matrix, slack, shrunk, np.asarray(np.linalg.inv(blocks), dtype=np.float64))

    def solve(self, right: Floats) -> Floats:
        p = self.problem.weights[:, None]
        if self.inverse is None:
            inner = p * self.shrunk
            below = (inner * self.slack).sum(axis=0)
            product: Floats = self.shrunk * (right + (inner * right).sum(axis=0) * _inverse(below))
            return product
        scaled = (np.sqrt(self.matrix * p) * right).T.reshape(len(self.inverse), -1, 1)
        back = np.matmul(self.inverse, scaled).reshape(self.matrix.shape[1], -1).T
        return np.asarray(back * np.sqrt(self.matrix / p))

    def schur(self) -> Floats:
        """Return Σ_y' of K⁻¹ in the scale of √p: how changes of the rows' multipliers change the rows' sums."""
        n, m = self.matrix.shape
        if self.inverse is None:
            inner = np.sqrt(self.problem.weights)[:, None] * self.shrunk
            below = (self.problem.weights[:, None] * self.shrunk * self.slack).sum(axis=0)
            gram: Floats = (inner * _inverse(below)) @ inner.T
            gram[np.arange(n), np.arange(n)] += self.shrunk.sum(axis=1)
            return gram
        root = np.sqrt(self.matrix).T
        if self.problem.observation is None:
            gram = np.einsum("yi,yij,yj->ij", root, self.inverse, root)
        else:
            gram = np.einsum("yi,yizj,zj->ij", root, self.inverse.reshape(m, n, m, n), root)
        return gram
