"""Which worker runs which tests when several run side by side."""

from __future__ import annotations

from pathlib import PurePosixPath
from typing import Any

from xdist.scheduler import LoadFileScheduling

TOGETHER = ("tests/engines", "tests/reports")  # their conftest.py starts servers or makes reports, once in each worker


class Scheduling(LoadFileScheduling):
    """Give a whole file to one worker, or a whole folder where files share what is costly to make.

    Files are handed out in the order of collection. conftest.py puts the slow ones first, so that no worker begins a long file
    when the others have nothing left to do.
    """

    def __init__(self, config: Any, log: Any = None) -> None:
        config.option.loadscopereorder = False  # by the number of tests, which says nothing about how long they take
        super().__init__(config, log)

    def _split_scope(self, nodeid: str) -> str:
        return scope(nodeid)


def scope(nodeid: str) -> str:
    """The file of a test, or its folder if the folder's files stay together."""
    path = PurePosixPath(nodeid.partition("::")[0])
    return str(path.parent) if str(path.parent) in TOGETHER else str(path)
