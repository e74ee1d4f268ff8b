"""What `dalenius init` guesses: on the safe side, and always a schema that can be loaded."""

from __future__ import annotations

import itertools
import os
import tomllib
from pathlib import Path
from typing import Any

import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from dalenius.cli import app
from dalenius.datasets import save_hospital
from dalenius.engines import default
from dalenius.errors import InputError
from dalenius.guess import guess_schema, init
from dalenius.schema import Schema


def guessed(folder: Path, columns: dict[str, list[Any]], name: str = "t.csv") -> tuple[dict[str, Any], str]:
    path = folder / name
    lines = [",".join(columns)] + [",".join(map(str, row)) for row in zip(*columns.values(), strict=True)]
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    text = guess_schema(path, engine=default(), beside=folder)
    return tomllib.loads(text), text


N = 60
DISEASE = [f"D{i % 5}" for i in range(N)]


def test_what_nobody_can_place_is_taken_for_known_to_an_attacker(tmp_path: Path) -> None:
    columns = {
        "dob": [f"19{50 + i % 40}-0{1 + i % 9}-{10 + i % 18}" for i in range(N)],
        "weight": [f"{50 + i / 7:.3f}" for i in range(N)],
        "note": [f"text {chr(97 + i % 26)}{i}" for i in range(N)],
        "always": ["x"] * N,
        "never": [""] * N,
        "disease": DISEASE,
    }
    raw, _ = guessed(tmp_path, columns)
    roles = {name: column["role"] for name, column in raw["columns"].items()}
    assert roles == dict.fromkeys(columns, "quasi") | {"disease": "sensitive"}


def test_identifiers_by_name_or_as_counters(tmp_path: Path) -> None:
    columns = {
        "email": [f"a{i}@b.org" for i in range(N)],
        "row": [f"P{i:05}" for i in range(N)],
        "age": [20 + i % 40 for i in range(N)],
        "disease": DISEASE,
    }
    raw, _ = guessed(tmp_path, columns)
    roles = {name: column["role"] for name, column in raw["columns"].items()}
    assert roles == {"email": "identifier", "row": "identifier", "age": "quasi", "disease": "sensitive"}


def test_codes_are_masked_and_numbers_get_intervals(tmp_path: Path) -> None:
    columns = {
        "zip": [f"{13050 + i % 8}" for i in range(N)],
        "region": [f"0{i % 7}1" for i in range(N)],
        "income band": [1_000_000 * (1 + i % 30) for i in range(N)],
        "hours": [f"{i % 50}.0" for i in range(N)],
        "disease": DISEASE,
    }
    raw, _ = guessed(tmp_path, columns)
    columns_ = raw["columns"]
    assert columns_["zip"]["mask"] == columns_["region"]["mask"] == "right"
    assert columns_["hours"]["type"] == "integer"
    assert columns_["hours"]["domain"] == {"min": 0, "max": 49}
    assert "domain" not in columns_["income band"]  # thirty million leaves would be no help
    widths = columns_["income band"]["intervals"]
    assert widths[0] >= 100_000
    assert all(b % a == 0 for a, b in itertools.pairwise(widths))


def test_a_number_of_its_own_for_every_row_is_asked_about(tmp_path: Path) -> None:
    """It may be an account, or an income: nobody can tell but who knows the table."""
    raw, text = guessed(tmp_path, {"badge": list(range(N)), "age": [i % 9 for i in range(N)], "disease": DISEASE})
    assert raw["columns"]["badge"]["role"] == "quasi"
    assert text.count("every row has another number: is it an identifier?") == 1


def test_numbers_names_and_dates(tmp_path: Path) -> None:
    columns = {
        "Personnel No": list(range(N)),
        "name": [f"Name {i % 30}" for i in range(N)],
        "last_name": [f"Name {i % 20}" for i in range(N)],
        "family": [f"F{i % 25}x" for i in range(N)],
        "drug name": [f"drug {i % 20}" for i in range(N)],
        "visits number of salary": list(range(N)),
        "room number": [i % 9 for i in range(N)],
        "born": [f"{1 + i % 28}.{1 + i % 12}.19{60 + i % 30}" for i in range(N)],
        "weight": [f"{50 + i % 9}.{i % 10}" for i in range(N)],
        "seen": [f"2024-{1 + i % 12:02}-{1 + i % 28:02}" for i in range(N)],
        "disease": DISEASE,
    }
    raw, text = guessed(tmp_path, columns)
    roles = {name: column["role"] for name, column in raw["columns"].items()}
    assert roles["visits number of salary"] == "quasi"  # it may be what must not be learned
    assert [name for name, role in roles.items() if role == "identifier"] == ["Personnel No", "name", "last_name"]
    assert text.count("of a date a hierarchy file (day, month, year) keeps more") == 2
    assert text.count("round decimals to whole numbers") == 1


