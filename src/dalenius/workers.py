"""Run work in parallel processes. Each prepares once, and then takes one item after another."""

from __future__ import annotations

import multiprocessing
import signal
import traceback
from collections.abc import Callable, Iterator, Sequence
from multiprocessing.connection import Connection, wait
from typing import Any, TypeVar

from dalenius.errors import DaleniusError, InputError

__all__ = ["Item", "Result", "Setting", "WorkerError", "each"]

Setting = TypeVar("Setting")
Item = TypeVar("Item")
Result = TypeVar("Result")


class WorkerError(RuntimeError):
    """An error in another process, with its traceback."""


def each(
    prepare: Callable[[Setting], Callable[[Item], Result]], setting: Setting, items: Sequence[Item], *, jobs: int
) -> Iterator[tuple[int, Result]]:
    """Yield each item's number and result as they arrive. With one job, no process is started.

    The processes end when the caller stops iterating or is interrupted. Results that were yielded are kept.
    """
    if jobs <= 1 or len(items) <= 1:
        work = prepare(setting) if items else None
        for i, item in enumerate(items):
            assert work is not None
            yield i, work(item)
        return
    # Spawned, not forked: a copy of this process would share the threads and files of the engine.
    context = multiprocessing.get_context("spawn")
    processes, waiting = [], dict[Connection, int]()
    left = iter(range(len(items)))
    try:
        for _ in range(min(jobs, len(items))):
            our_end, their_end = context.Pipe()
            process = context.Process(target=_serve, args=(their_end, prepare, setting), daemon=True)
            process.start()
            their_end.close()
            processes.append(process)
            waiting[our_end] = number = next(left)
            our_end.send((number, items[number]))
        while waiting:
            for ready in wait(list(waiting)):
                assert isinstance(ready, Connection)
                number = waiting.pop(ready)
                result = _received(ready)
                following = next(left, None)
                if following is None:
                    ready.send(None)
                else:
                    waiting[ready] = following
                    ready.send((following, items[following]))
                yield number, result
    finally:
        for process in processes:
            process.terminate()
        for process in processes:
            process.join()


def _received(connection: Connection) -> Any:
    try:
        outcome, result = connection.recv()
    except EOFError:
        raise InputError(
            "A process that measured a release was killed, perhaps because memory ran out. Run the same command "
            "again with --jobs 1."
        ) from None
    if outcome == "refused":
        raise InputError(result)
    if outcome == "failed":
        raise WorkerError(result)
    return result


def _serve(connection: Connection, prepare: Callable[[Any], Callable[[Any], Any]], setting: Any) -> None:
    """Do one item after another, until there are no more or the parent process is gone."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent process handles ctrl-C, and ends this one
    work = None
    while True:
        try:
            order = connection.recv()
        except EOFError:
            return
        if order is None:
            return
        try:
            work = work or prepare(setting)
            answer = ("done", work(order[1]))
        except DaleniusError as error:
            answer = ("refused", str(error))
        except Exception:  # noqa: BLE001 - the parent process raises it again
            answer = ("failed", traceback.format_exc())
        try:
            connection.send(answer)
        except OSError:
            return
