"""The demo: a hospital's table, three releases of it, what adversaries learn from each, and which one may go out."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from dalenius.auditing import Audit, audit
from dalenius.auditing.policy import Threshold
from dalenius.coding import distinct_rows
from dalenius.criteria import DistinctDiversity, KAnonymity, TCloseness
from dalenius.datasets import save_hospital
from dalenius.errors import InputError, file_error
from dalenius.measures.remaining import ColumnLeft
from dalenius.output import write_texts
from dalenius.publishers.anatomy import Anatomy
from dalenius.publishers.base import Published
from dalenius.publishers.lattice import Lattice
from dalenius.publishers.mondrian import Mondrian
from dalenius.schema import Schema
from dalenius.table import Table

MARK = ".dalenius-demo"  # whether a folder is ours to write into
POLICY = """
# The same schema with thresholds: `dalenius audit` exits with 1 where one is violated.
[policy]
max_attacker_gain = 0.05     # being in the release adds at most 5 points to how often any adversary is right
max_perfect_breach = 0.01    # at most 1 % of the people have a value that an adversary is certain of, rightly
"""


@dataclass(frozen=True, slots=True)
class Scheme:
    """One way to publish the table: the file, and what it is, in a word and in a line."""

    file: str
    short: str
    line: str
    publish: Callable[[Table], Published]


@dataclass(frozen=True, slots=True)
class Files:
    """What the demo writes before it publishes anything, and how many of the people are alone with what is known of them."""

    table: Path
    others: Path
    schema: Path
    policy: Path
    people: int
    alone: int
    releases: int  # how many are going to be made


@dataclass(frozen=True, slots=True)
class Made:
    """A release that has been written."""

    letter: str
    scheme: Scheme
    path: Path
    classes: int
    suppressed: int
    columns_left: tuple[ColumnLeft, ...]


@dataclass(frozen=True, slots=True, eq=False)
class Audited:
    """One release and the audit of it."""

    made: Made
    audit: Audit

    @property
    def reasons(self) -> list[str]:
        """Why it may not go out: thresholds that are violated, or cannot be told."""
        return [_reason(one, self.audit.schema) for one in self.audit.thresholds if one.outcome != "passed"]

    @property
    def gain(self) -> float:
        """The largest of any adversary."""
        return max(one.gain.value for one in self.audit.attacks)

    @property
    def error(self) -> float:
        return self.audit.utility["relative_error"]


@dataclass(frozen=True, slots=True, eq=False)
class Story:
    """The releases with their audits, and the one to look at."""

    files: Files
    releases: tuple[Audited, ...]

    @property
    def allowed(self) -> list[Audited]:
        """The releases that may go out."""
        return [one for one in self.releases if not one.reasons]

    @property
    def chosen(self) -> Audited:
        """The release that may go out and is good for most; if none may, the one that gives away least."""
        if self.allowed:
            return min(self.allowed, key=lambda one: one.error)
        return min(self.releases, key=lambda one: one.gain)

    def to_document(self) -> dict[str, Any]:
        """The story as JSON has it."""
        releases = [
            {"file": one.made.scheme.file, "gain": one.gain, "relative_error": one.error, "reasons": one.reasons}
            for one in self.releases
        ]
        return {"people": self.files.people, "alone": self.files.alone, "releases": releases}


def demo(
    folder: Path,
    *,
    people: int = 3000,
    is_quick: bool = False,
    seed: int = 0,
    told: Callable[[Files | Made], None] = lambda _: None,
    stage: Callable[[str], AbstractContextManager[object]] = nullcontext,
) -> Story:
    """Publish a hospital's table in three ways, into a folder, and attack each.

    It takes most of a minute: `told` gets each part as soon as it is there, and what is being done runs inside `stage`.
    """
    schemes = all_schemes(seed)[: 1 if is_quick else None]
    files, opened = _prepare(folder, people, seed, len(schemes))
    told(files)
    thresholds = Schema.load(files.policy)
    releases: list[Audited] = []
    for letter, scheme in zip("ABC", schemes, strict=False):
        path = folder / scheme.file
        with stage(f"making {scheme.file}"):
            published = scheme.publish(opened)
            published.write(path)
        about = published.describe()
        made = Made(letter, scheme, path, about["classes"], about["suppressed"], tuple(published.columns_left()))
        told(made)
        with stage(f"attacking {scheme.file}"):
            found = audit(
                str(path), thresholds, truth=files.table, holdout=files.others, seed=seed, name=scheme.file
            )  # fmt: skip
            releases.append(Audited(made, found))
    return Story(files, tuple(releases))


def _prepare(folder: Path, people: int, seed: int, releases: int) -> tuple[Files, Table]:
    """Write the table, others like its people, the schema and the policy."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise file_error(error, folder, "make the folder") from None
    schema, policy = folder / "privacy.toml", folder / "policy.toml"
    if schema.exists() and not (folder / MARK).exists():
        raise InputError(f"{folder} holds a privacy.toml that is not the demo's. Name another folder with -o.")
    (folder / MARK).touch()
    table = save_hospital(folder, people, seed)
    others = save_hospital(folder, people, seed + 2, name="others.csv")
    write_texts({policy: schema.read_text(encoding="utf-8") + POLICY})
    opened = Table(table, Schema.load(schema))
    return Files(table, others, schema, policy, opened.cells().people, _alone(opened), releases), opened


def _alone(opened: Table) -> int:
    """How many people are the only one with their quasi-identifiers."""
    cells = opened.cells()
    quasi = [len(column.leaves) for column in cells.schema.quasi]
    _, group = distinct_rows(cells.codes[:, : len(quasi)], quasi)
    return int((np.bincount(group, weights=cells.counts) == 1).sum())


def all_schemes(seed: int) -> list[Scheme]:
    """The three ways to publish."""
    return [
        Scheme(
            "release.csv",
            "k = 5, ℓ = 2",
            "columns made coarser until every class has five people and two diseases",
            Lattice([KAnonymity(5), DistinctDiversity(2)], suppression=0.02).publish,
        ),
        Scheme(
            "cut",
            "Anatomy, ℓ = 3",
            "nothing is coarser; who has which of a group's three diseases is cut off",
            lambda table: Anatomy(3).publish(table, seed=seed),
        ),
        Scheme(
            "careful.csv",
            "Mondrian, k = 20, t = 0.3",
            "boxes of 20 people or more, whose diseases are like everybody's",
            Mondrian([KAnonymity(20), TCloseness(0.3, "equal")]).publish,
        ),
    ]


def _reason(threshold: Threshold, schema: Schema) -> str:
    allowed: Any = schema.policy[threshold.key]
    gain = threshold.key == "max_attacker_gain"
    if threshold.outcome == "not tested":
        return f"{'gain' if gain else 'certain'}: {threshold.reason}"
    if gain:
        return f"gain {100 * threshold.measured:+.1f} points, allowed {100 * allowed:+.1f}"
    return f"certain of {threshold.measured:.1%} of the people, allowed {allowed:.1%}"
