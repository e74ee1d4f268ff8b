"""Releases of which little or nothing is left: commands answer, or refuse with a reason, and never break."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

import dalenius as dl
from dalenius.cli import app
from dalenius.measures.utility import release_utility

PEOPLE = [(str(20 + i % 3), "xyz"[i % 3], "pq"[i % 2], ("flu", "gout", "pox", "flu")[i % 4]) for i in range(12)]
SCHEMA = 'sensitive = "s"\n[columns.a]\nrole = "quasi"\ntype = "integer"\n'
SCHEMA += '[columns.b]\nrole = "quasi"\n[columns.c]\nrole = "quasi"\n'
BLANKED: dict[str, list[str]] = {
    "a number": ["a"],
    "a category": ["b"],
    "two columns": ["a", "b"],
    "every column": ["a", "b", "c"],
}
Row = tuple[str, ...]
Answer = tuple[int, str, str]
Cli = Callable[..., Answer]


def csv(rows: list[Row]) -> str:
    return "a,b,c,s\n" + "".join(",".join(row) + "\n" for row in rows)


def blanked(columns: list[str], rows: list[Row]) -> list[Row]:
    return [tuple("*" if name in columns else cell for name, cell in zip("abcs", row, strict=True)) for row in rows]


RELEASES: dict[str, str] = {
    **{f"{name} blank": csv(blanked(columns, list(PEOPLE))) for name, columns in BLANKED.items()},
    "b blank, some rows suppressed": csv(blanked(["a", "b", "c"], list(PEOPLE[:3])) + blanked(["b"], list(PEOPLE[3:]))),
    "one value everywhere": csv([("20", "x", "p", row[3]) for row in PEOPLE]),
    "one sensitive value": csv([(*row[:3], "flu") for row in PEOPLE]),
    "one row": csv(list(PEOPLE[:1])),
    "one row, blank": csv(blanked(["a", "b", "c"], list(PEOPLE[:1]))),
    "a missing everywhere": csv([("", *row[1:]) for row in PEOPLE]),
    "no rows": csv([]),
    "nothing at all": "",
}
COMMANDS: dict[str, tuple[str, ...]] = {
    "audit": ("audit", "r.csv", "-o", "r.html", "--json", "r.json"),
    "audit --truth": ("audit", "r.csv", "--truth", "t.csv"),
    "check": ("check", "r.csv", "--adversary", "II:10"),
    "attack --targets": ("attack", "r.csv", "--targets", "t.csv", "-o", "beliefs.csv"),
    "attack random-worlds": ("attack", "r.csv", "--adversary", "random-worlds", "--targets", "t.csv"),
    "attack --truth": ("attack", "r.csv", "--truth", "t.csv"),
    "compose": ("compose", "r.csv", "r.csv", "--targets", "t.csv"),
    "compare": ("compare", "r.csv", "--truth", "t.csv"),
    "publish --given": ("publish", "t.csv", "--given", "r.csv", "--k", "2", "-o", "out.csv"),
}


@pytest.fixture
def cli(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Cli:
    monkeypatch.chdir(tmp_path)
    Path("privacy.toml").write_text(SCHEMA, encoding="utf-8")
    Path("t.csv").write_text(csv(list(PEOPLE)), encoding="utf-8")

    def call(release: str, *arguments: str) -> Answer:
        Path("r.csv").write_text(release, encoding="utf-8")
        code = app.run(list(arguments))
        said = capsys.readouterr()
        return code, said.out, said.err

    return call


@pytest.mark.slow
@pytest.mark.parametrize("command", COMMANDS)
@pytest.mark.parametrize("release", RELEASES)
def test_every_command_answers_or_says_why_not(release: str, command: str, cli: Cli) -> None:
    code, out, err = cli(RELEASES[release], *COMMANDS[command])
    assert code in (0, 1, 2), err
    assert "bug" not in err
    assert (code == 2) == err.startswith("dalenius: ")
    assert "nan" not in out.split()


@pytest.mark.parametrize("name", BLANKED)
def test_a_blank_column_is_audited_like_a_release_without_it(name: str, cli: Cli) -> None:
    """Nothing is known of a column that is `*` in every row: what is believed of people is what the other columns say."""
    code, _, err = cli(csv(blanked(BLANKED[name], list(PEOPLE))), *COMMANDS["audit"])
    assert code == 0, err
    told = json.loads(Path("r.json").read_text(encoding="utf-8"))
    left = [i for i, column in enumerate("abc") if column not in BLANKED[name]]
    classes: dict[Row, list[str]] = {}
    for row in PEOPLE:
        classes.setdefault(tuple(row[i] for i in left), []).append(row[3])
    sure = sum(max(map(values.count, values)) for values in classes.values()) / len(PEOPLE)
    found = {one["adversary"]: one["confidence"]["mean"] for one in told["attacks"]}
    assert found["random-worlds"] == pytest.approx(sure, abs=1e-12)


def test_a_blank_column_is_lost_though_its_values_are_not_known(tmp_path: Path) -> None:
    """Loss is the geometric mean over columns of 1 + the share lost, less 1: one of three columns is gone."""
    (tmp_path / "r.csv").write_text(csv(blanked(["b"], list(PEOPLE))), encoding="utf-8")
    (tmp_path / "privacy.toml").write_text(SCHEMA, encoding="utf-8")
    release = dl.read_release(tmp_path / "r.csv", tmp_path / "privacy.toml")
    assert isinstance(release, dl.Generalized)
    assert release_utility(release)["loss"] == pytest.approx(2 ** (1 / 3) - 1)
