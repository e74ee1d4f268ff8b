"""Schemas as text: what `Schema.save` writes, and the TOML values that `dalenius init` writes, too."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterable, Mapping
from pathlib import Path

from dalenius.errors import InputError
from dalenius.hierarchy import Hierarchy
from dalenius.output import csv_text, write_texts
from dalenius.schema import Column, Domain, Schema

__all__ = ["save", "toml_key", "toml_string", "toml_value"]


def save(schema: Schema, path: Path) -> None:
    """Write a schema, so that loading the file gives an equal one.

    A hierarchy that was read from a file is named by its path. Any other one is written to a file beside the schema. A domain
    that was taken from data is left out, because the file would declare it.
    """
    texts: dict[Path, str] = {}
    lines = [f"{key} = {toml_value(getattr(schema, key))}" for key in ("missing", "suppressed", "missing_is_secret")]
    for column in schema.columns:
        lines += ["", f"[columns.{toml_key(column.name)}]"]
        lines += [f"{key} = {toml_value(value)}" for key, value in _column(column, schema, path, texts).items()]
    for title, table in (
        ("prior", {"alpha": schema.prior.alpha, "beta": schema.prior.beta}),
        ("policy", schema.policy),
    ):
        lines += ["", f"[{title}]", *(f"{key} = {toml_value(value)}" for key, value in table.items())]
    write_texts({**texts, path: "\n".join(lines) + "\n"})


def _column(column: Column, schema: Schema, path: Path, texts: dict[Path, str]) -> dict[str, object]:
    """Return the keys of a column's table. The hierarchies that must be written are added to `texts`."""
    keys: dict[str, object] = {"role": column.role}
    if column.type != "category":
        keys["type"] = column.type
    if column.domain is not None and column.domain.declared:
        keys["domain"] = _domain(column.domain, column.type == "integer")
    if column.hierarchy is not None:
        file = _file_of(column.hierarchy, schema)
        if file is None:
            file = path.with_name(f"{path.stem}_hierarchy_{re.sub(r'[^A-Za-z0-9_.-]', '_', column.name)}.csv")
            if file in texts:
                raise InputError(f"Two columns would have the hierarchy {file.name!r}. Rename column {column.name!r}.")
            texts[file] = _hierarchy_text(column.hierarchy)
        keys["hierarchy"] = os.path.relpath(file, path.parent)
    elif column.suppress:
        keys["hierarchy"] = "suppress"
    if column.intervals is not None:
        keys["intervals"] = column.intervals
    if column.mask is not None:
        keys["mask"] = column.mask
    return keys


def _file_of(hierarchy: Hierarchy, schema: Schema) -> Path | None:
    """Return the file that a hierarchy was read from, if it is still there."""
    named = [file for file in schema.files if file.name == hierarchy.source and file.is_file()]
    return named[0] if len(named) == 1 else None


def _hierarchy_text(hierarchy: Hierarchy) -> str:
    """Return a row for each leaf with its label on each level. A header would be another leaf."""
    paths = [
        [labels[map_[i]] for map_, labels in zip(hierarchy.maps, hierarchy.labels, strict=True)]
        for i in range(len(hierarchy.leaves))
    ]
    return csv_text(paths[0], paths[1:], delimiter=";")


def _domain(domain: Domain, is_integer: bool) -> object:
    """Return the values of a domain; of consecutive numbers the first and the last."""
    if is_integer and all(domain.leaves) and len(domain.leaves) > 2:
        low, high = int(domain.leaves[0]), int(domain.leaves[-1])
        if high - low + 1 == len(domain.leaves):
            return {"min": low, "max": high}
    return domain.leaves


# TOML ------------------------------------------------------------------------------------------------------------------


def toml_string(text: str) -> str:
    """Return a TOML string. JSON has the same escapes, but for one character that JSON leaves alone."""
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")


def toml_key(name: str) -> str:
    """Return a key, in quotes if it needs them."""
    return name if re.fullmatch(r"[A-Za-z0-9_-]+", name) else toml_string(name)


def toml_value(value: object) -> str:
    """Return a value of a key: text, a number, a list or an inline table."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        return toml_string(value)
    if isinstance(value, int | float):
        return repr(value)
    if isinstance(value, Mapping):
        items = ", ".join(f"{toml_key(key)} = {toml_value(item)}" for key, item in value.items())
        return f"{{ {items} }}"
    if isinstance(value, Iterable):
        return "[" + ", ".join(map(toml_value, value)) + "]"
    raise TypeError(f"{type(value).__name__} has no TOML")
