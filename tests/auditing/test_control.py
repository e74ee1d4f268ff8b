"""When held-out people are a control: by how much they differ and what that does to the gain, not by whether chance shows it."""

from __future__ import annotations

import dataclasses
import hashlib
import json
from pathlib import Path

import numpy as np
import pytest

import dalenius as dl
from dalenius.auditing import audit
from dalenius.auditing.attacks import Attack
from dalenius.auditing.holdout import record_of
from dalenius.cli import app
from dalenius.engines import default
from dalenius.measures import accuracy
from dalenius.measures.accuracy import MARGIN, Rate, Shift, judge, rate
from dalenius.reports import terminal

SCHEMA = dl.Schema([dl.Column("zip", "quasi"), dl.Column("disease", "sensitive")])
Table = dict[str, list[str]]


def table(zips: list[str], values: list[str]) -> Table:
    return {"zip": zips, "disease": values}


def part(whole: Table, chosen: np.ndarray) -> Table:
    return {name: [texts[i] for i in np.flatnonzero(chosen).tolist()] for name, texts in whole.items()}


def population(n: int, rng: np.random.Generator, household: int = 1) -> tuple[Table, np.ndarray]:
    """People in households; those of one household have the same disease half of the time."""
    house = np.arange(n) // household
    shared = rng.integers(0, 3, size=house[-1] + 1)
    own = rng.integers(0, 3, size=n)
    value = np.where(rng.random(n) < 0.5, shared[house], own) if household > 1 else own
    zips = [f"z{i % (n // 6)}" for i in range(n)]
    return table(zips, [("Flu", "Gout", "Pox")[v] for v in value.tolist()]), house


@pytest.mark.slow
@pytest.mark.parametrize("household", [1, 4])
def test_honest_splits_are_controls(household: int) -> None:
    """By p < 0.05 one in twenty was refused, and one in four where households were drawn together."""
    off = 0
    for seed in range(40):
        rng = np.random.default_rng(seed)
        whole, house = population(6000, rng, household)
        out = (rng.random(house[-1] + 1) < 0.3)[house]
        found = audit(part(whole, ~out), SCHEMA, truth=part(whole, ~out), holdout=part(whole, out)).attacks[0]
        off += found.shift.least > 0
        assert found.comparable
        assert found.shift.least <= MARGIN
        assert found.verdict == "leaks about persons"  # about four people of each ZIP are published: a clear gain
    assert off >= (1 if household == 1 else 4)  # these the old rule refused


def differing(share: float) -> tuple[Table, Table]:
    """A thousand people of whom half have the flu, and others of whom this share has it. Nothing depends on the ZIP."""
    mine = table([f"z{i % 10}" for i in range(1000)], ["Flu" if i % 20 < 10 else f"v{i % 7}" for i in range(1000)])
    flu = round(1000 * share)
    theirs = table([f"z{i % 10}" for i in range(1000)], ["Flu" if i < flu else f"v{i % 7}" for i in range(1000)])
    return mine, theirs


@pytest.mark.parametrize(("share", "comparable"), [(0.5, True), (0.44, True), (0.4, False), (0.2, False)])
def test_people_who_differ_much_are_none(share: float, comparable: bool) -> None:
    mine, theirs = differing(share)
    found = audit(mine, SCHEMA, truth=mine, holdout=theirs).attacks[0]
    naive, others = rate(500, 1000), rate(round(1000 * share), 1000)
    assert found.shift == Shift.between(naive, others)
    assert found.comparable == comparable == (found.shift.least <= MARGIN)


def test_how_much_is_what_the_interval_leaves() -> None:
    one, other = Rate(0.5, 0.48, 0.52, 900), Rate(0.4, 0.37, 0.43, 900)
    for pair in ((one, other), (other, one)):
        found = Shift.between(*pair)
        assert found.least == pytest.approx(0.1 - np.hypot(0.02, 0.03))
        assert found.most == pytest.approx(0.1 + np.hypot(0.02, 0.03))
    assert Shift.between(one, Rate(0.49, 0.46, 0.52, 900)) == Shift(0.0, 0.0)
    assert Shift.between(one, Rate.undefined()) == Shift(0.0, 0.0)


