"""The audit as one HTML page: self-contained, offline, without script, readable on a phone and on paper."""

from __future__ import annotations

from collections.abc import Mapping
from html import escape
from typing import Any

from dalenius import __version__
from dalenius.auditing import Audit
from dalenius.criteria import measured_at, undefined
from dalenius.errors import counted, listing
from dalenius.measures import remaining
from dalenius.releases import GroupedRelease, NoisyCounts
from dalenius.reports import audit_charts, html_attacks, words
from dalenius.reports.frame import figure, frame, shown, table


def page(audit: Audit, run: Mapping[str, Any], *, reveal: bool = False) -> str:
    """The whole page. `run` holds what differs between two equal runs: command line, time, versions."""
    parts = [
        _head(audit),
        _verdict(audit),
        _release(audit),
        html_attacks.attacks(audit),
        html_attacks.three_risks(audit),
        html_attacks.threats(audit),
        html_attacks.disclosures(audit),
        html_attacks.people(audit, reveal),
        _levels(audit),
        _errors(audit),
        _utility(audit),
        html_attacks.diagnostics(audit),
        _limits(audit),
        _repeat(audit, run),
    ]
    body = "\n".join(part for part in parts if part)
    return frame(f"Audit of {audit.name}", body)


def _head(audit: Audit) -> str:
    return (
        f"<h1>Audit of {escape(audit.name)}</h1>\n"
        '<p class="soft">What an attacker learns from this release about the people in it, how much of that is about '
        "everybody, and what the release is still good for.</p>"
    )


def _verdict(audit: Audit) -> str:
    text = f'<div class="verdict {audit.verdict}">{escape(words.VERDICTS[audit.verdict])}</div>'
    if not audit.thresholds:
        return text
    rows = [
        [
            f"<code>{escape(t.key)}</code>",
            escape(t.asked),
            escape(words.number(t.measured)) if t.outcome != "not tested" else "–",
            f'<span class="{t.outcome.replace("not tested", "untested")}">{t.outcome}</span>'
            + (f" <small>{escape(t.reason)}</small>" if t.reason else ""),
        ]
        for t in audit.thresholds
    ]
    return text + table(["threshold", "asked", "found", "outcome"], rows, numeric={1, 2})


def _release(audit: Audit) -> str:
    classes, counts = audit.classes, audit.release.counts()
    what, picture = "", ""
    if classes is not None:
        what = _classes(audit, classes)
        picture = figure(audit_charts.class_sizes(classes.sizes), "How many people are in classes of which size.")
    elif counts is not None:
        what = _counts(counts)
    quasi = ", ".join(escape(column.name) for column in audit.schema.quasi)
    sensitive = ", ".join(escape(column.name) for column in audit.schema.sensitive)
    truth = "The original table was at hand." if audit.has_truth else "The original table was not at hand."
    control = (
        f" {counted(audit.held_out, 'held-out person serves', 'held-out people serve')} as control."
        if audit.held_out
        else ""
    )
    return (
        "<h2>The release and what is assumed</h2>\n"
        f"{what}"
        f"{_left(audit)}"
        f"<p>An attacker is assumed to know of a person: {quasi}. What must not be learned: {sensitive}. {truth}{control}</p>\n"
        f"{picture}"
    )


def _counts(counts: NoisyCounts) -> str:
    """What is counted, and with which noise."""
    return (
        f"<p>Counts of every value{_coarser(counts)} of each quasi-identifier with every sensitive value, with "
        f"{escape(counts.mechanism)} "
        + (f"noise: differential privacy with {counts.promise}" if counts.epsilon else "noise")
        + f" (neighbours: {escape(counts.neighbours)}, sensitivity {counts.sensitivity:g}). {_gaussian(counts)}"
        "There are no classes.</p>\n"
    )


def _classes(audit: Audit, classes: GroupedRelease) -> str:
    """How many people and classes, and what is suppressed."""
    what = (
        f"<p>{counted(classes.people, 'person', 'people')} in {counted(classes.groups, 'class', 'classes')} "
        f"({escape(audit.release.kind)}); {counted(classes.suppressed, 'row is', 'rows are')} suppressed"
        + (": of these the sensitive and other columns are published" if classes.suppressed else "")
        + ". A <em>class</em> is a set of people whom the release does not tell apart.</p>\n"
    )
    if audit.suppressed_rows is not None:
        what += (
            f"<p>Whoever fits no class is among the suppressed rows. These have {escape(audit.suppressed_rows.line())}. "
            "Thresholds on classes are held against them, too. Singling out and linkability "
            "look there for people who fit no class.</p>\n"
        )
    return what


def _left(audit: Audit) -> str:
    """What can still be told apart in each column, and which ones are gone."""
    left = audit.columns_left
    gone = "".join(f" <strong>{escape(sentence)}</strong>" for sentence in remaining.warnings(left))
    return f"<p>What is left of each column: {escape(remaining.summary(left))}.{gone}</p>\n"


