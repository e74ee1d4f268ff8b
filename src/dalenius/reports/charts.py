"""Charts as SVG: no script, no network, and they print."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from dalenius.arrays import Floats
from dalenius.reports.words import charts as say

__all__ = [
    "COLOURS",
    "LETTER",
    "WIDTH",
    "Curve",
    "against_sigma",
    "apart",
    "as_data",
    "bands",
    "beliefs_against",
    "error_against_epsilon",
    "histogram",
    "lattice_picture",
    "risk_against_epsilon",
    "risk_against_utility",
    "svg",
    "trade_off",
]

WIDTH = 560
LETTER, LINE = 5.6, 12  # approximate width and height of a character, in points
STEPS = 50  # squares per side of a chart of two beliefs
COLOURS = ("#1b9e77", "#d95f02", "#7570b3", "#e7298a", "#66a61e", "#e6ab02", "#a6761d", "#666666")


def lattice_picture(levels: Sequence[tuple[int, ...]], holds: Mapping[str, Sequence[bool]]) -> str:
    """Return the nodes in rows, the most general on top; a dot below a node for each condition that it satisfies."""
    import altair as alt

    rows: dict[int, list[int]] = {}
    for i, node in enumerate(levels):
        rows.setdefault(sum(node), []).append(i)
    place = {}
    for height, members in rows.items():
        members.sort(key=lambda i: levels[i], reverse=True)
        for j, i in enumerate(members):
            place[levels[i]] = (j - (len(members) - 1) / 2, height)
    edges = []
    for node, (x, y) in place.items():
        for a in range(len(node)):
            above = (*node[:a], node[a] + 1, *node[a + 1 :])
            if above in place:
                edges.append({"x": x, "y": y, "x2": place[above][0], "y2": place[above][1]})
    names = [{"x": x, "y": y, "node": ",".join(map(str, node))} for node, (x, y) in place.items()]
    dots = []
    for c, (condition, satisfied) in enumerate(holds.items()):
        for node, is_satisfied in zip(levels, satisfied, strict=True):
            if is_satisfied:
                x, y = place[node]
                dots.append({"x": x + 0.13 * (c - (len(holds) - 1) / 2), "y": y - 0.26, "satisfies": condition})
    widest, heights = max(map(len, rows.values())), len(rows)
    across = alt.X("x:Q", axis=None, scale=alt.Scale(domain=[-widest / 2 - 0.2, widest / 2 + 0.2]))
    low, high = min(rows), max(rows)
    up = alt.Y("y:Q", axis=None, scale=alt.Scale(domain=[low - 0.5, high + 0.4]))
    lines = alt.Chart(as_data(edges)).mark_rule(color="#d9dfe5").encode(x=across, y=up, x2="x2:Q", y2="y2:Q")
    size = 11 if widest <= 11 else 9 if widest <= 15 else 7
    backs = (
        alt.Chart(as_data(names)).mark_rect(color="#fff", width=6.2 * size / 2, height=size + 2).encode(x=across, y=up)
    )
    labels = alt.Chart(as_data(names)).mark_text(fontSize=size, color="#1c2430").encode(x=across, y=up, text="node:N")
    circles = (
        alt.Chart(as_data(dots))
        .mark_circle(size=26 if widest <= 11 else 16, opacity=1)
        .encode(
            x=across,
            y=up,
            color=alt.Color(
                "satisfies:N",
                title=None,
                sort=list(holds),
                scale=alt.Scale(domain=list(holds), range=[COLOURS[i % len(COLOURS)] for i in range(len(holds))]),
                legend=None,  # the page has it as text
            ),
        )
    )
    chart = alt.layer(lines, backs, labels, circles).properties(width=max(WIDTH, 48 * widest), height=46 * heights + 30)
    return svg(chart)


def against_sigma(
    sigmas: Sequence[float], lines: Mapping[str, Sequence[float]], title: str, *, log: bool = False
) -> str:
    """Return a figure against stubbornness; infinite and undefined values are left out. ∞ is one step to the right."""
    import altair as alt

    labels = ["∞" if math.isinf(sigma) else f"{sigma:.0e}".replace("e+0", "e") for sigma in sigmas]
    rows = [
        {"sigma": labels[i], "order": i, "value": value, "adversary": name}
        for name, values in lines.items()
        for i, value in enumerate(values)
        if math.isfinite(value)
    ]
    names = list(lines)
    encoded = {
        "x": alt.X("sigma:N", title=say.STUBBORNNESS, sort=labels, scale=alt.Scale(domain=labels)),
        "y": alt.Y(
            "value:Q",
            title=title,
            scale=alt.Scale(type="log" if log else "linear", zero=False, nice=True),
            axis=alt.Axis(format="~s", tickCount=5),
        ),
        "color": alt.Color(
            "adversary:N", title=None, scale=alt.Scale(domain=names, range=["#1f5fa8", "#1b7a3d", "#b3261e"])
        ),
    }
    base = alt.Chart(as_data(rows))
    chart = alt.layer(
        base.mark_line(strokeWidth=2).encode(**encoded, order="order:Q"),
        base.mark_point(filled=True, size=45).encode(
            **encoded, shape=alt.Shape("adversary:N", scale=alt.Scale(domain=names))
        ),
    ).properties(width=WIDTH - 160, height=220)
    return svg(chart)


def beliefs_against(across: Floats, up: Floats, titles: tuple[str, str]) -> str:
    """Return one belief in each person's own value against another, in squares of 1/50; dark red where the second is larger.

    Squares instead of a dot for each person: thousands of dots hide each other and make the page heavy.
    """
    import altair as alt

    places, people = np.unique(
        np.minimum(np.floor(np.stack([across, up], axis=1) * STEPS), STEPS - 1).astype(int), axis=0, return_counts=True
    )
    rows = [
        {"x": x / STEPS, "x2": (x + 1) / STEPS, "y": y / STEPS, "y2": (y + 1) / STEPS, "people": n, "more": y > x}
        for (x, y), n in zip(places.tolist(), people.tolist(), strict=True)
    ]
    scale = alt.Scale(domain=[0, 1])
    squares = (
        alt.Chart(as_data(rows))
        .mark_rect()
        .encode(
            x=alt.X("x:Q", title=titles[0], scale=scale),
            x2="x2:Q",
            y=alt.Y("y:Q", title=titles[1], scale=scale),
            y2="y2:Q",
            color=alt.Color("more:N", legend=None, scale=alt.Scale(domain=[False, True], range=["#5b6770", "#8b0000"])),
            opacity=alt.Opacity("people:Q", title=say.PEOPLE, scale=alt.Scale(type="log", range=[0.35, 1])),
        )
    )
    diagonal = (
        alt.Chart(as_data([{"x": 0, "y": 0}, {"x": 1, "y": 1}]))
        .mark_line(color="#9aa4ad", strokeDash=[4, 4])
        .encode(x="x:Q", y="y:Q")
    )
    return svg(alt.layer(squares, diagonal).properties(width=220, height=220))


def histogram(edges: Sequence[float], counts: Sequence[int], titles: tuple[str, str]) -> str:
    """Return bars between edges; those at 0 and above, where something is gained, in dark red."""
    import altair as alt

    rows = [
        {"low": low, "high": high, "people": n, "more": low >= 0}
        for low, high, n in zip(edges, edges[1:], counts, strict=False)
        if n
    ]
    chart = (
        alt.Chart(as_data(rows))
        .mark_bar()
        .encode(
            x=alt.X("low:Q", title=titles[0], bin="binned"),
            x2="high:Q",
            y=alt.Y("people:Q", title=titles[1]),
            color=alt.Color("more:N", legend=None, scale=alt.Scale(domain=[False, True], range=["#5b6770", "#8b0000"])),
        )
        .properties(width=280, height=200)
    )
    return svg(chart)


@dataclass(frozen=True, slots=True)
class Curve:
    """A curve with its range at each point: (x, least, mean, most)."""

    name: str
    points: Sequence[tuple[float, float, float, float]]
    colour: str
    dash: Sequence[int] = (1, 0)

    @classmethod
    def line(cls, name: str, points: Sequence[tuple[float, float]], colour: str, dash: Sequence[int] = (1, 0)) -> Curve:
        """Return a curve without a range."""
        return cls(name, [(x, y, y, y) for x, y in points], colour, dash)


def bands(curves: Sequence[Curve], titles: tuple[str, str], lines: Mapping[str, float], *, log: bool = False) -> str:
    """Return shares against a parameter, each as a line with its range; `lines` are levels that do not depend on it."""
    import altair as alt

    rows: list[dict[str, Any]] = [
        {"x": x, "low": low, "mean": mean, "high": high, "who": curve.name}
        for curve in curves
        for x, low, mean, high in curve.points
    ]
    across = sorted({row["x"] for row in rows})
    ends = [across[0], across[-1]] if len(across) > 1 else [across[0] / 2, across[0] * 2]
    scale = alt.Scale(type="log" if log else "linear", domain=ends, nice=False)
    # Vega writes 10 as 1e+1 on a linear axis.
    label: dict[str, Any] = {"format": "~g"} if log else {"labelExpr": "toString(datum.value)"}
    x = alt.X("x:Q", title=titles[0], scale=scale, axis=alt.Axis(values=across, **label))
    y = alt.Y("mean:Q", title=titles[1], axis=alt.Axis(format="%"), scale=alt.Scale(zero=True))
    names = [*(curve.name for curve in curves), *lines]
    greys = ["#5b6770", "#9aa4ad", "#c0a060"]
    legend = alt.Legend(
        orient="top",
        columns=2,
        labelLimit=0,
        columnPadding=40,
        symbolType="stroke",
        symbolOpacity=1,
        symbolStrokeWidth=2,
    )
    shades = alt.Scale(domain=names, range=[*(curve.colour for curve in curves), *greys[: len(lines)]])
    color = alt.Color("who:N", title=None, legend=legend, scale=shades)
    dashes = alt.StrokeDash(
        "who:N",
        title=None,
        legend=None,
        scale=alt.Scale(domain=names, range=[*(list(curve.dash) for curve in curves), *[[2, 3]] * len(lines)]),
    )
    base = alt.Chart(as_data(rows)).encode(x=x, color=color)
    level = alt.Chart(as_data([{"mean": value, "who": name} for name, value in lines.items()]))
    layered = alt.layer(
        base.mark_area(opacity=0.15).encode(y=alt.Y("low:Q"), y2="high:Q"),
        *([level.mark_rule(strokeWidth=2).encode(y=y, color=color, strokeDash=dashes)] if lines else []),
        base.mark_line(strokeWidth=2).encode(y=y, strokeDash=dashes),
        base.mark_point(filled=True, size=40).encode(y=y),
    )
    return svg(layered.properties(width=WIDTH - 80, height=260))


def trade_off(points: Sequence[tuple[float, float]], titles: tuple[str, str], *, marked: Sequence[int] = ()) -> str:
    """Return a curve of the best values, (cost, value), in the units of both; `marked` points stand out."""
    import altair as alt

    rows: list[dict[str, Any]] = [{"x": x, "y": y, "on": i in marked} for i, (x, y) in enumerate(points)]
    base = alt.Chart(as_data(rows)).encode(
        x=alt.X("x:Q", title=titles[0], axis=alt.Axis(format="~f", tickCount=6)),
        y=alt.Y("y:Q", title=titles[1], axis=alt.Axis(format="~f", tickCount=6), scale=alt.Scale(zero=True)),
    )
    dots = base.mark_point(filled=True, size=40, opacity=1).encode(
        color=alt.Color("on:N", legend=None, scale=alt.Scale(domain=[False, True], range=["#1f5fa8", "#b3261e"]))
    )
    return svg((base.mark_line(strokeWidth=2, color="#1f5fa8") + dots).properties(width=WIDTH - 80, height=260))


def risk_against_utility(points: Sequence[tuple[str, str, float, float]], titles: tuple[str, str]) -> str:
    """Return releases of several methods, (method, parameter, risk, cost): risk upwards, cost to the right, on a log scale."""
    import altair as alt

    rows: list[dict[str, Any]] = [
        {"method": m, "parameter": p, "risk": risk, "cost": cost} for m, p, risk, cost in points
    ]
    names = list(dict.fromkeys(row["method"] for row in rows))
    colours = ["#b3261e", "#1f5fa8", "#1b7a3d", "#8a5a00"][: len(names)]
    color = alt.Color(
        "method:N", title=None, scale=alt.Scale(domain=names, range=colours), legend=alt.Legend(orient="top")
    )
    shape = alt.Shape("method:N", title=None, scale=alt.Scale(domain=names), legend=alt.Legend(orient="top"))
    low, high = min(row["cost"] for row in rows), max(row["cost"] for row in rows)
    ends = [10 ** math.floor(math.log10(low)), 10 ** math.ceil(math.log10(high))]
    scale = alt.Scale(type="log", domain=ends, nice=False)
    top = max(row["risk"] for row in rows) * 1.1
    x = alt.X("cost:Q", title=titles[0], scale=scale, axis=alt.Axis(format="~g", tickCount=5))
    up = alt.Scale(domain=[0, top], nice=False)
    y = alt.Y("risk:Q", title=titles[1], scale=up, axis=alt.Axis(format="%"))
    width, height = WIDTH - 80, 360
    boxes = []
    for row in rows:
        left = width * math.log(row["cost"] / ends[0]) / math.log(ends[1] / ends[0]) + 7
        boxes.append((left, left + LETTER * len(row["parameter"]), height * row["risk"] / top))
    labelled = [row for row, fits in zip(rows, apart(boxes), strict=True) if fits]
    base = alt.Chart(as_data(rows)).encode(x=x, y=y, color=color)
    texts = alt.Chart(as_data(labelled)).encode(x=x, y=y, color=color)
    layered = alt.layer(
        base.mark_point(filled=True, size=70).encode(shape=shape),
        texts.mark_text(align="left", dx=7, dy=-5, fontSize=10).encode(text="parameter:N"),
    )
    return svg(layered.properties(width=width, height=height))


def apart(boxes: Sequence[tuple[float, float, float]]) -> list[bool]:
    """Return which labels, (left, right, height) in points each, overlap none before them; the others are not drawn."""
    kept: list[tuple[float, float, float]] = []
    fits = []
    for left, right, height in boxes:
        is_free = all(right < start or left > end or abs(height - other) >= LINE for start, end, other in kept)
        fits.append(is_free)
        if is_free:
            kept.append((left, right, height))
    return fits


def risk_against_epsilon(points: Sequence[Mapping[str, float]], lines: Mapping[str, float]) -> str:
    """Return how often an attack is right against ε: mean and range over draws, held-out people, and lines without ε."""
    counted = [(p["epsilon"], p["least"], p["counted"], p["most"]) for p in points]
    others = [(p["epsilon"], p["held_out"]) for p in points]
    curves = [Curve(say.COUNTED, counted, "#b3261e"), Curve.line(say.HELD_OUT, others, "#1f5fa8", (5, 3))]
    return bands(curves, (say.log_scale("ε"), say.SHARE_CORRECT), lines, log=True)


def error_against_epsilon(points: Sequence[Mapping[str, float]]) -> str:
    """Return the error of a count against ε: what the mechanism promises as a line, what was drawn as dots."""
    import altair as alt

    x = _epsilon_axis([p["epsilon"] for p in points])
    base = alt.Chart(as_data([dict(p) for p in points])).encode(x=x)
    scale = alt.Scale(type="log", nice=True)
    y = alt.Y("expected:Q", title=say.COUNT_ERROR, scale=scale, axis=alt.Axis(format="~g", tickCount=5, grid=False))
    average = alt.Chart(as_data([{"average": points[0]["average"]}])).mark_rule(color="#9aa4ad", strokeDash=[4, 4])
    layered = alt.layer(
        average.encode(y=alt.Y("average:Q", scale=scale)),
        base.transform_filter("datum.expected > 0").mark_line(strokeWidth=2, color="#1f5fa8").encode(y=y),
        base.transform_filter("datum.measured > 0")
        .mark_point(filled=True, size=40, color="#1f5fa8")
        .encode(y=alt.Y("measured:Q", scale=scale)),
    )
    return svg(layered.properties(width=WIDTH - 80, height=200))


def _epsilon_axis(epsilons: Sequence[float]) -> Any:
    """Return a log axis of ε, with a tick at each value that was tried."""
    import altair as alt

    low, high = min(epsilons), max(epsilons)
    scale = alt.Scale(type="log", domain=[low, high] if low < high else [low / 2, high * 2], nice=False)
    return alt.X("epsilon:Q", title=say.log_scale("ε"), scale=scale, axis=alt.Axis(values=list(epsilons), format="~g"))


def as_data(rows: list[dict[str, Any]]) -> Any:
    """Return rows as data of a chart."""
    import altair as alt

    return alt.Data(values=rows)  # type: ignore[no-untyped-call]


def svg(chart: Any) -> str:
    """Return a chart as text that a page can contain."""
    import vl_convert

    text: str = vl_convert.vegalite_to_svg(chart.configure_view(stroke=None).to_dict())
    return text
