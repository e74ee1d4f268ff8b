"""Engines describe themselves to one registry, and a plug-in adds one with an entry point."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from tests.conftest import ROOT
from tests.test_plugins import install

from dalenius.engines import ENGINES, Connector, Engine, Place, connect, default, places
from dalenius.errors import InputError


class Memory(Connector):
    """A toy: it hands everything to the embedded engine."""

    name = "memory"
    prefixes = ("memory://",)
    places = (Place("memory", "Memory: file", is_table=False, has_order=True),)

    @classmethod
    def connect(cls, url: str, files: Callable[[], Engine]) -> Engine:
        if url == "memory://absent":
            raise ImportError("no module", name="memory_library")
        return files()


@pytest.fixture
def memory() -> Iterator[type[Connector]]:
    yield ENGINES.add(Memory)
    ENGINES.remove("memory")


def test_a_new_engine_is_connected_by_its_prefix(memory: type[Connector]) -> None:
    assert connect("memory://here") is default()
    assert memory.places[0] in places()
    with pytest.raises(InputError, match=r"Engines are named by URLs: duckdb://, .*memory://"):
        connect("nowhere://")


@pytest.mark.usefixtures("memory")
def test_an_engine_without_its_library_says_what_to_install() -> None:
    with pytest.raises(
        InputError, match=r"needs 'memory_library', which is not installed. Install it: pip install memory"
    ):
        connect("memory://absent")


@pytest.mark.usefixtures("memory")
def test_two_engines_cannot_share_a_prefix() -> None:
    class Other(Memory):
        name = "other"

    ENGINES.add(Other)
    try:
        with pytest.raises(InputError, match="'memory' and 'other' both have URLs that begin with 'memory://'"):
            connect("duckdb://")
    finally:
        ENGINES.remove("other")


def test_an_engine_of_a_plug_in_is_known(tmp_path: Path) -> None:
    install(tmp_path, "dalenius.engines", "memory", "tests.engines.test_registry:Memory")
    code = "from dalenius.engines import connect, places; connect('memory://'); print(places()[-1].title)"
    path = os.pathsep.join([str(tmp_path), str(ROOT), str(ROOT / "src")])
    done = subprocess.run(
        [sys.executable, "-c", code],
        env={**os.environ, "PYTHONPATH": path},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.stdout.strip() == "Memory: file", done.stderr


def test_listing_engines_imports_no_library() -> None:
    code = "import sys; from dalenius.engines import places; places(); print(*sorted(sys.modules))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert not {"duckdb", "ibis", "psycopg", "pyarrow", "pyspark"} & set(done.stdout.split())
