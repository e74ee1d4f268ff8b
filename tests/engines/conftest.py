"""Engines that the tests start: one of each for all tests of a process."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Iterator

import pytest
from tests.conftest import lacking
from tests.engines.servers import SECRET, connect_server, postgres_server

from dalenius.engines import Engine, connect

CLUSTER = "local-cluster[2,1,1024]"


@pytest.fixture(scope="session")
def postgres_url() -> Iterator[str]:
    if shutil.which("initdb") is None or shutil.which("pg_ctl") is None:
        lacking("PostgreSQL (initdb and pg_ctl)")
    before = os.environ.get("PGPASSWORD")
    os.environ["PGPASSWORD"] = SECRET
    with postgres_server() as url:
        yield url
    os.environ.pop("PGPASSWORD")
    if before is not None:
        os.environ["PGPASSWORD"] = before


@pytest.fixture(scope="session")
def spark_connect_url() -> Iterator[str]:
    need_java()
    with connect_server() as url:
        yield url


def need_java() -> None:
    if shutil.which("java") is None:
        lacking("Java, which Spark needs,")


@pytest.fixture(scope="session")
def engines(request: pytest.FixtureRequest) -> Callable[[str], Engine]:
    """An engine by its name, started when it is first asked for."""
    started: dict[str, Engine] = {}

    def get(name: str) -> Engine:
        if name not in started:
            url = {"duckdb": "duckdb://", "spark": CLUSTER}.get(name, "")
            if name == "spark":
                need_java()
            elif name == "spark-connect":
                url = request.getfixturevalue("spark_connect_url")
            elif name == "postgres":
                url = request.getfixturevalue("postgres_url")
            started[name] = connect(url)
        return started[name]

    return get
