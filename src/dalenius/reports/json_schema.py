"""The JSON schema of an audit, with the criteria and kinds of release that are registered."""

from __future__ import annotations

import json
from collections.abc import Iterator
from importlib import resources
from typing import Any

from dalenius.criteria import CRITERIA, Criterion, KAnonymity
from dalenius.releases import KINDS

AUDITED = {"classes", "counts"}  # evidence about people: what offers neither cannot be audited


def audit_schema() -> dict[str, Any]:
    """What `audit --json` writes, as a JSON schema: the file that is shipped, and what plug-ins add."""
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
    kinds += [name for name, kind in KINDS.items() if name not in kinds and AUDITED & set(kind.offers())]
    return schema


def _definition(model: type[Criterion]) -> dict[str, Any]:
    number = {"$ref": "#/$defs/number"}
    properties: dict[str, Any] = {
        one.key: {"description": _sentence(one.explanation), **({"type": "integer"} if one.is_whole else number)}
        for one in model.reported
    }
    properties |= {key: {"description": "A parameter, not measured."} for key in model.parameters()}
    return {
        "type": "object",
        "description": model.description,
        "properties": properties,
        "required": list(properties),
        "additionalProperties": False,
    }


def _sentence(words: str) -> str:
    return f"{words[:1].upper()}{words[1:]}."


def _with_levels(value: Any) -> Iterator[dict[str, Any]]:
    """Every part of the schema that lists the levels of all models."""
    if isinstance(value, dict):
        properties = value.get("properties")
        if isinstance(properties, dict) and KAnonymity.name in properties:
            yield value
        for inner in value.values():
            yield from _with_levels(inner)
