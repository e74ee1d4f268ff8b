"""Labels of charts."""

from __future__ import annotations

SHARE_CORRECT = "share of people guessed correctly"
IN_RELEASE = "in the release"
HELD_OUT = "held-out people"
MOST_COMMON = "most common value"
COUNTED = "people counted"
CLASS_SIZE = "people in the class"
PEOPLE_IN_CLASSES = "people in such classes"
CONFIDENCE = "confidence of the adversary"
CORRECT = "how often it is correct"
STUBBORNNESS = "stubbornness σ"
PEOPLE = "people"
COUNT_ERROR = "error of a count"


def log_scale(title: str) -> str:
    return f"{title} (log scale)"
