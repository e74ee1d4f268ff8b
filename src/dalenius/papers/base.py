"""What a paper's exhibits are made of: tables and charts, and printed numbers beside ours."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class Compared:
    """A number of the paper beside ours, with a word on the difference. `printed` is as the paper has it."""

    what: str
    printed: str
    ours: float | str
    note: str = ""


@dataclass(frozen=True, slots=True)
class Exhibit:
    """A table or a figure. Charts are SVG, drawn when asked for."""

    name: str  # "Table 5"
    title: str
    text: str = ""
    header: Sequence[str] = ()
    rows: Sequence[Sequence[str]] = ()
    compared: Sequence[Compared] = ()
    charts: Sequence[tuple[Callable[[], str], str]] = field(default=(), repr=False)  # chart and caption


@dataclass(frozen=True, slots=True)
class Paper:
    """A paper, and what of it was built."""

    key: str
    citation: str
    exhibits: tuple[Exhibit, ...]

    def __getitem__(self, name: str) -> Exhibit:
        return next(exhibit for exhibit in self.exhibits if exhibit.name == name)
