"""The part of the audit's page that is about adversaries and the people they attack."""

from __future__ import annotations

import math
from html import escape

from dalenius.adversaries import ADVERSARIES
from dalenius.auditing import Audit
from dalenius.auditing.attacks import GAIN_FORMULA, RESIDUAL_FORMULA
from dalenius.errors import counted
from dalenius.measures.accuracy import MARGIN
from dalenius.reports import audit_charts, words
from dalenius.reports.frame import table


def attacks(audit: Audit) -> str:
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
            + ("" if found.is_control_converged else ", <b>not converged</b>")
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
        f"<figure>{audit_charts.rates(audit)}<figcaption>How often the adversary guesses a person's value right, with 95 % "
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


def three_risks(audit: Audit) -> str:
    risks = audit.risks
    if risks is None:
        return ""
    judged = [found for found in audit.attacks if found.success.n and found.is_converged]
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
    known = "group" if audit.release.centres() is not None else "quasi-identifiers"  # a centroid may mislead
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


def disclosures(audit: Audit) -> str:
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


def threats(audit: Audit) -> str:
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


def people(audit: Audit, reveal: bool) -> str:
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


def diagnostics(audit: Audit) -> str:
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
        f"<p>{listed}.</p>\n<figure>{audit_charts.calibration(audit)}<figcaption>How sure the adversary is against how often it is "
        "right. On the dashed line its beliefs can be taken at their word.</figcaption></figure>"
    )
