"""The audit of a release: every adversary that applies, every measure, the verdict, in one object for all reports."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dalenius import engine as _engine
from dalenius.adversary import ADVERSARIES, Adversary
from dalenius.adversary.attacker import Attacker
from dalenius.adversary.learning import Posterior
from dalenius.adversary.sampling import Effort
from dalenius.audit import policy as _policy
from dalenius.audit.attacks import GAIN_FORMULA, RESIDUAL_FORMULA, AtRisk, Attack, attack, attack_unseen, most_at_risk
from dalenius.audit.disclosure import Disclosure, asked_figures, disclose, policy_criteria, usual
from dalenius.audit.groups import in_groups, own_groups
from dalenius.audit.people import People, check_others, check_same_people, columns_of, files_of, open_together
from dalenius.audit.policy import Figure, Part, Threshold
from dalenius.audit.suppressed import SuppressedRows, of_suppressed, suppressed_rows, worse
from dalenius.audit.threat import ACCURACIES, RelativeThreats, relative_threats
from dalenius.criterion import Level, Predicate, Realistic, document, measure, policy_places, undefined, worst_of
from dalenius.engine import Engine, Source
from dalenius.errors import InputError, check_seed, counted, listing
from dalenius.measure import remaining
from dalenius.measure.accuracy import CONFIDENCE, MARGIN
from dalenius.measure.anonymity import ClassRisks, class_risks
from dalenius.measure.classes import ClassErrors, class_errors
from dalenius.measure.fidelity import Truth, fidelity
from dalenius.measure.remaining import ColumnLeft
from dalenius.measure.utility import release_utility
from dalenius.output import sha256
from dalenius.release import Anatomized, Centroids, Generalized, GroupedRelease, NoisyCounts, Release
from dalenius.release.prior import Priors
from dalenius.schema import Schema
from dalenius.table import Cells

LISTED = 10  # people most at risk that are named by their rows
ROUGH = 0.02  # Monte-Carlo error that lets see how often an attacker is right, where nothing sharper is asked for
SWEPT = 25_000_000  # people times sweeps of a chain that it may take, but 2,000 sweeps in any case
MOST = 50_000  # people of an anatomized release for whom the attacker is sampled without being asked for
ROUGHLY = "sampled as roughly as it was (a smaller --mcse is sharper)"
NOT_CONVERGED = "what was sampled has not converged"
LOWER_BOUND = "Every success is a lower bound, and so is every gain unless held-out people fit no class either."
OTHER_SPELLING = "Is a set, a range or a mark of suppression written in another way?"
SHARP = ("max_relative_threat", "min_faithfulness")  # thresholds that sampling must be sharp for


@dataclass(frozen=True, slots=True, eq=False)
class Audit:
    """Everything that was found. The terminal, HTML and JSON reports are made of this and compute nothing."""

    name: str
    release: GroupedRelease | NoisyCounts
    schema: Schema
    has_truth: bool
    held_out: int
    levels: dict[str, dict[tuple[str, str], Level]]
    suppressed_rows: SuppressedRows | None  # None: there are none
    attacks: tuple[Attack, ...]
    refused: dict[str, str]
    risks: ClassRisks | None  # None: the release has no classes
    at_risk: tuple[AtRisk, ...]
    utility: dict[str, float]
    disclosures: tuple[Disclosure, ...]
    errors: dict[str, ClassErrors]  # by sensitive column
    threats: dict[str, RelativeThreats]  # by sensitive column
    unthreatened: str  # why there are none
    columns: frozenset[str] | None  # that the release has; None: it was not read from anywhere
    figures: dict[str, Figure]  # what the policy looks at
    thresholds: tuple[Threshold, ...]
    seed: int
    hashes: dict[str, str] = field(default_factory=dict)

    @property
    def verdict(self) -> str:
        return _policy.overall(self.thresholds)

    @property
    def columns_left(self) -> tuple[ColumnLeft, ...]:
        """What the release leaves of each quasi-identifier."""
        return remaining.columns_left(self.release)

    @property
    def limits(self) -> list[str]:
        """What this audit cannot say; adversaries that were not tried come first."""
        found = [f"{listing(self.identifiers)}: declared to name a person, and published."] if self.identifiers else []
        found += [f"{name} was not tried: {reason}." for name, reason in self.refused.items()]
        for text in dict.fromkeys(map(_uncovered, self.attacks)):
            found += [f"{text}. {LOWER_BOUND} {OTHER_SPELLING}"] if text else []
        if isinstance(self.release, Anatomized):
            found.append(
                "Somebody who knows in which group a person is may be right more often: dalenius attack --adversary "
                "definetti-majority."
            )
        if isinstance(self.release, Centroids):
            found.append(
                "Singling out, linkability and privacy models take a person's group as known. The nearest centroid may be another "
                "group's, so that they are worst cases."
            )
        if self.unthreatened and self.has_truth:
            found.append(f"Relative threats of learner and attacker were not measured: {self.unthreatened}.")
        for name, threats in self.threats.items():
            if threats.settled and not threats.converged:
                worst = max(threats.errors[figure] for figure in ACCURACIES)
                found.append(
                    f"How many people are threatened in {name} is known to ± {worst:.4f} only: values tie, or nearly so, for "
                    "the most believed one."
                )
            elif not threats.converged:
                found.append(
                    f"The relative threats of {name} were sampled and have not converged: do not rely on them."
                )
        if not self.has_truth:
            found.append(
                "Without the original table (--truth) it cannot be known how often an adversary is right, only how sure it is."
            )
        elif not self.held_out:
            found.append(
                "Without held-out people (--holdout) what the release teaches about everybody cannot be told from what "
                "it gives away about its own people."
            )
        found += list(dict.fromkeys(text for text in map(_missing, self.attacks) if text))
        for name in dict.fromkeys(one.column for one in self.attacks if not one.comparable):
            least = max(one.shift.least for one in self.attacks if one.column == name)
            found.append(
                f"The held-out people are not like those of the table: the commonest {name} is at least {100 * least:.1f} points "
                "rarer or commoner among them. They are no control."
            )
        unseen = [
            f"{column.name} ({column.role}{'' if self.columns is None else self._published(column.name)})"
            for column in self.schema.columns
            if column.role in ("identifier", "other")
        ]
        numbers = [column.name for column in self.schema.sensitive if column.type == "integer"]
        if numbers and self.attacks:
            found.append(
                f"A guess of {listing(numbers)} that is nearly right counts as wrong: how near guesses come is not measured."
            )
        if unseen:
            found.append(f"Columns that were not looked at: {', '.join(unseen)}.")
        if not isinstance(self.release, GroupedRelease):
            found.append(
                "The release has no classes: singling out, linkability and privacy models of classes do not apply."
            )
        found += [f"{t.key} was not tested: {t.reason}." for t in self.thresholds if t.outcome == "not tested"]
        found.append(
            "Adversaries with other background knowledge, and other releases of the same people, were not tried."
        )
        return found

    @property
    def identifiers(self) -> list[str]:
        """Columns of the release that name a person."""
        return [c.name for c in self.schema.columns if c.role == "identifier" and c.name in (self.columns or ())]

    def undefined(self, column: str, place: tuple[str, str]) -> str:
        """Why a model has no level on a sensitive column; empty where it has one."""
        return undefined(*place, self.schema[column])

    def _published(self, name: str) -> str:
        return ", published" if name in (self.columns or ()) else ", not published"

    def to_document(self, *, reveal: bool = False) -> dict[str, Any]:
        """The audit as JSON has it, described by `audit.schema.json`. Nothing tells a person's value unless revealed."""
        release = self.release
        return {
            "release": {
                "kind": release.kind,
                **_extent(release),
                "columns_left": remaining.to_document(self.columns_left),
                "quasi": [column.name for column in self.schema.quasi],
                "sensitive": [column.name for column in self.schema.sensitive],
                "sha256": self.hashes,
            },
            "truth": self.has_truth,
            "held_out": self.held_out,
            "verdict": self.verdict,
            "policy": [asdict(threshold) for threshold in self.thresholds],
            "levels": {
                **document(worst_of(list(self.levels.values()))),
                "sensitive": {name: document(levels) for name, levels in self.levels.items()},
            }
            if self.levels
            else None,
            "suppressed_rows": None if self.suppressed_rows is None else self.suppressed_rows.to_document(),
            "risks": None if self.risks is None else asdict(self.risks),
            "attacks": [_attack_document(found) for found in self.attacks],
            "refused": self.refused,
            "epsilon_privacy": [asdict(disclosure) for disclosure in self.disclosures],
            "at_risk": [person.to_document(reveal=reveal) for person in self.at_risk],
            "estimation_error": {name: asdict(found) for name, found in self.errors.items()},
            "relative_threats": {name: found.to_document() for name, found in self.threats.items()},
            "utility": self.utility,
            "limits": self.limits,
            "formulas": {"gain": GAIN_FORMULA, "residual": RESIDUAL_FORMULA},
            "parameters": {"seed": self.seed, "confidence": CONFIDENCE, "margin": MARGIN},
        }


