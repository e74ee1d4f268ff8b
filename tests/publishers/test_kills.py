"""Kills and signals between any two steps of a write leave the old release or the new one, never a mixture.

A driver, in a process of its own, patches the operating system's calls that `dalenius.output` makes and forks a child for each
step: the child publishes over an older release, and is stopped when it comes to that step.
"""

from __future__ import annotations

import functools
import json
import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest

import dalenius as dl
from dalenius.cli import app
from tests.conftest import LONG

pytestmark = pytest.mark.slow

# Stops the process when it comes to a step.
PATCHES = """
import os, signal, sys
from pathlib import Path

for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):  # whatever started the tests, say nohup, may ignore some
    signal.signal(number, signal.default_int_handler if number == signal.SIGINT else signal.SIG_DFL)

STEPS = ("replace", "link", "fsync", "unlink", "chmod")  # what putting files in place consists of
taken = []

def stop(what):
    if what == "error":
        raise OSError(5, "Input/output error")
    os.kill(os.getpid(), getattr(signal, what))

def patch(at, what):
    for name in STEPS:
        call = getattr(os, name)
        def step(*arguments, call=call, name=name, **options):
            place = arguments[0]
            mine = name == "fsync" or not os.path.isabs(place) or str(place).startswith(os.getcwd())
            if mine:
                taken.append(name)
                if len(taken) == at:
                    stop(what)
            return call(*arguments, **options)
        setattr(os, name, step)
"""
DRIVER = (
    PATCHES
    + """
import contextlib, importlib, json, shutil
from dalenius.cli import app

def child(folder, words, at, what):
    os.chdir(folder)
    errors = os.open("../" + folder.name + ".err", os.O_WRONLY | os.O_CREAT)
    os.dup2(errors, 2)
    signal.signal(signal.SIGINT, signal.default_int_handler)
    app.end_as_interrupted()
    patch(at, what)
    code = app.run(words)
    sys.stderr.flush()
    Path("../" + folder.name + ".done").write_text(json.dumps({"steps": taken, "modules": sorted(sys.modules)}))
    os._exit(code)

asked = json.loads(sys.argv[1])
start, words = Path(asked["start"]), asked["words"]
codes, running = {}, {}

def begin(name, at, what):
    folder = start.with_name(name)
    shutil.copytree(start, folder, symlinks=True)
    if len(running) == 2:
        end()
    pid = os.fork()
    if not pid:
        try:
            child(folder, words, at, what)
        finally:
            os._exit(99)
    running[pid] = str(folder)
    return {"folder": str(folder), "at": at}

def end():
    pid, status = os.wait()
    codes[running.pop(pid)] = os.waitstatus_to_exitcode(status)

first = begin("whole", -1, "SIGKILL")
end()
done = json.loads(Path(first["folder"] + ".done").read_text())
steps = done["steps"]
for name in done["modules"]:  # once for all children
    with contextlib.suppress(ImportError):
        importlib.import_module(name)
found = [
    begin(f"{what}{at}", at, what)
    for what in asked["what"]
    for at, step in enumerate(steps, 1)
    if what != "error" or step in ("replace", "chmod")  # whatever else fails is no reason to give up
]
while running:
    end()
print(json.dumps([one | {"code": codes[one["folder"]]} for one in (first, *found)]))
"""
)
SCHEMA = """sensitive = "illness"
[columns.age]
role = "quasi"
type = "integer"
domain = { min = 20, max = 29 }
intervals = [5]
[columns.illness]
role = "sensitive"
domain = ["ache", "cold", "flu"]
"""
LATTICE, COUNTS = ["--method", "lattice", "--k"], ["--method", "noisy-counts", "--epsilon"]
# kind → the files, how the old release was made, and how the new one is
KINDS: dict[str, tuple[list[str], list[str], list[str]]] = {
    "generalized": (["out.csv"], [*LATTICE, "3"], [*LATTICE, "12"]),
    "centroids": (
        ["out.csv"],
        ["--method", "microaggregation", "--k", "3"],
        ["--method", "microaggregation", "--k", "4"],
    ),
    "anatomized": (
        ["out.quasi.csv", "out.sensitive.csv"],
        ["--method", "anatomy", "--l", "2", "--seed", "1"],
        ["--method", "anatomy", "--l", "3", "--seed", "2"],
    ),
    "noisy-counts": (["out.counts.csv", "out.json"], [*COUNTS, "0.5"], [*COUNTS, "2"]),
}
CODES = {"SIGKILL": -9, "SIGINT": 130, "SIGTERM": 143, "SIGHUP": 129}


