"""Releases attacked together, as terminal text and as CSV."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from dalenius.adversaries.intersection import members
from dalenius.auditing.compose import JointAttack
from dalenius.errors import counted
from dalenius.output import csv_text
from dalenius.reports import words

_CONFIDENCES = {"100": "one value", "50": "two values", "33": "three", "25": "four"}
_COUNTS = {
    "already_certain": "were certain from one release alone",
    "empty_intersections": "have nothing left: the releases contradict each other, or one of them is not about the target",
    "certainly_missing": "certainly have no value, which is not taken for a secret",
    "unlocated": "fit no group of some release",
}


def lines(composed: JointAttack) -> list[str]:
    """What `dalenius compose` prints: how many values are left, of whom only one, and what the truth says of it."""
    document, names = composed.to_document(), composed.names
    return [
        f"{counted(document['targets'], 'target', 'targets')} in {len(names)} releases",
        *_left(document, names),
        *_suppressed(document, names),
        *_differences(document["differences"]),
        *_truth(document, names),
    ]


def _left(document: Mapping[str, Any], names: Sequence[str]) -> Iterator[str]:
    """How many values each release leaves, and all together, and how sure that makes the attacker."""
    for name, mean in zip(names, document["mean_prior_anonymity"], strict=True):
        somebody = mean == mean
        average = f"{mean:8.2f}   values on average are left by" if somebody else "          nobody is found in"
        yield f"  {average} {name}" + (" alone" if somebody else "")
    if document["mean_posterior_anonymity"] == document["mean_posterior_anonymity"]:
        yield f"  {document['mean_posterior_anonymity']:8.2f}   values on average are left by all together"
    yield f"  {document['VP']:7.1f}%   of the targets have fewer values left than any one release leaves (VP)"
    for confidence, share in document["PVP"].items():
        left, least = _CONFIDENCES[confidence], "" if confidence == "100" else "at least "
        at_most = " at most" if least else ""
        yield f"  {share:7.1f}%   have {left} left{at_most}: the attacker is {least}{confidence} % sure"
    for key, meaning in _COUNTS.items():
        if document[key]:
            yield f"  {document[key]:8,}   {meaning}"


def _suppressed(document: Mapping[str, Any], names: Sequence[str]) -> list[str]:
    """What the attack assumes about suppressed rows, how often that is wrong, and what holds without it."""
    shares = document["suppressed_share"]
    if not any(shares):
        return []
    wrong = ", ".join(
        f"{share:.2g}% of the people in {name}" for name, share in zip(names, shares, strict=True) if share
    )
    left = document["PVP_sure"]
    return [
        f"  This assumes that nobody who fits a class was suppressed, which may be wrong for {wrong}.",
        f"  {left['100']:7.1f}%   have one value left in any case, {left['25']:.1f}% four values at most",
    ]


def _differences(differences: Sequence[Mapping[str, Any]]) -> list[str]:
    """What subtracting releases from each other tells about people who are in only one of them."""
    text = []
    for difference in differences:
        pair = f"Between {difference['earlier']} and {difference['later']}"
        if difference["reason"] is not None:
            text.append(f"  {pair}, differences were not tested: {difference['reason']}.")
            continue
        if not difference["joined"] and not difference["left"]:
            continue
        text.append(f"  {pair}, {words.moved(difference)}.")
        exposed = difference["joined_exposed"] + difference["left_exposed"]
        if exposed:
            text.append(
                f"  {exposed:8,}   of them {'has' if exposed == 1 else 'have'} only one possible value if one release is "
                "subtracted from the other, and no more people joined or left than that takes"
            )
        if not difference["complete"]:
            text.append("  Only sums over overlapping classes were subtracted; finer differences were not tested.")
    return text


def _truth(document: Mapping[str, Any], names: Sequence[str]) -> Iterator[str]:
    """How often the attack is right."""
    if "truth" in document:
        truth = document["truth"]
        yield f"  {truth['true_value_left']:7.1f}%   have their true value among those left"
        for name, share in zip(names, truth["located_right"], strict=True):
            if share == share:
                yield f"  {share:7.1f}%   are found in their own group of {name}"
    if "probabilistic" in document and document["probabilistic"]["success"]["n"]:
        success, naive = document["probabilistic"]["success"], document["probabilistic"]["naive"]
        yield (
            f"  {100 * success['value']:7.1f}%   are guessed right with probabilities ({100 * success['low']:.1f} to "
            f"{100 * success['high']:.1f}); it believes {100 * document['probabilistic']['confidence']:.1f}% on average"
        )
        yield f"  {100 * naive['value']:7.1f}%   by what the releases teach about anybody"


def warnings(composed: JointAttack) -> list[str]:
    """What must be known of beliefs."""
    figures = composed.belief_figures
    if figures is None:
        return []
    text = []
    if not figures["pooled"]:
        text.append(
            "Note: the releases cannot be taken together; what is learnt about everybody is learnt from the largest."
        )
    if not figures["converged"]:
        text.append("NOT CONVERGED: beliefs are not as sharp as --mcse asks for. They are not to be relied on.")
    if figures["shared_groups"]:
        text.append(
            f"WARNING: of {counted(figures['shared_groups'], 'target', 'targets')} two releases publish one and the same group, "
            "which is counted twice."
        )
    text.append(
        "Note: beliefs are too sure wherever others in a target's groups are in several releases, too. With --truth see how sure "
        "they are against how often they are right (calibration)."
    )
    return text


def beliefs_text(composed: JointAttack) -> str:
    """CSV: a line for each target and value; empty where releases contradict each other about the target.

    All of it is made in memory: for thousands of targets, not for millions.
    """
    if composed.believed is None:
        raise ValueError("nothing was weighed: compose with_beliefs, or with presence")
    believed, values = composed.believed, composed.releases.values
    lines: list[list[object]] = []
    for i, (posterior, baseline) in enumerate(
        zip(believed.posterior.tolist(), believed.baseline.tolist(), strict=True)
    ):
        for value, p, q in zip(values, posterior, baseline, strict=True):
            lines.append([i, value, "" if p != p else repr(p), repr(q)])
    return csv_text(["target", "value", "posterior", "baseline"], lines)


def rows_text(composed: JointAttack) -> str:
    """CSV: a line for each target, as `target_rows` has it; what is not known is empty."""
    header, rows = target_rows(composed)
    return csv_text(header, ([_cell(value) for value in row] for row in rows))


def _cell(value: object) -> object:
    if value is None:
        return ""
    return repr(value) if isinstance(value, float) else value


def target_rows(composed: JointAttack) -> tuple[list[str], list[list[Any]]]:
    """A row for each target: how many values each release leaves and all together, and which, as a JSON list.

    The last column is how many are left if the target may be suppressed. What a release that does not locate the target would
    leave is None.
    """
    found, sure = composed.values_left()
    prior, posterior = found.prior, found.posterior
    somewhere = np.logical_or.reduce(found.located, axis=0)
    header = ["target", *(f"prior_{j + 1}" for j in range(len(composed.names)))]
    header += ["posterior", "drop", "confidence", "values", "posterior_sure"]
    sets, which = np.unique(found.left, axis=0, return_inverse=True)
    lists = [
        json.dumps([found.values[i] for i in np.flatnonzero(mine).tolist()], ensure_ascii=False)
        for mine in members(sets, len(found.values))
    ]
    least = np.where(found.located, prior, np.iinfo(np.int64).max).min(axis=0)
    confidence = [None, *(1 / n for n in range(1, int(posterior.max(initial=0)) + 1))]
    columns: list[list[Any]] = [
        [n if here else None for n, here in zip(mine.tolist(), there.tolist(), strict=True)]
        for mine, there in zip(prior, found.located, strict=True)
    ]
    drop = np.maximum(least - posterior, 0).tolist()
    together = zip(posterior.tolist(), drop, which.reshape(-1).tolist(), sure.posterior.tolist(), strict=True)
    rows = []
    for i, (left, fewer, which_set, left_surely) in enumerate(together):
        known = [left, fewer, confidence[left], lists[which_set], left_surely]
        rows.append([i, *(column[i] for column in columns), *(known if somewhere[i] else [None] * len(known))])
    return header, rows
