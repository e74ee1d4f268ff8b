"""Who is known for certain: suppressed rows do not hide it, and a value that is missing is nobody's secret."""

from __future__ import annotations

import dataclasses
import json
import math
from collections import Counter
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import dalenius as dl
from dalenius.auditing import Audit, audit
from dalenius.cli import app

Rows = list[tuple[str, str, str]]  # what somebody knows of the person, what is published of it, the value


def schema(**more: Any) -> dl.Schema:
    columns = (dl.Column("who", "quasi"), dl.Column("disease", "sensitive"))
    return dl.Schema(columns, **more)


def audited(rows: Rows, others: Rows = [], **more: Any) -> Audit:  # noqa: B006 - it is only read
    def table(some: Rows, which: int) -> dict[str, list[str]]:
        return {"who": [row[which] for row in some], "disease": [row[2] for row in some]}

    held = table(others, 0) if others else None
    return audit(table(rows, 1), schema(**more), truth=table(rows, 0), holdout=held)


def survey(suppressed: int) -> Rows:
    """Fifty women who all have HIV, fifty mixed men, and some more whose row is suppressed."""
    women: Rows = [("woman", "woman", "HIV")] * 50
    men: Rows = [("man", "man", "Flu" if i % 2 else "Gout") for i in range(50)]
    return women + men + [("man", "*", "Flu")] * suppressed


# --- Suppressed rows ---------------------------------------------------------------------------------------------------


def test_one_suppressed_row_does_not_switch_the_policy_off() -> None:
    policy = {"max_perfect_breach": 0.05}
    before, after = audited(survey(0), policy=policy), audited(survey(1), policy=policy)
    assert (before.attacks[0].perfect_breach, before.attacks[0].perfect_breach_sure) == (0.5, 0.5)
    assert after.attacks[0].perfect_breach == pytest.approx(50 / 101)
    assert after.attacks[0].perfect_breach_sure == 0  # the suppressed row could be anybody's
    assert [threshold.outcome for threshold in (*before.thresholds, *after.thresholds)] == ["violated", "violated"]
    assert after.thresholds[0].measured == pytest.approx(50 / 101)
    assert after.to_document()["attacks"][0]["perfect_breach_sure"] == 0


def test_what_holds_in_any_case_stands_beside_it() -> None:
    """A suppressed row with the same value hides nothing: then both are the same."""
    rows = [*survey(0), ("woman", "*", "HIV")]
    found = audited(rows).attacks[0]
    assert (found.perfect_breach, found.perfect_breach_sure) == (pytest.approx(51 / 101), pytest.approx(51 / 101))


def test_who_fits_no_class_must_be_suppressed() -> None:
    """That is known in any case; if all suppressed rows have one value, it is known for certain."""
    found = audited([*survey(0), ("child", "*", "Pox")]).attacks[0]
    assert found.perfect_breach == pytest.approx(51 / 101)
    assert found.perfect_breach_sure == pytest.approx(1 / 101)


def test_without_the_truth_certainty_assumes_the_same() -> None:
    rows = survey(1)
    found = audit({"who": [row[1] for row in rows], "disease": [row[2] for row in rows]}, schema()).attacks[0]
    assert (found.confidence.certain, found.confidence.certain_sure) == (0.5, 0.0)


