"""What each ε of noisy counts means for a table: how often an attack is right, and how far off the counts are.

This is found by simulation. Counts are drawn several times with seeded noise, which is never written. Naive Bayes attacks everybody
who is counted, and other people who are not.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Literal

import numpy as np

from dalenius import engines as _engine
from dalenius.adversaries.naive_bayes import NaiveBayes
from dalenius.auditing.attacks import Attack, attack
from dalenius.auditing.holdout import SHARE, drawn_together, split
from dalenius.auditing.people import Control, People, check_others, check_values, files_of
from dalenius.engines import Engine, Source
from dalenius.errors import InputError, ParameterError, check_seed
from dalenius.measures import accuracy, count_error
from dalenius.measures.accuracy import Shift, Verdict
from dalenius.measures.draws import Spread, paired_gain, pooled
from dalenius.output import check_writable
from dalenius.publishers.counting import exact, parameters
from dalenius.publishers.noisy_counts import Counts, Simulation
from dalenius.releases import NoisyCounts
from dalenius.result import Result
from dalenius.schema import Schema
from dalenius.table import NO_LIMIT, Table

EPSILONS = (0.01, 0.05, 0.1, 0.5, 1.0, 2.0, 5.0, 10.0)
DRAWS = 9
Progress = Callable[[str], None]


@dataclass(frozen=True, slots=True)
class CountErrors:
    """How far off counts are: expected from the mechanism, and over the draws. `relative` is relative to the average count."""

    expected: float
    mean_absolute: float
    least: float
    most: float
    average_count: float
    relative: float
    total_variation: float

    def to_document(self) -> dict[str, Any]:
        document = asdict(self)
        document["min"], document["max"] = document.pop("least"), document.pop("most")
        return document


@dataclass(frozen=True, slots=True)
class Point:
    """One ε: how often the adversary is right, about whom, how sure it is, and how far off the counts are."""

    method: str
    parameters: Mapping[str, Any]
    success: Spread
    holdout_success: Spread
    gain: Spread
    naive: Spread
    high_confidence: Spread
    high_confidence_share: float
    confidence: float
    count_error: CountErrors
    verdict: Verdict
    comparable: bool
    shift: Shift

    @property
    def calibration_gap(self) -> float:
        """Return by how much the adversary's confidence exceeds its success, on average."""
        return self.confidence - self.success.rate.value

    def to_document(self) -> dict[str, Any]:
        return {
            "method": self.method,
            "parameters": dict(self.parameters),
            "success": self.success.to_document(),
            "holdout_success": self.holdout_success.to_document(),
            "gain": self.gain.to_document(),
            "naive": self.naive.to_document(),
            "high_confidence": {**self.high_confidence.to_document(), "share": self.high_confidence_share},
            "confidence": self.confidence,
            "calibration_gap": self.calibration_gap,
            "count_error": self.count_error.to_document(),
            "verdict": self.verdict,
            "comparable": self.comparable,
            "shift": self.shift.least,
            "shift_at_most": self.shift.most,
        }


@dataclass(frozen=True, slots=True)
class Split:
    """Who is counted and who is held out: drawn from the table, or other people from a file."""

    kind: Literal["drawn", "file"]
    people: int
    held_out: int
    share: float | None = None


@dataclass(frozen=True, slots=True, repr=False)
class EpsilonCurve(Result):
    """What each ε of noisy counts means for a table, and the same without noise.

    `to_pandas` has one row for each ε, and one with an infinite ε for counts without noise: `epsilon`, `success`,
    `holdout_success` and `gain`, each with `_low` and `_high` for its 95 % confidence interval, `naive`, `confidence`,
    `count_error` (the mean absolute error of a count, in people), `relative_error` (against the average count) and `verdict`.
    """

    name: str  # of the table
    adversary: str
    sensitive: str
    split: Split
    draws: int
    seed: int
    options: Mapping[str, Any]
    reference: Point
    points: tuple[Point, ...]

    def to_document(self) -> dict[str, Any]:
        return {
            "adversary": self.adversary,
            "sensitive": self.sensitive,
            "split": asdict(self.split),
            "draws": self.draws,
            "seed": self.seed,
            "options": dict(self.options),
            "interval": "95 %: exact binomial of the people, and Student's of the draws",
            "reference": self.reference.to_document(),
            "points": [point.to_document() for point in self.points],
        }


