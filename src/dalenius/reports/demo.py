"""The demo as a story on the terminal."""

from __future__ import annotations

import shlex
from pathlib import Path

from dalenius.demo import Files, Made, Story
from dalenius.measures.remaining import wrapped


def part(told: Files | Made) -> list[str]:
    """What is said of the table, or of a release, as soon as it is there."""
    return _begin(told) if isinstance(told, Files) else _made(told)


def _begin(files: Files) -> list[str]:
    """The table, and how many of its people are alone."""
    return [
        f"A hospital wants to publish {files.people:,} patients: {files.table}",
        "Age, sex, ZIP code and nationality may be known to a neighbour; the disease must not be. Names are gone.",
        f"But {files.alone:,} of them ({files.alone / files.people:.0%}) are the only one with their four.",
        f"\n{'Three releases' if files.releases == 3 else 'A release'} of it:\n",
    ]


def _made(made: Made) -> list[str]:
    return [
        f"  {made.letter}  {made.scheme.short:26} {made.scheme.line}",
        f"     {made.classes:,} classes, {made.suppressed:,} rows suppressed: {made.path}",
        *wrapped("     left:", made.columns_left, indent=7),
    ]


def outcome(story: Story) -> list[str]:
    """What adversaries learn from each release, what each is good for, and which may go out."""
    return [*_learned(story), *_costs(story), _decided(story)]


def _learned(story: Story) -> list[str]:
    text = [
        "\nEach is attacked by somebody who has it and knows a patient's four. How often is the disease guessed right,",
        "of the patients in it, and of others like them who are not? Only the difference is about the patients:\n",
        "     adversary           in it   others  commonest   gain, with its 95 % interval",
    ]
    for one in story.releases:
        for each in one.audit.attacks:
            low, high = 100 * each.gain.low, 100 * each.gain.high
            right, outside, commonest = each.success.value, each.control.value, each.naive.value
            settled = "" if each.is_converged else "  (has not converged)"
            text.append(
                f"  {one.made.letter}  {each.adversary:18} {right:6.1%}  {outside:6.1%}     {commonest:6.1%}"
                f"   {100 * each.gain.value:+5.1f} points ({low:+.1f} to {high:+.1f}): {each.verdict}{settled}"
            )
    return text


def _costs(story: Story) -> list[str]:
    text = [
        "\nWhat each is still good for, and the hospital's policy: a gain of 5 points at most, and hardly anybody certain:\n",
        "     counts off by   may it go out?",
    ]
    for one in story.releases:
        answer = {"passed": "yes", "violated": "no: "}.get(one.audit.verdict, "not known: ")
        text.append(f"  {one.made.letter}  {one.error:13.0%}   {answer}{'; '.join(one.reasons)}")
    return text


def _decided(story: Story) -> str:
    if story.allowed:
        made = story.chosen.made
        return f"\nSo {made.letter} may go out: {made.scheme.file} ({made.scheme.short})."
    if len(story.releases) > 1:
        return "\nSo none of these may go out."
    return "\nSo it may not go out; the whole demo has others."


def closing(story: Story, folder: Path, report: Path) -> list[str]:
    """Where to look, and what to try next."""
    files = story.files
    again = ["dalenius", "audit", folder / "release.csv", "--truth", files.table, "--holdout", files.others]
    command = shlex.join(map(str, [*again, "--schema", files.policy]))
    return [
        f"\nLook at  {report}  what a review board gets to read about {story.chosen.made.scheme.file}, in a browser",
        f"         {files.policy}  the thresholds, and which columns an attacker may know",
        f"Again    {command}",
        "Then try your own table:  dalenius init TABLE.csv",
    ]