def test_the_next_command_can_be_copied(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("staff 2025.csv").write_text(
        "age,disease\n" + "".join(f"{i % 9},{d}\n" for i, d in enumerate(DISEASE)), encoding="utf-8"
    )
    assert app.run(["init", "staff 2025.csv"]) == 0
    assert "  dalenius check 'staff 2025.csv' --schema privacy.toml" in capsys.readouterr().out


def test_marks_of_no_value_are_pointed_out(tmp_path: Path) -> None:
    _, text = guessed(tmp_path, {"age": ["NA", "34"] * 30, "sex": ["?", "F"] * 30, "disease": DISEASE})
    assert '# GUESS: do "?", "NA" mean that there is no value?' in text


def test_a_hierarchy_that_does_not_fit_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "x_hierarchy_sex.csv").write_text("M;*\nF;*\n", encoding="utf-8")
    (tmp_path / "x_hierarchy_age.csv").write_text("".join(f"{i};*\n" for i in range(100)), encoding="utf-8")
    columns = {"sex": ["Male", "Female"] * 30, "age": [i % 60 for i in range(N)], "disease": DISEASE}
    raw, _ = guessed(tmp_path, columns)
    assert raw["columns"]["sex"]["hierarchy"] == "suppress"
    assert raw["columns"]["age"]["hierarchy"] == "x_hierarchy_age.csv"


@pytest.mark.parametrize("name", ["a\x7fb", "tab\there", "back\\slash", "[x]", "# no"])
def test_odd_column_names(tmp_path: Path, name: str) -> None:
    raw, _ = guessed(tmp_path, {f'"{name}"': ["a", "b"] * 30, "disease": DISEASE})
    assert set(raw["columns"]) == {name, "disease"}


def test_an_odd_file_name_stays_in_its_comment(tmp_path: Path) -> None:
    raw, text = guessed(tmp_path, {"age": [1, 2] * 30, "disease": DISEASE}, name='x\nsensitive = "age"\n.csv')
    assert raw["sensitive"] == "disease"
    assert text.startswith("# The schema of x?sensitive")


def test_too_few_columns(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="Is the first line a header"):
        guessed(tmp_path, {"id": list(range(N)), "disease": DISEASE})


def test_init_never_overwrites_even_a_dangling_link(tmp_path: Path) -> None:
    from dalenius.output import write_texts

    link = tmp_path / "privacy.toml"
    os.symlink(tmp_path / "nowhere", link)
    with pytest.raises(InputError, match="not overwritten"):
        write_texts({link: "text"}, new=True)
    assert link.is_symlink()
    assert sorted(path.name for path in tmp_path.iterdir()) == ["privacy.toml"]


@pytest.mark.parametrize("make", [pd.DataFrame, pl.DataFrame, pa.table])
def test_a_frame_is_guessed_as_its_file_is(tmp_path: Path, make: Any) -> None:
    columns = {
        "email": [f"a{i}@b.org" for i in range(N)],
        "zip": [f"{13050 + i % 8}" for i in range(N)],
        "age": [20 + i % 40 for i in range(N)],
        "disease": DISEASE,
    }
    raw, text = guessed(tmp_path, columns)
    proposal = init(make(columns))
    assert proposal.text == text.replace("t.csv", "a data frame")
    assert {column.name: column.role for column in proposal.schema.columns} == {
        name: column["role"] for name, column in raw["columns"].items()
    }
    assert proposal.guesses["disease"] == "sensitive (its name)"
    assert "D1" not in repr(proposal)
    assert len(repr(proposal).splitlines()) == 5
    saved = proposal.save(tmp_path / "frame.toml")
    assert (tmp_path / "frame.toml").read_text(encoding="utf-8") == proposal.text
    assert saved.path == tmp_path / "frame.toml"
    with pytest.raises(InputError, match="already exists"):
        proposal.save(tmp_path / "frame.toml")


def test_a_proposal_of_a_file_names_hierarchies_from_where_it_is_saved(tmp_path: Path) -> None:
    save_hospital(tmp_path, 200, 1)
    (tmp_path / "below").mkdir()
    proposal = init(str(tmp_path / "patients.csv")).save(tmp_path / "below" / "privacy.toml")
    assert 'hierarchy = "../hospital_hierarchy_age.csv"' in proposal.text
    assert Schema.load(tmp_path / "below" / "privacy.toml").columns == proposal.schema.columns
    assert proposal.to_document()["schema"] == str(tmp_path / "below" / "privacy.toml")
