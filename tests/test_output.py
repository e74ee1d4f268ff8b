"""Files are written whole or not at all, and CSV text is read back by anybody's reader."""

from __future__ import annotations

import csv
import io
import os
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dalenius import engines as engine
from dalenius.errors import InputError
from dalenius.output import csv_text, replacing, write_texts

TEXTS = st.text(st.sampled_from("ab,;\t\"'\r\n #é\ufeff"), max_size=4)


@given(
    rows=st.lists(st.lists(TEXTS, min_size=2, max_size=2), max_size=5), header=st.lists(TEXTS, min_size=2, max_size=2)
)
def test_csv_text_is_read_back_by_pythons_reader(header: list[str], rows: list[list[str]]) -> None:
    assert list(csv.reader(io.StringIO(csv_text(header, rows), newline=""))) == [header, *rows]


def test_csv_text() -> None:
    assert csv_text(["a", "b"], [["x", 1], ["y, z", 2.5], ["\r", None]]) == 'a,b\nx,1\n"y, z",2.5\n"\r",\n'
    assert csv_text(["a"], [[""], ["x"]]) == 'a\n""\nx\n'
    assert csv_text(["a;b", "c"], [["x", "y;z"]]) == '"a;b","c"\nx,y;z\n'


@pytest.mark.parametrize("text", ["\r", "a\rb", "a\r\nb", " a ", "#a", "", "\ufeff", '"', "\\N", "NULL"])
def test_csv_text_is_read_back_by_the_engine(tmp_path: Path, text: str) -> None:
    rows = [(text, "x"), ("y", text)]
    write_texts({tmp_path / "t.csv": csv_text(["a", "b"], rows)})
    assert engine.default().open(tmp_path / "t.csv").read(["a", "b"]) == rows


def test_files_are_replaced_together(tmp_path: Path) -> None:
    one, two = tmp_path / "one.csv", tmp_path / "two.json"
    one.write_text("old")
    with one.open() as reader:
        write_texts({one: "é\n", two: "b\r\n"})
        assert reader.read() == "old"  # renamed onto, not written into: nobody reads half a file
    assert (one.read_bytes(), two.read_bytes()) == ("é\n".encode(), b"b\r\n")
    assert sorted(os.listdir(tmp_path)) == ["one.csv", "two.json"]


@pytest.mark.parametrize("error", [KeyboardInterrupt, ValueError])
def test_an_interrupted_run_leaves_the_old_file_or_none(tmp_path: Path, error: type[BaseException]) -> None:
    old, new = tmp_path / "old.csv", tmp_path / "new.csv"
    old.write_text("old")

    def half() -> None:
        with replacing(old, new) as drafts:
            for draft in drafts:
                assert draft.parent == tmp_path
                assert draft.suffix == ".csv"  # engines choose the format by it
                draft.write_text("half")
            assert old.read_text() == "old"
            raise error

    with pytest.raises(error):
        half()
    assert old.read_text() == "old"
    assert os.listdir(tmp_path) == ["old.csv"]


def test_a_full_disk_leaves_the_old_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "t.csv"
    path.write_text("old")

    def full(_: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(InputError, match=r"Cannot write .*t\.csv': the disk is full"):
        write_texts({path: "new"})
    assert path.read_text() == "old"
    assert os.listdir(tmp_path) == ["t.csv"]


def test_where_nothing_can_be_written(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="that is a folder"):
        write_texts({tmp_path: "x"})
    with pytest.raises(InputError, match=r"folder .*none' does not exist"):
        write_texts({tmp_path / "none" / "t.csv": "x"})
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(InputError, match="not a regular file"):
        write_texts({tmp_path / "good.csv": "x", tmp_path / "pipe": "x"})
    assert (tmp_path / "pipe").is_fifo()
    assert not (tmp_path / "good.csv").exists()
