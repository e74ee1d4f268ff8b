"""Write docs/api.md: the public names with their signatures and the first paragraph of their docstrings.

A test fails when the page and the code differ.
"""

from __future__ import annotations

import dataclasses
import importlib
import inspect
from pathlib import Path
from typing import Any

PAGE = Path(__file__).resolve().parent.parent / "docs" / "api.md"
WIDTH = 110
# Each section: its title, what it is about, and its names as module:name; `*` is all that the module names as public.
SECTIONS: tuple[tuple[str, str, tuple[str, ...]], ...] = (
    ("dalenius", "`import dalenius as dl`. Tables, schemas, releases.", ("dalenius:*",)),
    ("dalenius.datasets", "Data to try things on.", ("dalenius.datasets:*",)),
    ("dalenius.hierarchy", "Hierarchies made by hand.", (
        "dalenius.hierarchy:from_paths", "dalenius.hierarchy:read_hierarchy", "dalenius.hierarchy:intervals",
        "dalenius.hierarchy:mask", "dalenius.hierarchy:suppress",
    )),
    ("dalenius.criteria", "Privacy models: [criteria.md](criteria.md), [realistic.md](realistic.md).", ("dalenius.criteria:*",)),
    ("dalenius.publishers", "Publishers: [publishers.md](publishers.md), [lattice.md](lattice.md).", (
        "dalenius.publishers.lattice:Lattice", "dalenius.publishers.mondrian:Mondrian",
        "dalenius.publishers.microaggregation:Microaggregation", "dalenius.publishers.anatomy:Anatomy",
        "dalenius.publishers.noisy_counts:Counts", "dalenius.publishers.noisy_counts:Simulation",
        "dalenius.publishers.base:Published",
    )),
    ("dalenius.adversaries", "Adversaries: [their pages](adversaries/README.md).", (
        "dalenius.adversaries:*", "dalenius.adversaries.sampling:Effort", "dalenius.adversaries.intersection:intersect",
        "dalenius.adversaries.composition:compose", "dalenius.belief:Belief",
    )),
    ("dalenius.measures", "Numbers made of beliefs, releases and channels.", (
        "dalenius.measures.accuracy:success", "dalenius.measures.accuracy:naive", "dalenius.measures.accuracy:gain",
        "dalenius.measures.accuracy:judge", "dalenius.measures.accuracy:Rate",
        "dalenius.measures.threat:*", "dalenius.measures.anonymity:class_risks", "dalenius.measures.disclosure:epsilons",
        "dalenius.measures.fidelity:fidelity", "dalenius.measures.fidelity:Truth",
        "dalenius.measures.utility:release_utility",
        "dalenius.measures.observed:Observed", "dalenius.measures.error:privacy", "dalenius.measures.error:reduction",
        "dalenius.measures.loss:absolute",
        "dalenius.measures.semantic:compose", "dalenius.measures.semantic:semantic_bound",
        "dalenius.measures.semantic:semantic_level", "dalenius.measures.guide:recommend",
    )),
    ("dalenius.releases.models", "Channels by formula: [error.md](error.md).", ("dalenius.releases.models:build",)),
    ("dalenius.auditing", "Where the truth stands beside the beliefs: [audit.md](audit.md).", (
        "dalenius.auditing:audit", "dalenius.auditing:Audit", "dalenius.auditing.attacks:attack",
        "dalenius.auditing.threat:relative_threats", "dalenius.auditing.compare:compare",
        "dalenius.auditing.epsilon_curve:epsilon_curve", "dalenius.reports.html:page", "dalenius.reports.terminal:lines",
    )),
)  # fmt: skip
HEAD = """# API reference

<!-- written by scripts/write_api.py -->

Signatures and what each is for; the pages linked have the meaning and examples. Whatever is not listed here may change.
Arrays are NumPy's; results are frozen dataclasses; random numbers come from a `numpy.random.Generator` or a seed that you pass.
"""


def names(module: Any) -> list[str]:
    """What a module calls public, or else the classes and functions that it defines."""
    if hasattr(module, "__all__"):
        return [name for name in module.__all__ if not name.startswith("__")]
    own = [
        name
        for name, one in vars(module).items()
        if (inspect.isclass(one) or inspect.isfunction(one)) and one.__module__ == module.__name__
    ]
    return [name for name in own if not name.startswith("_")]


