"""The lattice as one HTML page: which nodes hold against which adversary, and what stubbornness costs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from html import escape
from typing import Any

from dalenius import __version__
from dalenius.publish.survey import Sweep
from dalenius.report import charts, words
from dalenius.report.frame import figure, frame, shown, table

DRAWN = 150  # nodes that a picture can show
LISTED = 400


def page(name: str, nodes: Sequence[dict[str, Any]], sweep: Sweep, epsilon: float, run: Mapping[str, Any]) -> str:
    """The whole page. `nodes` is the survey of the lattice."""
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
        f"{len(nodes):,} nodes. A node is written as its levels in that order; 0 is the raw value.</p>",
        _picture(nodes, holds),
        _sweep(sweep, epsilon),
        _list(nodes, adversaries, epsilon),
        "<h2>How to repeat this</h2>",
        table(
            ["what", "value"],
            [["dalenius", __version__]]
            + [[escape(str(key)), f"<code>{escape(shown(value))}</code>"] for key, value in run.items()],
        ),
    ]
    return frame(f"Generalizations of {name}", "\n".join(body))


def label(levels: Mapping[str, int]) -> str:
    return ",".join(map(str, levels.values()))


def _picture(nodes: Sequence[dict[str, Any]], holds: Mapping[str, Sequence[bool]]) -> str:
    text = "<h2>Which nodes satisfy what</h2>"
    if not holds:
        return text + "<p>No adversary was named: add, for example, --adversary I:table:1e6.</p>"
    counts = "; ".join(f"{escape(what)}: {sum(which):,} of {len(nodes):,}" for what, which in holds.items())
    levels = [tuple(node["levels"].values()) for node in nodes]
    chosen = [i for i in range(len(nodes)) if any(which[i] for which in holds.values())]
    if len(nodes) <= DRAWN:
        chosen = list(range(len(nodes)))
    if not chosen or len(chosen) > DRAWN:
        why = "no node satisfies any" if not chosen else f"{len(chosen):,} nodes satisfy some, too many to draw"
        return text + f"<p>{counts}. There is no picture: {why}.</p>"
    picture = charts.lattice_picture(
        [levels[i] for i in chosen], {what: [which[i] for i in chosen] for what, which in holds.items()}
    )
    caption = "A dot for each condition that a node satisfies; lines go from a node to the next more general ones."
    return text + f"<p>{counts}.</p>" + figure(picture, caption)


def _sweep(sweep: Sweep, epsilon: float) -> str:
    node = ", ".join(f"{escape(name)} {level}" for name, level in sweep.node.items())
    return "\n".join(
        [
            "<h2>What stubbornness costs</h2>",
            "<p>An adversary of stubbornness σ has seen σ people elsewhere and gives up its prior the less readily, the more "
            "these are; ∞ never does. <em>I:uniform</em> takes all values for equally likely, <em>I:table</em> takes the "
            "shares of this very table, <em>II</em> may have any prior.</p>",
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
    """The nodes by their loss, with ε in bold where it holds."""
    ordered = sorted(nodes, key=lambda node: node["loss"])
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
    bold = f" ε in bold is at most {epsilon:g}." if adversaries else ""
    return (
        f"<h2>All nodes, the most detailed first</h2><p class='soft'>By loss.{bold}</p>"
        + table(head, rows, numeric=range(1, len(head)))
        + more
    )
