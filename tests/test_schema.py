"""The schema as a Python value: domains, canonical texts, binding, and the checks of a file's columns."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import dalenius as dl
from dalenius.datasets import save_hospital
from dalenius.errors import InputError, ParameterError
from dalenius.hierarchy import from_paths
from dalenius.schema import Column, Domain, Prior, Schema, WrongType

AGE = Column("age", "quasi", type="integer")
DISEASE = Column("disease", "sensitive")


def test_roles_in_the_schemas_order() -> None:
    schema = Schema(
        (Column("d", "sensitive"), Column("id", "identifier"), AGE, Column("note", "other"), Column("sex", "quasi"))
    )
    assert [column.name for column in schema.quasi] == ["age", "sex"]
    assert [column.name for column in schema.sensitive] == ["d"]
    assert [column.name for column in schema.coded] == ["age", "sex", "d"]
    assert schema["note"].role == "other"
    assert schema.prior == Prior(alpha=1.0, beta=1.0)
    assert (schema.missing, schema.suppressed) == (("",), ("*",))


def test_a_schema_needs_a_sensitive_column_and_a_quasi_identifier_and_distinct_names() -> None:
    with pytest.raises(InputError, match=r"no sensitive column.*columns: age"):
        Schema((AGE,))
    with pytest.raises(InputError, match="no quasi-identifier"):
        Schema((DISEASE,))
    with pytest.raises(InputError, match="'age' is declared twice"):
        Schema((AGE, DISEASE, Column("age", "other")))
    with pytest.raises(InputError, match=r"no column 'disaese'\. Did you mean 'disease'\?"):
        Schema((AGE, DISEASE))["disaese"]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"role": "quazi"}, "'role' parameter of column 'x' must be one of identifier, quasi, sensitive, other"),
        ({"role": "quasi", "type": "float"}, "'type' parameter of column 'x' must be one of category, integer"),
    ],
)
def test_unknown_roles_and_types(options: dict[str, str], message: str) -> None:
    with pytest.raises(ParameterError, match=message):
        Column("x", **options)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "options",
    [
        {"intervals": (5,), "mask": "right"},
        {"mask": "right", "suppress": True},
        {"hierarchy": from_paths([["1", "*"]], source="tree"), "intervals": (5,)},
        {"hierarchy": from_paths([["1", "*"]], source="tree"), "suppress": True},
    ],
)
def test_one_way_to_coarsen_a_column(options: dict[str, object]) -> None:
    with pytest.raises(InputError, match="several of hierarchy, intervals and mask; keep one"):
        Column("x", "quasi", type="integer", **options)  # type: ignore[arg-type]


def test_intervals_are_checked_when_they_are_declared() -> None:
    with pytest.raises(InputError, match="need type"):
        Column("x", "quasi", intervals=(5,))
    with pytest.raises(InputError, match="would not nest"):
        Column("x", "quasi", type="integer", intervals=(5, 12))
    with pytest.raises(ParameterError, match="whole numbers ≥ 2"):
        Column("x", "quasi", type="integer", intervals=())


@pytest.mark.parametrize(
    ("text", "leaf"),
    [
        ("7", "7"),
        ("007", "7"),
        ("+7", "7"),
        (" 7 ", "7"),
        ("7.0", "7"),
        ("7.", "7"),
        ("-0", "0"),
        ("-07", "-7"),
        ("", ""),
        ("NA", ""),
        ("123456789012345678", "123456789012345678"),
    ],
)
def test_integers_are_read_by_value(text: str, leaf: str) -> None:
    assert AGE.canonical(text, ("NA",)) == leaf


@pytest.mark.parametrize("text", ["7.5", "7a", "1e3", "1_000", "- 7", "٣", "1234567890123456789", "nan", "*", " "])
def test_what_is_no_integer(text: str) -> None:
    with pytest.raises(WrongType):
        AGE.canonical(text, ("NA",))


def test_categories_are_read_as_they_are_and_missing_marks_as_one_value() -> None:
    column = Column("x", "quasi")
    texts = ["02139", " a", "?", "NA", "", "na"]
    assert [column.canonical(text, ("?", "NA")) for text in texts] == ["02139", " a", "", "", "", "na"]


def test_domains() -> None:
    domain = Domain(("7", "10", ""))
    assert len(domain) == 3
    assert [domain.code(leaf) for leaf in ("7", "10", "", "8")] == [0, 1, 2, -1]
    assert "10" in domain
    assert "8" not in domain
    np.testing.assert_array_equal(domain.values(), [7, 10, np.nan])
    assert domain == Domain(("7", "10", ""))
    assert domain != Domain(("10", "7", ""))
    assert hash(domain) == hash(Domain(("7", "10", "")))
    with pytest.raises(InputError, match="'a' twice"):
        Domain(("a", "b", "a"))


TREE = from_paths([["10", "x", "*"], ["9", "x", "*"], ["2", "y", "*"]], source="tree")


@pytest.mark.parametrize(
    ("column", "observed", "leaves"),
    [
        (Column("x", "quasi"), ["b", "a", "é", "B", "b"], ("B", "a", "b", "é")),
        (Column("x", "quasi", type="integer"), ["10", "9", "-1"], ("-1", "9", "10")),
        (Column("x", "quasi"), ["b", "", "a"], ("a", "b", "")),
        (Column("x", "quasi", type="integer"), ["", "3"], ("3", "")),
        (Column("x", "quasi", domain=Domain(("b", "a"))), ["a"], ("b", "a")),
        (Column("x", "quasi", domain=Domain(("b", "a"))), ["a", ""], ("b", "a", "")),
        (Column("x", "quasi", domain=Domain(("b", "", "a"))), ["a", ""], ("b", "", "a")),
        (Column("x", "quasi", domain=Domain(("b", "a"))), ["c"], ("b", "a")),
        (Column("x", "quasi", hierarchy=TREE), ["2"], ("10", "9", "2")),
        (Column("x", "quasi", type="integer", hierarchy=TREE), ["2"], ("2", "9", "10")),
        (Column("x", "quasi", hierarchy=TREE), ["2", ""], ("10", "9", "2", "")),
        (Column("x", "quasi", domain=Domain(("2", "9")), hierarchy=TREE), ["2"], ("2", "9")),
        (Column("x", "quasi"), [], ()),
    ],
)
def test_binding_fixes_the_leaves_and_their_order(column: Column, observed: list[str], leaves: tuple[str, ...]) -> None:
    bound = column.bound(observed)
    assert bound.leaves == leaves
    if column.hierarchy is not None:
        assert bound.hierarchy is not None
        assert bound.hierarchy.leaves == leaves
        assert {bound.leaves[i] for i in bound.hierarchy.members()["x"]} == {"10", "9"} & set(leaves)
    assert bound.bound(observed) == bound


def test_recipes_are_worked_out_on_the_domain() -> None:
    bound = Column("x", "quasi", type="integer", intervals=(5,)).bound(["3", "7"])
    assert bound.intervals is None
    assert bound.hierarchy is not None
    assert bound.hierarchy.labels[1] == ("[0, 4]", "[5, 9]")
    assert Column("x", "quasi", mask="left").bound(["ab"]).hierarchy is not None
    assert Column("x", "quasi", suppress=True).bound(["ab"]).hierarchy is not None
    assert Column("x", "quasi").bound(["ab"]).hierarchy is None


def test_only_coded_columns_are_bound() -> None:
    schema = Schema((AGE, DISEASE, Column("id", "identifier")))
    with pytest.raises(InputError, match="no domain yet"):
        _ = schema["age"].leaves
    bound = schema.bind({"age": ["3"], "disease": ["Flu"], "id": ["17"]})
    assert bound["id"].domain is None
    assert bound["age"].leaves == ("3",)


SCHEMA = Schema((AGE, DISEASE, Column("marital-status", "quasi")), source="privacy.toml")


def test_columns_of_a_file() -> None:
    SCHEMA.check_columns(["disease", "marital-status", "age"], where="t.csv")
    SCHEMA.check_columns(["disease", "marital-status", "age", "group"], where="t.csv", also=["group"])


@pytest.mark.parametrize(
    ("names", "words"),
    [
        (["age", "disease", "marital_status"], ["'marital_status' is not declared", "Did you mean 'marital-status'?"]),
        (["age", "disease", "marital-status", "a b"], ["'a b' is not declared", '[columns."a b"]']),
        (["disease", "marital-status"], ["quasi column 'age'", "missing", "disease, marital-status"]),
        (["age", "marital-status"], ["sensitive column 'disease'", "missing"]),
    ],
)
def test_undeclared_and_missing_columns(names: list[str], words: list[str]) -> None:
    with pytest.raises(InputError) as caught:
        SCHEMA.check_columns(names, where="t.csv")
    for word in ["t.csv", "privacy.toml", *words]:
        assert word in str(caught.value)


# Schemas in Python ------------------------------------------------------------------------------------------------------


PYTHON = dl.Schema(
    [
        dl.Column("name", "identifier"),
        dl.Column("age", "quasi", type="integer", intervals=(10, 20), domain=dl.Domain(tuple(map(str, range(20, 70))))),
        dl.Column("odd numbers", "quasi", type="integer", domain=dl.Domain(("1", "3", "5"))),
        dl.Column("zip", "quasi", mask="left"),
        dl.Column("a/b ü", "quasi", hierarchy=from_paths([["a", "x;y", "*"], ['"b', "z", "*"]], source="here")),
        dl.Column("place", "quasi", suppress=True),
        dl.Column("ill", "sensitive", domain=dl.Domain(("Pox", "Flu", 'a "b"\\'))),
    ],
    missing=("", "?"),
    suppressed=("*", "NA"),
    missing_is_secret=True,
    prior=dl.Prior(alpha={"Flu": 2.0}, beta={"place": {"a": 0.5}, "zip": 2.0}),
    policy={
        "min_k": 5,
        "max_t": 0.25,
        "max_relative_threat": {"quantile": 0.9, "value": 1.5},
        "epsilon_privacy": ["I:1"],
    },
)


def same(one: dl.Schema, other: dl.Schema) -> bool:
    parts = ("columns", "missing", "suppressed", "missing_is_secret", "prior", "policy")
    return all(getattr(one, part) == getattr(other, part) for part in parts)


def test_a_saved_schema_is_loaded_again(tmp_path: Path) -> None:
    PYTHON.save(tmp_path / "privacy.toml")
    assert same(dl.Schema.load(tmp_path / "privacy.toml"), PYTHON)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["privacy.toml", "privacy_hierarchy_a_b__.csv"]


def test_a_saved_schema_names_the_hierarchies_it_was_read_with(tmp_path: Path) -> None:
    save_hospital(tmp_path, 50, 1)
    loaded = dl.Schema.load(tmp_path / "privacy.toml")
    (tmp_path / "below").mkdir()
    loaded.save(str(tmp_path / "below" / "mine.toml"))
    assert [path.name for path in (tmp_path / "below").iterdir()] == ["mine.toml"]
    assert same(dl.Schema.load(tmp_path / "below" / "mine.toml"), loaded)
    assert any(column.hierarchy is not None for column in loaded.columns)


def test_values_that_were_seen_are_not_declared_when_a_schema_is_saved(tmp_path: Path) -> None:
    """Else the order in which they were found would count as an order that somebody declared."""
    bound = dl.Schema([dl.Column("place", "quasi"), dl.Column("ill", "sensitive")]).bind({"place": "ab", "ill": "xyz"})
    bound.save(tmp_path / "p.toml")
    assert not any(column.fixed for column in dl.Schema.load(tmp_path / "p.toml").columns)


def test_two_columns_cannot_share_a_file_of_a_hierarchy(tmp_path: Path) -> None:
    tree = from_paths([["a", "*"]], source="here")
    schema = dl.Schema([dl.Column("a b", "quasi", hierarchy=tree), dl.Column("a_b", "sensitive", hierarchy=tree)])
    with pytest.raises(InputError, match=r"Two columns would have the hierarchy 'p_hierarchy_a_b.csv'"):
        schema.save(tmp_path / "p.toml")
    assert not list(tmp_path.iterdir())


def test_roles_are_changed_by_name() -> None:
    changed = PYTHON.with_roles({"odd numbers": "other"}, place="identifier")
    assert [column.role for column in changed.columns] == [
        *("identifier", "quasi", "other", "quasi", "quasi", "identifier", "sensitive")
    ]
    assert PYTHON["place"].role == "quasi"
    with pytest.raises(InputError, match=r"no column 'plaec'. Did you mean 'place'"):
        PYTHON.with_roles(plaec="other")
    with pytest.raises(ParameterError, match="one of identifier, quasi"):
        PYTHON.with_roles(place="secret")  # type: ignore[arg-type]
    with pytest.raises(InputError, match="no sensitive column"):
        PYTHON.with_roles(ill="other")


def test_a_column_is_changed_or_added(tmp_path: Path) -> None:
    changed = PYTHON.with_column("age", suppress=True, domain=[20, 30])
    assert changed["age"] == dl.Column("age", "quasi", "integer", dl.Domain(("20", "30")), suppress=True)
    assert [column.name for column in changed.columns] == [column.name for column in PYTHON.columns]
    added = PYTHON.with_column("sex", role="quasi", suppress=True)
    assert added.columns[-1] == dl.Column("sex", "quasi", suppress=True)
    assert same(added.without_column("sex"), PYTHON)
    assert PYTHON.with_column("zip", type="integer", intervals=[5, 10])["zip"].intervals == (5, 10)
    file = tmp_path / "numbers.csv"
    file.write_text("01;low;*\n3;low;*\n5;high;*\n", encoding="utf-8")
    tree = PYTHON.with_column("odd numbers", hierarchy=file)["odd numbers"].hierarchy
    assert tree is not None
    assert tree.leaves == ("1", "3", "5")
    file.write_text("one;*\n", encoding="utf-8")
    with pytest.raises(InputError, match=r"numbers.csv, line 1: 'one' is not a whole number"):
        PYTHON.with_column("odd numbers", hierarchy=str(file))
    with pytest.raises(InputError, match=r"no column 'sex' yet. Give the new column a role"):
        PYTHON.with_column("sex", suppress=True)
    with pytest.raises(InputError, match=r"A column has no 'rolle'. Did you mean 'role'\?"):
        PYTHON.with_column("age", rolle="other")
