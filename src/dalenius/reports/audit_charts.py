"""The charts of an audit: rates of attacks, sizes of classes, and how reliable beliefs are."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from dalenius.arrays import Longs
from dalenius.auditing import Audit
from dalenius.auditing.attacks import Attack
from dalenius.reports.charts import WIDTH, as_data, svg
from dalenius.reports.words import audit as audit_words
from dalenius.reports.words import charts as say

__all__ = ["calibration", "class_sizes", "compared", "rates"]


def rates(audit: Audit) -> str:
    """Return the rates of an audit's attacks."""
    return compared([(audit_words.attack(attack.adversary, attack.column), attack) for attack in audit.attacks])


def compared(attacks: Sequence[tuple[str, Attack]]) -> str:
    """Return the rates of attacks, each under its name, beside those of held-out people and the most common value."""
    import altair as alt

    kinds = [say.IN_RELEASE, say.HELD_OUT, say.MOST_COMMON]
    rows: list[dict[str, Any]] = []
    for name, attack in attacks:
        for kind, rate in zip(kinds, (attack.success, attack.control, attack.naive), strict=True):
            if rate.n:
                rows.append({"attack": name, "kind": kind, "rate": rate.value, "low": rate.low, "high": rate.high})
    # The width of letters is known only in the browser: leave room, or the longest label is cut.
    y = alt.Y("kind:N", title=None, sort=kinds, axis=alt.Axis(minExtent=110))
    base = alt.Chart(as_data(rows))
    points = base.mark_point(filled=True, size=90).encode(
        x=alt.X("rate:Q", title=say.SHARE_CORRECT, axis=alt.Axis(format="%"), scale=alt.Scale(zero=True)),
        y=y,
        color=alt.Color("kind:N", legend=None, scale=alt.Scale(domain=kinds, range=["#b3261e", "#5b6770", "#1f5fa8"])),
    )
    bars = base.mark_rule(strokeWidth=2).encode(x="low:Q", x2="high:Q", y=y, color="kind:N")
    layered = alt.layer(bars, points).properties(width=WIDTH - 140, height=80)
    header = alt.Header(labelOrient="top", labelAnchor="start", labelFontWeight="bold")
    order = list(dict.fromkeys(name for name, _ in attacks))
    return svg(layered.facet(row=alt.Row("attack:N", title=None, header=header, sort=order)))


def class_sizes(sizes: Longs) -> str:
    """Return how many people are in classes of each size, in doubling steps."""
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
            x=alt.X("size:N", title=say.CLASS_SIZE, sort=alt.SortField("order"), axis=alt.Axis(labelAngle=-40)),
            y=alt.Y("people:Q", title=say.PEOPLE_IN_CLASSES),
        )
        .properties(width=WIDTH - 100, height=200)
    )
    return svg(chart)


def calibration(audit: Audit) -> str:
    """Return the confidence of the adversary against how often it is right."""
    import altair as alt

    rows = [
        {
            "attack": audit_words.attack(attack.adversary, attack.column),
            "confidence": step.confidence,
            "right": step.right.value,
            "low": step.right.low,
            "high": step.right.high,
        }
        for attack in audit.attacks
        for step in attack.calibration
    ]
    data = as_data(rows)
    diagonal = alt.Chart(as_data([{"x": 0, "y": 0}, {"x": 1, "y": 1}])).mark_line(color="#9aa4ad", strokeDash=[4, 4])
    scale = alt.Scale(domain=[0, 1])
    points = alt.Chart(data).mark_point(filled=True, size=60)
    rules = alt.Chart(data).mark_rule()
    x = alt.X("confidence:Q", title=say.CONFIDENCE, scale=scale, axis=alt.Axis(format="%"))
    # Above the chart: beside it, a label that is wider than estimated would be cut.
    color = alt.Color("attack:N", title=None, legend=alt.Legend(orient="top", columns=1, labelLimit=0))
    chart = alt.layer(
        diagonal.encode(x="x:Q", y="y:Q"),
        rules.encode(x=x, y=alt.Y("low:Q"), y2="high:Q", color=color),
        points.encode(x=x, y=alt.Y("right:Q", title=say.CORRECT, scale=scale, axis=alt.Axis(format="%")), color=color),
    ).properties(width=WIDTH - 220, height=240)
    return svg(chart)