def epsilon_curve(
    table: Table,
    others: Table | float = SHARE,
    epsilons: Sequence[float] = EPSILONS,
    *,
    draws: int = DRAWS,
    seed: int = 0,
    noise: str = "geometric",
    neighbours: str = "add-remove",
    joint: Sequence[tuple[str, ...]] = (),
    levels: Mapping[str, int] | None = None,
    gaussian: Mapping[str, tuple[int, int]] | None = None,
    name: str | None = None,
    progress: Progress | None = None,
) -> EpsilonCurve:
    """Attack noisy counts of a table at each ε. `others` are similar people who are not in it, or the share to hold out.

    The point of an ε depends on the table, the seed and that ε, and not on which other ε are tried.
    """
    check_seed(seed, "the frontier")
    if isinstance(draws, bool) or not isinstance(draws, int) or draws < 1:
        raise ParameterError("draws", "the frontier", "an int ≥ 1", draws)
    if not len(epsilons):
        raise ParameterError("epsilons", "the frontier", "one number or more", list(epsilons))
    options: dict[str, Any] = {
        "noise": noise,
        "neighbours": neighbours,
        "joint": tuple(joint),
        "levels": dict(levels or {}),
        "gaussian": dict(gaussian or {}),
    }
    simulations = [
        Simulation(epsilon, **options) for epsilon in sorted(set(epsilons))
    ]  # refuses bad values before any work
    _exact(table, simulations[0])  # refuses domains that only the data determine
    if isinstance(others, Table):
        kind: Literal["drawn", "file"] = "file"
        share, kept, held = None, table, others
        _check_counted(table, held)
    else:
        kind, share = "drawn", others
        kept, held = split(table, others, seed=seed)
    people, outside = People.of(kept), People.of(held)
    check_values(None, people)
    sources = (files_of(part.source, release=False, engine=part.engine) for part in (kept, held))
    recorded = kind == "file" and drawn_together(*sources)
    without = _exact(kept, simulations[0])
    column = without.sensitive

    def attacked(release: NoisyCounts) -> Attack:
        control = Control(release, outside)
        return attack(NaiveBayes(), release, column, people, control, np.random.default_rng(seed))

    whole = attacked(without)
    # People drawn from the table are comparable by design. People from a file are compared once, without noise.
    drawn = kind == "drawn" or recorded
    comparable, shift = drawn or whole.comparable, Shift() if drawn else whole.shift
    points = []
    for publisher in simulations:
        attacks, errors = [], []
        for draw in range(draws):
            if progress is not None:
                progress(f"ε = {publisher.epsilon:g}: draw {draw + 1} of {draws}")
            release = publisher.draw(kept, _seed(seed, publisher.epsilon, draw))
            attacks.append(attacked(release))
            errors.append(count_error.count_error(release, without))
        expected = count_error.expected_noise(publisher.noise, release.scale)
        points.append(_point(publisher.epsilon, attacks, _errors(errors, expected, without), comparable, shift))
    nothing = _errors([count_error.count_error(without, without)], 0.0, without)
    return EpsilonCurve(
        name=table.rows.name if name is None else name,
        adversary=NaiveBayes.name,
        sensitive=column,
        split=Split(kind, people.count, outside.count, share),
        draws=draws,
        seed=seed,
        options={**options, "joint": [list(names) for names in joint], "sensitivity": without.sensitivity},
        reference=_point(math.inf, [whole], nothing, comparable, shift),
        points=tuple(points),
    )