def _extent(release: GroupedRelease | NoisyCounts) -> dict[str, float | None]:
    """How many people and classes; noisy counts do not tell. Of these, the ε that their noise gives."""
    if isinstance(release, NoisyCounts):
        return {"people": None, "classes": None, "suppressed": None, "epsilon": release.noise_epsilon}
    return {"people": release.people, "classes": release.groups, "suppressed": release.suppressed, "epsilon": None}


def _attack_document(found: Attack) -> dict[str, Any]:
    adversary = ADVERSARIES[found.adversary]
    return {
        "adversary": found.adversary,
        "knows": adversary.knows,
        "does": adversary.does,
        "sensitive": found.column,
        "method": found.belief.method,
        "success": asdict(found.success),
        "success_assumed": asdict(found.success_assumed),
        "naive": asdict(found.naive),
        "control": {
            **asdict(found.control),
            "kind": found.control_kind,
            "naive": found.control_naive,
            "perfect_breach": found.control_breach,
            "unmatched": found.control_unmatched,
            "comparable": found.comparable,
            "shift": found.shift.least,
            "shift_at_most": found.shift.most,
        },
        "gain": asdict(found.gain),
        "residual": found.residual,
        "verdict": found.verdict,
        "confidence": asdict(found.confidence),
        "perfect_breach": found.perfect_breach,
        "perfect_breach_sure": found.perfect_breach_sure,
        "high_confidence": asdict(found.high_confidence),
        "calibration": found.calibration_document,
        "unmatched": found.unmatched,
        "lower_bound": found.lower_bound,
        "gain_lower_bound": found.gain_lower_bound,
        "missing": found.missing,
        "right_group": asdict(found.right_group),
        "converged": found.control_settled,
    }


