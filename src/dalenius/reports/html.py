"""The audit as one HTML page: self-contained, offline, without script, readable on a phone and on paper."""

from __future__ import annotations

from collections.abc import Mapping
from html import escape
from typing import Any

from dalenius.auditing import Audit
from dalenius.criteria import measured_at, undefined
from dalenius.errors import listing
from dalenius.measures import remaining
from dalenius.measures.classes import ClassErrors
from dalenius.releases import GroupedRelease, NoisyCounts
from dalenius.reports import audit_charts, html_attacks, numbers, phrases
from dalenius.reports.frame import alert, figure, frame, heading, paragraph, repeat, table
from dalenius.reports.words import audit as say
from dalenius.reports.words import common

__all__ = ["page"]


def page(audit: Audit, run: Mapping[str, Any], *, reveal: bool = False) -> str:
    """Return the whole page. `run` holds what differs between two equal runs: command line, time, versions."""
    parts = [
        f"<h1>{escape(say.title(audit.name))}</h1>",
        _identifiers(audit),
        _verdict(audit),
        paragraph(say.ABOUT, soft=True),
        html_attacks.three_risks(audit),
        _release(audit),
        html_attacks.attacks(audit),
        html_attacks.threats(audit),
        html_attacks.people(audit, reveal),
        html_attacks.disclosures(audit),
        _levels(audit),
        _errors(audit),
        _utility(audit),
        html_attacks.diagnostics(audit),
        _limits(audit),
        repeat({common.SEED: audit.seed}, run, {say.checksum(key): digest for key, digest in audit.hashes.items()}),
    ]
    return frame(say.title(audit.name), "\n".join(part for part in parts if part))


def _identifiers(audit: Audit) -> str:
    """Return the warning that comes first: the release contains identifiers."""
    text = phrases.identifiers(audit)
    return alert(f"<strong>{common.WARNING}:</strong> {escape(text)}", "violated", kind="warning") if text else ""


def _verdict(audit: Audit) -> str:
    """Return the verdict, the answer, and each threshold with its outcome."""
    answer = phrases.answer(audit)
    text = escape(common.VERDICTS[audit.verdict]) + (paragraph(escape(answer)) if answer else "")
    box = alert(text, audit.verdict)
    if not audit.thresholds:
        return box
    rows = [
        [
            f"<code>{escape(threshold.key)}</code>",
            escape(threshold.asked),
            escape(numbers.number(threshold.measured)) if threshold.outcome != "not tested" else "–",
            f'<span class="{threshold.outcome.replace("not tested", "untested")}">{threshold.outcome}</span>'
            + (f" <small>{escape(threshold.reason)}</small>" if threshold.reason else ""),
        ]
        for threshold in audit.thresholds
    ]
    return box + table(say.THRESHOLD_COLUMNS, rows, numeric={1, 2})


def _release(audit: Audit) -> str:
    """Return what is published, and what is assumed about the attacker."""
    classes, counts = audit.classes, audit.release.counts()
    extent, picture = "", ""
    if classes is not None:
        extent = _classes(audit, classes)
        picture = figure(audit_charts.class_sizes(classes.sizes), say.SIZES_CAPTION)
    elif counts is not None:
        extent = _counts(counts)
    quasi = ", ".join(escape(column.name) for column in audit.schema.quasi)
    sensitive = ", ".join(escape(column.name) for column in audit.schema.sensitive)
    truth = say.TRUTH if audit.has_truth else say.NO_TRUTH
    control = say.held_out(audit.held_out) if audit.held_out else ""
    assumptions = paragraph(say.assumptions(quasi, sensitive, truth, control))
    return heading(say.RELEASE) + extent + _left(audit) + assumptions + picture


def _counts(counts: NoisyCounts) -> str:
    """Return what is counted, and with which noise."""
    coarser = say.coarser(escape(listing(counts.coarse))) if counts.coarse else ""
    promise = counts.promise if counts.epsilon else ""
    noise = say.counted(
        coarser, escape(counts.mechanism), promise, escape(counts.neighbours), f"{counts.sensitivity:g}"
    )
    moments = f" {say.moments(escape(listing(counts.moments)))}" if counts.moments else ""
    return paragraph(f"{noise}{moments} {say.NO_CLASSES}")