@dataclass(frozen=True)
class Case:
    """What a stopped child left: the folder, how it ended, and what it said."""

    folder: Path
    at: int
    code: int
    said: str


def name_of(kind: str) -> str:
    return "out.csv" if len(KINDS[kind][0]) == 1 else "out"


def prepared(kind: str, folder: Path, *, old: bool) -> Path:
    start = folder / "start"
    start.mkdir()
    (start / "privacy.toml").write_text(SCHEMA, encoding="utf-8")
    rows = [f"{20 + i % 10},{('ache', 'cold', 'flu')[i * 7 % 3]}" for i in range(60)]
    (start / "people.csv").write_text("age,illness\n" + "\n".join(rows) + "\n", encoding="utf-8")
    if old:
        before = Path.cwd()
        os.chdir(start)
        try:
            assert app.run(["publish", "people.csv", "-o", name_of(kind), "-q", *KINDS[kind][1]]) == 0
        finally:
            os.chdir(before)
    return start


Stopped = Callable[..., tuple[Path, Path, list[Case]]]


@pytest.fixture(scope="module")
def stopped(tmp_path_factory: pytest.TempPathFactory) -> Stopped:
    """The folder before, the folder of a run that nobody stopped, and a case for each stop at each step.

    One driver stops a kind in all ways, as it takes longer to start than a child takes to write.
    """

    @functools.cache
    def every(kind: str, old: bool) -> tuple[Path, Path, list[Case]]:
        polite = "SIGHUP" if kind == "generalized" else "SIGTERM"
        what = ["SIGKILL", "SIGINT", polite, "error"] if old else ["SIGKILL"]
        return driven(kind, tmp_path_factory.mktemp(kind), what, old=old)

    def some(kind: str, *what: str, old: bool = True) -> tuple[Path, Path, list[Case]]:
        start, whole, cases = every(kind, old)
        return start, whole, [case for case in cases if case.folder.name.rstrip("0123456789") in what]

    return some


