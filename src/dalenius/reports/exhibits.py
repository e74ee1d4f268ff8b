"""What a paper's exhibits are made of: tables and charts, and printed numbers beside ours."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import partial


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
    legend: Sequence[tuple[str, str]] = ()  # colour, and what it stands for; of charts that do not say so themselves


@dataclass(frozen=True, slots=True)
class Paper:
    """A paper, and what of it was built."""

    key: str
    citation: str
    exhibits: tuple[Exhibit, ...]
    data: str = ""  # which data these are of, where the paper's own are not at hand

    def __getitem__(self, name: str) -> Exhibit:
        return next(exhibit for exhibit in self.exhibits if exhibit.name == name)

    def drawn(self) -> Paper:
        """The same with its charts drawn: plain data, which another process can hand over."""
        return replace(self, exhibits=tuple(_drawn(exhibit) for exhibit in self.exhibits))


def _drawn(exhibit: Exhibit) -> Exhibit:
    return replace(exhibit, charts=tuple((partial(str, chart()), caption) for chart, caption in exhibit.charts))


@dataclass(frozen=True, slots=True)
class Erratum:
    """Something that a paper prints and that is not so, or not quite."""

    where: str  # "Table IV"
    printed: str
    right: str
    why: str
    shown_by: str  # the test that shows it: path::name
