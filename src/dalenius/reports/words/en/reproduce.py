"""The papers' tables and figures beside ours."""

from __future__ import annotations

from dalenius.reports.words.en import plural

TITLE = "Five papers, reproduced"
ABOUT = (
    "Every table and figure with numbers in the papers that Dalenius builds on, computed again: the printed number, ours, and "
    "why they differ. Then the errata: what is wrong in print."
)
QUICK = "Made with --quick: fewer people, parameters and repetitions. The numbers are less precise than those of a full run."
COLUMNS = ("What", "Printed", "Ours", "Why they differ, and remarks")
ERRATA_LINK = "errata"
ERRATA = "Errata: what is wrong in print, or could be stronger"
# The first words of cells on a phone, where the table has no header.
PRINTED_CELL, OURS_CELL = "printed: ", "ours: "


def left_out_of(title: str, names: str, reason: str) -> str:
    return f"Left out of {title}: {names}. {reason}"


def left_out(title: str, reason: str) -> str:
    return f"Left out: {title}. {reason}"


def extent(exhibits: int, numbers: int) -> str:
    return f"{plural(exhibits, 'exhibit', 'exhibits')}, {plural(numbers, 'number', 'numbers')} compared"


def with_errata(extent: str, errata: int) -> str:
    return f"{extent}, {plural(errata, 'erratum', 'errata')}"


def printed(text: str) -> str:
    return f"Printed: {text}"


def correct(text: str) -> str:
    return f"Correct: {text}"


def seconds(key: str) -> str:
    return f"{key}, seconds"


def left_out_line(key: str, names: str, reason: str) -> str:
    some = f"{names} of " if names else ""
    return f"dalenius: left out {some}{key!r}: {reason}"
