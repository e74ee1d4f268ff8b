"""A proposed schema, on the terminal."""

from __future__ import annotations


def written(schema: object) -> str:
    return f"Wrote {schema}. Check every line marked GUESS, then run:"
