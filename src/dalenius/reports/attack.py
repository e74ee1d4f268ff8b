"""An attack as terminal text: where the beliefs are, how often the adversary is right, and how threatened people are."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from dalenius.auditing.attacking import Rated, ReleaseAttack
from dalenius.errors import counted

_WORDS = {
    "GT_A": "guessed right by the attacker",
    "GT_L": "guessed right by the learner, from the release but as if not in it",
    "RGT_A": "what being in the release adds",
    "GT_RW": "guessed right by random worlds",
    "baseline_accuracy": "guessed right by the commonest value",
    "ideal_accuracy": "guessed right by a learner who has the table itself",
    "log2_Ti_above_1": "attacker at least twice as sure as the learner, and right",
}


_RATES = {
    "success": "guessed right among the people of the release",
    "holdout_success": "guessed right among people who are not in it",
    "gain": "what being in it adds",
    "naive": "guessed right by the commonest value",
    "random_worlds": "guessed right by random worlds",
    "high_confidence": "guessed right where it is surer than 0.8",
    "right_group": "the nearest centroid is that of their own group",
}


def lines(result: ReleaseAttack, output: Path | None = None) -> list[str]:
    """What `dalenius attack` prints; the beliefs were written to `output`."""
    text = [] if result.belief is None or output is None else [_written(result.to_document(), output)]
    if result.rated is not None:
        text += _rates(result.rated, result.column)
    if result.threats is not None:
        text += _threats(result.threats, result.column, with_missing=result.rated is None)
    return text


def _written(document: Mapping[str, Any], output: Path) -> str:
    """Which beliefs are in the file; how they were come by is told of the people, if these are rated."""
    lost = f", {document['unmatched']:,} of whom fit nowhere" if document["unmatched"] else ""
    return (
        f"Wrote {output}: beliefs of {document['adversary']} about {counted(document['targets'], 'target', 'targets')}{lost} "
        f"({document['method']})"
    )


def _rates(rated: Rated, column: str) -> list[str]:
    """How often the adversary is right, with what has to be known to read the rates."""
    figures, found = rated.figures, rated.attack
    text = [f"{found.adversary} on {column} ({found.belief.method}): {figures['verdict']}"]
    if rated.group_unknown_because and rated.looks_for_centres:
        text.append(f"  How often the nearest centroid is the right one is not known ({rated.group_unknown_because}).")
    elif rated.group_unknown_because:
        text.append(
            f"  Who is in which group is not known ({rated.group_unknown_because}): every row like a person's counts."
        )
    if figures["holdout_unmatched"]:
        text.append(
            f"  {figures['holdout_unmatched']:,} of the {figures['holdout_success']['n']:,} held-out people are like "
            "nobody in the release, and are guessed by what it teaches about anybody."
        )
    text += _notes(figures)
    bound = {"success", "random_worlds"} if figures["lower_bound"] else set()
    bound |= {"gain"} if figures["gain_lower_bound"] else set()
    return text + [
        f"  {key:<18} {_rate(figures[key])}   {words}{', a lower bound' if key in bound else ''}"
        for key, words in _RATES.items()
        if figures[key]["n"]
    ]


def _notes(figures: Mapping[str, Any]) -> list[str]:
    """What has to be known to read the rates."""
    text = []
    shift, most = 100 * figures["shift"], 100 * figures["shift_at_most"]
    differs = f"  The commonest value is {shift:.1f} to {most:.1f} points rarer or commoner among the held-out people"
    if not figures["comparable"]:
        text.append(f"{differs}: they are another population, and nothing is concluded from them.")
    elif shift:
        text.append(f"{differs}; a gain up to that is not called a leak.")
    if figures["missing"]:
        text.append(f"  Not counted: {counted(figures['missing'], 'person', 'people')} without a value.")
    if figures["lower_bound"]:
        bound = "success and gain are lower bounds" if figures["gain_lower_bound"] else "success is a lower bound"
        text.append(f"  {counted(figures['people_unmatched'], 'person fits', 'people fit')} no class: {bound}.")
    return text


def _threats(threats: Mapping[str, Any], column: str, *, with_missing: bool) -> list[str]:
    """What being in the release adds, for the people of the table."""
    lost, errors = threats["unmatched_people"], threats["stderr"]
    bounds = f" ({lost:,} fit no class: those of the attacker are lower bounds)" if lost else ""
    text = [f"Threats to {column}, shares of the people{bounds}:"]
    if threats["missing"] and with_missing:
        text.append(f"  Not counted: {counted(threats['missing'], 'person', 'people')} without a value.")
    text += [
        f"  {key:<18} {threats[key]:8.4f}{_plus_minus(errors.get(key))}   {words}" for key, words in _WORDS.items()
    ]
    most, faithful = _plus_minus(errors.get("max_Ti")), _plus_minus(threats["RF_stderr"])
    return [
        *text,
        f"  {'max_Ti':<18} {threats['max_Ti']:8.4g}{most}   how many times as sure, for the person most given away",
        f"  {'RF':<18} {threats['RF']:8.4f}{faithful}   how faithful the release is to the table (1: as good to learn from)",
    ]


def _rate(rate: Mapping[str, Any]) -> str:
    return f"{rate['value']:8.4f} ({rate['low']:.4f} to {rate['high']:.4f}, n = {rate['n']:,})"


def _plus_minus(error: float | None) -> str:
    """A Monte-Carlo error, where there is one."""
    return f" ± {error:.4f}" if error else ""
