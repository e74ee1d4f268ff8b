"""Nothing of a person gets out without --reveal: not the value, not the quasi-identifier, not the label, not a figure.

One patient has a disease that nobody else has, lives in a town where nobody else lives, and has a name; the town stands
under a label of the hierarchy that covers little else. None of these words may be anywhere in what a run leaves behind.
"""

from __future__ import annotations

import itertools
import json
from pathlib import Path

import pytest

from tests.reports.conftest import call
from tests.reports.page import Page

VALUE, LEAF, LABEL, NAME, NOTE = "Zyzzogeton fever", "Xanadu-on-Alph", "Kubla district", "Mrs Coleridge", "sunny dome"
PLANTED = (VALUE, LEAF, LABEL, NAME, NOTE)
ROW = 17
SCHEMA = """sensitive = "disease"
[columns.name]
role = "identifier"
[columns.age]
role = "quasi"
type = "integer"
domain = { min = 20, max = 39 }
intervals = [5, 10]
[columns.town]
role = "quasi"
hierarchy = "towns.csv"
[columns.note]
role = "other"
[columns.disease]
role = "sensitive"
"""
POLICY = "\n[policy]\nmin_k = 3\nmax_attacker_accuracy = 0.1\nmax_attacker_gain = 0.01\nmin_faithfulness = 0.5\n"
TOWNS = [
    f"{town};{area};*" for town, area in [("Oslo", "East"), ("Hamar", "East"), ("Bergen", "West"), ("Voss", "West")]
]
PEOPLE = [
    (f"Person {i}", str(20 + i % 18), ("Oslo", "Hamar", "Bergen", "Voss")[i % 4], "x", ("Flu", "Pox", "Ache")[i % 3])
    for i in range(40)
]
PEOPLE[ROW] = (NAME, "31", LEAF, NOTE, VALUE)
OTHERS = [("Someone", str(20 + i), "Oslo", "y", "Flu") for i in range(10)]


def text_of(people: list[tuple[str, ...]]) -> str:
    return "name,age,town,note,disease\n" + "".join(",".join(person) + "\n" for person in people)


def published(person: tuple[str, ...]) -> str:
    """Ages by ten years, towns by area: the planted one is published under the planted label."""
    low = int(person[1]) // 10 * 10
    area = {"Oslo": "East", "Hamar": "East", "Bergen": "West", "Voss": "West", LEAF: LABEL}[person[2]]
    return f'"[{low}, {low + 9}]",{area},{person[4]}'


@pytest.fixture
def place(tmp_path: Path) -> Path:
    (tmp_path / "privacy.toml").write_text(SCHEMA, encoding="utf-8")
    (tmp_path / "policy.toml").write_text(SCHEMA + POLICY, encoding="utf-8")
    # Another town under the label keeps the label from being the leaf.
    towns = [*TOWNS, f"{LEAF};{LABEL};*", f"Elsewhere;{LABEL};*"]
    (tmp_path / "towns.csv").write_text("\n".join(towns) + "\n", encoding="utf-8")
    (tmp_path / "table.csv").write_text(text_of(PEOPLE), encoding="utf-8")
    (tmp_path / "others.csv").write_text(text_of(OTHERS), encoding="utf-8")
    (tmp_path / "release.csv").write_text(
        "age,town,disease\n" + "\n".join(map(published, PEOPLE)) + "\n", encoding="utf-8"
    )
    quasi = "".join(f"{i // 2},{person[1]},{person[2]}\n" for i, person in enumerate(PEOPLE))
    (tmp_path / "anatomy.quasi.csv").write_text("group,age,town\n" + quasi, encoding="utf-8")
    values = "".join(f"{i // 2},{person[4]}\n" for i, person in enumerate(PEOPLE))
    (tmp_path / "anatomy.sensitive.csv").write_text("group,disease\n" + values, encoding="utf-8")
    return tmp_path


def leaked(place: Path, *arguments: str) -> tuple[int, str]:
    """Run an audit that writes everything it can; the exit code and all that came out, file names' contents included."""
    code, out, err = call(place, "audit", *arguments, "-o", "out.html", "--json", "out.json")
    written = [path.read_text(encoding="utf-8") for path in (place / "out.html", place / "out.json") if path.exists()]
    return code, "\n".join([out, err, *written])


AUDITS = {
    "release": ("release.csv", "--truth", "table.csv", "--holdout", "others.csv"),
    "policy": ("release.csv", "--truth", "table.csv", "--holdout", "others.csv", "--schema", "policy.toml"),
    "blind": ("release.csv",),
    "raw": ("table.csv", "--truth", "table.csv"),
    "anatomy": ("anatomy", "--truth", "table.csv"),
    "method": ("table.csv", "--method", "lattice", "--k", "2", "--suppression", "0.1"),
}


@pytest.mark.slow
@pytest.mark.parametrize("name", AUDITS)
def test_nothing_planted_gets_out(name: str, place: Path) -> None:
    code, everything = leaked(place, *AUDITS[name])
    assert code == (1 if name == "policy" else 0)
    assert len(everything) > 10_000
    for word in PLANTED:
        assert word not in everything
        assert word.replace(" ", "&nbsp;") not in everything
    for value in ("Flu", "Pox", "Ache"):  # nor anybody else's
        assert value not in everything
    for person in PEOPLE:
        assert person[0] not in everything


