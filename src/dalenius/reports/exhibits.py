"""The parts of a paper's exhibits: tables and charts, and printed numbers beside ours."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import partial

__all__ = ["Compared", "Erratum", "Exhibit", "Paper"]


@dataclass(frozen=True, slots=True)
class Compared:
    """A number of the paper beside ours, with a note on the difference. `printed` is as the paper has it."""

    what: str
    printed: str
    ours: float | str
    note: str = ""


@dataclass(frozen=True, slots=True)
class Exhibit:
    """A table or a figure. Charts are SVG, drawn on demand."""

    name: str  # "Table 5"
    title: str
    text: str = ""
    header: Sequence[str] = ()
    rows: Sequence[Sequence[str]] = ()
    compared: Sequence[Compared] = ()
    charts: Sequence[tuple[Callable[[], str], str]] = field(default=(), repr=False)  # chart and caption
    legend: Sequence[tuple[str, str]] = ()  # colour and meaning, for charts without a legend of their own


@dataclass(frozen=True, slots=True)
class Paper:
    """A paper, and the exhibits that were built."""

    key: str
    citation: str
    exhibits: tuple[Exhibit, ...]
    data: str = ""  # which data were used, if the paper's own are not available

    def __getitem__(self, name: str) -> Exhibit:
        return next(exhibit for exhibit in self.exhibits if exhibit.name == name)

    def drawn(self) -> Paper:
        """Return the same with its charts drawn: plain data, which can be passed between processes."""
        return replace(self, exhibits=tuple(_drawn(exhibit) for exhibit in self.exhibits))


def _drawn(exhibit: Exhibit) -> Exhibit:
    return replace(exhibit, charts=tuple((partial(str, chart()), caption) for chart, caption in exhibit.charts))


@dataclass(frozen=True, slots=True)
class Erratum:
    """Something that a paper prints and that is wrong, or imprecise."""

    where: str  # "Table IV"
    printed: str
    right: str
    why: str
    shown_by: str  # the test that shows it: path::name
