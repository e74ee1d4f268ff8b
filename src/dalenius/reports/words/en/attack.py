"""A single attack, on the terminal."""

from __future__ import annotations

from dalenius.reports.words.en import people, plural, targets

RATES = {
    "success": "in the release",
    "holdout_success": "held-out people",
    "gain": "the difference",
    "naive": "most common value",
    "random_worlds": "random worlds",
    "high_confidence": "if > 80 % confident",
    "right_group": "correct group found",
}
RATES_HEADING = "Share of people guessed correctly, with 95 % confidence interval:"
LOWER_BOUND = "a lower bound"


def written(output: object, adversary: str, n: int, unmatched: int, method: str) -> str:
    lost = f", {unmatched:,} of whom match no class" if unmatched else ""
    return f"Wrote {output}: beliefs of {adversary} about {targets(n)}{lost} ({method})"


def rated(adversary: str, column: str, method: str, conclusion: str) -> str:
    return f"{adversary} on {column} ({method}): {conclusion}"


def unknown_centroid(reason: str) -> str:
    return f"It is not known how often the nearest centroid is the correct one ({reason})."


def unknown_group(reason: str) -> str:
    return f"It is not known who is in which group ({reason}), so every row that matches a person counts."


def held_out_unmatched(n: int, total: int) -> str:
    return (
        f"{n:,} of the {total:,} held-out people match nobody in the release. The adversary guesses their values from the "
        "population."
    )


def shifted(least: float, most: float) -> str:
    return f"The most common value is {least:.1f} to {most:.1f} points rarer or more common among held-out people"


def another_population(shift: str) -> str:
    return f"{shift}. They are a different population, so this report draws no conclusion from them."


def small_shift(shift: str) -> str:
    return f"{shift}. A gain up to that is not called a leak."


def without_value(n: int) -> str:
    return f"Not counted: {people(n)} without a value."


def lower_bound(n: int, *, gain_too: bool) -> str:
    bound = "success and gain are lower bounds" if gain_too else "success is a lower bound"
    return f"{plural(n, 'person matches', 'people match')} no class, so {bound}."


def threats(column: str, lost: int) -> str:
    bounds = f" ({lost:,} match no class: the attacker's figures are lower bounds)" if lost else ""
    return f"Threats to {column}, as shares of people{bounds}:"


def rate(value: str, interval: str, n: int) -> str:
    return f"{value} ({interval}, n = {n:,})"


def interval(low: str, high: str) -> str:
    return f"{low} to {high}"
