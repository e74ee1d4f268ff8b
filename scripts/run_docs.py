"""Run the examples in Markdown files: each ```console block's `$` lines in one shell a file, each ```python block.

The commands of a file run one after the other in an empty folder of their own with `dalenius` on the PATH. A command
must exit with 0, or with the code that a comment `# exit 2` at its end names. Python blocks are run as doctests where
they hold prompts and as scripts otherwise. Blocks after `<!-- not run: reason -->` are left out, and counted. What is
quoted (`> …`) right after a console block must have been printed by its commands.

Files run side by side. What only starts our program or Python, and needs no shell, runs in a fork of this process, which
has imported everything once: two thirds of a short command's time is importing. Many pages begin with the same command in
their empty folder, mostly `dalenius demo --quick`. It runs once, and each of these pages gets a copy of what it wrote.
"""

from __future__ import annotations

import concurrent.futures
import doctest
import functools
import importlib
import multiprocessing
import os
import re
import runpy
import shlex
import shutil
import subprocess
import sys
import tempfile
import time
import traceback
from collections import Counter
from collections.abc import Callable
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
BLOCK = re.compile(
    r"(<!-- not run: [^>]+-->\n)?^```(console|python)\n(.*?)^```$((?:\n\n?>[^\n]*)*)", re.MULTILINE | re.DOTALL
)
QUOTED = re.compile(r"'[^']*'|\"[^\"$`\\]*\"")
IMPORTED = (
    "dalenius.auditing", "dalenius.auditing.epsilon_curve", "dalenius.cli.app", "dalenius.config", "dalenius.engines.duckdb_engine",
    "dalenius.papers", "dalenius.publishers.anatomy", "dalenius.publishers.lattice", "dalenius.publishers.mondrian",
    "dalenius.reports.html",
    "altair", "ibis.backends.duckdb", "numba.core.caching", "numba.core.registry", "rich", "scipy.optimize", "scipy.stats",
)  # fmt: skip
SHELL = set("|;&<>$`*?(){}~#\\\"'")  # outside quotes: for a shell to understand


Opening = tuple[int, str, str]  # exit code, output, and the folder with what was written


def run_file(path: Path, openings: dict[str, Opening]) -> tuple[int, int, float, list[str]]:
    """How many blocks ran, how many were left out, the seconds it took, and what went wrong."""
    ran = left = 0
    wrong: list[str] = []
    begun = time.monotonic()
    with tempfile.TemporaryDirectory() as folder:
        opened = first_command(path) not in openings
        for skipped, language, body, quoted in BLOCK.findall(path.read_text(encoding="utf-8")):
            if skipped:
                left += 1
                continue
            ran += 1
            if language == "python":
                code, output = _python(body, folder)
                if code:
                    wrong.append(f"{path}: python example fails:\n{body}\n{output}")
                continue
            printed = ""
            for line in body.splitlines():
                if not line.startswith("$ "):
                    continue
                command, _, comment = line[2:].partition("  # exit ")
                if opened:
                    code, output = _command(command, folder)
                else:
                    code, output, written = openings[command]
                    shutil.copytree(written, folder, dirs_exist_ok=True)
                    opened = True
                if code != (int(comment) if comment else 0):
                    wrong.append(f"{path}: `{command}` exits with {code}:\n{output}")
                printed += output
            wrong += [f"{path}: nothing printed {one!r}:\n{printed}" for one in _missing(quoted, printed)]
    return ran, left, time.monotonic() - begun, wrong


def first_command(path: Path) -> str | None:
    """The command with which a page begins in its empty folder, if it begins with one."""
    for skipped, language, body, _ in BLOCK.findall(path.read_text(encoding="utf-8")):
        if skipped:
            continue
        lines = [line for line in body.splitlines() if line.startswith("$ ")]
        return lines[0][2:].partition("  # exit ")[0] if language == "console" and lines else None
    return None


def run_opening(command: str, folder: str) -> Opening:
    """Run a command with which several pages begin."""
    place = tempfile.mkdtemp(dir=folder)
    return *_command(command, place), place


def _missing(quoted: str, printed: str) -> list[str]:
    """The paragraphs of the quotation after a block that its commands did not print; line breaks do not count."""
    paragraphs = re.split(r"^>\s*$", quoted.strip(), flags=re.MULTILINE)
    told = [" ".join(re.sub(r"^> ?", "", one, flags=re.MULTILINE).split()) for one in paragraphs]
    return [one for one in told if one not in " ".join(printed.split())]


def _command(command: str, folder: str) -> tuple[int, str]:
    if command.startswith("dalenius ") and not SHELL & set(QUOTED.sub("", command)):
        return _forked(lambda: _dalenius(shlex.split(command)), folder)
    environment = dict(os.environ)
    environment["PATH"] = f"{Path(sys.executable).parent}{os.pathsep}{environment['PATH']}"
    done = subprocess.run(["bash", "-c", command], cwd=folder, env=environment, capture_output=True, text=True)
    return done.returncode, done.stdout + done.stderr


def _dalenius(words: list[str]) -> None:
    from dalenius.cli import main

    sys.argv = words
    main()


def _python(body: str, folder: str) -> tuple[int, str]:
    script = Path(folder) / "example.py"
    script.write_text(body, encoding="utf-8")

    def run() -> None:
        sys.path[:0] = [folder, str(ROOT)]  # ROOT: where examples/ is
        if ">>> " in body:
            sys.exit(bool(doctest.testfile(str(script), module_relative=False)[0]))
        runpy.run_path(str(script), run_name="__main__")

    return _forked(run, folder)


def _forked(run: Callable[[], None], folder: str) -> tuple[int, str]:
    """The exit code and the output of something that runs in a process of its own, made of this one."""
    with tempfile.TemporaryFile() as output:
        sys.stdout.flush()
        child = os.fork()
        if child == 0:
            code = 1
            try:
                os.dup2(output.fileno(), 1)
                os.dup2(output.fileno(), 2)
                os.chdir(folder)
                sys.stdout = open(1, "w", encoding="utf-8", closefd=False)  # noqa: SIM115 - for as long as it runs
                sys.stderr = open(2, "w", encoding="utf-8", closefd=False)  # noqa: SIM115
                run()
                code = 0
            except SystemExit as end:
                code = end.code if isinstance(end.code, int) else int(end.code is not None)
            except BaseException:  # noqa: BLE001 - told, as Python would
                traceback.print_exc()
            finally:
                sys.stdout.flush()
                sys.stderr.flush()
                os._exit(code)
        _, status = os.waitpid(child, 0)
        output.seek(0)
        return os.waitstatus_to_exitcode(status), output.read().decode("utf-8", "replace")


def main(files: list[str]) -> int:
    for name in IMPORTED:
        importlib.import_module(name)
    problems = []
    paths = [Path(name) for name in files]
    shared = [command for command, pages in Counter(map(first_command, paths)).items() if command and pages > 1]
    # Not a multiprocessing.Pool: a command may start processes of its own, which a pool's processes may not.
    context = multiprocessing.get_context("fork")
    with tempfile.TemporaryDirectory() as kept, concurrent.futures.ProcessPoolExecutor(mp_context=context) as pool:
        made = pool.map(functools.partial(run_opening, folder=kept), shared)
        openings = dict(zip(shared, made, strict=True))
        done = pool.map(functools.partial(run_file, openings=openings), paths)  # each file has a folder of its own
        for name, (ran, left, seconds, wrong) in zip(files, done, strict=True):
            print(f"{name}: {ran} examples ran, {left} left out, {seconds:.0f} s", flush=True)
            problems += wrong
    print("\n".join(problems))
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