def audit(
    release: Source | Release,
    schema: Schema,
    *,
    truth: Source | None = None,
    holdout: Source | None = None,
    kind: str | None = None,
    engine: Engine | None = None,
    seed: int = 0,
    name: str = "the release",
    adversaries: Sequence[Realistic] = (),
    predicates: Sequence[Predicate] = (),
    known: int = 0,
    effort: Effort | None = None,
    progress: Callable[[str], None] | None = None,
    placed: tuple[NDArray[np.int32], NDArray[np.int64], NDArray[np.int32]] | None = None,
) -> Audit:
    """Play every adversary that applies against a release, and hold the result against the schema's policy.

    Learner and attacker are played where they have an exact answer, and sampled where the release cuts the link between
    people and values, unless it is large; elsewhere if an `effort` is given, or the policy has a threshold that looks at them.

    `adversaries` are realistic ones (see `dalenius.criterion.Realistic`); without any, some usual ones are taken, who
    have seen as many people elsewhere as the release has and know `known` records. Those that the policy names are
    always tried. `placed` is who was put into which group of a release that was just made: codes, people and groups.
    """
    if holdout is not None and truth is None:
        raise InputError("Held-out people are compared with the people of the table: --holdout needs --truth.")
    check_seed(seed, "the audit")
    progress = progress or _silent
    asked = policy_criteria(schema, Priors(schema, engine or _engine.default(), schema.folder))
    progress("reading")
    check_others(truth, holdout, engine or _engine.default())
    opened, people, control = open_together(release, truth, holdout, schema, kind=kind, engine=engine)
    if not isinstance(opened, GroupedRelease | NoisyCounts):
        raise InputError(f"A release of kind {opened.kind!r} is not about a table of people and cannot be audited.")
    if people is not None and isinstance(opened, GroupedRelease):
        check_same_people(opened, people)
    rng = np.random.default_rng(seed)
    columns = [column.name for column in opened.schema.sensitive]
    attacks: list[Attack] = []
    refused: dict[str, str] = {}
    at_risk: list[AtRisk] = []
    located = _located(opened, people, release, placed, engine or _engine.default())
    for text in _players(opened):
        adversary: Adversary = ADVERSARIES[text]()
        reason = adversary.refusal(opened)
        if reason is not None:
            refused[text] = reason
            continue
        for column in [opened.sensitive] if isinstance(opened, NoisyCounts) else columns:
            progress(f"{text} on {column}")
            if people is None:
                if not isinstance(opened, GroupedRelease):
                    refused[text] = "without the original table there is nobody to try it on"
                    break
                attacks.append(attack_unseen(adversary, opened, column, rng))
                continue
            found = attack(adversary, opened, column, people, control, rng, located=located)
            attacks.append(found)
            if isinstance(opened, NoisyCounts):
                continue  # what it tells is about everybody alike
            progress("people most at risk")
            at_risk += most_at_risk(found, adversary, opened, people, rng, limit=LISTED)
    at_risk.sort(key=lambda one: (not one.certain, -round(one.belief, 12), -one.belief / max(one.baseline, 1e-300)))
    threatened, unthreatened = _threats(opened, people, columns, schema, effort, rng, progress)
    for column, threat in threatened.items():
        assert people is not None
        made = Attacker(effort=_effort(schema, effort, people.count))
        outside = None
        if control is not None and control.release is opened:  # what was learnt answers for them, too
            outside = made.taught(threat.posterior, control.people.targets)
        else:
            progress(f"attacker on {column}, people held out")
        attacks.append(attack(made, opened, column, people, control, rng, belief=threat.belief, outside=outside))
    progress("privacy models and utility")
    utility: dict[str, float] = {}
    cells: Cells | None = None
    if people is not None:
        cells = people.table.cells()
        utility = fidelity(opened, Truth.of(cells), seed=seed)
    elif isinstance(opened, GroupedRelease):
        utility = release_utility(opened)
    levels: dict[str, dict[tuple[str, str], Level]] = {}
    together: SuppressedRows | None = None
    risks: ClassRisks | None = None
    disclosures: tuple[Disclosure, ...] = ()
    errors: dict[str, ClassErrors] = {}
    if isinstance(opened, GroupedRelease):
        groupings = {column: opened.grouping(column) for column in columns}
        levels = {column: measure(grouping) for column, grouping in groupings.items()}
        together = suppressed_rows(opened)
        each = {column: class_errors(grouping, levels[column]) for column, grouping in groupings.items()}
        errors = {column: found for column, found in each.items() if found is not None}
        risks = class_risks(opened, cells)
        if utility.get("misfit"):  # a person whose row was changed fits rows of others
            risks = replace(risks, upper_bound=True)
        parts = asked_figures(opened, asked)
        disclosures = disclose(opened, list(adversaries) or usual(opened, known), predicates)
        named_by = {(found.adversary, found.known, found.predicates) for found in disclosures}
        policys = [criterion.adversary for criterion in asked]
        disclosures += tuple(
            found
            for found in disclose(opened, policys)
            if (found.adversary, found.known, found.predicates) not in named_by
        )
    elif adversaries:
        raise InputError(f"Realistic adversaries look at classes, and a release of kind {opened.kind!r} has none.")
    unplayed = unthreatened if isinstance(opened, Generalized | Anatomized) else ""
    figures = _figures(levels, together, attacks, unplayed, utility, opened, people is not None)
    figures |= _threat_figures(schema, threatened, unthreatened)
    if isinstance(opened, GroupedRelease):
        figures["epsilon_privacy"] = Figure(math.nan, parts=parts)
    sources = {"release": release, "truth": truth, "holdout": holdout}
    has = columns_of(release, engine or _engine.default())
    named_in = [c.name for c in opened.schema.columns if c.role == "identifier" and c.name in (has or ())]
    thresholds = _policy.apply(schema.policy, figures)
    if named_in and thresholds:
        thresholds = (Threshold("identifiers", "none published", len(named_in), "violated", ""), *thresholds)
    return Audit(
        name=name,
        release=opened,
        schema=opened.schema,
        has_truth=people is not None,
        held_out=0 if control is None else control.people.count,
        levels=levels,
        suppressed_rows=together,
        attacks=tuple(attacks),
        refused=refused,
        risks=risks,
        at_risk=tuple(at_risk[:LISTED]),
        utility=utility,
        disclosures=disclosures,
        errors=errors,
        threats=threatened,
        unthreatened=unthreatened,
        figures=figures,
        columns=has,
        thresholds=thresholds,
        seed=seed,
        hashes={
            key: sha256(*files)
            for key, source in sources.items()
            if (files := files_of(source, release=key == "release", engine=engine or _engine.default()))
        },
    )


