"""A surveyed lattice as terminal text, and as an HTML page: which nodes hold against whom, and what stubbornness costs."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from html import escape
from pathlib import Path
from typing import Any

from dalenius import __version__
from dalenius.auditing.surveying import LatticeSurvey
from dalenius.errors import counted
from dalenius.measures.remaining import wrapped
from dalenius.publishers.survey import Sweep
from dalenius.reports import charts, words
from dalenius.reports.frame import figure, frame, shown, table

ACROSS = 13  # nodes side by side that can be read
DRAWN = 150  # nodes that a picture can show
LISTED = 400
ROWS = 15  # nodes that the terminal lists


def lines(surveyed: LatticeSurvey) -> list[str]:
    """What `dalenius lattice` prints: the nodes to choose from, the least loss first."""
    nodes, good, names = surveyed.nodes, surveyed.good, [who.text for who in surveyed.adversaries]
    satisfy = f", {len(good):,} satisfy the criteria" if surveyed.criteria else ""
    text = [f"{surveyed.name}: {counted(len(nodes), 'node', 'nodes')}{satisfy}"]
    text += _left_out(surveyed.not_looked_at, surveyed.most_cells)
    if names and not surveyed.criteria:
        others = "; the others by their loss:" if good else "."
        text.append(f"  {surveyed.hopeless:,} have an infinite ε against each adversary{others}")
    if good:
        heads = "".join(f" {name:>{_width(name)}}" for name in names)
        text.append(f"\n  {'loss':>8} {'classes':>9} {'suppressed':>10} {'k':>7} {'ℓ':>4} {'t':>7}{heads}  levels")
    text += [_row(node, names) for node in good[:ROWS]]
    if len(good) > ROWS:
        text.append(f"  … and {len(good) - ROWS:,} more, with all their levels, in --json FILE")
    return text + (
        wrapped("\n  The first leaves", surveyed.best_left, indent=4, width=118) if surveyed.best_left else []
    )


def _left_out(nodes: int, most_cells: int) -> list[str]:
    """How many nodes were too large to be looked at."""
    if not nodes:
        return []
    verb, was = ("node has", "was") if nodes == 1 else ("nodes have", "were")
    most = counted(most_cells, "distinct row", "distinct rows")
    return [f"  {nodes:,} more {verb} more than {most} and {was} not looked at (--most-cells)"]


def _row(node: Mapping[str, Any], names: Sequence[str]) -> str:
    levels = ", ".join(f"{name} {level}" for name, level in node["levels"].items())
    private = "".join(f" {_epsilon(node['epsilon'][name]):>{_width(name)}}" for name in names)
    return (
        f"  {node['loss']:8.4f} {node['classes']:9,} {node['suppressed']:10,} {node['k_anonymity']['k']:7,} "
        f"{node['distinct_l_diversity']['l']:4} {node['t_closeness']['equal']:7.4f}{private}  {levels}"
    )


def _width(name: str) -> int:
    return max(len(name), 8)


def _epsilon(value: float) -> str:
    return "infinite" if value == float("inf") else f"{value:,.6g}"


def page(surveyed: LatticeSurvey, run: Mapping[str, Any]) -> str:
    """The whole page of a lattice that was surveyed with `sweep_epsilon`."""
    nodes, sweep, epsilon = surveyed.nodes, surveyed.sweep, surveyed.sweep_epsilon
    if sweep is None or epsilon is None:
        raise ValueError("the page needs a lattice that was surveyed with sweep_epsilon")
    name = Path(surveyed.name).name
    columns = list(nodes[0]["levels"])
    adversaries = list(nodes[0].get("epsilon", {}))
    holds = {
        f"ε ≤ {epsilon:g} against {text}": [node["epsilon"][text] <= epsilon * (1 + 1e-9) for node in nodes]
        for text in adversaries
    }
    if "satisfies" in nodes[0]:
        holds["the criteria"] = [node["satisfies"] for node in nodes]
    body = [
        f"<h1>The generalizations of {escape(name)}</h1>",
        f"<p class='soft'>Every way to publish each of {escape(', '.join(columns))} at one level of its hierarchy: "
        f"{counted(len(nodes), 'node', 'nodes')}. A node is written as its levels in that order; 0 is the raw value.</p>",
        _about(surveyed.about),
        _picture(nodes, holds),
        _sweep(sweep, epsilon, surveyed.suppression),
        _list(nodes, adversaries, epsilon),
        "<h2>How to repeat this</h2>",
        table(
            ["what", "value"],
            [["dalenius", __version__]]
            + [[escape(str(key)), f"<code>{escape(shown(value))}</code>"] for key, value in run.items()],
        ),
    ]
    return frame(f"Generalizations of {name}", "\n".join(body))


def _about(about: Mapping[str, Any]) -> str:
    """What the adversaries know beside their text, and what they must not learn."""
    known = [
        f"{escape(text)} knows {one['known']:,} record{'s' if one['known'] > 1 else ''}"
        for text, one in about["adversaries"].items()
        if one["known"]
    ]
    known += [f"{escape(text)} means that σ or less" for text, one in about["adversaries"].items() if one["at_most"]]
    sets = "; ".join(escape(text) for text in about["predicates"])
    learn = f"What must not be learnt: {sets}." if sets else ""
    words_of = ". ".join(known) + "." if known else ""
    return f"<p>{words_of} {learn}</p>" if words_of or learn else ""


def label(levels: Mapping[str, int]) -> str:
    return ",".join(map(str, levels.values()))


def _picture(nodes: Sequence[dict[str, Any]], holds: Mapping[str, Sequence[bool]]) -> str:
    text = "<h2>Which nodes satisfy what</h2>"
    if not holds:
        return text + "<p>No adversary was named: add, for example, --adversary I:table:1e6.</p>"
    counts = "; ".join(f"{escape(what)}: {sum(which):,} of {len(nodes):,}" for what, which in holds.items())
    levels = [tuple(node["levels"].values()) for node in nodes]
    chosen = [i for i in range(len(nodes)) if any(which[i] for which in holds.values())]
    heights = Counter(sum(node) for node in levels)
    caption = "A dot for each condition that a node satisfies; lines go from a node to the next more general ones."
    if max(heights.values()) <= ACROSS and len(nodes) <= DRAWN:
        chosen = list(range(len(nodes)))
    else:  # those that satisfy something, and what is one step finer
        place = {node: i for i, node in enumerate(levels)}
        finer = {
            place[(*levels[i][:a], levels[i][a] - 1, *levels[i][a + 1 :])]
            for i in chosen
            for a in range(len(levels[i]))
            if levels[i][a]
        }
        caption += " Nodes that satisfy nothing are not drawn."
        if len(set(chosen) | finer) <= DRAWN:
            chosen = sorted(set(chosen) | finer)
            caption = caption.replace("are not drawn", "are drawn only where they are next to one that does")
    if not chosen or len(chosen) > DRAWN:
        why = "no node satisfies any" if not chosen else f"{len(chosen):,} nodes satisfy some, too many to draw"
        return text + f"<p>{counts}. There is no picture: {why}.</p>"
    picture = charts.lattice_picture(
        [levels[i] for i in chosen], {what: [which[i] for i in chosen] for what, which in holds.items()}
    )
    legend = "".join(
        f'<li><span style="color: {charts.COLOURS[i % len(charts.COLOURS)]}">●</span> {escape(what)}: '
        f"{sum(which):,} of {counted(len(nodes), 'node', 'nodes')}</li>"
        for i, (what, which) in enumerate(holds.items())
    )
    wide = f'<div class="scroll wide">{picture}</div>'
    return text + f'<ul class="legend">{legend}</ul>' + figure(wide, caption)


def _sweep(sweep: Sweep, epsilon: float, suppression: float) -> str:
    node = ", ".join(f"{escape(name)} {level}" for name, level in sweep.node.items())
    return "\n".join(
        [
            "<h2>What stubbornness costs</h2>",
            "<p>An adversary of stubbornness σ has seen σ people elsewhere and gives up its prior the less readily, the more "
            "these are; ∞ never does. <em>I:uniform</em> takes all values for equally likely, <em>I:table</em> takes the "
            "shares of this very table, <em>II</em> may have any prior."
            + (" Nothing is suppressed in these charts.</p>" if suppression else "</p>"),
            figure(charts.against_sigma(sweep.sigmas, sweep.epsilon, "smallest ε", log=True), f"ε of the node {node}."),
            figure(
                charts.against_sigma(sweep.sigmas, sweep.cost["discernibility"], "least discernibility"),
                f"The least Σ n(q)² of a node that is {epsilon:g}-private; nothing is drawn where no node is.",
            ),
            figure(
                charts.against_sigma(sweep.sigmas, sweep.cost["average_class_size"], "least average class size"),
                f"The least average class size of a node that is {epsilon:g}-private.",
            ),
        ]
    )


def _list(nodes: Sequence[dict[str, Any]], adversaries: Sequence[str], epsilon: float) -> str:
    """The nodes by their loss, with ε in bold where it holds; first those that hold against somebody at some ε."""

    def hopeless(node: dict[str, Any]) -> bool:
        return bool(adversaries) and min(node["epsilon"].values()) == float("inf")

    ordered = sorted(nodes, key=lambda node: (hopeless(node), node["loss"]))
    rows = []
    for node in ordered[:LISTED]:
        cells = [f"<code>{label(node['levels'])}</code>", f"{node['loss']:.4f}", f"{node['classes']:,}"]
        cells.append(f"{node['k_anonymity']['k']:,}")
        for text in adversaries:
            value = node["epsilon"][text]
            word = words.number(value)
            cells.append(f"<strong>{word}</strong>" if value <= epsilon * (1 + 1e-9) else word)
        rows.append(cells)
    more = f"<p>… and {len(nodes) - LISTED:,} more, in the JSON.</p>" if len(nodes) > LISTED else ""
    head = ["node", "loss", "classes", "k", *(f"ε, {escape(text)}" for text in adversaries)]
    bold = (
        f" ε in bold is at most {epsilon:g}; nodes with infinite ε against everybody come last." if adversaries else ""
    )
    return (
        f"<h2>The nodes, the most detailed first</h2><p class='soft'>By loss.{bold}</p>"
        + table(head, rows, numeric=range(1, len(head)))
        + more
    )
