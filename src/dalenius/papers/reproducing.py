"""The papers, made anew: each with its exhibits, and what of them was left out because its data are not there."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from dalenius.errors import InputError
from dalenius.papers import registry
from dalenius.papers.base import Erratum, Paper
from dalenius.reports.reproduce import document

__all__ = ["Reproduced", "reproduce"]


@dataclass(frozen=True, slots=True, eq=False)
class Reproduced:
    """The papers that were built, and why others, or parts of them, were not."""

    papers: tuple[Paper, ...]
    errata: dict[str, tuple[Erratum, ...]]
    left_out: dict[str, str]  # by paper, which data are not there
    not_made: dict[
        str, tuple[str, ...]
    ]  # by paper, the exhibits that need these data; none of a paper without any exhibit
    seconds: dict[str, float]
    is_quick: bool

    def check_made(self, names: Sequence[str]) -> None:
        """Refuse a paper that was asked for by name and of which nothing could be made."""
        for key in names:
            if key in self.left_out and key not in self.not_made:
                raise InputError(f"The paper {key!r} cannot be reproduced. {self.left_out[key]}")

    def to_document(self) -> dict[str, Any]:
        """The papers as JSON has them."""
        return document(self.papers, self.errata, self.left_out, not_made=self.not_made, quick=self.is_quick)


def reproduce(
    names: Sequence[str] = (),
    *,
    data: Path | None = None,
    quick: bool = False,
    progress: Callable[[str], None] | None = None,
) -> Reproduced:
    """Build the papers that are named, or all of them; of one whose data are not there, what needs none.

    `data` is a folder that holds UCI Adult. With `quick` the numbers are rougher, and there in about a minute.
    """
    show = progress or (lambda _: None)
    keys = registry.check(list(names))
    show("looking for the data")
    left_out = {key: reason for key in keys if (reason := registry.missing(key, data))}
    papers: list[Paper] = []
    seconds = {}
    for i, key in enumerate(keys, 1):
        show(f"{key}, paper {i} of {len(keys)}")
        begun = time.monotonic()
        paper = registry.build_without_data(key) if key in left_out else registry.build(key, data, quick=quick)
        if paper.exhibits:
            papers.append(paper)
            seconds[key] = round(time.monotonic() - begun, 3)
    not_made = {paper.key: registry.not_made(paper.key) for paper in papers if paper.key in left_out}
    return Reproduced(tuple(papers), registry.ERRATA, left_out, not_made, seconds, quick)
