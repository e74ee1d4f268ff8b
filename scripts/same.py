"""Run many made-up cases on an older revision and on the files as they are, and say where results differ.

    python scripts/same.py REV [--cases 200] [--environment PYTHON]

The older revision is checked out into a temporary folder. It runs in an environment of its own, which is made if none is
named: its dependencies may be others. Exit code 1 if anything differs.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import venv
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
SHOWN = 40
WORK = """
import json, sys
sys.path.insert(0, sys.argv[1])
from tests.golden.cases import run
found = []
for seed in range(int(sys.argv[2])):
    try:
        found.append(run(seed))
    except BaseException as error:
        found.append([{"command": f"case {seed}", "crashed": type(error).__name__}])
json.dump(found, open(sys.argv[3], "w", encoding="utf-8"))
"""


def main() -> int:
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("revision")
    options.add_argument("--cases", type=int, default=200)
    options.add_argument(
        "--environment", help="the python of an environment that has the older revision's dependencies"
    )
    asked = options.parse_args()
    sys.path.insert(0, str(ROOT))
    from tests.golden.cases import differences

    with tempfile.TemporaryDirectory() as folder:
        old = Path(folder) / "old"
        subprocess.run(["git", "worktree", "add", "--detach", str(old), asked.revision], cwd=ROOT, check=True)
        try:
            python = asked.environment or environment(Path(folder) / "venv", old)
            running = [
                start(python, old / "src", asked.cases, Path(folder) / "before.json"),
                start(sys.executable, ROOT / "src", asked.cases, Path(folder) / "after.json"),
            ]
            if any(process.wait() for process in running):
                return 2
            before, after = (json.loads((Path(folder) / name).read_text()) for name in ("before.json", "after.json"))
        finally:
            subprocess.run(["git", "worktree", "remove", "--force", str(old)], cwd=ROOT, check=True)
    return report([list(differences(*pair)) for pair in zip(before, after, strict=True)])


def environment(folder: Path, source: Path) -> str:
    venv.create(folder, with_pip=True)
    python = str(folder / "bin" / "python")
    subprocess.run([python, "-m", "pip", "install", "--quiet", str(source)], check=True)
    return python


def start(python: str, source: Path, cases: int, to: Path) -> subprocess.Popen[Any]:
    """The cases are those of this revision for both."""
    known = {**os.environ, "PYTHONPATH": str(source), "OPENBLAS_NUM_THREADS": "1"}
    return subprocess.Popen([python, "-c", WORK, str(ROOT), str(cases), str(to)], env=known)


def report(found: list[list[str]]) -> int:
    wrong = [(seed, line) for seed, lines in enumerate(found) for line in lines]
    for seed, line in wrong[:SHOWN]:
        print(f"case {seed}: {line}")
    many = sum(bool(lines) for lines in found)
    print(f"{len(found)} cases, {many} differ" + (f", {len(wrong) - SHOWN} more lines" if len(wrong) > SHOWN else ""))
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
