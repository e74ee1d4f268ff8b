"""A data frame works wherever a file does: pandas, Polars and Arrow give the numbers that the CSV file gives."""

from __future__ import annotations

import csv
import json
import stat
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import dalenius as dl
from dalenius.auditing.publishing import Earlier
from dalenius.datasets import save_hospital
from dalenius.engines import as_file, default, source_name

Frame = Callable[[Path], Any]


class Stream:
    """A frame of some other library, of which only the Arrow protocol is known."""

    def __init__(self, table: pa.Table) -> None:
        self._table = table

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object:
        return self._table.__arrow_c_stream__(requested_schema)


def columns(path: Path) -> dict[str, list[str]]:
    with path.open(encoding="utf-8", newline="") as file:
        header, *rows = csv.reader(file)
    return {name: list(column) for name, column in zip(header, zip(*rows, strict=True), strict=True)}


FRAMES: dict[str, Frame] = {
    "pandas": lambda path: pd.DataFrame(columns(path)),
    "polars": lambda path: pl.DataFrame(columns(path)),
    "polars, lazy": lambda path: pl.LazyFrame(columns(path)),
    "Arrow": lambda path: pa.table(columns(path)),
    "Arrow stream": lambda path: Stream(pa.table(columns(path))),
}
EACH = pytest.mark.parametrize("frame", FRAMES.values(), ids=FRAMES.keys())


@dataclass(frozen=True, slots=True)
class Files:
    folder: Path
    schema: Path
    published: Path
    others: Path
    first: Path
    second: Path
    centroids: Path
    targets: Path
    truth: Path


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> Files:
    folder = tmp_path_factory.mktemp("frames")
    save_hospital(folder, 240, 1)
    names = ("privacy.toml", "published.csv", "others.csv", "first.csv", "second.csv", "centroids.csv", "targets.csv")
    found = Files(folder, *(folder / name for name in (*names, "truth.csv")))
    dl.split(folder / "patients.csv", found.published, found.others, share=0.25, seed=2)
    dl.publish(found.published, found.schema, k=3, output=found.first)
    dl.publish(found.published, found.schema, method="mondrian", k=4, output=found.second)
    dl.publish(found.published, found.schema, method="microaggregation", k=4, output=found.centroids)
    lines = found.published.read_text(encoding="utf-8").splitlines(keepends=True)
    found.truth.write_text("".join(lines[:9]), encoding="utf-8")
    pd.read_csv(found.truth, dtype=str).drop(columns=["disease"]).to_csv(found.targets, index=False)
    return found


def without_hashes(document: dict[str, Any]) -> dict[str, Any]:
    """A frame has no file, and so no checksum."""
    return {**document, "release": {k: v for k, v in document["release"].items() if k != "sha256"}}


def text(document: dict[str, Any]) -> str:
    """A document as text: two numbers that are undefined (nan) are the same there."""
    return json.dumps(document, indent=1)


def test_the_frames_are_what_the_files_are(files: Files) -> None:
    for make in FRAMES.values():
        assert dl.Table(make(files.published), files.schema).cells() == dl.Table(files.published, files.schema).cells()


@EACH
def test_read_release(files: Files, frame: Frame) -> None:
    assert dl.read_release(frame(files.first), files.schema) == dl.read_release(files.first, files.schema)
    centroids = dl.read_release(frame(files.centroids), files.schema, kind="centroids")
    assert centroids == dl.read_release(files.centroids, files.schema)


@EACH
def test_audit(files: Files, frame: Frame) -> None:
    by_file = dl.audit(files.first, files.schema, truth=files.published, holdout=files.others).to_document()
    by_frame = dl.audit(
        frame(files.first), files.schema, truth=frame(files.published), holdout=frame(files.others)
    ).to_document()
    assert by_file["release"]["sha256"]
    assert not by_frame["release"]["sha256"]
    # `split` recorded beside the files that it drew them from one table. Nothing says so of a frame.
    by_file["limits"], by_frame["limits"] = [], []
    assert without_hashes(by_frame) == without_hashes(by_file)


@EACH
def test_check(files: Files, frame: Frame) -> None:
    assert dl.check(frame(files.first), files.schema, k=3).to_document() == (
        dl.check(files.first, files.schema, k=3).to_document()
    )


@EACH
def test_compose(files: Files, frame: Frame) -> None:
    sources = (files.first, files.second, files.centroids)
    by_file = dl.compose(sources[:2], files.targets, files.schema, truth=files.truth).to_document()
    composed = dl.compose(
        [frame(path) for path in sources[:2]], frame(files.targets), files.schema, truth=frame(files.truth)
    )
    by_frame = composed.to_document()
    assert composed.names == ("release 1", "release 2")
    for document in (by_file, by_frame):
        for difference in document["differences"]:
            del difference["earlier"], difference["later"]
    assert text(by_frame) == text(by_file)


