"""`make bench`: every ratio that the project promises, measured in one run. Names choose parts: `run.py spine`."""

from __future__ import annotations

import importlib
import sys

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
    for name in names or PARTS:
        if name not in PARTS:
            sys.exit(f"There is no benchmark {name!r}. Known: {', '.join(PARTS)}")
        importlib.import_module(name).run()


if __name__ == "__main__":
    main(sys.argv[1:])
