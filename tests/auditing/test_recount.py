"""An audit's rates, risks and people, recounted by a plain loop over the files it was made of."""

from __future__ import annotations

import csv
import hashlib
from fractions import Fraction
from pathlib import Path

import pytest

import dalenius as dl
from dalenius.auditing import Audit, audit
from dalenius.auditing.attacks import Attack
from dalenius.measures import accuracy
from tests.auditing import recount
from tests.auditing.conftest import QUASI, Hospital
from tests.auditing.recount import Believe, Recount

ADULT = ("sex", "age", "race", "marital-status", "education", "native-country", "workclass", "salary-class")


@pytest.fixture(scope="module")
def audited(hospital: Hospital) -> Audit:
    schema = dl.Schema.load(hospital.schema)
    return audit(hospital.release, schema, truth=hospital.table, holdout=hospital.holdout)


@pytest.fixture(scope="module")
def believe(hospital: Hospital) -> Believe:
    return recount.of_labels(recount.rows(hospital.release), QUASI, "disease", hospital.trees)


def only(found: Audit) -> Attack:
    """Random worlds; the attacker comes after it where it is played, and has its own tests."""
    assert [attack.adversary for attack in found.attacks][:2] in (["random-worlds"], ["random-worlds", "attacker"])
    return found.attacks[0]


def counted(
    believe: Believe,
    table: Path,
    quasi: tuple[str, ...],
    sensitive: str,
    delimiter: str = ",",
    *,
    released: Path | None = None,
) -> Recount:
    """The attack on a table's people; `released` is the table of the release where that is another one."""
    rows = recount.rows(table, delimiter)
    values = [row[sensitive] for row in recount.rows(released or table, delimiter)]
    return recount.recount(believe, recount.people(rows, quasi), [row[sensitive] for row in rows], values)


def agree(attack: Attack, inside: Recount) -> None:
    """Every rate over the table's people."""
    assert (attack.success.n, attack.unmatched) == (inside.n, inside.unmatched)
    assert attack.success.value == pytest.approx(float(inside.successes / inside.n), abs=1e-12)
    limits = accuracy.rate(float(inside.successes), inside.n)
    assert (attack.success.low, attack.success.high) == pytest.approx((limits.low, limits.high), abs=1e-9)
    assert attack.perfect_breach == pytest.approx(inside.breached / inside.n)
    assert attack.high_confidence.n == inside.sure
    if inside.sure:
        assert attack.high_confidence.value == pytest.approx(float(inside.sure_successes / inside.sure))
    assert sum(b.right.n for b in attack.calibration) == inside.n - inside.unmatched
    assert sum(b.right.value * b.right.n for b in attack.calibration) == pytest.approx(float(inside.successes))


# --- A lattice release with truth and held-out people ------------------------------------------------------------------


def test_success_naive_and_breach(audited: Audit, believe: Believe, hospital: Hospital) -> None:
    inside = counted(believe, hospital.table, QUASI, "disease")
    assert 0 < inside.successes < inside.n
    agree(only(audited), inside)
    values = [row["disease"] for row in recount.rows(hospital.release)]
    truth = [row["disease"] for row in recount.rows(hospital.table)]
    assert only(audited).naive.value == pytest.approx(float(recount.commonest(values, truth)))


def test_control_gain_and_residual(audited: Audit, believe: Believe, hospital: Hospital) -> None:
    inside = counted(believe, hospital.table, QUASI, "disease")
    outside = counted(believe, hospital.holdout, QUASI, "disease", released=hospital.table)
    attack = only(audited)
    assert (audited.held_out, attack.control.n, attack.control_kind) == (outside.n, outside.n, "held-out people")
    success, control = inside.successes / inside.n, outside.successes / outside.n
    assert attack.control.value == pytest.approx(float(control), abs=1e-12)
    assert attack.gain.value == pytest.approx(float(success - control), abs=1e-12)
    assert attack.residual == pytest.approx(float((success - control) / (1 - control)))
    assert attack.verdict == accuracy.judge(attack.gain)


