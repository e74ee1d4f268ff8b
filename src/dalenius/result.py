"""The base of everything that a public function returns: how it looks in a console and a notebook, and how it is saved."""

from __future__ import annotations

import importlib
from abc import abstractmethod
from pathlib import Path
from typing import Any

from dalenius.errors import InputError

__all__ = ["Result"]


class Result:
    """What a public function returns: frozen, with a short text, a notebook view, tables and files.

    A subclass has the numbers and `to_document`. How it looks is written in `dalenius.reports.results`, with one entry for each
    subclass.
    """

    __slots__ = ()

    @abstractmethod
    def to_document(self) -> dict[str, Any]:
        """Return the result as nested dictionaries, as JSON has it, with NumPy numbers and infinities as they are."""

    def __repr__(self) -> str:
        """Return the headline numbers: at most 20 lines, no rows, no person's value and no label of a class."""
        text: str = _reports().short_text(self)
        return text

    def _repr_html_(self) -> str:
        """Return the report as an HTML fragment for a notebook: charts and tables, without script or network."""
        text: str = _reports().fragment(self)
        return text

    def to_dict(self, *, reveal: bool = False) -> dict[str, Any]:
        """Return what `--json` writes as plain Python, without `run`, which holds what differs between two equal runs.

        Infinite numbers are the text "inf", and undefined ones are None, as in the file. `reveal` matters only for an audit: it
        adds the values that the adversary guesses for the people most at risk.
        """
        document: dict[str, Any] = _reports().document(self, reveal=reveal)
        return document

    def to_pandas(self) -> Any:
        """Return the table of the result as a pandas data frame. The class says which columns it has."""
        header, rows = _reports().table(self)
        pandas = _library("pandas")
        return pandas.DataFrame(rows, columns=header)

    def to_polars(self) -> Any:
        """Return the table of the result as a Polars data frame. The class says which columns it has."""
        header, rows = _reports().table(self)
        polars = _library("polars")
        return polars.DataFrame(rows, schema=header, orient="row", infer_schema_length=None)

    def save(self, path: str | Path, *, reveal: bool = False) -> None:
        """Write the result to a file: whole, or not at all. The ending of its name says what is written.

        `.html` is the report as a page, `.json` what `--json` writes, `.csv` the table of `to_pandas`, and `.txt` the text of the
        terminal. With `reveal`, values and labels are written that are otherwise hidden, as the option `--reveal` does.
        """
        _reports().save(self, Path(path), reveal=reveal)


def _reports() -> Any:
    # Reports stand above the results that they show, so they are looked up when they are needed.
    return importlib.import_module("dalenius.reports.results")


def _library(name: str) -> Any:
    try:
        return importlib.import_module(name)
    except ModuleNotFoundError:
        raise InputError(f"to_{name}() needs {name}, which is not installed. Run: pip install {name}") from None
