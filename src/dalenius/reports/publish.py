"""A release that was made, as terminal text: what is left of each column, who is in it, and how it was made."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from dalenius.auditing.publishing import Publication
from dalenius.errors import counted, listing
from dalenius.measures import remaining
from dalenius.publishers.base import Headcount
from dalenius.reports import words


def lines(publication: Publication) -> list[str]:
    """What `dalenius publish` prints: what is left of each column first, then who is in the release, and how it was made."""
    record = publication.record
    return [
        *_first(publication),
        *_people(record.headcount),
        _line("satisfies", "; ".join(record.criteria)),
        *_suppressed(record.headcount),
        *(_together(record.given) if record.given is not None else ()),
        *(_line(word, text) for word, text in record.notes),
    ]


def difference_warnings(publication: Publication) -> list[str]:
    """Where subtracting an earlier release from the new one gives somebody away, and where that was not tested."""
    text, unsure = [], []
    given = publication.record.given
    for difference in given["differences"] if given is not None else ():
        name = difference["release"]
        if difference["reason"] is not None:
            text.append(f"Note: differences from {name} were not tested: {difference['reason']}.")
            continue
        for key, verb in (("joined_exposed", "joined"), ("left_exposed", "left")):
            if difference[key]:
                text.append(
                    f"WARNING: subtracting {name} from this release leaves only one possible value for "
                    f"{counted(difference[key], 'person', 'people')} who {verb}, if no more people joined or left than that takes."
                )
        if not difference["complete"] and (difference["joined"] or difference["left"]):
            unsure.append(name)
    if unsure:
        text.append(
            f"Note: only sums over overlapping classes of {listing(unsure)} were subtracted; finer differences were not tested."
        )
    return text


def _line(word: str, text: str) -> str:
    return f"  {word:<10} {text}"


def _first(publication: Publication) -> list[str]:
    """The files, and what is in them."""
    begin = f"Wrote {' and '.join(publication.files)}:"
    contents = publication.published.contents()
    if contents is None:
        return remaining.wrapped(begin, publication.columns_left, indent=2)
    word, items = contents
    return remaining.wrapped_items(f"{begin} {word}".rstrip(), items, indent=2)


def _people(count: Headcount | None) -> list[str]:
    if count is None:
        return []
    classes, rows = counted(count.classes, "class", "classes"), counted(count.suppressed, "row", "rows")
    return [
        _line("people", f"{count.people:,} in {classes}, {rows} suppressed ({count.suppressed / count.people:.2%})")
    ]


def _suppressed(count: Headcount | None) -> list[str]:
    """What was done with the rows of classes that fail."""
    if count is None:
        return []
    if count.hidden:
        return [_line("hidden", f"{counted(count.hidden, 'row', 'rows')} left out of the release")]
    if not count.suppressed or not count.suppressed_rows:
        return []
    rows = counted(count.suppressed, "row", "rows")
    if count.suppressed_rows == "hold":
        return [_line("suppressed", f"{rows}, held to the criteria as a class of their own")]
    return [_line("suppressed", f"{rows}, not held to the criteria: whoever fits no class is among them")]


def _together(given: Mapping[str, Any]) -> list[str]:
    """What is left of people together with the earlier releases."""
    before = counted(given["releases"], "earlier release locates", "earlier releases locate")
    mean, people, least = given["mean_posterior_anonymity"], given["people"], given["l"]
    average = "" if mean is None else f"; on average {mean:.2f} are left"
    below = given["already_below"] + given["contradicted"]
    who = "everybody" if not below else counted(people - below, "person", "people")
    text = [
        _line("given", f"{before} {given['located']:,} of {counted(people, 'person', 'people')}"),
        _line("together", f"intersecting all releases leaves at least {least} values for {who}{average}"),
    ]
    if given["already_below"]:
        some = counted(given["already_below"], "person has", "people have")
        text.append(_line("below", f"{some} fewer than {least} left, whatever is published of this table"))
    if given["worsened"]:
        some = counted(given["worsened"], "person has", "people have")
        why = "as nobody in this table has the others"
        text.append(_line("worsened", f"{some} fewer values left than before this release, {why}"))
    if given["contradicted"]:
        some = counted(given["contradicted"], "person", "people")
        text.append(_line("contradict", f"{some} for whom the earlier releases leave no value"))
    return text + _changes(given["differences"])


def _changes(differences: list[Mapping[str, Any]]) -> list[str]:
    """Who joined and who left since each earlier release."""
    moved = [change for change in differences if change["joined"] or change["left"]]
    if differences and not moved and all(change["reason"] is None for change in differences):
        return [_line("changes", "nobody is known to have joined or left")]
    return [_line("changes", f"since {change['release']}: {words.moved(change)}") for change in moved]
