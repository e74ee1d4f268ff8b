"""The short text of each result: what a console shows. Headline numbers only, and nothing about a single person."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from dalenius.auditing import Audit
from dalenius.auditing.attacking import ReleaseAttack
from dalenius.auditing.channel import MeasuredChannel
from dalenius.auditing.checking import ReleaseCheck
from dalenius.auditing.compare import Comparison
from dalenius.auditing.compose import JointAttack
from dalenius.auditing.epsilon_curve import EpsilonCurve
from dalenius.auditing.exploring import Frontier
from dalenius.auditing.publishing import Publication
from dalenius.auditing.splitting import Split
from dalenius.auditing.surveying import LatticeSurvey
from dalenius.criteria import headlines
from dalenius.errors import counted
from dalenius.measures.guide import Guidance
from dalenius.releases import Release
from dalenius.reports import numbers
from dalenius.reports.words import common

__all__ = ["MAX_COLUMNS", "MAX_LINES", "fitted"]

MAX_LINES = 20
MAX_COLUMNS = 100
MAX_LISTED = 10  # attacks, columns, releases or values of ε


def fitted(lines: Iterable[str]) -> str:
    """Return lines as a text of at most MAX_LINES × MAX_COLUMNS characters."""
    text = [line if len(line) <= MAX_COLUMNS else f"{line[: MAX_COLUMNS - 1]}…" for line in lines]
    return "\n".join(text if len(text) <= MAX_LINES else [*text[: MAX_LINES - 1], "  …"])


def _listed(lines: list[str]) -> list[str]:
    """Return the first lines, and how many more there are."""
    more = len(lines) - MAX_LISTED
    return lines if more <= 0 else [*lines[:MAX_LISTED], f"  … and {more:,} more"]


def _extent(release: Release) -> str:
    classes = release.classes()
    if classes is None:
        return release.kind
    people, groups = counted(classes.people, "person", "people"), counted(classes.groups, "class", "classes")
    return f"{release.kind}, {people} in {groups}, {counted(classes.suppressed, 'row', 'rows')} suppressed"


def of_audit(audit: Audit) -> list[str]:
    """Return the verdict, and how often each adversary is right."""
    outcomes = [threshold.outcome for threshold in audit.thresholds]
    policy = ", ".join(f"{outcomes.count(word)} {word}" for word in ("passed", "violated", "not tested"))
    attacks = []
    for attack in audit.attacks:
        name = f"  {attack.adversary} on {attack.column}"
        if attack.success.n:
            gain = f", gain {numbers.signed(attack.gain)}" if attack.gain.n else ""
            attacks.append(f"{name}: right for {numbers.rate(attack.success)}{gain}")
        else:
            attacks.append(f"{name}: {numbers.percent(attack.confidence.mean)} sure on average")
    return [
        f"Audit of {audit.name}: {_extent(audit.release)}",
        f"  {common.VERDICTS[audit.verdict]}",
        *([f"  Thresholds: {policy}"] if outcomes else []),
        *_listed(attacks),
    ]


def of_check(check: ReleaseCheck) -> list[str]:
    """Return the best-known levels of each sensitive column, and how many criteria hold."""
    columns = []
    for name, levels in check.levels.items():
        shown = (f"{key} = {numbers.number(levels[measured.place].value)}" for key, measured in headlines().items())
        columns.append(f"  {name}: {', '.join(shown)}")
    held = sum(criterion.holds for criterion in check.outcomes)
    return [
        f"ReleaseCheck of {check.name}: {_extent(check.release)}",
        *_listed(columns),
        *([f"  Criteria: {held} of {len(check.outcomes)} hold"] if check.outcomes else []),
    ]


def of_publication(publication: Publication) -> list[str]:
    """Return how the release was made, how large it is and where it is."""
    record = publication.record
    where = " and ".join(publication.files) or "not written"
    return [
        f"Publication by {record.method}: {_extent(publication.published.release)}",
        f"  Satisfies: {'; '.join(record.criteria) or 'no criterion was named'}",
        f"  Files: {where}",
    ]


def of_survey(survey: LatticeSurvey) -> list[str]:
    """Return how many nodes there are, how many satisfy the criteria, and the one with the least loss."""
    text = [f"LatticeSurvey of {survey.name}: {counted(len(survey.nodes), 'node', 'nodes')}"]
    if survey.criteria:
        text.append(
            f"  {len(survey.good):,} satisfy {'; '.join(criterion.describe() for criterion in survey.criteria)}"
        )
    if survey.good and (survey.criteria or survey.adversaries):
        levels = ", ".join(f"{name} {level}" for name, level in survey.good[0]["levels"].items())
        text.append(f"  Least loss: {survey.good[0]['loss']:.4f} at levels {levels}")
    return text


def of_attack(attack: ReleaseAttack) -> list[str]:
    """Return whom the adversary attacked, and how often it is right."""
    text = [f"ReleaseAttack by {attack.adversary} on {attack.column}"]
    if attack.belief is not None:
        lost = int((~attack.belief.matched).sum())
        text.append(
            f"  Beliefs about {counted(len(attack.belief), 'target', 'targets')}, {lost:,} of whom fit no class"
        )
    if attack.rated is not None:
        rated = attack.rated.attack
        gain = f", gain {numbers.signed(rated.gain)}" if rated.gain.n else ""
        text.append(f"  Right for {numbers.rate(rated.success)} of the people{gain}")
    if attack.threats is not None:
        text.append(f"  What being in the release adds: {numbers.percent(attack.threats['RGT_A'])} of the people")
    return text if attack.is_converged else [*text, "  NOT CONVERGED: do not rely on these numbers"]


def of_composition(composed: JointAttack) -> list[str]:
    """Return how many values all releases leave of a target."""
    figures = composed.figures
    return [
        f"JointAttack on {len(composed.names)} releases: {counted(figures['targets'], 'target', 'targets')}",
        f"  Values left on average: {numbers.number(figures['mean_posterior_anonymity'])}",
        *([] if composed.converged else ["  NOT CONVERGED: do not rely on the beliefs"]),
    ]


def of_comparison(comparison: Comparison) -> list[str]:
    """Return a line for each release."""
    lines = []
    for release in comparison:
        document = release.to_document()
        shown = [
            f"{key} {numbers.number(document[key])}" for key in ("k", "loss", "relative_error") if _known(document, key)
        ]
        lines.append(f"  {release.name}: {release.kind}, {', '.join(shown)}")
    return [f"Comparison of {counted(len(comparison), 'release', 'releases')}", *_listed(lines)]


def _known(document: Mapping[str, Any], key: str) -> bool:
    return document[key] is not None and document[key] == document[key]


def of_frontier(frontier: Frontier) -> list[str]:
    """Return how many releases were tried, and the best of them."""
    found = frontier.tradeoff
    published = sum(not point.reason for point in found.points)
    best = found.best()
    text = [
        f"Frontier of {Path(frontier.table).name}: {counted(len(found.points), 'candidate', 'candidates')}, "
        f"{published:,} published",
        f"  Risk: {found.risk.name}. Utility: {found.utility.name}. On the front: {sum(found.front):,}",
    ]
    if not frontier.has_policy:
        return text
    chosen = "none" if best is None else f"{best.candidate.method} {best.candidate.label}"
    return [*text, f"  Most useful that satisfies the policy: {chosen}"]


def of_epsilon_curve(curve: EpsilonCurve) -> list[str]:
    """Return a line for each ε."""
    lines = [
        f"  ε = {point.parameters['epsilon']:g}: right for {numbers.percent(point.success.rate.value)}, gain "
        f"{numbers.signed(point.gain.rate)}, counts off by {numbers.number(point.count_error.mean_absolute)}"
        for point in curve.points
    ]
    return [f"EpsilonCurve of {curve.name}: {curve.adversary} on {curve.sensitive}", *_listed(lines)]


def of_split(split: Split) -> list[str]:
    """Return the files, and how many rows each has."""
    return [
        f"Split by seed {split.seed}",
        f"  To publish: {split.published}, {counted(split.rows_published, 'row', 'rows')}",
        f"  Held out: {split.others}, {counted(split.rows_others, 'row', 'rows')}",
    ]


def of_channel(channel: MeasuredChannel) -> list[str]:
    """Return the attacker's error, and what the channel tells."""
    inputs, outputs = len(channel.channel.inputs), len(channel.channel.outputs)
    text = [f"MeasuredChannel from a {channel.request.source}: {inputs:,} inputs, {outputs:,} outputs"]
    if channel.measures is not None:
        average, worst, told = (
            numbers.number(channel.measures[key])
            for key in ("average_privacy", "worst_case_privacy", "mutual_information")
        )
        text += [f"  Average privacy {average}, worst case {worst}", f"  Mutual information {told} bits"]
    if channel.design is not None:
        text.append(
            f"  Designed for {channel.design.objective} at distortion {numbers.number(channel.design.distortion)}"
        )
    return [*text, f"  Curve of {len(channel.curve)} points"] if channel.curve else text


def of_guidance(guidance: Guidance) -> list[str]:
    """Return the measure, and the command to run."""
    return [f"Guidance: {guidance.recommendation.measure}", f"  Run: {guidance.recommendation.command}"]
