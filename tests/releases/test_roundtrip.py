"""Every format, written and read back, is what it was: with nasty texts, overlapping sets and reserved names.

Channels, which no other test here reads, are also read wrongly.
"""

from __future__ import annotations

import csv
import json
import math
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from dalenius import Anatomized, Centroids, Channel, Column, Generalized, InputError, NoisyCounts, Schema, read_release
from dalenius import engines as engines
from dalenius.releases import channel
from dalenius.releases.base import GroupCells
from dalenius.releases.coarse import Coarse
from dalenius.releases.label import Resolver, label_text
from dalenius.releases.moments import Moments
from dalenius.schema import Domain, Role

# No surrogates and no NUL: neither can stand in a UTF-8 text file.
CHARACTERS = st.characters(exclude_categories=["Cs"], exclude_characters="\0")
SAMPLES = [
    *["*", "", "NA", "{a, b}", "[1, 2]", "1-2", "a~b", '"', '""', "a,b", "a;b", "a\tb", "a\nb", "a\r\nb", "\r", "\r\r"],
    *[" ", " a", "a ", "#a", "'", "\\", "\\N", "null", "nan", "é", "雪", "\ufeff", "-1", "0", "=1+1", "\x85", "\u2028"],
]
TEXTS = st.one_of(st.sampled_from(SAMPLES), st.text(CHARACTERS, max_size=4))
# Names hold no other delimiter, by which a header could be cut as well, and no \r, at which DuckDB would end it.
LETTERS = st.characters(exclude_categories=["Cs"], exclude_characters="\0;\t\r")
NAMES = st.one_of(
    st.sampled_from(["age", "zip", "a b", 'say "x"', "né", "a,b", "a\nb", "\ufeffx", "#n", "value", "input"]),
    st.text(LETTERS, min_size=1, max_size=4).filter(lambda name: name.strip() != ""),
)
PLAIN = st.sampled_from(["age", "zip", "sex", "né", "a b", "note", "marital-status"])


@contextmanager
def folder() -> Iterator[Path]:
    with tempfile.TemporaryDirectory() as name:
        yield Path(name)


@st.composite
def schemas(draw: st.DrawFn, *, names: st.SearchStrategy[str] = NAMES, declare: tuple[str, ...] = ()) -> Schema:
    """A bound schema with one to three quasi-identifiers; `declare` are names it may use as its own."""
    quasi, sensitive = draw(st.integers(1, 3)), draw(st.integers(1, 2))
    names = names.filter(lambda name: name.casefold() not in ("group", "count", "column", "value"))
    if declare:
        names = st.one_of(names, st.sampled_from(declare))
    size = quasi + sensitive + 1
    found = draw(st.lists(names, min_size=size, max_size=size, unique_by=str.casefold))  # as DuckDB tells names apart
    columns = []
    for i, name in enumerate(found):
        role: Role = "quasi" if i < quasi else "sensitive" if i < quasi + sensitive else "other"
        if role == "other":
            columns.append(Column(name, role))
        elif draw(st.booleans()):
            numbers = sorted(draw(st.sets(st.integers(-30, 30), min_size=1, max_size=5)))
            leaves = [str(number) for number in numbers] + ([""] if draw(st.booleans()) else [])
            columns.append(Column(name, role, type="integer", domain=Domain(tuple(leaves))))
        else:
            texts = draw(st.lists(TEXTS, min_size=1, max_size=5, unique=True))
            columns.append(Column(name, role, domain=Domain(tuple(texts))))
    marks = draw(st.sampled_from([("*",), ("NA", ""), ("?", "*")]))
    return Schema(tuple(draw(st.permutations(columns))), suppressed=marks)


def codes(draw: st.DrawFn, columns: tuple[Column, ...], rows: int) -> np.ndarray:
    return np.array(
        [[draw(st.integers(0, len(column.leaves) - 1)) for column in columns] for _ in range(rows)], dtype=np.int32
    ).reshape(rows, len(columns))


