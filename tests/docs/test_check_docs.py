"""The check of the documentation finds what it is there for."""

from __future__ import annotations

import runpy
from pathlib import Path

from dalenius.cli.app import app
from tests.conftest import ROOT

CHECK = runpy.run_path(str(ROOT / "scripts" / "check_docs.py"))
COMMANDS = " ".join(f"dalenius {command.name}" for command in app.registered_commands)


def written(root: Path, **pages: str) -> list[str]:
    (root / "docs").mkdir(exist_ok=True)
    (root / "README.md").write_text(f"{COMMANDS} [docs](docs/README.md)", encoding="utf-8")
    for name, text in {"README": "", **pages}.items():
        (root / "docs" / f"{name}.md").write_text(text, encoding="utf-8")
    found: list[str] = CHECK["check"](root)
    return found


def test_ours_is_in_order() -> None:
    assert CHECK["check"]() == []


def test_what_is_wrong_is_found(tmp_path: Path) -> None:
    good = "# Two words, and `code`\n```\n[not](a-link.md)\n```\n## Same\n## Same\n"
    links = "[a](a.md) [b](a.md#two-words-and-code) [c](a.md#same-1) [d](https://example.org/x) `[e](none.md)`"
    assert written(tmp_path, README=links, a=good) == []
    assert written(tmp_path, README="[a](a.md) [b](b.md)", a=good) == ["docs/README.md: b.md leads nowhere"]
    assert written(tmp_path, README="[a](a.md#three)", a=good) == [
        "docs/README.md: a.md#three: there is no such heading"
    ]
    assert written(tmp_path, README="", a=good) == ["docs/a.md: no link leads here"]
    (tmp_path / "README.md").write_text("[docs](docs/README.md) [a](docs/a.md)", encoding="utf-8")
    assert "dalenius audit: no page has this command" in CHECK["check"](tmp_path)
