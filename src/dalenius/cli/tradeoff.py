"""`dalenius frontier` over several methods: what was asked, the run, and what is written of it."""

from __future__ import annotations

import contextlib
import os
import shlex
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from dalenius import engine as _engine
from dalenius.cli import epsilons, methods
from dalenius.cli.common import DEFAULT_SCHEMA, connect_engine, run_details, say, stage_line, warn, write_json

if TYPE_CHECKING:
    from dalenius.audit.candidates import Candidate
    from dalenius.audit.tradeoff import Setting, TradeOff
    from dalenius.engine import Engine
    from dalenius.schema import Schema


@dataclass(frozen=True, slots=True)
class Asked:
    """Methods and values to try, and what to compare by."""

    methods: tuple[str, ...]
    values: Mapping[str, tuple[Any, ...]]
    counting: Mapping[str, Any]
    suppressed_rows: str
    risk: str | None
    utility: str | None
    mcse: float | None


def values(
    *,
    k: str | None,
    l: str | None,  # noqa: E741 - the option's name
    t: str | None,
    suppression: str | None,
    epsilon: str | None,
) -> dict[str, tuple[Any, ...]]:
    """What the options say to try: numbers with commas between them, each once and in their order."""
    found: dict[str, tuple[Any, ...] | None] = {
        "k": _at_least_two("--k", k, "2,5,10"),
        "l": _at_least_two("--l", l, "2,3"),
        "t": None if t is None else tuple(part.strip() for part in t.split(",")),
        "suppression": _shares("--suppression", suppression),
        "epsilon": epsilons.numbers(epsilon),
    }
    return {name: tuple(dict.fromkeys(numbers)) for name, numbers in found.items() if numbers is not None}


def suppressed_rows(chosen: str | None, tried: Sequence[str]) -> str:
    """What becomes of the suppressed rows of every lattice candidate."""
    from dalenius.errors import InputError
    from dalenius.publish.suppressed import check_suppressed_rows

    if chosen is None:
        return "hold"
    check_suppressed_rows(chosen)
    if "lattice" not in tried:
        raise InputError("--suppressed-rows belongs to the lattice, which is not tried. Add --method lattice.")
    if chosen == "hide":
        raise InputError(
            "Rows that are hidden are not in the release, and the table has them: the two could not be compared. Choose hold or "
            "as-is."
        )
    return chosen


def _at_least_two(option: str, text: str | None, example: str) -> tuple[int, ...] | None:
    from dalenius.errors import InputError

    if text is None:
        return None
    parts = [part.strip() for part in text.split(",")]
    if not all(part.isascii() and part.isdigit() and len(part) <= 12 and int(part) > 1 for part in parts):
        raise InputError(
            f"{option} {text!r}: write whole numbers ≥ 2, separated by commas, for example {example} (1 demands nothing)."
        )
    return tuple(map(int, parts))


def _shares(option: str, text: str | None) -> tuple[float, ...] | None:
    from dalenius.errors import InputError

    if text is None:
        return None
    try:
        found = tuple(float(part) for part in text.split(","))
    except ValueError:
        found = ()
    if not found or not all(0 <= share <= 1 for share in found):
        raise InputError(f"{option} {text!r}: write numbers from 0 to 1, separated by commas, for example 0,0.02.")
    return found


