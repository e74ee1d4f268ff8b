"""Wait for an engine: show its progress, and let ctrl-C stop the query inside the engine, too."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from typing import TypeVar

__all__ = ["GRACE", "TURN", "Notify", "watched"]

T = TypeVar("T")
Notify = Callable[[str], None]  # gets a line about what the engine does, and an empty one at the end

TURN = 0.25  # seconds between two calls of `stage`
GRACE = 30.0  # seconds that a cancelled query may take to end


def watched(
    action: Callable[[], T], *, cancel: Callable[[], None], stage: Callable[[], str], notify: Notify | None
) -> T:
    """Run an action in a thread, so that this thread can report its progress and stop it; return its result.

    `stage` is called at intervals. An error that it raises stops the action.
    """
    results: list[T] = []
    errors: list[BaseException] = []
    ended = threading.Event()  # joining a thread would not do: interrupted, Python 3.11 takes it for ended

    def work() -> None:
        try:
            results.append(action())
        except BaseException as error:  # noqa: BLE001 - raised again by the waiting thread
            errors.append(error)
        finally:
            ended.set()

    thread = threading.Thread(target=work, daemon=True)
    shown = False
    try:
        thread.start()  # here, too, ctrl-C may come: the query then begins all the same
        while not ended.wait(TURN):
            line = stage()
            if notify is not None and line:
                notify(line)
                shown = True
    except BaseException:
        # Again and again: the query may have been about to begin, and nobody must use the engine before it has ended.
        given_up = time.monotonic() + GRACE
        unborn = time.monotonic() + 1
        while not ended.is_set() and time.monotonic() < given_up:
            if thread.ident is None and time.monotonic() > unborn:
                break
            cancel()
            ended.wait(TURN)
        raise
    finally:
        if notify is not None and shown:
            notify("")
    if errors:
        raise errors[0]
    return results[0]
