"""Sets of leaves, many at a time, as two arrays."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from dalenius.arrays import Ints, Longs, read_only


@dataclass(frozen=True, slots=True, eq=False)
class Sets:
    """Sets of an attribute's leaves: set v holds `members[first[v]:first[v + 1]]`, ascending."""

    first: Longs = field(repr=False)
    members: Ints = field(repr=False)
    leaves: int

    @classmethod
    def of(cls, sets: Sequence[Ints], leaves: int) -> Sets:
        first = np.zeros(len(sets) + 1, dtype=np.int64)
        np.cumsum([len(members) for members in sets], out=first[1:])
        found = np.empty(int(first[-1]), dtype=np.int32)
        for v, members in enumerate(sets):
            found[first[v] : first[v + 1]] = np.sort(members)
        return cls(read_only(first), read_only(found), leaves)

    def __len__(self) -> int:
        return len(self.first) - 1

    def __getitem__(self, v: int) -> Ints:
        return self.members[self.first[v] : self.first[v + 1]]
