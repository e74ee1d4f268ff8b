"""Reading a report back: its headings, tables and the data points that its charts carry as labels."""

from __future__ import annotations

import re
from html.parser import HTMLParser


class Page(HTMLParser):
    """`tables[heading]` are the tables under a heading, each a list of rows of cell texts; `text` is all that is read."""

    def __init__(self, source: str) -> None:
        super().__init__()
        self.headings: list[str] = []
        self.tables: dict[str, list[list[list[str]]]] = {}
        self.text = ""
        self.points: list[str] = []
        self._open: list[str] = []
        self.feed(source)
        self.close()

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        given = dict(attributes)
        if "aria-label" in given:
            self.points.append(given["aria-label"] or "")
        if tag in ("meta", "link", "br", "img", "path", "line", "rect"):
            return
        self._open.append(tag)
        if tag in ("h1", "h2"):
            self.headings.append("")
        elif tag == "table":
            self.tables.setdefault(self.headings[-1], []).append([])
        elif tag == "tr":
            self._table().append([])
        elif tag in ("td", "th"):
            self._table()[-1].append("")

    def handle_endtag(self, tag: str) -> None:
        if tag in self._open:
            while self._open.pop() != tag:
                pass

    def handle_data(self, data: str) -> None:
        if "style" in self._open:
            return
        self.text += data
        if {"h1", "h2"} & set(self._open):
            self.headings[-1] += data
        if "table" in self._open and {"td", "th"} & set(self._open):
            self._table()[-1][-1] += data

    def _table(self) -> list[list[str]]:
        return self.tables[self.headings[-1]][-1]

    def table(self, heading: str, index: int = 0) -> list[list[str]]:
        """The rows of a table, without its header."""
        return self.tables[heading][index][1:]


def numbers(text: str) -> list[float]:
    """The numbers in a text, in order; a minus may be typeset."""
    return [float(part.replace(",", "")) for part in re.findall(r"[-+]?\d[\d,]*(?:\.\d+)?(?:e[-+]?\d+)?", text)]