def test_people_in_classes_of_one_value_are_at_risk_for_certain() -> None:
    first = audited(survey(1)).at_risk[0]
    assert (first.level, first.alike, first.value) == ("certain", 50, "HIV")
    assert first.belief == pytest.approx(50 / 50.5)  # the suppressed row may be that of a woman or of a man


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(20))
def test_certainty_against_plain_counting(seed: int) -> None:
    """Random classes, overlapping ones among them, with and without missing values: line by line."""
    rng = np.random.default_rng(seed)
    leaves = ["a", "b", "c", "d"]
    labels = {"a": ["a", "{a, b}"], "b": ["b", "{a, b}"], "c": ["c", "{b, c}"], "d": ["d"]}
    values = ["Flu", "Gout", "HIV", ""] if seed % 2 else ["Flu", "Gout"]
    rows: Rows = [("d", "d", "Flu")]
    for _ in range(int(rng.integers(5, 14))):
        leaf = leaves[int(rng.integers(4))]
        label = "*" if rng.random() < 0.15 else labels[leaf][int(rng.integers(len(labels[leaf])))]
        rows.append((leaf, label, values[int(rng.integers(len(values)))]))
    whole = audited(rows)
    found = whole.attacks[0]
    inside = {"*": leaves, **{label: [x for x in leaves if x in label] for leaf in leaves for label in labels[leaf]}}
    domain = {leaf for leaf, _, _ in rows} | {x for _, label, _ in rows if label != "*" for x in inside[label]}

    def believed(leaf: str, *, suppressed: bool) -> dict[str, Fraction]:
        """Of somebody who has a value."""
        weights: Counter[str] = Counter()
        for _, label, value in rows:
            if label == "*":
                weights[value] += Fraction(suppressed, len(domain))  # type: ignore[assignment]
            elif leaf in inside[label]:
                weights[value] += Fraction(1, len(inside[label]))  # type: ignore[assignment]
        weights.pop("", None)
        return {value: Fraction(weight) for value, weight in weights.items() if weight}

    have = [(leaf, value) for leaf, _, value in rows if value]
    sure = assumed = 0
    right = Fraction(0)
    shares = Counter(value for _, value in have)
    for leaf, value in have:
        anyhow = believed(leaf, suppressed=True)
        inside_class = believed(leaf, suppressed=False) or anyhow
        sure += set(anyhow) == {value}
        assumed += set(inside_class) == {value}
        guessed = anyhow or {name: Fraction(n) for name, n in shares.items()}
        said = [name for name, weight in guessed.items() if weight == max(guessed.values())]
        right += Fraction(value in said, len(said))
    n = len(have)
    assert found.success.n == n
    assert found.missing == len(rows) - n
    assert found.success.value == pytest.approx(float(right / n))
    assert found.perfect_breach == pytest.approx(assumed / n)
    assert found.perfect_breach_sure == pytest.approx(sure / n)
    for attacker in whole.attacks[1:]:  # with some prior for everything it holds possible what random worlds does
        assert (attacker.adversary, attacker.belief.method) == ("attacker", "exact")
        assert attacker.perfect_breach == pytest.approx(assumed / n)


# --- Missing values ----------------------------------------------------------------------------------------------------


def unanswered() -> Rows:
    """Eighty people who gave no answer, all in one class; twelve with HIV, all in another; eight mixed."""
    silent: Rows = [("old", "old", "")] * 80
    mixed: Rows = [("young", "young", "Flu" if i % 2 else "Gout") for i in range(8)]
    return silent + [("middle", "middle", "HIV")] * 12 + mixed


def test_that_a_value_is_missing_is_no_secret() -> None:
    found = audited(unanswered(), policy={"max_perfect_breach": 0.7})
    attack = found.attacks[0]
    assert (attack.missing, attack.success.n) == (80, 20)
    assert attack.perfect_breach == pytest.approx(12 / 20)
    assert attack.success.value == pytest.approx(16 / 20)
    assert attack.naive.value == pytest.approx(12 / 20)  # the commonest value that is one
    assert found.verdict == "passed"
    assert found.to_document()["attacks"][0]["missing"] == 80
    assert any("80" in limit and "no value of disease" in limit for limit in found.limits)


def test_the_schema_can_make_it_a_secret() -> None:
    attack = audited(unanswered(), missing_is_secret=True).attacks[0]
    assert (attack.missing, attack.success.n) == (0, 100)
    assert attack.perfect_breach == pytest.approx(92 / 100)
    assert attack.success.value == pytest.approx(96 / 100)
    assert attack.naive.value == pytest.approx(80 / 100)


def test_whoever_has_a_value_has_the_only_one_there_is() -> None:
    """In a class of nine who gave no answer and one with HIV, who has a value has HIV."""
    rows: Rows = [("old", "old", "")] * 9 + [("old", "old", "HIV")] + [("young", "young", "Flu")] * 10
    attack = audited(rows).attacks[0]
    assert (attack.success.n, attack.success.value, attack.perfect_breach) == (11, 1.0, 1.0)


def test_held_out_people_without_a_value_are_no_control() -> None:
    others: Rows = [("old", "", "")] * 30 + [("young", "", "Flu")] * 6 + [("young", "", "Gout")] * 4
    attack = audited(unanswered(), others).attacks[0]
    assert attack.control.n == 10
    assert attack.control.value == pytest.approx(0.5)


def test_relative_threats_are_of_people_with_a_value() -> None:
    rows = unanswered()
    whole = audited(rows).threats["disease"].threats
    secret = audited(rows, missing_is_secret=True).threats["disease"].threats
    assert whole.baseline_accuracy == pytest.approx(12 / 20)
    assert secret.baseline_accuracy == pytest.approx(80 / 100)
    assert pytest.approx(16 / 20) == whole.GT_RW
    assert pytest.approx(96 / 100) == secret.GT_RW
    for one in (whole, secret):
        assert not any(math.isnan(value) for name, value in dataclasses.asdict(one).items() if "skewness" not in name)


def test_nobody_is_at_risk_of_having_no_value() -> None:
    found = audited(unanswered())
    assert found.at_risk
    assert all(person.value != "" for person in found.at_risk)


