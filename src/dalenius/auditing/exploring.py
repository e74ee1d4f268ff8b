"""The frontier: publish a table in many ways, compare the releases by a risk and a utility, and write the best."""

from __future__ import annotations

import contextlib
import os
import shlex
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from dalenius import engines as _engine
from dalenius.adversaries.models.sampling import Effort
from dalenius.auditing.axes import DEFAULT_RISK, DEFAULT_UTILITY, RISKS, UTILITIES
from dalenius.auditing.candidates import Candidate, check_tried, grid
from dalenius.auditing.frontier import Bench, Setting, TradeOff, points
from dalenius.auditing.holdout import split_rows
from dalenius.auditing.journal import Journal, basis
from dalenius.auditing.people import check_others
from dalenius.auditing.policy import Threshold
from dalenius.auditing.publishing import release_targets
from dalenius.engines import PREFIX, Engine, Source, as_file, source_name
from dalenius.errors import InputError, Interrupted, ParameterError, listing
from dalenius.output import check_writable
from dalenius.publishers.registry import PUBLISHERS, files, find_publisher
from dalenius.result import Result
from dalenius.schema import Schema
from dalenius.table import Table

__all__ = ["SCHEMA_FILE", "Best", "Frontier", "Stage", "frontier"]

Stage = Callable[[str], None]
SCHEMA_FILE = Path("privacy.toml")  # the schema that commands use if none is named


@dataclass(frozen=True, slots=True)
class Best:
    """The release that `best` asks for: its files, or why there are none."""

    files: tuple[str, ...] = ()
    missed: tuple[Threshold, ...] = ()  # by a new draw of the release that satisfied the policy

    @property
    def is_written(self) -> bool:
        return bool(self.files)


@dataclass(frozen=True, slots=True, repr=False)
class Frontier(Result):
    """All releases that were tried, and the best of them if it was to be written.

    `to_pandas` has one row for each candidate: `method`, `parameters`, `published`, `reason` (why it could not be published),
    `risk`, `utility`, `pareto` (whether no other candidate beats it in both), `verdict` of the policy, `adversary` (who is right
    most often), `people`, `classes`, `suppressed`, `k`, `l` and `t`.
    """

    table: str  # its name
    tradeoff: TradeOff
    best: Best | None  # None: nobody asked for it to be written
    has_policy: bool
    publish_command: str = ""  # the command that publishes the best release; empty if there is none

    def to_document(self) -> dict[str, Any]:
        """Return the frontier as JSON has it."""
        return self.tradeoff.to_document()


