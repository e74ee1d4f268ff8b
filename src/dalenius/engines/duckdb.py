"""DuckDB, embedded: the engine of everything that names no other."""

from __future__ import annotations

from collections.abc import Callable

from dalenius.engines.base import Connector, Engine, Place

__all__ = ["DuckDBConnector"]


class DuckDBConnector(Connector):
    name = "duckdb"
    prefixes = ("duckdb://",)
    places = (
        Place("duckdb", "DuckDB: file", is_table=False, has_order=True),
        Place("duckdb", "DuckDB: table", is_table=True, has_order=False),
    )

    @classmethod
    def connect(cls, url: str, files: Callable[[], Engine]) -> Engine:  # noqa: ARG003 - reads files itself
        from dalenius.engines.duckdb_engine import DuckDB

        return DuckDB(url.removeprefix("duckdb://") or None)
