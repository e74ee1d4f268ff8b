"""The tables of docs/criteria.md and docs/publishers.md are what the registries say, and `make renew` runs every writer."""

from __future__ import annotations

import runpy

from marked_pages import renewed

from dalenius.criteria import CRITERIA
from dalenius.publishers.registry import PUBLISHERS
from tests.conftest import ROOT

OF_CRITERIA = runpy.run_path(str(ROOT / "scripts" / "write_criteria.py"))
OF_PUBLISHERS = runpy.run_path(str(ROOT / "scripts" / "write_publishers.py"))


def test_the_tables_of_criteria_are_current() -> None:
    page = (ROOT / "docs" / "criteria.md").read_text(encoding="utf-8")
    assert OF_CRITERIA["page"](page) == page, "run scripts/write_criteria.py"


def test_the_table_of_methods_is_current() -> None:
    page = (ROOT / "docs" / "publishers.md").read_text(encoding="utf-8")
    assert renewed(page, OF_PUBLISHERS["SCRIPT"], OF_PUBLISHERS["markdown"]()) == page, (
        "run scripts/write_publishers.py"
    )


def test_every_part_has_its_row() -> None:
    table = OF_CRITERIA["levels"]()
    assert [model.name for model in CRITERIA.values() if f"`{model.name}" not in table] == []
    table = OF_PUBLISHERS["markdown"]()
    assert [name for name in PUBLISHERS if f"| `{name}` |" not in table] == []


def test_make_renew_runs_every_writer() -> None:
    """A page that no target renews would go stale."""
    recipe = (ROOT / "Makefile").read_text(encoding="utf-8").partition("\nrenew:")[2].partition("\n\n")[0]
    assert "scripts/write_*.py" in recipe
    assert "scripts/golden.py" in recipe
