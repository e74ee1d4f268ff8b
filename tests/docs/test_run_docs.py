"""The examples of the documentation are run: what fails is said, and pages that begin alike share their beginning."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from tests.conftest import ROOT

pytestmark = pytest.mark.slow

BEGIN = "```console\n$ echo begun | tee -a begun.txt; echo x >> {count}; exit 3  # exit 3\n```\n"
PAGES = {
    "one": BEGIN + "> begun\n\n```console\n$ test $(wc -l < begun.txt) = 1\n$ echo more >> begun.txt\n```\n",
    "two": BEGIN + "\n```python\nassert open('begun.txt').read() == 'begun\\n'\n```\n",
    "three": "```console\n$ test ! -e begun.txt\n```\n",
    "four": "```console\n$ dalenius --version\n```\n> dalenius\n\n<!-- not run: no -->\n```console\n$ false\n```\n",
}
WRONG = {
    "`false` exits with 1": "```console\n$ false\n```\n",
    "`dalenius check none.csv` exits with 2": "```console\n$ dalenius check none.csv\n```\n",
    "nothing printed 'words'": "```console\n$ echo other\n```\n> words\n",
    "python example fails": "```python\nraise ValueError\n```\n",
    "Expected:\n    3": "```python\n>>> 1 + 1\n3\n```\n",
}


def run(folder: Path, pages: dict[str, str]) -> subprocess.CompletedProcess[str]:
    files = [folder / f"{number}.md" for number in range(len(pages))]
    for path, text in zip(files, pages.values(), strict=True):
        path.write_text(text.replace("{count}", str(folder / "count.txt")), encoding="utf-8")
    command = [sys.executable, str(ROOT / "scripts" / "run_docs.py"), *map(str, files)]
    return subprocess.run(command, capture_output=True, text=True, check=False)


def test_a_common_beginning_runs_once(tmp_path: Path) -> None:
    done = run(tmp_path, PAGES)
    assert done.returncode == 0, done.stdout + done.stderr
    assert (tmp_path / "count.txt").read_text(encoding="utf-8") == "x\n"
    said = [line.partition(".md: ")[2].rpartition(",")[0] for line in done.stdout.splitlines()[:4]]
    expected = ["2 examples ran, 0 left out"] * 2 + ["1 examples ran, 0 left out", "1 examples ran, 1 left out"]
    assert said == expected


def test_what_fails_is_said(tmp_path: Path) -> None:
    done = run(tmp_path, WRONG)
    assert done.returncode == 1
    for words in WRONG:
        assert words in done.stdout
