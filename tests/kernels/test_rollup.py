"""The roll-up kernels against twins in plain Python."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from dalenius.kernels.rollup import merge_cells, merge_classes, merge_sizes, smallest_below


def classes_twin(rep: list[int], labels: list[tuple[int, ...]]) -> tuple[list[int], list[int]]:
    """Classes with equal labels are one, numbered as they are met; the first stands for all."""
    number: dict[tuple[int, ...], int] = {}
    found: list[int] = []
    into = []
    for one in rep:
        if labels[one] not in number:
            number[labels[one]] = len(found)
            found.append(one)
        into.append(number[labels[one]])
    return into, found


def cells_twin(groups: list[dict[int, int]], into: list[int], classes: int) -> list[dict[int, int]]:
    merged: list[dict[int, int]] = [{} for _ in range(classes)]
    for group, target in zip(groups, into, strict=True):
        for value, count in group.items():
            merged[target][value] = merged[target].get(value, 0) + count
    return merged


def keyed(labels: list[tuple[int, ...]], sizes: list[int], start: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Leaves, tables and offsets as the kernel takes them; leaf i of attribute a is that of bottom class i."""
    leaves = np.repeat(np.arange(len(labels), dtype=np.int32)[:, None], len(sizes), axis=1)
    tables, offsets, stride = [np.full(start, 2**62, dtype=np.int64)], [], 1
    for a, size in enumerate(sizes):
        offsets.append(sum(map(len, tables)))
        tables.append(np.array([label[a] for label in labels], dtype=np.int64) * stride)
        stride *= size
    return leaves, np.concatenate(tables), np.array(offsets, dtype=np.int64)


@given(data=st.data())
def test_merge_classes(data: st.DataObject) -> None:
    sizes = data.draw(st.lists(st.integers(1, 5), min_size=1, max_size=4))
    bottom = data.draw(st.integers(1, 40))
    labels = [tuple(data.draw(st.integers(0, size - 1)) for size in sizes) for _ in range(bottom)]
    rep = data.draw(st.lists(st.integers(0, bottom - 1), min_size=1, unique=True))
    leaves, tables, offsets = keyed(labels, sizes, data.draw(st.integers(0, 3)))
    plain = np.full(len(tables), -1, dtype=np.int32)
    for a, offset in enumerate(offsets.tolist()):
        plain[offset : offset + bottom] = [label[a] for label in labels]
    if data.draw(st.booleans()):
        tables[:] %= 3  # keys that say little: classes are told apart by their labels
    into, found = merge_classes(np.array(rep, dtype=np.int32), leaves, tables, plain, offsets)
    right_into, right_found = classes_twin(rep, labels)
    assert into.tolist() == right_into
    assert found.tolist() == right_found
    assert (into.dtype, found.dtype) == (np.int32, np.int32)


def test_keys_that_share_their_low_and_their_high_bits() -> None:
    """Strides of 2^20 and 2^41: a table that looks at some bits only would run together, or never end."""
    many = 3000
    labels = [(i % 7, i % 11, i) for i in range(many)]
    leaves = np.repeat(np.arange(many, dtype=np.int32)[:, None], 3, axis=1)
    strides = (1, 2**20, 2**41)
    tables = np.concatenate([np.array([label[a] for label in labels], dtype=np.int64) * strides[a] for a in range(3)])
    offsets = np.array([0, many, 2 * many], dtype=np.int64)
    rep = np.concatenate([np.arange(many), np.arange(many)]).astype(np.int32)
    plain = np.concatenate([np.array([label[a] for label in labels], dtype=np.int32) for a in range(3)])
    into, found = merge_classes(rep, leaves, tables, plain, offsets)
    right_into, right_found = classes_twin(rep.tolist(), labels)
    assert into.tolist() == right_into
    assert found.tolist() == right_found


GROUPS = st.lists(
    st.dictionaries(st.integers(0, 5), st.integers(1, 10**15), min_size=1, max_size=6), min_size=1, max_size=12
)


@given(groups=GROUPS, data=st.data())
def test_merge_cells(groups: list[dict[int, int]], data: st.DataObject) -> None:
    classes = data.draw(st.integers(1, len(groups)))
    # Every class is met, as it is when `into` comes from merge_classes.
    rest = data.draw(st.lists(st.integers(0, classes - 1), min_size=len(groups) - classes, max_size=len(groups)))
    into = data.draw(st.permutations([*range(classes), *rest][: len(groups)]))
    start = np.cumsum([0, *map(len, groups)]).astype(np.int64)
    values = np.array([value for group in groups for value in group], dtype=np.int32)
    counts = np.array([count for group in groups for count in group.values()], dtype=np.int64)
    before = start.copy(), values.copy(), counts.copy()
    got_start, got_values, got_counts = merge_cells(start, values, counts, np.array(into, dtype=np.int32), classes, 6)
    found = []
    for q in range(classes):
        cells = slice(int(got_start[q]), int(got_start[q + 1]))
        assert len(set(got_values[cells].tolist())) == len(got_values[cells])
        found.append(dict(zip(got_values[cells].tolist(), got_counts[cells].tolist(), strict=True)))
    assert found == cells_twin(groups, into, classes)
    assert len(got_values) == len(got_counts) == got_start[-1]
    assert all(np.array_equal(a, b) for a, b in zip(before, (start, values, counts), strict=True))


@given(sizes=st.lists(st.integers(1, 10**15), min_size=1, max_size=12), data=st.data())
def test_merge_sizes(sizes: list[int], data: st.DataObject) -> None:
    classes = data.draw(st.integers(1, len(sizes)))
    into = data.draw(st.lists(st.integers(0, classes - 1), min_size=len(sizes), max_size=len(sizes)))
    right = [sum(size for size, target in zip(sizes, into, strict=True) if target == q) for q in range(classes)]
    assert merge_sizes(np.array(sizes), np.array(into, dtype=np.int32), classes).tolist() == right


@given(data=st.data())
def test_smallest_below(data: st.DataObject) -> None:
    width = data.draw(st.integers(1, 3))
    level = st.lists(st.integers(0, 3), min_size=width, max_size=width)
    levels = data.draw(st.lists(level, min_size=1, max_size=12))
    cells = data.draw(st.lists(st.integers(1, 9), min_size=len(levels), max_size=len(levels)))
    made = data.draw(st.integers(0, len(levels)))
    node = data.draw(level)
    below = [i for i in range(made) if all(x <= y for x, y in zip(levels[i], node, strict=True))]
    found = smallest_below(np.array(levels, dtype=np.int16), np.array(cells), made, np.array(node, dtype=np.int16))
    if not below:
        assert found == -1
    else:
        assert found in below
        assert cells[found] == min(cells[i] for i in below)
