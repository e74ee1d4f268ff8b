"""`privacy.toml`: every key of it, and every way to write it wrongly."""

from __future__ import annotations

from pathlib import Path

import pytest

from dalenius import Schema
from dalenius.errors import InputError
from dalenius.schema import Prior

WHOLE = """\
sensitive = ["occupation", "salary"]
missing = ["", "?"]
suppressed = ["*", "NA"]
hierarchies = "trees"

[columns.id]
role = "identifier"

[columns.age]
role = "quasi"
type = "integer"
intervals = [5, 10, 20, 40]
domain = { min = 17, max = 90 }

[columns.zip]
role = "quasi"
mask = "right"
domain = ["02139", "02140"]

[columns.country]
role = "quasi"
hierarchy = "country.csv"

[columns.race]
role = "quasi"

[columns.sex]
role = "quasi"
hierarchy = "suppress"
domain = ["M", "F"]

[columns.occupation]
role = "sensitive"

[columns.salary]
role = "sensitive"
type = "integer"

[columns.note]
role = "other"

[prior]
alpha = { Clerk = 2.0, Cook = 0.5 }
beta = { age = 0.5, sex = { M = 1.0, F = 3 } }

[policy]
min_k = 5
min_l = 2
min_entropy_l = 1.5
max_t = 0.3
max_attacker_accuracy = 0.5
max_attacker_gain = 0.1
max_relative_threat = { quantile = 0.95, value = 1.5 }
min_faithfulness = 0.8
epsilon_privacy = ["I:table:1e6:2.5"]
max_perfect_breach = 0.0
max_loss = 0.4
max_suppressed = 0.02
"""


def load(folder: Path, text: str | bytes, **files: str) -> Schema:
    for name, content in files.items():
        (folder / f"{name}.csv").write_text(content)
    path = folder / "privacy.toml"
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return Schema.load(path)


def refused(folder: Path, text: str | bytes, **files: str) -> str:
    with pytest.raises(InputError) as caught:
        load(folder, text, **files)
    return str(caught.value)


def test_every_key(tmp_path: Path) -> None:
    (tmp_path / "trees").mkdir()
    (tmp_path / "trees" / "adult_hierarchy_race.csv").write_text("White;any\nBlack;any\n")
    (tmp_path / "trees" / "adult_hierarchy_age.csv").write_text("not;nested;x\n17;because;intervals;win\n")
    schema = load(tmp_path, WHOLE, country="Kenya;Africa;*\nGhana;Africa;*\n")
    assert [column.name for column in schema.quasi] == ["age", "zip", "country", "race", "sex"]
    assert [column.name for column in schema.sensitive] == ["occupation", "salary"]
    assert (schema["id"].role, schema["note"].role) == ("identifier", "other")
    assert (schema.missing, schema.suppressed) == (("", "?"), ("*", "NA"))
    assert schema.source == "privacy.toml"
    assert schema["age"].leaves == tuple(str(age) for age in range(17, 91))
    assert schema["age"].intervals == (5, 10, 20, 40)
    assert schema["zip"].leaves == ("02139", "02140")
    assert schema["zip"].mask == "right"
    assert schema["sex"].suppress
    country, race = schema["country"].hierarchy, schema["race"].hierarchy
    assert country is not None
    assert country.leaves == ("Kenya", "Ghana")
    assert race is not None
    assert race.source == "adult_hierarchy_race.csv"
    assert schema["salary"].type == "integer"
    assert schema.prior == Prior(alpha={"Clerk": 2.0, "Cook": 0.5}, beta={"age": 0.5, "sex": {"M": 1.0, "F": 3.0}})
    assert schema.policy == {
        "min_k": 5,
        "min_l": 2,
        "min_entropy_l": 1.5,
        "max_t": 0.3,
        "max_attacker_accuracy": 0.5,
        "max_attacker_gain": 0.1,
        "max_relative_threat": {"quantile": 0.95, "value": 1.5},
        "min_faithfulness": 0.8,
        "epsilon_privacy": ["I:table:1e6:2.5"],
        "max_perfect_breach": 0.0,
        "max_loss": 0.4,
        "max_suppressed": 0.02,
    }


