"""Waiting for an engine: what it does is notify, and ctrl-C stops it where it runs, not only here."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from typing import TypeVar

__all__ = ["GRACE", "TURN", "Notify", "watched"]

T = TypeVar("T")
Notify = Callable[[str], None]  # a line about what the engine does; an empty one when it is done

TURN = 0.25  # seconds between two looks
GRACE = 30.0  # seconds that a cancelled query may take to end


def watched(
    action: Callable[[], T], *, cancel: Callable[[], None], stage: Callable[[], str], notify: Notify | None
) -> T:
    """The result of an action that runs in a thread of its own, so that this one can tell of it and stop it.

    `stage` is asked now and then; what it raises ends the action, too.
    """
    results: list[T] = []
    errors: list[BaseException] = []
    ended = threading.Event()  # joining a thread would not do: interrupted, Python 3.11 takes it for ended

    def work() -> None:
        try:
            results.append(action())
        except BaseException as error:  # noqa: BLE001 - raised again by whoever waits
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