def _players(release: GroupedRelease | NoisyCounts) -> list[str]:
    """The adversaries that are tried on a release one by one, or named with the reason why they are not."""
    return [
        name
        for name, each in ADVERSARIES.items()
        if each.is_audited and not each.samples and ("rows" in each.needs or each().applies(release))
    ]


def _located(
    release: Release,
    people: People | None,
    source: Source | Release,
    placed: tuple[NDArray[np.int32], NDArray[np.int64], NDArray[np.int32]] | None,
    engine: Engine,
) -> People | None:
    """The people with their groups of a release of centroids, if its publisher or its lines tell them."""
    if people is None or not isinstance(release, Centroids):
        return None
    if placed is not None:
        codes, counts, group = placed
        return in_groups(people.table, codes, group, counts)
    found = "" if isinstance(source, Release) else own_groups(people, release, source, engine)
    return None if isinstance(found, str) else found


def _figures(
    levels: dict[str, dict[tuple[str, str], Level]],
    together: SuppressedRows | None,
    attacks: list[Attack],
    unplayed: str,
    utility: dict[str, float],
    release: GroupedRelease | NoisyCounts,
    has_truth: bool,
) -> dict[str, Figure]:
    """The measured number for each policy key: of adversaries, that of whoever did best. `unplayed`: why one was not."""
    classless = Figure(math.nan, "a release of this kind has no classes")
    worst = worst_of(list(levels.values())) if levels else {}

    def level(model: str, key: str) -> Figure:
        if not worst:
            return classless
        mine = worst[model, key].value
        theirs = mine if together is None else together.worst[model, key].value
        if not worse(mine, theirs, model, key):
            return Figure(mine)
        assert isinstance(release, GroupedRelease)
        return Figure(theirs, of=of_suppressed(release))

    if not has_truth:
        unknown = "it needs the original table (--truth)"
    else:
        unknown = "" if attacks else "no adversary of this version can attack this kind of release"

    right = [found for found in attacks if found.success.n and found.settled]
    certain = [found for found in attacks if not math.isnan(found.perfect_breach)]
    gains = [found for found in attacks if found.gain.n and found.comparable and found.control_settled]
    unlike = listing(dict.fromkeys(found.column for found in attacks if found.gain.n and not found.comparable))
    no_control = "the held-out people are no control" if unlike else "it needs held-out people (--holdout)"
    if not unlike and any(found.gain.n for found in attacks):
        no_control = NOT_CONVERGED
    doubt = f"the attacker was not played: {unplayed}" if unplayed else ""
    if any(found.success.n and not found.settled for found in attacks):
        doubt = NOT_CONVERGED
    uncovered = next((text for text in map(_uncovered, attacks) if text), "")
    doubt = uncovered or doubt
    doubt_of_gain = doubt or (f"the held-out people are no control for {unlike}" if unlike else "")
    if any(found.success.n and found.control_kind != "none" and not found.control_settled for found in attacks):
        doubt_of_gain = NOT_CONVERGED
    highest = max(gains, key=lambda found: _most(found)[0], default=None)
    return {
        **{key: level(*place) for key, place in policy_places().items()},
        "epsilon_privacy": classless,
        "max_attacker_accuracy": Figure(
            max((_largest_success(found) for found in right), default=math.nan),
            unknown,
            high=max((_largest_success(found) + _policy.SURE * found.error for found in right), default=math.nan),
            spread=ROUGHLY,
            doubt=doubt,
        ),
        "max_attacker_gain": Figure(
            max((found.gain.value for found in gains), default=math.nan),
            unknown or ("" if gains else no_control),
            low=max((found.gain.value - found.shift.most for found in gains), default=math.inf),
            high=math.nan if highest is None else _most(highest)[0],
            spread="" if highest is None else _most(highest)[1],
            spread_below="the held-out people differ, and the gain may come from that",
            doubt=doubt_of_gain,
        ),
        "max_perfect_breach": _certainty(certain, unknown, uncovered),
        "max_loss": Figure(utility.get("loss", math.nan), "this kind of release has no labels to measure loss by"),
        "max_suppressed": Figure(release.suppressed / release.people)
        if isinstance(release, GroupedRelease)
        else classless,
    }