MINIMAL = 'sensitive = "disease"\n[columns.strength]\nrole = "quasi"\n'


def test_the_least_that_a_file_must_say(tmp_path: Path) -> None:
    schema = load(tmp_path, MINIMAL)
    assert [(c.name, c.role, c.type) for c in schema.columns] == [
        ("strength", "quasi", "category"),
        ("disease", "sensitive", "category"),
    ]
    assert (schema.missing, schema.suppressed, schema.policy) == (("",), ("*",), {})
    assert schema.prior == Prior(1.0, 1.0)
    roles = '[columns.a]\nrole = "quasi"\n[columns.b]\nrole = "sensitive"\n'
    assert [c.name for c in load(tmp_path, roles).sensitive] == ["b"]
    assert load(tmp_path, b"\xef\xbb\xbf" + roles.encode()).quasi[0].name == "a"


@pytest.mark.parametrize(
    ("line", "words"),
    [
        # Unknown keys, at every level, with the nearest known one.
        ("rol = 1", ["'rol' in [columns.strength]", "'role'"]),
        ("domain = { min = 1, max = 2, stop = 3 }", ["'stop' in [columns.strength.domain]", "min, max"]),
        ("[prior]\nalpa = 1", ["'alpa' in [prior]", "Did you mean 'alpha'?"]),
        ("[policy]\nmink = 1", ["'mink' in [policy]", "Did you mean 'min_k'?"]),
        (
            "[policy]\nmax_relative_threat = { quantile = 0.5, valu = 1 }",
            ["'valu' in [policy.max_relative_threat]", "Did you mean 'value'?"],
        ),
        ("[columns2.a]\nrole = 'quasi'", ["'columns2'", "Did you mean 'columns'?"]),
        # Wrong types and values: the whole key, what is allowed, what came.
        ("type = 3", ["columns.strength.type", "'category' or 'integer'", "Got 3"]),
        ("type = 'float'", ["columns.strength.type", "Got 'float'"]),
        ("intervals = 5", ["columns.strength.intervals", "list", "Got 5"]),
        ("type = 'integer'\nintervals = [5.0]", ["columns.strength.intervals.0", "integer", "Got 5.0"]),
        ("type = 'integer'\nintervals = [1]", ["[columns.strength]", "≥ 2", "[1]"]),
        ("type = 'integer'\nintervals = [5, 12]", ["[columns.strength]", "12", "multiple of 5"]),
        ("intervals = [5]", ["[columns.strength]", 'type = "integer"']),
        ("mask = 'middle'", ["columns.strength.mask", "'right' or 'left'", "Got 'middle'"]),
        ("hierarchy = ['a']", ["columns.strength.hierarchy", "string"]),
        ("domain = 'a'", ["columns.strength.domain", "Got 'a'"]),
        ("domain = [1.5]", ["columns.strength.domain.0", "Got 1.5"]),
        ("domain = []", ["[columns.strength]", "the domain is empty"]),
        ("domain = ['a', 'b', 'a']", ["[columns.strength]", "'a' twice"]),
        ("type = 'integer'\ndomain = ['7', '007']", ["[columns.strength]", "'7' twice"]),
        ("type = 'integer'\ndomain = ['7', 'x']", ["[columns.strength]", "'x'", "whole number"]),
        ("type = 'integer'\ndomain = { min = 3 }", ["columns.strength.domain.max is missing"]),
        ("type = 'integer'\ndomain = { min = 3, max = 'a' }", ["columns.strength.domain.max", "Got 'a'"]),
        ("type = 'integer'\ndomain = { min = 3, max = 2 }", ["[columns.strength]", "from 3 to 2 is empty"]),
        ("type = 'integer'\ndomain = { min = 0, max = 99999999 }", ["[columns.strength]", "longer than 5,000,000"]),
        ("domain = { min = 1, max = 2 }", ["[columns.strength]", 'type = "integer"']),
        ("hierarchy = 'tree.csv'\nintervals = [5]\ntype = 'integer'", ["[columns.strength]", "keep one"]),
        ("hierarchy = 'suppress'\nmask = 'left'", ["[columns.strength]", "keep one"]),
        ("hierarchy = 'none.csv'", ["none.csv", "no such file"]),
        ("[prior]\nalpha = 0", ["prior.alpha", "greater than 0", "Got 0"]),
        ("[prior]\nalpha = true", ["prior.alpha", "number", "Got True"]),
        ("[prior]\nalpha = { Flu = -1 }", ["prior.alpha.Flu", "greater than 0", "Got -1"]),
        ("[prior]\nalpha = inf", ["prior.alpha", "finite"]),
        ("[prior]\nbeta = { strength = { x = 0 } }", ["prior.beta.strength.x", "greater than 0"]),
        ("[prior]\nbeta = { strenth = 1 }", ["'strenth'", "not a quasi-identifier", "Did you mean 'strength'?"]),
        ("[prior]\nbeta = { disease = 1 }", ["'disease'", "not a quasi-identifier"]),
        ("[policy]\nmin_k = 0", ["policy.min_k", "greater than or equal to 2", "Got 0"]),
        ("[policy]\nmin_k = 2.5", ["policy.min_k", "integer", "Got 2.5"]),
        ("[policy]\nmax_t = 1.5", ["policy.max_t", "below 1, or it demands nothing"]),
        ("[policy]\nmax_t = nan", ["policy.max_t", "Got nan"]),
        ("[policy]\nmax_relative_threat = 3", ["policy.max_relative_threat", "table", "Got 3"]),
        ("[policy]\nepsilon_privacy = 'IV'", ["policy.epsilon_privacy", "list"]),
    ],
)
def test_mistakes_below_a_column(tmp_path: Path, line: str, words: list[str]) -> None:
    message = refused(tmp_path, MINIMAL + line, tree="1;*\n")
    for word in ["privacy.toml" if "none.csv" not in words else "none.csv", *words]:
        assert word in message
    assert "_Column" not in message
    assert "pydantic" not in message


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("sensitiv = 'a'", ["unknown key 'sensitiv'", "Did you mean 'sensitive'?"]),
        ("sensitive = 3\n[columns]", ["sensitive", "Got 3"]),
        ("sensitive = [3]\n[columns]", ["sensitive.0", "Got 3"]),
        ("missing = 'NA'\n[columns]", ["missing", "list", "Got 'NA'"]),
        ("suppressed = [1]\n[columns]", ["suppressed.0", "Got 1"]),
        ("hierarchies = 3\n[columns]", ["hierarchies", "Got 3"]),
        ("columns = 3", ["columns", "table", "Got 3"]),
        ("[columns]\nage = 'quasi'", ["columns.age", "table", "Got 'quasi'"]),
        ("", ["no [columns.NAME] tables"]),
        ("[columns.age]\n", ["columns.age.role is missing", "identifier, quasi, sensitive, other"]),
        ("[columns.age]\nrole = 'quazi'", ["columns.age.role", "'quasi'", "Got 'quazi'"]),
        ("[columns.age]\nrole = 'quasi'", ["no sensitive column", "age"]),
        ("[columns.d]\nrole = 'sensitive'", ["no quasi-identifier"]),
        ("sensitive = 'a'\n[columns.a]\nrole = 'quasi'", ["'a' is named as sensitive", 'role = "quasi"']),
        (
            "sensitive = 'a'\n[columns.b]\nrole = 'sensitive'\n[columns.q]\nrole = 'quasi'",
            ["[columns.b]", "does not name it"],
        ),
        ("hierarchies = 'none'\nsensitive = 'd'\n[columns.a]\nrole = 'quasi'", ["'none' is not a folder"]),
        ("a = \n", ["not valid TOML", "line 1"]),
        ("a = 1\na = 2", ["not valid TOML"]),
        (b"a = '\xff'", ["UTF-8"]),
    ],
)
def test_mistakes_in_the_file(tmp_path: Path, text: str | bytes, words: list[str]) -> None:
    message = refused(tmp_path, text)
    for word in ["privacy.toml", *words]:
        assert word in message


