"""One tidy table for each result, as a header and rows of plain values: what `to_pandas` returns and `.csv` files hold.

Nothing here tells a person's value, except the beliefs about targets that `attack -o` and `compose -o` write as well.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from dalenius.auditing import Audit
from dalenius.auditing.attacking import ReleaseAttack
from dalenius.auditing.channel import MeasuredChannel
from dalenius.auditing.checking import ReleaseCheck
from dalenius.auditing.compare import COSTS, Comparison
from dalenius.auditing.epsilon_curve import EpsilonCurve
from dalenius.auditing.exploring import Frontier
from dalenius.auditing.publishing import Publication
from dalenius.auditing.splitting import Split
from dalenius.auditing.surveying import LatticeSurvey
from dalenius.criteria import headlines, measured
from dalenius.errors import InputError
from dalenius.measures.guide import QUESTIONS, Guidance
from dalenius.output import csv_text

__all__ = ["Table", "to_csv"]

Table = tuple[list[str], list[list[Any]]]

BITS, LOSS = "bits", "units of the loss"
CHANNEL_UNITS = {
    "average_privacy": LOSS,
    "worst_case_privacy": LOSS,
    "prior_privacy": LOSS,
    "distortion": "units of the system's loss",
    "shannon_entropy": BITS,
    "hartley_entropy": BITS,
    "min_entropy": BITS,
    "mutual_information": BITS,
    "t_kl": BITS,
    "delta_disclosure": BITS,
    "t_emd": "units of the ground distance",
    "epsilon.local": "nats",
    "epsilon.adjacent": "nats",
    "epsilon.per_distance": "nats for each unit of the labels' distance",
}


def to_csv(table: Table) -> str:
    """Return a table as CSV; what is missing or undefined is empty."""
    header, rows = table
    return csv_text(header, ([_cell(value) for value in row] for row in rows))


def _cell(value: Any) -> object:
    if value is None or (isinstance(value, float) and math.isnan(value)):
        return ""
    return repr(value) if isinstance(value, float) else value


def of_records(records: Sequence[Mapping[str, Any]], header: Sequence[str] | None = None) -> Table:
    """Return a table of records; a record without a key has None there."""
    names = list(header or dict.fromkeys(name for record in records for name in record))
    return names, [[_plain(record.get(name)) for name in names] for record in records]


def _plain(value: Any) -> Any:
    """Return a NumPy number as a Python one, and a path as text."""
    if isinstance(value, Path):
        return str(value)
    return value.item() if hasattr(value, "item") else value


def of_audit(audit: Audit) -> Table:
    """Return one row for each adversary and sensitive column."""
    return of_records(
        [
            {
                "adversary": attack.adversary,
                "sensitive": attack.column,
                "people": attack.success.n,
                **_interval("success", attack.success),
                "naive": attack.naive.value,
                **_interval("control", attack.control),
                **_interval("gain", attack.gain),
                "confidence": attack.confidence.mean,
                "verdict": attack.verdict,
                "converged": attack.is_control_converged,
            }
            for attack in audit.attacks
        ],
        [
            *("adversary", "sensitive", "people", "success", "success_low", "success_high", "naive"),
            *("control", "control_low", "control_high", "gain", "gain_low", "gain_high"),
            *("confidence", "verdict", "converged"),
        ],
    )


def _interval(name: str, rate: Any) -> dict[str, float]:
    return {name: float(rate.value), f"{name}_low": float(rate.low), f"{name}_high": float(rate.high)}


def of_check(check: ReleaseCheck) -> Table:
    """Return one row for each sensitive column and privacy model, and one for each realistic adversary."""
    rows = []
    for column, levels in check.levels.items():
        sensitive = check.groupings[column].column
        for model in measured():
            reason = model.criterion().undefined(sensitive)
            title, level = model.reported.title, float(levels[model.place].value)
            rows.append([column, *model.place, title, level, model.model.better, reason or None])
        for adversary, worst in check.against[column].items():
            title = f"ε against {adversary}"
            rows.append([column, "epsilon_privacy", adversary, title, float(worst.value), "smaller", None])
    return ["sensitive", "model", "key", "title", "level", "safer", "reason"], rows


def of_publication(publication: Publication) -> Table:
    """Return one row: how the release was made, and how large it is."""
    record = publication.record
    count = record.headcount
    return of_records(
        [
            {
                "method": record.method,
                "criteria": "; ".join(record.criteria),
                "files": "; ".join(publication.files),
                "people": None if count is None else count.people,
                "classes": None if count is None else count.classes,
                "suppressed": None if count is None else count.suppressed,
            }
        ]
    )


def of_survey(survey: LatticeSurvey) -> Table:
    """Return one row for each node of the lattice."""
    return of_records([dict(_flat(node)) for node in survey.nodes])


def _flat(document: Mapping[str, Any], lead: str = "") -> Iterator[tuple[str, Any]]:
    """Yield the values of nested dictionaries under keys joined by dots."""
    for key, value in document.items():
        if isinstance(value, Mapping):
            yield from _flat(value, f"{lead}{key}.")
        else:
            yield f"{lead}{key}", value


def of_attack(attack: ReleaseAttack) -> Table:
    """Return one row for each target and value, as `attack -o` writes it."""
    belief = attack.belief
    if belief is None:
        raise InputError(
            "This attack has no targets, so there is no table of beliefs. Name targets, or see to_dict() for the rates."
        )
    header = ["target", "value", "posterior", "baseline", "stderr", *([] if belief.guess is None else ["guess"])]
    rows = []
    for i in range(len(belief)):
        is_matched = bool(belief.matched[i])
        for s, value in enumerate(belief.column.leaves):
            row = [i, value, *(float(part[i, s]) for part in (belief.posterior, belief.baseline, belief.stderr))]
            row += [] if belief.guess is None else [float(belief.guess[i, s])]
            rows.append(row if is_matched else [*row[:2], None, row[3], *([None] * (len(row) - 4))])
    return header, rows


def of_comparison(comparison: Comparison) -> Table:
    """Return one row for each release."""
    return of_records(
        [
            {
                "release": release.name,
                "kind": release.kind,
                "classes": release.classes,
                **{key: float(release.levels.get(key, math.nan)) for key in headlines()},
                **{key: float(release.costs.get(key, math.nan)) for key in COSTS},
            }
            for release in comparison
        ]
    )


def of_frontier(frontier: Frontier) -> Table:
    """Return one row for each candidate."""
    found = frontier.tradeoff
    header = [
        *("method", "parameters", "published", "reason", "risk", "utility", "pareto", "verdict", "adversary"),
        *("people", "classes", "suppressed", "k", "l", "t"),
    ]
    return of_records(
        [
            {
                "method": point.candidate.method,
                "parameters": point.candidate.label,
                "published": not point.reason,
                "reason": point.reason or None,
                "risk": point.risk(found.risk),
                "utility": point.useful(found.utility),
                "pareto": is_on_front,
                "verdict": point.verdict or None,
                "adversary": point.adversary or None,
                "people": point.people,
                "classes": point.classes,
                "suppressed": point.suppressed,
                **(point.levels or {}),
            }
            for point, is_on_front in zip(found.points, found.front, strict=True)
        ],
        header,
    )


def of_epsilon_curve(curve: EpsilonCurve) -> Table:
    """Return one row for each ε, and one without noise."""
    return of_records(
        [
            {
                "epsilon": point.parameters["epsilon"],
                **_interval("success", point.success.rate),
                **_interval("holdout_success", point.holdout_success.rate),
                **_interval("gain", point.gain.rate),
                "naive": point.naive.rate.value,
                "confidence": point.confidence,
                "count_error": point.count_error.mean_absolute,
                "relative_error": point.count_error.relative,
                "verdict": point.verdict,
            }
            for point in (*curve.points, curve.reference)
        ]
    )


def of_split(split: Split) -> Table:
    """Return one row: the files, and how many rows each has."""
    return of_records([asdict(split)])


def of_channel(channel: MeasuredChannel) -> Table:
    """Return one row for each measure; of a curve alone, one for each point."""
    if channel.measures is None:
        rows = [[point.distortion, point.value, point.bound, point.gap] for point in channel.curve]
        return ["distortion", "value", "bound", "gap"], [[float(value) for value in row] for row in rows]
    values = dict(_flat(channel.measures))
    numbers = {name: values.get(name) for name in CHANNEL_UNITS}
    return ["measure", "value", "unit"], [
        [name, float(value), CHANNEL_UNITS[name]] for name, value in numbers.items() if value is not None
    ]


def of_guidance(guidance: Guidance) -> Table:
    """Return one row: the answers, and the measure that they lead to."""
    advice = guidance.recommendation
    answers = {question.key: guidance.answers.get(question.key) for question in QUESTIONS}
    return of_records(
        [{**answers, "measure": advice.measure, "command": advice.command, "reference": advice.reference}]
    )
