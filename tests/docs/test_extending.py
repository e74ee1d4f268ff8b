"""docs/extending.md shows the examples as they are, and names what they have."""

from __future__ import annotations

import re
import runpy

from tests.conftest import ROOT

PAGE = (ROOT / "docs" / "extending.md").read_text(encoding="utf-8")
WRITER = runpy.run_path(str(ROOT / "scripts" / "write_extending.py"))
EXAMPLES = ("pyproject.toml", "my_criterion.py", "my_scheme.py", "my_adversary.py", "my_kind.py")


def test_the_examples_are_current() -> None:
    assert WRITER["renewed"](PAGE) == PAGE


def test_a_changed_example_is_noticed() -> None:
    assert WRITER["renewed"](PAGE.replace("second value ≥", "second ≥")) == PAGE


def test_all_of_them_are_shown() -> None:
    assert tuple(re.findall(r"<!-- examples/(\S+) -->", PAGE)) == EXAMPLES


def test_the_attributes_of_the_tables_exist() -> None:
    """Every attribute that a table of the page names is one of the class that its section is about."""
    from dalenius.adversaries import Adversary
    from dalenius.criteria import Criterion
    from dalenius.publishers.base import Publisher
    from dalenius.releases import Release

    parts = {"criterion": Criterion, "publisher": Publisher, "adversary": Adversary, "kind of release": Release}
    for title, part in parts.items():
        section = PAGE.partition(f"## Add a{'n' if title[0] == 'a' else ''} {title}\n")[2].partition("\n## ")[0]
        rows = re.findall(r"^\| (`.*?) \|", section, flags=re.M)
        names = [name for row in rows for name in re.findall(r"`(\w+)", row)]
        assert len(names) >= 6, title
        known = {*dir(part), *(name for base in part.__mro__ for name in getattr(base, "__annotations__", {}))}
        assert [name for name in names if name not in known] == [], title
