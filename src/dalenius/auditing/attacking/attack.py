"""Carry out an attack: make the adversary, open the release, attack the targets, measure threats and success."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from dalenius import engines as _engine
from dalenius.adversaries import Adversary, Learner, RandomWorlds, Targets, make_adversary, usual_adversary
from dalenius.adversaries.models.learning import Memory
from dalenius.adversaries.models.sampling import Effort, Progress
from dalenius.auditing import attacks
from dalenius.auditing.attacking.request import AttackRequest
from dalenius.auditing.attacking.result import Rated, ReleaseAttack, belief_warnings, threat_warnings
from dalenius.auditing.groups import people_in_groups, people_in_own_groups
from dalenius.auditing.people import Control, People, check_others, check_same_people, open_together
from dalenius.auditing.targets import check_knows, check_matched, read_targets
from dalenius.auditing.threat import relative_threats
from dalenius.belief import Belief
from dalenius.criteria.parsing import is_realistic
from dalenius.engines import Engine, Source, source_name
from dalenius.errors import InputError
from dalenius.measures.fidelity import Truth
from dalenius.releases import Release
from dalenius.releases.prior import Priors
from dalenius.schema import Schema


@dataclass(frozen=True, slots=True, eq=False)
class _Sampling:
    """How everything is sampled. All parts of an attack share what was sampled."""

    effort: Effort
    memory: Memory
    progress: Progress

    def options(self) -> dict[str, Any]:
        return {"effort": self.effort, "memory": self.memory, "progress": self.progress}


@dataclass(frozen=True, slots=True, eq=False)
class _Opened:
    """The release in the coding of the people, about whom as much is known as about the targets."""

    release: Release
    people: People | None
    control: Control | None
    column: str


def attack(
    request: AttackRequest,
    schema: Schema,
    *,
    seed: int = 0,
    engine: Engine | None = None,
    progress: Callable[[str], None] | None = None,
) -> ReleaseAttack:
    """Attack a release: beliefs about targets, and with the truth how threatened people are and how often the adversary is right.

    `progress` is called with the name of each step.
    """
    engine = engine or _engine.default()
    show = progress or (lambda _: None)
    sampling = _sampling(request.effort, show)
    adversary = _adversary(request, Priors(schema, engine), sampling)
    show("reading")
    opened = _open(request, adversary, schema, engine)
    people, warnings = opened.people, []
    belief, threats, rated = None, None, None
    if request.targets is not None:
        show("attacking")
        belief = _believe(request, adversary, opened, engine, seed)
        warnings += belief_warnings("about targets", belief.diagnostics)
    if people is not None and request.measures_threats and not request.error:
        threats = _threats(opened, people, sampling, seed, show)
        warnings += [] if threats is None else threat_warnings(threats)
    if people is not None and request.is_rated:  # after the threats, whose samples are as precise as rates need
        show(f"{request.name} on {opened.column}")
        rated = _rate(request, adversary, opened, people, engine, seed)
        if threats is None or not adversary.is_relative:  # else the threats have the same samples and the same warning
            warnings += belief_warnings("about the people of the table", rated.attack.belief.diagnostics)
        warnings += belief_warnings("about the held-out people", rated.attack.control_diagnostics)
    return ReleaseAttack(request.name, opened.column, belief, threats, rated, tuple(warnings))


def files_of_prior(request: AttackRequest, schema: Schema, engine: Engine) -> list[Path]:
    """Return the files that the adversary's name refers to, such as prior.csv in I:prior.csv:10. No output may replace them."""
    priors = Priors(schema, engine)
    if is_realistic(request.name):
        make_adversary(request.name, priors)
    return priors.files


def _sampling(effort: Effort, show: Callable[[str], None]) -> _Sampling:
    def progress(sweeps: int, worst: float, rhat: float) -> None:
        show(f"sampling: {sweeps:,} sweeps, largest error {worst:.4f} of {effort.mcse:g}, R-hat {rhat:.3f}")

    return _Sampling(effort, Memory(), progress)


def _adversary(request: AttackRequest, priors: Priors, sampling: _Sampling) -> Adversary:
    """Return the adversary by name. Only those that sample can be wrong about what they know."""
    if request.is_ideal:
        return Learner(request.error)  # exact, so there is nothing to sample
    if request.player.samples:
        deleted = {"deleted": request.deleted} if request.deleted else {}
        make: Callable[..., Adversary] = request.player
        return make(request.error, **sampling.options(), **deleted)
    if request.error:
        raise InputError(
            f"{request.name} assumes that what it knows is right. Leave --error out, or use attacker or learner."
        )
    return make_adversary(request.name, priors)


