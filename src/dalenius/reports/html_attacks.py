"""The part of the audit's page that is about adversaries and the people whom they attack."""

from __future__ import annotations

import math
from html import escape

from dalenius.adversaries import ADVERSARIES
from dalenius.auditing import Audit
from dalenius.auditing.at_risk import AtRisk
from dalenius.auditing.attacks import GAIN_FORMULA, RESIDUAL_FORMULA, Attack
from dalenius.auditing.threat import RelativeThreats
from dalenius.measures.accuracy import MARGIN
from dalenius.reports import audit_charts, numbers, phrases
from dalenius.reports.frame import figure, heading, paragraph, table
from dalenius.reports.words import attacks as say
from dalenius.reports.words import audit as audit_words
from dalenius.reports.words import common

__all__ = ["attacks", "diagnostics", "disclosures", "people", "threats", "three_risks"]

OF_ATTACKER = ("GT_A", "GT_RW")  # lower bounds if people match no class


def attacks(audit: Audit) -> str:
    """Return who attacks, and how often each adversary is right."""
    text = [heading(say.ADVERSARIES)]
    for name in dict.fromkeys(attack.adversary for attack in audit.attacks):
        adversary = ADVERSARIES[name]
        text.append(paragraph(say.knows(escape(name), escape(adversary.knows), escape(adversary.does))))
    if not audit.attacks:
        return "\n".join([*text, paragraph(say.NO_ADVERSARY)])
    if not any(attack.success.n for attack in audit.attacks):
        return "\n".join([*text, _confidences(audit)])
    method = say.method(escape(GAIN_FORMULA), escape(RESIDUAL_FORMULA), f"{100 * MARGIN:g}")
    text += [
        figure(audit_charts.rates(audit), say.RATES_CAPTION),
        table(say.COLUMNS, [_rates(attack) for attack in audit.attacks]),
        paragraph(method, soft=True),
    ]
    return "\n".join(text)


def _name(attack: Attack) -> str:
    return escape(audit_words.attack(attack.adversary, attack.column))


def _rates(attack: Attack) -> list[str]:
    """Return a row: how often an adversary is right, and the conclusion."""
    unsettled = "" if attack.is_control_converged else f", <b>{common.NOT_CONVERGED}</b>"
    notes = "".join(f"<br><small>{escape(note)}</small>" for note in phrases.notes(attack))
    return [
        f"{_name(attack)}{unsettled}{notes}",
        phrases.success(attack),
        numbers.rate(attack.naive),
        numbers.rate(attack.control),
        phrases.gain(attack),
        escape(phrases.conclusion(attack)),
    ]


def _confidences(audit: Audit) -> str:
    """Return how confident each adversary is, if nobody knows how often it is right."""
    rows = [
        [
            _name(attack),
            numbers.percent(attack.confidence.mean),
            say.of_people(numbers.percent(attack.confidence.above_80)),
            say.of_people(phrases.sure(attack.confidence.certain, attack.confidence.certain_sure)),
        ]
        for attack in audit.attacks
    ]
    return table(say.CONFIDENCE_COLUMNS, rows) + paragraph(say.CONFIDENCE_TEXT)


def three_risks(audit: Audit) -> str:
    """Return the risks that the European guidelines name."""
    risks = audit.risks
    if risks is None:
        return ""
    # A centroid may mislead: these risks then take the group as known.
    known = say.GROUP if audit.release.centres() is not None else say.QUASI_IDENTIFIERS
    average, highest, at_risk = map(numbers.percent, (risks.average, risks.highest, risks.at_risk))
    bound = common.UPPER_BOUND if risks.upper_bound else ""
    linkability = say.linkability(known, average, highest, at_risk, bound)
    rows = [
        [say.SINGLING_OUT, say.singled_out(numbers.percent(risks.singled_out))],
        [say.LINKABILITY, linkability],
        [say.INFERENCE, _inference(audit)],
    ]
    return heading(say.RISKS) + table(say.RISK_COLUMNS, rows)


def _inference(audit: Audit) -> str:
    """Return what the best adversary achieves."""
    judged = [attack for attack in audit.attacks if attack.success.n and attack.is_converged]
    if not judged:
        return say.NOT_MEASURED
    best = max(judged, key=lambda attack: attack.success.value)
    known = [attack for attack in judged if not math.isnan(attack.perfect_breach)]
    certain = "–"
    if known:
        share = max(attack.perfect_breach for attack in known)
        in_any_case = max(attack.perfect_breach_sure for attack in known)
        certain = phrases.bounded(phrases.sure(share, in_any_case), any(attack.lower_bound for attack in known))
    right = phrases.bounded(numbers.percent(best.success.value), best.lower_bound)
    return say.inference(right, numbers.percent(best.naive.value), certain, escape(phrases.conclusion(best)))


