"""The audit on a screen."""

from __future__ import annotations

import textwrap

from dalenius.auditing import Audit
from dalenius.auditing.attacks import Attack
from dalenius.auditing.limits import first_limits
from dalenius.auditing.threat import RelativeThreats
from dalenius.errors import counted
from dalenius.measures import remaining
from dalenius.measures.classes import ClassErrors
from dalenius.releases import Release
from dalenius.reports import words

WIDTH = 96


def lines(audit: Audit) -> list[str]:
    """A summary that fits a screen."""
    return [
        f"{audit.name}: {_extent(audit.release)}",
        *remaining.wrapped(f"  {'Left':<14}", audit.columns_left, indent=17, width=WIDTH),
        *(f"  {'WARNING':<14} {sentence}" for sentence in remaining.warnings(audit.columns_left)),
        "",
        *_verdict(audit),
        *_risks(audit),
        "",
        *_inference(audit),
        *_disclosures(audit),
        *_most_at_risk(audit),
        *_cost(audit),
        *(line for limit in first_limits(audit, 3) for line in _labelled("Not tested", limit)),
    ]


def _extent(release: Release) -> str:
    classes, counts = release.classes(), release.counts()
    if classes is not None:
        people, groups = counted(classes.people, "person", "people"), counted(classes.groups, "class", "classes")
        return f"{people} in {groups} ({release.kind}), {counted(classes.suppressed, 'row', 'rows')} suppressed"
    if counts is None:
        return release.kind
    budget = f"{counts.promise}, {counts.neighbours}" if counts.epsilon else "no noise"
    return f"counts ({release.kind}), {counts.mechanism}, {budget}"


def _verdict(audit: Audit) -> list[str]:
    """The verdict, and each threshold with its outcome."""
    text = [f"  {words.VERDICTS[audit.verdict]}"]
    for threshold in audit.thresholds:
        value = words.number(threshold.measured) if threshold.outcome != "not tested" else ""
        value += f"{' ' if value else ''}{threshold.reason}" if threshold.reason else ""
        text.append(f"    {threshold.outcome:<11} {threshold.key + ' ' + threshold.asked:<32} {value}")
    return text


def _risks(audit: Audit) -> list[str]:
    """Singling out and linkability, and the suppressed rows."""
    text, risks = [], audit.risks
    if risks is not None:
        text += [
            "",
            f"  Singling out   {words.percent(risks.singled_out)} of the people fit one row only",
            f"  Linkability    {words.percent(risks.average)} on average, {words.percent(risks.highest)} at most; "
            f"{words.percent(risks.at_risk)} of the people above 20%",
            *([f"                 {words.UPPER_BOUND}"] if risks.upper_bound else []),
        ]
    if audit.suppressed_rows is not None:
        rows = counted(audit.suppressed_rows.rows, "row", "rows")
        text.append(f"  Suppressed     {rows}, counted above and here {audit.suppressed_rows.line()}")
    return text


def _inference(audit: Audit) -> list[str]:
    """How often each adversary is right, or how sure it is."""
    heading = "how often the adversary guesses right (95% intervals)"
    text = [f"  Inference: {heading if audit.attacks else 'no adversary could be tried'}"]
    naive = {found.column: found.naive for found in audit.attacks if found.success.n}
    text += [f"    always the commonest {column}: {words.rate(rate)}" for column, rate in naive.items()]
    for found in audit.attacks:
        text += [
            *(_success(found) if found.success.n else _confidence(found)),
            *(line for note in words.notes(found) for line in _wrapped(note)),
        ]
    text += [_threats(column, threats) for column, threats in audit.threats.items()]
    text += [_error(column, error) for column, error in audit.errors.items()]
    return text


def _success(found: Attack) -> list[str]:
    """How often an adversary is right, in the release and outside it."""
    control = "no control" if found.control.n == 0 else f"control {words.rate(found.control)}"
    unsettled = "" if found.is_control_converged else ", NOT CONVERGED"
    gain = f"gain {words.gain(found)}: {words.verdict(found)}"
    return [
        f"    {found.adversary} on {found.column}: {words.success(found)}, {control}{unsettled}",
        *_wrapped("; ".join(filter(None, [gain, words.certain(found)]))),
    ]


def _confidence(found: Attack) -> list[str]:
    """Without the truth: how sure an adversary is."""
    sure = found.confidence
    return [
        f"    {found.adversary} on {found.column}: right or wrong unknown; it is {words.percent(sure.mean)} sure on",
        f"      average, more than 80% of {words.percent(sure.above_80)} and certain of "
        f"{words.sure(sure.certain, sure.certain_sure)}",
    ]


def _threats(column: str, found: RelativeThreats) -> str:
    """What an attacker knows of people in the release beyond what a learner knows of people like them."""
    figures, errors = found.threats, found.errors
    kind = "exact" if found.belief.method == "exact" else "sampled" if found.converged else "NOT CONVERGED"
    learner, more = (
        f"{words.percent(getattr(figures, key))}{words.plus_minus(errors.get(key))}" for key in ("GT_L", "RGT_A")
    )
    sure = words.number(figures.max_Ti)
    return (
        f"    a learner on {column} ({kind}): {learner}; to know who is in it adds {more}, up to {sure} times as sure"
    )


def _error(column: str, found: ClassErrors) -> str:
    """How often the best guess of who knows a person's class is wrong."""
    before, average, worst = map(words.percent, (found.prior_privacy, found.average_privacy, found.worst_case_privacy))
    return f"    best guess of {column} by class: wrong for {average}; {before} without, {worst} in the worst"


def _disclosures(audit: Audit) -> list[str]:
    """ε against each realistic adversary."""
    if not audit.disclosures:
        return []
    text = ["", "  Being in the release: by what factor a belief changes at most (ε), and in which class"]
    for one in audit.disclosures:
        known = f" (b = {one.known:,})" if one.known and "known=" not in one.adversary else ""
        text.append(
            f"    {one.adversary + known + ' on ' + one.sensitive:<40} {words.number(one.epsilon):>10}   "
            f"class {one.worst_class}, {counted(one.class_size, 'person', 'people')}"
        )
    return text


def _most_at_risk(audit: Audit) -> list[str]:
    """The person most given away."""
    if not audit.at_risk:
        return []
    first = audit.at_risk[0]
    rows = f"row {', '.join(map(str, first.rows))}" if first.rows else counted(first.alike, "person", "people")
    return ["", f"  Most at risk   {rows} (class {first.place}), given away most by {first.attribute}"]


def _cost(audit: Audit) -> list[str]:
    """What the release costs, and whether rows were changed."""
    costs = {f"faithfulness for {column}": one.faithfulness.RF for column, one in audit.threats.items()}
    costs = {**audit.utility, **({} if "faithfulness" in audit.utility else costs)}
    misfit = costs.pop("misfit", 0)
    cost = ", ".join(f"{name.replace('_', ' ')} {words.number(value)}" for name, value in costs.items())
    text = _labelled("Cost", cost) if cost else []
    return text + (_labelled("Changed", words.changed(misfit, audit.release.kind) + ".") if misfit else [])


def _labelled(label: str, text: str) -> list[str]:
    """Text beside a label, wrapped."""
    return textwrap.wrap(text, WIDTH, initial_indent=f"  {label:<15}", subsequent_indent=" " * 17)


def _wrapped(text: str) -> list[str]:
    """What is said of an attack, below its name."""
    return textwrap.wrap(text, 100, initial_indent=" " * 6, subsequent_indent=" " * 8)
