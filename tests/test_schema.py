"""The schema as a Python value: domains, canonical texts, binding, and the checks of a file's columns."""

from __future__ import annotations

import numpy as np
import pytest

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
