"""Hierarchies: files of every dialect, recipes, and every way in which one can be wrong."""

from __future__ import annotations

import errno
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dalenius.errors import InputError, ParameterError
from dalenius.hierarchy import Hierarchy, check_widths, from_paths, intervals, mask, read_hierarchy, suppress
from dalenius.schema import Column


def written(folder: Path, content: str | bytes) -> Path:
    path = folder / "tree.csv"
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return path


def naive_members(paths: list[list[str]]) -> dict[str, set[int]]:
    """Every label above the leaves with the rows that carry it."""
    found: dict[str, set[int]] = {}
    for level in range(1, len(paths[0])):
        for i, path in enumerate(paths):
            found.setdefault(path[level], set()).add(i)
    return found


def sets(tree: Hierarchy) -> dict[str, set[int]]:
    return {label: set(codes.tolist()) for label, codes in tree.members().items()}


def by_leaf(tree: Hierarchy) -> dict[str, set[str]]:
    return {label: {tree.leaves[i] for i in codes} for label, codes in sets(tree).items()}


EXPECTED = {"[20, 24]": {"20", "21"}, "[25, 29]": {"25"}, "*": {"20", "21", "25"}}


@pytest.mark.parametrize(
    "content",
    [
        "20;[20, 24];*\n21;[20, 24];*\n25;[25, 29];*\n",
        "20;[20, 24];*\n21;[20, 24];*\n25;[25, 29];*",
        "20;[20, 24];*\r\n21;[20, 24];*\r\n25;[25, 29];*\r\n",
        "20;[20, 24];*\r21;[20, 24];*\r25;[25, 29];*\r",
        "20\t[20, 24]\t*\n21\t[20, 24]\t*\n25\t[25, 29]\t*\n",
        '20,"[20, 24]",*\n21,"[20, 24]",*\n25,"[25, 29]",*\n',
        '"20","[20, 24]","*"\n"21","[20, 24]","*"\n"25","[25, 29]","*"\n',
        '"20";"[20, 24]";"*"\n\n21;"[20, 24]";*\n25;[25, 29];*\n\n',
        b"\xef\xbb\xbf" + b"20;[20, 24];*\n21;[20, 24];*\n25;[25, 29];*\n",
    ],
    ids=["semicolon", "no-last-newline", "crlf", "cr", "tab", "comma", "quoted-comma", "blank-lines", "bom"],
)
def test_every_dialect_of_a_file_gives_the_same_hierarchy(tmp_path: Path, content: str | bytes) -> None:
    tree = read_hierarchy(written(tmp_path, content))
    assert tree.leaves == ("20", "21", "25")
    assert tree.height == 2
    assert by_leaf(tree) == EXPECTED


def test_quoted_fields_hold_delimiters_quotes_and_line_ends(tmp_path: Path) -> None:
    tree = read_hierarchy(written(tmp_path, '"a;b";"x ""y""";*\n"c\nd";z, w;*\n'))
    assert tree.leaves == ("a;b", "c\nd")
    assert by_leaf(tree) == {'x "y"': {"a;b"}, "z, w": {"c\nd"}, "*": {"a;b", "c\nd"}}


def test_the_real_age_hierarchy_of_arx(data: Path) -> None:
    tree = read_hierarchy(data / "adult" / "adult_hierarchy_age.csv")
    assert tree.height == 4
    assert by_leaf(tree)["20-39"] == {str(age) for age in range(21, 41)}


@pytest.mark.parametrize(
    ("content", "words"),
    [
        ("a;x;*\nb;x\n", ["line 2", "'b'", "2 levels", "3"]),
        ("20;[20, 24];*\n21;[20, 24]\n", ["line 2", "'21'", "2 levels", "3"]),
        ("a;x;*\nb;x;*;*\n", ["line 2", "'b'", "4 levels", "3"]),
        ("a;x;p;*\nb;x;q;*\n", ["line 2", "'x'", "'q'", "'p'", "line 1", "one parent"]),
        ("a;x;*\nb;y;*\na;x;*\n", ["line 3", "'a'", "line 1"]),
        ("a;x;*\nb;;*\n", ["line 2", "'b'", "level 1", "empty"]),
        ("a;x;*\nb;x;*;\n", ["line 2", "4 levels"]),
        ("a;b;*\nb;y;*\nc;y;*\n", ["'b'", "level 0", "level 1", "one meaning"]),
        ("a;x;p;*\nb;y;x;*\nc;y;x;*\n", ["'x'", "covers 1 value", "level 1", "2 at level 2"]),
        ('a;x;*\n"b\nc";x\n', ["line 2", "2 levels"]),
        ('"b\nc";x;*\nd;x\n', ["line 3", "'d'"]),
        ('a;x;*\nb;"x;*\nc;x;*\n', ["line 2", "quote"]),
        ('a;x;*\nb;"x"y;*\n', ["line 2", "quote"]),
    ],
    ids=[
        "too-short",
        "too-short-where-commas-would-fit",
        "too-long",
        "two-parents",
        "leaf-twice",
        "empty-label",
        "trailing-delimiter",
        "label-is-another-leaf",
        "label-on-two-levels",
        "line-number-before-quoted-newline",
        "line-number-after-quoted-newline",
        "quote-never-closed",
        "text-after-quote",
    ],
)
def test_a_wrong_file_is_refused_with_file_line_and_value(tmp_path: Path, content: str, words: list[str]) -> None:
    with pytest.raises(InputError) as caught:
        read_hierarchy(written(tmp_path, content))
    for word in ["tree.csv", *words]:
        assert word in str(caught.value)


