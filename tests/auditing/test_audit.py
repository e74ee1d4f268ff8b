"""What an audit can say without the truth, what it refuses, and values that only one of its files has."""

from __future__ import annotations

import math
from pathlib import Path

import pytest

import dalenius as dl
from dalenius.auditing import Audit, audit
from dalenius.criteria import KAnonymity
from dalenius.publishers.lattice import Lattice
from tests.auditing import recount
from tests.auditing.conftest import QUASI, Hospital

# --- Without the truth -------------------------------------------------------------------------------------------------


def test_without_truth_beliefs_are_not_judged(hospital: Hospital) -> None:
    found = audit(hospital.release, dl.Schema.load(hospital.schema))
    assert (found.has_truth, found.held_out, found.at_risk) == (False, 0, ())
    assert "cannot tell how often an adversary is right" in found.limits[0]
    for attack in found.attacks:
        for rate in (attack.success, attack.naive, attack.control, attack.gain, attack.high_confidence):
            assert rate.n == 0
            assert math.isnan(rate.value)
        assert math.isnan(attack.perfect_breach)
        assert math.isnan(attack.residual)
        assert attack.calibration == ()
        assert attack.verdict == "not enough data to say"
    # What class sizes tell needs no truth.
    known = audit(hospital.release, dl.Schema.load(hospital.schema), truth=hospital.table)
    assert (found.risks, found.levels) == (known.risks, known.levels)
    assert found.utility == {key: known.utility[key] for key in found.utility}
    assert {"ncp", "kl_divergence", "relative_error"} <= set(known.utility) - set(found.utility)


def test_without_truth_it_is_known_how_sure_the_adversary_is(hospital: Hospital) -> None:
    """In a full-domain release everybody in a class is believed the same of: no draw of people can matter."""
    rows = recount.rows(hospital.release)
    believe = recount.of_labels(rows, QUASI, "disease", hospital.trees)
    best = []
    for row in rows:
        labels = [row[name] for name in QUASI]
        if set(labels) != {"*"}:
            somebody = tuple(min(hospital.trees[name][label]) for name, label in zip(QUASI, labels, strict=True))
            best.append(float(max(believe(somebody).values())))
    for seed in (0, 1):
        attack = audit(hospital.release, dl.Schema.load(hospital.schema), seed=seed).attacks[0]
        assert attack.confidence.mean == pytest.approx(sum(best) / len(best))
        assert attack.confidence.above_half == pytest.approx(sum(b > 0.5 for b in best) / len(best))
        assert attack.confidence.certain == pytest.approx(sum(b == 1 for b in best) / len(best))


def test_a_release_that_tells_nothing_puts_nobody_at_risk(hospital: Hospital) -> None:
    """Everything suppressed: the adversary has the table's frequencies, and no person is believed more of than that."""
    table = {name: [row[name] for row in recount.rows(hospital.table)] for name in (*QUASI, "disease")}
    silent = {**{name: ["*"] * len(table[name]) for name in QUASI}, "disease": table["disease"]}
    found = audit(silent, dl.Schema.load(hospital.schema), truth=hospital.table)
    attack = found.attacks[0]
    assert attack.success.value == pytest.approx(attack.naive.value)
    assert found.at_risk == ()


