"""Degrees of anonymity of a message's sender, as defined in the literature on anonymous communication.

The measures that Rebollo-Monedero et al. (2013, section II-A) survey. Each is computed from what an attacker believes about
the sender, for every possible observation.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from scipy.sparse import csr_array
from scipy.sparse.csgraph import structural_rank

from dalenius.arrays import Floats
from dalenius.errors import InputError
from dalenius.kernels.permanent import glynn
from dalenius.measures.entropy import effective_size, renyi
from dalenius.measures.observed import Observed

__all__ = ["MAX_ROWS", "ORDERS", "SUM_TOLERANCE", "Degrees", "degrees", "edman_degree", "permanent"]

ORDERS = (0.0, 0.5, 1.0, 2.0, math.inf)
MAX_ROWS = 24  # rows of a matrix whose permanent is computed: each row more doubles the time
SUM_TOLERANCE = (
    5e-7  # for each entry: sums this close to 1 are 1, as those of probabilities printed with six digits are
)
_ROUND = 2.0**-52


@dataclass(frozen=True, slots=True)
class Degrees:
    """Entropies in bits: `average` is over observations, `smallest` and `worst` are of the most revealing one."""

    # Everybody who is a value of the unknown, likely or not.
    users: int
    # Reiter and Rubin 1998: 1 − p of the user that is suspected most.
    reiter_rubin_average: float
    reiter_rubin_worst: float
    # Berthold, Pfitzmann and Standtke 2000: log2 n, whatever is observed.
    berthold: float
    # Serjantov and Danezis 2002: Shannon's entropy of the belief, and 2^H, the effective size of the anonymity set.
    serjantov_danezis_average: float
    serjantov_danezis_smallest: float
    effective_size_average: float  # 2^ of the average entropy
    effective_size_smallest: float
    # Diaz, Seys, Claessens and Preneel 2002: H/log2 n, from 0 to 1; 0 where there is one user only.
    diaz_average: float
    diaz_smallest: float
    # Tóth, Hornák and Vajda 2004: Θ, the largest probability that any user is ever given, and what is left to the user who is
    # worst off: −log2 Θ, the smallest min-entropy, and the smallest max-entropy (log2 of how many may have sent it).
    toth_theta: float
    toth_min_entropy: float
    toth_max_entropy: float
    # Clauß and Schiffner 2006: Rényi's entropy by its order, each the mean over observations.
    clauss_schiffner: dict[float, float]
    # Edman, Sivrikaya and Yener 2007: log per(A)/log(n!/nⁿ), or None and the reason why there is none.
    edman: float | None
    edman_reason: str | None


def degrees(observed: Observed) -> Degrees:
    """Return all of them. Edman's takes the channel's matrix for that of messages sent and received one to one."""
    n = len(observed.values)
    most = observed.posterior.max(axis=1)
    shannon = renyi(observed.posterior, 1.0)
    theta = float(most.max())
    normalised = np.minimum(shannon / math.log2(n), 1.0) if n > 1 else np.zeros_like(shannon)
    edman, reason = _edman(observed)
    return Degrees(
        users=n,
        reiter_rubin_average=observed.average(1 - most),
        reiter_rubin_worst=1 - theta,
        berthold=math.log2(n),
        serjantov_danezis_average=observed.average(shannon),
        serjantov_danezis_smallest=float(shannon.min()),
        effective_size_average=float(effective_size(observed.average(shannon))),
        effective_size_smallest=float(effective_size(float(shannon.min()))),
        diaz_average=observed.average(normalised),
        diaz_smallest=float(normalised.min()),
        toth_theta=theta,
        toth_min_entropy=float(renyi(observed.posterior, math.inf).min()),
        toth_max_entropy=float(renyi(observed.posterior, 0.0).min()),
        clauss_schiffner={order: observed.average(renyi(observed.posterior, order)) for order in ORDERS},
        edman=edman,
        edman_reason=reason,
    )


def edman_degree(matrix: Floats) -> float:
    """Return log per(A)/log(n!/nⁿ) of a doubly stochastic matrix (Edman, Sivrikaya and Yener 2007); 0 for one user.

    1 where every matching of senders and messages is as likely as every other (n!/nⁿ is the least that the permanent can be:
    van der Waerden), 0 where one is certain. A[i, j] is the probability that message j is of sender i.
    """
    reason = _not_doubly_stochastic(np.asarray(matrix, dtype=np.float64))
    if reason is not None:
        raise InputError(f"Edman's degree is of a doubly stochastic matrix: {reason}.")
    n = len(matrix)
    value = permanent(matrix)
    if n == 1:
        return 0.0
    least = math.lgamma(n + 1) - n * math.log(n)
    return min(1.0, max(0.0, math.log(value) / least))


def permanent(matrix: Floats) -> float:
    """Return Σ over permutations π of Π_i a_{iπ(i)}, by Glynn's formula: n·2^{n−1} steps, so n ≤ 24 (a quarter of a second).

    Columns and rows are scaled by powers of two, which is exact, and the product of the powers multiplied back. Terms of both
    signs cancel: measured against exact fractions, the relative error of doubly stochastic matrices is below 10⁻¹² (uniform,
    n = 24: 7·10⁻¹³). Where so much cancels that six digits are not to be trusted, it is refused.
    """
    a = np.array(matrix, dtype=np.float64)
    if a.ndim != 2 or a.shape[0] != a.shape[1] or len(a) == 0:
        raise InputError(f"Only a square matrix has a permanent; this one has shape {a.shape}.")
    if not np.isfinite(a).all():
        raise InputError("The matrix has an entry that is not a number.")
    n = len(a)
    if n > MAX_ROWS:
        raise InputError(
            f"The permanent of a matrix of {n} rows takes {n}·2^{n - 1} steps; at most {MAX_ROWS} rows are computed."
        )
    powers = 0
    for axis in (1, 0):
        largest = np.abs(a).max(axis=axis, keepdims=True)
        if (largest == 0).any():
            return 0.0
        exponent = np.frexp(largest)[1]
        a = np.ldexp(a, -exponent)
        powers += int(exponent.sum())
    if structural_rank(csr_array(a != 0)) < n:
        return 0.0  # every product has a factor 0, which terms that cancel would not show
    value, size = glynn(a)
    if abs(value) < size * n * _ROUND * 1e6:
        raise InputError(
            f"The terms of the permanent cancel: their mean size is {size:.3g} and the sum {value:.3g} (scaled), so that less "
            "than six digits of it are sure."
        )
    try:
        return math.ldexp(value, powers)
    except OverflowError:
        raise InputError("The permanent is larger than the largest number; scale the matrix down.") from None


def _edman(observed: Observed) -> tuple[float | None, str | None]:
    n = len(observed.values)
    if len(observed.observations) != n:
        return None, f"there are {n} users and {len(observed.observations)} observations, and as many are needed"
    if (np.abs(observed.prior * n - 1) > SUM_TOLERANCE * n).any():
        return None, "the users are not equally likely to send"
    # With a uniform prior, p(y|x) = n p(y) p(x|y).
    matrix = observed.joint * n
    reason = _not_doubly_stochastic(matrix)
    if reason is None and n > MAX_ROWS:
        reason = (
            f"the permanent of a matrix of {n} rows takes {n}·2^{n - 1} steps; at most {MAX_ROWS} rows are computed"
        )
    return (None, reason) if reason is not None else (edman_degree(matrix), None)


def _not_doubly_stochastic(matrix: Floats) -> str | None:
    """Return why a matrix is not, or None."""
    if matrix.ndim != 2 or matrix.shape[0] != matrix.shape[1] or len(matrix) == 0:
        return f"the matrix has shape {matrix.shape}, and is not square"
    if not np.isfinite(matrix).all() or (matrix < 0).any():
        return "an entry is below 0 or no number"
    for axis, name in ((1, "row"), (0, "column")):
        sums = matrix.sum(axis=axis)
        off = int(np.abs(sums - 1).argmax())
        if abs(sums[off] - 1) > SUM_TOLERANCE * len(matrix) + 1e-12:
            return f"{name} {off + 1} sums to {sums[off]:.6g}, and all have to sum to 1"
    return None
