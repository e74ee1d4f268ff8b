"""Files stay together, folders that share servers too, and what is slow comes first."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.conftest import ROOT, pytest_collection_modifyitems
from tests.scheduling import TOGETHER, scope


def test_files_and_folders_stay_together() -> None:
    assert scope("tests/cli/test_a.py::test_x[a/b::c]") == "tests/cli/test_a.py"
    assert scope("tests/test_a.py::test_x") == "tests/test_a.py"
    assert scope("tests/engines/test_a.py::test_x") == scope("tests/engines/test_b.py::test_y") == "tests/engines"
    assert all((ROOT / folder / "conftest.py").is_file() for folder in TOGETHER)


class Item:
    def __init__(self, name: str, *, slow: bool = False) -> None:
        self.path = Path(name[0])
        self.name = name
        self.slow = slow

    def get_closest_marker(self, name: str) -> pytest.Mark | None:
        return pytest.mark.slow.mark if self.slow and name == "slow" else None


def test_files_with_slow_tests_come_first_in_their_order() -> None:
    items = [Item("a1"), Item("b1"), Item("b2", slow=True), Item("c1"), Item("d1", slow=True), Item("d2")]
    pytest_collection_modifyitems(items)  # type: ignore[arg-type]
    assert [item.name for item in items] == ["b1", "b2", "d1", "d2", "a1", "c1"]
