"""A published release as terminal text: what is left of each column, who is in it, and how it was made."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from dalenius.auditing.publishing import Publication
from dalenius.errors import listing
from dalenius.measures import remaining
from dalenius.publishers.base import Headcount
from dalenius.reports.layout import WIDTH, labelled
from dalenius.reports.words import common
from dalenius.reports.words import publish as say

__all__ = ["difference_warnings", "lines"]


def lines(publication: Publication) -> list[str]:
    """Return what `dalenius publish` prints: what is left of each column, who is in the release, and how it was made."""
    record = publication.record
    return [
        *_first(publication),
        *_people(record.headcount),
        *_line(say.SATISFIES, "; ".join(record.criteria)),
        *_suppressed(record.headcount),
        *(_together(record.given) if record.given is not None else ()),
        *(line for label, text in record.notes for line in _line(label, text)),
    ]


def difference_warnings(publication: Publication) -> list[str]:
    """Return where subtracting an earlier release from the new one exposes somebody, and where that was not tested."""
    text, incomplete = [], []
    earlier = publication.record.given
    for difference in earlier["differences"] if earlier is not None else ():
        name = difference["release"]
        if difference["reason"] is not None:
            text.append(say.not_tested(name, difference["reason"]))
            continue
        text += [say.exposed(name, difference[key], verb) for key, verb in say.VERBS.items() if difference[key]]
        if not difference["complete"] and (difference["joined"] or difference["left"]):
            incomplete.append(name)
    return text + ([say.incomplete(listing(incomplete))] if incomplete else [])


def _line(label: str, text: str) -> list[str]:
    """Return a text beside its label."""
    return labelled(label, text, width=11) or [f"  {label}"]


def _first(publication: Publication) -> list[str]:
    """Return the files, and what they contain."""
    begin = say.written(say.names(list(publication.files)))
    contents = publication.published.contents()
    if contents is None:
        return remaining.wrapped(begin, publication.columns_left, indent=2, width=WIDTH)
    word, items = contents
    return remaining.wrapped_items(f"{begin} {word}".rstrip(), items, indent=2, width=WIDTH)


def _people(count: Headcount | None) -> list[str]:
    """Return how many people and classes there are."""
    if count is None:
        return []
    share = f"{count.suppressed / count.people:.2%}"
    return _line(say.PEOPLE, say.headcount(count.people, count.classes, count.suppressed, share))


def _suppressed(count: Headcount | None) -> list[str]:
    """Return what was done with the rows of classes that fail."""
    if count is None:
        return []
    if count.hidden:
        return _line(say.HIDDEN, say.hidden(count.hidden))
    if not count.suppressed or not count.suppressed_rows:
        return []
    sentence = say.held if count.suppressed_rows == "hold" else say.not_held
    return _line(say.SUPPRESSED, sentence(count.suppressed))


def _together(earlier: Mapping[str, Any]) -> list[str]:
    """Return what is left of people together with the earlier releases."""
    mean, people, least = earlier["mean_posterior_anonymity"], earlier["people"], earlier["l"]
    below = earlier["already_below"] + earlier["contradicted"]
    who = say.some_people(people - below) if below else say.EVERYBODY
    text = [
        *_line(say.GIVEN, say.located(earlier["releases"], earlier["located"], people)),
        *_line(say.TOGETHER, say.left(least, who, "" if mean is None else f"{mean:.2f}")),
    ]
    if earlier["already_below"]:
        text += _line(say.BELOW, say.below(earlier["already_below"], least))
    if earlier["worsened"]:
        text += _line(say.WORSENED, say.worsened(earlier["worsened"]))
    if earlier["contradicted"]:
        text += _line(say.CONTRADICTED, say.contradicted(earlier["contradicted"]))
    return text + _changes(earlier["differences"])


def _changes(differences: Sequence[Mapping[str, Any]]) -> list[str]:
    """Return who joined and who left since each earlier release."""
    moved = [change for change in differences if change["joined"] or change["left"]]
    if differences and not moved and all(change["reason"] is None for change in differences):
        return _line(say.CHANGES, say.NO_CHANGES)
    return [line for change in moved for line in _line(say.CHANGES, say.since(change["release"], common.moved(change)))]
