"""PostgreSQL: tables of a database. It has no files of its own: DuckDB reads them for it."""

from __future__ import annotations

from collections.abc import Callable

from dalenius.engines.base import Connector, Engine, Place

__all__ = ["PostgresConnector"]


class PostgresConnector(Connector):
    name = "postgres"
    prefixes = ("postgres://", "postgresql://")
    extra = "postgres"
    places = (Place("postgres", "PostgreSQL: table", is_table=True, has_order=False),)

    @classmethod
    def connect(cls, url: str, files: Callable[[], Engine]) -> Engine:
        from dalenius.engines.postgres_engine import Postgres

        return Postgres(url, files)