def test_suppressed_people_can_be_the_ones_at_risk(hospital: Hospital) -> None:
    """One suppressed row of a table: whoever fits no class must be it. It is no class, and is not called one."""
    rows = [{name: row[name] for name in (*QUASI, "disease")} for row in recount.rows(hospital.table)]
    alone = next(i for i, row in enumerate(rows) if sum(all(r[q] == row[q] for q in QUASI) for r in rows) == 1)
    released = [{**row, **dict.fromkeys(QUASI, "*")} if i == alone else row for i, row in enumerate(rows)]
    columns = {name: [row[name] for row in released] for name in rows[0]}
    truth = {name: [row[name] for row in [rows[alone], *rows[:alone], *rows[alone + 1 :]]] for name in rows[0]}
    truth["disease"][0] = columns["disease"][alone] = "HIV"
    others = [i for i, value in enumerate(columns["disease"]) if value == "HIV" and i != alone]
    for i in others:  # nobody else has it: the suppressed person comes first
        columns["disease"][i] = "Flu"
    truth["disease"] = [v if v != "HIV" or i == 0 else "Flu" for i, v in enumerate(truth["disease"])]
    first = audit(columns, dl.Schema.load(hospital.schema), truth=truth).at_risk[0]
    assert (first.rows, first.level, first.group, first.group_size) == ((0,), "certain", -1, 0)
    assert first.place == "suppressed"


# --- Refusals ----------------------------------------------------------------------------------------------------------


def test_truth_of_another_size_is_refused(hospital: Hospital) -> None:
    with pytest.raises(dl.InputError, match=r"500 people and the table 350.*must be the table"):
        audit(hospital.release, dl.Schema.load(hospital.schema), truth=hospital.holdout)


def test_held_out_people_need_the_truth(hospital: Hospital) -> None:
    with pytest.raises(dl.InputError, match="--holdout needs --truth"):
        audit(hospital.release, dl.Schema.load(hospital.schema), holdout=hospital.holdout)


# --- Values that only one file has -------------------------------------------------------------------------------------

SCHEMA = """sensitive = "disease"
[columns.zip]
role = "quasi"
hierarchy = "suppress"
[columns.age]
role = "quasi"
type = "integer"
intervals = [5, 10]
"""
TABLE = [
    (f"{zip_}", f"{age}", disease)
    for zip_ in ("1011", "1012", "1021", "1022")
    for age, disease in ((20, "Flu"), (21, "Pox"), (23, "Flu"), (27, "Ache"))
]
# 2000 is no ZIP of the table, 22 and 41 no age, Gout no disease.
OTHERS = [
    ("1012", "22", "Flu"),
    ("1011", "21", "Gout"),
    ("2000", "20", "Flu"),
    ("1022", "41", "Pox"),
    ("1021", "27", "Flu"),
]


def columns(rows: list[tuple[str, str, str]]) -> dict[str, list[str]]:
    return dict(zip(("zip", "age", "disease"), map(list, zip(*rows, strict=True)), strict=True))


@pytest.fixture
def undeclared(tmp_path: Path) -> tuple[dl.Schema, Path]:
    """A schema that declares no values, and a release with sets and intervals."""
    path = tmp_path / "privacy.toml"
    path.write_text(SCHEMA, encoding="utf-8")
    release = tmp_path / "release.csv"
    lines = []
    for zip_, age, disease in TABLE:
        low = int(age) // 5 * 5
        lines.append(f'"{{{zip_[:3]}1, {zip_[:3]}2}}","[{low}, {low + 4}]",{disease}')
    release.write_text("zip,age,disease\n" + "\n".join(lines) + "\n", encoding="utf-8")
    return dl.Schema.load(path), release


def rates(found: Audit) -> tuple[object, ...]:
    attack = found.attacks[0]
    return (attack.success, attack.naive, attack.calibration, found.risks, found.levels, found.utility, found.at_risk)


def test_values_that_only_held_out_people_have(undeclared: tuple[dl.Schema, Path]) -> None:
    """They count in the control and change nothing that is said of the release."""
    schema, release = undeclared
    plain = audit(release, schema, truth=columns(TABLE))
    # In each of four classes (two areas × ages 20-24, 25-29) the older all have Ache; of the younger two in three have Flu.
    assert plain.attacks[0].success.value == pytest.approx((8 + 4) / 16)
    found = audit(release, schema, truth=columns(TABLE), holdout=columns(OTHERS))
    assert rates(found) == rates(plain)
    assert "Gout" not in found.schema["disease"].leaves
    # 1012 at 22 fits the first class: Flu. 1011 at 21 is taken for Flu and has Gout. 2000 and 41 fit nothing and are taken
    # for Flu, the commonest, which one of them has. 1021 at 27 is taken for Ache and has Flu.
    assert found.attacks[0].control.value == pytest.approx(2 / 5)
    assert found.attacks[0].control_unmatched == 2
    assert found.held_out == 5


