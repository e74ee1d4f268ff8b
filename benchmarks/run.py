"""`make bench`: every ratio that the project promises, measured in one run. Names choose parts: `run.py spine`.

What is printed is kept: a file for each part in benchmarks/results, and bench.md and bench.json of all parts measured so far.
"""

from __future__ import annotations

import importlib
import sys
import time

import harness
import results

PARTS = [
    "spine",
    "criteria",
    "audit",
    "realistic",
    "publishers",
    "relative",
    "population",
    "composition",
    "error",
    "engines",
]


def main(names: list[str]) -> None:
    for name in names:
        if name not in PARTS:
            sys.exit(f"There is no benchmark {name!r}. Known: {', '.join(PARTS)}")
    for name in names or PARTS:
        started = time.time()
        importlib.import_module(name).run()
        rows = harness.taken()
        if rows:
            results.keep(
                results.Part(name, tuple(rows), results.machine(), results.stamp(started), time.time() - started)
            )
            results.gather(PARTS)  # after each part: a run that is cut short leaves what it has measured
    if results.read(PARTS):
        print(f"\nAll of it: {results.FOLDER / 'bench.md'}")


if __name__ == "__main__":
    main(sys.argv[1:])
