"""Processes that work side by side: all results, and what goes wrong in one of them."""

from __future__ import annotations

import multiprocessing

import pytest

from dalenius.errors import InputError
from dalenius.workers import WorkerError, each
from tests import doubling


@pytest.mark.parametrize("jobs", [1, 3])
def test_every_result_with_its_number(jobs: int) -> None:
    assert sorted(each(doubling.prepare, 10, [1, 2, 3, 4], jobs=jobs)) == [(0, 10), (1, 20), (2, 30), (3, 40)]
    assert list(each(doubling.prepare, 10, [], jobs=jobs)) == []
    assert not multiprocessing.active_children()


@pytest.mark.parametrize(
    ("item", "kind", "message"),
    [
        (doubling.BUG, WorkerError, "a bug"),
        (doubling.REFUSED, InputError, "cannot be read"),
        (doubling.GONE, InputError, "was killed, perhaps because memory ran out"),
    ],
)
def test_what_goes_wrong_is_told(item: int, kind: type[Exception], message: str) -> None:
    with pytest.raises(kind, match=message):
        list(each(doubling.prepare, 10, [item, item], jobs=2))
    assert not multiprocessing.active_children()


def test_whoever_stops_asking_ends_them() -> None:
    asking = each(doubling.prepare, 10, list(range(8)), jobs=2)
    next(asking)
    assert len(multiprocessing.active_children()) == 2
    asking.close()  # type: ignore[attr-defined]
    assert not multiprocessing.active_children()