@pytest.mark.parametrize("content", [b"", b"\n\r\n  \n", b"\xef\xbb\xbf"])
def test_an_empty_file_is_refused(tmp_path: Path, content: bytes) -> None:
    with pytest.raises(InputError, match=r"tree\.csv: the hierarchy is empty"):
        read_hierarchy(written(tmp_path, content))


def test_a_file_that_is_not_utf8_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"tree\.csv: .*UTF-8"):
        read_hierarchy(written(tmp_path, "Zürich;Schweiz;*\n".encode("latin-1")))


def test_a_file_that_cannot_be_read_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(InputError, match=r"none\.csv.*no such file"):
        read_hierarchy(tmp_path / "none.csv")
    with pytest.raises(InputError, match="that is a folder"):
        read_hierarchy(tmp_path)

    def refuse(_: Path) -> bytes:
        raise PermissionError(errno.EACCES, "Permission denied")

    monkeypatch.setattr(Path, "read_bytes", refuse)  # chmod does not stop root
    with pytest.raises(InputError, match=r"tree\.csv.*permission denied"):
        read_hierarchy(tmp_path / "tree.csv")


def test_a_label_may_repeat_on_the_next_level_if_it_means_the_same() -> None:
    tree = from_paths([["a", "x", "x", "*"], ["b", "x", "x", "*"], ["c", "c", "y", "*"]], source="tree")
    assert sets(tree) == {"x": {0, 1}, "c": {2}, "y": {2}, "*": {0, 1, 2}}


# Recipes


def test_interval_widths() -> None:
    tree = intervals(["-6", "-1", "0", "4", "5", "12"], [5, 10], source="age")
    assert by_leaf(tree) == {
        "[-10, -6]": {"-6"},
        "[-5, -1]": {"-1"},
        "[0, 4]": {"0", "4"},
        "[5, 9]": {"5"},
        "[10, 14]": {"12"},
        "[-10, -1]": {"-6", "-1"},
        "[0, 9]": {"0", "4", "5"},
        "[10, 19]": {"12"},
        "*": {"-6", "-1", "0", "4", "5", "12"},
    }


@pytest.mark.parametrize("widths", [[], [1], [0, 5], [-5], [True], [2.5], ["5"]])
def test_widths_that_are_no_widths(widths: list[object]) -> None:
    with pytest.raises(ParameterError, match=r"'intervals' parameter of age must be a list of whole numbers ≥ 2"):
        check_widths(widths, source="age")  # type: ignore[arg-type]
    with pytest.raises(ParameterError):
        intervals(["1"], widths, source="age")  # type: ignore[arg-type]


@pytest.mark.parametrize("widths", [[5, 12], [10, 5], [5, 5]])
def test_widths_that_do_not_nest(widths: list[int]) -> None:
    with pytest.raises(InputError, match=f"width {widths[1]} is not a larger multiple of {widths[0]}"):
        check_widths(widths, source="age")


def test_mask_from_the_right_and_left_keeps_the_length() -> None:
    leaves = ["12345", "12399", "123", "1"]
    assert by_leaf(mask(leaves, "right", source="zip")) == {
        "1234*": {"12345"},
        "1239*": {"12399"},
        "123**": {"12345", "12399"},
        "12***": {"12345", "12399"},
        "1****": {"12345", "12399"},
        "123": {"123"},
        "12*": {"123"},
        "1**": {"123"},
        "1": {"1"},
        "*": set(leaves),
    }
    left = by_leaf(mask(["123", "923", "3"], "left", source="zip"))
    assert left == {"*23": {"123", "923"}, "**3": {"123", "923"}, "3": {"3"}, "*": {"123", "923", "3"}}


def test_mask_refuses_another_side_and_values_that_look_masked() -> None:
    with pytest.raises(ParameterError, match="'right' or 'left'"):
        mask(["12"], "middle", source="zip")
    with pytest.raises(InputError, match=r"'1\*' covers 1 value at level 0 and 2 at level 1"):
        mask(["12", "1*"], "right", source="zip")