def _classes(audit: Audit, classes: GroupedRelease) -> str:
    """Return how many people and classes there are, and what is suppressed."""
    kind = escape(audit.release.kind)
    text = paragraph(say.in_classes(classes.people, classes.groups, kind, classes.suppressed))
    if audit.suppressed_rows is not None:
        text += paragraph(say.suppressed_rows(escape(audit.suppressed_rows.line())))
    return text


def _left(audit: Audit) -> str:
    """Return what can still be distinguished in each column, and which columns are gone."""
    left = audit.columns_left
    gone = "".join(f" <strong>{escape(warning)}</strong>" for warning in remaining.warnings(left))
    return paragraph(escape(say.columns_left(remaining.summary(left))) + gone)


def _levels(audit: Audit) -> str:
    """Return the level of every privacy model."""
    if not audit.levels:
        return ""
    text = [heading(say.LEVELS)]
    for column, levels in audit.levels.items():
        rows = [_level(audit, column, place, level.value) for place, level in levels.items()]
        text.append(table([escape(column), *say.LEVEL_COLUMNS], rows, numeric={1}))
    return "\n".join(text)


def _level(audit: Audit, column: str, place: tuple[str, str], level: float) -> list[str]:
    """Return a model, its level, and what that means or why there is none."""
    reported, reason = measured_at(place).reported, undefined(*place, audit.schema[column])
    meaning = say.undefined(reason) if reason else reported.explanation
    return [escape(reported.title), numbers.number(level), escape(meaning)]


def _errors(audit: Audit) -> str:
    """Return each privacy model as an attacker's error, beside the actual error."""
    if not audit.errors:
        return ""
    text = [heading(say.ERRORS) + paragraph(say.ERRORS_TEXT)]
    for column, errors in audit.errors.items():
        header = [escape(column), *say.ERROR_COLUMNS]
        text.append(table(header, _error_rows(errors), numeric={2, 5}) + _error_summary(errors))
    return "\n".join(text)


def _error_rows(errors: ClassErrors) -> list[list[str]]:
    return [
        [
            escape(model.model),
            say.NO_BOUND
            if model.error == 0 and model.direction == "at least"
            else f"{model.direction} {numbers.percent(model.error)}",
            numbers.percent(model.exact),
            model.case,
            say.WHICH_ROW if model.unknown == "identity" else say.THE_VALUE,
            numbers.number(model.level),
            escape(say.error_formula(model.formula, model.assumes)),
        ]
        for model in errors.models
    ]


def _error_summary(errors: ClassErrors) -> str:
    hidden = ""
    if errors.worst_case_privacy < errors.worst_class_privacy:
        hidden = say.error_of_hidden(numbers.percent(errors.worst_case_privacy))
    before, average = numbers.percent(errors.prior_privacy), numbers.percent(errors.average_privacy)
    worst = numbers.percent(errors.worst_class_privacy)
    return paragraph(say.error_summary(before, average, worst, hidden), soft=True)


def _utility(audit: Audit) -> str:
    """Return how useful the release still is."""
    if not audit.utility:
        return ""
    misfit = audit.utility.get("misfit", 0)
    meanings = {**say.UTILITIES, "misfit": phrases.changed(misfit, audit.release.kind)}
    rows = [
        [escape(name.replace("_", " ")), numbers.number(value), escape(meanings.get(name, ""))]
        for name, value in audit.utility.items()
        if name != "misfit" or misfit
    ]
    return heading(say.UTILITY) + table(say.UTILITY_COLUMNS, rows, numeric={1})


def _limits(audit: Audit) -> str:
    """Return what was not tested."""
    items = "".join(f"<li>{escape(limit)}</li>" for limit in audit.limits)
    return f"{heading(say.LIMITS)}<ul>{items}</ul>"
