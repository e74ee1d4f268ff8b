"""Run Python programs in processes that start at once.

A new process spends more than a second of CPU time on importing NumPy, Ibis, numba and the other libraries. A `Starter` has one
helper process that imports them once. Each program runs in a fork of the helper. It has its own folder, environment, standard
streams and exit code. It imports dalenius and its plug-ins itself, unless the helper was asked to import dalenius, too.
"""

from __future__ import annotations

import importlib
import json
import os
import signal
import socket
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import IO

ROOT = Path(__file__).resolve().parent.parent
LIBRARIES = (
    "altair", "arviz_stats", "ibis.backends.duckdb", "numba.core.caching", "numba.core.registry", "pydantic",
    "rich.console", "scipy.optimize", "scipy.stats", "typer",
)  # fmt: skip
OURS = ("dalenius.cli.app", "dalenius.auditing", "dalenius.engines.duckdb_engine", "dalenius.reports.html")
HELPER = """
import sys
sys.path.insert(0, sys.argv[2])
from tests.processes import serve
exec(serve(int(sys.argv[1]), sys.argv[3:]), {"__name__": "__main__"})
"""
AT_START = (
    "PYTHON",
    "LANG",
    "LC_",
    "NUMBA_",
    "OPENBLAS_",
    "OMP_",
    "MKL_",
)  # variables that are read once, by an import
MAX_MESSAGE = 2**17


class Starter:
    """Start programs in forks of one helper process, one program at a time."""

    def __init__(self, *more: str) -> None:
        """Have the helper import the libraries, and more modules."""
        self._modules = (*LIBRARIES, *more)
        self._environment = {**os.environ, "OPENBLAS_NUM_THREADS": "1"}  # as the command line sets it
        self._channel: socket.socket | None = None

    def run(
        self,
        code: str,
        arguments: list[str],
        *,
        cwd: Path,
        env: Mapping[str, str] | None = None,
        timeout: float,
    ) -> subprocess.CompletedProcess[str]:
        """Return what `python -c CODE ARGUMENTS` prints, and its exit code, as `subprocess.run` does.

        A variable of `env` that an import or the interpreter has read already needs a new process, and gets one.
        """
        command = [sys.executable, "-c", code, *arguments]
        environment = {"OPENBLAS_NUM_THREADS": "1", **(os.environ if env is None else env)}
        if _at_start(environment) != _at_start(self._environment):
            return subprocess.run(
                command, cwd=cwd, env=environment, timeout=timeout, capture_output=True, text=True, check=False
            )
        with open(os.devnull, "rb") as nothing, tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
            request = {"code": code, "arguments": arguments, "cwd": str(cwd), "environment": environment}
            returncode = self._ask(request, [nothing, out, err], command, timeout)
            return subprocess.CompletedProcess(command, returncode, _text(out), _text(err))

    def close(self) -> None:
        """End the helper process."""
        if self._channel is not None:
            self._channel.close()
            self._helper.wait()
            self._channel = None

    def _ask(self, request: dict[str, object], streams: list[IO[bytes]], command: list[str], timeout: float) -> int:
        """Have a program run on three streams; return its exit code."""
        channel = self._started()
        channel.settimeout(timeout)
        socket.send_fds(channel, [json.dumps(request).encode()], [stream.fileno() for stream in streams])
        try:
            answer = channel.recv(MAX_MESSAGE)
        except TimeoutError:
            os.killpg(self._helper.pid, signal.SIGKILL)  # the helper and its forks are a group of their own
            self.close()
            raise subprocess.TimeoutExpired(command, timeout) from None
        return int(answer)

    def _started(self) -> socket.socket:
        if self._channel is None:
            self._channel, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
            self._helper = subprocess.Popen(
                [sys.executable, "-c", HELPER, str(theirs.fileno()), str(ROOT), *self._modules],
                env=self._environment, pass_fds=[theirs.fileno()], stdin=subprocess.DEVNULL, start_new_session=True,
            )  # fmt: skip
            theirs.close()
        return self._channel


def serve(descriptor: int, modules: list[str]) -> str:
    """Fork a process for each request; return the code that it is to run. The helper itself never returns."""
    channel = socket.socket(fileno=descriptor)
    for name in modules:
        importlib.import_module(name)
    while True:
        message, streams, _, _ = socket.recv_fds(channel, MAX_MESSAGE, 3)
        if not message:
            os._exit(0)  # whoever asked has gone
        child = os.fork()
        if child == 0:
            channel.close()
            return _become(json.loads(message), streams)
        for stream in streams:
            os.close(stream)
        _, status = os.waitpid(child, 0)
        channel.send(str(os.waitstatus_to_exitcode(status)).encode())


def _become(request: dict[str, object], streams: list[int]) -> str:
    """Take over the folder, environment, arguments and streams of a request; return its code."""
    for number, stream in enumerate(streams):
        os.dup2(stream, number)
        os.close(stream)
    before = os.environ.get("PYTHONPATH", "").split(os.pathsep)
    os.environ.clear()
    os.environ.update(request["environment"])  # type: ignore[call-overload]
    os.chdir(str(request["cwd"]))
    after = [path for path in os.environ.get("PYTHONPATH", "").split(os.pathsep) if path]
    sys.path[:] = ["", *after, *(path for path in sys.path if path not in ("", str(ROOT), *before))]
    importlib.invalidate_caches()
    sys.argv = ["-c", *request["arguments"]]  # type: ignore[misc]
    return str(request["code"])


def _at_start(environment: Mapping[str, str]) -> dict[str, str]:
    """The variables that a running process can no longer follow. PYTHONPATH is not one of them: see `_become`."""
    return {name: value for name, value in environment.items() if name.startswith(AT_START) and name != "PYTHONPATH"}


def _text(stream: IO[bytes]) -> str:
    stream.seek(0)
    return stream.read().decode().replace("\r\n", "\n").replace("\r", "\n")  # as in a text pipe
