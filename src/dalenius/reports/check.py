"""A checked release as terminal text: every level, the class that is worst, and the thresholds that were asked for."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from dalenius.auditing.checking import ReleaseCheck
from dalenius.auditing.suppressed import CriterionOutcome, SuppressedRows
from dalenius.criteria import Level, Realistic, measured
from dalenius.errors import counted
from dalenius.measures.remaining import columns_left, wrapped
from dalenius.releases import GroupedRelease, Grouping

ROWS_SHOWN = 5


def lines(checked: ReleaseCheck, *, reveal: bool = False) -> list[str]:
    """What `dalenius check` prints."""
    text = [*_head(checked.name, checked.kind, checked.release), *_columns(checked, reveal=reveal)]
    text += [] if checked.withstands is None else _withstood(checked.withstands)
    return [*text, *_together(checked.suppressed_rows), *_thresholds(checked.outcomes)]


def _head(name: str, kind: str, release: GroupedRelease) -> list[str]:
    """How many people and classes there are, and which columns were not looked at."""
    sizes = release.sizes
    people = counted(release.people, "person", "people")
    unseen = [f"{c.name} ({c.role})" for c in release.schema.columns if c.role in ("identifier", "other")]
    return [
        f"{name}: {people} in {counted(release.groups, 'class', 'classes')}, {kind}",
        *wrapped(f"  {'left':<16}", columns_left(release), indent=19, width=118),
        f"  suppressed rows  {release.suppressed:,} ({release.suppressed / release.people:.2%})",
        f"  class sizes      smallest {int(sizes.min()):,}, median {np.median(sizes):,.6g}, mean {sizes.mean():,.1f}, "
        f"largest {int(sizes.max()):,}; {int((sizes == 1).sum()):,} of one person",
        *([f"  not looked at    {', '.join(unseen)}"] if unseen else []),
    ]


def _columns(checked: ReleaseCheck, *, reveal: bool) -> list[str]:
    """Every level of every sensitive column, and the class that is worst."""
    text, release = [], checked.release
    written = {who.text: _shown(who) for who in checked.adversaries}
    for name, grouping in checked.groupings.items():
        levels, private = checked.levels[name], checked.against[name]
        text.append(f"\n  {name:<32} {'level':>12}  safer is   worst class (numbered from 0, as rows are)")
        for one in measured():
            level, model = levels[one.place], one.model
            row = f"  {one.reported.check_title or one.reported.title:<32} {_number(level.value):>12}  {model.better:<8}   "
            reason = one.criterion().undefined(grouping.column)
            place = _place(release, grouping, level, sizes_only=not model.needs_values) if not reason else ""
            text.append(row + (f"not defined: {reason}" if reason else place))
        if private:
            about = f" of learning {'; '.join(map(str, checked.predicates))}" if checked.predicates else ""
            text.append(f"\n  {'smallest ε against':<32} {'level':>12}  safer is   worst class{about}")
        for who, level in private.items():
            # No rows here: an infinite ε may say of everybody in the class that they are in the set asked for.
            place = _class(release, grouping, level)
            text.append(f"  {written.get(who, who):<32} {_number(level.value):>12}  smaller    {place}")
        if reveal:
            text += _revealed(release, grouping, [*levels.values(), *private.values()])
    return text


def _shown(who: Realistic) -> str:
    """An adversary as the terminal shows it: what was given by options stands beside its text."""
    more = [f"b = {who.known:,}"] if who.known and "known=" not in who.text else []
    more += ["σ or less"] if who.at_most and "at-most" not in who.text else []
    return f"{who.text} ({', '.join(more)})" if more else who.text


def _together(found: SuppressedRows | None) -> list[str]:
    """What the suppressed rows tell."""
    if found is None:
        return []
    return [
        f"\n  {counted(found.rows, 'suppressed row', 'suppressed rows')} {found.line()}",
        "  Whoever fits no class is among them. They count in the table's distribution, which t, δ and β look at.",
    ]


def _thresholds(asked: Sequence[CriterionOutcome]) -> list[str]:
    """Each criterion that was asked for, and what violates it."""
    lines = [""] if asked else []
    for one in asked:
        why = []
        if one.failing:
            why.append(f"{counted(one.failing, 'class fails', 'classes fail')}, level {_number(one.level)}")
        if one.suppressed_level is not None and not one.suppressed_hold:
            why.append(f"the suppressed rows fail as a class, level {_number(one.suppressed_level)}")
        name = f"{one.criterion} of {one.sensitive}"
        lines.append(f"  {'holds' if one.holds else 'violated':<9} {name}{': ' if why else ''}{'; '.join(why)}")
    return lines


def _withstood(document: dict[str, Any]) -> list[str]:
    """How stubborn an adversary may be, class by class."""
    lines = [f"\n  withstands, at ε = {document['epsilon']:g}     stubbornness σ"]
    for prior, span in document["sigma"].items():
        if span is None:
            words = "none"
        elif span["largest"] == float("inf"):
            never = "" if prior == "II" else ", and an adversary who never learns (class III)"
            words = f"any from {span['smallest']:,.6g} up{never}"
        else:
            words = f"from {span['smallest']:,.6g} to {span['largest']:,.6g}"
        lines.append(f"  {prior:<32} {words}")
    return lines


def _number(value: float) -> str:
    if value != value:
        return "undefined"
    return "infinite" if value == float("inf") else f"{value:,.6g}"


def _place(release: GroupedRelease, grouping: Grouping, level: Level, *, sizes_only: bool) -> str:
    """The worst class by number, size and rows."""
    if level.worst < 0:
        return "there is no class"
    text = _class(release, grouping, level)
    number = level.worst if grouping.parent is None else int(grouping.parent[level.worst])
    # In a class of one value its level may tell which one: then rows must not stand beside it.
    one_value = grouping.start[level.worst + 1] - grouping.start[level.worst] == 1
    rows = [] if one_value and not sizes_only else release.row_numbers(number, limit=ROWS_SHOWN + 1)
    if rows:
        more = " …" if len(rows) > ROWS_SHOWN else ""
        text += f", row{'s' if len(rows) > 1 else ''} {', '.join(map(str, rows[:ROWS_SHOWN]))}{more}"
    return text


def _class(release: GroupedRelease, grouping: Grouping, level: Level) -> str:
    """The worst class by number and size."""
    number = level.worst if grouping.parent is None else int(grouping.parent[level.worst])
    size = int(release.sizes[number])
    return f"class {number}, {counted(size, 'person', 'people')}"


def _revealed(release: GroupedRelease, grouping: Grouping, levels: Iterable[Level]) -> list[str]:
    """The labels and the values of the classes that are worst in something, each once."""
    lines = []
    for worst in sorted({level.worst for level in levels if level.worst >= 0}):
        number = worst if grouping.parent is None else int(grouping.parent[worst])
        low, high = grouping.start[worst], grouping.start[worst + 1]
        leaves = grouping.column.leaves
        counts = zip(grouping.values[low:high].tolist(), grouping.counts[low:high].tolist(), strict=True)
        values = ", ".join(f"{leaves[value]} {count:,}" for value, count in counts)
        lines.append(f"  class {number}  {release.describe(number)}: {values}")
    return lines
