"""What an adversary is: it looks at a release and at what it knows of its targets, and believes something of each.

An adversary never sees the table. It says what it knows, and refuses a release that it cannot attack, with the reason.
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

UNKNOWN = -1


@dataclass(frozen=True, slots=True, eq=False)
class Targets:
    """What the adversary knows of each target: leaf codes of the quasi-identifiers, −1 where it does not know.

    `group` is the group of the release that the target is in, −1 where that is not known; most adversaries do not ask for it.
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
        """The same targets, some attributes unknown."""
        codes = self.codes.copy()
        codes[:, list(attributes)] = UNKNOWN
        return Targets(self.schema, codes, self.group)


class Refused(InputError):
    """The adversary cannot attack this kind of release; the message says why."""


class Adversary(ABC):
    """One attack. It describes itself: commands, audits, reports and tests go by these attributes, never by its class."""

    __slots__ = ()
    name: str  # as it is typed
    knows: ClassVar[str]  # a sentence for a reader of the report, without a full stop
    does: ClassVar[str]  # another
    needs: ClassVar[tuple[Evidence, ...]] = ("rows", "links")  # it attacks a release that offers any of this
    usual_for: ClassVar[tuple[Evidence, ...]] = ()  # `attack` takes it for such a release if nobody is named
    is_audited: ClassVar[bool] = True  # an audit plays it; else only `attack --adversary` does
    samples: ClassVar[bool] = False  # it is made with `error` and `effort`, and with `memory` and `progress` by name
    weighs_deleted: ClassVar[bool] = (
        False  # it is also made with `deleted`, the rows of the table that the release leaves out
    )
    is_relative: ClassVar[bool] = (
        False  # relative threats compare it with another: `attack` measures them along with it
    )
    assumes_presence: ClassVar[bool] = True
    knows_group: ClassVar[bool] = False  # it asks in which group of the release the target is
    baseline_sums_to_one: ClassVar[bool] = True
    baseline_is_table: ClassVar[bool] = True  # the release's own shares; else something the adversary thought of
    baseline_is_learner: ClassVar[bool] = False  # what a learner believes: an audit measures relative threats with it

    @classmethod
    def with_effort(cls, effort: Effort) -> Self:  # noqa: ARG003 - only some sample
        """The adversary for an audit; if it samples, with this effort."""
        return cls()

    def is_exact(self, release: Release, column: str) -> bool:  # noqa: ARG002 - only some sample
        """Whether it has an answer without sampling."""
        return not self.samples

    def applies(self, release: Release) -> bool:
        """Whether the release offers the evidence that this adversary needs; it may still refuse it."""
        return lacking(release, self.needs) is None

    def refusal(self, release: Release) -> str | None:
        """Why this release cannot be attacked, or nothing."""
        return lacking(release, self.needs)

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
