"""Releases of one table side by side, as terminal text."""

from __future__ import annotations

from dalenius.auditing.compare import Comparison
from dalenius.criteria import Measured, headlines
from dalenius.measures.remaining import warnings
from dalenius.reports import words

_LEVEL_WIDTHS = {"l": 4}  # others take seven characters
_COSTS = {
    "loss": ("loss", 8),
    "ncp": ("NCP", 8),
    "precision": ("precision", 10),
    "discernibility": ("discern.", 12),
    "average_class_size": ("class size", 11),
    "suppressed": ("suppressed", 11),
    "kl_divergence": ("KL", 8),
    "relative_error": ("query error", 12),
    "relative_error_median": ("median", 8),
    "faithfulness": ("faithful", 9),
}


def lines(comparison: Comparison) -> list[str]:
    """What `dalenius compare` prints: a row for each release, then what is to be known of single ones."""
    width = max(len(name) for name in [*(one.name for one in comparison), "release"])
    heads = {key: _level_head(key, number) for key, number in headlines().items()} | _COSTS
    text = [f"  {'release':<{width}} {'kind':<13}" + "".join(f" {head:>{w}}" for head, w in heads.values())]
    documents = [one.to_document() for one in comparison]
    for one in documents:
        numbers = "".join(f" {_number(one[key]):>{w}}" for key, (_, w) in heads.items())
        text.append(f"  {one['release']:<{width}} {one['kind']:<13}{numbers}")
    for one in documents:
        if one["misfit"]:
            text.append(f"\n  {one['release']}: {words.changed(one['misfit'], one['kind'])}.")
    text.append(
        "\n  Smaller costs are better, a larger precision and faithfulness; – is not defined for that release. "
        f"{comparison.queries:,} count queries, seed {comparison.seed}; KL in nats."
    )
    return text + [f"  {one.name}: {sentence}" for one in comparison for sentence in warnings(one.columns_left)]


def _level_head(key: str, number: Measured) -> tuple[str, int]:
    """Return the heading of a level's column, and its width."""
    head = number.model.tried.letter or key
    return head, max(len(head), _LEVEL_WIDTHS.get(key, 7))


def _number(value: float | None) -> str:
    if value is None or value != value:
        return "–"
    if value == float("inf"):
        return "infinite"
    if abs(value) >= 1e7:
        return f"{value:.3g}"
    return f"{value:,.0f}" if value == int(value) else f"{value:.4g}"
