"""The papers' tables and figures beside ours, as one HTML page."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from html import escape
from typing import Any

from dalenius import __version__
from dalenius.errors import counted
from dalenius.reports import words
from dalenius.reports.exhibits import Compared, Erratum, Exhibit, Paper
from dalenius.reports.frame import figure, frame, shown, table

TITLE = "Five papers, reproduced"
NARROW = 440  # a chart of which two fit beside each other
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
  .compared td:nth-child(2)::before { content: "printed: "; } .compared td:nth-child(3)::before { content: "ours: "; }
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
    """The whole page. `left_out` has a sentence for each paper that could not be built, or not all of it (`not_made` names the
    exhibits that are not there), `run` what differs between runs."""
    body = [
        f"<h1>{TITLE}</h1>",
        "<p class='soft'>Every table and figure with numbers of the papers that Dalenius builds on, made anew: the printed "
        "number, ours, and "
        "why they differ. Then what is wrong in print.</p>",
        _quick(quick),
        _left_out(left_out, not_made or {}, titles),
        _contents(papers, titles),
        *(_paper(paper, titles[paper.key], errata.get(paper.key, ())) for paper in papers),
        _repeat(run),
    ]
    return frame(TITLE, "\n".join(part for part in body if part), style=STYLE)


def anchor(*parts: str) -> str:
    """Where on the page something stands."""
    return "-".join(re.sub(r"[^a-z0-9]+", "-", part.lower()).strip("-") for part in parts)


def _quick(quick: bool) -> str:
    if not quick:
        return ""
    return (
        "<div class='verdict incomplete'>Made with --quick: fewer people, parameters and repetitions. Numbers are rougher than "
        "they need be.</div>"
    )


def _left_out(left_out: Mapping[str, str], not_made: Mapping[str, Sequence[str]], titles: Mapping[str, str]) -> str:
    told = []
    for key, reason in left_out.items():
        what = f" of {titles[key]}: {', '.join(not_made[key])}" if key in not_made else f": {titles[key]}"
        told.append(f"<div class='verdict incomplete'>Left out{escape(what)}. {escape(reason)}</div>")
    return "".join(told)


def _contents(papers: Sequence[Paper], titles: Mapping[str, str]) -> str:
    items = []
    for paper in papers:
        names = "".join(
            f'<li><a href="#{anchor(paper.key, exhibit.name)}">{escape(exhibit.name)}</a></li>'
            for exhibit in paper.exhibits
        )
        errata = f'<li><a href="#{anchor(paper.key, "errata")}">errata</a></li>'
        items.append(
            f'<li><a href="#{anchor(paper.key)}">{escape(titles[paper.key])}</a>'
            f"<ul class='few'>{names}{errata}</ul></li>"
        )
    return f"<nav><ul>{''.join(items)}</ul></nav>"


def _paper(paper: Paper, title: str, errata: Sequence[Erratum]) -> str:
    numbers = sum(len(exhibit.compared) for exhibit in paper.exhibits)
    told = f"{counted(len(paper.exhibits), 'exhibit', 'exhibits')}, {counted(numbers, 'number', 'numbers')} compared"
    return "\n".join(
        [
            f'<h2 id="{anchor(paper.key)}">{escape(title)}</h2>',
            f"<p class='soft'>{escape(paper.citation)}. {told}.</p>",
            f"<p>{escape(paper.data)}</p>" if paper.data else "",
            *(_exhibit(paper.key, exhibit) for exhibit in paper.exhibits),
            _errata(paper.key, errata),
        ]
    )


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
            f'<li><span style="color: {escape(colour)}">●</span> {escape(what)}</li>' for colour, what in exhibit.legend
        )
        parts.append(f'<ul class="legend">{items}</ul>')
    if exhibit.compared:
        parts.append(_compared(exhibit.compared))
    return "\n".join(parts)


def _charts(drawn: Sequence[tuple[str, str]]) -> str:
    """Two beside each other where they are narrow enough; a wide one scrolls on a narrow screen, for its words to be read."""
    widths = [float(found[1]) for svg, _ in drawn if (found := re.match(r'<svg[^>]*?\bwidth="([\d.]+)', svg))]
    figures = [figure(svg, escape(caption)) for svg, caption in drawn]
    if len(figures) > 1 and max(widths, default=0) <= NARROW:
        return f"<div class='charts'>{''.join(figures)}</div>"
    return "".join(f"<div class='wide scroll'>{one}</div>" for one in figures)


def own_names(svg: str, prefix: str) -> str:
    """A drawing whose parts are named unlike those of any other: on one page, equal names would be the first one's."""
    for name in set(re.findall(r'\bid="([^"]+)"', svg)):
        svg = svg.replace(f'id="{name}"', f'id="{prefix}-{name}"').replace(f"#{name})", f"#{prefix}-{name})")
        svg = svg.replace(f'href="#{name}"', f'href="#{prefix}-{name}"')
    return svg


