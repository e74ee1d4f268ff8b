"""What every registered kind of release owes: it describes itself, its evidence agrees, its files are read back."""

from __future__ import annotations

import csv
import dataclasses
import itertools
import json
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

import dalenius as dl
from dalenius import engines as engines
from dalenius.errors import InputError
from dalenius.releases import (
    KINDS,
    Anatomized,
    Centroids,
    Channel,
    Generalized,
    GroupCells,
    GroupedRelease,
    NoisyCounts,
    Release,
    find_files,
)
from dalenius.releases.evidence import SHAPES
from dalenius.schema import Schema

EACH = [pytest.param(kind, id=name) for name, kind in KINDS.items()]
SCHEMA = dl.Schema(
    [
        dl.Column("age", "quasi", type="integer", domain=dl.Domain(tuple(map(str, range(20, 24))))),
        dl.Column("place", "quasi", domain=dl.Domain(("a", "b", "c"))),
        dl.Column("ill", "sensitive", domain=dl.Domain(("flu", "gout", "pox"))),
    ]
)
BOUND = SCHEMA.bind({})


def cells(group: list[int], codes: list[list[int]], counts: list[int]) -> GroupCells:
    sizes = [len(column.leaves) for column in (BOUND.quasi if len(codes[0]) == 2 else BOUND.sensitive)]
    return GroupCells.gather(np.array(group, np.int32), np.array(codes, np.int32), np.array(counts, np.int64), sizes)


VALUES = cells([0, 0, 1, 1, 1], [[0], [1], [0], [1], [2]], [2, 1, 1, 1, 1])


def generalized() -> Release:
    sets = [[np.array([0, 1]), np.array([0])], [np.array([2, 3]), np.array([1, 2])]]
    group = np.append(VALUES.group, -1).astype(np.int32)  # and somebody who is suppressed
    values, counts = np.append(VALUES.codes, [[2]], axis=0), np.append(VALUES.counts, 1)
    return Generalized.from_sets(BOUND, sets, group, values, counts)


def noisy_counts() -> Release:
    tables = (np.arange(12.0).reshape(4, 3), np.arange(9.0).reshape(3, 3))
    return NoisyCounts(BOUND, "ill", tables, "geometric", 2.0, 1.0, 2.0, "add-remove")


# One of each kind, for each of which a test must be able to speak. A kind that is missing here is made by its `from_rows`.
EXAMPLES: dict[str, Callable[[], Release]] = {
    "generalized": generalized,
    "centroids": lambda: Centroids(BOUND, np.array([[20.5, 0.0], [22.25, 1.0]]), VALUES),
    "anatomized": lambda: Anatomized(
        BOUND, cells([0, 0, 1, 1], [[0, 0], [1, 1], [2, 1], [3, 2]], [2, 1, 2, 1]), VALUES
    ),
    "noisy-counts": noisy_counts,
    "channel": lambda: Channel(("x", "y"), ("u", "v", "w"), np.array([[0.5, 0.25, 0.25], [0.0, 0.25, 0.75]])),
}


def example(kind: type[Release]) -> Release:
    if kind.kind in EXAMPLES:
        return EXAMPLES[kind.kind]()
    rows = generalized().rows()
    assert rows is not None
    return kind.from_rows(rows)


def written(kind: type[Release], folder: Path) -> tuple[Release, Path]:
    """An example of a kind, and the name that it was written under."""
    release, name = example(kind), folder / ("r" if kind.file_names.count > 1 else "r.csv")
    release.write(name)
    return release, name


@pytest.mark.parametrize("kind", EACH)
def test_there_is_an_example_of_every_kind(kind: type[Release]) -> None:
    assert example(kind).kind == kind.kind


@pytest.mark.parametrize("kind", EACH)
def test_it_describes_itself(kind: type[Release]) -> None:
    assert kind.kind == kind.kind.lower().strip()
    assert kind.description.endswith(".")
    assert kind.description.count(".") == 1
    assert kind.open.__func__ is not Release.open.__func__  # type: ignore[attr-defined]
    assert set(kind.offers()) <= set(SHAPES)
    assert not kind.reads_tables or kind.file_names.count == 1


