"""The audit on the terminal."""

from __future__ import annotations

from dalenius.auditing import Audit
from dalenius.auditing.attacks import Attack
from dalenius.auditing.limits import first_limits
from dalenius.auditing.threat import RelativeThreats
from dalenius.measures import remaining
from dalenius.measures.classes import ClassErrors
from dalenius.releases import Release
from dalenius.reports import numbers, phrases
from dalenius.reports.layout import WIDTH, grid, labelled, wrapped
from dalenius.reports.words import audit as say
from dalenius.reports.words import common

__all__ = ["lines"]

MAX_OPTIONAL_LIMITS = 3  # sentences about what was not tested, besides those that must be said


def lines(audit: Audit) -> list[str]:
    """Return a summary that fits a screen: the answer, the reasons, and what was not tested."""
    return [
        *_identifiers(audit),
        *wrapped(say.titled(audit.name, _extent(audit.release)), indent=0, hanging=2),
        "",
        *_verdict(audit),
        "",
        *remaining.wrapped(f"  {say.COLUMNS:<14}", audit.columns_left, indent=17, width=WIDTH),
        *(line for text in remaining.warnings(audit.columns_left) for line in labelled(common.WARNING, text)),
        *_risks(audit),
        "",
        *_inference(audit),
        *_disclosures(audit),
        *_most_at_risk(audit),
        *_cost(audit),
        *_limits(audit),
    ]


def _identifiers(audit: Audit) -> list[str]:
    """Return the warning that comes first: the release contains identifiers."""
    text = phrases.identifiers(audit)
    return [*wrapped(text, indent=0, lead=f"{common.WARNING}: ", hanging=2), ""] if text else []


def _extent(release: Release) -> str:
    """Return how many people, classes and suppressed rows a release has."""
    classes, counts = release.classes(), release.counts()
    if classes is not None:
        return say.extent(classes.people, classes.groups, release.kind, classes.suppressed)
    if counts is None:
        return release.kind
    budget = f"{counts.promise}, {counts.neighbours}" if counts.epsilon else say.NO_NOISE
    return say.extent_of_counts(release.kind, counts.mechanism, budget)


def _verdict(audit: Audit) -> list[str]:
    """Return the verdict, the answer, and each threshold with its outcome."""
    text = [*wrapped(common.VERDICTS[audit.verdict]), *wrapped(phrases.answer(audit))]
    for threshold in audit.thresholds:
        value = numbers.number(threshold.measured) if threshold.outcome != "not tested" else ""
        required = f"{threshold.key} {threshold.asked}"
        lead = f"{threshold.outcome:<11} {required:<40} "
        text += [f"    {lead}{value}".rstrip(), *wrapped(threshold.reason, indent=16)]
    return text


def _risks(audit: Audit) -> list[str]:
    """Return singling out and linkability, and the suppressed rows."""
    text, risks = [], audit.risks
    if risks is not None:
        shares = map(numbers.percent, (risks.average, risks.highest, risks.at_risk))
        text += labelled(say.SINGLING_OUT, say.singled_out(numbers.percent(risks.singled_out)))
        text += labelled(say.LINKABILITY, say.linkability(*shares))
        text += labelled("", common.UPPER_BOUND) if risks.upper_bound else []
    if audit.suppressed_rows is not None:
        suppressed = audit.suppressed_rows
        text += labelled(say.SUPPRESSED, say.suppressed(suppressed.rows, suppressed.line()))
    return text


def _inference(audit: Audit) -> list[str]:
    """Return how often each adversary is right, or how confident it is."""
    text = wrapped(say.INFERENCE if audit.attacks else say.NO_ADVERSARY)
    naive = {attack.column: attack.naive for attack in audit.attacks if attack.success.n}
    for column, rate in naive.items():
        text += _item(say.most_common(column, numbers.rate(rate)))
    for attack in audit.attacks:
        text += _item(say.attack(attack.adversary, attack.column))
        for detail in (*(_success(attack) if attack.success.n else _confidence(attack)), *phrases.notes(attack)):
            text += wrapped(detail, indent=6, hanging=8)
    for column, threats in audit.threats.items():
        text += _item(_learner(column, threats))
    for column, error in audit.errors.items():
        text += _item(_error(column, error))
    return text