def _coarser(release: NoisyCounts) -> str:
    return f" (of {escape(listing(release.coarse))}: of every label)" if release.coarse else ""


def _gaussian(release: NoisyCounts) -> str:
    if not release.moments:
        return ""
    return f"Of {escape(listing(release.moments))}: number of people, sum and squares, in place of counts. "


def _levels(audit: Audit) -> str:
    if not audit.levels:
        return ""
    text = ["<h2>Privacy models</h2>"]
    for column, levels in audit.levels.items():
        rows = [_level(audit, column, place, level.value) for place, level in levels.items()]
        text.append(table([escape(column), "level", "meaning"], rows, numeric={1}))
    return "\n".join(text)


def _level(audit: Audit, column: str, place: tuple[str, str], level: float) -> list[str]:
    """A model, its level, and what that says or why there is none."""
    reported, reason = measured_at(place).reported, undefined(*place, audit.schema[column])
    meaning = f"not defined: {reason}" if reason else reported.explanation
    return [escape(reported.title), words.number(level), escape(meaning)]


def _errors(audit: Audit) -> str:
    """Each privacy model as an attacker's error, beside the error itself."""
    if not audit.errors:
        return ""
    text = [
        "<h2>The same models as an attacker's error</h2>\n"
        "<p>How often one guess is wrong that is the best for what the attacker sees: a person's class. A model that takes "
        "values for equally likely is a <em>best case</em>: the error is at most what it says. One that compares classes with "
        "the table is a <em>worst case</em>: the error is at least what it says, and often that is little.</p>"
    ]
    for column, found in audit.errors.items():
        rows = [
            [
                escape(row.model),
                "nothing"
                if row.error == 0 and row.direction == "at least"
                else f"{row.direction} {words.percent(row.error)}",
                words.percent(row.exact),
                row.case,
                "which row" if row.unknown == "identity" else "the value",
                words.number(row.level),
                f"{escape(row.formula)}. {escape(row.assumes.capitalize())}.",
            ]
            for row in found.models
        ]
        header = [
            escape(column),
            "error it says",
            "error",
            "case",
            "attacker wants",
            "level",
            "how, and what it assumes",
        ]
        hidden = (
            f" Of people of whom no class is published it is wrong for {words.percent(found.worst_case_privacy)}."
            if found.worst_case_privacy < found.worst_class_privacy
            else ""
        )
        text.append(
            table(header, rows, numeric={2, 5})
            + f'\n<p class="soft">Without the release the best guess is wrong for {words.percent(found.prior_privacy)} of the '
            f"people, with it for {words.percent(found.average_privacy)} on average and for "
            f"{words.percent(found.worst_class_privacy)} in the worst class.{hidden} The average is over everybody; that no class "
            "is published of somebody is an observation, too.</p>"
        )
    return "\n".join(text)


def _utility(audit: Audit) -> str:
    misfit = audit.utility.get("misfit", 0)
    meanings = {
        "loss": "how much of the labels' detail is gone: 0 is the raw table, 1 everything",
        "discernibility": "sum of squared class sizes, N for each suppressed row",
        "average_class_size": "people in a class on average; suppressed rows count as one class",
        "suppressed": "share of rows without any quasi-identifier; their sensitive and other columns are published",
        "misfit": words.sentence(words.changed(misfit, audit.release.kind)),
        "ncp": "how wide the labels are, on average: 0 single values, 1 the whole domain",
        "precision": "how low in its hierarchy a value is published: 1 the value itself, 0 the top; larger is better",
        "kl_divergence": "how far the table is from what a reader takes it for, spread evenly over each class (nats)",
        "faithfulness": "1 − total variation between what one can learn about the population from the release and from the table",
        "relative_error": "mean error of 1,000 random count queries answered from the release, relative to the true count",
        "relative_error_median": "median error of the same queries; a few queries that hardly anybody satisfies can rule the mean",
    }
    if not audit.utility:
        return ""
    rows = [
        [escape(name.replace("_", " ")), words.number(value), escape(meanings.get(name, ""))]
        for name, value in audit.utility.items()
        if name != "misfit" or misfit
    ]
    return "<h2>What the release is still good for</h2>\n" + table(["cost", "value", "meaning"], rows, numeric={1})


def _limits(audit: Audit) -> str:
    items = "".join(f"<li>{escape(limit)}</li>" for limit in audit.limits)
    return f"<h2>What was not tested</h2>\n<ul>{items}</ul>"


def _repeat(audit: Audit, run: Mapping[str, Any]) -> str:
    rows = [["seed", str(audit.seed)], ["dalenius", __version__]]
    rows += [[escape(str(key)), f"<code>{escape(shown(value))}</code>"] for key, value in run.items()]
    rows += [[f"SHA-256 of the {escape(key)}", f"<code>{digest}</code>"] for key, digest in audit.hashes.items()]
    return "<h2>How to repeat this</h2>\n" + table(["what", "value"], rows)