def test_sizes_and_risks(audited: Audit, hospital: Hospital) -> None:
    rows = [tuple(row[name] for name in QUASI) for row in recount.rows(hospital.release)]
    inside = [row for row in rows if set(row) != {"*"}]
    assert len(inside) < len(rows)  # some are suppressed, or this shows less than it means to
    sizes = {row: inside.count(row) for row in set(inside)}
    release = audited.release
    assert (release.people, release.groups, release.suppressed) == (len(rows), len(sizes), len(rows) - len(inside))
    alike = [rows.count(row) for row in rows]  # the classes are apart, and whoever fits none is among the suppressed
    assert audited.risks.singled_out == sum(n == 1 for n in alike) / len(rows)
    assert audited.risks.highest == pytest.approx(1 / min(alike))
    assert audited.risks.average == pytest.approx(sum(1 / n for n in alike) / len(rows))
    assert audited.risks.at_risk == pytest.approx(sum(n < 5 for n in alike) / len(rows))
    assert not audited.risks.upper_bound
    assert audited.levels["disease"]["k_anonymity", "k"].value == min(sizes.values())


def test_the_people_most_at_risk_are_those(audited: Audit, believe: Believe, hospital: Hospital) -> None:
    """The surest beliefs, whoever is right: nothing of it depends on the truth."""
    table = recount.rows(hospital.table)
    surest = recount.surest(believe, table, QUASI, "disease")
    worst = sorted(((best, ratio) for best, ratio, _ in surest.values() if ratio > 1), reverse=True)[:10]
    assert [person.belief for person in audited.at_risk] == pytest.approx([best for best, _ in worst])
    assert [person.belief / person.baseline for person in audited.at_risk] == pytest.approx([r for _, r in worst])
    for person in audited.at_risk:
        mine = {tuple(table[row][name] for name in QUASI) for row in person.rows}
        assert len(mine) == 1
        known = mine.pop()
        alike = [i for i, row in enumerate(table) if tuple(row[name] for name in QUASI) == known]
        assert (person.alike, list(person.rows)) == (len(alike), alike[:3])
        assert float(believe(known)[person.value]) == pytest.approx(person.belief)
        assert person.right == sum(table[i]["disease"] == person.value for i in alike)


def test_the_attribute_that_gives_a_person_away(audited: Audit, believe: Believe, hospital: Hospital) -> None:
    """The one without which the value guessed is believed least."""
    table = recount.rows(hospital.table)
    for person in audited.at_risk:
        row = table[person.rows[0]]
        known = tuple(row[name] for name in QUASI)
        without = [float(believe((*known[:a], None, *known[a + 1 :])).get(person.value, 0)) for a in range(len(QUASI))]
        assert person.attribute == QUASI[without.index(min(without))]
        assert person.belief_without == pytest.approx(min(without))


def test_hashes_are_those_of_the_files(audited: Audit, hospital: Hospital) -> None:
    files = {"release": hospital.release, "truth": hospital.table, "holdout": hospital.holdout}
    assert audited.hashes == {name: hashlib.sha256(path.read_bytes()).hexdigest() for name, path in files.items()}


# --- Other releases ----------------------------------------------------------------------------------------------------


def test_a_raw_table_as_release(hospital: Hospital) -> None:
    """Whoever is alone with their quasi-identifiers is known; of held-out people who fit nobody the commonest value is guessed."""
    schema = dl.Schema.load(hospital.schema)
    found = audit(hospital.table, schema, truth=hospital.table, holdout=hospital.holdout)
    leaves = {name: {label: s for label, s in hospital.trees[name].items() if len(s) == 1} for name in QUASI}
    believe = recount.of_labels(recount.rows(hospital.table), QUASI, "disease", leaves)
    agree(only(found), counted(believe, hospital.table, QUASI, "disease"))
    assert only(found).success.value > 0.9
    outside = counted(believe, hospital.holdout, QUASI, "disease", released=hospital.table)
    assert outside.unmatched > 100
    assert only(found).control.value == pytest.approx(float(outside.successes / outside.n))
    assert only(found).verdict == "leaks about persons"