@pytest.mark.parametrize(("flu", "most"), [(0.5, 0.06), (0.45, 0.06)])
def test_another_population_is_rarely_taken_for_a_leak(flu: float, most: float) -> None:
    """Two classes with thousands of people each, of whom nobody is given away: 200 tables, controls with more or less flu.

    Without an allowance for all that the difference may be, most of those with less flu were called leaks.
    """
    rng = np.random.default_rng(11)
    wrong = 0
    for _ in range(200):
        n = 2000
        counts = [rng.binomial(n // 2, p) for p in (0.5 + 0.3, 0.5 - 0.3, flu + 0.3, flu - 0.3)]
        tables = []
        for first, second in (counts[:2], counts[2:]):
            values = [["Flu"] * k + ["Gout"] * (n // 2 - k) for k in (first, second)]
            tables.append(table(["a"] * (n // 2) + ["b"] * (n // 2), values[0] + values[1]))
        mine, theirs = tables
        right = rate(max(counts[0], n // 2 - counts[0]) + max(counts[1], n // 2 - counts[1]), n)
        guesses = [counts[0] * 2 >= n // 2, counts[1] * 2 >= n // 2]
        control = rate(sum(k if guess else n // 2 - k for k, guess in zip(counts[2:], guesses, strict=True)), n)
        mode = counts[0] + counts[1] >= n / 2
        naive, others = ((k if mode else n - k) for k in (counts[0] + counts[1], counts[2] + counts[3]))
        shift = Shift.between(rate(naive, n), rate(others, n))
        gain = accuracy.gain(right, control)
        wrong += shift.least <= MARGIN and judge(gain, shift=shift.most) == "leaks about persons"
        if _ < 3:  # what is simulated here is what an audit does
            found = audit(mine, SCHEMA, truth=mine, holdout=theirs).attacks[0]
            assert found.shift == shift
            assert found.gain == gain
    assert wrong <= most * 200


def test_a_policy_is_not_violated_by_the_difference() -> None:
    mine, theirs = differing(0.44)
    schema = dataclasses.replace(SCHEMA, policy={"max_attacker_gain": 0.05})
    found = audit(mine, schema, truth=mine, holdout=theirs)
    assert found.attacks[0].gain.value > 0.05
    assert found.attacks[0].verdict == "not enough data to say"
    assert [(one.outcome, one.reason) for one in found.thresholds] == [
        ("not tested", "the held-out people differ, which may explain the gain")
    ]


def test_a_gain_that_the_difference_may_explain_is_none() -> None:
    """A gain of three points, surely above 0, and people who surely differ by two."""
    small, large = Rate(0.03, 0.01, 0.04, 900), Rate(0.184, 0.169, 0.199, 900)
    assert judge(small) == "leaks about persons"
    assert judge(small, shift=0.02) == "not enough data to say"
    assert judge(large, shift=0.02) == "leaks about persons"
    assert judge(Rate(0.0, -0.02, 0.03, 900), shift=0.0) == "only about the population"
    assert judge(Rate(0.0, -0.02, 0.03, 900), shift=0.03) == "not enough data to say"
    assert judge(small, Rate(0.05, 0.04, 0.06, 900), shift=0.02) == "leaks about persons"


def test_page_and_verdict_say_the_same() -> None:
    for share in (0.44, 0.2):
        mine, theirs = differing(share)
        found = audit(mine, SCHEMA, truth=mine, holdout=theirs)
        text = " ".join(" ".join(terminal.lines(found)).split())
        refused = "They cannot serve as a control." in " ".join(found.limits)
        assert refused == (not found.attacks[0].comparable) == ("so they cannot serve as a control" in text)
        assert ("a gain up to that is not called a leak" in text) == found.attacks[0].comparable
        if refused:
            assert found.attacks[0].verdict == "not enough data to say"


def skewed(folder: Path) -> tuple[Path, Path]:
    """Files of people who differ much."""
    for name, some in zip(("kept.csv", "others.csv"), differing(0.2), strict=True):
        lines = ["zip,disease", *map(",".join, zip(some["zip"], some["disease"], strict=True))]
        (folder / name).write_text("\n".join(lines) + "\n", encoding="utf-8")
    return folder / "kept.csv", folder / "others.csv"


def attacked(kept: Path, others: Path) -> Attack:
    return audit(str(kept), SCHEMA, truth=str(kept), holdout=str(others)).attacks[0]


def test_a_control_that_split_made_is_trusted(tmp_path: Path) -> None:
    """By its record, as long as both files are those that it was written for."""
    kept, others = skewed(tmp_path)
    assert not attacked(kept, others).comparable
    digests = {
        name: hashlib.sha256(path.read_bytes()).hexdigest() for name, path in (("published", kept), ("others", others))
    }
    record_of(others).write_text(json.dumps({"sha256": digests}), encoding="utf-8")
    trusted = attacked(kept, others)
    assert (trusted.comparable, trusted.shift) == (True, Shift())
    for broken in ("", "{}", "[]", '{"sha256": 3}', "not JSON", json.dumps({"sha256": {**digests, "others": "0"}})):
        record_of(others).write_text(broken, encoding="utf-8")
        assert not attacked(kept, others).comparable
    record_of(others).write_text(json.dumps({"sha256": digests}), encoding="utf-8")
    others.write_text(others.read_text(encoding="utf-8") + "z1,Flu\n", encoding="utf-8")
    assert not attacked(kept, others).comparable


def test_split_records_what_it_made(tmp_path: Path) -> None:
    rng = np.random.default_rng(5)
    whole, _ = population(400, rng)
    source, kept, others = (tmp_path / name for name in ("all.csv", "kept.csv", "others.csv"))
    lines = ["zip,disease", *map(",".join, zip(whole["zip"], whole["disease"], strict=True))]
    source.write_text("\n".join(lines) + "\n", encoding="utf-8")
    assert app.run(["split", str(source), "-o", str(kept), "--others", str(others), "--seed", "3", "--quiet"]) == 0
    said = json.loads(record_of(others).read_text(encoding="utf-8"))
    assert (said["seed"], said["share"]) == (3, 0.3)
    opened = default().open(kept)
    assert opened.total() == 280
    assert attacked(kept, others).comparable
    assert attacked(kept, others).shift == Shift()
