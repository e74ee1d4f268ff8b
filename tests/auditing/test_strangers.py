"""Mistakes that would let a release pass: the table's own people as control, a release that names them, labels nobody fits."""

from __future__ import annotations

import dataclasses
from pathlib import Path

import numpy as np
import pytest

import dalenius as dl
from dalenius.adversaries import Attacker
from dalenius.adversaries.models.learning import MAX_SAMPLED_ENTRIES
from dalenius.auditing import audit
from dalenius.auditing.people import People, check_strangers
from dalenius.cli import app
from dalenius.criteria import KAnonymity
from dalenius.errors import InputError
from dalenius.publishers.lattice import Lattice
from dalenius.publishers.mondrian import Mondrian
from dalenius.reports import terminal
from dalenius.schema import Schema
from dalenius.table import Table
from tests.auditing.conftest import Hospital

POLICY = {"max_attacker_gain": 0.99, "max_attacker_accuracy": 0.99}


def lots(
    folder: Path, sizes: tuple[int, int], *, shared: int, seed: int, coarse: bool = False
) -> tuple[People, People]:
    """Two lots of patients of whom so many are in both."""
    schema = dl.Schema.load(folder / "privacy.toml")
    lines = (folder / "patients.csv").read_text(encoding="utf-8").splitlines()[1:]
    order = np.random.default_rng(seed).permutation(len(lines))
    first = order[: sizes[0]]
    second = np.concatenate([first[:shared], order[sizes[0] : sizes[0] + sizes[1] - shared]])
    header = (folder / "patients.csv").read_text(encoding="utf-8").splitlines()[0].split(",")
    tables = []
    for rows in (first, second):
        columns = {name: [lines[i].split(",")[j] for i in rows.tolist()] for j, name in enumerate(header)}
        if coarse:  # age and place are everybody's alike: most people have many twins
            columns["age"] = [columns["age"][0]] * len(rows)
            columns["zip"] = [columns["zip"][0]] * len(rows)
        tables.append(People.of(Table(columns, schema)))
    return tables[0], tables[1]


