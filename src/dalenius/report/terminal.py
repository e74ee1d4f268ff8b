"""The audit on a screen."""

from __future__ import annotations

import textwrap

from dalenius.audit import Audit
from dalenius.audit.threat import RelativeThreats
from dalenius.errors import counted
from dalenius.measure import remaining
from dalenius.measure.classes import ClassErrors
from dalenius.release import Anatomized, Centroids, GroupedRelease, NoisyCounts
from dalenius.report import words


def lines(audit: Audit) -> list[str]:
    """A summary that fits a screen."""
    release = audit.release
    text = [
        f"{audit.name}: {_extent(release)}",
        *remaining.wrapped(f"  {'Left':<14}", audit.columns_left, indent=17, width=96),
        *(f"  {'WARNING':<14} {sentence}" for sentence in remaining.warnings(audit.columns_left)),
        "",
        f"  {words.VERDICTS[audit.verdict]}",
    ]
    for threshold in audit.thresholds:
        value = words.number(threshold.measured) if threshold.outcome != "not tested" else ""
        value += f"{' ' if value else ''}{threshold.reason}" if threshold.reason else ""
        text.append(f"    {threshold.outcome:<11} {threshold.key + ' ' + threshold.asked:<32} {value}")
    risks = audit.risks
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
    heading = "how often the adversary guesses right (95% intervals)"
    text += ["", f"  Inference: {heading if audit.attacks else 'no adversary could be tried'}"]
    for column, naive in {found.column: found.naive for found in audit.attacks if found.success.n}.items():
        text.append(f"    always the commonest {column}: {words.rate(naive)}")
    for found in audit.attacks:
        if not found.success.n:
            sure = found.confidence
            text += [
                f"    {found.adversary} on {found.column}: right or wrong unknown; it is {words.percent(sure.mean)} sure on",
                f"      average, more than 80% of {words.percent(sure.above_80)} and certain of "
                f"{words.sure(sure.certain, sure.certain_sure)}",
                *(line for note in words.notes(found) for line in _wrapped(note)),
            ]
            continue
        control = "no control" if found.control.n == 0 else f"control {words.rate(found.control)}"
        unsettled = "" if found.control_settled else ", NOT CONVERGED"
        text += [
            f"    {found.adversary} on {found.column}: {words.success(found)}, {control}{unsettled}",
            *_wrapped(
                "; ".join(filter(None, [f"gain {words.gain(found)}: {words.verdict(found)}", words.certain(found)]))
            ),
            *(line for note in words.notes(found) for line in _wrapped(note)),
        ]
    for column, threats in audit.threats.items():
        text += _threats(column, threats)
    for column, error in audit.errors.items():
        text.append(_error(column, error))
    if audit.disclosures:
        text += ["", "  Being in the release: by what factor a belief changes at most (ε), and in which class"]
    for one in audit.disclosures:
        known = f" (b = {one.known:,})" if one.known and "known=" not in one.adversary else ""
        text.append(
            f"    {one.adversary + known + ' on ' + one.sensitive:<40} {words.number(one.epsilon):>10}   "
            f"class {one.worst_class}, {counted(one.class_size, 'person', 'people')}"
        )
    if audit.at_risk:
        first = audit.at_risk[0]
        rows = f"row {', '.join(map(str, first.rows))}" if first.rows else counted(first.alike, "person", "people")
        text += ["", f"  Most at risk   {rows} (class {first.place}), given away most by {first.attribute}"]
    costs = {f"faithfulness for {column}": one.faithfulness.RF for column, one in audit.threats.items()}
    costs = {**audit.utility, **({} if "faithfulness" in audit.utility else costs)}
    misfit = costs.pop("misfit", 0)
    cost = ", ".join(f"{name.replace('_', ' ')} {words.number(value)}" for name, value in costs.items())
    if cost:
        text += textwrap.wrap(cost, 96, initial_indent="  Cost           ", subsequent_indent=" " * 17)
    if misfit:
        said = words.changed(misfit, release.kind) + "."
        text += textwrap.wrap(said, 96, initial_indent="  Changed        ", subsequent_indent=" " * 17)
    untold = len(audit.refused) + sum(not one.converged for one in audit.threats.values())
    untold += bool(audit.unthreatened and audit.has_truth) + isinstance(release, Anatomized | Centroids)
    for limit in audit.limits[: untold + 3]:  # an adversary that was not tried is never left out
        text += textwrap.wrap(limit, 96, initial_indent="  Not tested     ", subsequent_indent=" " * 17)
    return text


def _wrapped(text: str) -> list[str]:
    """What is said of an attack, below its name."""
    return textwrap.wrap(text, 100, initial_indent=" " * 6, subsequent_indent=" " * 8)


def _threats(column: str, found: RelativeThreats) -> list[str]:
    """What an attacker knows of people in the release beyond what a learner knows of people like them."""
    figures, errors = found.threats, found.errors
    way = "exact" if found.belief.method == "exact" else "sampled" if found.converged else "NOT CONVERGED"
    learner, more = (
        f"{words.percent(getattr(figures, key))}{words.plus_minus(errors.get(key))}" for key in ("GT_L", "RGT_A")
    )
    sure = words.number(figures.max_Ti)
    return [
        f"    a learner on {column} ({way}): {learner}; to know who is in it adds {more}, up to {sure} times as sure"
    ]


def _error(column: str, found: ClassErrors) -> str:
    """How often the best guess of who knows a person's class is wrong."""
    before, average, worst = map(words.percent, (found.prior_privacy, found.average_privacy, found.worst_case_privacy))
    return f"    best guess of {column} by class: wrong for {average}; {before} without, {worst} in the worst"


def _extent(release: GroupedRelease | NoisyCounts) -> str:
    if isinstance(release, NoisyCounts):
        budget = f"{release.promise}, {release.neighbours}" if release.epsilon else "no noise"
        return f"counts ({release.kind}), {release.mechanism}, {budget}"
    people, groups = counted(release.people, "person", "people"), counted(release.groups, "class", "classes")
    return f"{people} in {groups} ({release.kind}), {counted(release.suppressed, 'row', 'rows')} suppressed"
