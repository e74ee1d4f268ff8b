"""English. The helpers here are the only place that knows plural forms."""

from __future__ import annotations

from dalenius.errors import counted

__all__ = ["classes", "nodes", "people", "plural", "releases", "rows", "sentence", "targets"]

plural = counted


def people(n: int) -> str:
    """Return `1 person`, `2 people`."""
    return plural(n, "person", "people")


def rows(n: int) -> str:
    """Return `1 row`, `2 rows`."""
    return plural(n, "row", "rows")


def classes(n: int) -> str:
    """Return `1 class`, `2 classes`."""
    return plural(n, "class", "classes")


def releases(n: int) -> str:
    """Return `1 release`, `2 releases`."""
    return plural(n, "release", "releases")


def targets(n: int) -> str:
    """Return `1 target`, `2 targets`."""
    return plural(n, "target", "targets")


def nodes(n: int) -> str:
    """Return `1 node`, `2 nodes`."""
    return plural(n, "node", "nodes")


def sentence(text: str) -> str:
    """Return a text with a capital letter and a full stop."""
    return f"{text[:1].upper()}{text[1:]}."
