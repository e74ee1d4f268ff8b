"""HTML fragments for notebooks: the body of a page, or text and tables, with styles that reach no further than the fragment."""

from __future__ import annotations

import re
from collections.abc import Iterable
from html import escape

__all__ = ["of_page", "of_table", "of_text"]

NAME = "dalenius-result"
# Text takes the colours of the notebook, light or dark. Charts have dark lines, so they always get a light ground.
_RULES = {
    "": "max-width: 60rem; line-height: 1.5",
    "h1": "font-size: 1.3em; margin: .2em 0 .3em",
    "h2": "font-size: 1.1em; margin: 1.4em 0 .4em",
    "p": "margin: .4em 0",
    "pre": "overflow-x: auto; background: none; color: inherit; white-space: pre; line-height: 1.35",
    ".soft, .NAME small, .NAME figcaption": "opacity: .75",
    ".scroll": "overflow-x: auto",
    "table": "border-collapse: collapse; margin: .5em 0; font-size: .93em; color: inherit",
    "th, .NAME td": "text-align: left; padding: .25em .8em .25em 0; vertical-align: top; background: none; "
    "border: 0; border-bottom: 1px solid rgba(128, 128, 128, .4)",
    "th.number, .NAME td.number": "text-align: right; font-variant-numeric: tabular-nums; white-space: nowrap",
    "figure": "margin: .8em 0",
    "figure svg": "max-width: 100%; height: auto; background: #fff; padding: .5em; border-radius: .3em",
    ".wide svg": "max-width: none",
    "ul.legend": "list-style: none; padding: 0",
    ".verdict": "border-left: .4em solid #808890; padding: .5em .9em; margin: .8em 0; background: rgba(128, 128, 128, .12)",
    ".warning": "border-left: .4em solid #d0453c; padding: .5em .9em; margin: .8em 0; background: rgba(128, 128, 128, .12)",
    "div.verdict.violated": "border-color: #d0453c",
    "div.verdict.passed": "border-color: #2e9350",
    "div.verdict.incomplete": "border-color: #b27a10",
    "span.violated": "color: #d0453c; font-weight: 600",
    "span.passed": "color: #2e9350",
    "span.untested": "color: #b27a10",
}
_STYLE = "\n".join(
    f".{NAME} {selector.replace('NAME', NAME)} {{ {rule} }}".replace("  ", " ") for selector, rule in _RULES.items()
)
_NAMESPACE = re.compile(r' xmlns(?::\w+)?="[^"]*"')  # inside HTML an SVG needs none, and a fragment names no address


def of_page(page: str) -> str:
    """Return the body of a page as a fragment."""
    _, _, rest = page.partition("<main>")
    return _wrapped(_NAMESPACE.sub("", rest.rpartition("</main>")[0]))


def of_text(title: str, lines: Iterable[str]) -> str:
    """Return the text of a terminal as a fragment."""
    return _wrapped(f"<h1>{escape(title)}</h1>\n<pre>{escape(chr(10).join(lines))}</pre>")


def of_table(title: str, table: str, notes: Iterable[str] = ()) -> str:
    """Return a table, HTML already, with notes below it as a fragment."""
    below = "".join(f'<p class="soft">{escape(note)}</p>' for note in notes)
    return _wrapped(f"<h1>{escape(title)}</h1>\n{table}\n{below}")


def _wrapped(body: str) -> str:
    return f'<div class="{NAME}">\n<style>\n{_STYLE}\n</style>\n{body}\n</div>'
