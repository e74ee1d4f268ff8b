"""What each parameter of a way to publish costs and what it gives: risk against utility, a point for each parameter.

For noisy counts the parameter is ε, and what ε means for a table is found by trying: counts with seeded noise that cannot be
written are drawn several times, and naive Bayes attacks everybody who is counted, and others who are not.
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
from dalenius.schema import Schema
from dalenius.table import NO_LIMIT, Table

EPSILONS = (0.01, 0.05, 0.1, 0.5, 1.0, 2.0, 5.0, 10.0)
DRAWS = 9
Progress = Callable[[str], None]


@dataclass(frozen=True, slots=True)
class CountErrors:
    """How far counts are off: expected of the mechanism, and over the draws; `relative` is against the average count."""

    expected: float
    mean_absolute: float
    least: float
    most: float
    average_count: float
    relative: float
    total_variation: float

    def to_document(self) -> dict[str, Any]:
        found = asdict(self)
        found["min"], found["max"] = found.pop("least"), found.pop("most")
        return found


@dataclass(frozen=True, slots=True)
class Point:
    """One parameter: how often the adversary is right, of whom, how sure it is, and what the release is still good for."""

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
        """How much surer than right the adversary is, on average."""
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
    """Who is counted and who is held out: drawn from the table, or others of a file."""

    kind: Literal["drawn", "file"]
    people: int
    held_out: int
    share: float | None = None


@dataclass(frozen=True, slots=True)
class Frontier:
    """The points, and the same without noise."""

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


def counts_frontier(
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
    progress: Progress | None = None,
) -> Frontier:
    """Noisy counts of a table at each ε. `others` are people like its own who are not in it, or the share to hold out.

    What is said of one ε depends on the table, the seed and that ε, and not on which others are asked for.
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
    tried = [Simulation(epsilon, **options) for epsilon in sorted(set(epsilons))]  # refuses bad ones before any work
    _exact(table, tried[0])  # refuses domains that only the data tell
    if isinstance(others, Table):
        kind: Literal["drawn", "file"] = "file"
        share, kept, held = None, table, others
        _check_counted(table, held)
    else:
        kind, share = "drawn", others
        kept, held = split(table, others, seed=seed)
    people, outside = People.of(kept), People.of(held)
    check_values(None, people)
    sources = (files_of(one.source, release=False, engine=one.engine) for one in (kept, held))
    recorded = kind == "file" and drawn_together(*sources)
    without = _exact(kept, tried[0])
    column = without.sensitive

    def attacked(release: NoisyCounts) -> Attack:
        control = Control(release, outside)
        return attack(NaiveBayes(), release, column, people, control, np.random.default_rng(seed))

    whole = attacked(without)
    # People drawn from the table are like the others in it. A file's are compared once, with what there is without noise.
    drawn = kind == "drawn" or recorded
    comparable, shift = drawn or whole.comparable, Shift() if drawn else whole.shift
    found = []
    for publisher in tried:
        attacks, errors = [], []
        for draw in range(draws):
            if progress is not None:
                progress(f"ε = {publisher.epsilon:g}: draw {draw + 1} of {draws}")
            release = publisher.draw(kept, _seed(seed, publisher.epsilon, draw))
            attacks.append(attacked(release))
            errors.append(count_error.count_error(release, without))
        expected = count_error.expected_noise(publisher.noise, release.scale)
        found.append(_point(publisher.epsilon, attacks, _errors(errors, expected, without), comparable, shift))
    nothing = _errors([count_error.count_error(without, without)], 0.0, without)
    return Frontier(
        adversary=NaiveBayes.name,
        sensitive=column,
        split=Split(kind, people.count, outside.count, share),
        draws=draws,
        seed=seed,
        options={**options, "joint": [list(names) for names in joint], "sensitivity": without.sensitivity},
        reference=_point(math.inf, [whole], nothing, comparable, shift),
        points=tuple(found),
    )


def counts_frontier_of(
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
) -> Frontier:
    """The same of files. `options` are those of noisy counts as they are typed.

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
    return counts_frontier(
        people,
        others if others is not None else SHARE if share is None else share,
        EPSILONS if epsilons is None else epsilons,
        draws=DRAWS if draws is None else draws,
        seed=seed,
        progress=progress,
        **parameters(options or {}),
    )


def _seed(seed: int, epsilon: float, draw: int) -> int:
    """Of one draw at one ε: another for each, whichever else are asked for."""
    bits = int(np.float64(epsilon).view(np.uint64))
    return int(np.random.SeedSequence([seed, bits, draw]).generate_state(1, np.uint64)[0])


def _exact(table: Table, publisher: Simulation) -> NoisyCounts:
    """The same counts without noise."""
    found = exact(table, publisher.joint, dict(publisher.levels), dict(publisher.gaussian))
    numbers = [query.astype(np.float64) for query in found.queries()]
    scale = publisher.sensitivity(found.query_count) / publisher.epsilon
    noisy = found.release(NoisyCounts, publisher, numbers, scale, publisher.epsilon)
    return dataclasses.replace(noisy, mechanism="none", scale=0.0, epsilon=None)


def _check_counted(table: Table, others: Table) -> None:
    """Declared values are the same for both; only that a value is missing can be what the table does not have."""
    for mine, theirs in zip(table.schema.coded, others.schema.coded, strict=True):
        if mine.leaves != theirs.leaves:
            raise InputError(
                f"{others.rows.name}: somebody has no value in column {mine.name!r}, and the declared domain has no missing "
                'one. Add "" to the domain, or leave those people out.'
            )


def _errors(found: Sequence[count_error.CountError], expected: float, exact: NoisyCounts) -> CountErrors:
    sizes = [one.mean_absolute for one in found]
    average = count_error.average_count(exact)
    mean = float(np.mean(sizes))
    misplaced = float(np.mean([one.total_variation for one in found]))
    return CountErrors(expected, mean, min(sizes), max(sizes), average, mean / average, misplaced)


def _point(epsilon: float, attacks: Sequence[Attack], errors: CountErrors, comparable: bool, shift: Shift) -> Point:
    """What the draws at one ε say together."""
    success, control = [one.success for one in attacks], [one.control for one in attacks]
    sure = [one.high_confidence for one in attacks]
    gain = paired_gain(success, control)
    certain = [accuracy.rate(one.perfect_breach * one.success.n, one.success.n) for one in attacks]
    others_certain = [accuracy.rate(one.control_breach * one.control.n, one.control.n) for one in attacks]
    return Point(
        method=Counts.name,
        parameters={"epsilon": epsilon},
        success=pooled(success),
        holdout_success=pooled(control),
        gain=gain,
        naive=pooled([one.naive for one in attacks]),
        high_confidence=pooled(sure),
        high_confidence_share=float(np.mean([one.n for one in sure])) / success[0].n,
        confidence=float(np.mean([one.confidence.mean for one in attacks])),
        count_error=errors,
        verdict=accuracy.judge(
            gain.rate, paired_gain(certain, others_certain).rate, comparable=comparable, shift=shift.most
        ),
        comparable=comparable,
        shift=shift,
    )
