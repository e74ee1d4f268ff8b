"""Servers that the tests of engines start themselves, on this machine alone: PostgreSQL and Spark Connect."""

from __future__ import annotations

import contextlib
import os
import pwd
import shutil
import socket
import subprocess
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

from tests.conftest import LONG

SECRET = "s3cret-of-the-test"  # the password of the test's own server


def free_port() -> int:
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return int(one.getsockname()[1])


@contextlib.contextmanager
def postgres_server() -> Iterator[str]:
    """A server on loopback with a password; the URL names no password: it comes from the environment."""
    folder = Path(tempfile.mkdtemp(prefix="dalenius-pg-"))
    owner = pwd.getpwnam("postgres").pw_uid if os.getuid() == 0 else os.getuid()
    os.chown(folder, owner, -1)
    (folder / "pw").write_text(SECRET, encoding="utf-8")
    os.chown(folder / "pw", owner, -1)
    port = free_port()

    def call(*command: str) -> None:
        subprocess.run(command, check=True, capture_output=True, timeout=LONG, cwd=folder, user=owner)

    where = str(folder / "db")
    call("initdb", "-D", where, "-U", "clerk", "-A", "scram-sha-256", f"--pwfile={folder / 'pw'}", "-E", "UTF8",
         "--locale-provider=icu", "--icu-locale=en-US")  # fmt: skip
    options = f"-c listen_addresses=127.0.0.1 -p {port} -c unix_socket_directories='' -c fsync=off"
    call("pg_ctl", "-D", where, "-w", "-l", str(folder / "log"), "-o", options, "start")
    try:
        yield f"postgres://clerk@127.0.0.1:{port}/postgres"
    finally:
        call("pg_ctl", "-D", where, "-m", "immediate", "-w", "stop")
        shutil.rmtree(folder, ignore_errors=True)


@contextlib.contextmanager
def connect_server() -> Iterator[str]:
    """A server of Spark Connect with two cores."""
    import pyspark

    home, port = Path(pyspark.__file__).parent, free_port()
    folder = Path(tempfile.mkdtemp(prefix="dalenius-sc-"))
    settings = {
        "spark.connect.grpc.binding.port": port, "spark.connect.grpc.binding.address": "127.0.0.1",
        "spark.driver.host": "127.0.0.1", "spark.driver.bindAddress": "127.0.0.1", "spark.ui.enabled": "false",
        "spark.sql.shuffle.partitions": "4", "spark.sql.warehouse.dir": folder / "warehouse",
    }  # fmt: skip
    command = [str(home / "bin" / "spark-submit"), "--master", "local[2]"]
    command += [word for key, value in settings.items() for word in ("--conf", f"{key}={value}")]
    command += ["--class", "org.apache.spark.sql.connect.service.SparkConnectServer", "spark-internal"]
    with running(command, folder, port):
        yield f"sc://127.0.0.1:{port}"


@contextlib.contextmanager
def spark_master() -> Iterator[str]:
    """The master of a Spark cluster that has no workers."""
    import pyspark

    home, port = Path(pyspark.__file__).parent, free_port()
    folder = Path(tempfile.mkdtemp(prefix="dalenius-master-"))
    command = [str(home / "bin" / "spark-class"), "org.apache.spark.deploy.master.Master"]
    with running([*command, "--host", "127.0.0.1", "--port", str(port), "--webui-port", "0"], folder, port):
        yield f"spark://127.0.0.1:{port}"


@contextlib.contextmanager
def running(command: list[str], folder: Path, port: int) -> Iterator[None]:
    """A server in a process of its own, from when it answers; its folder goes with it."""
    with (folder / "log").open("wb") as log:
        server = subprocess.Popen(command, stdout=log, stderr=log, cwd=folder)
    try:
        given_up = time.monotonic() + LONG
        while time.monotonic() < given_up and server.poll() is None:
            with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", port), timeout=60):
                break
            time.sleep(0.2)
        else:
            raise RuntimeError("the server did not start: " + (folder / "log").read_text(encoding="utf-8")[-2000:])
        yield
    finally:
        server.terminate()
        server.wait(timeout=LONG)
        shutil.rmtree(folder, ignore_errors=True)
