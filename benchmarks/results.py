"""What was measured, kept: a JSON file for each part, one table of all of them as Markdown and as JSON."""

from __future__ import annotations

import dataclasses
import json
import os
import platform
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import groupby
from pathlib import Path

from harness import Row

FOLDER = Path(__file__).resolve().parent / "results"


@dataclass(frozen=True, slots=True)
class Part:
    """The rows of one part of the benchmark, where and when they were measured, and how long that took."""

    name: str
    rows: tuple[Row, ...]
    machine: str
    started: str
    seconds: float


def machine() -> str:
    """Processor, cores, memory, system and Python, in one line; nothing that names the computer."""
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    except OSError:
        lines = []
    names = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30
    return (
        f"{names[0] if names else platform.machine()}, {os.cpu_count()} cores, {memory:.0f} GB, {platform.system()}, "
        f"Python {platform.python_version()}"
    )


def stamp(seconds: float) -> str:
    return datetime.fromtimestamp(seconds, UTC).strftime("%Y-%m-%d %H:%M UTC")


def keep(part: Part, folder: Path = FOLDER) -> None:
    """Write the file of a part; that of an earlier run is replaced."""
    folder.mkdir(exist_ok=True)
    text = json.dumps(dataclasses.asdict(part), indent=2, ensure_ascii=False)
    (folder / f"{part.name}.json").write_text(text + "\n", encoding="utf-8")


def read(names: Sequence[str], folder: Path = FOLDER) -> list[Part]:
    """The parts that were measured, in the order of their names here."""
    found = []
    for name in names:
        path = folder / f"{name}.json"
        if path.is_file():
            plain = json.loads(path.read_text(encoding="utf-8"))
            found.append(Part(**{**plain, "rows": tuple(Row(**row) for row in plain["rows"])}))
    return found


def gather(names: Sequence[str], folder: Path = FOLDER) -> None:
    """bench.md and bench.json, of all parts that there are."""
    parts = read(names, folder)
    (folder / "bench.md").write_text(markdown(parts), encoding="utf-8")
    text = json.dumps({"parts": [dataclasses.asdict(part) for part in parts]}, indent=2, ensure_ascii=False)
    (folder / "bench.json").write_text(text + "\n", encoding="utf-8")


def loads(rows: Sequence[Row]) -> str:
    low, high = min(row.load for row in rows), max(row.load for row in rows)
    return f"{low:.1f}" if f"{low:.1f}" == f"{high:.1f}" else f"{low:.1f} to {high:.1f}"


def markdown(parts: Sequence[Part]) -> str:
    """One table. A heading of the benchmark is a row in bold."""
    lines = ["# Benchmarks", ""]
    lines += [
        f"- {part.name}: {part.started}, {part.seconds:.0f} s, load {loads(part.rows)}; {part.machine}"
        for part in parts
    ]
    lines += ["", "| what | measured | wanted | detail | load |", "|---|---|---|---|---|"]
    for part in parts:
        for heading, rows in groupby(part.rows, key=lambda row: row.heading):
            lines.append(f"| **{_cell(heading)}** | | | {part.name} | |")
            lines += [
                f"| {_cell(row.what)} | {_cell(row.value)} | {_cell(row.target)} | {_cell(row.detail)} | {row.load:.1f} |"
                for row in rows
            ]
    return "\n".join(lines) + "\n"


def _cell(text: str) -> str:
    return text.replace("|", "\\|")