@pytest.mark.parametrize("name", ["release", "raw"])  # in the others the adversary is surer of other people
def test_the_planted_person_is_found_and_shown_to_whoever_may_see(name: str, place: Path) -> None:
    """The same runs know the person: without --reveal by row number, with it by value. So silence is not ignorance."""
    leaked(place, *AUDITS[name])
    hidden = json.loads((place / "out.json").read_text(encoding="utf-8"))
    assert any(ROW in person["rows"] for person in hidden["at_risk"])
    code, everything = leaked(place, *AUDITS[name], "--reveal")
    assert code == 0
    for path in (place / "out.html", place / "out.json"):
        assert VALUE in path.read_text(encoding="utf-8")
    for word in (NAME, NOTE, LEAF, LABEL):  # not asked for, even so
        assert word not in everything


@pytest.mark.slow
@pytest.mark.parametrize("name", ["release", "policy", "raw", "anatomy"])
def test_no_figure_beside_a_row_tells_its_value(name: str, place: Path) -> None:
    """A value's frequency beside a row number says which value it is, to anybody who can count the release."""
    arguments = AUDITS[name]
    leaked(place, *arguments, "--reveal")
    shown = json.loads((place / "out.json").read_text(encoding="utf-8"))["at_risk"]
    leaked(place, *arguments)
    document = json.loads((place / "out.json").read_text(encoding="utf-8"))
    page = Page((place / "out.html").read_text(encoding="utf-8"))
    rows = page.table("The people most at risk")
    assert len(rows) == len(shown) == len(document["at_risk"])
    levels = {"certain", "above 0.8", "above 0.5", "raised"}
    for person, row, revealed in zip(document["at_risk"], rows, shown, strict=True):
        assert set(person) == {"rows", "alike", "sensitive", "level", "class", "class_size", "attribute"}
        assert {person["level"], row[-1]} <= levels
        for cell, figure in itertools.product(row, ("belief", "baseline", "belief_without_attribute")):
            assert f"{revealed[figure]:.1%}" not in cell
            assert f"{revealed[figure]:.2%}" not in cell


# --- Runs that fail ----------------------------------------------------------------------------------------------------


def fail(place: Path, *arguments: str) -> str:
    code, everything = leaked(place, *arguments)
    assert code == 2
    assert not (place / "out.html").exists()
    assert not (place / "out.json").exists()
    assert everything.startswith("\ndalenius: ")
    return everything


def change(path: Path, old: str, new: str) -> None:
    text = path.read_text(encoding="utf-8")
    assert old in text
    path.write_text(text.replace(old, new), encoding="utf-8")


WITH_TRUTH = ("release.csv", "--truth", "table.csv", "--holdout", "others.csv")
DAMAGE = {
    "too few people": lambda place: (place / "table.csv").write_text(text_of(PEOPLE[:30]), encoding="utf-8"),
    "a value outside the domain": lambda place: change(
        place / "privacy.toml", '[columns.disease]\n', '[columns.disease]\ndomain = ["Flu", "Pox", "Ache"]\n'
    ),
    "an age that is none, in the planted row": lambda place: change(place / "table.csv", f"{NAME},31", f"{NAME},old"),
    "a row too long": lambda place: change(place / "table.csv", VALUE, f"{VALUE},more,and more"),
    "an open quote": lambda place: change(place / "table.csv", NAME, f'"{NAME}'),
    "a column not declared": lambda place: change(place / "table.csv", "note,", "remark,"),
    "a column missing": lambda place: change(place / "table.csv", "town", "village"),
    "a label in a set that is none": lambda place: change(place / "release.csv", "East", '"{East, Atlantis}"'),
    "bytes that are no text": lambda place: (place / "table.csv").write_bytes(
        text_of(PEOPLE).encode().replace(NAME.encode(), NAME.encode() + b"\xff\xfe")
    ),
    "held-out people with a value outside the domain": lambda place: (
        change(place / "others.csv", "Flu", VALUE[::-1]),
        change(
            place / "privacy.toml", '[columns.disease]\n', f'[columns.disease]\ndomain = ["Flu", "Pox", "Ache", "{VALUE}"]\n'
        ),
    ),
    "a schema that is none": lambda place: change(place / "privacy.toml", "sensitive =", "sensitve ="),
    "a hierarchy without the planted town's neighbour": lambda place: change(place / "towns.csv", "Oslo;East;*\n", ""),
}  # fmt: skip


@pytest.mark.parametrize("name", DAMAGE)
def test_errors_quote_nobody(name: str, place: Path) -> None:
    DAMAGE[name](place)
    said = fail(place, *WITH_TRUTH)
    for word in PLANTED:
        assert word not in said
        assert word[::-1] not in said


def test_anatomy_of_other_sizes_quotes_nobody(place: Path) -> None:
    change(place / "anatomy.sensitive.csv", f"{ROW // 2},{VALUE}\n", "")
    said = fail(place, "anatomy", "--truth", "table.csv")
    assert not any(word in said for word in PLANTED)


def test_a_bug_of_ours_quotes_nobody(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """An exception whose message holds a value is told without its message."""
    monkeypatch.delenv("DALENIUS_DEBUG", raising=False)

    def broken(*_: object, **__: object) -> None:
        raise KeyError(VALUE)

    monkeypatch.setattr("dalenius.adversaries.random_worlds.RandomWorlds.believe", broken)
    code, everything = leaked(place, *WITH_TRUTH)
    assert code == 70
    assert VALUE not in everything
    assert "KeyError" in everything