def frontier(
    table: Source,
    schema: Path,
    *,
    methods: Sequence[str] | None = None,
    values: Mapping[str, Sequence[Any]] | None = None,
    options: Mapping[str, Any] | None = None,
    risk: str | None = None,
    utility: str | None = None,
    mcse: float | None = None,
    best: Path | None = None,
    resume: Path | None = None,
    fresh: bool = False,
    jobs: int | None = None,
    holdout: Source | None = None,
    share: float | None = None,
    seed: int = 0,
    page: Path | None = None,
    json: Path | None = None,
    url: str = _engine.DEFAULT,
    connect: Callable[[str], Engine] = _engine.connect,
    stage: Stage | None = None,
) -> Frontier:
    """Publish and audit a table by every method, or by those named, with all combinations of their parameters.

    `values` has the values to try, by axis, and `options` has further options of methods. Points are kept in the folder `resume`,
    so that an interrupted run can continue. `best` is where to write the most useful release that satisfies the policy. `page` and
    `json` are files that the caller will write. `connect` opens the engine at `url`.
    """
    methods_tried = tuple(dict.fromkeys(methods)) if methods else tuple(PUBLISHERS)
    for method in methods_tried:
        find_publisher(method, "frontier")
    check_tried(methods_tried, values or {}, options or {})
    if mcse is not None:
        Effort(mcse=mcse)  # refuses a bad value before any work
    axes = _axis("--risk", risk, DEFAULT_RISK, RISKS), _axis("--utility", utility, DEFAULT_UTILITY, UTILITIES)
    at_once = _processes(jobs, url)
    declared, engine = Schema.load(schema), connect(url)
    _check_best(best, share, declared)
    _check_control(axes[0].name, best, declared, holdout, share)
    release = (
        () if best is None else release_targets(methods_tried, best, engine, remedy="Name other methods with --method.")
    )
    inputs = [table, schema, holdout, *declared.files, *engine.own_files]
    targets = _check_outputs(release, inputs, page, json)
    check_others(table, holdout, engine)
    stage = stage or _ignore_stage
    with _people(table, holdout, share, seed, engine) as (kept, others):
        stage("reading")
        people = Table(kept, declared, engine=engine)
        candidates = grid(methods_tried, values or {}, people, utility=axes[1].name, options=options)
        outside = None if others is None else Table(others, declared, engine=engine)
        if outside is not None:
            outside.marginals()  # report errors in it once, and now
        setting = Setting(str(kept), schema, None if others is None else str(others), url, seed, mcse)
        known = basis(setting, declared, engine, people, outside, share)
        journal = Journal(resume or _folder(Path(table) if isinstance(table, str | Path) else kept), known, fresh=fresh)
        if journal.folder.resolve() in targets:
            raise InputError(
                f"{str(journal.folder)!r} is the folder that keeps the measured points. Name another file to write."
            )
        measured = _measured(setting, candidates, journal, at_once, engine, stage)
        tradeoff = TradeOff(measured, *axes, seed, _held_out(holdout, share))
        published = None
        if best is not None:
            stage("publishing")
            published = _write_best(tradeoff, setting, engine, best)
        command = _publish_command(tradeoff, source_name(table), schema, url, best)
        return Frontier(source_name(table), tradeoff, published, bool(declared.policy), command)


def _measured(
    setting: Setting, candidates: Sequence[Candidate], journal: Journal, jobs: int, engine: Engine, stage: Stage
) -> tuple[Any, ...]:
    """Measure every candidate. Refuse if none could be published."""

    def count(done: int, total: int) -> None:
        stage(f"{done} of {total} releases measured")

    try:
        measured = points(setting, candidates, journal, jobs=jobs, engine=engine, progress=count)
    except KeyboardInterrupt:
        done = sum(journal.has(candidate.to_document()) for candidate in candidates)
        raise Interrupted(_stopped(done, len(candidates), journal)) from None
    if measured and all(point.reason for point in measured):
        raise InputError(f"No release could be published: {measured[0].candidate.method}: {measured[0].reason}")
    return measured


def _write_best(tradeoff: TradeOff, setting: Setting, engine: Engine, best: Path) -> Best:
    """Write the best release. A method that draws makes another release now, which is audited again before it is written."""
    chosen = tradeoff.best()
    if chosen is None:
        return Best()
    candidate, bench = chosen.candidate, Bench(setting, engine)
    published = candidate.publish(bench.table, None)
    if candidate.kind.is_drawn:
        again = bench.audited(candidate, published.release)
        if again.verdict != "passed":
            return Best(missed=tuple(again.missed()))
    published.write(best)
    paths = [best] if str(best).startswith(PREFIX) else files(candidate.method, best)
    return Best(tuple(map(str, paths)))


def _axis(option: str, name: str | None, usual: str, known: Mapping[str, Any]) -> Any:
    """Return the risk or utility that releases are compared by."""
    if name is not None and name not in known:
        raise ParameterError(option, "frontier", f"one of {listing(known)}", name)
    return known[name or usual]


def _check_best(best: Path | None, share: float | None, declared: Schema) -> None:
    if best is None:
        return
    if not any(threshold != [] for threshold in declared.policy.values()):
        raise InputError(
            f"--best publishes the most useful release that satisfies [policy], and {declared.source} has none. Add one, for "
            "example [policy] with min_k = 5 and max_attacker_accuracy = 0.5."
        )
    if share is not None:
        raise InputError(
            "--best publishes the whole table, and with --share a part of it is tried. Split the table first (dalenius split), "
            "and name the two files: TABLE and --holdout."
        )


