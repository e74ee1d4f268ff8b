"""Releases attacked together, as terminal text and as CSV."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from dalenius.adversaries.intersection import members
from dalenius.auditing.compose import JointAttack
from dalenius.output import csv_text
from dalenius.reports.layout import wrapped
from dalenius.reports.words import common
from dalenius.reports.words import compose as say

__all__ = ["beliefs_text", "lines", "rows_text", "target_rows", "warnings"]


def lines(composed: JointAttack) -> list[str]:
    """Return what `dalenius compose` prints: how many values are left, for whom only one, and how often that is right."""
    document, names = composed.to_document(), composed.names
    return [
        say.head(document["targets"], len(names)),
        *_left(document, names),
        *_suppressed(document, names),
        *_differences(document["differences"]),
        *_truth(document, names),
    ]


def _figure(figure: str, meaning: str) -> list[str]:
    """Return a figure beside its meaning."""
    return wrapped(meaning, lead=f"{figure:>8}   ")


def _left(document: Mapping[str, Any], names: Sequence[str]) -> Iterator[str]:
    """Return how many values each release leaves and all together, and how confident that makes the attacker."""
    for name, mean in zip(names, document["mean_prior_anonymity"], strict=True):
        yield from _figure(f"{mean:.2f}", say.left_by(name)) if mean == mean else _figure("", say.not_located(name))
    together = document["mean_posterior_anonymity"]
    if together == together:
        yield from _figure(f"{together:.2f}", say.ALL_TOGETHER)
    yield from _figure(f"{document['VP']:.1f}%", say.FEWER)
    for confidence, share in document["PVP"].items():
        meaning = say.confidence(say.CONFIDENCES[confidence], confidence, at_most=confidence != "100")
        yield from _figure(f"{share:.1f}%", meaning)
    for key, meaning in say.COUNTS.items():
        if document[key]:
            yield from _figure(f"{document[key]:,}", meaning)


def _suppressed(document: Mapping[str, Any], names: Sequence[str]) -> list[str]:
    """Return what the attack assumes about suppressed rows, how often that is wrong, and what holds without it."""
    shares = document["suppressed_share"]
    if not any(shares):
        return []
    wrong = ", ".join(say.wrong_for(f"{share:.2g}", name) for name, share in zip(names, shares, strict=True) if share)
    left = document["PVP_sure"]
    return [*wrapped(say.assumption(wrong)), *_figure(f"{left['100']:.1f}%", say.in_any_case(f"{left['25']:.1f}"))]


def _differences(differences: Sequence[Mapping[str, Any]]) -> list[str]:
    """Return what subtracting releases from each other reveals about people who are in only one of them."""
    text = []
    for difference in differences:
        pair = say.between(difference["earlier"], difference["later"])
        if difference["reason"] is not None:
            text += wrapped(say.not_tested(pair, difference["reason"]))
            continue
        if not difference["joined"] and not difference["left"]:
            continue
        text += wrapped(say.changed(pair, common.moved(difference)))
        exposed = difference["joined_exposed"] + difference["left_exposed"]
        if exposed:
            text += _figure(f"{exposed:,}", say.exposed(exposed))
        if not difference["complete"]:
            text += wrapped(say.INCOMPLETE)
    return text


def _truth(document: Mapping[str, Any], names: Sequence[str]) -> Iterator[str]:
    """Return how often the attack is right."""
    if "truth" in document:
        truth = document["truth"]
        yield from _figure(f"{truth['true_value_left']:.1f}%", say.TRUE_VALUE_LEFT)
        for name, share in zip(names, truth["located_right"], strict=True):
            if share == share:
                yield from _figure(f"{share:.1f}%", say.located(name))
    if "probabilistic" in document and document["probabilistic"]["success"]["n"]:
        beliefs = document["probabilistic"]
        success, naive = beliefs["success"], beliefs["naive"]
        figures = (100 * success["low"], 100 * success["high"], 100 * beliefs["confidence"])
        yield from _figure(f"{100 * success['value']:.1f}%", say.guessed(*(f"{figure:.1f}" for figure in figures)))
        yield from _figure(f"{100 * naive['value']:.1f}%", say.POPULATION)


def warnings(composed: JointAttack) -> list[str]:
    """Return what a reader must know about the beliefs."""
    figures = composed.belief_figures
    if figures is None:
        return []
    text = [] if figures["pooled"] else [say.NOT_POOLED]
    text += [] if figures["converged"] else [say.NOT_CONVERGED]
    text += [say.shared(figures["shared_groups"])] if figures["shared_groups"] else []
    return [*text, say.OVERCONFIDENT]


def beliefs_text(composed: JointAttack) -> str:
    """Return CSV: a line for each target and value, empty if releases contradict each other about the target.

    Everything is built in memory: for thousands of targets, not for millions.
    """
    if composed.believed is None:
        raise ValueError(say.NO_BELIEFS)
    believed, values = composed.believed, composed.releases.values
    rows: list[list[object]] = []
    for i, (posterior, baseline) in enumerate(
        zip(believed.posterior.tolist(), believed.baseline.tolist(), strict=True)
    ):
        for value, p, q in zip(values, posterior, baseline, strict=True):
            rows.append([i, value, "" if p != p else repr(p), repr(q)])
    return csv_text(["target", "value", "posterior", "baseline"], rows)


def rows_text(composed: JointAttack) -> str:
    """Return CSV: a line for each target, as `target_rows` has it. What is unknown is empty."""
    header, rows = target_rows(composed)
    return csv_text(header, ([_cell(value) for value in row] for row in rows))


def _cell(value: object) -> object:
    if value is None:
        return ""
    return repr(value) if isinstance(value, float) else value


def target_rows(composed: JointAttack) -> tuple[list[str], list[list[Any]]]:
    """Return a row for each target: how many values each release leaves and all together, and which, as a JSON list.

    The last column is how many are left if the target may be suppressed. A release that does not locate the target leaves None.
    """
    result, sure = composed.values_left()
    prior, posterior = result.prior, result.posterior
    is_located = np.logical_or.reduce(result.located, axis=0)
    header = ["target", *(f"prior_{j + 1}" for j in range(len(composed.names)))]
    header += ["posterior", "drop", "confidence", "values", "posterior_sure"]
    distinct, index = np.unique(result.left, axis=0, return_inverse=True)
    lists = [
        json.dumps([result.values[i] for i in np.flatnonzero(left).tolist()], ensure_ascii=False)
        for left in members(distinct, len(result.values))
    ]
    least = np.where(result.located, prior, np.iinfo(np.int64).max).min(axis=0)
    confidence = [None, *(1 / n for n in range(1, int(posterior.max(initial=0)) + 1))]
    columns: list[list[Any]] = [
        [n if here else None for n, here in zip(counts.tolist(), located.tolist(), strict=True)]
        for counts, located in zip(prior, result.located, strict=True)
    ]
    drop = np.maximum(least - posterior, 0).tolist()
    together = zip(posterior.tolist(), drop, index.reshape(-1).tolist(), sure.posterior.tolist(), strict=True)
    rows = []
    for i, (left, fewer, which_set, left_surely) in enumerate(together):
        known = [left, fewer, confidence[left], lists[which_set], left_surely]
        rows.append([i, *(column[i] for column in columns), *(known if is_located[i] else [None] * len(known))])
    return header, rows