def driven(kind: str, folder: Path, what: list[str], *, old: bool) -> tuple[Path, Path, list[Case]]:
    start = prepared(kind, folder, old=old)
    words = ["publish", "people.csv", "-o", name_of(kind), "-q", *KINDS[kind][2]]
    asked = json.dumps({"start": str(start), "words": words, "what": what})
    done = subprocess.run(
        [sys.executable, "-c", DRIVER, asked],
        capture_output=True, text=True, timeout=2 * LONG, env={**os.environ, "OPENBLAS_NUM_THREADS": "1"},
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    whole, *cases = [
        Case(Path(one["folder"]), one["at"], one["code"], Path(one["folder"] + ".err").read_text(encoding="utf-8"))
        for one in json.loads(done.stdout.splitlines()[-1])
    ]
    assert whole.code == 0, whole.said
    assert len(cases) >= 3 * len(what)
    return start, whole.folder, cases


def state(kind: str, case: Path, start: Path) -> str:
    """Old, new, or neither, by the bytes of every file."""
    files = [*KINDS[kind][0], f"{name_of(kind)}.meta.json"]
    if (case / files[-1]).is_file() and "unfinished" in json.loads((case / files[-1]).read_text(encoding="utf-8")):
        return "neither"
    same = [_bytes(case / file) == _bytes(start / file) for file in files]
    there = [(case / file).is_file() for file in files]
    if all(same):
        return "old"
    return "new" if not any(same) and all(there) else "neither"


def _bytes(path: Path) -> bytes | None:
    return path.read_bytes() if path.is_file() else None


def names(folder: Path) -> set[str]:
    return {path.name for path in folder.iterdir()}


def readable(kind: str, folder: Path) -> bool:
    """Whether it is read, by its name and by the name of each of its files; refused is refused with a reason."""
    said = set()
    for name in {name_of(kind), *KINDS[kind][0]}:
        try:
            said.add(dl.read_release(folder / name, folder / "privacy.toml").kind)
        except dl.InputError as error:
            said.add(str(error) if (folder / f"{name_of(kind)}.meta.json").is_file() else "")
    assert len(said) == 1
    answer = said.pop()
    unfinished = "is unfinished" in answer and "Publish the release again" in answer
    assert answer in (kind, "") or unfinished, answer
    return answer == kind


@pytest.mark.parametrize(
    ("kind", "old"),
    [*((kind, True) for kind in KINDS), ("generalized", False), ("anatomized", False)],
    ids=lambda value: value if isinstance(value, str) else "over an old release" if value else "the first one",
)
def test_killed(kind: str, old: bool, stopped: Stopped) -> None:
    """SIGKILL: old, new, or refused; and whatever it is, the next publish makes it good."""
    start, whole, cases = stopped(kind, "SIGKILL", old=old)
    assert len(cases) >= 3
    assert state(kind, whole, start) == "new"
    assert readable(kind, whole)
    clean = names(whole)
    seen = []
    for case in cases:
        assert case.code == -signal.SIGKILL
        found = state(kind, case.folder, start)
        seen.append(found)
        assert readable(kind, case.folder) == (found == "new" or (found == "old" and old)), (case, found)
        if found != "neither":
            continue
        os.chdir(case.folder)
        assert app.run(["publish", "people.csv", "-o", name_of(kind), "-q", *KINDS[kind][2]]) == 0
        assert readable(kind, case.folder)
        assert names(case.folder) == clean  # marker and drafts are gone
    assert seen == sorted(seen, key=["old", "neither", "new"].index)
    assert set(seen) == {"old", "neither", "new"}


@pytest.fixture(autouse=True)
def _here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


@pytest.mark.parametrize("kind", list(KINDS))
def test_signalled(kind: str, stopped: Stopped) -> None:
    """SIGINT, SIGTERM, SIGHUP: old or new, nothing beside it, and what the terminal says is true."""
    start, whole, cases = stopped(kind, "SIGINT", "SIGTERM", "SIGHUP")
    assert len(cases) >= 6
    seen = set()
    for case in cases:
        found = state(kind, case.folder, start)
        seen.add(found)
        assert found in ("old", "new"), case
        assert readable(kind, case.folder)
        assert names(case.folder) == names(whole)
        assert case.code == CODES[case.folder.name.rstrip("0123456789")], case
        if found == "old":
            assert case.said == "dalenius: Interrupted. Nothing was written.\n"
        else:
            files = ", ".join([*KINDS[kind][0], f"{name_of(kind)}.meta.json"])
            assert case.said == f"dalenius: Interrupted. Already written: {files}.\n"
    assert seen == {"old", "new"}


@pytest.mark.parametrize("kind", list(KINDS))
def test_an_error_in_the_middle(kind: str, stopped: Stopped) -> None:
    """A rename that fails puts everything back."""
    start, whole, cases = stopped(kind, "error")
    assert len(cases) >= len(KINDS[kind][0]) + 2
    for case in cases:
        assert case.code == 2
        assert state(kind, case.folder, start) == "old", case
        assert case.said.startswith("dalenius: Cannot write 'out")
        assert names(case.folder) == names(whole)
        assert readable(kind, case.folder)


def test_several_reports_are_written_together(tmp_path: Path) -> None:
    """Two files without a sidecar: a signal in the middle waits, and an error puts the old ones back."""
    driver = PATCHES + (
        "from dalenius.output import write_texts\n"
        "Path('a.html').write_text('old'); Path('b.json').write_text('old')\n"
        "signal.signal(signal.SIGINT, signal.default_int_handler)\n"
        "patch(int(sys.argv[1]), sys.argv[2])\n"
        "try:\n    write_texts({Path('a.html'): 'new', Path('b.json'): 'new'})\n"
        "except KeyboardInterrupt:\n    print('interrupted', end='')\n"
        "except Exception as error:\n    print(type(error).__name__, end='')\n"
    )
    seen = set()
    for what, answer in (("SIGINT", "interrupted"), ("error", "InputError")):
        for at in range(1, 12):
            shutil.rmtree(tmp_path / "here", ignore_errors=True)
            (tmp_path / "here").mkdir()
            done = subprocess.run(
                [sys.executable, "-c", driver, str(at), what], cwd=tmp_path / "here", capture_output=True, text=True, timeout=LONG
            )  # fmt: skip
            assert done.returncode == 0, done.stderr
            files = {path.name: path.read_text() for path in (tmp_path / "here").iterdir()}
            if what == "error":  # an old file that cannot be removed stays beside the new one, and its name is hidden
                files = {name: text for name, text in files.items() if not name.startswith(".")}
            assert files in ({"a.html": "old", "b.json": "old"}, {"a.html": "new", "b.json": "new"}), (what, at)
            seen.add((what, done.stdout, files["a.html"]))
            assert done.stdout in ("", answer)
            if what == "error":
                assert (done.stdout == "") == (files["a.html"] == "new")
            if not done.stdout and what == "SIGINT":
                break  # no more steps
    assert {("SIGINT", "interrupted", "old"), ("SIGINT", "interrupted", "new"), ("error", "InputError", "old")} <= seen