def test_values_that_only_the_truth_has(undeclared: tuple[dl.Schema, Path]) -> None:
    """A table that was mended after publishing is not that of the release; nobody fits a ZIP that is not in it."""
    schema, release = undeclared
    mended = [("1011", "20", "Gout"), *TABLE[1:]]
    with pytest.raises(dl.InputError, match="do not have the same values of 'disease'") as refused:
        audit(release, schema, truth=columns(mended))
    assert "Gout" not in str(refused.value)
    moved = [("3000", "20", "Flu"), *TABLE[1:]]
    found = audit(release, schema, truth=columns(moved))
    assert found.attacks[0].unmatched == 1
    assert found.attacks[0].success.value == pytest.approx((8 + 4) / 16)  # taken for Flu, the commonest, as it is


def test_a_release_in_memory_is_that_of_its_file(undeclared: tuple[dl.Schema, Path], tmp_path: Path) -> None:
    """Publishing and auditing in one go says what publishing to a file and auditing that says, of a new disease too."""
    schema, _ = undeclared
    published = Lattice([KAnonymity(3)]).publish(dl.Table(columns(TABLE), schema))
    published.write(tmp_path / "lattice.csv")
    for holdout in (TABLE[3:9], [("1011", "20", "Aids"), ("1012", "23", "Gout"), ("1021", "27", "Ache")]):
        one = audit(published.release, schema, truth=columns(TABLE), holdout=columns(holdout))
        two = audit(tmp_path / "lattice.csv", schema, truth=columns(TABLE), holdout=columns(holdout))
        assert one.attacks[0].success == two.attacks[0].success
        assert one.attacks[0].control == two.attacks[0].control
        assert one.attacks[0].gain == two.attacks[0].gain


def test_a_release_in_memory_meets_new_quasi_identifiers(undeclared: tuple[dl.Schema, Path]) -> None:
    """A new ZIP or age shifts every code; what is said of the table's people stays, and people nobody fits get the mode."""
    schema, _ = undeclared
    released = dl.read_release(columns(TABLE), schema)
    plain = audit(released, schema, truth=columns(TABLE))
    new = [("0000", "20", "Flu"), ("1011", "19", "Flu"), ("1011", "20", "Flu"), ("1012", "21", "Pox")]
    found = audit(released, schema, truth=columns(TABLE), holdout=columns(new))
    assert rates(found) == rates(plain)
    # The first two fit nobody and are taken for Flu, the commonest; the third is Flu; Pox is taken for what 1012 at 21 has.
    assert found.attacks[0].control.value == 1.0
    assert found.attacks[0].control_unmatched == 2


def test_a_release_in_memory_refuses_people_it_cannot_code(hospital: Hospital) -> None:
    """Values outside a declared domain are an error of the file that has them, not a wrong belief."""
    wrong = {name: [row[name] for row in recount.rows(hospital.holdout)] for name in (*QUASI, "disease")}
    wrong["disease"][5] = "Dragonpox"
    published = Lattice([KAnonymity(3)]).publish(dl.Table(hospital.table, hospital.schema))
    with pytest.raises(dl.InputError, match="row 5, column 'disease'") as refused:
        audit(published.release, dl.Schema.load(hospital.schema), truth=hospital.table, holdout=wrong)
    assert "Dragonpox" not in str(refused.value)