def disclosures(audit: Audit) -> str:
    """Return ε against each realistic adversary."""
    if not audit.disclosures:
        return ""
    rows = []
    for disclosure in audit.disclosures:
        name = f"<code>{escape(disclosure.adversary)}</code>"
        if disclosure.known and "known=" not in disclosure.adversary:
            name = audit_words.known(name, disclosure.known)
        rows.append(
            [
                name,
                escape(disclosure.sensitive),
                numbers.number(disclosure.epsilon),
                str(disclosure.worst_class),
                f"{disclosure.class_size:,}",
            ]
        )
    return (
        heading(say.DISCLOSURES)
        + paragraph(say.DISCLOSURE_TEXT)
        + table(say.DISCLOSURE_COLUMNS, rows, numeric={2, 3, 4})
    )


def threats(audit: Audit) -> str:
    """Return what an attacker knows about people in the release beyond what a learner knows about people like them."""
    if not audit.threats:
        return ""
    text = [heading(say.THREATS) + paragraph(say.THREATS_TEXT)]
    for column, relative in audit.threats.items():
        header = [escape(column), *say.THREAT_COLUMNS]
        text.append(table(header, _threat_rows(relative), numeric={1}) + paragraph(_method(relative), soft=True))
    return "\n".join(text)


def _threat_rows(relative: RelativeThreats) -> list[list[str]]:
    """Return a row for each figure."""
    rows = []
    for key, meaning in common.THREATS.items():
        share = numbers.percent(getattr(relative.threats, key)) + numbers.plus_minus(relative.errors.get(key))
        share = phrases.bounded(share, relative.unmatched > 0 and key in OF_ATTACKER)
        rows.append([f"<code>{key}</code>", share, escape(meaning)])
    error = relative.faithfulness.stderr
    faithful = numbers.number(relative.faithfulness.RF) + (f" ± {error:.2g}" if error else "")
    rows.append(["<code>max_Ti</code>", numbers.number(relative.threats.max_Ti), escape(common.MAX_RATIO)])
    rows.append(["<code>RF</code>", faithful, escape(common.FAITHFUL)])
    return rows


def _method(relative: RelativeThreats) -> str:
    """Return whether the figures are exact, sampled, or not reliable."""
    if relative.belief.method == "exact":
        method = say.EXACT
    else:
        run = relative.belief.diagnostics
        method = say.sampled(
            escape(run["sampler"]), str(run["chains"]), f"{run['sweeps']:,}", f"{run['largest_rhat']:.3f}"
        )
    return method if relative.converged else f"<strong>{say.NOT_RELIABLE}</strong> {method}"


def people(audit: Audit, reveal: bool) -> str:
    """Return the people about whom an adversary is most confident."""
    if not audit.at_risk:
        return ""
    rows = [_person(person, reveal) for person in audit.at_risk]
    text = paragraph(say.PEOPLE_TEXT + ("" if reveal else say.HIDDEN))
    return heading(say.PEOPLE) + text + table(say.PEOPLE_COLUMNS, rows, numeric={1, 2})


def _person(person: AtRisk, reveal: bool) -> list[str]:
    """Return a row about people who are alike."""
    place = ", ".join(map(str, person.rows)) + (" …" if person.alike > len(person.rows) > 0 else "")
    confidence = person.level
    if reveal:
        confidence = say.revealed(
            f"{person.belief:.1%}", person.value, f"{person.baseline:.2%}", person.right, person.alike
        )
    size = f"{person.group_size:,}"
    return [place or say.NOT_NUMBERED, person.place, size, escape(person.attribute), escape(confidence)]


def diagnostics(audit: Audit) -> str:
    """Return how far the adversaries' confidence can be trusted."""
    if not any(attack.success.n for attack in audit.attacks):
        return ""
    items = []
    for attack in audit.attacks:
        sure = attack.high_confidence
        confident = say.confident(sure.n, numbers.rate(sure)) if sure.n else say.CONFIDENT_OF_NOBODY
        beliefs = say.beliefs(escape(attack.adversary), escape(attack.column), attack.belief.method)
        items.append(f"<li>{beliefs}; {confident}</li>")
    chart = figure(audit_charts.calibration(audit), say.CALIBRATION_CAPTION)
    return f"{heading(say.DIAGNOSTICS)}<ul>{''.join(items)}</ul>\n{chart}"
