"""Bad input gets one message that names what, where and what to do; exit code 2; no traceback; old output untouched."""

from __future__ import annotations

import os
import resource
import signal
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from tests.conftest import LONG, Run

pytestmark = pytest.mark.slow

SCHEMA = """
sensitive = "disease"
[columns.age]
role = "quasi"
type = "integer"
[columns.sex]
role = "quasi"
domain = ["Male", "Female"]
"""
GOOD = "age,sex,disease\n39,Male,Flu\n41,Female,Flu\n"


def prepare(folder: Path, table: str | bytes = GOOD, schema: str = SCHEMA) -> None:
    (folder / "privacy.toml").write_text(schema, encoding="utf-8")
    content = table if isinstance(table, bytes) else table.encode()
    (folder / "t.csv").write_bytes(content)


TABLES = {
    "unknown column": ("age,sex,disease,zip\n1,Male,Flu,2\n", "t.csv: column 'zip' is not declared in privacy.toml"),
    "misspelt column": (
        "age,sexx,disease\n1,Male,Flu\n",
        "column 'sexx' is not declared in privacy.toml. Did you mean 'sex'?",
    ),
    "absent column": ("age,disease\n1,Flu\n", "the quasi column 'sex' declared in privacy.toml is missing"),
    "wrong type": ("age,sex,disease\nold,Male,Flu\n", "row 0, column 'age': 'old' is neither a whole number nor"),
    "value outside": (
        "age,sex,disease\n1,Mael,Flu\n",
        "row 0, column 'sex': 'Mael' matches nothing. Did you mean 'Male'?",
    ),
    "ragged, short": ("age,sex,disease\n1,Male,Flu\n2,Male\n", "t.csv, line 3: 2 fields where the header has 3"),
    "ragged, long": ("age,sex,disease\n1,Male,Flu,x\n", "t.csv, line 2: 4 fields where the header has 3"),
    "open quote": ('age,sex,disease\n1,Male,"Flu\n', "t.csv, line 2: a quote is opened but never closed"),
    "wrong delimiter": ("age|sex|disease\n1|Male|Flu\n", "write the file with `,`, `;` or tab instead"),
    "empty": ("", "t.csv: the file is empty"),
    "blank": ("\n \n", "t.csv: the file is empty"),
    "header only": ("age,sex,disease\n", "t.csv: the file has a header and no rows"),
    "duplicate header": ("age,sex,age,disease\n1,Male,1,Flu\n", "t.csv: the header names column 'age' twice"),
    "nameless column": (",age,sex,disease\n0,1,Male,Flu\n", "column 1 of the header has no name"),
    "not text": (b"\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR", "t.csv: not a text file"),
    "utf-16": (GOOD.encode("utf-16"), "It looks like UTF-16: save it as UTF-8"),
    "latin-1": ("age,sex,disease\n1,Male,fièvre\n".encode("latin-1"), "t.csv: line 2 is not UTF-8 text"),
    "mixed line ends": (b"age,sex,disease\r\n1,Male,Flu\n2,Male,Flu\r\n", "mixed line ends or stray quotes"),
    "false parquet": (b"PAR1 and then nothing of the kind", "DuckDB cannot read it"),
}


@pytest.mark.parametrize("case", TABLES)
def test_bad_table(run: Run, tmp_path: Path, case: str) -> None:
    table, message = TABLES[case]
    prepare(tmp_path, table)
    done = run("check", "t.csv", "--json", "out.json")
    assert done.returncode == 2, done.stderr
    assert message in done.stderr
    assert done.stderr.count("\n") == 1
    assert "Traceback" not in done.stderr
    assert done.stdout == ""
    assert not (tmp_path / "out.json").exists()


def test_late_latin_1_is_found_by_the_engine(run: Run, tmp_path: Path) -> None:
    rows = "39,Male,Flu\n" * 200_000
    prepare(tmp_path, ("age,sex,disease\n" + rows + "39,Male,fièvre\n").encode("latin-1"))
    done = run("check", "t.csv")
    assert done.returncode == 2
    assert "not UTF-8 text" in done.stderr
    assert "vre" not in done.stderr


SCHEMAS = {
    "unknown key": ('senstive = "disease"\n' + SCHEMA, "unknown key 'senstive'. Did you mean 'sensitive'?"),
    "unknown column key": (
        SCHEMA + "hierachy = 'x'\n",
        "unknown key 'hierachy' in [columns.sex]. Did you mean 'hierarchy'?",
    ),
    "unknown policy": (SCHEMA + "[policy]\nmin_kk = 3\n", "unknown key 'min_kk' in [policy]. Did you mean 'min_k'?"),
    "wrong role": (SCHEMA.replace('"quasi"', '"quasy"', 1), "columns.age.role"),
    "not toml": ("sensitive = = 3", "privacy.toml: not valid TOML"),
    "no such hierarchy": (SCHEMA + 'hierarchy = "sex.csv"\n', "Cannot read the hierarchy"),
    "no quasi": (
        'sensitive = "disease"\n[columns.age]\nrole = "other"\n[columns.sex]\nrole = "other"\n',
        "no quasi-identifier",
    ),
    "no sensitive": (SCHEMA.replace('sensitive = "disease"', ""), "no sensitive column"),
}