@EACH
def test_compare(files: Files, frame: Frame) -> None:
    releases = {"a": files.first, "b": files.second}
    by_file = dl.compare(releases, files.published, files.schema).to_document()
    frames = {name: frame(path) for name, path in releases.items()}
    assert dl.compare(frames, frame(files.published), files.schema).to_document() == by_file
    listed = dl.compare(list(frames.values()), frame(files.published), files.schema)
    assert [one.name for one in listed] == ["release 1", "release 2"]


@EACH
def test_attack(files: Files, frame: Frame) -> None:
    people = {"targets": files.targets, "truth": files.published, "holdout": files.others}
    options = {"adversary": "random-worlds", "seed": 3}
    by_file = dl.attack(str(files.first), files.schema, **people, **options)
    by_frame = dl.attack(
        frame(files.first), files.schema, **{name: frame(path) for name, path in people.items()}, **options
    )
    assert by_frame.to_document() == by_file.to_document()
    assert by_frame.beliefs_text() == by_file.beliefs_text()


@EACH
def test_attack_on_centroids_finds_the_groups_of_people(files: Files, frame: Frame) -> None:
    options = {"adversary": "nearest-centroid", "kind": "centroids"}
    by_file = dl.attack(str(files.centroids), files.schema, truth=files.published, **options).to_document()
    by_frame = dl.attack(frame(files.centroids), files.schema, truth=frame(files.published), **options).to_document()
    assert by_frame["group_known"] == by_file["group_known"]
    assert by_frame == by_file


@EACH
def test_publish(files: Files, frame: Frame, tmp_path: Path) -> None:
    for method in ("lattice", "mondrian"):
        made = dl.publish(frame(files.published), files.schema, method=method, k=4, output=tmp_path / "r.csv")
        again = dl.publish(files.published, files.schema, method=method, k=4, output=tmp_path / "s.csv")
        assert (tmp_path / "r.csv").read_bytes() == (tmp_path / "s.csv").read_bytes()
        assert made.to_document() == again.to_document()


@EACH
def test_publish_with_an_earlier_release(files: Files, frame: Frame) -> None:
    options: dict[str, Any] = {"method": "mondrian", "k": 4}
    made = dl.publish(frame(files.published), files.schema, given=frame(files.first), given_l=2, **options)
    by_file = dl.publish(files.published, files.schema, given=str(files.first), given_l=2, **options)
    assert made.published.release == by_file.published.release
    assert "disease" not in repr(Earlier(sources=(frame(files.first),), l=2))


@EACH
def test_split(files: Files, frame: Frame, tmp_path: Path) -> None:
    dl.split(frame(files.published), tmp_path / "a.csv", tmp_path / "b.csv", seed=5)
    dl.split(files.published, tmp_path / "c.csv", tmp_path / "d.csv", seed=5)
    assert (tmp_path / "a.csv").read_bytes() == (tmp_path / "c.csv").read_bytes()
    assert (tmp_path / "b.csv").read_bytes() == (tmp_path / "d.csv").read_bytes()


def test_frontier(files: Files, tmp_path: Path) -> None:
    options: dict[str, Any] = {"method": "mondrian", "k": [3, 5]}
    kept = {path.name for path in Path.cwd().iterdir()}
    made = dl.frontier(FRAMES["pandas"](files.published), files.schema, **options)
    by_file = dl.frontier(files.published, files.schema, resume=tmp_path / "kept", **options)
    assert text(made.to_document()) == text(by_file.to_document())
    assert {path.name for path in Path.cwd().iterdir()} == kept


def test_a_release_object_is_taken_for_its_file(files: Files) -> None:
    first, second = (dl.read_release(path, files.schema) for path in (files.first, files.second))
    assert dl.check(first, files.schema).to_document() == dl.check(files.first, files.schema).to_document()
    assert dl.compose([first, second], files.targets, files.schema).figures == (
        dl.compose([files.first, files.second], files.targets, files.schema).figures
    )
    with pytest.raises(dl.InputError, match="The release is of kind 'generalized', not 'centroids'"):
        dl.read_release(first, files.schema, kind="centroids")


def test_a_frame_that_becomes_a_file_is_private_and_goes(files: Files) -> None:
    frame = FRAMES["pandas"](files.published)
    with as_file(frame, default()) as path:
        assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700
        assert dl.Table(path, files.schema).cells() == dl.Table(frame, files.schema).cells()
    assert not path.parent.exists()
    with as_file(str(files.published), default()) as path:
        assert path == files.published


def test_messages_do_not_print_a_frame(files: Files) -> None:
    frame = FRAMES["pandas"](files.published)
    assert source_name(frame) == "the data frame"
    with pytest.raises(dl.InputError) as error:
        dl.attack(frame, files.schema, targets=frame.drop(columns=["age", "sex", "zip", "nationality"]))
    assert len(str(error.value)) < 200
    assert dl.lattice(frame, files.schema, k=3).name == "the data frame"
