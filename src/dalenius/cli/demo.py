"""`dalenius demo`: a story in under a minute. A hospital, three releases, what adversaries learn, which one may go out."""

from __future__ import annotations

import os
import shlex
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from dalenius.cli.common import SeedOption, run_details, stage_line

if TYPE_CHECKING:
    from dalenius.audit import Audit
    from dalenius.audit.policy import Threshold
    from dalenius.publish.base import Published
    from dalenius.schema import Schema
    from dalenius.table import Table

MARK = ".dalenius-demo"  # whether a folder is ours to write into
POLICY = """
# The same schema with thresholds: `dalenius audit` exits with 1 where one is violated.
[policy]
max_attacker_gain = 0.05     # being in the release adds at most 5 points to how often any adversary is right
max_perfect_breach = 0.01    # at most 1 % of the people have a value that an adversary is certain of, rightly
"""


def register(app: typer.Typer) -> None:
    app.command("demo")(command)


@dataclass(frozen=True, slots=True)
class Way:
    """One way to publish the table: the file, and what it is, in a word and in a line."""

    file: str
    short: str
    line: str
    make: Callable[[Table], Published]


@dataclass(frozen=True, slots=True, eq=False)
class Found:
    """One release and the audit of it."""

    way: Way
    audit: Audit

    @property
    def broken(self) -> list[str]:
        """Why it may not go out: thresholds that are violated, or cannot be told."""
        return [_reason(one, self.audit.schema) for one in self.audit.thresholds if one.outcome != "passed"]

    @property
    def gain(self) -> float:
        """The largest of any adversary."""
        return max(one.gain.value for one in self.audit.attacks)

    @property
    def error(self) -> float:
        return self.audit.utility["relative_error"]


def command(
    folder: Annotated[Path, typer.Option("-o", "--output", help="The folder to write into.")] = Path("demo"),
    people: Annotated[int, typer.Option("--people", min=100, help="How many patients.")] = 3000,
    quick: Annotated[
        bool, typer.Option("--quick", help="Make the files and one report; leave out the attacks that take seconds.")
    ] = False,
    no_open: Annotated[bool, typer.Option("--no-open", help="Do not open the report in a browser.")] = False,
    seed: SeedOption = 0,
) -> None:
    """Publish a hospital's table in three ways, attack each, and see which may go out."""
    from dalenius.audit import audit
    from dalenius.datasets import save_hospital
    from dalenius.errors import InputError, file_error
    from dalenius.measure.remaining import wrapped
    from dalenius.output import write_texts
    from dalenius.report import html
    from dalenius.schema import Schema
    from dalenius.table import Table

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
    _begin(opened, table)
    chosen_ways = ways(seed)[: 1 if quick else None]
    asked = Schema.load(policy)
    found: list[Found] = []
    typer.echo(f"\n{'Three releases' if len(chosen_ways) == 3 else 'A release'} of it:\n")
    for i, way in enumerate(chosen_ways):
        with stage_line(False) as stage:
            stage(f"making {way.file}")
            made = way.make(opened)
            made.write(folder / way.file)
        told = made.describe()
        typer.echo(f"  {'ABC'[i]}  {way.short:26} {way.line}")
        typer.echo(f"     {told['classes']:,} classes, {told['suppressed']:,} rows suppressed: {folder / way.file}")
        for line in wrapped("     left:", made.columns_left(), indent=7):
            typer.echo(line)
        with stage_line(False) as stage:
            stage(f"attacking {way.file}")
            path = str(folder / way.file)
            found.append(Found(way, audit(path, asked, truth=table, holdout=others, seed=seed, name=way.file)))
    _learned(found)
    _costs(found)
    chosen = _decided(found)
    report = folder / "report.html"
    with stage_line(False) as stage:
        stage("writing the report")
        write_texts({report: html.page(chosen.audit, run_details())})
    typer.echo(f"\nLook at  {report}  what a review board gets to read about {chosen.way.file}, in a browser")
    typer.echo(f"         {policy}  the thresholds, and which columns an attacker may know")
    again = ["dalenius", "audit", folder / "release.csv", "--truth", table, "--holdout", others, "--schema", policy]
    typer.echo(f"Again    {shlex.join(map(str, again))}")
    typer.echo("Then try your own table:  dalenius init TABLE.csv")
    if not no_open and _shows():
        import webbrowser

        webbrowser.open(report.resolve().as_uri())


