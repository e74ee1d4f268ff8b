"""A surveyed lattice as terminal text, and as an HTML page: which nodes hold against whom, and what stubbornness costs."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from html import escape
from pathlib import Path
from typing import Any

from dalenius.auditing.surveying import LatticeSurvey
from dalenius.measures import remaining
from dalenius.publishers.survey import Sweep
from dalenius.reports import charts, numbers
from dalenius.reports.frame import figure, frame, heading, paragraph, repeat, table
from dalenius.reports.layout import WIDTH, grid, wrapped
from dalenius.reports.words import lattice as say

__all__ = ["label", "lines", "page"]

MAX_DRAWN_ACROSS = 13  # nodes side by side that can be read
MAX_DRAWN_NODES = 150
MAX_PAGE_NODES = 400
MAX_TERMINAL_NODES = 15
MAX_NAMED_ADVERSARIES = 2  # that the header of the terminal's table has room for


def lines(surveyed: LatticeSurvey) -> list[str]:
    """Return what `dalenius lattice` prints: the nodes to choose from, the smallest loss first."""
    nodes, good, names = surveyed.nodes, surveyed.good, [who.text for who in surveyed.adversaries]
    text = wrapped(say.head(surveyed.name, len(nodes), len(good) if surveyed.criteria else None), indent=0, hanging=2)
    if surveyed.not_looked_at:
        text += wrapped(say.too_large(surveyed.not_looked_at, surveyed.most_cells))
    if names and not surveyed.criteria:
        text += wrapped(say.hopeless(surveyed.hopeless, others=bool(good)))
    if good:
        text += ["", *_table(good, names), *wrapped(say.levels(", ".join(good[0]["levels"])))]
    if len(good) > MAX_TERMINAL_NODES:
        text += wrapped(say.more(len(good) - MAX_TERMINAL_NODES))
    if surveyed.best_left:
        text += ["", *remaining.wrapped(f"  {say.BEST}", surveyed.best_left, indent=4, width=WIDTH)]
    return text


def _table(nodes: Sequence[Mapping[str, Any]], names: Sequence[str]) -> list[str]:
    """Return a row for each node; adversaries get numbers if their names need too much room."""
    is_named = len(names) <= MAX_NAMED_ADVERSARIES
    heads = names if is_named else [say.epsilon(i + 1) for i in range(len(names))]
    rows = [_row(node, names) for node in nodes[:MAX_TERMINAL_NODES]]
    text = grid([*say.COLUMNS, *heads], rows, right=range(1, len(say.COLUMNS) + len(names)))
    legend = [] if is_named else [line for i, name in enumerate(names, 1) for line in wrapped(say.epsilon_of(i, name))]
    return [*text, *legend]


def _row(node: Mapping[str, Any], names: Sequence[str]) -> list[str]:
    return [
        label(node["levels"]),
        f"{node['loss']:.4f}",
        f"{node['classes']:,}",
        f"{node['suppressed']:,}",
        f"{node['k_anonymity']['k']:,}",
        str(node["distinct_l_diversity"]["l"]),
        f"{node['t_closeness']['equal']:.4f}",
        *(numbers.level(node["epsilon"][name]) for name in names),
    ]


def label(levels: Mapping[str, int]) -> str:
    """Return a node as its levels in the order of the columns."""
    return ",".join(map(str, levels.values()))


def page(surveyed: LatticeSurvey, run: Mapping[str, Any]) -> str:
    """Return the whole page of a lattice that was surveyed with `sweep_epsilon`."""
    nodes, sweep, epsilon = surveyed.nodes, surveyed.sweep, surveyed.sweep_epsilon
    if sweep is None or epsilon is None:
        raise ValueError(say.NEEDS_SWEEP)
    title = say.title(Path(surveyed.name).name)
    adversaries = list(nodes[0].get("epsilon", {}))
    holds = {
        say.condition(f"{epsilon:g}", text): [_is_private(node, text, epsilon) for node in nodes]
        for text in adversaries
    }
    if "satisfies" in nodes[0]:
        holds[say.CRITERIA] = [node["satisfies"] for node in nodes]
    body = [
        f"<h1>{escape(title)}</h1>",
        paragraph(escape(say.about(", ".join(nodes[0]["levels"]), len(nodes))), soft=True),
        _about(surveyed.about),
        _picture(nodes, holds),
        _sweep(sweep, epsilon, surveyed.suppression),
        _list(nodes, adversaries, epsilon),
        repeat(run),
    ]
    return frame(title, "\n".join(body))


def _is_private(node: Mapping[str, Any], adversary: str, epsilon: float) -> bool:
    return bool(node["epsilon"][adversary] <= epsilon * (1 + 1e-9))


def _about(about: Mapping[str, Any]) -> str:
    """Return what the adversaries know, and what they must not learn."""
    adversaries = about["adversaries"].items()
    text = [say.knows(name, who["known"]) for name, who in adversaries if who["known"]]
    text += [say.at_most(name) for name, who in adversaries if who["at_most"]]
    text += [say.secrets("; ".join(about["predicates"]))] if about["predicates"] else []
    return paragraph(escape(" ".join(text))) if text else ""


def _picture(nodes: Sequence[dict[str, Any]], holds: Mapping[str, Sequence[bool]]) -> str:
    """Return the lattice as a picture, if it is small enough, with a legend."""
    text = heading(say.WHICH)
    if not holds:
        return text + paragraph(say.NO_ADVERSARY)
    counts = [say.satisfied(condition, sum(which), len(nodes)) for condition, which in holds.items()]
    levels = [tuple(node["levels"].values()) for node in nodes]
    satisfying = [i for i in range(len(nodes)) if any(which[i] for which in holds.values())]
    drawn, caption = _drawn(levels, satisfying)
    if not drawn or len(drawn) > MAX_DRAWN_NODES:
        reason = say.too_many(len(drawn)) if drawn else say.NONE_SATISFIES
        return text + paragraph(escape(say.no_picture("; ".join(counts), reason)))
    picture = charts.lattice_picture(
        [levels[i] for i in drawn], {condition: [which[i] for i in drawn] for condition, which in holds.items()}
    )
    legend = "".join(
        f'<li><span style="color: {charts.COLOURS[i % len(charts.COLOURS)]}">●</span> {escape(count)}</li>'
        for i, count in enumerate(counts)
    )
    wide = f'<div class="scroll wide">{picture}</div>'
    return text + f'<ul class="legend">{legend}</ul>' + figure(wide, caption)


def _drawn(levels: Sequence[tuple[int, ...]], satisfying: Sequence[int]) -> tuple[list[int], str]:
    """Return which nodes to draw, and the caption: all, or those that satisfy something and what is one step finer."""
    heights = Counter(sum(node) for node in levels)
    if max(heights.values()) <= MAX_DRAWN_ACROSS and len(levels) <= MAX_DRAWN_NODES:
        return list(range(len(levels))), say.CAPTION
    position = {node: i for i, node in enumerate(levels)}
    finer = {
        position[(*levels[i][:a], levels[i][a] - 1, *levels[i][a + 1 :])]
        for i in satisfying
        for a in range(len(levels[i]))
        if levels[i][a]
    }
    both = sorted(set(satisfying) | finer)
    if len(both) <= MAX_DRAWN_NODES:
        return both, say.CAPTION + say.NEXT_ONLY
    return list(satisfying), say.CAPTION + say.NOT_DRAWN


def _sweep(sweep: Sweep, epsilon: float, suppression: float) -> str:
    """Return how ε and costs depend on stubbornness."""
    node = ", ".join(f"{escape(name)} {level}" for name, level in sweep.node.items())
    discernibility, sizes = sweep.cost["discernibility"], sweep.cost["average_class_size"]
    return "\n".join(
        [
            heading(say.STUBBORNNESS),
            paragraph(say.STUBBORNNESS_TEXT + (say.NOT_SUPPRESSED if suppression else "")),
            figure(
                charts.against_sigma(sweep.sigmas, sweep.epsilon, say.SMALLEST_EPSILON, log=True),
                say.epsilon_caption(node),
            ),
            figure(
                charts.against_sigma(sweep.sigmas, discernibility, say.LEAST_DISCERNIBILITY),
                say.discernibility_caption(f"{epsilon:g}"),
            ),
            figure(
                charts.against_sigma(sweep.sigmas, sizes, say.LEAST_CLASS_SIZE),
                say.class_size_caption(f"{epsilon:g}"),
            ),
        ]
    )


def _list(nodes: Sequence[dict[str, Any]], adversaries: Sequence[str], epsilon: float) -> str:
    """Return the nodes by loss, with ε in bold if it holds; those that hold against nobody come last."""

    def is_hopeless(node: dict[str, Any]) -> bool:
        return bool(adversaries) and min(node["epsilon"].values()) == float("inf")

    ordered = sorted(nodes, key=lambda node: (is_hopeless(node), node["loss"]))
    rows = []
    for node in ordered[:MAX_PAGE_NODES]:
        cells = [f"<code>{label(node['levels'])}</code>", f"{node['loss']:.4f}", f"{node['classes']:,}"]
        cells.append(f"{node['k_anonymity']['k']:,}")
        for text in adversaries:
            value = numbers.number(node["epsilon"][text])
            cells.append(f"<strong>{value}</strong>" if _is_private(node, text, epsilon) else value)
        rows.append(cells)
    header = [*say.NODE_COLUMNS, *(escape(say.against(text)) for text in adversaries)]
    bold = say.bold(f"{epsilon:g}") if adversaries else ""
    more = paragraph(say.more_in_json(len(nodes) - MAX_PAGE_NODES)) if len(nodes) > MAX_PAGE_NODES else ""
    return (
        heading(say.NODES)
        + paragraph(say.NODES_TEXT + bold, soft=True)
        + table(header, rows, numeric=range(1, len(header)))
        + more
    )
