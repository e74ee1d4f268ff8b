"""Ways through the commands that a user takes seldom, and must be able to take."""

from __future__ import annotations

import json
import re
import resource
import signal
from pathlib import Path

import pytest

import dalenius as dl
from dalenius.measures.anonymity import class_risks
from tests.conftest import Run

pytestmark = pytest.mark.slow

SCHEMA = 'sensitive = "s"\n[columns.q]\nrole = "quasi"\nhierarchy = "suppress"\n'


def prepare(folder: Path, policy: str = "") -> None:
    (folder / "privacy.toml").write_text(SCHEMA + policy, encoding="utf-8")
    rows = "".join(f"{i // 4},{'xyzx'[i % 4]}\n" for i in range(40))
    (folder / "t.csv").write_text("q,s\n" + rows, encoding="utf-8")


def test_strict_fails_on_what_could_not_be_tested(run: Run, tmp_path: Path) -> None:
    prepare(tmp_path, "[policy]\nmin_k = 2\nmax_attacker_gain = 0.9\n")
    assert run("audit", "t.csv", "--truth", "t.csv").returncode == 0
    assert run("audit", "t.csv", "--truth", "t.csv", "--strict").returncode == 1
    prepare(tmp_path, "[policy]\nmin_k = 2\n")
    assert run("audit", "t.csv", "--truth", "t.csv", "--strict").returncode == 0


def test_two_outputs_are_two_files(run: Run, tmp_path: Path) -> None:
    prepare(tmp_path)
    for arguments in (
        ["audit", "t.csv", "--truth", "t.csv", "-o", "out", "--json", "out"],
        ["publish", "t.csv", "--k", "2", "-o", "out", "--json", "out"],
        ["publish", "t.csv", "--k", "2", "-o", "out", "--json", "out.meta.json"],
    ):
        done = run(*arguments)
        assert done.returncode == 2
        assert "another file" in done.stderr
    assert sorted(path.name for path in tmp_path.iterdir()) == ["privacy.toml", "t.csv"]


def test_no_row_beside_a_level_that_tells_its_value(run: Run, tmp_path: Path) -> None:
    """Everybody alone: β says how rare the value of the worst class is, so the row must not be named with it."""
    (tmp_path / "privacy.toml").write_text(SCHEMA, encoding="utf-8")
    (tmp_path / "t.csv").write_text("q,s\na,x\nb,x\nc,x\nd,y\n", encoding="utf-8")
    lines = re.sub(r"\n {20,}", " ", run("check", "t.csv").stdout).splitlines()
    assert any(", row " in line for line in lines if "k-anonymity, k" in line)
    assert not any("row" in line.partition("class ")[2] for line in lines if "likeness" in line or "closeness" in line)


def test_demo_leaves_a_folder_of_yours_alone(run: Run, tmp_path: Path) -> None:
    (tmp_path / "demo").mkdir()
    (tmp_path / "demo" / "privacy.toml").write_text("mine", encoding="utf-8")
    done = run("demo", "--people", "200")
    assert done.returncode == 2
    assert (tmp_path / "demo" / "privacy.toml").read_text() == "mine"
    assert run("demo", "--people", "200", "-o", "other").returncode == 0
    assert run("demo", "--people", "200", "-o", "other").returncode == 0  # again, over its own files


def test_publish_on_a_full_disk(run: Run, tmp_path: Path) -> None:
    prepare(tmp_path)
    (tmp_path / "t.csv").write_text("q,s\n" + "1,x\n2,y\n" * 20_000, encoding="utf-8")
    (tmp_path / "out.csv").write_text("old", encoding="utf-8")

    def limit() -> None:
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (4096, 4096))

    done = run("publish", "t.csv", "--k", "2", "-o", "out.csv", preexec_fn=limit)
    assert done.returncode == 2, done.stderr
    assert "the release" in done.stderr
    assert (tmp_path / "out.csv").read_text() == "old"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["out.csv", "privacy.toml", "t.csv"]


def test_a_missing_mark_of_an_integer_column_goes_by_value(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text("q,s\n-9,x\n-9.0,x\n-09,x\n9,x\n", encoding="utf-8")
    schema = dl.Schema([dl.Column("q", "quasi", "integer"), dl.Column("s", "sensitive")], missing=("-9",))
    cells = dl.Table(tmp_path / "t.csv", schema).cells()
    assert dict(zip(cells.schema["q"].leaves, cells.counts.tolist(), strict=True)) == {"9": 1, "": 3}


def test_more_people_than_can_be_counted(run: Run, tmp_path: Path) -> None:
    prepare(tmp_path)
    (tmp_path / "r.csv").write_text("q,s,count\n" + "1,x,999999999999999\n" * 20, encoding="utf-8")
    done = run("check", "r.csv")
    assert done.returncode == 2
    assert "more people than can be counted" in done.stderr


def test_anatomy_singles_out_by_its_tuples() -> None:
    """Anatomy prints the quasi-identifiers: who is alone with theirs is singled out, however large the group."""
    release = dl.datasets.paper("relative-1c")
    assert isinstance(release, dl.Anatomized)
    tuples = {
        tuple(codes): count
        for codes, count in zip(release.quasi.codes.tolist(), release.quasi.counts.tolist(), strict=True)
    }
    alone = sum(count == 1 for count in tuples.values())
    assert alone > 0
    assert class_risks(release).singled_out == alone / release.people
    assert class_risks(release).highest == 1.0


def test_a_link_as_output_stays_a_link_and_modes_are_kept(run: Run, tmp_path: Path) -> None:
    prepare(tmp_path)
    (tmp_path / "real.json").write_text("old", encoding="utf-8")
    (tmp_path / "real.json").chmod(0o600)
    (tmp_path / "link.json").symlink_to(tmp_path / "real.json")
    assert run("check", "t.csv", "--json", "link.json").returncode == 0
    assert (tmp_path / "link.json").is_symlink()
    assert json.loads((tmp_path / "real.json").read_text())["people"] == 40
    assert (tmp_path / "real.json").stat().st_mode & 0o777 == 0o600
    assert run("check", "t.csv", "--json", "t.csv").returncode == 2
    assert run("check", "t.csv", "--json", "/dev/null").returncode == 2
