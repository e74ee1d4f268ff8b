"""Labels: the order in which a released cell is resolved, every form of it, and writing as the inverse of reading."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from dalenius import Column, InputError, Schema, read_release
from dalenius.hierarchy import from_paths, read_hierarchy
from dalenius.releases.label import Resolver, Unresolved, label_text, split_set
from dalenius.schema import Domain

DISEASE = Column("disease", "sensitive")


def resolver(column: Column, **options: object) -> tuple[Column, Resolver]:
    schema = Schema((column, DISEASE), **options).bind({})  # type: ignore[arg-type]
    return schema.quasi[0], Resolver(schema.quasi[0], schema)


def category(*leaves: str, **options: object) -> Column:
    return Column("x", "quasi", domain=Domain(leaves), **options)  # type: ignore[arg-type]


def integer(leaves: Iterable[int], **options: object) -> Column:
    return Column("x", "quasi", type="integer", domain=Domain(tuple(map(str, leaves))), **options)  # type: ignore[arg-type]


def members(column: Column, text: str, **options: object) -> set[str]:
    bound, found = resolver(column, **options)
    label = found.resolve(text)
    assert label.text == text
    assert label.members.dtype == np.int32
    assert label.members.tolist() == sorted(set(label.members.tolist()))
    return {bound.leaves[code] for code in label.members.tolist()}


# The order of resolution: what a text could mean further down counts only if nothing above it fits.


def test_a_suppressed_mark_goes_before_a_leaf() -> None:
    column = category("*", "NA", "b")
    for mark in ("*", "NA"):
        label = resolver(column, suppressed=("*", "NA"))[1].resolve(mark)
        assert label.is_mark
        assert len(label.members) == 3
    label = resolver(column, suppressed=("?",))[1].resolve("*")
    assert not label.is_mark
    assert label.members.tolist() == [0]


def test_a_suppressed_mark_goes_before_a_missing_mark() -> None:
    column = category("a", "")
    assert resolver(column, suppressed=("NA", ""))[1].resolve("").is_mark
    assert members(column, "", suppressed=("NA",)) == {""}


def test_a_leaf_goes_before_a_hierarchy_label() -> None:
    tree = from_paths([["7", "007", "*"], ["8", "007", "*"]], source="tree")
    column = Column("x", "quasi", type="integer", hierarchy=tree)
    assert members(column, "007") == {"7"}
    named = Column("x", "quasi", hierarchy=from_paths([["a", "NA", "*"], ["b", "NA", "*"]], source="tree"))
    assert members(named, "NA", missing=("?",)) == {"a", "b"}
    schema = Schema((named, DISEASE), missing=("NA",)).bind({"x": ["", "a"]})
    assert Resolver(schema.quasi[0], schema).resolve("NA").members.tolist() == [2]


def test_a_hierarchy_label_goes_before_an_interval(data: Path) -> None:
    tree = read_hierarchy(data / "adult" / "adult_hierarchy_age.csv")
    column = Column("x", "quasi", type="integer", hierarchy=tree)
    assert members(column, "20-39") == {str(age) for age in range(21, 41)}
    assert members(column, "20-38") == {str(age) for age in range(20, 39)}  # no label: an interval


def test_a_hierarchy_label_goes_before_a_set_a_mask_and_a_tilde() -> None:
    labels = ["{a, b}", "a*", "a~b"]
    for label in labels:
        tree = from_paths([["a", "x", "*"], ["b", label, "*"], ["ac", label, "*"]], source="tree")
        assert members(Column("x", "quasi", hierarchy=tree), label) == {"b", "ac"}


def test_a_leaf_goes_before_a_set_a_mask_an_interval_and_a_tilde() -> None:
    for leaf in ["{a, b}", "a*", "[1, 2]", "1-2", "a~b"]:
        assert members(category("a", "b", "1", "2", "ab", leaf), leaf) == {leaf}


def test_a_set_goes_before_a_mask() -> None:
    assert members(category("a*", "{ab}"), "{a*}") == {"a*"}
    assert members(category("ab", "{ab}", "{ac}"), "{a*", suppressed=()) == {"{ab}", "{ac}"}


def test_a_range_goes_before_a_set_of_two_in_integer_columns() -> None:
    assert members(integer(range(10)), "3~6") == {"3", "4", "5", "6"}
    assert members(category(*map(str, range(10))), "3~6") == {"3", "6"}


# Each form


@pytest.mark.parametrize(
    ("text", "low", "high"),
    [
        ("[20, 39]", 20, 39),
        ("[20,39]", 20, 39),
        ("[ 20 ; 39 ]", 20, 39),
        ("[20, 40)", 20, 39),
        ("[20, 40[", 20, 39),
        ("(19, 39]", 20, 39),
        ("]19, 39]", 20, 39),
        ("(19, 40)", 20, 39),
        ("]19, 40[", 20, 39),
        ("20-39", 20, 39),
        ("20 - 39", 20, 39),
        ("<40", -50, 39),
        ("< 40", -50, 39),
        ("<=40", -50, 40),
        ("≤40", -50, 40),
        (">=20", 20, 50),
        ("≥20", 20, 50),
        (">20", 21, 50),
        ("20~39", 20, 39),
        ("[-10, -3]", -10, -3),
        ("(-11, -2)", -10, -3),
        ("-10--3", -10, -3),
        ("-10-3", -10, 3),
        ("-10~-3", -10, -3),
        ("<-40", -50, -41),
        (">=-3", -3, 50),
        ("[19.5, 39.5]", 20, 39),
        ("(19.5, 39.5)", 20, 39),
        ("[20.0, 40.0)", 20, 39),
        ("[7, 7]", 7, 7),
        ("[40, 1000]", 40, 50),
    ],
)
def test_every_form_of_an_interval(text: str, low: int, high: int) -> None:
    assert members(integer(range(-50, 51)), text) == {str(n) for n in range(low, high + 1)}
    with pytest.raises(Unresolved, match="matches nothing"):
        resolver(category("x20", "x39"))[1].resolve(text)


def test_a_missing_value_is_in_no_interval() -> None:
    column = Column("x", "quasi", type="integer", domain=Domain(("1", "2", "")))
    assert members(column, ">=0") == {"1", "2"}
    assert members(column, "{1, }") == members(column, "{1,}") == members(column, "{,1}") == {"1", ""}
    assert members(column, '{1, ""}') == {"1", ""}


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("{a, b}", {"a", "b"}),
        ("{a,b}", {"a", "b"}),
        (" { a ,b } ", {"a", "b"}),
        ("{a}", {"a"}),
        ("{a, a}", {"a"}),
        ('{"a", b}', {"a", "b"}),
        ('{"a, b", b}', {"a, b", "b"}),
        (r'{"say \"a\"", "\u0061"}', {'say "a"', "a"}),
        ("{NA, a}", {"", "a"}),
        ("{low, c}", {"a", "b", "c"}),
        ("a~c", {"a", "c"}),
        ("a~b~c", {"a", "b", "c"}),
        ("low~c", {"a", "b", "c"}),
    ],
)
def test_sets(text: str, expected: set[str]) -> None:
    leaves = ["a", "b", "c", "a, b", 'say "a"']
    tree = from_paths([[leaf, "low" if leaf in "ab" else "high", "*"] for leaf in leaves], source="tree")
    schema = Schema((Column("x", "quasi", hierarchy=tree), DISEASE), missing=("NA",)).bind({"x": ["NA", ""]})
    label = Resolver(schema.quasi[0], schema).resolve(text)
    assert {schema.quasi[0].leaves[code] for code in label.members} == expected


def test_integer_members_of_sets_are_read_by_value() -> None:
    assert members(integer([1, 7, 12]), '{007, "12"}') == {"7", "12"}


@pytest.mark.parametrize("text", ["a, b", "{a", "a}", '{"a}', '{"a" b}', "{", ""])
def test_what_is_no_set(text: str) -> None:
    assert split_set(text) is None


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("4550*", {"45501", "45502"}),
        ("455**", {"45501", "45502", "45590"}),
        ("4**01", {"45501"}),
        ("*****", {"45501", "45502", "45590", "77701"}),
        ("*01", {"701"}),  # one character each, and there is a leaf of three
        ("*501", {"45501"}),  # no leaf has four characters: any beginning
        ("455*", {"45501", "45502", "45590"}),  # no leaf has four characters: any end
        ("7*", {"77701", "701"}),
        ("**1", {"701"}),
    ],
)
def test_masks(text: str, expected: set[str]) -> None:
    assert members(category("45501", "45502", "45590", "77701", "701"), text) == expected


@pytest.mark.parametrize("text", ["*50*", "9****", "45*0*1*", "****"])
def test_masks_that_match_nothing(text: str) -> None:
    with pytest.raises(Unresolved, match="matches nothing"):
        resolver(category("45501", "50123"))[1].resolve(text)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("Jaapn", r"'Jaapn' matches nothing\. Did you mean 'Japan'\?"),
        ("Asai", r"'Asai' matches nothing\. Did you mean 'Asia'\?"),
        ("{Japan, Chnia}", r"'Chnia' in the set '\{Japan, Chnia\}' matches nothing\. Did you mean 'China'\?"),
        ("{}", r"'\{\}' covers no value"),
        ("Japan~Chnia", "matches nothing"),
        ("Japan,China", r"'Japan,China' matches nothing\. If it is a set, write it with braces: \{Japan,China\}\."),
        ("Japan, Asia", r"with braces: \{Japan, Asia\}\."),
        ("Japan,Chnia", r"matches nothing\.(?! If)"),
        ("", "matches nothing"),
    ],
)
def test_a_label_that_matches_nothing_names_the_nearest(text: str, message: str) -> None:
    tree = from_paths([["Japan", "Asia", "*"], ["China", "Asia", "*"]], source="tree")
    with pytest.raises(Unresolved, match=message):
        resolver(Column("x", "quasi", hierarchy=tree))[1].resolve(text)


def test_an_interval_without_leaves() -> None:
    for text in ("[5, 3]", "[60, 70]", "<0", "(3, 4)"):
        with pytest.raises(Unresolved, match="covers no value of the column's domain"):
            resolver(integer(range(10)))[1].resolve(text)


# In a file: row, column, label; and what can be said without a domain.


def test_errors_name_file_row_column_label_and_the_nearest(tmp_path: Path) -> None:
    (tmp_path / "r.csv").write_text("x,disease\nJapan,Flu\n{Japan},Flu\nJaapn,Flu\n")
    schema = Schema((category("Japan", "China"), DISEASE))
    with pytest.raises(
        InputError, match=r"r\.csv, row 2, column 'x': 'Jaapn' matches nothing\. Did you mean 'Japan'\?"
    ):
        read_release(tmp_path / "r.csv", schema)


@pytest.mark.parametrize(
    ("column", "label", "message"),
    [
        (Column("x", "quasi"), "4550*", "'4550\\*' is a mask, and its leaves are not known.*domain = "),
        (Column("x", "quasi", mask="right"), "4550*", "is a mask"),
        (Column("x", "quasi"), '"{a, b*}"', "'b\\*' is a mask"),
        (Column("x", "quasi", type="integer"), '"[1, 2]"', r"is an interval, and its leaves are not known.*min = …"),
        (Column("x", "quasi", type="integer"), "20-39", "is an interval"),
        (Column("x", "quasi", type="integer"), "20~39", "is an interval"),
        (Column("x", "quasi", type="integer", intervals=(5,)), "<40", "is an interval"),
        (Column("x", "quasi", type="integer"), "abc", "'abc' is neither a whole number nor an interval"),
    ],
)
def test_without_a_domain_a_mask_or_interval_is_an_error(
    tmp_path: Path, column: Column, label: str, message: str
) -> None:
    (tmp_path / "r.csv").write_text(f"x,disease\n1,Flu\n{label},Flu\n")
    with pytest.raises(InputError, match=f"r\\.csv, row 1, column 'x': .*{message}"):
        read_release(tmp_path / "r.csv", Schema((column, DISEASE)))


@pytest.mark.parametrize(
    ("column", "leaves"),
    [
        (Column("x", "quasi"), ("a", "b", "c", "d", "e, f", "")),
        (Column("x", "quasi", type="integer"), None),
    ],
)
def test_without_a_domain_the_leaves_are_those_named(
    tmp_path: Path, column: Column, leaves: tuple[str, ...] | None
) -> None:
    (tmp_path / "r.csv").write_text('x,disease\n"{b, a}",Flu\nc~d,Flu\n*,Flu\n"{""e, f"", NA}",Flu\n')
    if leaves is None:
        (tmp_path / "r.csv").write_text('x,disease\n"{9, 010}",Flu\n11,Flu\n*,Flu\nNA,Flu\n')
        leaves = ("9", "10", "11", "")
    release = read_release(tmp_path / "r.csv", Schema((column, DISEASE), missing=("NA",)))
    assert release.schema["x"].leaves == leaves  # type: ignore[attr-defined]


def test_declared_intervals_make_intervals_readable(tmp_path: Path) -> None:
    (tmp_path / "r.csv").write_text('x,disease\n"[0, 4]",Flu\n7,Flu\n')
    release = read_release(tmp_path / "r.csv", Schema((Column("x", "quasi", type="integer", intervals=(5,)), DISEASE)))
    assert release.schema["x"].leaves == ("0", "1", "2", "3", "4", "7")  # type: ignore[attr-defined]


# Writing is the inverse of reading.

ALPHABET = "ab,{}\"\\* ~-[]()<>=\n\t'é雪01;"
NASTY = st.one_of(
    st.text(ALPHABET, max_size=6),
    st.text(st.characters(exclude_categories=["Cs"]), max_size=4),
    st.sampled_from(["*", "", "**", "{a, b}", '"', '{"a"}', "[1, 2]", "1-2", "<1", "a~b", "~", " ", "a ", "{}", "NA"]),
)


@st.composite
def cases(draw: st.DrawFn) -> tuple[Column, list[int]]:
    if draw(st.booleans()):
        numbers = sorted(draw(st.sets(st.one_of(st.integers(-9, 9), st.integers(-(10**17), 10**17)), min_size=1)))
        leaves = [str(number) for number in numbers] + ([""] if draw(st.booleans()) else [])
        column = Column("x", "quasi", type="integer", domain=Domain(tuple(leaves)))
    else:
        leaves = draw(st.lists(NASTY, min_size=1, max_size=6, unique=True))
        column = category(*leaves)
        if draw(st.booleans()):
            parents = {leaf: draw(NASTY.filter(bool)) for leaf in leaves}
            try:
                tree = from_paths([[leaf, parents[leaf], "^top"] for leaf in leaves], source="tree")
                column = category(*leaves, hierarchy=tree)
            except InputError:  # a parent that is a leaf as well
                pass
    codes = draw(st.sets(st.integers(0, len(leaves) - 1), min_size=1))
    return column, sorted(codes)


@settings(max_examples=300)
@given(case=cases(), suppressed=st.lists(NASTY, max_size=2), missing=st.lists(NASTY, max_size=1))
@example(case=(category("*", "a"), [0]), suppressed=["*"], missing=[])
@example(case=(category("", "a"), [0]), suppressed=["NA", ""], missing=[])
@example(case=(category("{a, b}", "a", "b"), [1, 2]), suppressed=[], missing=[])
def test_what_is_written_is_read_back(
    case: tuple[Column, list[int]], suppressed: list[str], missing: list[str]
) -> None:
    column, found = resolver(case[0], suppressed=tuple(suppressed), missing=tuple(missing))
    codes = np.array(case[1], dtype=np.int32)
    leaves = [column.leaves[code] for code in case[1]]
    taken = {*column.leaves, *suppressed, *(column.hierarchy.members() if column.hierarchy else ())}
    # Only the schema itself makes a set unwritable: a leaf that is a missing mark, or a label that reads like the set.
    unreadable = any(leaf in missing and leaf for leaf in leaves)
    try:
        text = label_text(column, codes, found)
    except InputError:
        assert unreadable or any(split_set(text) is not None for text in taken)
        return
    label = found.resolve(text)
    assert label.members.tolist() == case[1]
    assert not label.is_mark


@pytest.mark.parametrize(
    ("column", "codes", "text"),
    [
        (category("a", "b", "c"), [1], "b"),
        (category("a", "b", "c"), [0, 1], "{a, b}"),
        (category("a, b", "c"), [0, 1], '{"a, b", c}'),
        (category("a{", 'b"', " c", ""), [0, 1, 2, 3], '{"a{", "b\\"", " c", ""}'),
        (category("é", "雪"), [0, 1], "{é, 雪}"),
        (integer([1, 2, 3, 9]), [1, 2], "[2, 3]"),
        (integer([1, 2, 3, 9]), [2, 3], "[3, 9]"),
        (integer([1, 2, 3, 9]), [0, 2], "{1, 3}"),
        (integer([-3, -2]), [0, 1], "[-3, -2]"),
        (Column("x", "quasi", type="integer", domain=Domain(("1", "2", ""))), [0, 1, 2], '{1, 2, ""}'),
        (category("*", "a"), [0], '{"*"}'),
    ],
)
def test_how_a_set_is_written(column: Column, codes: list[int], text: str) -> None:
    bound, found = resolver(column)
    assert label_text(bound, np.array(codes, dtype=np.int32), found) == text


def test_sets_that_cannot_be_written() -> None:
    bound, found = resolver(category("NA", "b"), missing=("NA",))
    with pytest.raises(InputError, match=r'The set \{"NA"\} of column \'x\' cannot be written as a label of its own'):
        label_text(bound, np.array([0], dtype=np.int32), found)
    bound, found = resolver(category("a"))
    with pytest.raises(InputError, match="covers no value"):
        label_text(bound, np.array([], dtype=np.int32), found)


def test_a_set_of_very_many_members_takes_no_time() -> None:
    """Minutes, if what is left of the text were copied for every member."""
    members = [f"a{i}" for i in range(400_000)]
    assert split_set("{" + ", ".join(members) + "}") == members
    assert split_set("{" + ", ".join(f'"{member}"' for member in members) + "}") == members
