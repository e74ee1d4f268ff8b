"""The base class of adversaries. An adversary gets a release and what it knows about its targets, and returns a belief about each.

An adversary never sees the table. It states what it knows, and refuses a release that it cannot attack, with the reason.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, Self

import numpy as np

from dalenius.adversaries.evidence import Evidence, lacking
from dalenius.arrays import Ints
from dalenius.belief import Belief
from dalenius.errors import InputError
from dalenius.releases import Release
from dalenius.schema import Schema

if TYPE_CHECKING:
    from dalenius.adversaries.models.sampling import Effort

__all__ = ["UNKNOWN", "Adversary", "Refused", "Targets"]

UNKNOWN = -1  # the code of a quasi-identifier that the adversary does not know


@dataclass(frozen=True, slots=True, eq=False)
class Targets:
    """What the adversary knows about each target: leaf codes of the quasi-identifiers, −1 where it does not know.

    `group` is the group of the release that each target is in, −1 where that is not known. Few adversaries use it.
    """

    schema: Schema
    codes: Ints
    group: Ints | None = None

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
        """Return the same targets with some attributes unknown."""
        codes = self.codes.copy()
        codes[:, list(attributes)] = UNKNOWN
        return Targets(self.schema, codes, self.group)


class Refused(InputError):
    """The adversary cannot attack this release. The message says why."""


class Adversary(ABC):
    """One attack. It describes itself: commands, audits, reports and tests use these attributes, never its class."""

    __slots__ = ()
    name: str  # as users type it
    knows: ClassVar[str]  # a sentence for the reader of a report, without a full stop
    does: ClassVar[str]  # another one
    page: ClassVar[str] = ""  # its page in docs/adversaries, if it has one
    needs: ClassVar[tuple[Evidence, ...]] = ("rows", "links")  # it attacks a release that offers any of these
    usual_for: ClassVar[tuple[Evidence, ...]] = ()  # `attack` uses it for such a release if the user names nobody
    is_audited: ClassVar[bool] = True  # an audit plays it; otherwise only `attack --adversary` does
    samples: ClassVar[bool] = False  # its constructor takes `error` and `effort`, and by name `memory` and `progress`
    weighs_deleted: ClassVar[bool] = (
        False  # its constructor takes `deleted`: rows of the table that are not in the release
    )
    is_relative: ClassVar[bool] = False  # `attack` also measures relative threats, which compare it with a learner
    assumes_presence: ClassVar[bool] = True  # it assumes that the target is in the release
    knows_group: ClassVar[bool] = False  # it uses the group of the release that the target is in
    baseline_sums_to_one: ClassVar[bool] = True
    baseline_is_table: ClassVar[bool] = True  # the shares of the release; otherwise a belief of its own
    baseline_is_learner: ClassVar[bool] = False  # what a learner believes: an audit measures relative threats with it

    @classmethod
    def with_effort(cls, effort: Effort) -> Self:  # noqa: ARG003 - only some sample
        """Return the adversary for an audit; if it samples, with this effort."""
        return cls()

    def is_exact(self, release: Release, column: str) -> bool:
        """Return whether it answers without sampling."""
        return not self.samples

    def applies(self, release: Release) -> bool:
        """Return whether the release offers evidence that this adversary needs. It may still refuse the release."""
        return lacking(release, self.needs) is None

    def refusal(self, release: Release) -> str | None:
        """Return why this adversary cannot attack the release, or None."""
        return lacking(release, self.needs)

    @abstractmethod
    def believe(
        self, release: Release, targets: Targets, *, column: str | None = None, rng: np.random.Generator | None = None
    ) -> Belief:
        """Return what the adversary believes about each target's value of a sensitive column."""

    def attack(
        self, release: Release, targets: Targets, *, column: str | None = None, rng: np.random.Generator | None = None
    ) -> Belief:
        """Return the belief about each target. Raise `Refused` for a release that cannot be attacked."""
        reason = self.refusal(release)
        if reason is not None:
            raise Refused(f"{self.name} cannot attack this release: {reason}")
        return self.believe(release, targets, column=column, rng=rng)
