"""The charts of an audit: rates of attacks, sizes of classes, and how far beliefs can be trusted."""

from __future__ import annotations

from typing import Any

import numpy as np

from dalenius.arrays import Longs
from dalenius.auditing import Audit
from dalenius.reports.charts import WIDTH, as_data, svg


def rates(audit: Audit) -> str:
    """Attack against naive and control rates, with their intervals, on one axis."""
    import altair as alt

    attacks = [(f"{found.adversary} on {found.column}", found) for found in audit.attacks]

    rows: list[dict[str, Any]] = []
    for name, found in attacks:
        for kind, rate in (
            ("in the release", found.success),
            ("control", found.control),
            ("commonest value", found.naive),
        ):
            if rate.n:
                rows.append({"attack": name, "kind": kind, "rate": rate.value, "low": rate.low, "high": rate.high})
    kinds = ["in the release", "control", "commonest value"]
    # How wide letters are is guessed here and known only where the page is shown: room to spare, or the longest label is cut.
    y = alt.Y("kind:N", title=None, sort=kinds, axis=alt.Axis(minExtent=110))
    base = alt.Chart(as_data(rows))
    points = base.mark_point(filled=True, size=90).encode(
        x=alt.X("rate:Q", title="share of people guessed right", axis=alt.Axis(format="%"), scale=alt.Scale(zero=True)),
        y=y,
        color=alt.Color("kind:N", legend=None, scale=alt.Scale(domain=kinds, range=["#b3261e", "#5b6770", "#1f5fa8"])),
    )
    bars = base.mark_rule(strokeWidth=2).encode(x="low:Q", x2="high:Q", y=y, color="kind:N")
    layered = alt.layer(bars, points).properties(width=WIDTH - 140, height=80)
    header = alt.Header(labelOrient="top", labelAnchor="start", labelFontWeight="bold")
    order = list(dict.fromkeys(name for name, _ in attacks))
    return svg(layered.facet(row=alt.Row("attack:N", title=None, header=header, sort=order)))


def class_sizes(sizes: Longs) -> str:
    """How many people are in classes of each size, in doubling steps."""
    import altair as alt

    steps = np.floor(np.log2(sizes)).astype(int)
    rows = []
    for step in range(int(steps.max()) + 1):
        low, high = 2**step, 2 ** (step + 1) - 1
        label = f"{low:,}" if low == high else f"{low:,}–{high:,}"
        rows.append({"size": label, "order": step, "people": int(sizes[steps == step].sum())})
    chart = (
        alt.Chart(as_data(rows))
        .mark_bar(color="#1f5fa8")
        .encode(
            x=alt.X("size:N", title="people in the class", sort=alt.SortField("order"), axis=alt.Axis(labelAngle=-40)),
            y=alt.Y("people:Q", title="people in such classes"),
        )
        .properties(width=WIDTH - 100, height=200)
    )
    return svg(chart)


def calibration(audit: Audit) -> str:
    """How sure the adversary is against how often it is right: on the line, its beliefs can be taken at their word."""
    import altair as alt

    rows = [
        {
            "attack": f"{found.adversary} on {found.column}",
            "confidence": step.confidence,
            "right": step.right.value,
            "low": step.right.low,
            "high": step.right.high,
        }
        for found in audit.attacks
        for step in found.calibration
    ]
    data = as_data(rows)
    diagonal = alt.Chart(as_data([{"x": 0, "y": 0}, {"x": 1, "y": 1}])).mark_line(color="#9aa4ad", strokeDash=[4, 4])
    scale = alt.Scale(domain=[0, 1])
    points = alt.Chart(data).mark_point(filled=True, size=60)
    rules = alt.Chart(data).mark_rule()
    x = alt.X("confidence:Q", title="how sure the adversary is", scale=scale, axis=alt.Axis(format="%"))
    # Above the chart: beside it, a label wider than it was guessed to be would be cut.
    color = alt.Color("attack:N", title=None, legend=alt.Legend(orient="top", columns=1, labelLimit=0))
    chart = alt.layer(
        diagonal.encode(x="x:Q", y="y:Q"),
        rules.encode(x=x, y=alt.Y("low:Q"), y2="high:Q", color=color),
        points.encode(
            x=x, y=alt.Y("right:Q", title="how often it is right", scale=scale, axis=alt.Axis(format="%")), color=color
        ),
    ).properties(width=WIDTH - 220, height=240)
    return svg(chart)
