"""The chart of risk against cost: methods by colour, the front as steps."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import cast

from dalenius.publishers.registry import PUBLISHERS
from dalenius.reports.charts import LETTER, WIDTH, apart, as_data
from dalenius.reports.charts import svg as as_svg
from dalenius.reports.words import charts as say

__all__ = ["Dot", "risk_against_cost", "steps"]

# A method has the colour and the shape of its position in the registry; plug-ins come last and start again.
COLOURS = ("#1f5fa8", "#b3261e", "#1b7a3d", "#8a5a00", "#7570b3", "#0e7c86", "#a3358c", "#4d4d4d")
SHAPES = ("circle", "square", "triangle-up", "diamond", "cross", "triangle-down", "triangle-right", "triangle-left")
HEIGHT = 380
RATIO = 20  # of the largest cost to the smallest, from which the axis is logarithmic


@dataclass(frozen=True, slots=True)
class Dot:
    """A release: risk upwards, cost to the right."""

    method: str
    label: str
    risk: float
    cost: float
    front: bool
    passed: bool


def steps(dots: Sequence[Dot]) -> list[tuple[float, float]]:
    """Return the front as (cost, risk) corners: for each cost, the smallest risk at that cost or less."""
    corners: list[tuple[float, float]] = []
    for cost, risk in sorted({(dot.cost, dot.risk) for dot in dots if dot.front}):
        if corners:
            corners.append((cost, corners[-1][1]))
        corners.append((cost, risk))
    return corners


def risk_against_cost(dots: Sequence[Dot], titles: tuple[str, str], levels: Mapping[str, float]) -> str:
    """Return every release as a mark, those of the front joined and named; `levels` are risks without any release."""
    import altair as alt

    costs = [dot.cost for dot in dots]
    log = min(costs) > 0 and max(costs) / min(costs) >= RATIO
    numbers = {name: i for i, name in enumerate(PUBLISHERS)}
    names = [name for name in PUBLISHERS if any(dot.method == name for dot in dots)]
    room = (max(costs) / min(costs)) ** 0.1 if log else 1.0  # for names at the left
    domain = [min(costs) / room, max(costs) * room]
    scale = alt.Scale(type="log", domain=domain, nice=False) if log else alt.Scale(zero=False, nice=True, padding=45)
    across = say.log_scale(titles[0]) if log else titles[0]
    x = alt.X("cost:Q", title=across, scale=scale, axis=alt.Axis(format="~g", tickCount=5, grid=not log))
    up = alt.Scale(domain=_span([*(dot.risk for dot in dots), *levels.values()]), nice=False)
    below = "datum.label" if min(dot.risk for dot in dots) < 0 else "datum.value < 0 ? '' : datum.label"
    y = alt.Y("risk:Q", title=titles[1], scale=up, axis=alt.Axis(format="~%", labelExpr=below))
    legend = alt.Legend(orient="top", columns=3, labelLimit=0, columnPadding=30, symbolStrokeWidth=2)
    colours = alt.Scale(domain=names, range=[COLOURS[numbers[name] % len(COLOURS)] for name in names])
    shapes = alt.Scale(domain=names, range=[SHAPES[numbers[name] % len(SHAPES)] for name in names])
    color = alt.Color("method:N", title=None, scale=colours, legend=legend)
    shape = alt.Shape("method:N", title=None, scale=shapes, legend=legend)
    rows = [
        {"method": d.method, "label": d.label, "risk": d.risk, "cost": d.cost, "front": d.front, "passed": d.passed}
        for d in dots
    ]
    base = alt.Chart(as_data(rows)).encode(x=x, y=y, color=color)
    corners = [{"order": i, "cost": cost, "risk": risk} for i, (cost, risk) in enumerate(steps(dots))]
    line = alt.Chart(as_data(corners)).mark_line(color="#9aa4ad", strokeWidth=2).encode(x=x, y=y, order="order:Q")
    rules = alt.Chart(as_data([{"risk": value} for value in levels.values()]))
    texts = alt.Chart(as_data([{"risk": value, "label": name} for name, value in levels.items()]))
    level_names = texts.mark_text(align="right", dy=-6, fontSize=10, color="#5b6770")
    layered = alt.layer(
        line,
        *([rules.mark_rule(color="#9aa4ad", strokeDash=[4, 4]).encode(y=y)] if levels else []),
        *([level_names.encode(y=y, x=alt.value(WIDTH - 80), text="label:N")] if levels else []),
        base.transform_filter("datum.passed").mark_point(filled=True, size=70, opacity=1).encode(shape=shape),
        base.transform_filter("!datum.passed").mark_point(filled=False, size=60, strokeWidth=1.5).encode(shape=shape),
        # Names go below and left of the front, where there are no marks.
        alt.Chart(as_data(_apart(_names(dots), domain, up.domain, log=log)))
        .mark_text(align="right", dx=-6, dy=8, fontSize=10)
        .encode(x=x, y=y, color=color, text="label:N"),
    )
    return as_svg(layered.properties(width=WIDTH - 80, height=HEIGHT))


def _span(values: Sequence[float]) -> list[float]:
    """Return a range from a little below the least, where names have room, to a little above the most."""
    low, high = min(values), max(values)
    room = 0.08 * (high - low) or 0.05
    return [low - room, high + room / 2]


def _names(dots: Sequence[Dot]) -> list[dict[str, object]]:
    """Return the names of the front; those at one point together, in the colour of the first."""
    points: dict[tuple[float, float], list[Dot]] = {}
    for dot in dots:
        if dot.front:
            points.setdefault((dot.cost, dot.risk), []).append(dot)
    return [
        {
            "cost": cost,
            "risk": risk,
            "method": here[0].method,
            "label": here[0].label + (f" +{len(here) - 1}" if len(here) > 1 else ""),
        }
        for (cost, risk), here in points.items()
    ]


def _apart(
    names: list[dict[str, object]], across: Sequence[float], up: Sequence[float], *, log: bool
) -> list[dict[str, object]]:
    """Return the names that do not overlap; the others are in the table below the chart."""

    def place(value: float, ends: Sequence[float], length: float) -> float:
        if ends is across and not log:
            length *= 0.75  # the axis is rounded and padded, so it is wider than its values
        low, high, here = (math.log(x) if log and ends is across else x for x in (*ends, value))
        return length * (here - low) / (high - low or 1)

    names = sorted(names, key=lambda name: cast("float", name["cost"]))
    boxes = []
    for name in names:
        right = place(cast("float", name["cost"]), across, WIDTH - 80)
        y = place(cast("float", name["risk"]), up, HEIGHT)
        boxes.append((right - LETTER * len(str(name["label"])), right, y))
    return [name for name, fits in zip(names, apart(boxes), strict=True) if fits]
