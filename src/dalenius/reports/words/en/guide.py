"""The guide, on the terminal and in the documentation."""

from __future__ import annotations

MEASURE = "Measure"
WHY = "Why it fits"
ASSUMES = "What it assumes"
LIMITS = "What it does not show"
BOUNDS = "What it says about the attacker's error"
RUN = "Run"
SOURCE = "Source"
ANY = "any"
MEASURE_COLUMN = "measure"
HEADS = {"loss_known": "known", "observations": "observed"}  # shorter than the names of the questions
ANY_MEANS = (
    "A question with `any` makes no difference there. Answer the questions to see why a measure fits and what to run."
)
QUESTION_COLUMNS = ("question", "flag", "answers")
SIGNS = "Symbols in the bounds, where y is what the attacker observes:"
ITEMS = {"assumes": "Assumes.", "limit": "Limit.", "bound": "Bound.", "run": "Run.", "source": "Source."}


def read(keys: str) -> str:
    return f"read {keys}"


def purpose(text: str) -> str:
    return f"{text}:"