def ways(seed: int) -> list[Way]:
    from dalenius.criterion import DistinctDiversity, KAnonymity, TCloseness
    from dalenius.publish.anatomy import Anatomy
    from dalenius.publish.lattice import Lattice
    from dalenius.publish.mondrian import Mondrian

    return [
        Way(
            "release.csv",
            "k = 5, ℓ = 2",
            "columns made coarser until every class has five people and two diseases",
            Lattice([KAnonymity(5), DistinctDiversity(2)], suppression=0.02).publish,
        ),
        Way(
            "cut",
            "Anatomy, ℓ = 3",
            "nothing is coarser; who has which of a group's three diseases is cut off",
            lambda table: Anatomy(3).publish(table, seed=seed),
        ),
        Way(
            "careful.csv",
            "Mondrian, k = 20, t = 0.3",
            "boxes of 20 people or more, whose diseases are like everybody's",
            Mondrian([KAnonymity(20), TCloseness(0.3, "equal")]).publish,
        ),
    ]


def _begin(opened: Table, table: Path) -> None:
    """The table, and how many of its people are alone."""
    import numpy as np

    from dalenius.coding import distinct_rows

    cells = opened.cells()
    quasi = [len(column.leaves) for column in cells.schema.quasi]
    _, group = distinct_rows(cells.codes[:, : len(quasi)], quasi)
    sizes = np.bincount(group, weights=cells.counts)
    alone = int((sizes == 1).sum())
    typer.echo(f"A hospital wants to publish {cells.people:,} patients: {table}")
    typer.echo(
        "Age, sex, ZIP code and nationality may be known to a neighbour; the disease must not be. Names are gone."
    )
    typer.echo(f"But {alone:,} of them ({alone / cells.people:.0%}) are the only one with their four.")


def _learned(found: list[Found]) -> None:
    typer.echo(
        "\nEach is attacked by somebody who has it and knows a patient's four. How often is the disease guessed right,"
    )
    typer.echo(
        "of the patients in it, and of others like them who are not? Only the difference is about the patients:\n"
    )
    typer.echo("     adversary           in it   others  commonest   gain, with its 95 % interval")
    for i, one in enumerate(found):
        for each in one.audit.attacks:
            low, high = 100 * each.gain.low, 100 * each.gain.high
            right, outside, commonest = each.success.value, each.control.value, each.naive.value
            settled = "" if each.settled else "  (has not converged)"
            typer.echo(
                f"  {'ABC'[i]}  {each.adversary:18} {right:6.1%}  {outside:6.1%}     {commonest:6.1%}"
                f"   {100 * each.gain.value:+5.1f} points ({low:+.1f} to {high:+.1f}): {each.verdict}{settled}"
            )


def _reason(threshold: Threshold, schema: Schema) -> str:
    allowed: Any = schema.policy[threshold.key]
    gain = threshold.key == "max_attacker_gain"
    if threshold.outcome == "not tested":
        return f"{'gain' if gain else 'certain'}: {threshold.reason}"
    if gain:
        return f"gain {100 * threshold.measured:+.1f} points, allowed {100 * allowed:+.1f}"
    return f"certain of {threshold.measured:.1%} of the people, allowed {allowed:.1%}"


def _costs(found: list[Found]) -> None:
    typer.echo(
        "\nWhat each is still good for, and the hospital's policy: a gain of 5 points at most, and hardly anybody certain:\n"
    )
    typer.echo("     counts off by   may it go out?")
    for i, one in enumerate(found):
        word = {"passed": "yes", "violated": "no: "}.get(one.audit.verdict, "not known: ")
        typer.echo(f"  {'ABC'[i]}  {one.error:13.0%}   {word}{'; '.join(one.broken)}")


def _decided(found: list[Found]) -> Found:
    """The release that may go out and is good for most; if none may, the one that gives away least."""
    allowed = [one for one in found if not one.broken]
    if allowed:
        chosen = min(allowed, key=lambda one: one.error)
        typer.echo(f"\nSo {'ABC'[found.index(chosen)]} may go out: {chosen.way.file} ({chosen.way.short}).")
        return chosen
    typer.echo(
        "\nSo none of these may go out." if len(found) > 1 else "\nSo it may not go out; the whole demo has others."
    )
    return min(found, key=lambda one: one.gain)


def _shows() -> bool:
    """Whether somebody sits before it: a terminal, a display, and no build server."""
    if os.environ.get("CI") or not sys.stdout.isatty():
        return False
    if sys.platform.startswith("linux"):
        return bool(os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY"))
    return True
