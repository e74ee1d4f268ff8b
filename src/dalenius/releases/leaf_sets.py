"""Sets of leaves, many at a time, as two arrays."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from dalenius.arrays import Ints, Longs, read_only

__all__ = ["LeafSets"]


@dataclass(frozen=True, slots=True, eq=False)
class LeafSets:
    """Sets of an attribute's leaves: set v holds `members[first[v]:first[v + 1]]`, ascending."""

    first: Longs = field(repr=False)
    members: Ints = field(repr=False)
    leaves: int

    @classmethod
    def of(cls, sets: Sequence[Ints], leaves: int) -> LeafSets:
        """Lay out sets of leaf codes, each in ascending order."""
        first = np.zeros(len(sets) + 1, dtype=np.int64)
        np.cumsum([len(codes) for codes in sets], out=first[1:])
        members = np.empty(int(first[-1]), dtype=np.int32)
        for v, codes in enumerate(sets):
            members[first[v] : first[v + 1]] = np.sort(codes)
        return cls(read_only(first), read_only(members), leaves)

    def __len__(self) -> int:
        return len(self.first) - 1

    def __getitem__(self, v: int) -> Ints:
        return self.members[self.first[v] : self.first[v + 1]]