@st.composite
def generalized(draw: st.DrawFn, *, names: st.SearchStrategy[str] = NAMES, declare: tuple[str, ...]) -> Generalized:
    schema = draw(schemas(names=names, declare=declare))
    few = draw(st.integers(1, 4))
    pool = [
        [
            np.array(sorted(draw(st.sets(st.integers(0, len(column.leaves) - 1), min_size=1))), dtype=np.int32)
            for column in schema.quasi
        ]
        for _ in range(few)
    ]
    sets = [pool[draw(st.integers(0, few - 1))] for _ in range(draw(st.integers(1, 14)))]
    rows = draw(st.integers(1, 20))
    group = np.array([draw(st.integers(-1, len(sets) - 1)) for _ in range(rows)], dtype=np.int32)
    counts = np.array([draw(st.integers(0 if i else 1, 3)) for i in range(rows)], dtype=np.int64)
    values = codes(draw, schema.sensitive, rows)
    try:
        return Generalized.from_sets(schema, sets, group, values, counts)
    except InputError:  # a set that the schema's own leaves make unwritable
        assume(False)
        raise


@pytest.mark.slow
@given(release=generalized(declare=("count", "group")))
def test_generalized(release: Generalized) -> None:
    with folder() as here:
        equal_labels = len(np.unique(release.codes, axis=0)) < release.groups
        if equal_labels and "group" in [column.name for column in release.schema.columns]:
            with pytest.raises(InputError, match="'group' column, and the schema declares one"):
                release.write(here / "r.csv")
            return
        release.write(here / "r.csv")
        again = read_release(here / "r.csv", release.schema)
        assert again == release
        assert isinstance(again, Generalized)
        np.testing.assert_array_equal(again.sizes, release.sizes)
        assert (again.people, again.suppressed) == (release.people, release.suppressed)
        again.write(here / "again.csv")
        assert read_release(here / "again.csv", release.schema) == release


AGE = Column("age", "quasi", type="integer", domain=Domain(tuple(map(str, range(10)))))
SEX = Column("sex", "quasi", domain=Domain(("M", "F")))
DISEASE = Column("disease", "sensitive", domain=Domain(("Flu", "HIV")))


def test_many_groups_of_equal_labels_beside_suppressed_rows_keep_their_order() -> None:
    """Group −1 is written as well; were the ids then ranked as texts, group 10 would come before group 2."""
    everything = [np.arange(10, dtype=np.int32), np.array([0], dtype=np.int32)]
    group = np.arange(-1, 12, dtype=np.int32)
    release = Generalized.from_sets(
        Schema((AGE, SEX, DISEASE)), [everything] * 12, group, np.zeros((13, 1), np.int32), np.arange(1, 14)
    )
    with folder() as here:
        release.write(here / "r.csv")
        again = read_release(here / "r.csv", release.schema)
    assert again == release
    assert isinstance(again, Generalized)
    assert again.sizes.tolist() == list(range(2, 14))
    assert again.suppressed == 1


def test_a_class_of_complete_sets_is_not_written_like_a_suppressed_row() -> None:
    text = 'age,sex,disease\n"[0, 9]","{M, F}",HIV\n*,M,Flu\n3,*,Flu\n*,*,Flu\n'
    with folder() as here:
        (here / "r.csv").write_text(text)
        release = read_release(here / "r.csv", Schema((AGE, SEX, DISEASE)))
        assert isinstance(release, Generalized)
        assert (release.groups, release.suppressed) == (3, 1)
        release.write(here / "again.csv")
        assert read_release(here / "again.csv", Schema((AGE, SEX, DISEASE))) == release


def test_nobodys_groups_and_a_release_of_suppressed_rows_only() -> None:
    schema, one = Schema((SEX, DISEASE)), np.array([0], dtype=np.int32)
    values, counts = np.array([[0], [1]], np.int32), np.array([2, 3])
    sets = [[one], [np.array([1], np.int32)], [one + 1]]
    release = Generalized.from_sets(schema, sets, np.array([2, -1], np.int32), values, counts)
    assert (release.groups, release.sizes.tolist(), release.suppressed) == (1, [2], 3)
    hidden = Generalized.from_sets(schema, sets, np.array([-1, -1], np.int32), values, counts)
    assert (hidden.groups, hidden.sizes.tolist(), hidden.suppressed) == (1, [5], 0)
    with folder() as here:
        for i, each in enumerate((release, hidden)):
            each.write(here / f"{i}.csv")
            assert read_release(here / f"{i}.csv", schema) == each
        bare = Schema((SEX, DISEASE), suppressed=())
        release = Generalized.from_sets(bare, sets, np.array([0, -1], np.int32), values, counts)
        with pytest.raises(InputError, match=r"suppressed = \[\]"):
            release.write(here / "r.csv")
        assert not (here / "r.csv").exists()


