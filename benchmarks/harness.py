"""Measuring: each contender runs in a process of its own, contenders take turns, and what is reported is a ratio.

Machines are shared and noisy: a time means little, the ratio of two times from one run more. The median of the
rounds is compared. Peak memory is the largest resident set of the process.
"""

from __future__ import annotations

import json
import os
import statistics
import subprocess
import sys
from dataclasses import dataclass

_PROLOGUE = """
import json, resource, time
def _report(seconds, **extra):
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(json.dumps({"seconds": seconds, "megabytes": peak, **extra}))
"""


@dataclass(frozen=True, slots=True)
class Result:
    seconds: float
    megabytes: float
    extra: dict[str, object]


def once(
    code: str, *, python: str = sys.executable, arguments: tuple[str, ...] = (), timeout: float | None = None
) -> Result:
    """Run code that ends with a call of `_report(seconds)`."""
    command = [python, "-c", _PROLOGUE + code, *arguments]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=timeout)
    if done.returncode:
        raise RuntimeError(done.stderr)
    found = json.loads(done.stdout.splitlines()[-1])
    return Result(found.pop("seconds"), found.pop("megabytes"), found)


def compare(contenders: dict[str, str], *, rounds: int = 3, arguments: tuple[str, ...] = ()) -> dict[str, Result]:
    """The median of each contender over rounds in which they take turns."""
    found: dict[str, list[Result]] = {name: [] for name in contenders}
    for _ in range(rounds):
        for name, code in contenders.items():
            found[name].append(once(code, arguments=arguments))
    return {
        name: Result(
            statistics.median(r.seconds for r in results),
            statistics.median(r.megabytes for r in results),
            results[-1].extra,
        )
        for name, results in found.items()
    }


@dataclass(frozen=True, slots=True)
class Row:
    """What one line says, and under which heading."""

    heading: str
    what: str
    value: str
    target: str
    detail: str
    load: float  # of the machine when the heading was printed


_rows: list[Row] = []
_under: list[tuple[str, float]] = []  # the headings so far, with the load


def line(what: str, value: str, target: str = "", detail: str = "") -> None:
    """Print a figure and keep it."""
    print(f"{what:<58} {value:>10}   {target:<12} {detail}", flush=True)
    text, load = _under[-1] if _under else ("", os.getloadavg()[0])
    _rows.append(Row(text, what.strip(), value, target, detail, round(load, 2)))


def heading(text: str) -> None:
    """Print what the next lines are about."""
    load = os.getloadavg()[0]
    _under.append((text, load))
    print(f"\n{text}   (load {load:.1f} on {os.cpu_count()} cores)\n" + "-" * 100, flush=True)


def taken() -> list[Row]:
    """The rows since the last call."""
    found = list(_rows)
    _rows.clear()
    _under.clear()
    return found