@pytest.mark.parametrize("case", SCHEMAS)
def test_bad_schema(run: Run, tmp_path: Path, case: str) -> None:
    schema, message = SCHEMAS[case]
    prepare(tmp_path, schema=schema)
    done = run("check", "t.csv")
    assert (done.returncode, done.stdout) == (2, "")
    assert message in done.stderr
    assert "Traceback" not in done.stderr


def test_value_without_a_path_names_the_hierarchy(run: Run, tmp_path: Path) -> None:
    prepare(tmp_path, schema=SCHEMA.replace('domain = ["Male", "Female"]', 'hierarchy = "sex.csv"'))
    (tmp_path / "sex.csv").write_text("Male;*\nFemales;*\n", encoding="utf-8")
    done = run("check", "t.csv")
    assert done.returncode == 2
    assert "row 1, column 'sex': 'Female' matches nothing. Did you mean 'Females'?" in done.stderr


def test_missing_files_and_folders(run: Run, tmp_path: Path) -> None:
    prepare(tmp_path)
    for arguments, message in [
        (
            ["check", "tt.csv"],
            "There is no file 'tt.csv', and no release of several files of that name. Did you mean 't.csv'?",
        ),
        (["check", "t.csv", "--schema", "p.toml"], "Make one with: dalenius init"),
        (["check", "t.csv", "--json", "no/where.json"], "the folder 'no' does not exist"),
        (["check", "."], "that is a folder"),
        (["init", "t.csv", "-o", "no/privacy.toml"], "the folder 'no' does not exist"),
        (["init", "none.csv", "-o", "new.toml"], "Cannot read 'none.csv': there is no such file"),
        (["init", "t.csv"], "already exists and is not overwritten"),
        (["check", "t.csv", "--engine", "oracle://"], "There is no engine 'oracle'"),
        (["check", "t.csv", "--kind", "generalised"], "Did you mean 'generalized'?"),
        (["check", "t.csv", "--sede", "1"], "--sede"),
        (["chekc", "t.csv"], "Did you mean 'check'?"),
    ]:
        done = run(*arguments)
        assert done.returncode == 2, (arguments, done.stderr)
        assert message in done.stderr, (arguments, done.stderr)
        assert "Traceback" not in done.stderr
    assert (tmp_path / "privacy.toml").read_text() == SCHEMA


def test_no_read_permission(tmp_path: Path) -> None:
    """Root reads everything, so the second look at the file is taken as somebody else."""
    prepare(tmp_path)
    for folder in (tmp_path, *tmp_path.parents):
        if not folder.stat().st_mode & stat.S_IXOTH:
            folder.chmod(folder.stat().st_mode | stat.S_IXOTH)
    code = (
        "import os, sys; from dalenius.cli.app import run\n"
        "assert run(['check', 't.csv', '--quiet']) == 0\n"
        "os.chmod('t.csv', 0)\n"
        "if os.geteuid() == 0: os.seteuid(65534)\n"
        "sys.exit(run(['check', 't.csv']))"
    )
    done = subprocess.run([sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True, timeout=LONG)
    assert done.returncode == 2, done.stderr
    assert "permission denied" in done.stderr
    assert "Traceback" not in done.stderr


def test_disk_full_leaves_the_old_file(run: Run, tmp_path: Path) -> None:
    """A limit on file sizes stands in for a full disk: the system refuses the write in the middle."""
    prepare(tmp_path)
    (tmp_path / "out.json").write_text("old", encoding="utf-8")

    def limit() -> None:
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (64, 64))

    done = run("check", "t.csv", "--json", "out.json", preexec_fn=limit)
    assert done.returncode == 2
    assert "Cannot write 'out.json'" in done.stderr
    assert (tmp_path / "out.json").read_text() == "old"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["out.json", "privacy.toml", "t.csv"]


# Sends itself a signal when a module is about to be imported, or when a file is about to be counted: no test has to wait.
SIGNALLED = """
import importlib.abc, os, sys

class Finder(importlib.abc.MetaPathFinder):
    def find_spec(self, name, path, target=None):
        if name == {module!r}:
            sys.meta_path.remove(self)
            os.kill(os.getpid(), {number})
        return None

sys.meta_path.insert(0, Finder())
from dalenius.cli import main
sys.argv[1:] = {arguments!r}
main()
"""
IMPORTED = (
    "dalenius.cli.app",
    "typer",
    "dalenius.cli.publish",
    "numpy",
    "duckdb",
    "dalenius.releases",
)


