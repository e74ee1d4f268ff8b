"""Numbers and terms as a reader sees them, in every report alike."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from dalenius.auditing.attacks import Attack
from dalenius.errors import counted
from dalenius.measures.accuracy import Rate

VERDICTS = {
    "passed": "The release satisfies the policy.",
    "violated": "The release violates the policy.",
    "incomplete": "Nothing tested violates the policy, but not every threshold could be tested.",
    "none": "No thresholds were set: here are the values, without a verdict.",
}

THREATS = {
    "GT_A": "people whose value the attacker guesses right: it knows that they are in the release",
    "GT_L": "people whose value the learner guesses right: it learns from the release, and takes them for others like those in it",
    "RGT_A": "what being in the release adds",
    "GT_RW": "people whose value random worlds guesses right: it learns nothing",
    "ideal_accuracy": "people whose value is guessed right by a learner who has the table itself",
    "baseline_accuracy": "people who have the commonest value",
    "log2_Ti_above_1": "people whom the attacker guesses right and is at least twice as sure of as the learner",
}
OF_ATTACKER = ("GT_A", "GT_RW")  # lower bounds where people fit no class
ASSUMING = "if nobody who fits a class is suppressed"
MOST_GIVEN_AWAY = "how many times as sure as the learner the attacker is of the person most given away"
UPPER_BOUND = "upper bounds: a person may fit rows of other classes, too, or may not be in the class that they fit"
FAITHFUL = "how faithful the release is to the table: 1, and the learner learns the same from both"


def number(value: float) -> str:
    if math.isnan(value):
        return "undefined"
    value = 0.0 if abs(value) < 1e-12 else value  # what rounding leaves
    return (
        "infinite"
        if math.isinf(value)
        else f"{value:.4g}"
        if abs(value) < 1000 or abs(value) >= 1e15
        else f"{value:,.0f}"
    )


def changed(rows: float, kind: str) -> str:
    """That rows of a release say what is not true, and how that counts."""
    fits = (
        "have quasi-identifiers that nobody has"
        if kind == "anatomized"
        else "fit nobody who has their sensitive values"
    )
    return (
        f"at least {counted(round(rows), 'row was', 'rows were')} changed: they {fits}. Loss, NCP and precision count changed "
        "cells as suppressed ones"
    )


def sentence(text: str) -> str:
    """With a capital letter and a full stop."""
    return f"{text[:1].upper()}{text[1:]}."


def percent(value: float) -> str:
    """A share; one that is small but not nothing must not look like nothing."""
    if math.isnan(value):
        return "–"
    return "<0.1%" if 0 < value < 0.0005 else f"{value:.1%}"


def rate(found: Rate) -> str:
    """A share with its interval."""
    return "–" if found.n == 0 else f"{found.value:.1%} ({found.low:.1%} to {found.high:.1%})"


def signed(found: Rate) -> str:
    """A difference of shares in points, with its interval."""
    if found.n == 0:
        return "–"
    return f"{100 * found.value:+.1f} points ({100 * found.low:+.1f} to {100 * found.high:+.1f})"


def success(found: Attack) -> str:
    """How often the adversary is right."""
    text = at_least(found.lower_bound, rate(found.success))
    if found.success_assumed.value == found.success.value:
        return text
    return f"{text}, {percent(found.success_assumed.value)} {ASSUMING}"


def gain(found: Attack) -> str:
    """What being in the release adds."""
    return at_least(found.gain_lower_bound, signed(found.gain))


def at_least(lower_bound: bool, shown: str) -> str:
    return f"at least {shown}" if lower_bound else shown


def certain(found: Attack) -> str:
    """How many people's values are known for certain; nothing where that is not told."""
    if math.isnan(found.perfect_breach):
        return ""
    text = f"certain, and right, of {at_least(found.lower_bound, percent(found.perfect_breach))}"
    if found.perfect_breach == found.perfect_breach_sure:
        return text
    return f"{text} {ASSUMING} ({percent(found.perfect_breach_sure)} in any case)"


def sure(certain: float, in_any_case: float) -> str:
    """The same where nobody knows who is right."""
    text = percent(certain)
    return text if certain == in_any_case else f"{text} {ASSUMING} ({percent(in_any_case)} in any case)"


def verdict(found: Attack) -> str:
    """What the gain says; without held-out people there is none, however many data there are."""
    return "no hold-out given" if found.control_kind == "none" else found.verdict


def unmatched(found: Attack) -> str:
    """How many people fit nowhere, in the table and among those held out; nothing where all fit."""
    told = [
        f"{lost:,} of {counted(n, 'person', 'people')} {where}"
        for lost, n, where in (
            (found.unmatched, found.success.n, "of the table"),
            (found.control_unmatched, found.control.n, "held out"),
        )
        if lost and n
    ]
    if not told:
        return ""
    bound = ""
    if found.lower_bound:
        gain = "" if not found.gain.n else ", and so is the gain" if found.gain_lower_bound else ", the gain none"
        bound = f"; success is a lower bound{gain}"
    return f"fit no class: {', '.join(told)}{bound}"


def no_value(found: Attack) -> str:
    """How many people have nothing to guess; nothing where all have."""
    return f"not counted: {counted(found.missing, 'person', 'people')} without a value" if found.missing else ""


def unlike(found: Attack) -> str:
    """How far the held-out people are from being a control; nothing where they are one."""
    if not found.shift.least:
        return ""
    least, most = 100 * found.shift.least, 100 * found.shift.most
    differ = f"the commonest value is {least:.1f} to {most:.1f} points rarer or commoner among the held-out people"
    return f"{differ}: no control" if not found.comparable else f"{differ}; a gain up to that is not called a leak"


def notes(found: Attack) -> list[str]:
    """What has to be known to read the rates of an attack."""
    return [text for text in (right_group(found), unmatched(found), no_value(found), unlike(found)) if text]


def right_group(found: Attack) -> str:
    """How often whoever goes to the nearest centroid finds the person's own group, where that is known."""
    return f"finds the right group for {rate(found.right_group)} of the people" if found.right_group.n else ""


def plus_minus(error: float | None) -> str:
    """A Monte-Carlo error of a share, where there is one."""
    return f" ± {error:.2%}" if error else ""


def moved(difference: Mapping[str, Any]) -> str:
    """How many people are in only one of two releases, at least."""
    text = " and ".join(f"{difference[key]:,} {key}" for key in ("joined", "left") if difference[key])
    first = next((difference[key] for key in ("joined", "left") if difference[key]), 0)
    return f"at least {text.replace(' ', ' person ' if first == 1 else ' people ', 1)}"
