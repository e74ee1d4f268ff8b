"""Programs that are forked from a helper behave like programs of their own."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.conftest import LONG
from tests.processes import Starter

pytestmark = pytest.mark.slow

PROGRAMS = {
    "streams": "import sys; print('out', *sys.argv[1:]); print('err', file=sys.stderr)",
    "exit code": "import sys; sys.exit(3)",
    "message": "import sys; sys.exit('no')",
    "error": "import pathlib; pathlib.Path('nowhere.txt').read_text()",
    "signal": "import os, signal; os.kill(os.getpid(), signal.SIGKILL)",
    "folder": "import os, sys; print(os.listdir(), sys.path[0], sys.stdin.read())",
    "environment": "import os; print(os.environ.get('SAID'), os.environ.get('UNSAID'))",
    "path": "import module; print(module.WORD)",
    "end": "import atexit, threading; atexit.register(print, 'end'); threading.Thread(target=lambda: print('thread')).start()",
    "processes": "import multiprocessing as m; print(m.get_context('spawn').Pool(1).map(abs, [-3]))",
}


@pytest.mark.parametrize("program", PROGRAMS)
def test_a_fork_is_like_a_process(
    starter: Starter, tmp_path: Path, program: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "site").mkdir()
    (tmp_path / "site" / "module.py").write_text("WORD = 'found'\n", encoding="utf-8")
    monkeypatch.setenv("UNSAID", "said")
    env = {**os.environ, "SAID": "yes", "PYTHONPATH": str(tmp_path / "site")}
    del env["UNSAID"]
    code, arguments = PROGRAMS[program], ["a b", "ü"]
    forked = starter.run(code, arguments, cwd=tmp_path, env=env, timeout=LONG)
    plain = subprocess.run(
        [sys.executable, "-c", code, *arguments],
        cwd=tmp_path, env=env, capture_output=True, text=True, check=False, stdin=subprocess.DEVNULL,
    )  # fmt: skip
    assert (forked.returncode, forked.stdout) == (plain.returncode, plain.stdout)
    assert forked.stderr.splitlines()[-1:] == plain.stderr.splitlines()[-1:]  # a traceback has a frame more
    assert bool(forked.stdout) != bool(forked.returncode)


def test_it_has_imported_libraries_and_nothing_of_ours(starter: Starter, tmp_path: Path) -> None:
    code = "import sys; print(*sorted({'numpy', 'ibis', 'dalenius'} & set(sys.modules)))"
    assert starter.run(code, [], cwd=tmp_path, timeout=LONG).stdout == "ibis numpy\n"


def test_what_python_reads_when_it_starts_has_a_process_of_its_own(starter: Starter, tmp_path: Path) -> None:
    code = "import sys; print(sys.flags.hash_randomization, 'numpy' in sys.modules)"
    env = {**os.environ, "PYTHONHASHSEED": "0"}
    assert starter.run(code, [], cwd=tmp_path, env=env, timeout=LONG).stdout == "0 False\n"


def test_a_program_that_does_not_end_is_ended(tmp_path: Path) -> None:
    starter = Starter()
    assert starter.run("print(1)", [], cwd=tmp_path, timeout=LONG).stdout == "1\n"
    with pytest.raises(subprocess.TimeoutExpired):
        starter.run("import time; time.sleep(1000)", [], cwd=tmp_path, timeout=1)
    assert starter.run("print(2)", [], cwd=tmp_path, timeout=LONG).stdout == "2\n"  # by a new helper
    starter.close()
