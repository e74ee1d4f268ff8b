"""Where people of the table fit no class, every success and gain is a lower bound, and every report says so."""

from __future__ import annotations

import dataclasses
import json
import re
from pathlib import Path

import pytest

import dalenius as dl
from dalenius.auditing import Audit, audit
from dalenius.auditing.axes import RISKS, UTILITIES
from dalenius.auditing.candidates import Candidate
from dalenius.auditing.frontier import TradeOff, point_of
from dalenius.cli import app
from dalenius.reports import frontier, html, terminal

SCHEMA = dl.Schema(
    [
        dl.Column("zip", "quasi", domain=dl.Domain(tuple("abcdef"))),
        dl.Column("disease", "sensitive", domain=dl.Domain(("Flu", "Gout", "Pox"))),
    ]
)
TRUTH = {"zip": list("aabbccdd") * 5, "disease": ["Flu", "Gout", "Pox", "Flu", "Flu"] * 8}
OTHERS = {"zip": list("abca") * 10, "disease": ["Flu", "Pox", "Gout", "Flu"] * 10}
PERTURBED = {**TRUTH, "zip": ["e" if zip_ == "d" else zip_ for zip_ in TRUTH["zip"]]}
LOST = TRUTH["zip"].count("d")


def audited(release: dict[str, list[str]]) -> Audit:
    return audit(release, SCHEMA, truth=TRUTH, holdout=OTHERS)


def flat(text: str) -> str:
    return " ".join(re.sub(r"<[^>]*>", " ", text).split())


def test_the_numbers_are_marked() -> None:
    told, plain = audited(PERTURBED), audited(TRUTH)
    for found, lost in ((told, LOST), (plain, 0)):
        for attack, shown in zip(found.attacks, found.to_document()["attacks"], strict=True):
            assert attack.unmatched == lost
            assert attack.lower_bound == shown["lower_bound"] == (lost > 0)
        assert all(one.unmatched == lost for one in found.threats.values())


def test_a_gain_over_people_who_fit_no_class_either_is_no_bound() -> None:
    """Who knows that d became e is right about them as well: the gain may be smaller."""
    elsewhere = {**OTHERS, "zip": ["d" if i % 4 == 3 else zip_ for i, zip_ in enumerate(OTHERS["zip"])]}
    found = audit(PERTURBED, SCHEMA, truth=TRUTH, holdout=elsewhere)
    attack = found.attacks[0]
    assert (attack.lower_bound, attack.gain_lower_bound, attack.control_unmatched) == (True, False, 10)
    text = flat("\n".join(terminal.lines(found)))
    assert "gain at least" not in text
    assert "success is a lower bound, gain is not" in text


def test_the_terminal_and_the_page_say_at_least() -> None:
    told, plain = audited(PERTURBED), audited(TRUTH)
    first = told.attacks[0]
    success, gain = f"{first.success.value:.1%}", f"{100 * first.gain.value:+.1f} points"
    text, page = flat("\n".join(terminal.lines(told))), flat(html.page(told, {}))
    assert f"at least {success}" in text
    assert f"gain at least {gain}" in text
    assert f"at least {success}" in page
    assert f"at least {gain}" in page
    assert f"the best adversary is correct for at least {max(one.success.value for one in told.attacks):.1%}" in page
    assert any(
        f"{LOST} of 40 people of the table fit no class" in limit and "lower bound" in limit for limit in told.limits
    )
    for told_of_plain in (flat("\n".join(terminal.lines(plain))), flat(html.page(plain, {}))):
        assert "lower bound" not in told_of_plain
        assert "at least +" not in told_of_plain
        assert f"at least {plain.attacks[0].success.value:.1%}" not in told_of_plain


@pytest.mark.parametrize("risk", ["attacker", "gain", "random-worlds", "perfect-breach", "relative-threat"])
def test_a_table_of_releases_marks_them(risk: str) -> None:
    points = [point_of(Candidate("mondrian", {"k": k}), audited(one), 0.4) for k, one in ((2, PERTURBED), (3, TRUTH))]
    found = TradeOff(tuple(points), RISKS[risk], UTILITIES["loss"], 0)
    lines = [line for line in frontier.lines("some", found) if "mondrian" in line]
    assert sorted("≥" in line for line in lines) == [False, True]
    assert any("On 1 release, people in the table match no class" in note for note in frontier.notes(found))
    link = dataclasses.replace(found, risk=RISKS["closeness"])
    assert not any("≥" in line for line in frontier.lines("some", link) if "mondrian" in line)


def test_the_attack_says_it(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for name, table in (("truth", TRUTH), ("others", OTHERS), ("perturbed", PERTURBED)):
        lines = ["zip,disease", *map(",".join, zip(table["zip"], table["disease"], strict=True))]
        (tmp_path / f"{name}.csv").write_text("\n".join(lines) + "\n", encoding="utf-8")
    (tmp_path / "p.toml").write_text(
        '[columns.zip]\nrole = "quasi"\ndomain = ["a","b","c","d","e","f"]\n[columns.disease]\nrole = "sensitive"\n',
        encoding="utf-8",
    )
    paths = {name: str(tmp_path / f"{name}.csv") for name in ("truth", "others", "perturbed")}
    common = ["--truth", paths["truth"], "--holdout", paths["others"], "--schema", str(tmp_path / "p.toml")]
    for adversary in ("random-worlds", "attacker"):
        code = app.run(
            ["attack", paths["perturbed"], "--adversary", adversary, *common, "--json", str(tmp_path / "a.json")]
        )
        assert code == 0
        text = capsys.readouterr().out
        assert f"{LOST} people match no class, so success and gain are lower bounds." in text
        rows = re.sub(r"\n {20,}", " ", text).splitlines()  # a long meaning goes on below itself
        marked = [row for row in rows if row.endswith(", a lower bound")]
        assert [line.split()[0] for line in marked] == ["success", "gain", "random_worlds"]
        document = json.loads((tmp_path / "a.json").read_text(encoding="utf-8"))
        assert (document["lower_bound"], document["people_unmatched"]) == (True, LOST)
    assert "the attacker's figures are lower bounds" in " ".join(text.split())
