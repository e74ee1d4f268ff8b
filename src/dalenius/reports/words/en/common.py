"""Words that several reports share."""

from __future__ import annotations

from collections.abc import Mapping

from dalenius.reports.words.en import people, plural, sentence

VERDICTS = {
    "passed": "The release satisfies the policy.",
    "violated": "The release violates the policy.",
    "incomplete": "No threshold that was tested is violated, but some could not be tested.",
    "none": "The policy sets no thresholds, so this report gives figures without a verdict.",
}
# What the verdict of an attack means; the keys are those of the JSON report.
CONCLUSIONS = {
    "leaks about persons": "leaks information about individuals",
    "only about the population": "reveals population patterns only",
    "not enough data to say": "not enough data to tell",
}
NO_CONTROL = "no held-out people given"

# Relative threats, by their keys in the JSON report.
THREATS = {
    "GT_A": "people guessed correctly by the attacker, who knows that they are in the release",
    "GT_L": "people guessed correctly by the learner, who learns from the release but treats them as outside it",
    "RGT_A": "the difference: what being in the release adds",
    "GT_RW": "people guessed correctly by random worlds, which learns nothing",
    "ideal_accuracy": "people guessed correctly by a learner who has the original table",
    "baseline_accuracy": "people who have the most common value",
    "log2_Ti_above_1": "people guessed correctly by the attacker with at least twice the learner's confidence",
}
MAX_RATIO = "how many times as confident as the learner the attacker is, for the most exposed person"
FAITHFUL = "how faithful the release is to the table: 1 means that a learner learns the same from both"

ASSUMING = "if nobody who fits a class is suppressed"
UPPER_BOUND = (
    "These are upper bounds: a person may also match rows of other classes, or may not be in the class that they match."
)
NOT_CONVERGED = "not converged"

REPEAT = "How to repeat this"
REPEAT_COLUMNS = ("Item", "Value")
SEED = "seed"
PROGRAM = "dalenius"
WARNING = "WARNING"
PARAMETER = "A parameter, not measured."  # in the JSON schema


def described(text: str) -> str:
    """A description in the JSON schema."""
    return sentence(text)


def at_least(text: str) -> str:
    return f"at least {text}"


def assuming(text: str, in_any_case: str) -> str:
    return f"{text} {ASSUMING} ({in_any_case} in any case)"


def alternatively(text: str, assumed: str) -> str:
    return f"{text}, {assumed} {ASSUMING}"


def certain(share: str) -> str:
    return f"certain and correct for {share}"


def fit_no_class(parts: list[str], bound: str) -> str:
    return f"match no class: {', '.join(parts)}{bound}"


def lost_in_table(lost: int, n: int) -> str:
    return f"{lost:,} of {people(n)} in the table"


def lost_held_out(lost: int, n: int) -> str:
    return f"{lost:,} of {plural(n, 'held-out person', 'held-out people')}"


def lower_bound(has_gain: bool, gain_too: bool) -> str:
    if not has_gain:
        return "; success is a lower bound"
    return "; success and gain are lower bounds" if gain_too else "; success is a lower bound, gain is not"


def without_value(n: int) -> str:
    return f"not counted: {people(n)} without a value"


def shifted(least: float, most: float) -> str:
    return f"the most common value is {least:.1f} to {most:.1f} points rarer or more common among held-out people"


def no_control(shift: str) -> str:
    return f"{shift}, so they cannot serve as a control"


def small_shift(shift: str) -> str:
    return f"{shift}; a gain up to that is not called a leak"


def right_group(rate: str) -> str:
    return f"finds the correct group for {rate} of people"


def changed(rows: int, links_cut: bool) -> str:
    """That rows of a release are not true, and how that is counted."""
    fits = "have quasi-identifiers that nobody has" if links_cut else "match nobody who has their sensitive values"
    return sentence(
        f"at least {plural(rows, 'row was', 'rows were')} changed: they {fits}. Loss, NCP and precision count "
        "changed cells as suppressed"
    )


def moved(difference: Mapping[str, int]) -> str:
    """How many people are in only one of two releases."""
    counts = [(difference[key], verb) for key, verb in (("joined", "joined"), ("left", "left")) if difference[key]]
    parts = [f"{n:,} {verb}" if i else f"{people(n)} {verb}" for i, (n, verb) in enumerate(counts)]
    return f"at least {' and '.join(parts)}"


# The answer: what being in the release costs, in natural frequencies -------------------------------------------------------


def leak(column: str, more: str, low: str, high: str, *, is_bound: bool) -> str:
    return (
        f"Being in the release lets an attacker guess {column} correctly for {'at least ' if is_bound else ''}about {more} "
        f"more people in 100 (95 % confidence interval: {low} to {high})."
    )


def certain_leak(column: str) -> str:
    return (
        f"Being in the release exposes individuals: an attacker is certain of {column}, and correct, for significantly more "
        "people in the release than outside it."
    )


def no_leak(column: str, more: str, low: str, high: str) -> str:
    return (
        f"Being in the release makes little or no difference: the number of people whose {column} an attacker guesses "
        f"correctly changes by about {more} in 100 (95 % confidence interval: {low} to {high})."
    )


def unclear(column: str, more: str, low: str, high: str) -> str:
    return (
        f"The data do not show whether being in the release helps an attacker: the number of people whose {column} is guessed "
        f"correctly changes by about {more} in 100 (95 % confidence interval: {low} to {high})."
    )


def not_comparable(column: str) -> str:
    return (
        f"The held-out people differ too much from those in the release in {column}, so this report cannot say what being in "
        "the release costs."
    )


def unknown_gain(column: str, right: str, naive: str) -> str:
    return (
        f"An attacker guesses {column} correctly for about {right} people in 100; always guessing the most common value is "
        f"correct for {naive}. Without held-out people (--holdout), this report cannot say how much of that is due to being in "
        "the release."
    )


def unknown_success(column: str, certain: str) -> str:
    return (
        f"An attacker is certain of {column} for about {certain} people in 100. Without the original table (--truth), this "
        "report cannot say how often an attacker is right."
    )


def identifiers(names: str, n: int) -> str:
    columns = "an identifier column" if n == 1 else "identifier columns"
    return f"The release still contains {columns}: {names}. Anyone who reads the release can name the people in it."