def test_a_file_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"no such file.*dalenius init TABLE -o nothing\.toml"):
        Schema.load(tmp_path / "nothing.toml")


# Hierarchies


def test_hierarchies_are_relative_to_the_schemas_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "a" / "trees").mkdir(parents=True)
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "a" / "trees" / "t.csv").write_text("x;*\n")
    monkeypatch.chdir(tmp_path / "elsewhere")
    for lines in ('hierarchy = "trees/t.csv"', f'hierarchy = "{tmp_path}/a/trees/t.csv"'):
        assert load(tmp_path / "a", MINIMAL + lines)["strength"].hierarchy is not None
    in_folder = 'hierarchies = "trees"\n' + MINIMAL + 'hierarchy = "t.csv"'
    assert load(tmp_path / "a", in_folder)["strength"].hierarchy is not None


def test_a_folders_hierarchies_are_picked_up_by_column_name(tmp_path: Path) -> None:
    trees = {
        "a_hierarchy_strength": "x;*\n",
        "a_hierarchy_disease": "Flu;*\n",
        "a_hierarchy_note": "not;used\nat;all;*\n",
        "a_hierarchy_st*": "y;*\n",
    }
    text = (
        'hierarchies = "."\n' + MINIMAL + '[columns.note]\nrole = "other"\n[columns."st*"]\nrole = "quasi"\n'
        '[columns.alone]\nrole = "quasi"\n[columns.hidden]\nrole = "quasi"\nhierarchy = "suppress"\n'
    )
    schema = load(tmp_path, text, **trees, a_hierarchy_hidden="z;*\n")
    found = {column.name: column.hierarchy.leaves for column in schema.columns if column.hierarchy is not None}
    assert found == {"strength": ("x",), "disease": ("Flu",), "st*": ("y",)}
    assert schema["hidden"].suppress
    assert "several hierarchies fit: a_hierarchy_strength.csv, b_hierarchy_strength.csv" in refused(
        tmp_path, text, b_hierarchy_strength="x;*\n"
    )