def epsilon_curve_of(
    table: Source,
    schema: Path,
    epsilons: Sequence[float] | None = None,
    *,
    draws: int | None = None,
    holdout: Source | None = None,
    share: float | None = None,
    options: Mapping[str, Any] | None = None,
    page: Path | None = None,
    json: Path | None = None,
    seed: int = 0,
    engine: Engine | None = None,
    progress: Progress | None = None,
) -> EpsilonCurve:
    """Attack noisy counts of a table in a file. `options` are those of noisy counts, as texts of the command line.

    `page` and `json` are files that the caller will write.
    """
    declared, engine = Schema.load(schema), engine or _engine.default()
    targets = [path for path in (page, json) if path is not None]
    for target in targets:
        check_writable(target, inputs=[table, schema, holdout, *declared.files, *engine.own_files])
    if len({path.resolve() for path in targets}) < len(targets):
        raise InputError(f"The page and the JSON cannot both be written to {str(page)!r}. Name another file.")
    check_others(table, holdout, engine)
    if progress is not None:
        progress("reading")
    people = Table(table, declared, engine=engine, most_cells=NO_LIMIT)
    others = None if holdout is None else Table(holdout, declared, engine=engine, most_cells=NO_LIMIT)
    return epsilon_curve(
        people,
        others if others is not None else SHARE if share is None else share,
        EPSILONS if epsilons is None else epsilons,
        draws=DRAWS if draws is None else draws,
        seed=seed,
        name=str(table),
        progress=progress,
        **parameters(options or {}),
    )


def _seed(seed: int, epsilon: float, draw: int) -> int:
    """Return the seed of one draw at one ε, whatever other ε are tried."""
    bits = int(np.float64(epsilon).view(np.uint64))
    return int(np.random.SeedSequence([seed, bits, draw]).generate_state(1, np.uint64)[0])


def _exact(table: Table, publisher: Simulation) -> NoisyCounts:
    """Return the same counts without noise."""
    counts = exact(table, publisher.joint, dict(publisher.levels), dict(publisher.gaussian))
    numbers = [query.astype(np.float64) for query in counts.queries()]
    scale = publisher.sensitivity(counts.query_count) / publisher.epsilon
    noisy = counts.release(NoisyCounts, publisher, numbers, scale, publisher.epsilon)
    return dataclasses.replace(noisy, mechanism="none", scale=0.0, epsilon=None)


def _check_counted(table: Table, others: Table) -> None:
    """Refuse held-out people with a missing value that the table does not have. Declared values are the same for both."""
    for own, theirs in zip(table.schema.coded, others.schema.coded, strict=True):
        if own.leaves != theirs.leaves:
            raise InputError(
                f"{others.rows.name}: somebody has no value in column {own.name!r}, and the declared domain does not allow "
                'that. Add "" to the domain, or leave those people out.'
            )


def _errors(draws: Sequence[count_error.CountError], expected: float, exact: NoisyCounts) -> CountErrors:
    sizes = [draw.mean_absolute for draw in draws]
    average = count_error.average_count(exact)
    mean = float(np.mean(sizes))
    misplaced = float(np.mean([draw.total_variation for draw in draws]))
    return CountErrors(expected, mean, min(sizes), max(sizes), average, mean / average, misplaced)


def _point(epsilon: float, attacks: Sequence[Attack], errors: CountErrors, comparable: bool, shift: Shift) -> Point:
    """Return the point of one ε from its draws."""
    success, control = [draw.success for draw in attacks], [draw.control for draw in attacks]
    sure = [draw.high_confidence for draw in attacks]
    gain = paired_gain(success, control)
    certain = [accuracy.rate(draw.perfect_breach * draw.success.n, draw.success.n) for draw in attacks]
    others_certain = [accuracy.rate(draw.control_breach * draw.control.n, draw.control.n) for draw in attacks]
    return Point(
        method=Counts.name,
        parameters={"epsilon": epsilon},
        success=pooled(success),
        holdout_success=pooled(control),
        gain=gain,
        naive=pooled([draw.naive for draw in attacks]),
        high_confidence=pooled(sure),
        high_confidence_share=float(np.mean([draw.n for draw in sure])) / success[0].n,
        confidence=float(np.mean([draw.confidence.mean for draw in attacks])),
        count_error=errors,
        verdict=accuracy.judge(
            gain.rate, paired_gain(certain, others_certain).rate, comparable=comparable, shift=shift.most
        ),
        comparable=comparable,
        shift=shift,
    )
