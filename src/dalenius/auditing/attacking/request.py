"""The request for an attack: who attacks whom, what is known, and how long to sample."""

from __future__ import annotations

import contextlib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import get_args

from dalenius.adversaries import ADVERSARIES, Adversary, Learner, RealisticAdversary
from dalenius.adversaries.evidence import Evidence
from dalenius.adversaries.models.sampling import METHODS, PRINTED, PRINTED_SWEEPS, Effort, Method
from dalenius.criteria.parsing import is_realistic
from dalenius.engines import Source
from dalenius.errors import InputError
from dalenius.releases import KINDS, Release, find_files

IDEAL = "ideal"  # the learner who has the table itself instead of the release


@dataclass(frozen=True, slots=True, kw_only=True)
class AttackRequest:
    """The options of `dalenius attack`. A request that contradicts itself is refused at once."""

    release: Source | Release = field(repr=False)  # a data frame would print rows of people
    adversary: str | None = None  # None: the usual one for this kind of release
    targets: Source | None = field(default=None, repr=False)
    truth: Source | None = field(default=None, repr=False)
    holdout: Source | None = field(default=None, repr=False)
    knows: tuple[str, ...] | None = None  # None: all quasi-identifiers
    error: Mapping[str, float] = field(default_factory=dict)  # how often the known value of a column is wrong
    skip_unmatched: bool = False
    deleted: int = 0
    mcse: float | None = None
    method: str | None = None
    most_sweeps: int | None = None
    sensitive: str | None = None
    kind: str | None = None
    name: str = field(init=False)  # of the adversary
    effort: Effort = field(init=False)

    def __post_init__(self) -> None:
        self._check_people()
        self._check_targets()
        object.__setattr__(self, "name", self.adversary or _usual(self.release, self.kind))
        self._check_sampling()
        self._check_adversary()
        object.__setattr__(self, "effort", self._effort())

    @property
    def player(self) -> type[Adversary]:
        """Return the class of the adversary, which says what it needs; the base class if no adversary has that name."""
        if self.is_ideal:
            return Learner
        if is_realistic(self.name):
            return RealisticAdversary
        return ADVERSARIES.get(self.name, Adversary)

    @property
    def is_ideal(self) -> bool:
        """Return whether the adversary learns from the table itself. That is not an attack on the release."""
        return self.adversary == IDEAL

    @property
    def is_rated(self) -> bool:
        """Return whether to measure how often the adversary is right about the people of the table.

        Without a named adversary and held-out people, relative threats alone measure an attacker that they compare.
        """
        if self.truth is None or self.is_ideal:
            return False
        return self.adversary is not None or self.holdout is not None or not self.player.is_relative

    @property
    def measures_threats(self) -> bool:
        """Return whether relative threats are measured, given the truth and a release that offers rows or links."""
        if self.is_ideal or self.player.is_relative:
            return True
        return self.targets is not None and not set(self.player.needs) <= {"links", "centres"}

    @property
    def has_sampling(self) -> bool:
        """Return whether anything is sampled, by the adversary or for relative threats."""
        if self.player.samples and not self.is_ideal:
            return True
        return self.measures_threats and self.truth is not None and set(self.player.needs) != {"counts"}

    def _check_people(self) -> None:
        if self.targets is None and self.truth is None:
            raise InputError("No targets given. Pass --targets FILE, or --truth TABLE to attack everyone in the table.")
        if self.holdout is not None and self.truth is None:
            raise InputError("--holdout needs --truth: held-out people are compared with the people of the table.")
        if self.is_ideal and self.holdout is not None:
            raise InputError("The ideal learner does not attack the release. Leave --holdout out.")
        if self.is_ideal and self.targets is None:
            raise InputError(
                "The ideal learner needs --targets FILE: it learns from the table and has beliefs about targets."
            )

    def _check_targets(self) -> None:
        """Refuse options about targets if there are none, and options that figures about people would ignore."""
        for option, is_given in {"--error": bool(self.error), "--skip-unmatched": self.skip_unmatched}.items():
            if self.targets is None and is_given:
                raise InputError(f"{option} needs targets. Add --targets FILE, or leave it out.")
        if self.truth is not None and not self.is_ideal and (self.error or self.deleted):
            raise InputError(
                f"{'--error' if self.error else '--deleted'} changes beliefs about targets, but not the figures about the people "
                "of the table (--truth). Leave --truth out."
            )

    def _check_sampling(self) -> None:
        options = {"--mcse": self.mcse, "--method": self.method, "--most-sweeps": self.most_sweeps}
        for option, value in options.items():
            if value is not None and not self.has_sampling:
                raise InputError(f"{option} is for sampling, but {self.name} does not sample. Leave it out.")

    def _check_adversary(self) -> None:
        if self.deleted and (self.targets is None or self.is_ideal or not self.player.weighs_deleted):
            raise InputError(
                "--deleted is for an attacker's beliefs about targets. Add --targets FILE, or leave it out."
            )
        if self.is_ideal and self.truth is None:
            raise InputError("The ideal learner learns from the table itself. Pass --truth TABLE.")

    def _effort(self) -> Effort:
        method, usual = _method(self.method or "block"), Effort()
        most = self.most_sweeps or (PRINTED_SWEEPS if method in PRINTED else usual.most_sweeps)
        return Effort(mcse=usual.mcse if self.mcse is None else self.mcse, method=method, most_sweeps=most)


def error_rates(texts: Iterable[str]) -> dict[str, float]:
    """Return the error rates in texts such as `age=0.1`."""
    rates = {}
    for item in texts:
        name, equals, number = item.partition("=")
        try:
            rates[name.strip()] = float(number)
        except ValueError:
            equals = ""
        if not equals:
            raise InputError(f"--error {item!r}: write COLUMN=RATE, for example age=0.1.")
    return rates


def _method(text: str) -> Method:
    for method in METHODS:
        if method == text:
            return method
    raise InputError(f"--method {text!r}: {', '.join(METHODS)} are known.")


def _usual(release: Source | Release, kind: str | None) -> str:
    """Return the usual adversary for a release, by its kind alone, because nothing is read yet.

    The adversary of noisy counts must be named: they have no groups, and the error says so.
    """
    if kind is None and isinstance(release, Release):
        kind = release.kind
    if kind is None and isinstance(release, str | Path):
        # A table of the engine has only the kind of --kind. A missing file is reported later.
        with contextlib.suppress(InputError):
            kind = find_files(str(release))[0]
    offered = {evidence for evidence in get_args(Evidence) if _may_offer(KINDS.get(kind or ""), evidence)}
    for candidates in (offered - {"counts"}, {"rows"}):
        for name, each in ADVERSARIES.items():
            if candidates.intersection(each.usual_for):
                return name
    raise AssertionError("somebody attacks rows")


def _may_offer(kind: type[Release] | None, evidence: Evidence) -> bool:
    """Return whether releases of a kind have their own method for this evidence."""
    return kind is not None and getattr(kind, evidence) is not getattr(Release, evidence)
