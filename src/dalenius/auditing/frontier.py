"""Many releases of one table, each published and audited: risk against utility, and the front that nothing beats.

Every point has the numbers that `dalenius publish` and `dalenius audit` give for that release. Points do not depend on each other,
on their order, or on how many are computed at once.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from dalenius import engines as _engine
from dalenius.adversaries.models.sampling import Effort
from dalenius.auditing import policy as _policy
from dalenius.auditing.audit import Audit, audit
from dalenius.auditing.axes import COMMONEST, Risk, Utility, risks_of, success_rates
from dalenius.auditing.candidates import Candidate
from dalenius.auditing.journal import Journal
from dalenius.auditing.pareto import front
from dalenius.auditing.policy import Figure, Threshold
from dalenius.auditing.secrets import Secret
from dalenius.criteria import headlines, worst_of
from dalenius.engines import Engine
from dalenius.errors import DaleniusError
from dalenius.measures.remaining import to_document
from dalenius.releases import Release
from dalenius.schema import Schema
from dalenius.table import Table
from dalenius.workers import each

__all__ = ["NO_MEMORY", "Bench", "Point", "Setting", "TradeOff", "point_of", "points"]

NO_MEMORY = "there is not enough memory for it"


@dataclass(frozen=True, slots=True)
class Setting:
    """What all points share: the people, those held out, the schema and the seed. It can be sent to another process."""

    table: str
    schema: Path
    holdout: str | None = None
    engine: str = _engine.DEFAULT
    seed: int = 0
    mcse: float | None = None


@dataclass(frozen=True, slots=True)
class Point:
    """One release: the numbers of its audit, or the reason why there are none. Nothing is about a single person."""

    candidate: Candidate
    reason: str = ""
    kind: str = ""
    people: int | None = None
    classes: int | None = None
    suppressed: int | None = None
    levels: Mapping[str, float] | None = None  # k, ℓ, t of the worst class
    accuracies: Mapping[str, float] | None = None  # how often each adversary is right
    commonest: float = math.nan  # the share of people with the table's most common value
    risks: Mapping[str, float] | None = None  # those that the release has
    utility: Mapping[str, float] | None = None
    attacks: tuple[Mapping[str, Any], ...] = ()
    figures: Mapping[str, Figure] | None = None  # what the policy looks at
    thresholds: tuple[Threshold, ...] = ()
    columns_left: Mapping[str, Mapping[str, Any]] | None = None  # of each quasi-identifier, as JSON has it
    seconds: float = 0.0

    @property
    def verdict(self) -> str:
        return "" if self.reason else _policy.overall(self.thresholds)

    @property
    def adversary(self) -> str:
        """Return the adversary that is right most often. Of equals, return the first that was tried."""
        best = max(self.accuracies.values(), default=math.nan) if self.accuracies else math.nan
        return next((name for name, value in (self.accuracies or {}).items() if value == best), "")

    @property
    def lower_bound(self) -> bool:
        """Return whether people of the table fit no class, so that success rates are lower bounds."""
        return any(attack.get("lower_bound", False) for attack in self.attacks)

    def risk(self, risk: Risk) -> float:
        return (self.risks or {}).get(risk.name, math.nan)

    def useful(self, utility: Utility) -> float:
        return (self.utility or {}).get(utility.name, math.nan)

    def cost(self, utility: Utility) -> float:
        return utility.cost(self.useful(utility))

    def missed(self) -> list[Threshold]:
        """Return the thresholds that it does not pass."""
        return [threshold for threshold in self.thresholds if threshold.outcome != "passed"]

    @property
    def signature(self) -> str:
        """Return a text that is equal for two points if their parameters make the same release."""
        shares = (self.levels, self.accuracies, self.risks, self.utility)
        return repr((self.candidate.method, self.kind, self.classes, self.suppressed, shares))

    def to_document(self) -> dict[str, Any]:
        """Return all but the thresholds, which belong to the policy and not to the release."""
        document = asdict(self)
        del document["candidate"], document["thresholds"]
        return self.candidate.to_document() | document

    @classmethod
    def from_document(cls, document: Mapping[str, Any], policy: Mapping[str, Any]) -> Point:
        """Return the point that was kept as a document, compared with a policy."""
        fields = dict(document)
        candidate = Candidate(fields.pop("method"), fields.pop("parameters"))
        figures = {name: Figure.from_document(figure) for name, figure in (fields.pop("figures") or {}).items()}
        fields["attacks"] = tuple(fields["attacks"])
        return cls(candidate, figures=figures, thresholds=_policy.apply(policy, figures), **fields)


@dataclass(frozen=True, slots=True)
class TradeOff:
    """All points, in the order in which they were requested, and the two axes to compare them by."""

    points: tuple[Point, ...]
    risk: Risk
    utility: Utility
    seed: int
    held_out: str = ""  # who is held out, in words

    @property
    def front(self) -> tuple[bool, ...]:
        """Return for each point whether no other beats it in both."""
        return tuple(front([(point.risk(self.risk), point.cost(self.utility)) for point in self.points]))

    @property
    def alike(self) -> dict[int, list[int]]:
        """Return the points that have the same figures, by the first of them. Different parameters can make the same release."""
        groups: dict[int, list[int]] = {}
        firsts: dict[str, int] = {}
        for i, point in enumerate(self.points):
            first = i if point.reason else firsts.setdefault(point.signature, i)
            groups.setdefault(first, []).append(i)
        return groups

    def order(self) -> list[int]:
        """Return the points by cost, then risk. Those that lack one come later, and those that were not published last."""

        def key(i: int) -> tuple[Any, ...]:
            point = self.points[i]
            cost, risk = point.cost(self.utility), point.risk(self.risk)
            return bool(point.reason), math.isnan(cost), math.isnan(risk), *(_known(cost), _known(risk)), i

        return sorted(range(len(self.points)), key=key)

    def best(self) -> Point | None:
        """Return the most useful point that passes the policy. Of equals, return the one with the smallest risk, then the first."""
        passing = [
            point for point in self.points if point.verdict == "passed" and not math.isnan(point.cost(self.utility))
        ]
        return min(passing, key=lambda p: (p.cost(self.utility), _known(p.risk(self.risk))), default=None)

    def nearest(self, most: int = 3) -> list[Point]:
        """Return the points nearest to the policy: fewest thresholds missed, then by the least, then the most useful."""
        missing = [point for point in self.points if not point.reason and point.missed()]
        return sorted(missing, key=lambda p: (*_missed_by(p), _known(p.cost(self.utility))))[:most]

    def to_document(self) -> dict[str, Any]:
        best = self.best()
        return {
            "risk": {"name": self.risk.name, "says": self.risk.says},
            "utility": {
                "name": self.utility.name,
                "says": self.utility.says,
                "better": "larger" if self.utility.larger_is_better else "smaller",
            },
            "seed": self.seed,
            "held_out": self.held_out,
            "points": [
                _point_document(point, self.risk, self.utility, on)
                for point, on in zip(self.points, self.front, strict=True)
            ],
            "best": None if best is None else best.candidate.to_document(),
        }


def _known(value: float) -> float:
    return math.inf if math.isnan(value) else value


def _missed_by(point: Point) -> tuple[int, float]:
    """Return how many thresholds are missed, and the largest miss relative to its limit. Not tested counts as infinite."""
    missed = point.missed()
    return len(missed), max((_distance(threshold) for threshold in missed), default=0.0)


def _distance(threshold: Threshold) -> float:
    try:
        limit = float(threshold.asked.split()[-1])
    except ValueError:
        return math.inf
    away = abs(threshold.measured - limit) / max(abs(limit), 1e-9)
    return math.inf if math.isnan(away) else away


def _point_document(point: Point, risk: Risk, utility: Utility, on: bool) -> dict[str, Any]:
    if point.reason:
        return {**point.candidate.to_document(), "published": False, "reason": point.reason, "pareto": False}
    document = point.to_document()
    for name in ("reason", "seconds", "figures"):  # seconds differ between equal runs
        del document[name]
    figures = {"all_risks": document.pop("risks"), "all_utilities": document.pop("utility")}
    compared = {"risk": point.risk(risk), "utility": point.useful(utility)}
    return {
        **point.candidate.to_document(),
        "published": True,
        **compared,
        "lacks": [
            why for value, why in zip(compared.values(), (risk.lacks, utility.lacks), strict=True) if math.isnan(value)
        ],
        "pareto": on,
        "verdict": point.verdict,
        "policy": [asdict(threshold) for threshold in point.thresholds],
        "adversary": point.adversary,
        **figures,
        **document,
    }


class Bench:
    """Publishes and audits releases of one table, one after the other."""

    def __init__(self, setting: Setting, engine: Engine | None = None) -> None:
        self.setting = setting
        self.schema = Schema.load(setting.schema)
        self.engine = engine or _engine.connect(setting.engine)
        self.table = Table(setting.table, self.schema, engine=self.engine)

    def __call__(self, candidate: Candidate) -> Point:
        """Return the point of a candidate. If it cannot be published or audited, the point has the reason."""
        begun = time.perf_counter()
        try:
            point = self.audited(candidate, candidate.release(self.table, self.setting.seed))
        except DaleniusError as error:
            return Point(candidate, reason=str(error))
        except MemoryError:
            return Point(candidate, reason=NO_MEMORY)
        return replace(point, seconds=time.perf_counter() - begun)

    def audited(self, candidate: Candidate, release: Release) -> Point:
        """Audit a release as `dalenius audit` does, and return its point."""
        setting = self.setting
        audited = audit(
            release, self.schema, truth=setting.table, holdout=setting.holdout, engine=self.engine, seed=setting.seed,
            effort=None if setting.mcse is None else Effort(mcse=setting.mcse),
        )  # fmt: skip
        if any(
            attack.interrupted for attack in audited.attacks
        ):  # an interrupted point is not kept, and no other is started
            raise KeyboardInterrupt
        return point_of(candidate, audited, self._commonest())

    def _commonest(self) -> float:
        """Return the share of the most common value among people who have one: the largest of all sensitive columns."""
        marginals, schema = self.table.marginals(), self.table.schema
        columns = zip(schema.sensitive, marginals.columns[len(schema.quasi) :], strict=True)
        counts = [Secret.of(schema, column).counts(values) for column, values in columns]
        return max((int(values.max()) / int(values.sum()) for values in counts if values.any()), default=0.0)


def point_of(candidate: Candidate, audited: Audit, commonest: float) -> Point:
    """Return what is kept of an audit. `commonest` is the share of the table's most common value."""
    classes = audited.release.classes()
    worst = worst_of(list(audited.levels.values())) if audited.levels else {}
    return Point(
        candidate,
        kind=audited.release.kind,
        columns_left=to_document(audited.columns_left),
        people=None if classes is None else int(classes.people),
        classes=None if classes is None else int(classes.groups),
        suppressed=None if classes is None else int(classes.suppressed),
        levels=None
        if classes is None
        else {key: float(worst[number.place].value) for key, number in headlines().items()},
        accuracies={name: float(value) for name, value in success_rates(audited).items()} | {COMMONEST: commonest},
        commonest=commonest,
        risks=risks_of(audited, commonest),
        utility={name: float(value) for name, value in audited.utility.items() if not math.isnan(value)},
        attacks=tuple(
            {
                "adversary": attack.adversary,
                "sensitive": attack.column,
                **{name: _rate(getattr(attack, name)) for name in ("success", "naive", "control", "gain")},
                "perfect_breach": float(attack.perfect_breach),
                "perfect_breach_sure": float(attack.perfect_breach_sure),
                "lower_bound": attack.lower_bound,
                "missing": attack.missing,
                "verdict": attack.verdict,
                "converged": attack.is_control_converged,
            }
            for attack in audited.attacks
        ),
        figures={name: _plain(figure) for name, figure in audited.figures.items()},
        thresholds=tuple(replace(threshold, measured=float(threshold.measured)) for threshold in audited.thresholds),
    )


