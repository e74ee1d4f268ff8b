"""Releases attacked together, on the terminal."""

from __future__ import annotations

from dalenius.reports.words.en import plural, targets

CONFIDENCES = {"100": "one value", "50": "two values", "33": "three values", "25": "four values"}
COUNTS = {
    "already_certain": "targets are certain from one release alone",
    "empty_intersections": (
        "targets have no value left: the releases contradict each other, or one of them does not contain the target"
    ),
    "certainly_missing": "targets certainly have no value, which does not count as a secret",
    "unlocated": "targets match no group in at least one release",
}
ALL_TOGETHER = "values left on average by all releases together"
FEWER = "of targets have fewer values left than any single release leaves (VP)"
NOT_LOCATED = "no target matches a group in"
INCOMPLETE = "Only sums over overlapping classes were subtracted; finer differences were not tested."
TRUE_VALUE_LEFT = "of targets have their true value among those left"
POPULATION = "of targets are guessed correctly from what the releases say about the population"


def head(n: int, releases: int) -> str:
    return f"{targets(n)} in {releases} releases"


def left_by(name: str) -> str:
    return f"values left on average by {name} alone"


def not_located(name: str) -> str:
    return f"{NOT_LOCATED} {name}"


def confidence(values: str, percent: str, *, at_most: bool) -> str:
    if at_most:
        return f"of targets have at most {values} left: the attacker is at least {percent} % confident"
    return f"of targets have {values} left: the attacker is {percent} % confident"


def wrong_for(share: str, name: str) -> str:
    return f"{share}% of people in {name}"


def assumption(wrong: str) -> str:
    return f"These figures assume that nobody who matches a class was suppressed, which may be wrong for {wrong}."


def in_any_case(four: str) -> str:
    return f"of targets have one value left even without that assumption, and {four}% at most four"


def between(earlier: str, later: str) -> str:
    return f"Between {earlier} and {later}"


def not_tested(pair: str, reason: str) -> str:
    return f"{pair}, differences were not tested: {reason}."


def changed(pair: str, moved: str) -> str:
    return f"{pair}, {moved}."


def exposed(n: int) -> str:
    have = "of them has" if n == 1 else "of them have"
    return (
        f"{have} only one possible value if one release is subtracted from the other, provided that no more people joined or "
        "left than that requires"
    )


def located(name: str) -> str:
    return f"of targets are found in their own group of {name}"


def guessed(low: str, high: str, confidence: str) -> str:
    return f"of targets are guessed correctly by weighing probabilities ({low} to {high}); the average confidence is {confidence}%"


# Warnings --------------------------------------------------------------------------------------------------------------------

NOT_POOLED = "Note: the releases cannot be pooled. What is learned about the population comes from the largest release."
NOT_CONVERGED = "NOT CONVERGED: the beliefs are less precise than --mcse asks for. Do not rely on them."
OVERCONFIDENT = (
    "Note: beliefs are too confident if other people in a target's groups are in several releases as well. Use --truth to "
    "compare confidence with correctness (calibration)."
)
NO_BELIEFS = "no beliefs were computed: call compose with with_beliefs or with presence"


def shared(n: int) -> str:
    return f"WARNING: for {plural(n, 'target', 'targets')}, two releases publish the same group, which is then counted twice."
