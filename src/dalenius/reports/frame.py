"""What every HTML page shares: one self-contained file, offline, without script, readable on a phone and on paper."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from html import escape

from dalenius import __version__
from dalenius.reports.words import common

__all__ = ["alert", "figure", "frame", "heading", "paragraph", "repeat", "shown", "table"]

_STYLE = """
:root { color-scheme: light dark; --ink: #1c2430; --paper: #fff; --panel: #f6f8fa; --soft: #5b6770; --line: #d9dfe5;
  --bad: #b3261e; --good: #1b7a3d; --maybe: #8a5a00; }
@media screen and (prefers-color-scheme: dark) {
  :root { --ink: #e4e8ec; --paper: #14181d; --panel: #1e242b; --soft: #a3adb7; --line: #38414a;
    --bad: #ff8a80; --good: #7fd39a; --maybe: #f0c060; }
  figure > svg, figure .wide svg, figure .scroll svg { background: #fff; border-radius: .3rem; }
}
* { box-sizing: border-box; }
body { font: 16px/1.55 system-ui, "Segoe UI", Helvetica, Arial, sans-serif; color: var(--ink); margin: 0;
  background: var(--paper); }
main { max-width: 46rem; margin: 0 auto; padding: 1.5rem 1rem 4rem; }
h1 { font-size: 1.7rem; line-height: 1.2; margin: 0 0 .3rem; overflow-wrap: anywhere; }
h2 { font-size: 1.2rem; margin: 2.2rem 0 .5rem; border-bottom: 1px solid var(--line); padding-bottom: .2rem; }
p { margin: .5rem 0; }
.soft, small, caption { color: var(--soft); }
.verdict, .warning { border-left: .4rem solid var(--soft); padding: .7rem 1rem; margin: 1rem 0; font-size: 1.1rem;
  background: var(--panel); }
.verdict p { font-size: 1rem; } .verdict p:first-child { margin-top: 0; } .verdict p:last-child { margin-bottom: 0; }
.verdict.violated, .warning { border-color: var(--bad); } .verdict.passed { border-color: var(--good); }
.verdict.incomplete { border-color: var(--maybe); }
.scroll { overflow-x: auto; }
table { border-collapse: collapse; width: 100%; margin: .6rem 0; font-size: .93rem; }
th, td { text-align: left; padding: .35rem .6rem .35rem 0; border-bottom: 1px solid var(--line); vertical-align: top; }
td.number, th.number { text-align: right; font-variant-numeric: tabular-nums; white-space: nowrap; }
.violated { color: var(--bad); font-weight: 600; } .passed { color: var(--good); } .untested { color: var(--maybe); }
div.verdict, div.warning { color: var(--ink); font-weight: 400; }
td:first-child code { white-space: nowrap; }
.wide svg { max-width: none; }
ul.legend { list-style: none; padding: 0; font-size: .93rem; }
figure { margin: 1rem 0; } figure > svg { max-width: 100%; height: auto; }
figcaption { color: var(--soft); font-size: .9rem; }
code { font-size: .88em; overflow-wrap: anywhere; }
@media (max-width: 600px) { td:first-child code { white-space: normal; } td:last-child:not(.number) { min-width: 7.5rem; } }
@media print { body { font-size: 10.5pt; } main { max-width: none; padding: 0; } h2 { break-after: avoid; }
  figure, table, .verdict, .warning { break-inside: avoid; } }
"""


def frame(title: str, body: str, *, style: str = "") -> str:
    """Return a whole page around a body; `style` is what this page alone needs."""
    return (
        '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>{escape(title)}</title>\n<style>{_STYLE}{style}</style>\n</head>\n"
        f"<body>\n<main>\n{body}\n</main>\n</body>\n</html>\n"
    )


def heading(text: str) -> str:
    """Return the heading of a section."""
    return f"<h2>{escape(text)}</h2>\n"


def paragraph(text: str, *, soft: bool = False) -> str:
    """Return a paragraph of HTML; a soft one explains."""
    return f'<p class="soft">{text}</p>\n' if soft else f"<p>{text}</p>\n"


def alert(text: str, outcome: str, *, kind: str = "verdict") -> str:
    """Return a box of HTML that stands out, in the colour of its outcome."""
    return f'<div class="{kind} {outcome}">{text}</div>'


def figure(svg: str, caption: str) -> str:
    """Return a chart with its caption, both HTML already."""
    return f"<figure>{svg}<figcaption>{caption}</figcaption></figure>"


def shown(value: object) -> str:
    """Return a detail of the run as a reader sees it."""
    return " ".join(map(str, value)) if isinstance(value, list | tuple) else str(value)


def repeat(*details: Mapping[str, object]) -> str:
    """Return the section that says how to repeat a run."""
    rows = [[common.PROGRAM, f"<code>{__version__}</code>"]]
    rows += [
        [escape(str(key)), f"<code>{escape(shown(value))}</code>"] for some in details for key, value in some.items()
    ]
    return heading(common.REPEAT) + table(common.REPEAT_COLUMNS, rows)


def table(header: Iterable[str], rows: Iterable[Iterable[str]], *, numeric: Iterable[int] = ()) -> str:
    """Return a table of cells that are HTML already."""
    right = set(numeric)

    def cells(tag: str, row: Iterable[str]) -> str:
        return "".join(
            f'<{tag} class="number">{cell}</{tag}>' if i in right else f"<{tag}>{cell}</{tag}>"
            for i, cell in enumerate(row)
        )

    body = "\n".join(f"<tr>{cells('td', row)}</tr>" for row in rows)
    return f'<div class="scroll"><table><thead><tr>{cells("th", header)}</tr></thead><tbody>\n{body}\n</tbody></table></div>'