def _plain(figure: Figure) -> Figure:
    """Return the figure with plain Python numbers."""
    parts = tuple(replace(part, measured=float(part.measured), error=float(part.error)) for part in figure.parts)
    return replace(figure, value=float(figure.value), high=float(figure.high), parts=parts)


def _rate(rate: Any) -> dict[str, float]:
    return {name: float(value) for name, value in asdict(rate).items()}


def points(
    setting: Setting,
    candidates: Sequence[Candidate],
    journal: Journal | None = None,
    *,
    jobs: int = 1,
    engine: Engine | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> tuple[Point, ...]:
    """Return every candidate's point. Points in the journal are read, and the others are measured now and kept."""
    measured: dict[int, Point] = {}
    policy = Schema.load(setting.schema).policy
    for i, candidate in enumerate(candidates):
        kept = None if journal is None else journal.read(candidate.to_document())
        if kept is not None:
            measured[i] = replace(Point.from_document(kept, policy), candidate=candidate)
    left = [i for i in range(len(candidates)) if i not in measured]
    progress = progress or _ignore_progress
    progress(len(measured), len(candidates))
    for i, point in _measured(setting, [candidates[i] for i in left], jobs, engine):
        measured[left[i]] = point
        if journal is not None and not point.reason:  # the reason may be different next time
            journal.write(point.candidate.to_document(), point.to_document())
        progress(len(measured), len(candidates))
    return tuple(measured[i] for i in range(len(candidates)))


def _measured(
    setting: Setting, candidates: Sequence[Candidate], jobs: int, engine: Engine | None
) -> Iterator[tuple[int, Point]]:
    if jobs <= 1 and engine is not None:  # already connected
        return each(lambda shared: Bench(shared, engine), setting, candidates, jobs=1)
    return each(Bench, setting, candidates, jobs=jobs)


def _ignore_progress(done: int, total: int) -> None:
    """No-op progress callback."""
