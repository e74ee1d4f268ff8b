"""The permanent of a matrix by Glynn's formula, with sign vectors in the order of a Gray code."""

from __future__ import annotations

import numpy as np
from numba import njit

from dalenius.arrays import Floats

__all__ = ["RESET_BITS", "glynn"]

RESET_BITS = 10  # the sums are computed again every 2^RESET_BITS steps, so that rounding does not add up


@njit(cache=True, nogil=True)
def glynn(matrix: Floats) -> tuple[float, float]:
    """Return the permanent, and the mean size of its terms, which shows how much they cancel.

    per(A) = 2^{1−n} Σ_δ (Π_i δ_i) Π_j Σ_i δ_i a_ij, over signs δ with δ_1 = 1 (Glynn 2010). Neighbours in a Gray code differ
    in one sign, which changes the n sums by a row each: n·2^{n−1} steps. The total is compensated (Neumaier).
    """
    n = matrix.shape[0]
    codes = 1 << (n - 1)
    step = min(codes, 1 << RESET_BITS)
    sums = np.empty(n)
    signs = np.empty(n)
    total, lost, size = 0.0, 0.0, 0.0
    for first in range(0, codes, step):
        gray = first ^ (first >> 1)
        sums[:] = matrix[0]
        sign = 1.0
        for i in range(1, n):
            signs[i] = -1.0 if (gray >> (i - 1)) & 1 else 1.0
            sign *= signs[i]
            for j in range(n):
                sums[j] += signs[i] * matrix[i, j]
        part_size = 0.0
        for code in range(first, first + step):
            if code > first:
                flipped = 1
                while not (code >> (flipped - 1)) & 1:
                    flipped += 1
                signs[flipped] = -signs[flipped]
                sign = -sign
                twice = 2.0 * signs[flipped]
                for j in range(n):
                    sums[j] += twice * matrix[flipped, j]
            term = sign
            for j in range(n):
                term *= sums[j]
            part_size += abs(term)
            after = total + term
            lost += (total - after) + term if abs(total) >= abs(term) else (term - after) + total
            total = after
        size += part_size
    return (total + lost) / codes, size / codes
