"""The demo as a story on the terminal."""

from __future__ import annotations

import shlex
from pathlib import Path

from dalenius.demo import DemoFiles, PublishedDemo, Story
from dalenius.measures.remaining import wrapped as wrapped_columns
from dalenius.reports import numbers
from dalenius.reports.layout import WIDTH, grid, wrapped
from dalenius.reports.words import common
from dalenius.reports.words import demo as say

__all__ = ["closing", "outcome", "part"]


def part(progress: DemoFiles | PublishedDemo) -> list[str]:
    """Return what is known about the table, or about a release, as soon as it exists."""
    return _begin(progress) if isinstance(progress, DemoFiles) else _published(progress)


def _begin(files: DemoFiles) -> list[str]:
    """Return the table, and how many people are alone with their quasi-identifiers."""
    return [
        say.begin(files.people, files.table),
        *wrapped(say.KNOWN, indent=0),
        *wrapped(say.alone(files.alone, f"{files.alone / files.people:.0%}"), indent=0),
        "",
        say.RELEASES[3 if files.releases == 3 else 1],
        "",
    ]


def _published(release: PublishedDemo) -> list[str]:
    """Return what a release is, and what it leaves of each column."""
    return [
        *wrapped(f"{release.scheme.short}: {release.scheme.line}", lead=f"{release.letter}  "),
        f"     {say.extent(release.classes, release.suppressed, release.path)}",
        *wrapped_columns(f"     {say.COLUMNS}", release.columns_left, indent=7, width=WIDTH),
    ]


def outcome(story: Story) -> list[str]:
    """Return what adversaries learn from each release, how useful each is, and which may be published."""
    return [*_learned(story), *_costs(story), "", _decision(story)]


def _learned(story: Story) -> list[str]:
    """Return how often each adversary is right inside and outside each release, and the conclusion."""
    rows, conclusions = [], []
    for release in story.releases:
        letter = release.published.letter
        for attack in release.audit.attacks:
            gain = " ".join(numbers.points(attack.gain))
            rates = (attack.success.value, attack.control.value, attack.naive.value)
            rows.append([letter, attack.adversary, *(f"{rate:.1%}" for rate in rates), gain])
            settled = "" if attack.is_converged else f" ({say.NOT_CONVERGED})"
            conclusion = common.CONCLUSIONS[attack.verdict] + settled
            conclusions += wrapped(say.conclusion(letter, attack.adversary, conclusion))
    table = grid(say.ATTACK_COLUMNS, rows, right={2, 3, 4})
    return ["", *wrapped(say.ATTACKED, indent=0), "", *table, "", say.CONCLUSIONS, *conclusions]


def _costs(story: Story) -> list[str]:
    """Return how useful each release is, and whether the policy allows it."""
    rows = []
    for release in story.releases:
        answer = say.answer(say.ANSWERS[release.audit.verdict], "; ".join(release.reasons))
        rows.append([release.published.letter, f"{release.error:.0%}", answer])
    return ["", *wrapped(say.POLICY, indent=0), "", *grid(say.POLICY_COLUMNS, rows, right={1})]


def _decision(story: Story) -> str:
    """Return which release may be published."""
    if story.allowed:
        published = story.chosen.published
        return say.choice(published.letter, published.scheme.file, published.scheme.short)
    return say.NONE if len(story.releases) > 1 else say.NOT_THIS


def closing(story: Story, folder: Path, report: Path) -> list[str]:
    """Return where to look, and what to try next."""
    files = story.files
    again = ["dalenius", "audit", folder / "release.csv", "--truth", files.table, "--holdout", files.others]
    return [
        "",
        say.report(report, story.chosen.published.scheme.file),
        say.policy(files.policy),
        say.again(shlex.join(map(str, [*again, "--schema", files.policy]))),
        say.TRY,
    ]