def _open(request: AttackRequest, adversary: Adversary, schema: Schema, engine: Engine) -> _Opened:
    """Open the release, the people of the table and those held out."""
    release, people, control = open_together(
        request.release, request.truth, request.holdout, schema, kind=request.kind, engine=engine
    )
    _check_attackable(request, adversary, release)
    classes = release.classes()
    if classes is not None and people is not None:
        check_same_people(classes, people)
    check_others(request.truth, request.holdout, engine)
    check_knows(request.knows, release.schema)
    if people is not None:  # as much is known about them as about the targets
        people = people.known_by(request.knows)
    if control is not None:
        control = replace(control, people=control.people.known_by(request.knows))
    return _Opened(release, people, control, request.sensitive or _only_column(release))


def _check_attackable(request: AttackRequest, adversary: Adversary, release: Release) -> None:
    """Refuse a release that cannot be attacked, or that needs another adversary."""
    if release.classes() is None and release.counts() is None:
        raise InputError(f"{source_name(request.release)}: a release of kind {release.kind!r} has no groups to attack.")
    if adversary.applies(release):
        return
    if release.counts() is not None:
        raise InputError(
            f"{source_name(request.release)}: noisy counts have no groups. Attack them with --adversary {usual_adversary(release)}."
        )
    if release.centres() is not None and not request.is_ideal:
        raise InputError(f"{request.name} cannot attack this release: {adversary.refusal(release)}.")


def _only_column(release: Release) -> str:
    """Return the sensitive column, if there is only one."""
    counts = release.counts()
    names = [column.name for column in release.schema.sensitive] if counts is None else [counts.sensitive]
    if len(names) > 1:
        raise InputError(f"There are several sensitive columns. Choose one with --sensitive: {', '.join(names)}.")
    return names[0]


def _believe(request: AttackRequest, adversary: Adversary, opened: _Opened, engine: Engine, seed: int) -> Belief:
    """Return what the adversary believes about the targets."""
    assert request.targets is not None
    links = opened.release.links()
    groups = links.group_numbers() if links is not None and adversary.knows_group else None
    targets = read_targets(request.targets, opened.release.schema, engine, request.knows, groups)
    seen = opened.release
    if request.is_ideal:
        assert opened.people is not None
        seen = Truth.of(opened.people.table.cells()).identity
    _check_targets(request, adversary, seen, targets, opened.column)
    belief = adversary.attack(seen, targets, column=opened.column, rng=np.random.default_rng(seed))
    if adversary.assumes_presence:
        check_matched(belief, targets, request.name, _file_name(request.targets), skip=request.skip_unmatched)
    return belief


def _check_targets(
    request: AttackRequest, adversary: Adversary, release: Release, targets: Targets, column: str
) -> None:
    """Refuse targets who fit nowhere, before anything is sampled."""
    assert request.targets is not None
    if request.error or request.deleted:
        return  # with errors, or rows left out, a target who fits nowhere may still be in the release
    if adversary.samples and adversary.assumes_presence and RandomWorlds().applies(release):
        quick = RandomWorlds().attack(release, targets, column=column)
        check_matched(quick, targets, request.name, _file_name(request.targets), skip=request.skip_unmatched)


def _threats(
    opened: _Opened, people: People, sampling: _Sampling, seed: int, show: Callable[[str], None]
) -> dict[str, Any] | None:
    """Return relative threats; None if the release offers neither rows nor links to learn from."""
    rows, links = opened.release.rows(), opened.release.links()
    evidence = links if rows is None else rows
    if evidence is None:
        return None
    show("measuring threats")
    threats = relative_threats(
        evidence, people, opened.column, np.random.default_rng(seed), **sampling.options()
    ).to_document()
    threats["unmatched_people"] = threats.pop("unmatched")  # the document has this key for targets
    threats["missing"] = people.count - threats["people"]
    return threats


def _rate(
    request: AttackRequest, adversary: Adversary, opened: _Opened, people: People, engine: Engine, seed: int
) -> Rated:
    """Return how often the adversary is right about the people. It knows their groups if it needs these and they are known."""
    release, grouped = opened.release, None
    links, centres = release.links(), release.centres()
    if links is not None and adversary.knows_group:
        grouped = people_in_groups(people, links, request.release, engine)
        people = people if isinstance(grouped, str) else grouped.known_by(request.knows)
    looks_for_centres = centres is not None and "centres" in adversary.needs
    in_groups = None
    if centres is not None and looks_for_centres:
        grouped = people_in_own_groups(people, centres, request.release, engine)
        in_groups = None if isinstance(grouped, str) else grouped.known_by(request.knows)
    rated = attacks.attack(
        adversary, release, opened.column, people, opened.control, np.random.default_rng(seed), grouped_people=in_groups
    )
    return Rated(
        attack=rated,
        figures=attacks.rates(rated, release, people),
        looks_for_centres=looks_for_centres,
        is_group_known=None if grouped is None else not isinstance(grouped, str),
        group_unknown_because=grouped if isinstance(grouped, str) else "",
    )


def _file_name(source: Source) -> str:
    """Return what messages call the targets: the name of their file, without its folder."""
    return source.name if isinstance(source, Path) else source_name(source)
