"""The types of arrays, for annotations, and what makes a shared array safe to hand out."""

from __future__ import annotations

from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

Bools = NDArray[np.bool_]
Floats = NDArray[np.float64]
Ints = NDArray[np.int32]  # codes of values
Longs = NDArray[np.int64]  # counts of people, and places in long arrays
Words = NDArray[np.uint64]  # sets of classes, 64 to a word

AnyArray = TypeVar("AnyArray", bound=NDArray[Any])

__all__ = ["Bools", "Floats", "Ints", "Longs", "Words", "read_only"]


def read_only(array: AnyArray) -> AnyArray:
    """Make an array that several callers share read-only, and return it."""
    array.setflags(write=False)
    return array
