"""Spark: tables and files of a cluster, by a master's address or by Spark Connect."""

from __future__ import annotations

from collections.abc import Callable

from dalenius.engines.base import Connector, Engine, Place

__all__ = ["SparkConnector"]


class SparkConnector(Connector):
    name = "spark"
    prefixes = ("spark://", "sc://", "local-cluster[", "local[", "yarn", "k8s://")
    extra = "spark"
    places = (
        Place("spark", "Spark: file", is_table=False, has_order=False),
        Place("spark", "Spark: table", is_table=True, has_order=False),
    )

    @classmethod
    def connect(cls, url: str, files: Callable[[], Engine]) -> Engine:
        from dalenius.engines.spark_engine import Spark
        from dalenius.engines.spark_session import start_session

        return Spark(start_session(url), files, url=url)