def _check_control(risk: str, best: Path | None, declared: Schema, holdout: Source | None, share: float | None) -> None:
    """Gains need people who are not in the table: refused before the work, not after it."""
    if holdout is not None or share is not None:
        return
    if risk == "gain":
        raise InputError("--risk gain is against people who are not in the table: add --holdout, or --share.")
    if best is not None and declared.policy.get("max_attacker_gain") is not None:
        raise InputError(
            "The policy has max_attacker_gain, which needs people who are not in the table: add --holdout."
        )


def _processes(jobs: int | None, url: str) -> int:
    """Processes at once: one a core, where each can read the people by itself."""
    if url != _engine.DEFAULT:
        if jobs is not None and jobs > 1:
            raise InputError("--jobs is for tables in files. With --engine releases are measured one after the other.")
        return 1
    if jobs is not None:
        return jobs
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def _check_outputs(release: Sequence[Path], inputs: Sequence[Any], page: Path | None, json: Path | None) -> set[Path]:
    """Refuse what cannot be written before the work is done; what will be."""
    reports = [path for path in (page, json) if path is not None]
    for path in (*reports, *release):
        check_writable(path, inputs=inputs)
    taken = [path.resolve() for path in reports]
    if len(set(taken)) < len(taken):
        raise InputError(f"The page and the JSON cannot both be written to {str(page)!r}. Name another file.")
    for path in taken:
        if path in {file.resolve() for file in release}:
            raise InputError(f"{str(path.name)!r} is also a file of the release that --best writes. Name another file.")
    return {*taken, *(file.resolve() for file in release)}


@contextlib.contextmanager
def _people(
    table: Source, holdout: Source | None, share: float | None, seed: int, engine: Engine
) -> Iterator[tuple[Path, Path | None]]:
    """Yield who is published and who is held out. Data frames, and the shares of a table, are temporary files."""
    if share is None:
        with as_file(table, engine) as kept, contextlib.ExitStack() as stack:
            yield kept, None if holdout is None else stack.enter_context(as_file(holdout, engine))
        return
    with tempfile.TemporaryDirectory(prefix="dalenius-") as folder:
        kept, others = Path(folder) / "kept.csv", Path(folder) / "others.csv"
        split_rows(engine.open(table), share, kept, others, seed=seed)
        yield kept, others


def _publish_command(tradeoff: TradeOff, table: str, schema: Path, url: str, output: Path | None) -> str:
    """Return the command that publishes the best release; empty if no release is best."""
    best = tradeoff.best()
    if best is None:
        return ""
    words = ["dalenius", "publish", str(table), *([] if schema == SCHEMA_FILE else ["--schema", str(schema)])]
    usual = "release" if best.candidate.kind.has_several_files() else "release.csv"
    words += [*best.candidate.options, "-o", str(output or usual)]
    return shlex.join(words) + ("" if url == _engine.DEFAULT else " --engine …")


def _held_out(holdout: Source | None, share: float | None) -> str:
    """Return who is held out, in words."""
    if share is not None:
        return f"{share:g} of the people held out"
    if holdout is None:
        return ""
    return f"{Path(holdout).name if isinstance(holdout, str | Path) else 'a data frame'} held out"


def _folder(table: Path) -> Path:
    """Return the folder that keeps the points of a table: next to its file, or here for a table of the engine."""
    if table.exists():
        return table.with_name(f"{table.name.removesuffix(table.suffix)}.frontier")
    return Path(f"{table.name.removeprefix(PREFIX)}.frontier")


def _stopped(kept: int, total: int, journal: Journal) -> str:
    if not kept:
        return "Interrupted. Nothing was measured yet, and nothing was written."
    again = ", without --fresh" if journal.fresh else ""
    return (
        f"Interrupted. {kept} of {total} releases were measured and kept in {str(journal.folder)!r}. Run the same command again"
        f"{again} to measure the rest."
    )


def _ignore_stage(stage: str) -> None:
    """No-op progress callback."""
