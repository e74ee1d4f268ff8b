"""The API reference documents every public name, and every name on it says what it is for."""

from __future__ import annotations

import importlib
import inspect
import runpy
from typing import Any

import dalenius as dl
from dalenius.api import FUNCTIONS
from tests.conftest import ROOT

API = runpy.run_path(str(ROOT / "scripts" / "site_api.py"))
NAMES = {place: page.names() for place, page in API["PAGES"].items()}


def load(path: str) -> Any:
    """Return the object of a dotted path: a module, or a name in one."""
    try:
        return importlib.import_module(path)
    except ModuleNotFoundError:
        module, _, name = path.rpartition(".")
        return getattr(importlib.import_module(module), name)


def test_every_public_name_is_on_one_page() -> None:
    listed = [path for names in NAMES.values() for path in names]
    for name in dl.__all__:
        if not name.startswith("__"):
            own = getattr(dl, name)
            places = {f"dalenius.{name}", f"{getattr(own, '__module__', '')}.{name}"}
            assert len([path for path in listed if path in places]) == 1, name


def test_every_name_exists_and_says_what_it_is_for() -> None:
    for place, names in NAMES.items():
        assert names, place
        for path in names:
            text = inspect.getdoc(load(path)) or ""
            assert text, path
            assert not text.startswith(f"{path.rpartition('.')[2]}("), (
                f"{path}: the docstring of a dataclass is generated"
            )


def test_the_functions_have_a_page_of_their_own() -> None:
    listed = NAMES["api/functions.md"]
    assert {f"dalenius.{function.__name__}" for function in FUNCTIONS} | {"dalenius.read_release"} == set(listed)


def test_results_are_those_that_functions_return() -> None:
    names = [path.rpartition(".")[2] for path in NAMES["api/results.md"]]
    assert {"Audit", "Publication", "Comparison"} <= set(names)
    for path in NAMES["api/functions.md"]:
        assert API["_returned"](inspect.unwrap(load(path))), path


def test_a_page_has_a_directive_for_each_name() -> None:
    page = API["PAGES"]["api/functions.md"].markdown()
    assert "::: dalenius.audit\n" in page
    assert page.startswith("# Functions\n")


def test_the_overview_names_every_function() -> None:
    overview = (ROOT / "docs" / "api.md").read_text(encoding="utf-8")
    for path in NAMES["api/functions.md"]:
        name = path.replace("dalenius.", "dl.")
        assert f"`{name}`" in overview, name