@pytest.mark.slow
def test_an_anatomized_release(hospital: Hospital, tmp_path: Path) -> None:
    """Groups of five in the table's order, the link between tuple and value cut."""
    table = recount.rows(hospital.table)
    for part, names in (("quasi", QUASI), ("sensitive", ("disease",))):
        with (tmp_path / f"anatomy.{part}.csv").open("w", encoding="utf-8", newline="") as file:
            writer = csv.writer(file)
            writer.writerow(["group", *names])
            writer.writerows([f"g{i // 5}", *(row[name] for name in names)] for i, row in enumerate(table))
    files = [tmp_path / "anatomy.quasi.csv", tmp_path / "anatomy.sensitive.csv"]
    believe = recount.of_groups(recount.rows(files[0]), recount.rows(files[1]), QUASI, "disease")
    schema = dl.Schema.load(hospital.schema)
    found = audit(str(tmp_path / "anatomy"), schema, truth=hospital.table, holdout=hospital.holdout)
    assert found.release.kind == "anatomized"
    agree(only(found), counted(believe, hospital.table, QUASI, "disease"))
    outside = counted(believe, hospital.holdout, QUASI, "disease", released=hospital.table)
    assert only(found).control.value == pytest.approx(float(outside.successes / outside.n))
    whole = hashlib.sha256(files[0].read_bytes() + files[1].read_bytes()).hexdigest()
    assert found.hashes["release"] == whole
    one_file_named = audit(f"{files[0]}+{files[1]}", schema, truth=hospital.table)
    assert one_file_named.hashes["release"] == whole


def test_several_sensitive_columns(hospital: Hospital, tmp_path: Path) -> None:
    """Each column is attacked by itself; the other one is nothing that the adversary knows."""
    schema_text = hospital.schema.read_text(encoding="utf-8")
    schema_text = schema_text.replace('sensitive = "disease"', 'sensitive = ["disease", "admission"]').replace(
        '[columns.admission]\nrole = "other"', '[columns.admission]\nrole = "sensitive"'
    )
    schema_text = schema_text.replace('hierarchies = "."', f'hierarchies = "{hospital.folder}"')
    (tmp_path / "privacy.toml").write_text(schema_text, encoding="utf-8")
    schema = dl.Schema.load(tmp_path / "privacy.toml")
    found = audit(hospital.release, schema, truth=hospital.table, holdout=hospital.holdout)
    worlds = [attack for attack in found.attacks if attack.adversary == "random-worlds"]
    assert [attack.column for attack in worlds] == ["admission", "disease"]  # the order of the schema
    assert [attack.column for attack in found.attacks[2:]] == ["admission", "disease"]
    for attack in worlds:
        believe = recount.of_labels(recount.rows(hospital.release), QUASI, attack.column, hospital.trees)
        agree(attack, counted(believe, hospital.table, QUASI, attack.column))
        outside = counted(believe, hospital.holdout, QUASI, attack.column, released=hospital.table)
        assert attack.control.value == pytest.approx(float(outside.successes / outside.n))
    assert set(found.levels) == {"disease", "admission"}
    assert len(found.at_risk) == 10  # of both columns together
    worst = [(round(person.belief, 12), person.belief / person.baseline) for person in found.at_risk]
    assert worst == sorted(worst, reverse=True)


@pytest.mark.slow
def test_what_arx_made_of_adult(data: Path, adult_schema: Path) -> None:
    """30,162 people, labels of another tool, 506 rows suppressed; every person recounted."""
    release, table = data / "releases" / "arx_adult_k5.csv", data / "adult" / "adult.csv"
    found = audit(release, dl.Schema.load(adult_schema), truth=table)
    trees = {name: recount.members(data / "adult" / f"adult_hierarchy_{name}.csv")[0] for name in ADULT}
    rows = recount.rows(release, ";")
    # Full-domain recoding: every class's labels stand at one level, so a person fits one class and the suppressed rows.
    believe = recount.of_labels(rows, ADULT, "occupation", trees)
    inside = counted(believe, table, ADULT, "occupation", ";")
    attack = only(found)
    agree(attack, inside)
    assert attack.unmatched == 0
    values = [row["occupation"] for row in recount.rows(table, ";")]
    assert attack.naive.value == pytest.approx(float(recount.commonest(values, values)))
    assert attack.success.value > attack.naive.value
    assert attack.control.n == 0
    assert attack.success.value == pytest.approx(float(Fraction(inside.successes, inside.n)))
