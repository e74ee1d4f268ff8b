"""The papers' tables and figures beside ours, as one HTML page."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from html import escape
from typing import Any

from dalenius.reports import numbers
from dalenius.reports.exhibits import Compared, Erratum, Exhibit, Paper
from dalenius.reports.frame import alert, figure, frame, paragraph, repeat, table
from dalenius.reports.words import reproduce as say

__all__ = ["anchor", "document", "left_out_lines", "lines", "own_names", "page", "value"]

MAX_NARROW = 440  # width of a chart of which two fit side by side
STYLE = """
main { max-width: 58rem; }
h2 { font-size: 1.4rem; margin-top: 3.5rem; } h3 { font-size: 1.08rem; margin: 2.2rem 0 .4rem; }
h4 { font-size: .95rem; margin: 1.2rem 0 .2rem; color: var(--soft); font-weight: 600; }
nav ul { padding-left: 1.2rem; margin: .2rem 0 .7rem; } nav .few li { display: inline; }
nav .few li + li::before { content: " · "; } nav .few { padding: 0; font-size: .93rem; }
.charts { display: grid; grid-template-columns: repeat(auto-fit, minmax(min(26rem, 100%), 1fr)); gap: 0 1.5rem; }
.compared table { table-layout: fixed; } .compared td { overflow-wrap: break-word; }
.compared th:nth-child(1) { width: 27%; } .compared th:nth-child(2), .compared th:nth-child(3) { width: 18%; }
.compared td:nth-child(3) { font-weight: 600; } .compared td:nth-child(4) { color: var(--soft); }
th.number { white-space: normal; }
.long.noted td:last-child { min-width: 15rem; } .long.named td:first-child { white-space: nowrap; }
@media (max-width: 600px) {
  .compared thead { display: none; } .compared table, .compared tbody, .compared tr, .compared td { display: block; }
  .compared tr { border-bottom: 1px solid var(--line); padding: .35rem 0; } .compared td { border: 0; padding: .05rem 0; }
  .compared td:nth-child(2)::before { content: var(--printed); } .compared td:nth-child(3)::before { content: var(--ours); }
  .compared td:empty { display: none; }
}
.erratum { border-left: .25rem solid var(--line); padding: .1rem 0 .1rem .9rem; margin: 1rem 0; }
.erratum p { margin: .15rem 0; } .erratum code { color: var(--soft); }
.long { font-size: .85rem; }
"""


def page(
    papers: Sequence[Paper],
    errata: Mapping[str, Sequence[Erratum]],
    titles: Mapping[str, str],
    left_out: Mapping[str, str],
    run: Mapping[str, Any],
    *,
    not_made: Mapping[str, Sequence[str]] | None = None,
    quick: bool = False,
) -> str:
    """Return the whole page.

    `left_out` has a sentence for each paper that could not be built, or not completely (`not_made` names the missing exhibits);
    `run` holds what differs between runs.
    """
    body = [
        f"<h1>{say.TITLE}</h1>",
        paragraph(say.ABOUT, soft=True),
        alert(say.QUICK, "incomplete") if quick else "",
        _left_out(left_out, not_made or {}, titles),
        _contents(papers, titles),
        *(_paper(paper, titles[paper.key], errata.get(paper.key, ())) for paper in papers),
        _repeat(run),
    ]
    cells = f':root {{ --printed: "{say.PRINTED_CELL}"; --ours: "{say.OURS_CELL}"; }}\n'
    return frame(say.TITLE, "\n".join(part for part in body if part), style=STYLE + cells)


def anchor(*parts: str) -> str:
    """Return the place of something on the page."""
    return "-".join(re.sub(r"[^a-z0-9]+", "-", part.lower()).strip("-") for part in parts)


def _left_out(left_out: Mapping[str, str], not_made: Mapping[str, Sequence[str]], titles: Mapping[str, str]) -> str:
    text = []
    for key, reason in left_out.items():
        missing = ", ".join(not_made.get(key, ()))
        sentence = say.left_out_of(titles[key], missing, reason) if missing else say.left_out(titles[key], reason)
        text.append(alert(escape(sentence), "incomplete"))
    return "".join(text)


def _contents(papers: Sequence[Paper], titles: Mapping[str, str]) -> str:
    items = []
    for paper in papers:
        names = "".join(
            f'<li><a href="#{anchor(paper.key, exhibit.name)}">{escape(exhibit.name)}</a></li>'
            for exhibit in paper.exhibits
        )
        errata = f'<li><a href="#{anchor(paper.key, "errata")}">{say.ERRATA_LINK}</a></li>'
        items.append(
            f'<li><a href="#{anchor(paper.key)}">{escape(titles[paper.key])}</a>'
            f"<ul class='few'>{names}{errata}</ul></li>"
        )
    return f"<nav><ul>{''.join(items)}</ul></nav>"


def _paper(paper: Paper, title: str, errata: Sequence[Erratum]) -> str:
    return "\n".join(
        [
            f'<h2 id="{anchor(paper.key)}">{escape(title)}</h2>',
            paragraph(f"{escape(paper.citation)}. {_extent(paper)}.", soft=True),
            f"<p>{escape(paper.data)}</p>" if paper.data else "",
            *(_exhibit(paper.key, exhibit) for exhibit in paper.exhibits),
            _errata(paper.key, errata),
        ]
    )


def _extent(paper: Paper) -> str:
    """Return how many exhibits and numbers a paper has."""
    return say.extent(len(paper.exhibits), sum(len(exhibit.compared) for exhibit in paper.exhibits))


def _exhibit(key: str, exhibit: Exhibit) -> str:
    place = anchor(key, exhibit.name)
    parts = [f'<h3 id="{place}">{escape(exhibit.name)}. {escape(exhibit.title)}</h3>']
    if exhibit.text:
        parts.append(f"<p>{escape(exhibit.text)}</p>")
    if exhibit.rows:
        parts.append(_table(exhibit))
    if exhibit.charts:
        parts.append(
            _charts([(own_names(chart(), f"{place}-{i}"), text) for i, (chart, text) in enumerate(exhibit.charts)])
        )
    if exhibit.legend:
        items = "".join(
            f'<li><span style="color: {escape(colour)}">●</span> {escape(name)}</li>' for colour, name in exhibit.legend
        )
        parts.append(f'<ul class="legend">{items}</ul>')
    if exhibit.compared:
        parts.append(_compared(exhibit.compared))
    return "\n".join(parts)


def _charts(drawn: Sequence[tuple[str, str]]) -> str:
    """Return charts, two side by side if they are narrow enough; a wide one scrolls on a narrow screen."""
    widths = [float(match[1]) for svg, _ in drawn if (match := re.match(r'<svg[^>]*?\bwidth="([\d.]+)', svg))]
    figures = [figure(svg, escape(caption)) for svg, caption in drawn]
    if len(figures) > 1 and max(widths, default=0) <= MAX_NARROW:
        return f"<div class='charts'>{''.join(figures)}</div>"
    return "".join(f"<div class='wide scroll'>{chart}</div>" for chart in figures)


def own_names(svg: str, prefix: str) -> str:
    """Return a drawing whose names differ from those of any other: on one page, equal names refer to the first."""
    for name in set(re.findall(r'\bid="([^"]+)"', svg)):
        svg = svg.replace(f'id="{name}"', f'id="{prefix}-{name}"').replace(f"#{name})", f"#{prefix}-{name})")
        svg = svg.replace(f'href="#{name}"', f'href="#{prefix}-{name}"')
    return svg


def _table(exhibit: Exhibit) -> str:
    rows = [[escape(cell) for cell in row] for row in exhibit.rows]
    right = [i for i in range(1, len(exhibit.header)) if all(_is_number(row[i]) for row in exhibit.rows)]
    html = table([escape(head) for head in exhibit.header], rows, numeric=right)
    last, first = (max(len(row[i]) for row in exhibit.rows) for i in (-1, 0))
    kinds = ["long", *(["noted"] if last > 30 else []), *(["named"] if first <= 24 else [])]
    return f"<div class='{' '.join(kinds)}'>{html}</div>"


def _is_number(text: str) -> bool:
    return len(text) < 24 and bool(re.fullmatch(r"[-−]?[\d.,]+( ?%)?( [±–(].*)?|∞|–|infinite", text))


def _compared(comparisons: Sequence[Compared]) -> str:
    rows = [
        [escape(number.what), escape(number.printed), escape(value(number)), escape(number.note)]
        for number in comparisons
    ]
    return f"<div class='compared'>{table(say.COLUMNS, rows)}</div>"


def value(number: Compared) -> str:
    """Return our number as the page shows it: in per cent if the print is."""
    if isinstance(number.ours, str):
        return number.ours
    if "%" in number.printed:
        return f"{100 * number.ours:.1f} %" if 0 <= number.ours <= 1 else f"{number.ours:.1f} %"
    return numbers.number(float(number.ours))


def _errata(key: str, errata: Sequence[Erratum]) -> str:
    if not errata:
        return ""
    return f'<h3 id="{anchor(key, "errata")}">{say.ERRATA}</h3>' + "".join(map(_erratum, errata))


def _erratum(erratum: Erratum) -> str:
    correct = say.correct(f"<strong>{escape(erratum.right)}</strong>")
    return (
        f"<div class='erratum'><p><strong>{escape(erratum.where)}</strong></p>"
        f"<p>{say.printed(escape(erratum.printed))}</p><p>{correct}</p>"
        f"<p>{escape(erratum.why)}</p><p><code>{escape(erratum.shown_by)}</code></p></div>"
    )


def _repeat(run: Mapping[str, Any]) -> str:
    """Return how to repeat the run, and how long each paper took."""
    times = {say.seconds(key): f"{seconds:.1f}" for key, seconds in run.get("papers", {}).items()}
    return repeat({key: item for key, item in run.items() if key != "papers"}, times)


def lines(papers: Sequence[Paper], errata: Mapping[str, Sequence[Erratum]]) -> list[str]:
    """Return what `dalenius reproduce` prints: one line for each paper."""
    return [f"  {paper.key:<12} {say.with_errata(_extent(paper), len(errata[paper.key]))}" for paper in papers]


def left_out_lines(left_out: Mapping[str, str], not_made: Mapping[str, Sequence[str]]) -> list[str]:
    """Return what was left out and why: one line for each paper."""
    return [say.left_out_line(key, ", ".join(not_made.get(key, ())), reason) for key, reason in left_out.items()]


def document(
    papers: Sequence[Paper],
    errata: Mapping[str, Sequence[Erratum]],
    left_out: Mapping[str, str],
    *,
    not_made: Mapping[str, Sequence[str]] | None = None,
    quick: bool,
) -> dict[str, Any]:
    """Return the same as plain data."""
    return {
        "quick": quick,
        "papers": {
            paper.key: {
                "citation": paper.citation,
                "data": paper.data,
                "exhibits": [_plain(exhibit) for exhibit in paper.exhibits],
                "errata": [
                    {name: getattr(erratum, name) for name in ("where", "printed", "right", "why", "shown_by")}
                    for erratum in errata.get(paper.key, ())
                ],
            }
            for paper in papers
        },
        "left_out": dict(left_out),
        "not_made": {key: list(names) for key, names in (not_made or {}).items()},
    }


def _plain(exhibit: Exhibit) -> dict[str, Any]:
    return {
        "name": exhibit.name,
        "title": exhibit.title,
        "text": exhibit.text,
        "header": list(exhibit.header),
        "rows": [list(row) for row in exhibit.rows],
        "charts": [caption for _, caption in exhibit.charts],
        "legend": [name for _, name in exhibit.legend],
        "compared": [
            {"what": number.what, "printed": number.printed, "ours": number.ours, "note": number.note}
            for number in exhibit.compared
        ],
    }