@pytest.mark.slow
@settings(max_examples=40)
@given(
    release=generalized(names=PLAIN, declare=("count",)),
    delimiter=st.sampled_from(";\t"),
    ends=st.sampled_from(["\n", "\r\n"]),
)
def test_other_delimiters_and_parquet(release: Generalized, delimiter: str, ends: str) -> None:
    with folder() as here:
        release.write(here / "r.csv")
        with (here / "r.csv").open(encoding="utf-8", newline="") as file:
            header, *rows = list(csv.reader(file))
        with (here / "other.csv").open("w", encoding="utf-8", newline="") as file:
            csv.writer(file, delimiter=delimiter, quoting=csv.QUOTE_ALL, lineterminator=ends).writerows([header, *rows])
        assert read_release(here / "other.csv", release.schema) == release
        columns: dict[str, list[object]] = {name: [row[j] for row in rows] for j, name in enumerate(header)}
        if "count" not in [column.name for column in release.schema.columns]:
            columns["count"] = [int(row[-1]) for row in rows]
        frame = pa.table(columns)
        pq.write_table(frame, here / "r.parquet")
        assert read_release(here / "r.parquet", release.schema) == release
        assert read_release(frame, release.schema) == release


@st.composite
def centroids(draw: st.DrawFn) -> Centroids:
    schema = draw(schemas())
    numbers = st.one_of(st.floats(-1e3, 1e3), st.just(float("nan")), st.floats(allow_nan=False, allow_infinity=False))
    groups = draw(st.integers(1, 12))
    points = [
        [
            draw(numbers) if column.type == "integer" else float(draw(st.integers(0, len(column.leaves) - 1)))
            for column in schema.quasi
        ]
        for _ in range(groups)
    ]
    for j, column in enumerate(schema.quasi):  # a missing centroid needs the missing leaf
        if column.type == "integer" and "" not in column.leaves:
            for point in points:
                point[j] = 0.0 if np.isnan(point[j]) else point[j]
    group = np.array([*range(groups), *draw(st.lists(st.integers(0, groups - 1), max_size=5))], dtype=np.int32)
    counts = np.array([draw(st.integers(1, 3)) for _ in group], dtype=np.int64)
    sizes = [len(column.leaves) for column in schema.sensitive]
    cells = GroupCells.gather(group, codes(draw, schema.sensitive, len(group)), counts, sizes)
    return Centroids(schema, np.array(points).reshape(groups, -1), cells)


@pytest.mark.slow
@given(release=centroids())
def test_centroids(release: Centroids) -> None:
    with folder() as here:
        release.write(here / "r.csv")
        assert json.loads((here / "r.csv.meta.json").read_text())["kind"] == "centroids"
        assert read_release(here / "r.csv", release.schema) == release
        (here / "r.csv.meta.json").unlink()
        assert read_release(here / "r.csv", release.schema, kind="centroids") == release


@st.composite
def anatomized(draw: st.DrawFn) -> Anatomized:
    schema = draw(schemas(declare=("count",)))
    groups = draw(st.integers(1, 12))
    group = np.array([*range(groups), *draw(st.lists(st.integers(0, groups - 1), max_size=12))], dtype=np.int32)
    ones = np.ones(len(group), dtype=np.int64)
    cells = [
        GroupCells.gather(group, codes(draw, columns, len(group)), ones, [len(column.leaves) for column in columns])
        for columns in (schema.quasi, schema.sensitive)
    ]
    return Anatomized(schema, *cells)


@pytest.mark.slow
@given(release=anatomized())
def test_anatomized(release: Anatomized) -> None:
    with folder() as here:
        release.write(here / "n")
        assert sorted(path.name for path in here.iterdir()) == ["n.meta.json", "n.quasi.csv", "n.sensitive.csv"]
        assert read_release(here / "n", release.schema) == release


