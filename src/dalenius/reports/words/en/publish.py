"""A published release, on the terminal."""

from __future__ import annotations

from dalenius.reports.words.en import classes, people, plural
from dalenius.reports.words.en import rows as counted_rows

PEOPLE = "people"
SATISFIES = "satisfies"
HIDDEN = "hidden"
SUPPRESSED = "suppressed"
GIVEN = "given"
TOGETHER = "together"
BELOW = "below"
WORSENED = "worsened"
CONTRADICTED = "contradict"
CHANGES = "changes"
EVERYBODY = "everybody"
NO_CHANGES = "nobody is known to have joined or left"


def written(files: str) -> str:
    return f"Wrote {files}:"


def names(files: list[str]) -> str:
    return " and ".join(files)


def headcount(people_in: int, classes_in: int, suppressed: int, share: str) -> str:
    return f"{people_in:,} in {classes(classes_in)}, {counted_rows(suppressed)} suppressed ({share})"


def hidden(n: int) -> str:
    return f"{counted_rows(n)} left out of the release"


def held(n: int) -> str:
    return f"{counted_rows(n)}, which satisfy the criteria as a class of their own"


def not_held(n: int) -> str:
    return f"{counted_rows(n)}, not held to the criteria: anyone who matches no class is among them"


def located(releases: int, located: int, of: int) -> str:
    locate = plural(releases, "earlier release locates", "earlier releases locate")
    return f"{locate} {located:,} of {people(of)}"


def left(least: int, who: str, mean: str) -> str:
    average = f"; {mean} are left on average" if mean else ""
    return f"intersecting all releases leaves at least {least} values for {who}{average}"


def some_people(n: int) -> str:
    return people(n)


def below(n: int, least: int) -> str:
    return f"{plural(n, 'person has', 'people have')} fewer than {least} values left, whatever is published from this table"


def worsened(n: int) -> str:
    have = plural(n, "person has", "people have")
    return f"{have} fewer values left than before this release, because nobody in this table has the others"


def contradicted(n: int) -> str:
    return f"the earlier releases leave no value for {people(n)}"


def since(release: str, moved: str) -> str:
    return f"since {release}: {moved}"


# Warnings --------------------------------------------------------------------------------------------------------------------

VERBS = {"joined_exposed": "joined", "left_exposed": "left"}


def not_tested(release: str, reason: str) -> str:
    return f"Note: differences from {release} were not tested: {reason}."


def exposed(release: str, n: int, verb: str) -> str:
    return (
        f"WARNING: subtracting {release} from this release leaves only one possible value for {people(n)} who {verb}, provided "
        "that no more people joined or left than that requires."
    )


def incomplete(releases: str) -> str:
    return f"Note: only sums over overlapping classes of {releases} were subtracted; finer differences were not tested."