def _largest_success(found: Attack) -> float:
    """How often it is right, whether or not it assumes that whoever fits a class is not suppressed."""
    return max(found.success.value, found.success_assumed.value)


def _certainty(certain: Sequence[Attack], unknown: str, uncovered: str) -> Figure:
    """Who is given away for certain, assuming that whoever fits a class is not suppressed."""
    if not certain:
        return Figure(math.nan, unknown or "what was sampled is never certain")
    assumed = max(found.perfect_breach for found in certain)
    anyhow = max(found.perfect_breach_sure for found in certain)
    of = "" if assumed == anyhow else f"({anyhow:.4g} in any case, suppressed or not)"
    return Figure(assumed, doubt=uncovered, of=of)


def _uncovered(found: Attack) -> str:
    """People of the table who fit nowhere: what is published is not about them, or cannot be read."""
    if not found.success.n or not found.unmatched:
        return ""
    return f"{found.unmatched:,} of {counted(found.success.n, 'person', 'people')} of the table fit no class of the release"


def _missing(found: Attack) -> str:
    """People who have no value that somebody could learn."""
    if not found.missing:
        return ""
    have = counted(found.missing, "person has", "people have")
    return (
        f"{have} no value of {found.column}. That is not taken for a secret, and no figure of an attack counts them; "
        "missing_is_secret = true in the schema makes it one."
    )


