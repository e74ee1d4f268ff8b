"""The JSON schema of an audit, with the criteria and kinds of release that are registered."""

from __future__ import annotations

import json
from collections.abc import Iterator
from importlib import resources
from typing import Any

from dalenius.criteria import CRITERIA, Criterion, KAnonymity
from dalenius.releases import KINDS
from dalenius.reports.words import common as say

__all__ = ["audit_schema"]

AUDITABLE = {"classes", "counts"}  # evidence about people: a release that offers neither cannot be audited


def audit_schema() -> dict[str, Any]:
    """Return the JSON schema of what `audit --json` writes: the file in the package, and what plug-ins add."""
    text = resources.files("dalenius.reports").joinpath("audit.schema.json").read_text(encoding="utf-8")
    schema: dict[str, Any] = json.loads(text)
    added = {name: model for name, model in CRITERIA.items() if model.reported and name not in schema["$defs"]}
    places = list(_with_levels(schema))
    for name, model in added.items():
        schema["$defs"][name] = _definition(model)
        for place in places:
            place["properties"][name] = {"description": model.description, "$ref": f"#/$defs/{name}"}
            place["required"].append(name)
    kinds = schema["properties"]["release"]["properties"]["kind"]["enum"]
    kinds += [name for name, kind in KINDS.items() if name not in kinds and AUDITABLE & set(kind.offers())]
    return schema


def _definition(model: type[Criterion]) -> dict[str, Any]:
    number = {"$ref": "#/$defs/number"}
    properties: dict[str, Any] = {
        level.key: {
            "description": say.described(level.explanation),
            **({"type": "integer"} if level.is_whole else number),
        }
        for level in model.reported
    }
    properties |= {key: {"description": say.PARAMETER} for key in model.parameters()}
    return {
        "type": "object",
        "description": model.description,
        "properties": properties,
        "required": list(properties),
        "additionalProperties": False,
    }


def _with_levels(value: Any) -> Iterator[dict[str, Any]]:
    """Return every part of the schema that lists the levels of all models."""
    if isinstance(value, dict):
        properties = value.get("properties")
        if isinstance(properties, dict) and KAnonymity.name in properties:
            yield value
        for inner in value.values():
            yield from _with_levels(inner)
