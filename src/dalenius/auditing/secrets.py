"""What counts as a secret. That a value is missing does not, unless the schema says `missing_is_secret`.

Then an attack is on people who have a value: the attacker takes that for granted, and those without one are counted apart.
"""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dalenius.arrays import Floats, Ints
from dalenius.belief import Belief, normalised
from dalenius.hierarchy import MISSING
from dalenius.schema import Column, Schema

NONE = -1  # no code: every value is a secret


@dataclass(frozen=True, slots=True)
class Secret:
    """The values of a column that an attacker wants to know: all but the one with the code `missing`."""

    missing: int = NONE

    @classmethod
    def of(cls, schema: Schema, column: Column) -> Secret:
        if schema.missing_is_secret or MISSING not in column.leaves:
            return cls()
        return cls(column.leaves.index(MISSING))

    def people(self, truth: Ints, people: NDArray[Any]) -> NDArray[Any]:
        """How many persons each target stands for: nobody, where the value is missing."""
        return people if self.missing == NONE else np.where(truth == self.missing, 0, people)

    def without(self, truth: Ints, people: NDArray[Any]) -> int:
        """How many persons have no value."""
        return 0 if self.missing == NONE else round(float(people[truth == self.missing].sum()))

    def counts(self, table: NDArray[Any]) -> NDArray[Any]:
        """How often each value occurs: 0 times, where it is missing."""
        return table if self.missing == NONE else np.where(np.arange(len(table)) == self.missing, 0, table)

    def given(self, shares: Floats) -> Floats:
        """Beliefs about somebody who has a value; nan where only "missing" was held possible."""
        if self.missing == NONE:
            return shares
        kept = shares.copy()
        kept[..., self.missing] = 0.0
        return normalised(kept)

    def answered(self, shares: Floats, otherwise: Floats) -> Floats:
        """The same, and another belief where only "missing" was held possible."""
        found = self.given(shares)
        return found if self.missing == NONE else np.where(np.isnan(found), self.given(otherwise), found)

    def chance(self, shares: Floats) -> Floats:
        """How likely each target is to have a value; nobody knows it of one of whom nothing is believed."""
        if self.missing == NONE:
            return np.ones(len(shares))
        found: Floats = 1 - np.nan_to_num(shares[:, self.missing])
        return found

    def believed(self, belief: Belief) -> Belief:
        """The same belief about somebody who has a value. Where it leaves none, the baseline is what remains."""
        if self.missing == NONE:
            return belief
        posterior = self.given(belief.posterior)
        guess = None if belief.guess is None else self.given(belief.guess)
        if guess is not None:
            guess = np.where(np.isnan(guess), posterior, guess)
        shown = None if belief.unless_suppressed is None else self.given(belief.unless_suppressed)
        return dataclasses.replace(
            belief,
            posterior=posterior,
            baseline=self.given(belief.baseline),
            matched=belief.matched & ~np.isnan(posterior).any(axis=1),
            unless_suppressed=shown,
            guess=guess,
        )


EVERY = Secret()
