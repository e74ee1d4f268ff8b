"""A release is read only if its files are those that its sidecar was written for, and a sidecar only if it makes sense."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import dalenius as dl
from dalenius import releases as releases
from dalenius.cli import app
from dalenius.criteria import KAnonymity
from dalenius.publishers.anatomy import Anatomy
from dalenius.publishers.lattice import Lattice
from dalenius.publishers.microaggregation import Microaggregation
from dalenius.publishers.noisy_counts import Counts
from dalenius.releases import sidecar

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
FILES = {
    "generalized": ["out"],
    "centroids": ["out"],
    "anatomized": ["out.quasi.csv", "out.sensitive.csv"],
    "noisy-counts": ["out.counts.csv", "out.json"],
}
REMEDY = "Publish the release again, or delete out.meta.json to read the files as another tool's."
PUBLISHERS: dict[str, Callable[[dl.Table], Any]] = {
    "generalized": lambda table: Lattice([KAnonymity(3)]).publish(table),
    "centroids": lambda table: Microaggregation(3).publish(table),
    "anatomized": lambda table: Anatomy(2).publish(table, seed=1),
    "noisy-counts": lambda table: Counts(1.0).publish(table),
}


@pytest.fixture(autouse=True)
def _folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("privacy.toml").write_text(SCHEMA, encoding="utf-8")
    rows = [f"{20 + i % 10},{('ache', 'cold', 'flu')[i * 7 % 3]}" for i in range(60)]
    Path("people.csv").write_text("age,illness\n" + "\n".join(rows) + "\n", encoding="utf-8")


def made(kind: str) -> dict[str, Any]:
    PUBLISHERS[kind](dl.Table("people.csv", "privacy.toml")).write("out")
    document: dict[str, Any] = json.loads(Path("out.meta.json").read_text(encoding="utf-8"))
    return document


def said(name: str = "out", **options: Any) -> str:
    """Why a release is not read; empty if it is."""
    try:
        dl.read_release(name, "privacy.toml", **options)
    except dl.InputError as error:
        return str(error)
    return ""


def change(file: str) -> None:
    """Something that is still a release of that kind."""
    text = Path(file).read_text(encoding="utf-8")
    Path(file).write_text(
        text + "\n" if file.endswith(".json") else text + text.splitlines()[-1] + "\n", encoding="utf-8"
    )


# --- Checksums ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("kind", "file"), [(kind, file) for kind, files in FILES.items() for file in files])
def test_a_file_that_was_changed(kind: str, file: str) -> None:
    document = made(kind)
    each = {f"NAME{name.removeprefix('out')}": Path(name).read_bytes() for name in FILES[kind]}
    assert document["files"] == {key: hashlib.sha256(content).hexdigest() for key, content in each.items()}
    assert document["sha256"] == {"release": hashlib.sha256(b"".join(each.values())).hexdigest()}
    assert said() == ""
    change(file)
    answer = f"{file} was changed after out.meta.json was written. {REMEDY}"
    assert said() == answer
    for name in FILES[kind]:  # whichever of its files is named, and whatever it is called
        assert said(name) == answer
        assert said(name, kind=kind) == answer
    if kind == "anatomized":
        assert said("out.quasi.csv+out.sensitive.csv") == answer
    Path("out.meta.json").unlink()
    assert "was changed" not in said(kind=kind)  # as another tool's


@pytest.mark.parametrize("kind", list(FILES))
def test_an_older_sidecar_has_one_checksum(kind: str) -> None:
    document = made(kind)
    del document["files"]
    Path("out.meta.json").write_text(json.dumps(document), encoding="utf-8")
    assert said() == ""
    change(FILES[kind][-1])
    first = "out" if len(FILES[kind]) == 1 else f"One of {', '.join(FILES[kind])}"
    assert said() == f"{first} was changed after out.meta.json was written. {REMEDY}"


@pytest.mark.parametrize("kind", list(FILES))
def test_a_release_may_be_renamed(kind: str) -> None:
    made(kind)
    for name in [*FILES[kind], "out.meta.json"]:
        os.rename(name, name.replace("out", "NAME and more", 1))
    assert said("NAME and more") == ""
    file = FILES[kind][0].replace("out", "NAME and more", 1)
    change(file)
    assert said("NAME and more").startswith(f"{file} was changed after NAME and more.meta.json")


def test_a_line_that_moves_from_one_file_to_the_other() -> None:
    """Both together are the same bytes."""
    made("anatomized")
    quasi, sensitive = (Path(name).read_bytes() for name in FILES["anatomized"])
    Path("out.quasi.csv").write_bytes(quasi[:-3])
    Path("out.sensitive.csv").write_bytes(quasi[-3:] + sensitive)
    assert said().startswith("out.quasi.csv was changed, out.sensitive.csv was changed after")


def test_a_folder_of_part_files() -> None:
    Path("out").mkdir()
    for i in range(3):
        Path(f"out/part-{i}.csv").write_text(f"age,illness\n2{i},flu\n2{i},cold\n", encoding="utf-8")
    Path("out/_SUCCESS").touch()
    document = {"kind": "generalized", **sidecar.digests(Path("out"), [Path("out")])}
    assert list(document["files"]) == ["NAME/part-0.csv", "NAME/part-1.csv", "NAME/part-2.csv"]
    Path("out.meta.json").write_text(sidecar.text(document), encoding="utf-8")
    assert said() == ""
    Path("out/_SUCCESS").unlink()
    assert said() == ""
    shutil.copytree("out", "kept")
    change("out/part-1.csv")
    assert said() == f"out/part-1.csv was changed after out.meta.json was written. {REMEDY}"
    assert said(kind="centroids").startswith("out/part-1.csv was changed")
    shutil.rmtree("out")
    shutil.copytree("kept", "out")
    os.rename("out/part-2.csv", "out/part-3.csv")
    assert said().startswith("out/part-3.csv was added, out/part-2.csv was removed after out.meta.json")


@pytest.mark.parametrize("document", [{}, {"kind": "generalized"}, {"kind": "generalized", "sha256": {}}], ids=str)
def test_a_sidecar_without_checksums(document: dict[str, Any]) -> None:
    """It tells the kind, or nothing; it may be written by hand."""
    Path("out").write_text("age,illness\n20,flu\n", encoding="utf-8")
    Path("out.meta.json").write_text(json.dumps(document), encoding="utf-8")
    assert said() == ""


def test_files_of_other_names_have_no_sidecar() -> None:
    made("anatomized")
    shutil.copy("out.quasi.csv", "q.csv")
    shutil.copy("out.sensitive.csv", "s.csv")
    Path("q.csv.meta.json").write_text('{"sha256": {"release": "0"}}', encoding="utf-8")
    assert said("q.csv+s.csv") == ""


def test_a_file_that_is_replaced_while_it_is_read(monkeypatch: pytest.MonkeyPatch) -> None:
    """Quasi-identifiers of one release and sensitive values of the next are never put together."""
    made("anatomized")
    read = releases.anatomized.read

    def late(*arguments: Any, **options: Any) -> Any:
        found = read(*arguments, **options)
        made("anatomized")
        return found

    monkeypatch.setattr(releases.anatomized, "read", late)
    assert said() == "out changed while it was read. Read it again."


@pytest.mark.parametrize("kind", list(FILES))
def test_what_a_release_writes_itself_has_checksums_too(kind: str) -> None:
    made(kind)
    release = dl.read_release("out", "privacy.toml")
    release.write("out")  # type: ignore[attr-defined]
    assert said() == ""
    assert dl.read_release("out", "privacy.toml") == release
    change(FILES[kind][0])
    assert "was changed after out.meta.json" in said()


COMMANDS = [
    ["check", "out"],
    ["check", "out", "--kind", "generalized"],
    ["attack", "out", "--truth", "people.csv", "--adversary", "attacker"],
    ["audit", "out", "--truth", "people.csv"],
    ["compare", "out", "other", "--truth", "people.csv"],
    ["compare", "other", "out", "--truth", "people.csv"],
    ["compose", "out", "other", "--targets", "people.csv"],
    ["channel", "--release", "out"],
    ["publish", "people.csv", "--k", "3", "--given", "out", "-o", "new"],
]


@pytest.mark.parametrize("words", COMMANDS, ids=" ".join)
def test_every_command(words: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    made("generalized")
    shutil.copy("people.csv", "other")
    before = sorted(os.listdir())
    change("out")
    assert app.run(words) == 2
    assert capsys.readouterr().err == f"dalenius: out was changed after out.meta.json was written. {REMEDY}\n"
    assert sorted(os.listdir()) == before


def test_a_matrix(capsys: pytest.CaptureFixture[str]) -> None:
    Path("out").write_text("input,x,y\na,1,0\nb,0,1\n", encoding="utf-8")
    Path("out.meta.json").write_text(sidecar.text(sidecar.digests(Path("out"), [Path("out")])), encoding="utf-8")
    assert app.run(["channel", "out"]) == 0
    Path("out").write_text("input,x,y\na,0,1\nb,0,1\n", encoding="utf-8")
    assert app.run(["channel", "out"]) == 2
    assert "out was changed after out.meta.json" in capsys.readouterr().err


# --- Sidecars that make no sense ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "answer"),
    [
        ('{"kind": "generalised"}', "there is no kind of release 'generalised'. Did you mean 'generalized'? Known: "),
        ('{"kind": "table"}', "there is no kind of release 'table'."),
        ('{"kind": ""}', "there is no kind of release ''."),
        ('{"kind": 3}', f"the value of 'kind' must be text. {REMEDY}"),
        ('{"kind": null}', f"the value of 'kind' must be text. {REMEDY}"),
        ('{"kind": ["generalized"]}', "the value of 'kind' must be text."),
        (
            '{"kind": "generalized", "sha256": "abc"}',
            f"the value of 'sha256' must be an object whose values are strings. {REMEDY}",
        ),
        (
            '{"kind": "generalized", "sha256": null}',
            "the value of 'sha256' must be an object whose values are strings.",
        ),
        (
            '{"kind": "generalized", "sha256": {"release": 7}}',
            "the value of 'sha256' must be an object whose values are strings.",
        ),
        (
            '{"kind": "generalized", "sha256": {"release": {}}}',
            "the value of 'sha256' must be an object whose values are strings.",
        ),
        (
            '{"kind": "generalized", "files": ["out"]}',
            "the value of 'files' must be an object whose values are strings.",
        ),
        (
            '{"kind": "generalized", "files": {"NAME": 1}}',
            "the value of 'files' must be an object whose values are strings.",
        ),
        ("[]", "a JSON object is needed"),
        ('"generalized"', "a JSON object is needed"),
        ("null", "a JSON object is needed"),
        ("", "not valid JSON"),
        ("{", "not valid JSON"),
        ("\ufeff{}", "not valid JSON"),
        ("[" * 100_000, "not valid JSON"),
        ('{"unfinished": true}', "the release is unfinished"),
        ('{"unfinished": {"files": 3, "drafts": "x"}}', "the release is unfinished"),
    ],
    ids=lambda text: text[:60],
)
def test_wrong(text: str, answer: str, capsys: pytest.CaptureFixture[str]) -> None:
    Path("out").write_text("age,illness\n20,flu\n", encoding="utf-8")
    Path("out.meta.json").write_text(text, encoding="utf-8")
    for kind in ([], ["--kind", "generalized"]):
        assert app.run(["check", "out", *kind]) == 2
        found = capsys.readouterr().err
        assert found.startswith("dalenius: out.meta.json")
        assert answer in found


# --- Unfinished releases -----------------------------------------------------------------------------------------------


def test_a_marker_names_its_files_and_nothing_else_is_removed() -> None:
    made("anatomized")
    ours, theirs = Path(".out.quasi.0123abcd.part.csv"), [Path("precious.csv"), Path(".out.quasi.csv"), Path("sub")]
    for path in (ours, *theirs[:2]):
        path.write_text("x", encoding="utf-8")
    theirs[2].mkdir()
    inside = theirs[2] / ".x.0123abcd.part.csv"
    inside.write_text("x", encoding="utf-8")
    drafts = [ours.name, "precious.csv", ".out.quasi.csv", str(inside), "../.x.0123abcd.part", 3, "sub"]
    marker = {"kind": "anatomized", "unfinished": {"files": ["NAME.quasi.csv", "NAME.sensitive.csv"], "drafts": drafts}}
    Path("out.meta.json").write_text(json.dumps(marker), encoding="utf-8")
    for name in ("out", "out.quasi.csv", "out.sensitive.csv", "out.quasi.csv+out.sensitive.csv"):
        assert said(name).startswith("out.meta.json says that the release is unfinished")
    Path("out.sensitive.csv").unlink()  # the first write of two files, stopped between them
    for name in ("out", "out.quasi.csv"):
        assert said(name).startswith("out.meta.json says that the release is unfinished")
    made("anatomized")
    assert said() == ""
    assert not ours.exists()
    assert all(path.exists() for path in (*theirs, inside))


def test_an_unfinished_release_of_another_kind_is_not_replaced() -> None:
    """What is left of it would be taken for files that belong to nobody."""
    made("anatomized")
    marker = {"kind": "anatomized", "unfinished": {"files": [], "drafts": []}}
    Path("out.meta.json").write_text(json.dumps(marker), encoding="utf-8")
    with pytest.raises(dl.InputError, match="another release"):
        made("generalized")