@st.composite
def noisy_counts(draw: st.DrawFn) -> NoisyCounts:
    schema = draw(schemas())
    sensitive = draw(st.sampled_from(schema.sensitive))
    numbers = st.one_of(st.integers(-(2**60), 2**60), st.integers(-5, 5), st.floats(-(2.0**63), 2.0**63))
    counts = tuple(
        np.array([[float(draw(numbers)) for _ in sensitive.leaves] for _ in column.leaves]) for column in schema.quasi
    )
    positive = st.one_of(st.floats(0, exclude_min=True, allow_infinity=False), st.integers(1, 9))
    mechanism = draw(st.sampled_from(["geometric", "laplace", "none"]))
    none = mechanism == "none"
    scale, sensitivity = draw(st.floats(1e-6, 1e9)), draw(positive)
    neighbours = draw(st.sampled_from(["add-remove", "replace"]))
    changed = len(counts) * (1 if neighbours == "add-remove" else 2)
    least = max(changed, sensitivity) / scale
    assume(math.isfinite(least) and least > 0)
    return NoisyCounts(
        schema,
        sensitive.name,
        counts,
        mechanism=mechanism,  # type: ignore[arg-type]
        scale=0 if none else scale,
        epsilon=None if none else draw(st.floats(least, allow_infinity=False)),
        sensitivity=sensitivity,
        neighbours=neighbours,  # type: ignore[arg-type]
    )


@pytest.mark.slow
@given(release=noisy_counts())
def test_noisy_counts(release: NoisyCounts) -> None:
    with folder() as here:
        release.write(here / "n")
        assert sorted(path.name for path in here.iterdir()) == ["n.counts.csv", "n.json", "n.meta.json"]
        assert read_release(here / "n", release.schema) == release


@st.composite
def coarser_counts(draw: st.DrawFn) -> NoisyCounts:
    """Any labels that partition the leaves, any two columns together, any moments of integer columns."""
    schema = draw(schemas())
    sensitive = draw(st.sampled_from(schema.sensitive))
    number = st.one_of(st.integers(-(2**60), 2**60), st.floats(-1e9, 1e9))
    values = len(sensitive.leaves)

    def block(rows: int) -> np.ndarray:
        return np.array([[float(draw(number)) for _ in range(values)] for _ in range(rows)]).reshape(rows, values)

    moments = {
        column.name: Moments(low := draw(st.integers(-99, 99)), low + draw(st.integers(1, 3000)), block(3))
        for column in schema.quasi
        if column.type == "integer" and draw(st.booleans())
    }
    coarse = {}
    for column in schema.quasi:
        if column.name in moments:
            continue
        parts: dict[int, list[int]] = {}
        for code in range(len(column.leaves)):
            parts.setdefault(draw(st.integers(0, 2)), []).append(code)
        node = np.zeros(len(column.leaves), dtype=np.int32)
        for i, members in enumerate(parts.values()):
            node[members] = i
        resolver = Resolver(column, schema)
        if any(len(members) > 1 for members in parts.values()):
            labels = [label_text(column, np.array(members, dtype=np.int32), resolver) for members in parts.values()]
            coarse[column.name] = Coarse(tuple(labels), node)
    free = [column.name for column in schema.quasi if column.name not in moments]
    joint = (tuple(draw(st.permutations(free))),) if len(free) > 1 and draw(st.booleans()) else ()
    sizes = {name: len(coarse[name]) if name in coarse else len(schema[name].leaves) for name in free}
    tables = [math.prod(sizes.values())] if joint else list(sizes.values())
    return NoisyCounts(
        schema, sensitive.name, tuple(block(rows) for rows in tables), "laplace", 2.0, 60.0, 3, "add-remove", joint,
        coarse, moments,
    )  # fmt: skip


@pytest.mark.slow
@given(release=coarser_counts())
def test_coarser_counts_and_moments(release: NoisyCounts) -> None:
    with folder() as here:
        release.write(here / "n")
        assert read_release(here / "n", release.schema) == release


@st.composite
def channels(draw: st.DrawFn) -> Channel:
    def distribution(size: int) -> np.ndarray:
        weights = np.array([1.0, *(draw(st.floats(0, 1)) for _ in range(size - 1))])
        return weights / weights.sum()

    inputs = draw(st.lists(TEXTS, min_size=1, max_size=5, unique=True))
    outputs = draw(st.lists(NAMES, min_size=1, max_size=4, unique_by=str.casefold))
    matrix = np.array([distribution(len(outputs)) for _ in inputs])
    prior = distribution(len(inputs)) if draw(st.booleans()) else None
    return Channel(tuple(inputs), tuple(outputs), matrix, prior)