def test_suppress_only() -> None:
    tree = suppress(["a", "b", ""], source="sex")
    assert tree.height == 1
    assert by_leaf(tree) == {"*": {"a", "b", ""}}
    with pytest.raises(InputError, match="one meaning"):
        suppress(["*", "a"], source="sex")


# The missing value


@pytest.mark.parametrize(
    "column",
    [
        Column("c", "quasi", hierarchy=from_paths([["1", "x", "*"], ["2", "x", "*"]], source="tree")),
        Column("c", "quasi", type="integer", intervals=(5,)),
        Column("c", "quasi", mask="right"),
        Column("c", "quasi", suppress=True),
    ],
    ids=["file", "intervals", "mask", "suppress"],
)
def test_a_missing_value_is_a_branch_of_its_own(column: Column) -> None:
    bound = column.bound(["1", "2", ""])
    assert bound.leaves == ("1", "2", "")
    assert bound.hierarchy is not None
    for label, codes in sets(bound.hierarchy).items():
        assert codes == {0, 1, 2} if label == "*" else (codes == {2}) == (label == ""), label
    assert "" not in by_leaf(column.bound(["1", "2"]).hierarchy or pytest.fail("no hierarchy"))


def test_a_missing_value_stays_apart_where_there_is_no_single_root() -> None:
    tree = from_paths([["a", "x"], ["b", "y"]], source="tree").arranged(["b", "", "a"])
    assert by_leaf(tree) == {"y": {"b"}, "": {""}, "x": {"a"}}
    alone = from_paths([["a"]], source="tree").arranged(["a", ""])
    assert alone.leaves == ("a", "")
    assert alone.height == 0


def test_arranging_keeps_sets_and_names_the_nearest_leaf() -> None:
    tree = from_paths([["Heart", "x", "*"], ["Flu", "x", "*"], ["HIV", "y", "*"]], source="tree.csv")
    assert by_leaf(tree.arranged(["HIV", "Flu"])) == {"x": {"Flu"}, "y": {"HIV"}, "*": {"HIV", "Flu"}}
    with pytest.raises(InputError, match=r"tree\.csv: there is no path for 'Haert'\. Did you mean 'Heart'\?"):
        tree.arranged(["Haert"])


# Random trees


@st.composite
def trees(draw: st.DrawFn) -> list[list[str]]:
    """Paths of a random tree with nesting levels; labels on a level are distinct from those on others."""
    leaves = draw(st.lists(st.text(min_size=1, max_size=3), min_size=1, max_size=12, unique=True))
    path = {leaf: ["0" + leaf] for leaf in leaves}
    nodes = {leaf: [leaf] for leaf in leaves}
    for level in range(1, draw(st.integers(1, 4)) + 1):
        merged: dict[str, list[str]] = {}
        for members in nodes.values():
            parent = f"{level}{draw(st.integers(0, len(nodes) - 1))}"
            merged.setdefault(parent, []).extend(members)
        for label, members in merged.items():
            for leaf in members:
                path[leaf].append(label)
        nodes = merged
    return list(path.values())


@pytest.mark.slow
@given(paths=trees(), seed=st.integers(0, 2**32 - 1))
def test_members_of_random_trees_are_those_of_a_naive_count(paths: list[list[str]], seed: int) -> None:
    tree = from_paths(paths, source="tree")
    assert sets(tree) == naive_members(paths)
    for codes in tree.members().values():
        assert codes.dtype == np.int32
        assert codes.tolist() == sorted(codes.tolist())
    for low, high in zip(tree.maps, tree.maps[1:], strict=False):  # levels nest: equal below is equal above
        for code in np.unique(low):
            assert len(np.unique(high[low == code])) == 1
    order = np.random.default_rng(seed).permutation(len(paths))
    again = from_paths([paths[i] for i in order], source="tree")
    assert by_leaf(again) == by_leaf(tree)
    assert again.arranged(tree.leaves) == tree
    assert (again == tree) == (again.leaves == tree.leaves)


@given(paths=trees())
def test_a_random_tree_with_one_leaf_moved_no_longer_nests(paths: list[list[str]]) -> None:
    """Where two leaves share a label below the top, giving one of them another parent must be seen."""
    shared = [
        (i, level)
        for i, path in enumerate(paths)
        for level in range(1, len(path) - 1)
        if sum(other[level] == path[level] for other in paths) > 1
    ]
    for i, level in shared:
        moved = [list(path) for path in paths]
        moved[i][level + 1] = "elsewhere"
        with pytest.raises(InputError, match="one parent"):
            from_paths(moved, source="tree")
