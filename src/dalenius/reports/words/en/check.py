"""A checked release, on the terminal."""

from __future__ import annotations

from dalenius.reports.words.en import classes, people, plural, rows

COLUMNS = "columns"
SUPPRESSED = "suppressed"
SIZES = "class sizes"
NOT_CHECKED = "not checked"
LEVEL, SAFER, WORST = "level", "safer if", "worst class"
NUMBERED = "Classes and rows are numbered from 0."
SMALLEST_EPSILON = "smallest ε against"
SMALLER = "smaller"
NO_CLASS = "there is no class"
HOLDS, VIOLATED = "holds", "violated"
AT_MOST = "σ or less"
NO_SIGMA = "none"
SUPPRESSED_NOTE = (
    "Anyone who matches no class is among them. They count in the distribution of the table, which t, δ and β use."
)


def head(name: str, people_in: int, classes_in: int, kind: str) -> str:
    return f"{name}: {people(people_in)} in {classes(classes_in)}, {kind}"


def suppressed(n: int, share: str) -> str:
    return f"{rows(n)} ({share})"


def sizes(smallest: int, median: str, mean: str, largest: int, single: int) -> str:
    alone = plural(single, "class has", "classes have")
    return f"smallest {smallest:,}, median {median}, mean {mean}, largest {largest:,}; {alone} one person"


def column(name: str, role: str) -> str:
    return f"{name} ({role})"


def about(predicates: str) -> str:
    return f"for learning {predicates}"


def known(records: int) -> str:
    return f"b = {records:,}"


def place(number: int, size: int) -> str:
    return f"class {number}, {people(size)}"


def row_numbers(numbers: str, *, several: bool) -> str:
    return f"rows {numbers}" if several else f"row {numbers}"


def suppressed_rows(n: int, levels: str) -> str:
    return f"{plural(n, 'suppressed row', 'suppressed rows')} {levels}"


def criterion(criterion: str, column: str) -> str:
    return f"{criterion} of {column}"


def failing(n: int, level: str) -> str:
    return f"{plural(n, 'class fails', 'classes fail')}, level {level}"


def suppressed_fail(level: str) -> str:
    return f"the suppressed rows fail as a class, level {level}"


def withstands(epsilon: str) -> str:
    return f"Stubbornness σ of the adversaries that the release withstands at ε = {epsilon}:"


def sigma_from(smallest: str, *, never_learns: bool) -> str:
    never = ", and an adversary that never learns (class III)" if never_learns else ""
    return f"{smallest} or more{never}"


def sigma_between(smallest: str, largest: str) -> str:
    return f"{smallest} to {largest}"


def revealed(number: int, labels: str, values: str) -> str:
    return f"class {number}  {labels}: {values}"
