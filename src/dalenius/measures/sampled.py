"""A channel known from samples only, and the error of figures computed from them.

A protocol that is run or simulated gives pairs (x, y). Their frequencies are all that is known about p(x, y). Average privacy
(Rebollo-Monedero et al. 2013, equation 4) has an interval that holds whatever the channel is; the worst case has none.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from dalenius.arrays import Longs
from dalenius.errors import InputError, ParameterError, listing
from dalenius.measures.loss import Loss
from dalenius.releases import Channel

__all__ = ["GRADED", "LIMITS", "MAX_SAMPLES", "Estimated", "estimated", "from_samples"]

LIMITS = (
    "Of worst-case privacy, δ-disclosure and ε samples tell nothing that is sure: each depends on pairs that are too rare to "
    "be seen, and one that was not seen may be impossible or only rare. They need the channel's probabilities."
)
GRADED = "The interval is about the values that were seen: one that never came may cost more than any of them."
MAX_SAMPLES = 1_000_000_000  # samples: as many as can be split at random


@dataclass(frozen=True, slots=True)
class Estimated:
    """Figures of a sampled channel. `privacy` is on average too low; `low` to `high` has the true one with `confidence`."""

    samples: int
    confidence: float
    # The attacker's average error, of the shares in the sample in place of probabilities.
    privacy: float
    low: float
    high: float
    # The error of an estimator that was learned on one half of the sample, in the other.
    tried: float
    # I(X; Y) in bits: of the shares, with the correction of Miller 1955 and Madow, and its asymptotic standard error, which is
    # of no use where X and Y are nearly independent (the error is not normal there).
    information: float
    information_corrected: float
    information_error_asymptotic: float
    limits: str = LIMITS


def from_samples(counts: Longs, values: Sequence[str], outputs: Sequence[str]) -> Channel:
    """Return the channel of the shares: `counts[x, y]` pairs were seen. The prior is how often each x was."""
    counts = _checked(counts, "from_samples")
    if counts.shape != (len(values), len(outputs)):
        raise InputError(
            f"There are {len(values)} values and {len(outputs)} outputs, but counts of shape {counts.shape}."
        )
    each = counts.sum(axis=1)
    unseen = [value for value, count in zip(values, each, strict=True) if count == 0]
    if unseen:
        raise InputError(
            f"No sample has the value {listing(map(repr, unseen))}: its outputs cannot be estimated. Draw samples of it, or "
            "leave it out."
        )
    return Channel(tuple(values), tuple(outputs), counts / each[:, None], each / each.sum())


def estimated(
    counts: Longs, loss: Loss, *, confidence: float = 0.95, complete: bool = True, rng: np.random.Generator
) -> Estimated:
    """Estimate average privacy and mutual information from `counts[x, y]` independent pairs, with errors.

    Write F(p) = Σ_y min_e Σ_x p(x, y) d(x, e), so that privacy is P = F(p) and the plug-in P̂ = F(p̂), and α = 1 − confidence.

    The lower end, P̂ − d_max √(ln(2/α)/(2n)). F is a minimum of linear functions, so concave, and E P̂ ≤ F(E p̂) = P (Jensen).
    One sample more in column y raises n·min_e by at least 0, for losses are ≥ 0, and by at most d_max: keep the best e of
    before. Replacing a sample takes one away and adds one, and so moves P̂ by at most d_max/n. McDiarmid's inequality:
    Pr[P̂ − E P̂ ≥ t] ≤ exp(−2nt²/d_max²), which is α/2 at that t; else P ≥ E P̂ > P̂ − t.

    The upper end. An estimator learned on one half has an error ≥ P, for no estimator is better than the Bayes one; in the
    other half its mean loss is a mean of independent numbers in [0, d_max], so it is at most d_max √(ln(2/α)/(2 n_test))
    below that error but with probability α/2 (Hoeffding). What was not seen in learning is met with the best guess without
    an observation. Both ends stay between 0 and what a guess without any observation costs at most.

    `complete` says that the values of the loss are all there are. If not, a value that never came may be the truth: with
    Hamming loss the error may be up to 1, and with a graded one the interval is about the values that are known.
    """
    counts = _checked(counts, "estimated")
    if isinstance(confidence, bool) or not isinstance(confidence, int | float | np.floating) or not 0 < confidence < 1:
        raise ParameterError("confidence", "estimated", "a number > 0 and < 1", confidence)
    if len(loss.matrix) != len(counts):
        raise InputError(f"The loss is of {len(loss.matrix)} values, and the counts of {len(counts)}.")
    n = int(counts.sum())
    if not 2 <= n <= MAX_SAMPLES:
        raise InputError(
            f"From 2 to {MAX_SAMPLES:,} samples are needed, one half to learn from and one to try; there are {n:,}."
        )
    privacy = _plug_in(counts, loss)
    # A guess e costs at most max_x d(x, e); one drawn at random from all of them at most max_x of the mean over e.
    ceiling = min(float(loss.matrix.max(axis=0).min()), float(loss.matrix.mean(axis=1).max()))
    largest, limits = loss.largest, LIMITS
    if not complete:
        largest = ceiling = max(largest, 1.0) if loss.name == "hamming" else largest
        limits = LIMITS if loss.name == "hamming" else f"{LIMITS} {GRADED}"
    tried, trials = _tried(counts, loss, rng)
    margin = largest * math.sqrt(math.log(2 / (1 - confidence)) / 2)
    low = max(0.0, privacy - margin / math.sqrt(n))
    high = min(ceiling, tried + margin / math.sqrt(trials))
    information, corrected, error = _information(counts)
    return Estimated(n, float(confidence), privacy, low, max(low, high), tried, information, corrected, error, limits)


def _checked(counts: Longs, owner: str) -> Longs:
    table = np.asarray(counts)
    if table.ndim != 2 or not np.issubdtype(table.dtype, np.integer) or table.size == 0 or (table < 0).any():
        raise ParameterError("counts", owner, "a matrix of ints ≥ 0", f"{table.dtype} of shape {table.shape}")
    if not table.any():
        raise InputError("There are no samples: all counts are 0.")
    return table.astype(np.int64)


def _plug_in(counts: Longs, loss: Loss) -> float:
    seen = counts.sum(axis=0)
    occurs = seen > 0
    beliefs = (counts[:, occurs] / seen[occurs]).T
    return float(seen[occurs] @ loss.best(beliefs)) / float(seen.sum())


def _tried(counts: Longs, loss: Loss, rng: np.random.Generator) -> tuple[float, int]:
    """Return the mean loss in a random half of an estimator that was learned on the other half, and how many it was tried on."""
    n = int(counts.sum())
    learned = rng.multivariate_hypergeometric(counts.ravel(), n // 2, method="marginals").reshape(counts.shape)
    rest = counts - learned
    trials = rest.sum(axis=0)
    met = trials > 0
    seen = learned.sum(axis=0)[met]
    beliefs = np.where(seen > 0, learned[:, met] / np.maximum(seen, 1), (learned.sum(axis=1) / (n // 2))[:, None]).T
    truths = (rest[:, met] / trials[met]).T
    total = n - n // 2
    return float(trials[met] @ loss.error_of(truths, beliefs)) / total, total


def _information(counts: Longs) -> tuple[float, float, float]:
    """Return I(X; Y) of the shares in bits, corrected, and the standard error sd(log2 p(x,y)/(p(x)p(y)))/√n.

    Miller and Madow: the entropy of shares is too low by about (m − 1)/(2n) nats, m the number of values that occur; of
    I = H(X) + H(Y) − H(X, Y) that is ((m_x − 1) + (m_y − 1) − (m_xy − 1))/(2n). Information is never below 0.
    """
    n = counts.sum()
    rows, columns = counts.sum(axis=1), counts.sum(axis=0)
    x, y = np.nonzero(counts)
    share = counts[x, y] / n
    density = np.log2(share) - np.log2(rows[x] / n) - np.log2(columns[y] / n)
    information = float(share @ density)
    error = math.sqrt(float(share @ (density - information) ** 2) / n)
    extra = int((rows > 0).sum()) + int((columns > 0).sum()) - len(x) - 1
    corrected = information + extra / (2 * int(n) * math.log(2))
    most = math.log2(min(len(set(x.tolist())), len(set(y.tolist()))))  # the largest possible value
    return max(0.0, information), min(max(0.0, corrected), most), error