@pytest.fixture(scope="module")
def many(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("many")
    dl.datasets.save_hospital(folder, 4000, seed=8)
    return folder


@pytest.mark.slow
@pytest.mark.parametrize("coarse", [False, True])
def test_lots_that_share_nobody_are_let_through(many: Path, coarse: bool) -> None:
    for seed in range(40):
        check_strangers(*lots(many, (700, 400), shared=0, seed=seed, coarse=coarse))
        check_strangers(*lots(many, (300, 900), shared=0, seed=seed, coarse=coarse))


@pytest.mark.parametrize(
    ("sizes", "shared"), [((700, 700), 700), ((700, 350), 350), ((700, 1000), 700), ((700, 700), 350)]
)
def test_lots_that_share_people_are_refused(many: Path, sizes: tuple[int, int], shared: int) -> None:
    with pytest.raises(InputError, match="held-out people seem to be people of the table"):
        check_strangers(*lots(many, sizes, shared=shared, seed=1))


def test_the_table_in_another_order_is_refused_by_the_command(
    hospital: Hospital, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    header, *lines = hospital.table.read_text(encoding="utf-8").splitlines()
    (tmp_path / "again.csv").write_text("\n".join([header, *reversed(lines)]) + "\n", encoding="utf-8")
    command = ["audit", str(hospital.release), "--truth", str(hospital.table), "--schema", str(hospital.schema)]
    assert app.run([*command, "--holdout", str(tmp_path / "again.csv")]) == 2
    assert "500 of 500 have the same values as somebody there" in capsys.readouterr().err
    assert app.run([*command, "--holdout", str(hospital.holdout), "-q"]) == 0


@pytest.mark.slow
def test_a_release_that_names_people_passes_nothing(hospital: Hospital, tmp_path: Path) -> None:
    """Its classes are as good as those of the same release without names."""
    schema = dataclasses.replace(Schema.load(hospital.schema), policy=POLICY)
    plain = audit(hospital.release, schema, truth=hospital.table, holdout=hospital.holdout)
    assert (plain.identifiers, plain.verdict) == ([], "passed")
    assert any("patient (identifier, not published)" in limit for limit in plain.limits)
    header, *lines = hospital.release.read_text(encoding="utf-8").splitlines()
    named = [f"patient,{header}", *(f"P{i:05},{line}" for i, line in enumerate(lines))]
    (tmp_path / "named.csv").write_text("\n".join(named) + "\n", encoding="utf-8")
    found = audit(tmp_path / "named.csv", schema, truth=hospital.table, holdout=hospital.holdout)
    assert (found.identifiers, found.verdict) == (["patient"], "violated")
    first = found.thresholds[0]
    assert (first.key, first.asked, first.measured, first.outcome) == ("identifiers", "none published", 1, "violated")
    assert "patient: declared as identifier, and published" in found.limits[0]
    bare = audit(tmp_path / "named.csv", dataclasses.replace(schema, policy={}), truth=hospital.table)
    assert (bare.verdict, bare.identifiers) == ("none", ["patient"])  # nothing was asked, and it is said all the same
    # What was never written has no columns to look at.
    release = Lattice([KAnonymity(3)], suppression=0.05).publish(Table(hospital.table, schema)).release
    unread = audit(release, schema, truth=hospital.table, holdout=hospital.holdout)
    assert (unread.columns, unread.identifiers) == (None, [])
    assert any("patient (identifier)" in limit for limit in unread.limits)


def test_labels_that_nobody_fits_are_told_and_pass_nothing(tmp_path: Path) -> None:
    """A set that another tool writes without braces is a value of its own where no domain says otherwise."""
    (tmp_path / "p.toml").write_text(
        '[columns.city]\nrole = "quasi"\n[columns.ill]\nrole = "sensitive"\n'
        "[policy]\nmax_attacker_accuracy = 0.99\nmax_perfect_breach = 0.99\n",
        encoding="utf-8",
    )
    schema = Schema.load(tmp_path / "p.toml")
    table = {"city": ["Oslo", "Hamar"] * 4, "ill": ["Flu", "Flu", "Pox", "Flu"] * 2}
    joined = audit({**table, "city": ["Oslo,Hamar"] * 8}, schema, truth=table)
    assert joined.verdict == "incomplete"
    assert [one.reason for one in joined.thresholds] == ["8 of 8 people of the table fit no class of the release"] * 2
    assert any(
        "Check whether sets, ranges or suppressed values are spelled differently there." in limit
        for limit in joined.limits
    )
    assert "      match no class: 8 of 8 people in the table; success is a lower bound" in terminal.lines(joined)
    braces = audit({**table, "city": ["{Oslo, Hamar}"] * 8}, schema, truth=table)
    assert braces.verdict == "passed"
    assert not any("match no class" in line for line in terminal.lines(braces))


@pytest.mark.slow
def test_held_out_people_who_fit_nowhere_are_counted(hospital: Hospital, tmp_path: Path) -> None:
    """Boxes around the people of the table leave others out: they are guessed by the commonest value, and that is said."""
    schema = dl.Schema.load(hospital.schema)
    release = Mondrian([KAnonymity(5)]).publish(Table(hospital.table, schema)).release
    found = audit(release, schema, truth=hospital.table, holdout=hospital.holdout)
    worlds = found.attacks[0]
    told = [line.strip() for line in terminal.lines(found) if "match no class" in line]
    assert worlds.unmatched == 0
    expected = f"match no class: {worlds.control_unmatched:,} of 350 held-out people"
    assert told == ([expected] if worlds.control_unmatched else [])
    header, *lines = hospital.holdout.read_text(encoding="utf-8").splitlines()
    place = header.split(",").index("age")
    old = [",".join([*line.split(",")[:place], "0", *line.split(",")[place + 1 :]]) for line in lines]
    (tmp_path / "old.csv").write_text("\n".join([header, *old]) + "\n", encoding="utf-8")
    strange = audit(release, schema, truth=hospital.table, holdout=tmp_path / "old.csv")
    assert strange.attacks[0].control_unmatched > 0
    assert any("held-out people" in line for line in terminal.lines(strange))


def test_several_sensitive_columns_of_many_values_are_not_taken_for_one(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whether there are too many probabilities is asked of every sensitive column."""
    assert MAX_SAMPLED_ENTRIES > 10
    monkeypatch.setattr("dalenius.adversaries.models.learning.MAX_SAMPLED_ENTRIES", 10)
    people = {"age": ["1", "2", "3", "4"] * 3, "ill": ["a", "b", "c"] * 4, "pay": ["7", "8", "9", "10"] * 3}
    columns = tuple(
        dl.schema.Column(name, role) for name, role in (("age", "quasi"), ("ill", "sensitive"), ("pay", "sensitive"))
    )
    release = dl.read_release({**people, "age": ["{1, 2}", "{2, 3}", "{3, 4}", "{1, 4}"] * 3}, Schema(columns))
    assert Attacker().refusal(release) is None  # their sets can be shared out in few ways
