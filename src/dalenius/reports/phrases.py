"""Choose the phrases that several reports share: the answer of an audit, and what an attack achieves."""

from __future__ import annotations

import math
from collections.abc import Sequence

from dalenius.auditing import Audit
from dalenius.auditing.attacks import Attack
from dalenius.errors import listing
from dalenius.releases import KINDS
from dalenius.reports import numbers
from dalenius.reports.words import common as say

__all__ = [
    "answer",
    "bounded",
    "certain",
    "changed",
    "conclusion",
    "gain",
    "identifiers",
    "notes",
    "success",
    "sure",
]


def answer(audit: Audit) -> str:
    """Return what being in the release costs, as one sentence; nothing if no adversary could be tried."""
    judged = [attack for attack in audit.attacks if attack.success.n and attack.is_converged]
    if not judged:
        return _unknown_success(audit.attacks)
    compared = [attack for attack in judged if attack.gain.n and attack.is_control_converged]
    if not compared:
        best = max(judged, key=lambda attack: attack.success.value)
        shares = map(numbers.per_hundred, (best.success.value, best.naive.value))
        return "" if any(attack.gain.n for attack in judged) else say.unknown_gain(best.column, *shares)
    comparable = [attack for attack in compared if attack.comparable]
    if not comparable:
        return say.not_comparable(compared[0].column)
    for verdict in ("leaks about persons", "not enough data to say", "only about the population"):
        alike = [attack for attack in comparable if attack.verdict == verdict]
        if alike:
            return _gained(max(alike, key=lambda attack: attack.gain.value))
    return ""


def _gained(attack: Attack) -> str:
    """Return what the gain of an attack means."""
    more, low, high = map(numbers.per_hundred, (attack.gain.value, attack.gain.low, attack.gain.high))
    if attack.verdict == "leaks about persons":
        if attack.gain.low <= 0:
            return say.certain_leak(attack.column)
        return say.leak(attack.column, more, low, high, is_bound=attack.gain_lower_bound)
    sentence = say.no_leak if attack.verdict == "only about the population" else say.unclear
    return sentence(attack.column, more, low, high)


def _unknown_success(attacks: Sequence[Attack]) -> str:
    """Return how certain an adversary is, if nobody knows how often it is right."""
    unseen = [attack for attack in attacks if not attack.success.n]
    if not unseen:
        return ""
    surest = max(unseen, key=lambda attack: attack.confidence.certain)
    return say.unknown_success(surest.column, numbers.per_hundred(surest.confidence.certain))


def identifiers(audit: Audit) -> str:
    """Return the warning that the release contains identifiers; nothing if it does not."""
    names = audit.identifiers
    return say.identifiers(listing(names), len(names)) if names else ""


def bounded(text: str, is_lower_bound: bool) -> str:
    """Return a figure, marked if it is a lower bound."""
    return say.at_least(text) if is_lower_bound else text


def success(attack: Attack) -> str:
    """Return how often the adversary is right."""
    text = bounded(numbers.rate(attack.success), attack.lower_bound)
    if attack.success_assumed.value == attack.success.value:
        return text
    return say.alternatively(text, numbers.percent(attack.success_assumed.value))


def gain(attack: Attack) -> str:
    """Return what being in the release adds to the success."""
    return bounded(numbers.signed(attack.gain), attack.gain_lower_bound)


def certain(attack: Attack) -> str:
    """Return how many people's values are known for certain; nothing if that is not known."""
    if math.isnan(attack.perfect_breach):
        return ""
    text = say.certain(bounded(numbers.percent(attack.perfect_breach), attack.lower_bound))
    if attack.perfect_breach == attack.perfect_breach_sure:
        return text
    return say.assuming(text, numbers.percent(attack.perfect_breach_sure))


def sure(share: float, in_any_case: float) -> str:
    """Return a share of people, and what is left of it without the assumption about suppressed rows."""
    text = numbers.percent(share)
    return text if share == in_any_case else say.assuming(text, numbers.percent(in_any_case))


def conclusion(attack: Attack) -> str:
    """Return what the gain says; without held-out people it says nothing, however many data there are."""
    return say.NO_CONTROL if attack.control_kind == "none" else say.CONCLUSIONS[attack.verdict]


def notes(attack: Attack) -> list[str]:
    """Return what a reader must know to read the rates of an attack."""
    group = say.right_group(numbers.rate(attack.right_group)) if attack.right_group.n else ""
    missing = say.without_value(attack.missing) if attack.missing else ""
    return [text for text in (group, _unmatched(attack), missing, _shift(attack)) if text]


def _unmatched(attack: Attack) -> str:
    """Return how many people match no class, in the table and among those held out; nothing if all do."""
    parts = []
    if attack.unmatched and attack.success.n:
        parts.append(say.lost_in_table(attack.unmatched, attack.success.n))
    if attack.control_unmatched and attack.control.n:
        parts.append(say.lost_held_out(attack.control_unmatched, attack.control.n))
    if not parts:
        return ""
    bound = say.lower_bound(attack.gain.n > 0, attack.gain_lower_bound) if attack.lower_bound else ""
    return say.fit_no_class(parts, bound)


def _shift(attack: Attack) -> str:
    """Return how much the held-out people differ from the others; nothing if they do not."""
    if not attack.shift.least:
        return ""
    shift = say.shifted(100 * attack.shift.least, 100 * attack.shift.most)
    return say.small_shift(shift) if attack.comparable else say.no_control(shift)


def changed(rows: float, kind: str) -> str:
    """Return that rows of a release are not true, and how that is counted."""
    return say.changed(round(rows), kind in KINDS and "links" in KINDS[kind].offers())