def run(
    table: Path,
    asked: Asked,
    *,
    best: Path | None,
    resume: Path | None,
    fresh: bool,
    jobs: int | None,
    holdout: Path | None,
    share: float | None,
    output: Path | None,
    schema: Path,
    json: str | None,
    seed: int,
    engine: str,
    quiet: bool,
) -> int:
    """Measure every release that is asked for, say what was found, and write what is to be written."""
    from dalenius.audit.candidates import grid
    from dalenius.audit.journal import Journal
    from dalenius.audit.people import check_others
    from dalenius.audit.tradeoff import Setting, TradeOff, points
    from dalenius.errors import InputError, Interrupted
    from dalenius.measure.remaining import from_document, warnings
    from dalenius.output import write_texts
    from dalenius.report import tradeoff as report
    from dalenius.schema import Schema
    from dalenius.table import Table

    risk, utility = _axes(asked)
    if asked.mcse is not None:
        from dalenius.adversary.sampling import Effort

        Effort(mcse=asked.mcse)  # refuses what makes no sense before any work
    jobs = _jobs(jobs, engine)
    declared, connected = Schema.load(schema), connect_engine(engine, quiet=quiet)
    _check_best(best, share, declared)
    _check_control(risk.name, best, declared, holdout, share)
    inputs = [table, schema, holdout, *declared.files, *connected.own_files]
    targets = _check_outputs(_best_files(best, asked.methods, connected), inputs, output, json)
    check_others(table, holdout, connected)
    with stage_line(quiet) as stage, _people(table, holdout, share, seed, connected) as (kept, others):
        stage("reading")
        people = Table(kept, declared, engine=connected)
        candidates = grid(
            asked.methods,
            asked.values,
            people,
            utility=utility.name,
            counting=asked.counting,
            suppressed_rows=asked.suppressed_rows,
        )
        outside = None if others is None else Table(others, declared, engine=connected)
        if outside is not None:
            outside.marginals()  # what is wrong with it is told once, and now
        setting = Setting(str(kept), schema, None if others is None else str(others), engine, seed, asked.mcse)
        journal = Journal(
            resume or _folder(table), _basis(setting, declared, connected, people, outside, share), fresh=fresh
        )  # fmt: skip
        if journal.folder.resolve() in targets:
            raise InputError(f"{str(journal.folder)!r} is the folder of what was measured. Name another file to write.")

        def told(count: int, total: int) -> None:
            stage(f"{count} of {total} releases measured")

        try:
            measured = points(setting, candidates, journal, jobs=jobs, engine=connected, told=told)
        except KeyboardInterrupt:
            count = sum(journal.has(candidate.to_document()) for candidate in candidates)
            raise Interrupted(_stopped(count, len(candidates), journal.folder, fresh)) from None
        held_out = (
            ""
            if others is None
            else f"{share:g} of the people held out"
            if share
            else f"{Path(str(holdout)).name} held out"
        )
        if measured and all(point.reason for point in measured):
            raise InputError(f"No release could be published: {measured[0].candidate.method}: {measured[0].reason}")
        found = TradeOff(measured, risk, utility, seed, held_out)
        command = _publish_line(found, table, schema, engine, best)
        code, written = 0, ""
        if best is not None:
            stage("publishing")
            code, written = _write_best(found, setting, connected, best)
    if best is not None and not code:
        chosen = found.best()
        assert chosen is not None
        warn(*warnings(from_document(chosen.columns_left or {})))
    if output is not None:
        write_texts({output: report.page(table.name, found, command, run_details())})
    if json is not None:
        told_of = {"command": command, "points": [{"seconds": round(point.seconds, 3)} for point in found.points]}
        write_json(json, found.to_document(), run=told_of if command else {"points": told_of["points"]})
    if json == "-":
        return code
    for line in report.lines(str(table), found):
        say(quiet, line)
    if declared.policy:
        say(quiet)
        for line in report.chosen_lines(found, command):
            say(quiet, line)
    for line in ([written] if written else []) + ([f"Page: {output}"] if output else []):
        say(quiet, f"\n  {line}")
    return code


def _axes(asked: Asked) -> tuple[Any, Any]:
    """The two that releases are compared by."""
    from dalenius.audit.axes import DEFAULT_RISK, DEFAULT_UTILITY, RISKS, UTILITIES
    from dalenius.errors import ParameterError, listing

    chosen = []
    for option, name, usual, known in (
        ("--risk", asked.risk, DEFAULT_RISK, RISKS),
        ("--utility", asked.utility, DEFAULT_UTILITY, UTILITIES),
    ):
        if name is not None and name not in known:
            raise ParameterError(option, "frontier", f"one of {listing(known)}", name)
        chosen.append(known[name or usual])
    return chosen[0], chosen[1]


