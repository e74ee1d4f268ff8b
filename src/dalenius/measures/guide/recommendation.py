"""What a recommendation of the guide says, and the sentences that several of them share.

Entropies in the bounds are in bits, divergences in nats, as Pinsker's inequality needs them.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

__all__ = [
    "AUDIT",
    "CHECK",
    "CLASSES",
    "COUNTS_ROWS",
    "CROWDS",
    "DESIGN",
    "GRADED",
    "HAMMING",
    "INDEPENDENT",
    "KNOWS_CHANNEL",
    "KNOWS_CLASS",
    "LEARNERS",
    "NOTATION",
    "ONE_SECRET",
    "ORDER",
    "PAPER",
    "RIGHT_OR_WRONG",
    "Also",
    "Recommendation",
]


@dataclass(frozen=True, slots=True)
class Also:
    """Another command, and what it is for."""

    purpose: str
    command: str
    keys: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Recommendation:
    """A measure for a case. `keys` are those of the command's JSON document to read."""

    measure: str
    why: str
    assumes: tuple[str, ...]
    limits: tuple[str, ...]
    bounds: str
    command: str
    keys: tuple[str, ...]
    reference: str
    also: tuple[Also, ...] = ()

    @property
    def notation(self) -> dict[str, str]:
        """The signs in its bounds."""
        rest = self.bounds.replace("ΔP(y)", "ΔP")
        return {sign: meaning for sign, meaning in NOTATION.items() if sign in rest}

    def to_document(self) -> dict[str, Any]:
        """Return the recommendation as JSON has it."""
        return {
            "measure": self.measure,
            "why": self.why,
            "assumes": self.assumes,
            "limits": self.limits,
            "bounds": self.bounds,
            "notation": self.notation,
            "command": self.command,
            "keys": self.keys,
            "also": [{"purpose": step.purpose, "command": step.command, "keys": step.keys} for step in self.also],
            "reference": self.reference,
        }


# What a sign in the bounds means; whoever shows a bound shows those that occur in it.
NOTATION = {
    "P(y)": "the attacker's smallest expected loss once it has seen y; where all mistakes are alike, its chance of error.",
    "ΔP": "what seeing y saves the attacker, against the guess that it would have made without.",
    "d_max": "what the worst guess costs the attacker.",
    "TV": "total variation: half the sum of the absolute differences of two distributions.",
    "α": "the largest share that a value has in a class.",
    "nats": "natural logarithms; the document of `dalenius channel` has bits, and a bit is 0.693 nats.",
}

PAPER = "Rebollo-Monedero, Parra-Arnau, Diaz and Forné 2013, "
CHECK = "dalenius check RELEASE --json -"
AUDIT = "dalenius audit RELEASE --truth TABLE -o report.html --json report.json"
CLASSES = "dalenius channel --release RELEASE --json -"
HAMMING = "dalenius channel MATRIX --prior prior.csv --loss hamming --json -"
GRADED = "dalenius channel MATRIX --prior prior.csv --loss absolute --json -"
CROWDS = "dalenius channel --model crowds:n=10,p=0.3 --loss hamming --json -"
DESIGN = "dalenius channel MATRIX --prior prior.csv --loss {} --design {} --distortion 0.1"

RIGHT_OR_WRONG = "Only the right value is worth anything to the attacker."
KNOWS_CHANNEL = "The attacker knows how the system works and how common each value is, and draws the right conclusions."
KNOWS_CLASS = "The attacker knows that the person is in the table and in which class."
COUNTS_ROWS = "It takes every row of the class for equally likely the person's."
INDEPENDENT = "The values of the sequence are independent of each other and pass through the system one by one."
ONE_SECRET = (
    "One value that is seen several times is no sequence: all that is seen of it is one observation. What several releases "
    "give away together is told by `dalenius compose`."
)
LEARNERS = "Whoever learns from the other classes may know more than a class tells: `dalenius attack` tries that."
ORDER = "min-entropy ≤ Shannon entropy ≤ Hartley entropy, equal where all that is possible is equally likely"
