"""Sessions of Spark: on this machine, of a master, or by Spark Connect."""

from __future__ import annotations

import atexit
import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from pyspark.sql import SparkSession

from dalenius.errors import InputError

__all__ = ["LOCAL", "SETTINGS", "start_session"]

LOCAL = ("local[", "local-cluster[")
# Ours, unless the user's own spark-defaults.conf or environment says otherwise.
SETTINGS = {
    "spark.app.name": "dalenius",
    "spark.sql.execution.arrow.pyspark.enabled": "true",
    "spark.sql.session.timeZone": "UTC",
    "spark.ui.showConsoleProgress": "false",
    "spark.log.level": "OFF",  # Spark's log quotes rows
}


def start_session(url: str) -> Any:
    """A session; on this machine it listens to nobody else, and its log, which quotes rows, is not shown."""
    if url.startswith("sc://"):
        try:
            from pyspark.sql.connect.session import SparkSession as Connect  # needs gRPC, which the extra installs

            remote = Connect.builder.remote(url).getOrCreate()
            remote.conf.set("spark.sql.session.timeZone", "UTC")
            return remote
        except Exception:  # noqa: BLE001 - of gRPC; it may quote the address and its token
            refused = "Cannot connect to Spark: nobody answers there. Is a Spark Connect server running?"
        raise InputError(refused)
    running = SparkSession.getActiveSession()
    if running is not None and running.sparkContext.master != url:
        raise InputError("This process has a Spark session with another master already. Use that one, or end it first.")
    builder = SparkSession.builder.master(url)
    for key, value in SETTINGS.items():
        builder = builder.config(key, value)
    if url.startswith(LOCAL):
        for key in ("spark.driver.host", "spark.driver.bindAddress"):
            builder = builder.config(key, "127.0.0.1")
        builder = builder.config("spark.ui.enabled", "false").config("spark.sql.shuffle.partitions", "8")
    try:
        with _silent():
            session = builder.getOrCreate()
    except Exception:  # noqa: BLE001 - of Py4J or the launcher
        refused = "Spark does not start. Is Java 17 installed, and the master's address right?"
    else:
        atexit.register(_stop, session)
        return session
    raise InputError(refused)


def _stop(session: Any) -> None:
    with suppress(Exception):
        session.stop()


@contextmanager
def _silent() -> Iterator[None]:
    """What Java prints goes nowhere, or into the file that DALENIUS_SPARK_LOG names; Java keeps what it starts with."""
    log = os.environ.get("DALENIUS_SPARK_LOG", os.devnull)
    kept = os.dup(2)
    try:
        with Path(log).open("ab") as file:
            os.dup2(file.fileno(), 2)
        yield
    finally:
        os.dup2(kept, 2)
        os.close(kept)
