"""Releases of the same table side by side, as terminal text."""

from __future__ import annotations

from dalenius.auditing.compare import Comparison
from dalenius.criteria import headlines
from dalenius.measures.remaining import warnings
from dalenius.reports import phrases
from dalenius.reports.layout import grid, wrapped
from dalenius.reports.words import compare as say
from dalenius.reports.words import numbers as number_words

__all__ = ["lines"]


def lines(comparison: Comparison) -> list[str]:
    """Return what `dalenius compare` prints: a row for each measure, a column for each release, then notes."""
    documents = [release.to_document() for release in comparison]
    header = [say.RELEASE, *(document["release"] for document in documents)]
    rows = [[say.KIND, *(document["kind"] for document in documents)]]
    levels = {key: say.LEVELS.get(key, key) for key in headlines()}
    for key, title in {**levels, **say.COSTS}.items():
        rows.append([title, *(_number(document[key]) for document in documents)])
    text = [*grid(header, rows, right=range(1, len(header))), ""]
    for document in documents:
        if document["misfit"]:
            changed = phrases.changed(document["misfit"], document["kind"])
            text += wrapped(say.about(document["release"], changed), hanging=4)
    text += wrapped(say.reading(comparison.queries, comparison.seed))
    for release in comparison:
        for warning in warnings(release.columns_left):
            text += wrapped(say.about(release.name, warning), hanging=4)
    return text


def _number(value: float | None) -> str:
    """Return a figure of the comparison."""
    if value is None or value != value:
        return number_words.NONE
    if value == float("inf"):
        return number_words.INFINITE
    if abs(value) >= 1e7:
        return f"{value:.3g}"
    return f"{value:,.0f}" if value == int(value) else f"{value:.4g}"
