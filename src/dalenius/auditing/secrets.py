"""What counts as a secret. A missing value does not, unless the schema says `missing_is_secret`.

Then only people who have a value are attacked. The attacker assumes that they have one, and people without one are counted
separately.
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

__all__ = ["EVERY", "NO_CODE", "Secret"]

NO_CODE = -1  # no code: every value is a secret


@dataclass(frozen=True, slots=True)
class Secret:
    """The values of a column that an attacker wants to know: all but the one with the code `missing`."""

    missing: int = NO_CODE

    @classmethod
    def of(cls, schema: Schema, column: Column) -> Secret:
        if schema.missing_is_secret or MISSING not in column.leaves:
            return cls()
        return cls(column.leaves.index(MISSING))

    def people(self, truth: Ints, people: NDArray[Any]) -> NDArray[Any]:
        """Return how many people each target stands for: nobody, where the value is missing."""
        return people if self.missing == NO_CODE else np.where(truth == self.missing, 0, people)

    def without(self, truth: Ints, people: NDArray[Any]) -> int:
        """Return how many people have no value."""
        return 0 if self.missing == NO_CODE else round(float(people[truth == self.missing].sum()))

    def counts(self, table: NDArray[Any]) -> NDArray[Any]:
        """Return how often each value occurs, with 0 for a missing value."""
        return table if self.missing == NO_CODE else np.where(np.arange(len(table)) == self.missing, 0, table)

    def without_missing(self, shares: Floats) -> Floats:
        """Return beliefs about somebody who has a value; nan where only "missing" was possible."""
        if self.missing == NO_CODE:
            return shares
        kept = shares.copy()
        kept[..., self.missing] = 0.0
        return normalised(kept)

    def answered(self, shares: Floats, otherwise: Floats) -> Floats:
        """Return the same, with another belief where only "missing" was possible."""
        answer = self.without_missing(shares)
        return (
            answer if self.missing == NO_CODE else np.where(np.isnan(answer), self.without_missing(otherwise), answer)
        )

    def chance(self, shares: Floats) -> Floats:
        """Return how likely each target is to have a value; 1 where nothing is believed about it."""
        if self.missing == NO_CODE:
            return np.ones(len(shares))
        likely: Floats = 1 - np.nan_to_num(shares[:, self.missing])
        return likely

    def believed(self, belief: Belief) -> Belief:
        """Return the same belief about somebody who has a value. Where no value is left, only the baseline remains."""
        if self.missing == NO_CODE:
            return belief
        posterior = self.without_missing(belief.posterior)
        guess = None if belief.guess is None else self.without_missing(belief.guess)
        if guess is not None:
            guess = np.where(np.isnan(guess), posterior, guess)
        shown = None if belief.unless_suppressed is None else self.without_missing(belief.unless_suppressed)
        return dataclasses.replace(
            belief,
            posterior=posterior,
            baseline=self.without_missing(belief.baseline),
            matched=belief.matched & ~np.isnan(posterior).any(axis=1),
            unless_suppressed=shown,
            guess=guess,
        )


EVERY = Secret()
