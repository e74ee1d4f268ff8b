"""Charts as SVG, drawn on this machine: no script, no network, and they print."""

from __future__ import annotations

from typing import Any

import numpy as np

from dalenius.audit import Audit

WIDTH = 560


def rates(audit: Audit) -> str:
    """Attack against naive and control rates, with their intervals, on one axis."""
    import altair as alt

    rows: list[dict[str, Any]] = []
    for found in audit.attacks:
        name = f"{found.adversary} on {found.column}"
        for kind, rate in (
            ("in the release", found.success),
            ("control", found.control),
            ("commonest value", found.naive),
        ):
            if rate.n:
                rows.append({"attack": name, "kind": kind, "rate": rate.value, "low": rate.low, "high": rate.high})
    kinds = ["in the release", "control", "commonest value"]
    y = alt.Y("kind:N", title=None, sort=kinds)
    base = alt.Chart(_data(rows))
    points = base.mark_point(filled=True, size=90).encode(
        x=alt.X("rate:Q", title="share of people guessed right", axis=alt.Axis(format="%"), scale=alt.Scale(zero=True)),
        y=y,
        color=alt.Color("kind:N", legend=None, scale=alt.Scale(domain=kinds, range=["#b3261e", "#5b6770", "#1f5fa8"])),
    )
    bars = base.mark_rule(strokeWidth=2).encode(x="low:Q", x2="high:Q", y=y, color="kind:N")
    layered = alt.layer(bars, points).properties(width=WIDTH - 140, height=80)
    header = alt.Header(labelOrient="top", labelAnchor="start", labelFontWeight="bold")
    return _svg(layered.facet(row=alt.Row("attack:N", title=None, header=header)))


def class_sizes(audit: Audit) -> str:
    """How many people are in classes of each size, in doubling steps."""
    import altair as alt

    sizes = audit.release.sizes
    steps = np.floor(np.log2(sizes)).astype(int)
    rows = []
    for step in range(int(steps.max()) + 1):
        low, high = 2**step, 2 ** (step + 1) - 1
        label = f"{low:,}" if low == high else f"{low:,}–{high:,}"
        rows.append({"size": label, "order": step, "people": int(sizes[steps == step].sum())})
    chart = (
        alt.Chart(_data(rows))
        .mark_bar(color="#1f5fa8")
        .encode(
            x=alt.X("size:N", title="people in the class", sort=alt.SortField("order"), axis=alt.Axis(labelAngle=-40)),
            y=alt.Y("people:Q", title="people in such classes"),
        )
        .properties(width=WIDTH - 100, height=200)
    )
    return _svg(chart)


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
    data = _data(rows)
    diagonal = alt.Chart(_data([{"x": 0, "y": 0}, {"x": 1, "y": 1}])).mark_line(color="#9aa4ad", strokeDash=[4, 4])
    scale = alt.Scale(domain=[0, 1])
    points = alt.Chart(data).mark_point(filled=True, size=60)
    rules = alt.Chart(data).mark_rule()
    x = alt.X("confidence:Q", title="how sure the adversary is", scale=scale, axis=alt.Axis(format="%"))
    color = alt.Color("attack:N", title=None)
    chart = alt.layer(
        diagonal.encode(x="x:Q", y="y:Q"),
        rules.encode(x=x, y=alt.Y("low:Q"), y2="high:Q", color=color),
        points.encode(
            x=x, y=alt.Y("right:Q", title="how often it is right", scale=scale, axis=alt.Axis(format="%")), color=color
        ),
    ).properties(width=WIDTH - 220, height=240)
    return _svg(chart)


def _data(rows: list[dict[str, Any]]) -> Any:
    import altair as alt

    return alt.Data(values=rows)  # type: ignore[no-untyped-call]


def _svg(chart: Any) -> str:
    import vl_convert

    text: str = vl_convert.vegalite_to_svg(chart.configure_view(stroke=None).to_dict())
    return text
