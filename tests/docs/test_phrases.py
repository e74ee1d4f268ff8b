"""Phrases that were retired stay retired: in documentation, help, messages, reports and docstrings."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.conftest import ROOT

RETIRED = re.compile(
    r"read a line so\b|is said first|\ba (?:row|line) a (?:person|target|patient|release|value)\b"
    r"|\bso many (?:sweeps|rows|people|seconds|groups|nodes|draws|distinct)\b|whom to attack|take for granted|\bmend(?:ed|s)?\b"
    r"|nobody is told|surely (?:rarer|commoner|more|less)|others have and|nobody's business|\b(?:hold|held|holds) against\b"
    r"|\bhold releases\b|commonest|\blearnt\b|says? of the table|tells? of it\b",
    re.IGNORECASE,
)
# Values and names that files and JSON keep, and titles of works.
KEPT = re.compile(
    r"`[^`\n]*`|```.*?```|COMMONEST|commonest=|\.commonest\b|_commonest\b|\bcommonest\b(?=[:,)\]]| =|\.)", re.DOTALL
)
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", ROOT / "SECURITY.md", *sorted((ROOT / "docs").rglob("*.md"))]
WORDS = sorted((ROOT / "src" / "dalenius" / "reports" / "words").rglob("*.py"))
DECLARED = [
    *sorted((ROOT / "src" / "dalenius" / "api").glob("*.py")),
    *sorted((ROOT / "src" / "dalenius" / "cli").glob("*.py")),
]


@pytest.mark.parametrize("path", [*PAGES, *WORDS, *DECLARED], ids=lambda path: str(path.relative_to(ROOT)))
def test_no_retired_phrase(path: Path) -> None:
    text = KEPT.sub("", path.read_text(encoding="utf-8"))
    assert [match.group() for match in RETIRED.finditer(text)] == []


@pytest.mark.parametrize(
    "sentence", ["A CSV file; a row a person.", "stop after so many sweeps", "Mend it, or save it as Parquet."]
)
def test_a_retired_phrase_is_seen(sentence: str) -> None:
    assert RETIRED.search(sentence)