@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
@pytest.mark.parametrize("module", IMPORTED)
def test_a_signal_while_a_command_imports(module: str, number: signal.Signals, code: int, tmp_path: Path) -> None:
    prepare(tmp_path)
    (tmp_path / "out.json").write_text("old", encoding="utf-8")
    script = SIGNALLED.format(module=module, number=int(number), arguments=["check", "t.csv", "--json", "out.json"])
    done = subprocess.run([sys.executable, "-c", script], cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == code, done.stderr
    assert done.stderr == "dalenius: Interrupted. Nothing was written.\n"
    assert (tmp_path / "out.json").read_text() == "old"


def test_ctrl_c_in_the_middle(tmp_path: Path) -> None:
    """Just as DuckDB begins to count, which takes a while: it is told to stop, and stops."""
    rows = "".join(f"{i % 97},Male,Disease{i % 1000}\n" for i in range(400_000))
    prepare(tmp_path, "age,sex,disease\n" + rows * 10)
    (tmp_path / "out.json").write_text("old", encoding="utf-8")
    script = """
import os, signal, sys
import dalenius.engines.duckdb_engine as engine
from dalenius.cli import main

watched = engine.watched
def signalled(action, **options):
    def begun():
        os.kill(os.getpid(), signal.SIGINT)
        return action()
    return watched(begun, **options)
engine.watched = signalled
sys.argv[1:] = ["check", "t.csv", "--json", "out.json"]
main()
"""
    done = subprocess.run([sys.executable, "-c", script], cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 130, done.stderr
    assert done.stderr == "dalenius: Interrupted. Nothing was written.\n"
    assert (tmp_path / "out.json").read_text() == "old"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["out.json", "privacy.toml", "t.csv"]


# Sends itself SIGTERM as soon as a draft of the release is there. The query that writes it does not end before that, however
# busy the machine is.
TERMINATED = """
import os, signal, sys, threading, time
from pathlib import Path
import dalenius.engines.duckdb_engine as engine
from dalenius.cli import main

sent = threading.Event()
def draft():
    return list(Path().glob(".out.*"))

def terminate():
    while not draft():
        time.sleep(0.001)
    os.write(1, b"spilt" if list(Path("spill").iterdir()) else b"nothing spilt")
    os.kill(os.getpid(), signal.SIGTERM)
    sent.set()

watched = engine.watched
def held(action, **options):
    def whole():
        result = action()
        if draft():
            sent.wait()
        return result
    return watched(whole, **options)

engine.watched = held
threading.Thread(target=terminate, daemon=True).start()
sys.argv[1:] = ["publish", "t.csv", "-o", "out.csv", "--k", "2", "--method", {method!r}]
main()
"""


@pytest.mark.parametrize("method", ["lattice", "mondrian"])
def test_killed_in_the_middle_of_writing(method: str, tmp_path: Path) -> None:
    """SIGTERM while rows are written: the old release stays, and neither a draft nor what was spilt is left."""
    rows = "".join(f"{i % 97},Male,Disease{i % 1000}\n" for i in range(400_000))
    prepare(tmp_path, "age,sex,disease\n" + rows * 10)
    schema = 'sensitive = "disease"\n[columns.age]\nrole = "quasi"\nhierarchy = "suppress"\n'
    schema += '[columns.sex]\nrole = "quasi"\nhierarchy = "suppress"\n[columns.disease]\nrole = "sensitive"\n'
    (tmp_path / "privacy.toml").write_text(schema, encoding="utf-8")
    (tmp_path / "out.csv").write_text("old", encoding="utf-8")
    (tmp_path / "spill").mkdir()
    done = subprocess.run(
        [sys.executable, "-c", TERMINATED.format(method=method)], cwd=tmp_path, capture_output=True, text=True,
        timeout=LONG, env={**os.environ, "TMPDIR": str(tmp_path / "spill")},
    )  # fmt: skip
    assert done.stdout == "spilt"
    assert done.returncode == 143, done.stderr
    assert done.stderr == "dalenius: Interrupted. Nothing was written.\n"
    assert (tmp_path / "out.csv").read_text() == "old"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["out.csv", "privacy.toml", "spill", "t.csv"]
    assert list((tmp_path / "spill").iterdir()) == []


def test_a_bug_is_told_without_data(tmp_path: Path) -> None:
    prepare(tmp_path)
    code = (
        "import sys, dalenius.releases; from dalenius.cli.app import run\n"
        "def broken(*a, **k): raise RuntimeError('SECRET')\n"
        "dalenius.releases.read = broken\n"
        "sys.exit(run(['check', 't.csv']))"
    )
    done = subprocess.run([sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 70
    assert "This is a bug in dalenius: RuntimeError" in done.stderr
    assert "SECRET" not in done.stderr


def test_a_closed_pipe_is_no_error_and_no_verdict(tmp_path: Path) -> None:
    """Nothing is said, and the exit code is the shell's own: a script that gates an export must not take it for passed."""
    prepare(tmp_path)
    program = f"{sys.executable} -c 'from dalenius.cli import main; main()'"
    command = f"{program} check t.csv --json - | true; exit ${{PIPESTATUS[0]}}"
    done = subprocess.run(["bash", "-c", command], cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 141
    assert done.stderr == ""