def _check_best(best: Path | None, share: float | None, declared: Schema) -> None:
    from dalenius.errors import InputError

    if best is None:
        return
    if not any(asked != [] for asked in declared.policy.values()):
        raise InputError(
            f"--best publishes the most useful release that satisfies [policy], and {declared.source} has none. Add one, for "
            "example [policy] with min_k = 5 and max_attacker_accuracy = 0.5."
        )
    if share is not None:
        raise InputError(
            "--best publishes the whole table, and with --share a part of it is tried. Split the table first (dalenius split), "
            "and name the two files: TABLE and --holdout."
        )


def _check_control(risk: str, best: Path | None, declared: Schema, holdout: Path | None, share: float | None) -> None:
    """Gains need people who are not in the table: refused before the work, not after it."""
    from dalenius.errors import InputError

    if holdout is not None or share is not None:
        return
    if risk == "gain":
        raise InputError("--risk gain is against people who are not in the table: add --holdout, or --share.")
    if best is not None and declared.policy.get("max_attacker_gain") is not None:
        raise InputError(
            "The policy has max_attacker_gain, which needs people who are not in the table: add --holdout."
        )


def _jobs(jobs: int | None, engine: str) -> int:
    """Processes at once: one a core, where each can read the people by itself."""
    from dalenius.errors import InputError

    if engine != _engine.DEFAULT:
        if jobs is not None and jobs > 1:
            raise InputError("--jobs is for tables in files. With --engine releases are measured one after the other.")
        return 1
    if jobs is not None:
        return jobs
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def _best_files(best: Path | None, tried: Sequence[str], engine: Engine) -> list[Path]:
    """The files that the best release may be written to, whichever it is; of a table in the engine its sidecar."""
    from dalenius.engine import PREFIX, TableName
    from dalenius.errors import InputError
    from dalenius.release import sidecar

    if best is None:
        return []
    if not str(best).startswith(PREFIX):
        return [file for method in tried for file in methods.files(method, best)]
    name = TableName.parse(str(best))
    several = [method for method in tried if method in ("anatomy", "noisy-counts")]
    if several:
        raise InputError(
            f"{several[0]} writes several files and cannot be one table. Name other methods with --method."
        )
    engine.check_target(name)
    return [sidecar.path_of(Path(str(name)))]


def _check_outputs(release: Sequence[Path], inputs: list[Any], output: Path | None, json: str | None) -> set[Path]:
    """Refuse what cannot be written before the work is done; what will be."""
    from dalenius.errors import InputError
    from dalenius.output import check_writable

    named = [path for path in (output, None if json in (None, "-") else Path(str(json))) if path is not None]
    for path in (*named, *release):
        check_writable(path, inputs=inputs)
    taken = [path.resolve() for path in named]
    if len(set(taken)) < len(taken):
        raise InputError(f"The page and the JSON cannot both be written to {str(output)!r}. Name another file.")
    for path in taken:
        if path in {file.resolve() for file in release}:
            raise InputError(f"{str(path.name)!r} is also a file of the release that --best writes. Name another file.")
    return {*taken, *(file.resolve() for file in release)}


@contextlib.contextmanager
def _people(
    table: Path, holdout: Path | None, share: float | None, seed: int, engine: Engine
) -> Iterator[tuple[Path, Path | None]]:
    """Who is published and who is held out; with a share, in two files that go when all is done."""
    from dalenius.audit.holdout import split_rows

    if share is None:
        yield table, holdout
        return
    with tempfile.TemporaryDirectory(prefix="dalenius-") as folder:
        kept, others = Path(folder) / "kept.csv", Path(folder) / "others.csv"
        split_rows(engine.open(table), share, kept, others, seed=seed)
        yield kept, others


def _folder(table: Path) -> Path:
    """Where what was measured of a table is kept: beside it; of an engine's table, here."""
    if table.exists():
        return table.with_name(f"{table.name.removesuffix(table.suffix)}.frontier")
    return Path(f"{table.name.removeprefix(_engine.PREFIX)}.frontier")


