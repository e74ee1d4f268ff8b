"""The audit of a release in four steps: open, play, measure, judge. All reports are made of the result."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from dalenius import engines as _engine
from dalenius.adversaries.models.sampling import Effort
from dalenius.auditing.at_risk import AtRisk
from dalenius.auditing.attacks import Attack
from dalenius.auditing.disclosure import Disclosure, policy_criteria
from dalenius.auditing.documents import audit_document
from dalenius.auditing.figures import Findings
from dalenius.auditing.judging import Judgement, judge
from dalenius.auditing.limits import limits
from dalenius.auditing.measuring import Measurement, measure_release
from dalenius.auditing.opening import Opening, Publish, check_sources, open_audit
from dalenius.auditing.playing import Play, play
from dalenius.auditing.policy import Figure, Threshold
from dalenius.auditing.suppressed import SuppressedRows
from dalenius.auditing.threat import RelativeThreats
from dalenius.criteria import Level, Place, Predicate, Realistic
from dalenius.engines import Engine, Source
from dalenius.errors import check_seed
from dalenius.measures.anonymity import ClassRisks
from dalenius.measures.classes import ClassErrors
from dalenius.measures.remaining import ColumnLeft
from dalenius.releases import GroupedRelease, Release
from dalenius.releases.prior import Priors
from dalenius.result import Result
from dalenius.schema import Schema

__all__ = ["Audit", "audit"]


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Audit(Result):
    """Everything that an audit measured. The terminal, HTML and JSON reports are made of this and compute nothing.

    `to_pandas` has one row for each adversary and sensitive column: `adversary`, `sensitive`, `people` (how many it guesses),
    `success`, `control` and `gain`, each with `_low` and `_high` for its 95 % confidence interval, `naive` (the success of always
    guessing the most common value), `confidence` (how sure the adversary is on average), `verdict` and `converged`. Without the
    original table only `confidence` is known; without held-out people there is no gain.
    """

    name: str
    opening: Opening
    play: Play
    measurement: Measurement
    judgement: Judgement
    seed: int

    @property
    def release(self) -> Release:
        return self.opening.release

    @property
    def classes(self) -> GroupedRelease | None:
        """Return the classes of the release, if it has any."""
        return self.opening.classes

    @property
    def schema(self) -> Schema:
        return self.opening.schema

    @property
    def has_truth(self) -> bool:
        return self.opening.people is not None

    @property
    def held_out(self) -> int:
        """Return how many people serve as control."""
        return 0 if self.opening.control is None else self.opening.control.people.count

    @property
    def identifiers(self) -> list[str]:
        return self.opening.identifiers

    @property
    def columns(self) -> frozenset[str] | None:
        return self.opening.columns

    @property
    def hashes(self) -> dict[str, str]:
        return self.opening.hashes

    @property
    def attacks(self) -> tuple[Attack, ...]:
        return self.play.attacks

    @property
    def refused(self) -> dict[str, str]:
        """Return the adversaries that were not tried, and why."""
        return self.play.refused

    @property
    def at_risk(self) -> tuple[AtRisk, ...]:
        return self.play.at_risk

    @property
    def threats(self) -> dict[str, RelativeThreats]:
        """Return the relative threats by sensitive column."""
        return self.play.threats

    @property
    def no_threats_reason(self) -> str:
        """Return why there are no relative threats."""
        return self.play.no_threats_reason

    @property
    def columns_left(self) -> tuple[ColumnLeft, ...]:
        """Return what the release leaves of each quasi-identifier."""
        return self.measurement.columns_left

    @property
    def utility(self) -> dict[str, float]:
        return self.measurement.utility

    @property
    def levels(self) -> dict[str, dict[Place, Level]]:
        """Return the level of every model by sensitive column; empty if the release has no classes."""
        return self.measurement.levels

    @property
    def suppressed_rows(self) -> SuppressedRows | None:
        return self.measurement.suppressed_rows

    @property
    def risks(self) -> ClassRisks | None:
        return self.measurement.risks

    @property
    def errors(self) -> dict[str, ClassErrors]:
        return self.measurement.errors

    @property
    def disclosures(self) -> tuple[Disclosure, ...]:
        return self.measurement.disclosures

    @property
    def figures(self) -> dict[str, Figure]:
        """Return the figures that the policy looks at."""
        return self.judgement.figures

    @property
    def thresholds(self) -> tuple[Threshold, ...]:
        return self.judgement.thresholds

    @property
    def verdict(self) -> str:
        return self.judgement.verdict

    @property
    def limits(self) -> list[str]:
        """Return what this audit cannot say. Adversaries that were not tried come first."""
        return limits(self)

    def to_document(self, *, reveal: bool = False) -> dict[str, Any]:
        """Return the audit as JSON has it, described by `audit.schema.json`. It has no person's value unless revealed."""
        return audit_document(self, reveal=reveal)


def audit(
    release: Source | Release,
    schema: Schema,
    *,
    truth: Source | None = None,
    holdout: Source | None = None,
    publish: Publish | None = None,
    kind: str | None = None,
    engine: Engine | None = None,
    seed: int = 0,
    name: str = "the release",
    adversaries: Sequence[Realistic] = (),
    predicates: Sequence[Predicate] = (),
    known: int = 0,
    effort: Effort | None = None,
    progress: Callable[[str], None] | None = None,
) -> Audit:
    """Attack a release with every adversary that applies, and compare the result with the schema's policy.

    Learner and attacker are tried where they have an exact answer. They are sampled if the release cuts the link between people and
    values and is not large, if an `effort` is given, or if a threshold of the policy depends on them.

    `adversaries` are realistic ones (see `dalenius.criteria.Realistic`). Without any, the usual ones are tried, who have seen as
    many people elsewhere as the release has and know `known` records. Those that the policy names are always tried. With
    `publish`, the first argument is a table: that function publishes it, and the table itself is the truth.
    """
    check_sources(truth, holdout, publish)
    check_seed(seed, "the audit")
    engine = engine or _engine.default()
    progress = progress or (lambda _stage: None)
    epsilon_criteria = policy_criteria(schema, Priors(schema, engine, schema.folder))
    progress("reading")
    opening = open_audit(release, schema, truth=truth, holdout=holdout, publish=publish, kind=kind, engine=engine)
    played = play(opening, schema, np.random.default_rng(seed), effort=effort, progress=progress)
    progress("privacy models and utility")
    measurement = measure_release(
        opening,
        seed=seed,
        adversaries=adversaries,
        predicates=predicates,
        known=known,
        epsilon_criteria=epsilon_criteria,
    )
    judgement = judge(Findings(opening, played, measurement, schema.policy))
    return Audit(name, opening, played, measurement, judgement, seed)
