"""The audit as one HTML page: self-contained, offline, without script, readable on a phone and on paper."""

from __future__ import annotations

import math
from collections.abc import Mapping
from html import escape
from typing import Any

from dalenius import __version__
from dalenius.adversary import ADVERSARIES
from dalenius.audit import Audit
from dalenius.audit.attacks import GAIN_FORMULA, RESIDUAL_FORMULA
from dalenius.criterion import measured_at
from dalenius.errors import counted, listing
from dalenius.measure import remaining
from dalenius.measure.accuracy import MARGIN
from dalenius.release import Centroids, NoisyCounts
from dalenius.report import charts, words
from dalenius.report.frame import figure, frame, shown, table


def page(audit: Audit, run: Mapping[str, Any], *, reveal: bool = False) -> str:
    """The whole page. `run` holds what differs between two equal runs: command line, time, versions."""
    parts = [
        _head(audit),
        _verdict(audit),
        _release(audit),
        _attacks(audit),
        _three_risks(audit),
        _threats(audit),
        _disclosures(audit),
        _people(audit, reveal),
        _levels(audit),
        _errors(audit),
        _utility(audit),
        _diagnostics(audit),
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
    release = audit.release
    if isinstance(release, NoisyCounts):
        what = (
            f"<p>Counts of every value{_coarser(release)} of each quasi-identifier with every sensitive value, with "
            f"{escape(release.mechanism)} "
            + (f"noise: differential privacy with {release.promise}" if release.epsilon else "noise")
            + f" (neighbours: {escape(release.neighbours)}, sensitivity {release.sensitivity:g}). {_gaussian(release)}"
            "There are no classes.</p>\n"
        )
        picture = ""
    else:
        what = (
            f"<p>{counted(release.people, 'person', 'people')} in {counted(release.groups, 'class', 'classes')} "
            f"({escape(release.kind)}); {counted(release.suppressed, 'row is', 'rows are')} suppressed"
            + (": of these the sensitive and other columns are published" if release.suppressed else "")
            + ". A <em>class</em> is a set of people whom the release does not tell apart.</p>\n"
        )
        if audit.suppressed_rows is not None:
            what += (
                f"<p>Whoever fits no class is among the suppressed rows. These have {escape(audit.suppressed_rows.line())}. "
                "Thresholds on classes are held against them, too. Singling out and linkability "
                "look there for people who fit no class.</p>\n"
            )
        picture = figure(charts.class_sizes(release.sizes), "How many people are in classes of which size.")
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


def _attacks(audit: Audit) -> str:
    text = ["<h2>The adversaries</h2>"]
    for name in dict.fromkeys(found.adversary for found in audit.attacks):
        adversary = ADVERSARIES[name]
        text.append(
            f"<p><strong>{escape(name)}</strong> knows {escape(adversary.knows)}; it {escape(adversary.does)}.</p>"
        )
    if not audit.attacks:
        text.append("<p>No adversary could be tried; see below what was not tested.</p>")
        return "\n".join(text)
    if not any(found.success.n for found in audit.attacks):
        text.append(_confidences(audit))
        return "\n".join(text)
    rows = [
        [
            f"{escape(found.adversary)} on {escape(found.column)}"
            + ("" if found.control_settled else ", <b>not converged</b>")
            + "".join(f"<br><small>{escape(note)}</small>" for note in words.notes(found)),
            words.success(found),
            words.rate(found.naive),
            words.rate(found.control),
            words.gain(found),
            escape(words.verdict(found)),
        ]
        for found in audit.attacks
    ]
    text += [
        f"<figure>{charts.rates(audit)}<figcaption>How often the adversary guesses a person's value right, with 95 % "
        "intervals: in the release; on people who are not in it (the control), where all it can know is about everybody; "
        "and by always guessing the commonest value.</figcaption></figure>",
        table(["attack", "in the release", "commonest value", "control", "gain", "what follows"], rows),
        f"<p class='soft'>{escape(GAIN_FORMULA)}; {escape(RESIDUAL_FORMULA)}. Intervals of rates are Clopper and Pearson's "
        "exact ones, those of gains Newcombe's. A gain surely above 0 is a leak about persons; one surely below "
        f"{100 * MARGIN:g} points is "
        "about the population only; otherwise there are not enough data to say. Without held-out people there is no gain.</p>",
    ]
    return "\n".join(text)


def _confidences(audit: Audit) -> str:
    """Without the truth: how sure each adversary is."""
    header = ["attack", "sure on average", "more than 80 % sure of", "certain of"]
    rows = [
        [
            f"{escape(found.adversary)} on {escape(found.column)}",
            words.percent(found.confidence.mean),
            words.percent(found.confidence.above_80) + " of the people",
            words.sure(found.confidence.certain, found.confidence.certain_sure) + " of the people",
        ]
        for found in audit.attacks
    ]
    return table(header, rows) + (
        "<p>How often an adversary is <em>right</em> can be known only beside the original table; here is how sure it is, of "
        "people drawn from what the release says about each class.</p>"
    )


def _three_risks(audit: Audit) -> str:
    risks = audit.risks
    if risks is None:
        return ""
    judged = [found for found in audit.attacks if found.success.n and found.settled]
    best = max(judged, key=lambda found: found.success.value, default=None)
    told = [found for found in judged if not math.isnan(found.perfect_breach)]
    assumed, sure = (
        max((getattr(found, name) for found in told), default=math.nan)
        for name in ("perfect_breach", "perfect_breach_sure")
    )
    certain = words.at_least(any(found.lower_bound for found in told), words.sure(assumed, sure)) if told else "–"
    inference = (
        "not measured without the original table"
        if best is None
        else f"the best adversary is right for {words.at_least(best.lower_bound, words.percent(best.success.value))} of the "
        f"people, always guessing the commonest value for {words.percent(best.naive.value)}; the share of people "
        f"whose true value an adversary knows for certain is {certain}; {escape(words.verdict(best))}"
    )
    known = "group" if isinstance(audit.release, Centroids) else "quasi-identifiers"  # a centroid may mislead
    rows = [
        ["Singling out", f"{words.percent(risks.singled_out)} of the people fit one row only"],
        [
            "Linkability",
            f"somebody who knows a person's {known} picks the right row with probability "
            f"{words.percent(risks.average)} on average and {words.percent(risks.highest)} at most; above 20 % for "
            f"{words.percent(risks.at_risk)} of the people" + (f" ({words.UPPER_BOUND})" if risks.upper_bound else ""),
        ],
        ["Inference", inference],
    ]
    return "<h2>Singling out, linkability, inference</h2>\n" + table(["risk", "found"], rows)


def _disclosures(audit: Audit) -> str:
    """ε against each realistic adversary."""
    if not audit.disclosures:
        return ""
    rows = [
        [
            f"<code>{escape(found.adversary)}</code>"
            + (f" (b = {found.known:,})" if found.known and "known=" not in found.adversary else ""),
            escape(found.sensitive),
            words.number(found.epsilon),
            str(found.worst_class),
            f"{found.class_size:,}",
        ]
        for found in audit.disclosures
    ]
    return (
        "<h2>What being in the release gives away</h2>\n"
        "<p>Realistic adversaries have seen other people elsewhere, as many as their stubbornness σ. The smallest ε says by "
        "which factor, at most, what they believe of a person rises (or what they doubt shrinks) because that person is in "
        "the release and not left out of it; 1 is nothing, infinite is certainty. <em>I</em> has a prior and σ, <em>II</em> "
        "only σ and any prior, <em>III</em> never gives its prior up; b records of the release are known to it; <em>uniform</em> "
        "takes all values for equally likely, "
        "<em>table</em> takes the shares of the release.</p>\n"
        + table(["adversary", "sensitive", "smallest ε", "worst class", "people in it"], rows, numeric={2, 3, 4})
    )


def _threats(audit: Audit) -> str:
    """What an attacker knows of people in the release beyond what a learner knows of people like them."""
    if not audit.threats:
        return ""
    meanings = words.THREATS
    text = [
        "<h2>About the person, or about everybody</h2>\n"
        "<p>The learner uses the release as a study: what it knows of a person it would know of anybody like them. The attacker "
        "knows besides that the person is in the release. What the attacker knows beyond the learner is about the person.</p>"
    ]
    for column, found in audit.threats.items():
        figures, errors = found.threats, found.errors
        rows = [
            [
                f"<code>{key}</code>",
                words.at_least(
                    found.unmatched > 0 and key in words.OF_ATTACKER,
                    words.percent(getattr(figures, key)) + words.plus_minus(errors.get(key)),
                ),
                escape(meaning),
            ]
            for key, meaning in meanings.items()
        ]
        error = found.faithfulness.stderr
        faithful = words.number(found.faithfulness.RF) + (f" ± {error:.2g}" if error else "")
        rows.append(["<code>max_Ti</code>", words.number(figures.max_Ti), escape(words.MOST_GIVEN_AWAY)])
        rows.append(["<code>RF</code>", faithful, escape(words.FAITHFUL)])
        way = (
            "Exact: chances are computed, not sampled."
            if found.belief.method == "exact"
            else f"Sampled ({escape(found.belief.diagnostics['sampler'])}, {found.belief.diagnostics['chains']} chains of "
            f"{found.belief.diagnostics['sweeps']:,} sweeps, R-hat {found.belief.diagnostics['largest_rhat']:.3f}); ± is the "
            "Monte-Carlo error."
        )
        if not found.converged:
            way = f"<strong>Not converged: these numbers are not to be relied on.</strong> {way}"
        text.append(table([escape(column), "found", "meaning"], rows, numeric={1}) + f'\n<p class="soft">{way}</p>')
    return "\n".join(text)


def _people(audit: Audit, reveal: bool) -> str:
    if not audit.at_risk:
        return ""
    header = ["rows of the table", "class", "people in it", "given away most by", "how sure the adversary is"]
    rows = []
    for person in audit.at_risk:
        where = ", ".join(map(str, person.rows)) + (" …" if person.alike > len(person.rows) > 0 else "")
        where = where or "not numbered"
        belief = person.level
        if reveal:
            belief = (
                f"{person.belief:.1%} of {person.value} ({person.baseline:.2%} in the table); right for {person.right} of "
                f"{person.alike}"
            )
        rows.append([where, person.place, f"{person.group_size:,}", escape(person.attribute), escape(belief)])
    note = (
        ""
        if reveal
        else " Of which value, and whether it is right, is not shown; --reveal shows it to those who may see."
    )
    return (
        "<h2>The people most at risk</h2>\n"
        "<p>Those of whom an adversary who knows their quasi-identifiers is surest, rightly or not. The attribute named is the "
        "one without which it would be least sure. Rows and classes are numbered from 0."
        f"{note}</p>\n" + table(header, rows, numeric={1, 2})
    )


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
    reported, reason = measured_at(place).reported, audit.undefined(column, place)
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


def _diagnostics(audit: Audit) -> str:
    if not any(found.success.n for found in audit.attacks):
        return ""
    notes = [f"{escape(f.adversary)} on {escape(f.column)}: {f.belief.method} beliefs" for f in audit.attacks]
    sure = [
        f"of {counted(f.high_confidence.n, 'person', 'people')} it is more than 80 % sure of, it is right for "
        f"{words.rate(f.high_confidence)}"
        if f.high_confidence.n
        else "it is more than 80 % sure of nobody"
        for f in audit.attacks
    ]
    listed = "; ".join(f"{note}; {more}" for note, more in zip(notes, sure, strict=True))
    return (
        "<h2>Can the beliefs be trusted?</h2>\n"
        f"<p>{listed}.</p>\n<figure>{charts.calibration(audit)}<figcaption>How sure the adversary is against how often it is "
        "right. On the dashed line its beliefs can be taken at their word.</figcaption></figure>"
    )


def _limits(audit: Audit) -> str:
    items = "".join(f"<li>{escape(limit)}</li>" for limit in audit.limits)
    return f"<h2>What was not tested</h2>\n<ul>{items}</ul>"


def _repeat(audit: Audit, run: Mapping[str, Any]) -> str:
    rows = [["seed", str(audit.seed)], ["dalenius", __version__]]
    rows += [[escape(str(key)), f"<code>{escape(shown(value))}</code>"] for key, value in run.items()]
    rows += [[f"SHA-256 of the {escape(key)}", f"<code>{digest}</code>"] for key, digest in audit.hashes.items()]
    return "<h2>How to repeat this</h2>\n" + table(["what", "value"], rows)