def _basis(
    setting: Setting, declared: Schema, engine: Engine, people: Any, others: Any, share: float | None
) -> dict[str, Any]:
    """Everything that a point depends on besides its own parameters, as checksums."""
    import hashlib
    import json
    import tomllib

    from dalenius import __version__
    from dalenius.audit.disclosure import policy_criteria
    from dalenius.audit.holdout import drawn_together
    from dalenius.audit.people import files_of
    from dalenius.audit.playing import SHARP
    from dalenius.output import sha256
    from dalenius.release.prior import Priors

    priors = Priors(declared, engine, declared.folder)
    policy_criteria(declared, priors)
    written = tomllib.loads(setting.schema.read_bytes().decode("utf-8-sig"))
    policy = written.pop("policy", {})
    # Limits are held against what was measured; only these decide what is measured, and how long it is sampled.
    asked = {key: value for key, value in policy.items() if key in ("epsilon_privacy", *SHARP)}
    attackers = any(key.startswith("max_attacker_") for key in policy)
    files = [files_of(source, release=False, engine=engine) for source in (setting.table, setting.holdout)]
    return {
        "dalenius": __version__,
        "program": _program(),
        "table": sha256(*files[0]) if files[0] else _counted_people(people),
        "holdout": sha256(*files[1]) if files[1] else None if others is None else _counted_people(others),
        "schema": hashlib.sha256(
            json.dumps([written, asked, attackers], sort_keys=True, default=str).encode()
        ).hexdigest(),
        "files": [[file.name, sha256(file)] for file in sorted({*declared.files, *priors.files})],
        "share": share,
        "drawn": drawn_together(*files),
        "seed": setting.seed,
        "mcse": setting.mcse,
    }


def _program() -> str:
    """A checksum of the program itself: what it measures may change with any line."""
    import dalenius
    from dalenius.output import sha256

    folder = Path(dalenius.__file__).parent
    return sha256(*sorted(folder.rglob("*.py")))


def _counted_people(people: Any) -> str:
    """A checksum of a table that is not in a file: of its distinct rows and their counts."""
    import hashlib

    cells = people.cells()
    leaves = "\0".join(f"{column.name}\1" + "\1".join(column.leaves) for column in cells.schema.coded)
    return hashlib.sha256(leaves.encode() + cells.codes.tobytes() + cells.counts.tobytes()).hexdigest()


def _stopped(kept: int, total: int, folder: Path, fresh: bool) -> str:
    if not kept:
        return "Interrupted. Nothing was measured yet, and nothing was written."
    again = ", without --fresh" if fresh else ""
    return (
        f"Interrupted. {kept} of {total} releases are measured and kept in {str(folder)!r}. Run the same command again{again}: "
        "it does the rest."
    )


def _publish_line(found: TradeOff, table: Path, schema: Path, engine: str, best: Path | None) -> str:
    """The command that publishes the best release; nothing where there is none."""
    chosen = found.best()
    if chosen is None:
        return ""
    words = ["dalenius", "publish", str(table), *([] if schema == DEFAULT_SCHEMA else ["--schema", str(schema)])]
    words += [*chosen.candidate.options, "-o", str(best or _name(chosen.candidate))]
    return shlex.join(words) + ("" if engine == _engine.DEFAULT else " --engine …")


def _name(candidate: Candidate) -> str:
    return "release" if candidate.method in ("anatomy", "noisy-counts") else "release.csv"


def _write_best(found: TradeOff, setting: Setting, engine: Engine, best: Path) -> tuple[int, str]:
    """Publish the best release; the exit code, and a line that says what was written.

    What is drawn anew is audited anew before it is written: another draw is another release.
    """
    from dalenius.audit.candidates import DRAWN
    from dalenius.audit.tradeoff import Bench
    from dalenius.report import tradeoff as report

    chosen = found.best()
    if chosen is None:
        return 1, ""
    candidate, bench = chosen.candidate, Bench(setting, engine)
    published = candidate.publish(bench.table, None)
    if candidate.method in DRAWN:
        again = bench.audited(candidate, published.release)
        if again.verdict != "passed":
            misses = "; ".join(report.missed(threshold) for threshold in again.missed())
            return 1, f"Nothing was published: drawn anew, {report.title(chosen)} misses the policy: {misses}."
    published.write(best)
    files = [best] if str(best).startswith(_engine.PREFIX) else methods.files(candidate.method, best)
    return 0, f"Wrote {', '.join(map(str, files))}"
