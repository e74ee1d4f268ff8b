"""Run the examples in Markdown files: each ```console block's `$` lines in one shell a file, each ```python block.

The commands of a file run one after the other in an empty folder of their own with `dalenius` on the PATH. A command
must exit with 0, or with the code that a comment `# exit 2` at its end names. Python blocks are run as doctests where
they hold prompts and as scripts otherwise. Blocks after `<!-- not run: reason -->` are left out, and counted.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

BLOCK = re.compile(r"(<!-- not run: [^>]+-->\n)?^```(console|python)\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def run_file(path: Path) -> tuple[int, int, list[str]]:
    """How many blocks ran, how many were left out, and what went wrong."""
    ran = left = 0
    wrong: list[str] = []
    environment = dict(os.environ)
    environment["PATH"] = f"{Path(sys.executable).parent}{os.pathsep}{environment['PATH']}"
    with tempfile.TemporaryDirectory() as folder:
        for skipped, language, body in BLOCK.findall(path.read_text(encoding="utf-8")):
            if skipped:
                left += 1
                continue
            ran += 1
            if language == "python":
                doctest = "import doctest, sys; sys.exit(bool(doctest.testfile(sys.argv[1], module_relative=False)[0]))"
                script = Path(folder) / "example.py"
                script.write_text(body, encoding="utf-8")
                arguments = ["-c", doctest, str(script)] if ">>> " in body else [str(script)]
                result = subprocess.run(
                    [sys.executable, *arguments], cwd=folder, env=environment, capture_output=True, text=True
                )
                if result.returncode:
                    wrong.append(f"{path}: python example fails:\n{body}\n{result.stdout}{result.stderr}")
                continue
            for line in body.splitlines():
                if not line.startswith("$ "):
                    continue
                command, _, comment = line[2:].partition("  # exit ")
                expected = int(comment) if comment else 0
                result = subprocess.run(
                    ["bash", "-c", command], cwd=folder, env=environment, capture_output=True, text=True
                )
                if result.returncode != expected:
                    wrong.append(f"{path}: `{command}` exits with {result.returncode}:\n{result.stdout}{result.stderr}")
    return ran, left, wrong


def main(files: list[str]) -> int:
    problems = []
    with ThreadPoolExecutor(os.cpu_count()) as pool:  # each file has a folder and processes of its own
        for name, (ran, left, wrong) in zip(files, pool.map(run_file, map(Path, files)), strict=True):
            print(f"{name}: {ran} examples ran, {left} left out")
            problems += wrong
    print("\n".join(problems))
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
