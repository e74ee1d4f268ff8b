"""`dalenius frontier` with noisy counts alone: what ε means for a table."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from dalenius.cli.common import connect_engine, run_details, say, stage_line, write_json
from dalenius.errors import counted

if TYPE_CHECKING:
    from dalenius.audit.frontier import Frontier, Point


def run(
    table: Path,
    tried: tuple[float, ...] | None,
    *,
    draws: int | None,
    holdout: Path | None,
    share: float | None,
    counting: Mapping[str, Any],
    output: Path | None,
    schema: Path,
    json: str | None,
    seed: int,
    engine: str,
    quiet: bool,
) -> None:
    """Try budgets on a table: how often an attack on the counts would be right, of whom, and how far off they are."""
    from dalenius.audit.frontier import DRAWS, EPSILONS, counts_frontier
    from dalenius.audit.holdout import SHARE
    from dalenius.audit.people import check_others
    from dalenius.errors import InputError
    from dalenius.output import check_writable, write_texts
    from dalenius.publish.written import bounds_of, joint_of, levels_of
    from dalenius.schema import Schema
    from dalenius.table import NO_LIMIT, Table

    declared, connected = Schema.load(schema), connect_engine(engine, quiet=quiet)
    targets = [path for path in (output, None if json in (None, "-") else Path(json)) if path is not None]
    for target in targets:
        check_writable(target, inputs=[table, schema, holdout, *declared.files, *connected.own_files])
    if len({path.resolve() for path in targets}) < len(targets):
        raise InputError(f"The page and the JSON cannot both be written to {str(output)!r}. Name another file.")
    check_others(table, holdout, connected)
    with stage_line(quiet) as stage:
        stage("reading")
        people = Table(table, declared, engine=connected, most_cells=NO_LIMIT)
        others = None if holdout is None else Table(holdout, declared, engine=connected, most_cells=NO_LIMIT)
        found = counts_frontier(
            people,
            others if others is not None else SHARE if share is None else share,
            EPSILONS if tried is None else tried,
            draws=DRAWS if draws is None else draws,
            seed=seed,
            noise=counting.get("noise", "geometric"),
            neighbours=counting.get("neighbours", "add-remove"),
            joint=joint_of(counting.get("joint", ())),
            levels=levels_of(counting.get("level", ())),
            gaussian=bounds_of(counting.get("gaussian", ())),
            progress=stage,
        )
    if output is not None:
        from dalenius.report import frontier as report

        write_texts({output: report.page(table.name, found, run_details())})
    if json is not None:
        write_json(json, found.to_document())
    if json == "-":
        return
    for line in _lines(table, found):
        say(quiet, line)
    if output is not None:
        say(quiet, f"\n  Page: {output}")


def numbers(text: str | None) -> tuple[float, ...] | None:
    """Budgets, separated by commas."""
    from dalenius.errors import InputError

    if text is None:
        return None
    try:
        found = tuple(float(part) for part in text.split(","))
    except ValueError:
        found = ()
    if not found or not all(0 < epsilon < float("inf") for epsilon in found):
        raise InputError(f"--epsilons {text!r}: write numbers > 0, separated by commas, for example 0.1,0.5,1.")
    return found


def _lines(table: Path, found: Frontier) -> list[str]:
    from dalenius.report import words
    from dalenius.report.frontier import summary, who

    options = found.options
    joint = "".join(f", {' × '.join(names)} together" for names in options["joint"])
    lines = [
        f"{table}: {who(found)}",
        f"  {found.adversary} on {found.sensitive}, {options['noise']} noise, {options['neighbours']} neighbours{joint}, "
        f"{counted(found.draws, 'draw', 'draws')} for each ε",
        "",
        f"  {'ε':>8}  {'counted, min–max':<18} {'held out':>8}  {'gain (95 %), points':<22} {'sure, right':<14} {'surer':>5}  "
        f"{'count off by':<18} verdict",
    ]
    lines += [_line(f"{point.parameters['epsilon']:g}", point) for point in found.points]
    lines += [
        _line("no noise", found.reference),
        f"  Commonest value: {words.rate(found.reference.naive.rate)}. Sure: of how many it is surer than 0.8, how often right.",
        "  Surer: points by which it is surer than right. Count off by: people, and against the average count.",
        "",
    ]
    return [*lines, *(f"  {line}" for line in summary(found))]


def _line(name: str, point: Point) -> str:
    from dalenius.report import words
    from dalenius.report.frontier import against

    success, gain, error, sure = point.success, point.gain.rate, point.count_error, point.high_confidence.rate
    right = f"{words.percent(success.rate.value)} ({100 * success.least:.1f}–{100 * success.most:.1f})"
    added = f"{100 * gain.value:+.1f} ({100 * gain.low:+.1f} to {100 * gain.high:+.1f})"
    sured = words.percent(point.high_confidence_share) + (f", {words.percent(sure.value)}" if sure.n else "")
    off = f"{words.number(error.mean_absolute)}, {against(error.relative).removesuffix(' of')}"
    return (
        f"  {name:>8}  {right:<18} {words.percent(point.holdout_success.rate.value):>8}  {added:<22} {sured:<14} "
        f"{100 * point.calibration_gap:>+5.1f}  {off:<18} {point.verdict}"
    )
