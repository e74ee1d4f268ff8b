"""An attack as terminal text: where the beliefs are, how often the adversary is right, and how threatened people are."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from dalenius.auditing.attacking import Rated, ReleaseAttack
from dalenius.reports.layout import grid, wrapped
from dalenius.reports.words import attack as say
from dalenius.reports.words import common

__all__ = ["lines"]


def lines(result: ReleaseAttack, output: Path | None = None) -> list[str]:
    """Return what `dalenius attack` prints; the beliefs were written to `output`."""
    text = [] if result.belief is None or output is None else _written(result.to_document(), output)
    if result.rated is not None:
        text += _rates(result.rated, result.column)
    if result.threats is not None:
        text += _threats(result.threats, result.column, with_missing=result.rated is None)
    return text


def _written(document: Mapping[str, Any], output: Path) -> list[str]:
    """Return which beliefs are in the file."""
    count, unmatched = document["targets"], document["unmatched"]
    return [say.written(output, document["adversary"], count, unmatched, document["method"])]


def _rates(rated: Rated, column: str) -> list[str]:
    """Return how often the adversary is right, with what a reader must know to read the rates."""
    figures, attack = rated.figures, rated.attack
    conclusion = common.CONCLUSIONS[figures["verdict"]]
    text = wrapped(say.rated(attack.adversary, column, attack.belief.method, conclusion), indent=0, hanging=2)
    for note in _notes(rated):
        text += wrapped(note)
    bound = {"success", "random_worlds"} if figures["lower_bound"] else set()
    bound |= {"gain"} if figures["gain_lower_bound"] else set()
    rows = []
    for key, meaning in say.RATES.items():
        if figures[key]["n"]:
            note = f"{meaning}, {say.LOWER_BOUND}" if key in bound else meaning
            rows.append([key, _rate(figures[key]), note])
    return [*text, f"  {say.RATES_HEADING}", *grid(None, rows)]


def _notes(rated: Rated) -> list[str]:
    """Return what a reader must know to read the rates."""
    text, figures = [], rated.figures
    if rated.group_unknown_because:
        unknown = say.unknown_centroid if rated.looks_for_centres else say.unknown_group
        text.append(unknown(rated.group_unknown_because))
    if figures["holdout_unmatched"]:
        text.append(say.held_out_unmatched(figures["holdout_unmatched"], figures["holdout_success"]["n"]))
    shift = say.shifted(100 * figures["shift"], 100 * figures["shift_at_most"])
    if not figures["comparable"]:
        text.append(say.another_population(shift))
    elif figures["shift"]:
        text.append(say.small_shift(shift))
    if figures["missing"]:
        text.append(say.without_value(figures["missing"]))
    if figures["lower_bound"]:
        text.append(say.lower_bound(figures["people_unmatched"], gain_too=figures["gain_lower_bound"]))
    return text


def _threats(threats: Mapping[str, Any], column: str, *, with_missing: bool) -> list[str]:
    """Return what being in the release adds, for the people in the table."""
    errors = threats["stderr"]
    text = wrapped(say.threats(column, threats["unmatched_people"]), indent=0, hanging=2)
    if threats["missing"] and with_missing:
        text += wrapped(say.without_value(threats["missing"]))
    rows = [
        [key, f"{threats[key]:.4f}{_plus_minus(errors.get(key))}", meaning] for key, meaning in common.THREATS.items()
    ]
    rows.append(["max_Ti", f"{threats['max_Ti']:.4g}{_plus_minus(errors.get('max_Ti'))}", common.MAX_RATIO])
    rows.append(["RF", f"{threats['RF']:.4f}{_plus_minus(threats['RF_stderr'])}", common.FAITHFUL])
    return [*text, *grid(None, rows)]


def _rate(rate: Mapping[str, Any]) -> str:
    interval = say.interval(f"{rate['low']:.4f}", f"{rate['high']:.4f}")
    return say.rate(f"{rate['value']:.4f}", interval, rate["n"])


def _plus_minus(error: float | None) -> str:
    """Return a Monte-Carlo error, or nothing if there is none."""
    return f" ± {error:.4f}" if error else ""