def test_a_column_without_any_value_is_refused() -> None:
    rows: Rows = [("old", "old", "")] * 5 + [("young", "young", "")] * 5
    with pytest.raises(dl.InputError, match="Nobody has a value of 'disease'"):
        audited(rows)
    with pytest.raises(dl.InputError, match="Nobody has a value of 'disease'"):
        audit({"who": ["old"] * 3, "disease": [""] * 3}, schema())
    assert audited(rows, missing_is_secret=True).attacks[0].perfect_breach == 1


def test_without_the_truth_people_count_by_how_likely_they_have_a_value() -> None:
    """Nine without a value and one with HIV, and ten mixed: of eleven people one is known for certain."""
    rows = [("old", "")] * 9 + [("old", "HIV")] + [("young", "Flu")] * 5 + [("young", "Gout")] * 5
    found = audit({"who": [who for who, _ in rows], "disease": [value for _, value in rows]}, schema()).attacks[0]
    assert found.confidence.certain == pytest.approx(1 / 11)
    assert found.confidence.mean == pytest.approx((1 + 10 * 0.5) / 11)


def test_no_value_in_the_class_is_as_no_class() -> None:
    """Somebody whose class holds nobody with a value is guessed as anybody, by every attacker alike, and that is said."""
    rows: Rows = [("d", "d", "")] * 3 + [("e", "d", "")] * 2 + [("d", "e", "Flu")] * 2 + [("a", "a", "Gout")] * 4
    rows += [("a", "a", "Flu")] * 3
    found = audited(rows, policy={"max_attacker_accuracy": 0.9})
    worlds, attacker = found.attacks
    assert (worlds.unmatched, attacker.unmatched) == (2, 2)
    assert found.threats["disease"].unmatched == 2
    assert pytest.approx(attacker.success.value) == found.threats["disease"].threats.GT_A
    assert found.thresholds[0].outcome == "not tested"
    assert not any(
        math.isnan(one["people"]) for one in found.to_document()["relative_threats"]["disease"]["log2_Ti_histogram"]
    )


def test_the_policy_sees_whoever_assumes_that_nobody_is_suppressed() -> None:
    """Two classes of one value each, and ninety suppressed people who fit none: assuming so, everybody is known."""
    sets = ["{" + ", ".join(f"z{j}" for j in range(first, first + 20)) + "}" for first in (0, 20)]
    rows: Rows = [(f"z{i}", sets[i // 20], f"v{i // 20}") for i in range(40)]
    rows += [("y", "*", "Flu")] * 90
    found = audited(rows, policy={"max_attacker_accuracy": 0.9})
    attack = found.attacks[0]
    assert attack.success_assumed.value == attack.perfect_breach == 1.0
    assert attack.success.value < 0.9
    assert found.thresholds[0].outcome == "violated"


def test_values_that_only_held_out_people_miss() -> None:
    """The control has a coding of its own: "missing" is a value there and not in the table."""
    mine: Rows = [("a", "a", "Flu"), ("a", "a", "Gout"), ("b", "b", "Flu"), ("b", "b", "Flu")] * 5
    others: Rows = [("a", "", "Flu"), ("b", "", ""), ("b", "", "Flu")] * 4
    attack = audited(mine, others).attacks[0]
    assert (attack.missing, attack.control.n) == (0, 8)
    assert attack.control.value == pytest.approx((4 * 0.5 + 4) / 8)
    assert attack.control_breach == pytest.approx(4 / 8)


def test_the_control_assumes_the_same() -> None:
    """Held-out people in a class of one value are known for certain as well, with a suppressed row or without."""
    others: Rows = [("woman", "", "HIV")] * 10 + [("man", "", "Flu")] * 10
    assert (
        audited(survey(1), others).attacks[0].control_breach
        == audited(survey(0), others).attacks[0].control_breach
        == 0.5
    )


def test_the_attack_says_how_many_have_no_value(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """With rates and without."""
    rows = unanswered()
    text = "who,disease\n" + "".join(f"{who},{value}\n" for who, _, value in rows)
    for name in ("t.csv", "r.csv"):
        (tmp_path / name).write_text(text, encoding="utf-8")
    (tmp_path / "p.toml").write_text('sensitive = "disease"\n[columns.who]\nrole = "quasi"\n', encoding="utf-8")
    names = {name: str(tmp_path / name) for name in ("t.csv", "r.csv", "p.toml", "a.json")}
    for more in ([], ["--adversary", "random-worlds"]):
        call = ["attack", names["r.csv"], "--truth", names["t.csv"], "--schema", names["p.toml"], *more]
        assert app.run([*call, "--json", names["a.json"]]) == 0
        assert capsys.readouterr().out.count("Not counted: 80 people without a value.") == 1
        assert json.loads(Path(names["a.json"]).read_text(encoding="utf-8"))["missing"] == 80
