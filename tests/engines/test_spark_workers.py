"""Workers of a cluster that die, or never come. Each test has a cluster of its own, in a process of its own."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from tests.conftest import LONG
from tests.engines.conftest import CLUSTER, need_java
from tests.engines.servers import spark_master

from dalenius.engines import default

pytestmark = pytest.mark.slow

# Kills workers of this process's cluster whenever Spark tells that tasks run: one of them, or every one again and again.
KILLING = """
import os, signal, sys, time
from pathlib import Path
from dalenius.cli import app, common
from dalenius.engines import connect

def workers():
    parents, java = {}, []
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                words = (entry / "cmdline").read_bytes().split(b"\\0")
                parents[int(entry.name)] = int((entry / "stat").read_text().rpartition(")")[2].split()[1])
            except OSError:
                continue
            if any(b"CoarseGrainedExecutorBackend" in word for word in words):
                java.append(int(entry.name))
    return [pid for pid in java if parents.get(parents.get(pid)) == os.getpid()]

killed = []
def told(line):
    if "tasks" in line and (sys.argv[1] == "all" or not killed):
        for pid in workers()[: 1 if sys.argv[1] == "one" else None]:
            killed.append(pid)
            os.kill(pid, signal.SIGKILL)

def with_killer(url, *, quiet):
    engine = connect(url)
    engine.notify = told
    return engine

import dalenius.cli.common as common
import dalenius.engines.spark_engine
# Where one is killed another comes, sooner or later; where all are, it is the patience that ends it.
dalenius.engines.spark_engine.PATIENCE = 12.0 if sys.argv[1] == "all" else 600.0
common.connect_engine = with_killer
code = app.run(sys.argv[2:])
print("killed", len(killed))
sys.exit(code)
"""
SCHEMA = """
[columns.age]
role = "quasi"
type = "integer"
domain = { min = 0, max = 99 }
intervals = [5, 20]
[columns.city]
role = "quasi"
hierarchy = "suppress"
[columns.illness]
role = "sensitive"
"""
PEOPLE = 600_000


@pytest.fixture(scope="module")
def people(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("many")
    number = list(range(PEOPLE))
    table = pa.table(
        {
            "age": [str(i * 7919 % 100) for i in number],
            "city": [f"city{i * 31 % 997}" for i in number],
            "illness": [f"illness{i % 11}" for i in number],
        }
    )
    pq.write_table(table, folder / "people.parquet", row_group_size=10_000)
    (folder / "privacy.toml").write_text(SCHEMA, encoding="utf-8")
    return folder


def published(people: Path, folder: Path, *, kill: str) -> subprocess.CompletedProcess[str]:
    need_java()
    words = [
        "publish",
        str(people / "people.parquet"),
        "-o",
        "out.csv",
        "--k",
        "5",
        "--schema",
        str(people / "privacy.toml"),
    ]
    # Many small tasks, so that there is always one to be interrupted.
    wanted = {
        "spark.sql.files.maxPartitionBytes": 100_000,
        "spark.sql.files.openCostInBytes": 0,
        "spark.task.maxFailures": 4,
    }
    settings = " ".join(f"--conf {key}={value}" for key, value in wanted.items()) + " pyspark-shell"
    return subprocess.run(
        [sys.executable, "-c", KILLING, kill, *words, "--engine", CLUSTER],
        cwd=folder, env={**os.environ, "PYSPARK_SUBMIT_ARGS": settings}, capture_output=True, text=True, timeout=LONG,
    )  # fmt: skip


def test_a_worker_is_killed_and_the_release_is_whole(people: Path, tmp_path: Path) -> None:
    done = published(people, tmp_path, kill="one")
    assert done.returncode == 0, done.stderr
    assert "killed 1" in done.stdout
    assert sorted(path.name for path in tmp_path.iterdir()) == ["out.csv", "out.csv.meta.json"]
    rows = default().open(tmp_path / "out.csv").count(["age", "city", "illness"])
    assert int(rows.counts.sum()) == PEOPLE
    groups: dict[tuple[int, int], int] = {}
    for (age, city, _), count in zip(rows.codes.tolist(), rows.counts.tolist(), strict=True):
        groups[age, city] = groups.get((age, city), 0) + count
    assert min(groups.values()) >= 5


def test_workers_are_killed_for_ever_and_nothing_is_left(people: Path, tmp_path: Path) -> None:
    done = published(people, tmp_path, kill="all")
    assert done.returncode == 2, done.stderr
    assert "workers" in done.stderr
    assert "Traceback" not in done.stderr
    assert list(tmp_path.iterdir()) == []


WAITING = """
import sys
import dalenius.engines.spark_engine as spark
from dalenius.cli import app
spark.PATIENCE = 8.0
sys.exit(app.run(sys.argv[1:]))
"""


def test_no_worker_comes(tmp_path: Path) -> None:
    """A master without workers: Spark itself would wait for ever."""
    need_java()
    (tmp_path / "t.csv").write_text("q,s\na,x\n", encoding="utf-8")
    (tmp_path / "privacy.toml").write_text(
        '[columns.q]\nrole = "quasi"\n[columns.s]\nrole = "sensitive"\n', encoding="utf-8"
    )
    with spark_master() as url:
        done = subprocess.run(
            [sys.executable, "-c", WAITING, "check", "t.csv", "--engine", url],
            cwd=tmp_path, capture_output=True, text=True, timeout=LONG, env={**os.environ, "SPARK_LOCAL_IP": "127.0.0.1"},
        )  # fmt: skip
    assert done.returncode == 2, done.stderr
    assert "No Spark worker is active" in done.stderr
