"""Processes that work side by side: each prepares once, takes one piece of work after the other, and ends when it is told."""

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
    """What went wrong in another process, with where."""


def each(
    prepare: Callable[[Setting], Callable[[Item], Result]], setting: Setting, items: Sequence[Item], *, jobs: int
) -> Iterator[tuple[int, Result]]:
    """The result of every item with its number, as they come. With one job nothing is started: it is done here.

    Whoever stops asking, or is interrupted, ends the processes: what they were at is lost, what was given is not.
    """
    if jobs <= 1 or len(items) <= 1:
        work = prepare(setting) if items else None
        for i, item in enumerate(items):
            assert work is not None
            yield i, work(item)
        return
    # Fresh processes: a copy of this one would share the engine's threads and files, which does not go well.
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
            "A process that measured a release was ended from outside, perhaps for want of memory. Run the same command "
            "again, with --jobs 1."
        ) from None
    if outcome == "refused":
        raise InputError(result)
    if outcome == "failed":
        raise WorkerError(result)
    return result


def _serve(connection: Connection, prepare: Callable[[Any], Callable[[Any], Any]], setting: Any) -> None:
    """What a process does: one item after the other, until there is none, or nobody who asks."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # ctrl-C is for whoever started this, who ends it
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
        except Exception:  # noqa: BLE001 - told to whoever waits, as the bug it is
            answer = ("failed", traceback.format_exc())
        try:
            connection.send(answer)
        except OSError:
            return
