"""Work for processes, in a module that imports next to nothing: each of them imports it anew."""

from __future__ import annotations

import os
from collections.abc import Callable

from dalenius.errors import InputError

BUG, REFUSED, GONE = 13, 14, 15


def prepare(setting: int) -> Callable[[int], int]:
    def work(item: int) -> int:
        if item == BUG:
            raise ValueError("a bug")
        if item == REFUSED:
            raise InputError("cannot be read")
        if item == GONE:
            os._exit(1)
        return setting * item

    return work