def test_nothing_said_of_people_at_risk_depends_on_their_values(hospital: Hospital) -> None:
    """Swap the values of two people whom the release does not tell apart: the list stays what it is, to the letter."""
    rows = recount.rows(hospital.table)
    names = (*QUASI, "disease")
    released = {name: [row[name] for row in recount.rows(hospital.release)] for name in names}
    truth = {name: [row[name] for row in rows] for name in names}
    classes: dict[tuple[str, ...], list[int]] = {}
    for i in range(len(rows)):
        classes.setdefault(tuple(released[name][i] for name in QUASI), []).append(i)
    schema = dl.Schema.load(hospital.schema)
    before = audit(released, schema, truth=truth)
    for members in classes.values():  # turn the values round inside each class
        values = [truth["disease"][i] for i in members]
        for i, value in zip(members, values[1:] + values[:1], strict=True):
            truth["disease"][i] = value
    after = audit(released, schema, truth=truth)
    assert truth["disease"] != [row["disease"] for row in rows]
    assert [p.to_document(reveal=False) for p in after.at_risk] == [p.to_document(reveal=False) for p in before.at_risk]


def test_an_unlike_control_and_the_people_themselves_are_no_control(hospital: Hospital) -> None:
    schema = dl.Schema.load(hospital.schema)
    with pytest.raises(dl.InputError, match="are the people of the table"):
        audit(hospital.release, schema, truth=hospital.table, holdout=hospital.table)
    rows = [row for row in recount.rows(hospital.holdout) if row["disease"] != "Flu"]
    others = {name: [row[name] for row in rows] for name in (*QUASI, "disease")}
    found = audit(hospital.release, schema, truth=hospital.table, holdout=others)
    assert found.attacks[0].gain.low > 0
    assert not found.attacks[0].comparable
    assert found.attacks[0].verdict == "not enough data to say"
    assert any("They cannot serve as a control" in limit for limit in found.limits)


def test_a_few_people_known_for_certain_are_a_leak_whatever_the_average_says() -> None:
    """Nineteen people alone in their ZIP with a rare value, among fifteen hundred of whom nothing is learned."""
    schema = dl.Schema([dl.Column("zip", "quasi"), dl.Column("disease", "sensitive")])

    def table(first: int) -> dict[str, list[str]]:
        zips = ["0"] * 1481 + [str(first + i) for i in range(19)]
        return {"zip": zips, "disease": ["Flu" if i % 2 else "Ache" for i in range(1481)] + ["HIV"] * 19}

    found = audit(table(1), schema, truth=table(1), holdout=table(100)).attacks[0]
    assert found.perfect_breach == pytest.approx(19 / 1500)
    assert found.gain.low <= 0
    assert found.verdict == "leaks about persons"


def test_a_control_that_fits_nowhere_is_no_proof_of_a_leak() -> None:
    """The value does not depend on the ZIP, and half the others live elsewhere: of them the commonest value is guessed."""
    schema = dl.Schema([dl.Column("zip", "quasi"), dl.Column("disease", "sensitive")])

    def table(zips: list[str]) -> dict[str, list[str]]:
        return {"zip": zips, "disease": ["HIV" if i % 10 == 0 else "Flu" for i in range(len(zips))]}

    inside = [str(i // 100) for i in range(2000)]
    outside = [str(i // 100 + 10) for i in range(2000)]
    found = audit(table(inside), schema, truth=table(inside), holdout=table(outside)).attacks[0]
    assert found.control_unmatched == 1000
    assert found.success.value == found.control.value == pytest.approx(0.9)
    assert found.verdict == "only about the population"


def test_near_misses_of_numbers_are_not_measured_and_that_is_said(tmp_path: Path) -> None:
    (tmp_path / "p.toml").write_text(
        '[columns.sex]\nrole = "quasi"\n[columns.pay]\nrole = "sensitive"\ntype = "integer"\n', encoding="utf-8"
    )
    rows = {"sex": ["F", "M"] * 4, "pay": ["10", "11", "12", "13"] * 2}
    found = audit(rows, dl.Schema.load(tmp_path / "p.toml"), truth=rows)
    assert any("A guess of pay that is nearly right counts as wrong" in limit for limit in found.limits)