@given(release=channels())
def test_channel(release: Channel) -> None:
    with folder() as here:
        path, prior = here / "c.csv", here / "p.csv" if release.prior is not None else None
        release.write(path, prior=prior)
        assert channel.read(path, engine=engines.default(), prior=prior) == release


@pytest.mark.parametrize(
    ("matrix", "prior", "message"),
    [
        ("x,a,b\n1,0.5,0.4\n", None, "sum to 1: the row of input '1' sums to 0.9, 0.1 too little"),
        ("x,a,b\n1,1.5,-0.5\n", None, "below 0"),
        ("x,a,b\n1,half,0.5\n", None, "row 0, column 'a': a number is needed there"),
        ("x,a,b\n1,1_0,0\n", None, "row 0, column 'a': a number is needed there"),
        ("x,a,b\n1,1,0\n1,0,1\n", None, "row 1: that row has the name of another one"),
        ("x\n1\n", None, "least one of an output"),
        ("x,a\n1,1\n2,1\n", "value,probability\n1,0.5\n", "1 are missing and 0 are unknown"),
        ("x,a\n1,1\n2,1\n", "value,probability\n1,0.5\n2,0.4\n", "sums to 0.9"),
        ("x,a\n1,1\n", "value,probability\n1,0.5\n1,0.5\n", "named twice"),
        ("x,a\n1,1\n", "value,p\n1,1\n", "columns value and probability"),
    ],
)
def test_channels_that_are_wrong(tmp_path: Path, matrix: str, prior: str | None, message: str) -> None:
    (tmp_path / "c.csv").write_text(matrix)
    (tmp_path / "p.csv").write_text(prior or "")
    with pytest.raises(InputError) as caught:
        channel.read(tmp_path / "c.csv", engine=engines.default(), prior=tmp_path / "p.csv" if prior else None)
    assert message in str(caught.value)


def test_a_prior_in_any_order_and_rounded_rows(tmp_path: Path) -> None:
    (tmp_path / "c.csv").write_text("x,a,b,c\nu,0.333333,0.333333,0.333333\nv,1,0,0\n")
    (tmp_path / "p.csv").write_text("probability,value\n0.25,v\n0.75,u\n")
    read = channel.read(tmp_path / "c.csv", engine=engines.default(), prior=tmp_path / "p.csv")
    assert read.inputs == ("u", "v")
    np.testing.assert_array_equal(read.prior, [0.75, 0.25])
    assert read_release(tmp_path / "c.csv", Schema((SEX, DISEASE)), kind="channel").kind == "channel"


def test_what_a_format_cannot_hold_is_refused_and_nothing_is_written(tmp_path: Path) -> None:
    zero = np.array([0], np.int32)
    cells = GroupCells.gather(zero, zero[:, None], np.array([1]), [2])
    for name in ("group", "count"):
        taken = Schema((SEX, DISEASE, Column(name, "other")))
        with pytest.raises(InputError, match="Rename"):
            Centroids(taken, np.zeros((1, 1)), cells).write(tmp_path / "c.csv")
    with pytest.raises(InputError, match="'group', which the schema declares"):
        Anatomized(Schema((SEX, DISEASE, Column("group", "other"))), cells, cells).write(tmp_path / "a")
    odd = Schema((SEX, Column("value", "sensitive", domain=Domain(("x",)))))
    with pytest.raises(InputError, match="'value' for a column of their own"):
        NoisyCounts(odd, "value", (np.zeros((2, 1)),), "none", 0, None, 1, "replace").write(tmp_path / "n")
    with pytest.raises(InputError, match="output without a name"):
        Channel(("a",), (" ",), np.ones((1, 1))).write(tmp_path / "c.csv")
    with pytest.raises(InputError, match="no prior"):
        Channel(("a",), ("b",), np.ones((1, 1))).write(tmp_path / "c.csv", prior=tmp_path / "p.csv")
    assert list(tmp_path.iterdir()) == []
    taken_name = Channel(("a",), ("input_", "input"), np.array([[0.5, 0.5]]))  # the first column needs another name
    taken_name.write(tmp_path / "c.csv")
    assert channel.read(tmp_path / "c.csv", engine=engines.default()) == taken_name
