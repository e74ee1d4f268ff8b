"""Terminal text fits 80 columns: sentences are wrapped, and tables are wrapped or split."""

from __future__ import annotations

import json

import pytest

from dalenius.reports.layout import WIDTH, grid, labelled, wrapped
from tests.golden.test_golden import EXPECTED, SEEDS
from tests.reports.conftest import Report
from tests.reports.page import Page

COMMANDS = {"attack", "audit", "channel", "check", "compare", "compose", "frontier", "guide", "lattice", "publish"}


@pytest.mark.parametrize("seed", SEEDS)
def test_every_command_fits(seed: int) -> None:
    """What the golden cases print; a file name or a command to copy may be longer, and none of these is."""
    steps = json.loads((EXPECTED / f"case-{seed:02}.json").read_text(encoding="utf-8"))
    printed = [line for step in steps if step["command"].split()[0] in COMMANDS for line in step["out"]]
    assert [line for line in printed if len(line) > WIDTH] == []


def test_every_command_is_in_some_case() -> None:
    steps = [step for seed in SEEDS for step in json.loads((EXPECTED / f"case-{seed:02}.json").read_text("utf-8"))]
    assert {step["command"].split()[0] for step in steps if step["out"]} >= COMMANDS


def test_sentences_are_wrapped() -> None:
    lines = wrapped("word " * 40, indent=4, hanging=6)
    assert max(map(len, lines)) <= WIDTH
    assert lines[0].startswith("    word")
    assert all(line.startswith("      word") for line in lines[1:])
    assert wrapped("") == []
    assert labelled("Cost", "loss 1") == ["  Cost           loss 1"]


def test_columns_are_aligned() -> None:
    assert grid(["a", "n"], [["x", "5"], ["long", "10"]], right={1}) == ["  a      n", "  x      5", "  long  10"]
    assert grid(None, []) == []


def test_a_last_column_of_text_is_wrapped_below_itself() -> None:
    lines = grid(["name", "text"], [["x", "word " * 30]])
    assert max(map(len, lines)) <= WIDTH
    assert len(lines) > 2
    assert all(line.startswith(" " * 8 + "word") for line in lines[2:])


def test_numbers_that_do_not_fit_go_into_further_blocks() -> None:
    header = ["measure", *(f"release-{i}.csv" for i in range(9))]
    lines = grid(header, [["loss", *(f"0.{i}" for i in range(9))]], right=range(1, 10))
    assert max(map(len, lines)) <= WIDTH
    blocks = [block.split("\n") for block in "\n".join(lines).split("\n\n")]
    assert len(blocks) > 1
    assert all(block[1].split()[0] == "loss" for block in blocks)
    assert [cell for block in blocks for cell in block[0].split()[1:]] == header[1:]
    assert [cell for block in blocks for cell in block[1].split()[1:]] == [f"0.{i}" for i in range(9)]


def test_an_identifier_is_said_first(reports: dict[str, Report]) -> None:
    """The raw table still names its people."""
    raw, page = reports["raw"], Page(reports["raw"].html)
    assert raw.terminal.startswith("WARNING: The release still contains an identifier column: ")
    after = page.text.partition(page.headings[0])[2].partition(page.headings[0])[2]
    assert after.strip().startswith("WARNING: The release still contains an identifier column: ")
    for name in ("full", "method"):
        assert "identifier column" not in reports[name].terminal + reports[name].html


@pytest.mark.parametrize("name", ["full", "blind", "raw", "anatomy"])
def test_limits_are_not_cut_silently(name: str, reports: dict[str, Report]) -> None:
    terminal, limits = " ".join(reports[name].terminal.split()), reports[name].document["limits"]
    shown = [limit for limit in limits if limit in terminal]
    warned = int(terminal.startswith("WARNING"))  # the first limit repeats the warning
    more = len(limits) - len(shown) - warned
    assert (f"{more} more limit" in terminal) == (more > 0)
    if name == "blind":
        assert more > 0