def test_leaves_of_a_hierarchy_are_read_by_type(tmp_path: Path) -> None:
    text = "missing = ['NA']\n" + MINIMAL + "type = 'integer'\nhierarchy = 'tree.csv'\n"
    tree = load(tmp_path, text, tree="007;[5, 9];*\n+9;[5, 9];*\nNA;none;*\n")["strength"].hierarchy
    assert tree is not None
    assert tree.leaves == ("7", "9", "")
    message = refused(tmp_path, text, tree="7;*\nx;*\n")
    assert "tree.csv, line 2: 'x' is not a whole number, but column 'strength' has type" in message
    message = refused(tmp_path, text, tree="7;*\n8;*\n07;*\n")
    assert "tree.csv, line 3: '7' stands already in tree.csv, line 1" in message


@pytest.mark.slow
def test_a_domain_beside_a_hierarchy(tmp_path: Path) -> None:
    text = MINIMAL + "hierarchy = 'tree.csv'\ndomain = {}\n"
    tree = "Heart;x;*\nFlu;x;*\nHIV;y;*\n"
    bound = load(tmp_path, text.format("['HIV', 'Heart', '']"), tree=tree)["strength"].bound([])
    assert bound.leaves == ("HIV", "Heart", "")
    message = refused(tmp_path, text.format("['HIV', 'Haert']"), tree=tree)
    assert "[columns.strength]: the domain's value 'Haert' has no path in tree.csv. Did you mean 'Heart'?" in message
    wide = MINIMAL + "hierarchy = 'tree.csv'\ntype = 'integer'\ndomain = { min = 0, max = 99999 }\n"
    rows = "".join(f"{i};*\n" for i in range(100_000))
    assert len(load(tmp_path, wide, tree=rows)["strength"].leaves) == 100_000  # quadratic, this took minutes


def test_integer_domains_are_canonical_and_in_order(tmp_path: Path) -> None:
    text = MINIMAL + "type = 'integer'\ndomain = ['007', 10, ' -3', '']\n"
    assert load(tmp_path, text)["strength"].leaves == ("-3", "7", "10", "")
    assert load(tmp_path, MINIMAL + "domain = ['007', 10]\n")["strength"].leaves == ("007", "10")
    marks = "missing = ['?']\n" + MINIMAL + "domain = ['a', '?']\n"
    assert load(tmp_path, marks)["strength"].leaves == ("a", "")