def signature(name: str, one: Any, *, method: bool = False) -> str:
    """As it is written: annotations as they stand in the source, one parameter a line where it is long."""
    try:
        found = inspect.signature(one)
    except (TypeError, ValueError):
        return name
    parameters = [p for p in found.parameters.values() if not (method and p.name in ("self", "cls"))]
    if inspect.isabstract(one) or (inspect.isclass(one) and [p.name for p in parameters] == ["args", "kwargs"]):
        return name
    parts, starred = [], False
    for parameter in parameters:
        if parameter.kind == parameter.KEYWORD_ONLY and not starred:
            parts, starred = [*parts, "*"], True
        starred = starred or parameter.kind == parameter.VAR_POSITIONAL
        parts.append(_parameter(parameter))
    end = (
        ""
        if inspect.isclass(one) or found.return_annotation in (None, "None")
        else f" -> {_text(found.return_annotation)}"
    )
    line = f"{name}({', '.join(parts)}){end}"
    if len(line) <= WIDTH or method:
        return line
    return f"{name}(\n    " + ",\n    ".join(parts) + f",\n){end}"


def _parameter(parameter: inspect.Parameter) -> str:
    marks = {parameter.VAR_POSITIONAL: "*", parameter.VAR_KEYWORD: "**"}
    text = marks.get(parameter.kind, "") + parameter.name
    if parameter.annotation is not parameter.empty:
        text += f": {_text(parameter.annotation)}"
    if parameter.default is not parameter.empty:
        default = repr(parameter.default).replace("PosixPath", "Path")
        text += " = " + ("…" if default.startswith("<") else default)
    return text


def _text(annotation: Any) -> str:
    return annotation if isinstance(annotation, str) else inspect.formatannotation(annotation)


def paragraph(one: Any) -> str:
    text = inspect.getdoc(one) or ""
    if dataclasses.is_dataclass(one) and text.startswith(f"{getattr(one, '__name__', '')}("):
        return ""  # made by dataclass, not written
    return " ".join(text.split("\n\n")[0].split())


def methods(one: type) -> list[tuple[str, str, str]]:
    """The public methods and properties that a class itself documents."""
    found = []
    for name, member in vars(one).items():
        if name.startswith("_"):
            continue
        inner = member.__func__ if isinstance(member, classmethod | staticmethod) else member
        if isinstance(member, property):
            found.append((name, name, paragraph(member)))
        elif inspect.isfunction(inner):
            found.append((name, signature(name, inner, method=True), paragraph(inner)))
    return [(name, text, told) for name, text, told in found if told]


def entry(name: str, one: Any) -> list[str]:
    if inspect.ismodule(one):
        return [f"### `{name}`", "", f"{paragraph(one)}", ""]
    if not (inspect.isclass(one) or inspect.isroutine(one)):
        words = isinstance(one, dict | tuple) and all(isinstance(key, str) for key in one)
        keys = ", ".join(f"`{key}`" for key in one) if words else ""
        return [f"### `{name}`", "", f"By name: {keys}." if keys else "A constant.", ""]
    lines = [f"### `{name}`", "", "```text", signature(name, one), "```", ""]
    told = paragraph(one)
    if told:
        lines += [told, ""]
    if inspect.isclass(one) and not issubclass(one, Exception):
        listed = [f"- `{text}`: {words}" for _, text, words in methods(one)]
        lines += [*listed, ""] if listed else []
    return lines


def markdown() -> str:
    lines = [HEAD]
    for title, about, places in SECTIONS:
        lines += [f"## {title}", "", about, ""]
        for place in places:
            module_name, _, name = place.partition(":")
            module = importlib.import_module(module_name)
            for one in names(module) if name == "*" else [name]:
                full = one if module_name == title else f"{module_name.removeprefix('dalenius.')}.{one}"
                found = entry(one, getattr(module, one))
                if full != one and not inspect.ismodule(getattr(module, one)):
                    found.insert(2, f"*`from {module_name} import {one}`*\n")
                lines += found
    return "\n".join(lines).rstrip() + "\n"


if __name__ == "__main__":
    PAGE.write_text(markdown(), encoding="utf-8")
