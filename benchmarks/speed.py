"""The rows of docs/speed.md beside what was measured last: `python benchmarks/speed.py`, after `make bench`.

The page rounds and words; here are the figures as they were printed, to be compared by eye, and the machine and load to quote.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import results
from harness import Row
from results import Part

PAGE = Path(__file__).resolve().parent.parent / "docs" / "speed.md"


@dataclass(frozen=True, slots=True)
class Source:
    """Where a row of the page comes from: a part, how its heading begins, and how its lines begin."""

    part: str
    heading: str
    lines: tuple[str, ...]


# How the first cell of a row begins, and the lines behind it.
SOURCES = {
    "cells of a CSV of 3 million rows": Source(
        "spine", "Cells of a CSV of", ("time / bare DuckDB query", "peak memory / bare DuckDB query")
    ),
    "cells of 300 million rows": Source(
        "engines", "Cells of 100,000 distinct rows", ("30,000,000 rows", "300,000,000 rows")
    ),
    "all levels of `check`": Source("criteria", "All levels of `check` on Adult", ("pyCANON's time / ours",)),
    "the same, the table repeated": Source(
        "criteria", "The same on", ("pyCANON's time / ours", "pyCANON's peak memory")
    ),
    "optimal lattice, k = 5, no suppression": Source(
        "criteria", "Lattice search on Adult, eight quasi-identifiers, k = 5, 0%", ("recounting every node",)
    ),
    "optimal lattice, k = 5, 2 % suppression": Source(
        "criteria", "Lattice search on Adult, eight quasi-identifiers, k = 5, 2%", ("recounting every node",)
    ),
    "ε of 72 generalizations": Source("realistic", "ε of 72 nodes", ("all 432 ε",)),
    "Mondrian, k = 5": Source("publishers", "Mondrian on Adult", ("a plain recursion / ours",)),
    "Mondrian of a CSV": Source("publishers", "Mondrian of 1,000,000 rows", ("in all",)),
    "MDAV, k = 5": Source("publishers", "MDAV on Adult", ("all rows",)),
    "who has what in Anatomy": Source("relative", "Anatomy of Adult, ℓ = 4", ("the paper's sampler",)),
    "naive Bayes on noisy counts": Source(
        "population", "Naive Bayes on noisy counts", ("plain Python / ours", "…, with")
    ),
    "the printed deFinetti attack": Source("population", "deFinetti attack on Adult", ("ours", "plain Python / ours")),
    "intersection attack": Source("composition", "Intersection attack", ("anonypyx / ours", "…, with reading")),
    "the channel that tells least": Source("error", "estimation error", ("least information, 200 labels,",)),
    "the channel that leaves most error": Source("error", "estimation error", ("10 × 10 grid",)),
    "Anatomy of a CSV": Source("publishers", "Anatomy of 3,000,000 rows", ("in all",)),
    "audit of ARX's release": Source("audit", "Audit of ARX's release", ("seconds", "peak memory")),
}


def quoted(readme: str) -> list[list[str]]:
    """The rows of the table under "Speed": what, against, ratio."""
    section = f"\n{readme}".partition("# Speed\n")[2].partition("\n## ")[0]
    rows = [
        [cell.strip() for cell in line.strip("| ").split(" | ")]
        for line in section.splitlines()
        if line.startswith("|")
    ]
    return rows[2:]


def measured(source: Source, parts: Sequence[Part]) -> list[Row]:
    """The lines behind a row, as far as they were measured."""
    return [
        row
        for part in parts
        if part.name == source.part
        for row in part.rows
        if row.heading.startswith(source.heading) and row.what.startswith(source.lines)
    ]


def report(readme: str, parts: Sequence[Part]) -> list[str]:
    """The page's rows, each with what was measured under it."""
    lines = []
    for what, against, ratio in quoted(readme):
        lines.append(f"{what}, against {against}: {ratio}")
        key = next((key for key in SOURCES if what.startswith(key)), None)
        rows = [] if key is None else measured(SOURCES[key], parts)
        lines += [f"    measured: {row.what} {row.value} ({row.detail}; load {row.load:.1f})" for row in rows]
        if not rows:
            lines.append("    not measured")
    lines.append("")
    lines += [f"{part.name}: {part.machine}; load {results.loads(part.rows)}; {part.started}" for part in parts]
    return lines


if __name__ == "__main__":
    from run import PARTS

    found = results.read(PARTS)
    if not found:
        sys.exit("Nothing was measured yet: make bench, or python benchmarks/run.py PART.")
    print("\n".join(report(PAGE.read_text(encoding="utf-8"), found)))
