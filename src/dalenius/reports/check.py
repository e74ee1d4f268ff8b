"""A checked release as terminal text: every level, the worst class, and the thresholds that were asked for."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from dalenius.auditing.checking import ReleaseCheck
from dalenius.auditing.suppressed import CriterionOutcome, SuppressedRows
from dalenius.criteria import Level, Realistic, measured
from dalenius.measures.remaining import columns_left, wrapped
from dalenius.releases import GroupedRelease, Grouping
from dalenius.reports import layout, numbers
from dalenius.reports.layout import grid, labelled
from dalenius.reports.words import check as say

__all__ = ["lines"]

MAX_ROWS = 5  # row numbers shown for a class


def lines(checked: ReleaseCheck, *, reveal: bool = False) -> list[str]:
    """Return what `dalenius check` prints."""
    text = [*_head(checked.name, checked.kind, checked.release), *_columns(checked, reveal=reveal)]
    text += [] if checked.withstands is None else _withstood(checked.withstands)
    return [*text, *_suppressed(checked.suppressed_rows), *_thresholds(checked.outcomes)]


def _head(name: str, kind: str, release: GroupedRelease) -> list[str]:
    """Return how many people and classes there are, and which columns were not checked."""
    sizes = release.sizes
    unseen = [say.column(c.name, c.role) for c in release.schema.columns if c.role in ("identifier", "other")]
    extent = say.sizes(
        int(sizes.min()),
        f"{np.median(sizes):,.6g}",
        f"{sizes.mean():,.1f}",
        int(sizes.max()),
        int((sizes == 1).sum()),
    )
    suppressed = say.suppressed(release.suppressed, f"{release.suppressed / release.people:.2%}")
    return [
        *layout.wrapped(say.head(name, release.people, release.groups, kind), indent=0, hanging=2),
        *wrapped(f"  {say.COLUMNS:<12}", columns_left(release), indent=15, width=layout.WIDTH),
        *labelled(say.SUPPRESSED, suppressed, width=13),
        *labelled(say.SIZES, extent, width=13),
        *(labelled(say.NOT_CHECKED, ", ".join(unseen), width=13) if unseen else []),
    ]


def _columns(checked: ReleaseCheck, *, reveal: bool) -> list[str]:
    """Return every level of every sensitive column, and the worst class."""
    text, release = [], checked.release
    titles = {who.text: _title(who) for who in checked.adversaries}
    for name, grouping in checked.groupings.items():
        levels, private = checked.levels[name], checked.against[name]
        rows = []
        for measure in measured():
            level, model = levels[measure.place], measure.model
            reason = measure.criterion().undefined(grouping.column)
            place = _place(release, grouping, level, sizes_only=not model.needs_values)
            title = measure.reported.check_title or measure.reported.title
            rows.append([title, numbers.level(level.value), model.better, reason or place])
        text += ["", *grid([name, say.LEVEL, say.SAFER, say.WORST], rows, right={1})]
        if private:
            # No rows here: an infinite ε may reveal that everybody in the class is in the set in question.
            rows = [
                [titles.get(who, who), numbers.level(level.value), say.SMALLER, _class(release, grouping, level)]
                for who, level in private.items()
            ]
            text += ["", *grid([say.SMALLEST_EPSILON, say.LEVEL, say.SAFER, say.WORST], rows, right={1})]
            if checked.predicates:
                text += layout.wrapped(say.about("; ".join(map(str, checked.predicates))))
        if reveal:
            text += _revealed(release, grouping, [*levels.values(), *private.values()])
    return [*text, f"  {say.NUMBERED}"]


def _title(who: Realistic) -> str:
    """Return an adversary with what was given by options."""
    more = [say.known(who.known)] if who.known and "known=" not in who.text else []
    more += [say.AT_MOST] if who.at_most and "at-most" not in who.text else []
    return f"{who.text} ({', '.join(more)})" if more else who.text


def _suppressed(suppressed: SuppressedRows | None) -> list[str]:
    """Return what the suppressed rows reveal as a class of their own."""
    if suppressed is None:
        return []
    levels = layout.wrapped(say.suppressed_rows(suppressed.rows, suppressed.line()), hanging=4)
    return ["", *levels, *layout.wrapped(say.SUPPRESSED_NOTE)]


def _thresholds(requirements: Sequence[CriterionOutcome]) -> list[str]:
    """Return each criterion that was asked for, and what violates it."""
    text = [""] if requirements else []
    for required in requirements:
        reasons = []
        if required.failing:
            reasons.append(say.failing(required.failing, numbers.level(required.level)))
        if required.suppressed_level is not None and not required.suppressed_hold:
            reasons.append(say.suppressed_fail(numbers.level(required.suppressed_level)))
        name = say.criterion(required.criterion, required.sensitive)
        outcome = say.HOLDS if required.holds else say.VIOLATED
        text += labelled(outcome, f"{name}{': ' if reasons else ''}{'; '.join(reasons)}", width=10)
    return text


def _withstood(document: dict[str, Any]) -> list[str]:
    """Return how stubborn an adversary may be, by class of adversary."""
    rows = []
    for prior, span in document["sigma"].items():
        if span is None:
            text = say.NO_SIGMA
        elif span["largest"] == float("inf"):
            text = say.sigma_from(f"{span['smallest']:,.6g}", never_learns=prior != "II")
        else:
            text = say.sigma_between(f"{span['smallest']:,.6g}", f"{span['largest']:,.6g}")
        rows.append([prior, text])
    return ["", *layout.wrapped(say.withstands(f"{document['epsilon']:g}")), *grid(None, rows, indent=4)]


def _place(release: GroupedRelease, grouping: Grouping, level: Level, *, sizes_only: bool) -> str:
    """Return the worst class by number, size and rows."""
    if level.worst < 0:
        return say.NO_CLASS
    text = _class(release, grouping, level)
    number = level.worst if grouping.parent is None else int(grouping.parent[level.worst])
    # In a class with a single value, the level may reveal which value: do not show rows beside it.
    has_one_value = grouping.start[level.worst + 1] - grouping.start[level.worst] == 1
    rows = [] if has_one_value and not sizes_only else release.row_numbers(number, limit=MAX_ROWS + 1)
    if rows:
        more = " …" if len(rows) > MAX_ROWS else ""
        shown = ", ".join(map(str, rows[:MAX_ROWS]))
        text += f", {say.row_numbers(shown, several=len(rows) > 1)}{more}"
    return text


def _class(release: GroupedRelease, grouping: Grouping, level: Level) -> str:
    """Return the worst class by number and size."""
    number = level.worst if grouping.parent is None else int(grouping.parent[level.worst])
    return say.place(number, int(release.sizes[number]))


def _revealed(release: GroupedRelease, grouping: Grouping, levels: Iterable[Level]) -> list[str]:
    """Return the labels and the values of the classes that are worst in something, each once."""
    text = []
    for worst in sorted({level.worst for level in levels if level.worst >= 0}):
        number = worst if grouping.parent is None else int(grouping.parent[worst])
        low, high = grouping.start[worst], grouping.start[worst + 1]
        leaves = grouping.column.leaves
        counts = zip(grouping.values[low:high].tolist(), grouping.counts[low:high].tolist(), strict=True)
        values = ", ".join(f"{leaves[value]} {count:,}" for value, count in counts)
        text += layout.wrapped(say.revealed(number, release.describe(number), values), hanging=4)
    return text
