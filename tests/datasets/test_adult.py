"""Where Adult is found: a named folder, $DALENIUS_DATA, the cache, or a download that is checked before it is kept."""

from __future__ import annotations

import shutil
import threading
import urllib.request
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from dalenius import InputError, Table, datasets
from dalenius.datasets import _adult

NO_NETWORK = "the network was asked"


@pytest.fixture
def offline(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object, **__: object) -> None:
        pytest.fail(NO_NETWORK)

    monkeypatch.setattr(urllib.request, "urlopen", refuse)


@pytest.fixture
def cache(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """An empty cache, and no $DALENIUS_DATA."""
    monkeypatch.delenv("DALENIUS_DATA", raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    return tmp_path / "cache" / "dalenius" / "adult"


class Server:
    """A loopback server of a folder's files; `spoil` changes one of them on the way."""

    def __init__(self, folder: Path) -> None:
        self.asked: list[str] = []
        self.spoil: dict[str, bytes | None] = {}
        outer = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                name = self.path.rpartition("/")[2]
                outer.asked.append(name)
                body = outer.spoil.get(name, (folder / name).read_bytes())
                if body is None:
                    self.send_error(404)
                    return
                self.send_response(200)
                short = 10 if body == b"cut" else 0  # promises more than it sends
                self.send_header("Content-Length", str(len(body) + short))
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, *_: object) -> None:
                pass

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self._server.server_port}/data/"
        threading.Thread(target=self._server.serve_forever, args=(0.01,), daemon=True).start()

    def close(self) -> None:
        self._server.shutdown()
        self._server.server_close()


@pytest.fixture
def server(data: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Server]:
    server = Server(data / "adult")
    monkeypatch.setattr(_adult, "URL", server.url)
    for name in ("http_proxy", "HTTP_PROXY", "all_proxy", "ALL_PROXY"):
        monkeypatch.delenv(name, raising=False)
    yield server
    server.close()


def copy(data: Path, folder: Path) -> Path:
    folder.mkdir(parents=True)
    for name in _adult.CHECKSUMS:
        shutil.copy(data / "adult" / name, folder)
    return folder


@pytest.mark.usefixtures("offline", "cache")
def test_a_named_folder_or_its_subfolder(data: Path, tmp_path: Path) -> None:
    copy(data, tmp_path / "there" / "adult")
    for path in (tmp_path / "there", tmp_path / "there" / "adult", str(tmp_path / "there")):
        table = datasets.adult(path)
        assert isinstance(table, Table)
        assert Path(table.source).parent == tmp_path / "there" / "adult"
    cells = table.cells()
    assert cells.people == 30_162
    assert [column.name for column in cells.schema.sensitive] == ["occupation"]
    assert len(cells.schema.quasi) == 8
    assert all(column.hierarchy is not None for column in cells.schema.coded)
    assert cells.schema["age"].type == "integer"


@pytest.mark.usefixtures("offline", "cache")
def test_the_environments_folder_comes_before_the_cache(
    data: Path, tmp_path: Path, cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    copy(data, cache)
    monkeypatch.setenv("DALENIUS_DATA", str(copy(data, tmp_path / "env")))
    assert Path(datasets.adult().source).parent == tmp_path / "env"
    (tmp_path / "env" / "adult_hierarchy_age.csv").unlink()
    with pytest.raises(InputError, match=r"\$DALENIUS_DATA is .*env.* holds adult\.csv"):
        datasets.adult()
    with pytest.raises(InputError, match=r"path is .*nowhere"):
        datasets.adult(tmp_path / "nowhere")
    monkeypatch.delenv("DALENIUS_DATA")
    assert Path(datasets.adult().source).parent == cache


@pytest.mark.usefixtures("cache")
def test_the_default_cache_is_in_the_home_folder(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.delenv("XDG_CACHE_HOME")
    monkeypatch.setenv("HOME", str(tmp_path))
    assert _adult.cache_folder() == tmp_path / ".cache" / "dalenius"


@pytest.mark.usefixtures("offline", "cache")
def test_another_sensitive_column(data: Path) -> None:
    table = datasets.adult(data, sensitive="salary-class")
    assert [column.name for column in table.declared.sensitive] == ["salary-class"]
    assert "occupation" in [column.name for column in table.declared.quasi]
    with pytest.raises(InputError, match=r"Adult has no column 'disease'\. It has sex, age"):
        datasets.adult(data, sensitive="disease")


def test_a_download_is_checked_kept_and_not_repeated(server: Server, cache: Path) -> None:
    assert datasets.adult().cells().people == 30_162
    assert sorted(path.name for path in cache.iterdir()) == sorted(_adult.CHECKSUMS)
    assert sorted(server.asked) == sorted(_adult.CHECKSUMS)
    datasets.adult()
    assert len(server.asked) == len(_adult.CHECKSUMS)
    for name, checksum in _adult.CHECKSUMS.items():
        assert _adult.digest((cache / name).read_text(encoding="utf-8")) == checksum


@pytest.mark.parametrize("name", ["adult.csv", "adult_hierarchy_workclass.csv"])
@pytest.mark.parametrize(
    ("body", "message"),
    [
        (b"sex;age\nMale;3\n", "checksum differs.*Nothing was kept"),
        (b"", "checksum differs"),
        (None, "Cannot download .* 404"),
        (b"\xff\xfe", "Cannot download"),
        (b"cut", "Cannot download"),
    ],
    ids=["other", "empty", "absent", "binary", "cut-short"],
)
def test_of_a_bad_download_nothing_is_kept(
    server: Server, cache: Path, name: str, body: bytes | None, message: str
) -> None:
    server.spoil[name] = body
    with pytest.raises(InputError, match=f"(?s){message}.*DALENIUS_DATA") as caught:
        datasets.adult()
    assert name in str(caught.value)
    assert not cache.exists() or not list(cache.iterdir())
    server.spoil.clear()
    assert datasets.adult().cells().people == 30_162


def test_without_a_network(server: Server, cache: Path) -> None:
    server.close()
    with pytest.raises(InputError, match=r"Cannot download adult\.csv from http://127\.0\.0\.1"):
        datasets.adult()
    assert not cache.exists()


def test_line_ends_do_not_change_a_checksum() -> None:
    assert _adult.digest("a;b\r\nc;d\r\n") == _adult.digest("a;b\nc;d") != _adult.digest("a;b\nc;e")


@pytest.mark.usefixtures("offline")
def test_hospital_is_a_table() -> None:
    table = datasets.hospital(200, seed=3)
    assert isinstance(table, Table)
    cells = table.cells()
    assert cells.people == 200
    assert [column.name for column in cells.schema.coded] == ["age", "sex", "zip", "nationality", "disease"]
    assert all(column.hierarchy is not None for column in cells.schema.coded)
    assert datasets.hospital(200, seed=3).cells() == cells
    assert datasets.hospital(200, seed=4).cells() != cells


def test_a_saved_hospital_is_the_same_table(tmp_path: Path) -> None:
    path = datasets.save_hospital(tmp_path, 200, seed=3)
    assert Table(path, tmp_path / "privacy.toml").cells() == datasets.hospital(200, seed=3).cells()
    with pytest.raises(InputError, match="does not exist"):
        datasets.save_hospital(tmp_path / "none", 5)
