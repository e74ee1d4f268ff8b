"""What commands print and write, held against what they printed and wrote when it was looked at last.

`python scripts/golden.py` writes the files anew after a change that is meant. Read their diff before you commit it.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.golden.cases import case, differences, run
from tests.golden.surface import surface

EXPECTED = Path(__file__).parent / "expected"
SEEDS = range(16)


def expected(name: str) -> Any:
    return json.loads((EXPECTED / f"{name}.json").read_text(encoding="utf-8"))


@pytest.mark.slow
@pytest.mark.parametrize("seed", SEEDS)
def test_commands_say_what_they_said(seed: int) -> None:
    found = list(differences(expected(f"case-{seed:02}"), run(seed)))
    assert not found, "\n".join(found[:20])


def test_options_and_names_are_what_they_were() -> None:
    found = list(differences(expected("surface"), surface()))
    assert not found, "\n".join(found[:20])


def test_every_command_is_in_some_case() -> None:
    used = {command[0] for seed in SEEDS for command in case(seed).commands}
    assert set(surface()["commands"]) - used == {"demo", "reproduce"}  # these have tests of their own, and take long


def test_differences_are_seen() -> None:
    """Keys, numbers, texts and lengths; not the last digits."""
    one = {"a": [1.0, "x"], "b": {"c": True}}
    assert not list(differences(one, {"a": [1.0 + 1e-12, "x"], "b": {"c": True}}))
    for other in (
        {"a": [1.001, "x"], "b": {"c": True}},
        {"a": [1.0, "y"], "b": {"c": True}},
        {"a": [1.0], "b": {"c": True}},
    ):
        assert len(list(differences(one, other))) == 1
    assert sorted(differences(one, {"a": [1.0, "x"], "d": 1})) == ["/b: gone", "/d: new"]
    assert list(differences({"c": True}, {"c": 1})) == []  # Python says that they are equal, and so does JSON's reader
    assert list(differences({"c": None}, {"c": 0.0}))