def _table(exhibit: Exhibit) -> str:
    rows = [[escape(cell) for cell in row] for row in exhibit.rows]
    right = [i for i in range(1, len(exhibit.header)) if all(_is_number(row[i]) for row in exhibit.rows)]
    made = table([escape(head) for head in exhibit.header], rows, numeric=right)
    last, first = (max(len(row[i]) for row in exhibit.rows) for i in (-1, 0))
    kinds = ["long", *(["noted"] if last > 30 else []), *(["named"] if first <= 24 else [])]
    return f"<div class='{' '.join(kinds)}'>{made}</div>"


def _is_number(text: str) -> bool:
    return len(text) < 24 and bool(re.fullmatch(r"[-−]?[\d.,]+( ?%)?( [±–(].*)?|∞|–|infinite", text))


def _compared(found: Sequence[Compared]) -> str:
    rows = [[escape(one.what), escape(one.printed), escape(value(one)), escape(one.note)] for one in found]
    return f"<div class='compared'>{table(['what', 'printed', 'ours', 'why they differ, and remarks'], rows)}</div>"


def value(one: Compared) -> str:
    """Our number as the page has it: a share in per cent where the print is so."""
    if isinstance(one.ours, str):
        return one.ours
    if "%" in one.printed:
        return f"{100 * one.ours:.1f} %" if 0 <= one.ours <= 1 else f"{one.ours:.1f} %"
    return words.number(float(one.ours))


def _errata(key: str, errata: Sequence[Erratum]) -> str:
    if not errata:
        return ""
    return (
        f'<h3 id="{anchor(key, "errata")}">Errata: where the print is wrong, or says less than it could</h3>'
        + "".join(
            f"<div class='erratum'><p><strong>{escape(one.where)}</strong></p>"
            f"<p>Printed: {escape(one.printed)}</p><p>Right: <strong>{escape(one.right)}</strong></p>"
            f"<p>{escape(one.why)}</p><p><code>{escape(one.shown_by)}</code></p></div>"
            for one in errata
        )
    )


def _repeat(run: Mapping[str, Any]) -> str:
    rows = [["dalenius", __version__], *([str(key), shown(item)] for key, item in run.items() if key != "papers")]
    rows += [[f"{key}, seconds", f"{seconds:.1f}"] for key, seconds in run.get("papers", {}).items()]
    return "<h2>How to repeat this</h2>\n" + table(
        ["what", "value"], [[escape(what), f"<code>{escape(item)}</code>"] for what, item in rows]
    )


def lines(papers: Sequence[Paper], errata: Mapping[str, Sequence[Erratum]]) -> list[str]:
    """What `dalenius reproduce` prints: one line for each paper."""
    return [
        f"  {paper.key:<12} {counted(len(paper.exhibits), 'exhibit', 'exhibits')}, "
        f"{counted(sum(len(exhibit.compared) for exhibit in paper.exhibits), 'number', 'numbers')} compared, "
        f"{counted(len(errata[paper.key]), 'erratum', 'errata')}"
        for paper in papers
    ]


def left_out_lines(left_out: Mapping[str, str], not_made: Mapping[str, Sequence[str]]) -> list[str]:
    """What was left out and why: one line for each paper."""
    text = []
    for key, reason in left_out.items():
        some = f"{', '.join(not_made[key])} of " if key in not_made else ""
        text.append(f"dalenius: left out {some}{key!r}: {reason}")
    return text


def document(
    papers: Sequence[Paper],
    errata: Mapping[str, Sequence[Erratum]],
    left_out: Mapping[str, str],
    *,
    not_made: Mapping[str, Sequence[str]] | None = None,
    quick: bool,
) -> dict[str, Any]:
    """The same as plain data."""
    return {
        "quick": quick,
        "papers": {
            paper.key: {
                "citation": paper.citation,
                "data": paper.data,
                "exhibits": [_plain(exhibit) for exhibit in paper.exhibits],
                "errata": [
                    {name: getattr(one, name) for name in ("where", "printed", "right", "why", "shown_by")}
                    for one in errata.get(paper.key, ())
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
        "legend": [what for _, what in exhibit.legend],
        "compared": [
            {"what": one.what, "printed": one.printed, "ours": one.ours, "note": one.note} for one in exhibit.compared
        ],
    }