def _most(found: Attack) -> tuple[float, str]:
    """How large a gain may be in truth, and what makes it uncertain most: few people, or few draws."""
    chance = found.gain.high - found.gain.value
    drawn = _policy.SURE * math.hypot(found.error, found.control_error)
    most = found.gain.value + found.shift.most + math.hypot(chance, drawn)
    return most, "with so few people" if chance >= drawn else ROUGHLY


def _effort(schema: Schema, effort: Effort | None, people: int) -> Effort:
    """How long to sample: as long as is asked for, else as long as the policy needs, else until it is seen roughly."""
    if effort is not None:
        return effort
    if any(schema.policy.get(key) is not None for key in SHARP):
        return Effort()
    return Effort(mcse=ROUGH, relative=0.5, most_sweeps=min(max(SWEPT // max(people, 1), 2_000), Effort().most_sweeps))


def _threats(
    release: GroupedRelease | NoisyCounts,
    people: People | None,
    columns: list[str],
    schema: Schema,
    effort: Effort | None,
    rng: np.random.Generator,
    progress: Callable[[str], None],
) -> tuple[dict[str, RelativeThreats], str]:
    """Relative threats of every sensitive column, or the reason why there are none."""
    if people is None:
        return {}, "they need the original table (--truth)"
    if not isinstance(release, Generalized | Anatomized):
        return {}, f"a release of kind {release.kind!r} has neither labels nor tuples"
    reason = Attacker().refusal(release)
    if reason is not None:
        return {}, reason
    keys = (*SHARP, "max_attacker_accuracy", "max_attacker_gain")
    asked = effort is not None or any(schema.policy.get(key) is not None for key in keys)
    cut = isinstance(release, Anatomized)
    found = {}
    for column in columns:
        if not asked and not (cut and release.people <= MOST) and not Posterior.of(release, column).exact:
            return {}, "this release has no exact answer; --mcse 0.005 has it sampled, which may take minutes"

        def told(sweeps: int, worst: float, rhat: float, column: str = column) -> None:
            progress(
                f"learner and attacker on {column}: {sweeps:,} sweeps, largest error {worst:.4f}, R-hat {rhat:.3f}"
            )

        progress(f"learner and attacker on {column}")
        found[column] = relative_threats(
            release, people, column, rng, effort=_effort(schema, effort, people.count), progress=told
        )
    return found, ""


def _threat_figures(schema: Schema, threats: dict[str, RelativeThreats], reason: str) -> dict[str, Figure]:
    """The measured numbers for the policy keys that are about learner and attacker: the worst over sensitive columns."""
    if any(not found.settled for found in threats.values()):
        threats, reason = {}, "sampling has not converged"
    if not threats:
        return {key: Figure(math.nan, reason) for key in ("max_relative_threat", "min_faithfulness")}
    several = len(threats) > 1
    found = {}
    asked: Any = schema.policy.get("max_relative_threat")
    if asked is not None:  # 0: nobody is threatened
        quantile, limit = asked["quantile"], float(asked["value"])
        parts = []
        for name, one in threats.items():
            of = f" of {name}" if several else ""
            level = float(np.nan_to_num(one.quantile(quantile)))
            shown = f"quantile {quantile:g} of Ti{of} ≤ {limit:g}"
            parts.append(Part(shown, limit, level, one.quantile_error(quantile)))
        found["max_relative_threat"] = Figure(max(part.measured for part in parts), parts=tuple(parts))
    faithful: Any = schema.policy.get("min_faithfulness")
    if faithful is not None:
        parts = [
            Part(
                f"≥ {faithful:g}" + (f" of {name}" if several else ""),
                float(faithful),
                one.faithfulness.RF,
                one.faithfulness.stderr,
                least=True,
            )
            for name, one in threats.items()
        ]
        found["min_faithfulness"] = Figure(min(part.measured for part in parts), parts=tuple(parts))
    return found


def _silent(stage: str) -> None:
    """Nobody is told which stage it is."""