@pytest.mark.parametrize("kind", EACH)
def test_it_states_its_evidence(kind: type[Release]) -> None:
    """A kind that states a shape offers it, one that does not returns None, and all are about the same people."""
    release = example(kind)
    evidence = {shape: getattr(release, shape)() for shape in SHAPES}
    assert {shape for shape, told in evidence.items() if told is not None} == set(kind.offers())
    for shape, told in evidence.items():
        assert told is None or told.schema is release.schema
        assert told is None or getattr(release, shape)() is told, "evidence is built once"
    classes = release.classes()
    borders = release.borders()
    for grouped in (evidence["rows"], evidence["links"], evidence["centres"], borders):
        if grouped is not None:
            assert classes is not None
            assert np.array_equal(grouped.sizes, classes.sizes)
    if classes is not None:
        check_classes(classes)
    assert (borders is None) == (evidence["rows"] is None and evidence["links"] is None)


def check_classes(classes: GroupedRelease) -> None:
    assert classes.people == int(classes.sizes.sum()) + classes.suppressed
    assert len(classes.sizes) == classes.groups
    assert classes.sizes is classes.sizes, "people are counted once"
    grouping = classes.grouping()
    assert np.array_equal(grouping.sizes, classes.sizes)
    assert grouping.table.sum() == classes.people
    assert grouping.suppressed == classes.suppressed
    assert classes.grouping() is grouping, "classes are counted once"
    regions = classes.regions()
    for q in range(classes.groups):
        assert isinstance(classes.describe(q), str)
    if regions is not None:
        for codes in itertools.product(*(range(len(column.leaves)) for column in classes.schema.quasi)):
            inside = [
                int(owner)
                for region, owner in zip(regions.codes, regions.owner, strict=True)
                if all(code in sets[i] for code, i, sets in zip(codes, region, regions.sets, strict=True))
            ]
            assert sorted(set(inside)) == classes.locate(np.array(codes, np.int32))


@pytest.mark.parametrize("kind", EACH)
def test_what_it_writes_it_reads_back(kind: type[Release], tmp_path: Path) -> None:
    release, name = written(kind, tmp_path)
    told = None if (tmp_path / f"{name.name}.meta.json").exists() else kind.kind
    assert dl.read_release(name, SCHEMA, kind=told) == release
    told_kind, files = find_files(str(name))
    assert len(files) == kind.file_names.count
    if told is None:
        assert told_kind == kind.kind
        for file in files:  # one of several files means the release
            assert find_files(str(file)) == (kind.kind, files)


@pytest.mark.parametrize("kind", EACH)
def test_another_order_of_lines_tells_the_same(kind: type[Release], tmp_path: Path) -> None:
    """Channels name their inputs in the order of lines; what they say of each does not change."""
    release, name = written(kind, tmp_path)
    for file in find_files(str(name))[1]:
        if file.suffix == ".csv":
            with file.open(encoding="utf-8", newline="") as lines:
                header, *rows = csv.reader(lines)
            with file.open("w", encoding="utf-8", newline="") as lines:
                csv.writer(lines).writerows([header, *reversed(rows)])
    (tmp_path / f"{name.name}.meta.json").unlink(missing_ok=True)
    again = dl.read_release(name, SCHEMA, kind=kind.kind)
    if isinstance(again, Channel):
        again = Channel(again.inputs[::-1], again.outputs, again.matrix[::-1])
    assert again == release


@pytest.mark.parametrize("kind", EACH)
def test_a_wider_coding_says_the_same(kind: type[Release]) -> None:
    """A release that is recoded has every value it had; one that cannot be says so."""
    release = example(kind)
    wider = Schema(
        [
            SCHEMA.columns[0],
            dl.Column("place", "quasi", domain=dl.Domain(("z", "a", "b", "c"))),
            dl.Column("ill", "sensitive", domain=dl.Domain(("flu", "ache", "gout", "pox"))),
        ]
    ).bind({})
    if release.classes() is None:
        with pytest.raises(InputError, match=f"the release of kind '{kind.kind}' does not know"):
            release.recoded(wider)
        return
    recoded = release.recoded(wider)
    assert type(recoded) is type(release)
    before, after = release.classes(), recoded.classes()
    assert before is not None
    assert after is not None
    assert np.array_equal(before.sizes, after.sizes)
    table = dict(zip(BOUND["ill"].leaves, before.grouping().table.tolist(), strict=True))
    assert {"ache": 0, **table} == dict(zip(wider["ill"].leaves, after.grouping().table.tolist(), strict=True))


@pytest.mark.parametrize("kind", EACH)
@pytest.mark.parametrize("content", ["", "nonsense", "a,b\n", "a,b\n1,2\n1,2\n", '{"a": 1}', "\0\0\0"])
def test_files_of_something_else_are_refused_in_one_sentence(kind: type[Release], content: str, tmp_path: Path) -> None:
    name = tmp_path / ("r" if kind.file_names.count > 1 else "r.csv")
    for file in kind.file_names.of(name) if kind.file_names.count > 1 else (name,):
        file.write_text(content, encoding="utf-8")
    with pytest.raises(InputError) as refused:
        dl.read_release(name, SCHEMA, kind=kind.kind)
    assert "\n" not in str(refused.value)
    assert str(refused.value).rstrip().endswith((".", "…"))


