"""The pages of the API reference: which names each page of the site documents. mkdocstrings writes the text from their docstrings.

Public names come from `dalenius.__all__`, results from the return types of the functions, parts from their registries. So a new
function, result, criterion, publisher or adversary appears without a change here.
"""

from __future__ import annotations

import ast
import importlib
import inspect
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

MEASURES = ("accuracy", "anonymity", "disclosure", "error", "fidelity", "loss", "semantic", "threat", "utility")


@dataclass(frozen=True, slots=True)
class ApiPage:
    """One page of the reference: its title, a sentence for the reader, and the names on it."""

    title: str
    about: str
    names: Callable[[], list[str]]

    def markdown(self) -> str:
        """Return the page, with one directive of mkdocstrings for each name."""
        return "\n\n".join([f"# {self.title}", self.about, *(f"::: {name}" for name in self.names())]) + "\n"


def public() -> dict[str, Any]:
    """Return what `import dalenius as dl` offers, by name."""
    import dalenius as dl

    return {name: getattr(dl, name) for name in dl.__all__ if not name.startswith("__")}


def functions() -> list[str]:
    return [f"dalenius.{name}" for name, value in public().items() if inspect.isroutine(value)]


def releases() -> list[str]:
    return [f"dalenius.{name}" for name, value in public().items() if _is_class(value) and _is_release(value)]


def errors() -> list[str]:
    return [f"dalenius.{name}" for name, value in public().items() if _is_class(value) and issubclass(value, Exception)]


def modules() -> list[str]:
    return [f"dalenius.{name}" for name, value in public().items() if inspect.ismodule(value)]


def tables() -> list[str]:
    """Return the other classes: tables, schemas, hierarchies."""
    elsewhere = {*functions(), *releases(), *errors(), *modules(), *results()}
    rest = [f"dalenius.{name}" for name in public() if f"dalenius.{name}" not in elsewhere]
    return [*rest, "dalenius.hierarchy"]


def results() -> list[str]:
    """Return the classes that the public functions return, where they are defined."""
    functions = [inspect.unwrap(value) for value in public().values() if inspect.isroutine(value)]
    classes = [cls for function in functions for cls in _returned(function)]
    return list(dict.fromkeys(_path(cls) for cls in classes if not _is_release(cls)))


def _returned(function: Any) -> list[type]:
    """Return the classes in a function's return annotation, which its module may import for type checkers only."""
    module = ast.parse(Path(inspect.getfile(function)).read_text(encoding="utf-8"))
    imported = [node for node in ast.walk(module) if isinstance(node, ast.ImportFrom) and node.module]
    places = {alias.asname or alias.name: (node.module, alias.name) for node in imported for alias in node.names}
    own = next(node for node in module.body if isinstance(node, ast.FunctionDef) and node.name == function.__name__)
    names = [node.id for node in ast.walk(own.returns or ast.Pass()) if isinstance(node, ast.Name)]
    loaded = [
        getattr(importlib.import_module(str(places[name][0])), places[name][1]) for name in names if name in places
    ]
    return [value for value in loaded if _is_class(value)]


def criteria() -> list[str]:
    from dalenius.criteria.registry import CRITERIA

    return [_path(cls) for cls in CRITERIA.values() if _is_ours(cls)]


def publishers() -> list[str]:
    from dalenius.publishers.registry import PUBLISHERS

    return [_path(cls) for cls in PUBLISHERS.values() if _is_ours(cls)] + ["dalenius.publishers.base.Published"]


def adversaries() -> list[str]:
    from dalenius.adversaries.registry import ADVERSARIES

    own = [_path(cls) for cls in ADVERSARIES.values() if _is_ours(cls)]
    return [*own, "dalenius.adversaries.base.Targets", "dalenius.belief.Belief"]


def _is_class(value: Any) -> bool:
    return inspect.isclass(value)


def _is_release(cls: type) -> bool:
    return cls.__module__.startswith("dalenius.releases")


def _is_ours(cls: type) -> bool:
    return cls.__module__.startswith("dalenius.")  # a plug-in documents itself


def _path(cls: type) -> str:
    return f"{cls.__module__}.{cls.__qualname__}"


PAGES = {
    "api/functions.md": ApiPage(
        "Functions",
        "Each function does what the command of the same name does. A schema is a path or an object; an option is spelt as on "
        "the [command line](../commands.md), with `_` for `-`.",
        functions,
    ),
    "api/results.md": ApiPage("Results", "What the functions return. Results are frozen.", results),
    "api/tables.md": ApiPage("Tables, schemas and hierarchies", "[Files](../files.md) explains the keys of a schema.", tables),
    "api/releases.md": ApiPage("Releases", "Releases as frozen data. [Files](../files.md) has their formats.", releases),
    "api/criteria.md": ApiPage("Criteria", "[Privacy criteria](../criteria.md) has the definitions.", criteria),
    "api/publishers.md": ApiPage("Publishers", "[Publishers](../publishers.md) compares them.", publishers),
    "api/adversaries.md": ApiPage("Adversaries", "[Adversaries](../adversaries/README.md) describes each of them.", adversaries),
    "api/measures.md": ApiPage(
        "Measures",
        "Functions that turn beliefs, releases and channels into numbers.",
        lambda: [f"dalenius.measures.{name}" for name in MEASURES],
    ),
    "api/datasets.md": ApiPage("Data sets and errors", "Data to try things on, and the errors that functions raise.",
                               lambda: [*modules(), *errors()]),
}  # fmt: skip
