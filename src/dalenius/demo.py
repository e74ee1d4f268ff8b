"""The demo: a hospital's table, three releases of it, what adversaries learn from each, and which may be published."""

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

__all__ = ["AuditedDemo", "DemoFiles", "PublishedDemo", "Scheme", "Story", "all_schemes", "demo"]

MARK = ".dalenius-demo"  # a folder with this file belongs to the demo
POLICY = """
# The same schema with thresholds: `dalenius audit` exits with 1 if one is violated.
[policy]
max_attacker_gain = 0.05     # being in the release helps an adversary guess at most 5 more people in 100
max_perfect_breach = 0.01    # an adversary is certain, and right, about at most 1 % of people
"""


@dataclass(frozen=True, slots=True)
class Scheme:
    """One way to publish the table: the file, and a short and a longer description."""

    file: str
    short: str
    line: str
    publish: Callable[[Table], Published]


@dataclass(frozen=True, slots=True)
class DemoFiles:
    """What the demo writes before it publishes, and how many people have a combination of quasi-identifiers of their own."""

    table: Path
    others: Path
    schema: Path
    policy: Path
    people: int
    alone: int
    releases: int  # how many will be published


@dataclass(frozen=True, slots=True)
class PublishedDemo:
    """A release that has been written."""

    letter: str
    scheme: Scheme
    path: Path
    classes: int
    suppressed: int
    columns_left: tuple[ColumnLeft, ...]


@dataclass(frozen=True, slots=True, eq=False)
class AuditedDemo:
    """A release and its audit."""

    published: PublishedDemo
    audit: Audit

    @property
    def reasons(self) -> list[str]:
        """Why it may not be published: thresholds that are violated or were not tested."""
        return [_reason(each, self.audit.schema) for each in self.audit.thresholds if each.outcome != "passed"]

    @property
    def gain(self) -> float:
        """The largest gain of any adversary."""
        return max(attack.gain.value for attack in self.audit.attacks)

    @property
    def error(self) -> float:
        """The mean relative error of count queries."""
        return self.audit.utility["relative_error"]


@dataclass(frozen=True, slots=True, eq=False)
class Story:
    """The releases with their audits, and the one to choose."""

    files: DemoFiles
    releases: tuple[AuditedDemo, ...]

    @property
    def allowed(self) -> list[AuditedDemo]:
        """The releases that may be published."""
        return [release for release in self.releases if not release.reasons]

    @property
    def chosen(self) -> AuditedDemo:
        """The most useful release that may be published; if none may, the one with the smallest gain."""
        if self.allowed:
            return min(self.allowed, key=lambda release: release.error)
        return min(self.releases, key=lambda release: release.gain)

    def to_document(self) -> dict[str, Any]:
        """Return the story as JSON has it."""
        releases = [
            {
                "file": release.published.scheme.file,
                "gain": release.gain,
                "relative_error": release.error,
                "reasons": release.reasons,
            }
            for release in self.releases
        ]
        return {"people": self.files.people, "alone": self.files.alone, "releases": releases}


def demo(
    folder: Path,
    *,
    people: int = 3000,
    is_quick: bool = False,
    seed: int = 0,
    progress: Callable[[DemoFiles | PublishedDemo], None] = lambda _: None,
    stage: Callable[[str], AbstractContextManager[object]] = nullcontext,
) -> Story:
    """Publish a hospital's table in three ways, into a folder, and attack each.

    This takes most of a minute. `progress` gets each part as soon as it exists, and each step runs inside `stage`.
    """
    schemes = all_schemes(seed)[: 1 if is_quick else None]
    files, table = _prepare(folder, people, seed, len(schemes))
    progress(files)
    thresholds = Schema.load(files.policy)
    releases: list[AuditedDemo] = []
    for letter, scheme in zip("ABC", schemes, strict=False):
        path = folder / scheme.file
        with stage(f"publishing {scheme.file}"):
            result = scheme.publish(table)
            result.write(path)
        about, left = result.describe(), tuple(result.columns_left())
        published = PublishedDemo(letter, scheme, path, about["classes"], about["suppressed"], left)
        progress(published)
        with stage(f"attacking {scheme.file}"):
            audited = audit(str(path), thresholds, truth=files.table, holdout=files.others, seed=seed, name=scheme.file)
            releases.append(AuditedDemo(published, audited))
    return Story(files, tuple(releases))


def _prepare(folder: Path, people: int, seed: int, releases: int) -> tuple[DemoFiles, Table]:
    """Write the table, held-out people, the schema and the policy."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise file_error(error, folder, "create the folder") from None
    schema, policy = folder / "privacy.toml", folder / "policy.toml"
    if schema.exists() and not (folder / MARK).exists():
        raise InputError(
            f"{folder} contains a privacy.toml that the demo did not write. Choose another folder with -o."
        )
    (folder / MARK).touch()
    file = save_hospital(folder, people, seed)
    others = save_hospital(folder, people, seed + 2, name="others.csv")
    write_texts({policy: schema.read_text(encoding="utf-8") + POLICY})
    table = Table(file, Schema.load(schema))
    return DemoFiles(file, others, schema, policy, table.cells().people, _alone(table), releases), table


def _alone(table: Table) -> int:
    """Return how many people are the only ones with their quasi-identifiers."""
    cells = table.cells()
    quasi = [len(column.leaves) for column in cells.schema.quasi]
    _, group = distinct_rows(cells.codes[:, : len(quasi)], quasi)
    return int((np.bincount(group, weights=cells.counts) == 1).sum())


def all_schemes(seed: int) -> list[Scheme]:
    """Return the three ways to publish."""
    return [
        Scheme(
            "release.csv",
            "k = 5, ℓ = 2",
            "columns are coarsened until every class has five people and two diseases",
            Lattice([KAnonymity(5), DistinctDiversity(2)], suppression=0.02).publish,
        ),
        Scheme(
            "cut",
            "Anatomy, ℓ = 3",
            "nothing is coarsened; the link between people and the three diseases of their group is cut",
            lambda table: Anatomy(3).publish(table, seed=seed),
        ),
        Scheme(
            "careful.csv",
            "Mondrian, k = 20, t = 0.3",
            "groups of 20 or more people whose diseases are distributed as in the table",
            Mondrian([KAnonymity(20), TCloseness(0.3, "equal")]).publish,
        ),
    ]


def _reason(threshold: Threshold, schema: Schema) -> str:
    """Return why a threshold is not passed."""
    allowed: Any = schema.policy[threshold.key]
    gain = threshold.key == "max_attacker_gain"
    if threshold.outcome == "not tested":
        return f"{'gain' if gain else 'certainty'} not tested: {threshold.reason}"
    if gain:
        return f"gain {100 * threshold.measured:+.1f} points, at most {100 * allowed:+.1f} allowed"
    return f"certain about {threshold.measured:.1%} of people, at most {allowed:.1%} allowed"