@pytest.mark.parametrize("kind", EACH)
def test_a_release_that_lacks_a_file_is_refused(kind: type[Release], tmp_path: Path) -> None:
    if kind.file_names.count == 1:
        return
    _, name = written(kind, tmp_path)
    (tmp_path / "r.meta.json").unlink()
    first, *others = find_files(str(name))[1]
    for file in others:
        content = file.read_bytes()
        file.unlink()
        with pytest.raises(InputError, match=f"the release needs '{file.name}' beside"):
            dl.read_release(name, SCHEMA)
        file.write_bytes(content)
    first.rename(tmp_path / "alone.csv")
    with pytest.raises(InputError, match=f"a release of kind '{kind.kind}' has two files; give its NAME"):
        dl.read_release(tmp_path / "alone.csv", SCHEMA, kind=kind.kind)


def test_the_file_names_of_two_kinds_do_not_collide() -> None:
    """No file of a release of one kind is taken for a file of another kind, whatever its ending."""
    for one, other in itertools.combinations(KINDS.values(), 2):
        for ending in (".csv", ".parquet", ".json"):
            mine, theirs = (set(kind.file_names.of("r", ending)) for kind in (one, other))
            assert not mine & theirs, (one.kind, other.kind)


@pytest.mark.parametrize("kind", EACH)
def test_a_sidecar_names_the_kind(kind: type[Release], tmp_path: Path) -> None:
    """A file that any tool wrote is of the kind that a sidecar says."""
    release, name = written(kind, tmp_path)
    if kind.file_names.count > 1:
        return  # told by the names of the files
    (tmp_path / "r.csv.meta.json").write_text(json.dumps({"kind": kind.kind}), encoding="utf-8")
    assert dl.read_release(name, SCHEMA) == release


@pytest.mark.parametrize("kind", EACH)
def test_only_kinds_that_read_tables_read_frames(kind: type[Release]) -> None:
    frame = {"age": ["20", "21"], "place": ["a", "a"], "ill": ["flu", "pox"]}
    if kind.reads_tables:
        assert dl.read_release(frame, SCHEMA, kind=kind.kind).kind == kind.kind
        return
    with pytest.raises(InputError, match=f"Kind '{kind.kind}' is read from files"):
        dl.read_release(frame, SCHEMA, kind=kind.kind)


def test_a_release_outside_the_registry_says_what_it_cannot(tmp_path: Path) -> None:
    class Silent(Release):
        kind = "silent"

    assert Silent.offers() == ()
    assert Silent().borders() is None
    with pytest.raises(InputError, match="A release of kind 'silent' cannot be written"):
        Silent().write(tmp_path / "r")
    with pytest.raises(InputError, match="A release of kind 'silent' is not read from files"):
        Silent.open([tmp_path / "r"], SCHEMA, engine=engines.default())


def arrays_of(part: object) -> list[np.ndarray]:
    """Return every array in the fields of a frozen object."""
    values = [getattr(part, field.name) for field in dataclasses.fields(part)]  # type: ignore[arg-type]
    return [value for value in values if isinstance(value, np.ndarray)]


@pytest.mark.parametrize("kind", EACH)
def test_nobody_can_change_what_a_release_keeps(kind: type[Release]) -> None:
    classes, rows = example(kind).classes(), example(kind).rows()
    kept = []
    if classes is not None:
        kept += [classes.sizes, *arrays_of(classes.sensitive), *arrays_of(classes.grouping())]
        assert len(kept) == 8
    if rows is not None:
        kept += arrays_of(rows.leaf_sets(0))
        assert len(kept) == 10
    for array in kept:
        with pytest.raises(ValueError, match="read-only"):
            array[:1] = 0


def test_groupings_split_by_other_columns_are_read_only() -> None:
    schema = dl.Schema([*SCHEMA.columns, dl.Column("pill", "sensitive", domain=dl.Domain(("yes", "no")))]).bind({})
    sets = [[np.array([0, 1]), np.array([0])]]
    values, counts = np.array([[0, 0], [1, 1]], np.int32), np.array([2, 1])
    release = Generalized.from_sets(schema, sets, np.array([0, 0], np.int32), values, counts)
    split = arrays_of(release.grouping("ill", others_as_quasi=True))
    assert len(split) == 5
    assert not any(array.flags.writeable for array in split)
