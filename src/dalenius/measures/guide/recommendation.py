"""The recommendations of the guide, and the sentences that several of them share.

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
    """Another command and its purpose."""

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
        """Return the symbols in the bounds, with their meaning."""
        rest = self.bounds.replace("ΔP(y)", "ΔP")
        return {sign: meaning for sign, meaning in NOTATION.items() if sign in rest}

    def to_document(self) -> dict[str, Any]:
        """Return the recommendation as a JSON document."""
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


# The meaning of each symbol in the bounds. Code that shows a bound also shows the symbols that occur in it.
NOTATION = {
    "P(y)": "the attacker's smallest expected loss after it has seen y. If all mistakes are equal, its probability of error.",
    "ΔP": "how much seeing y reduces the attacker's loss, compared with the guess it would have made without seeing y.",
    "d_max": "the attacker's loss with the worst guess.",
    "TV": "total variation: half the sum of the absolute differences of two distributions.",
    "α": "the largest share of any value in a class.",
    "nats": "natural logarithms. The JSON of `dalenius channel` uses bits; a bit is 0.693 nats.",
}

PAPER = "Rebollo-Monedero, Parra-Arnau, Diaz and Forné 2013, "
CHECK = "dalenius check RELEASE --json -"
AUDIT = "dalenius audit RELEASE --truth TABLE -o report.html --json report.json"
CLASSES = "dalenius channel --release RELEASE --json -"
HAMMING = "dalenius channel MATRIX --prior prior.csv --loss hamming --json -"
GRADED = "dalenius channel MATRIX --prior prior.csv --loss absolute --json -"
CROWDS = "dalenius channel --model crowds:n=10,p=0.3 --loss hamming --json -"
DESIGN = "dalenius channel MATRIX --prior prior.csv --loss {} --design {} --distortion 0.1"

RIGHT_OR_WRONG = "Only the correct value is useful to the attacker."
KNOWS_CHANNEL = (
    "The attacker knows how the system works and how common each value is, and draws the correct conclusions."
)
KNOWS_CLASS = "The attacker knows that the person is in the table, and in which class."
COUNTS_ROWS = "The attacker assumes that every row of the class is equally likely to be the person's."
INDEPENDENT = "The values of the sequence are independent of each other and pass through the system one at a time."
ONE_SECRET = (
    "A value that is observed several times is not a sequence: everything seen about it is one observation. To see what "
    "several releases reveal together, run `dalenius compose`."
)
LEARNERS = (
    "An attacker who learns from the other classes may know more than one class reveals. `dalenius attack` tests this."
)
ORDER = "Min-entropy ≤ Shannon entropy ≤ Hartley entropy. They are equal if everything possible is equally likely"