def _item(text: str) -> list[str]:
    return wrapped(text, indent=4, hanging=6)


def _success(attack: Attack) -> list[str]:
    """Return how often an adversary is right, in the release and outside it."""
    control = say.NO_CONTROL if attack.control.n == 0 else say.control(numbers.rate(attack.control))
    rates = say.attack_rates(phrases.success(attack), control)
    unsettled = "" if attack.is_control_converged else f", {common.NOT_CONVERGED.upper()}"
    gain = say.gain(phrases.gain(attack), phrases.conclusion(attack))
    return [text for text in (rates + unsettled, gain, phrases.certain(attack)) if text]


def _confidence(attack: Attack) -> list[str]:
    """Return how confident an adversary is, if nobody knows how often it is right."""
    confidence = attack.confidence
    certain = phrases.sure(confidence.certain, confidence.certain_sure)
    return [say.confidence(numbers.percent(confidence.mean), numbers.percent(confidence.above_80), certain)]


def _learner(column: str, threats: RelativeThreats) -> str:
    """Return what an attacker knows about people in the release beyond what a learner knows about people like them."""
    sampled = say.SAMPLED if threats.converged else common.NOT_CONVERGED.upper()
    method = say.EXACT if threats.belief.method == "exact" else sampled
    learner, more = (
        f"{numbers.percent(getattr(threats.threats, key))}{numbers.plus_minus(threats.errors.get(key))}"
        for key in ("GT_L", "RGT_A")
    )
    return say.learner(column, method, learner, more, numbers.number(threats.threats.max_Ti))


def _error(column: str, error: ClassErrors) -> str:
    """Return how often the best guess of somebody who knows a person's class is wrong."""
    shares = map(numbers.percent, (error.average_privacy, error.prior_privacy, error.worst_case_privacy))
    return say.class_error(column, *shares)


def _disclosures(audit: Audit) -> list[str]:
    """Return ε against each realistic adversary."""
    if not audit.disclosures:
        return []
    rows = []
    for disclosure in audit.disclosures:
        name = disclosure.adversary
        if disclosure.known and "known=" not in name:
            name = say.known(name, disclosure.known)
        place = say.worst_class(disclosure.worst_class, disclosure.class_size)
        rows.append([say.attack(name, disclosure.sensitive), numbers.number(disclosure.epsilon), place])
    return ["", *wrapped(say.EPSILON), *grid(None, rows, right={1}, indent=4)]


def _most_at_risk(audit: Audit) -> list[str]:
    """Return the person most exposed."""
    if not audit.at_risk:
        return []
    first = audit.at_risk[0]
    who = say.row_numbers(", ".join(map(str, first.rows))) if first.rows else say.alike(first.alike)
    return ["", *labelled(say.MOST_AT_RISK, say.most_at_risk(who, first.place, first.attribute))]


def _cost(audit: Audit) -> list[str]:
    """Return what the release costs, and whether rows were changed."""
    faithfulness = {say.faithfulness_for(column): one.faithfulness.RF for column, one in audit.threats.items()}
    costs = {**audit.utility, **({} if "faithfulness" in audit.utility else faithfulness)}
    misfit = costs.pop("misfit", 0)
    cost = ", ".join(f"{name.replace('_', ' ')} {numbers.number(value)}" for name, value in costs.items())
    text = labelled(say.COST, cost) if cost else []
    return text + (labelled(say.CHANGED, phrases.changed(misfit, audit.release.kind)) if misfit else [])


def _limits(audit: Audit) -> list[str]:
    """Return the first limits, and how many more there are."""
    warned = 1 if audit.identifiers else 0  # the first limit then repeats the warning at the top
    shown = first_limits(audit, MAX_OPTIONAL_LIMITS + warned)[warned:]
    more = len(audit.limits) - warned - len(shown)
    text = [line for limit in shown for line in labelled(say.NOT_TESTED, limit)]
    return text + (labelled("", say.more_limits(more)) if more else [])
