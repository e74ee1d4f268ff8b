"""The types of arrays, for annotations."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Bools = NDArray[np.bool_]
Floats = NDArray[np.float64]
Ints = NDArray[np.int32]  # codes of values
Longs = NDArray[np.int64]  # counts of people, and places in long arrays
Words = NDArray[np.uint64]  # sets of classes, 64 to a word

__all__ = ["Bools", "Floats", "Ints", "Longs", "Words"]
