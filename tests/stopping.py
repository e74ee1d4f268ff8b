"""Ctrl-C while something is sampled."""

from __future__ import annotations

from typing import Any

import pytest

from dalenius.adversaries.models import sampling


def in_the_second_round(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """From now on whatever is sampled is interrupted when its second round begins; the rounds that were."""
    rounds: list[Any] = []
    whole = sampling._Run.round

    def once(self: sampling._Run, *arguments: Any) -> None:
        rounds.append(self)
        if len(rounds) > 1:
            raise KeyboardInterrupt
        whole(self, *arguments)

    monkeypatch.setattr(sampling._Run, "round", once)
    return rounds
