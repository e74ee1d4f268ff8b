"""What an adversary is: it looks at a release and at what it knows of its targets, and believes something of each.

An adversary never sees the table. It says what it knows, and refuses a release that it cannot attack, with the reason.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from dalenius.belief import Belief
from dalenius.errors import InputError
from dalenius.release import Release
from dalenius.schema import Schema

UNKNOWN = -1


@dataclass(frozen=True, slots=True, eq=False)
class Targets:
    """What the adversary knows of each target: leaf codes of the quasi-identifiers, −1 where it does not know.

    `group` is the group of the release that the target is in, −1 where that is not known; most adversaries do not ask for it.
    """

    schema: Schema
    codes: NDArray[np.int32]
    group: NDArray[np.int32] | None = None

    def __post_init__(self) -> None:
        sizes = np.array([len(column.leaves) for column in self.schema.quasi])
        if self.codes.ndim != 2 or self.codes.shape[1] != len(sizes):
            raise ValueError("targets have a code for each quasi-identifier")
        if ((self.codes < UNKNOWN) | (self.codes >= sizes)).any():
            raise ValueError("a target's code is outside its column's domain")
        if self.group is not None and self.group.shape != (len(self.codes),):
            raise ValueError("every target has a group, or −1")

    def __len__(self) -> int:
        return len(self.codes)

    def without(self, *attributes: int) -> Targets:
        """The same targets, some attributes unknown."""
        codes = self.codes.copy()
        codes[:, list(attributes)] = UNKNOWN
        return Targets(self.schema, codes, self.group)


class Refused(InputError):
    """The adversary cannot attack this kind of release; the message says why."""


class Adversary(ABC):
    """One attack. `knows` and `does` are sentences for a reader of the report."""

    __slots__ = ()
    name: str
    knows: ClassVar[str]
    does: ClassVar[str]
    assumes_presence: ClassVar[bool] = True
    baseline_sums_to_one: ClassVar[bool] = True
    knows_group: ClassVar[bool] = False  # it asks in which group of the release the target is
    baseline_is_table: ClassVar[bool] = True  # the release's own shares; else something the adversary thought of

    @abstractmethod
    def refusal(self, release: Release) -> str | None:
        """Why this release cannot be attacked, or nothing."""

    @abstractmethod
    def believe(
        self, release: Release, targets: Targets, *, column: str | None = None, rng: np.random.Generator | None = None
    ) -> Belief:
        """What the adversary believes of each target's value of a sensitive column."""

    def attack(
        self, release: Release, targets: Targets, *, column: str | None = None, rng: np.random.Generator | None = None
    ) -> Belief:
        """Believe, after refusing what cannot be attacked."""
        reason = self.refusal(release)
        if reason is not None:
            raise Refused(f"{self.name} cannot attack this release: {reason}")
        return self.believe(release, targets, column=column, rng=rng)
