"""A release that another tool made: ARX's 5-anonymous Adult, against a count in plain Python."""

from __future__ import annotations

import csv
from collections import Counter
from pathlib import Path

from dalenius import Generalized, read_release

NAMES = ["sex", "age", "race", "marital-status", "education", "native-country", "workclass", "salary-class"]


def naive(path: Path) -> tuple[dict[tuple[str, ...], Counter[str]], Counter[str]]:
    """Occupations of each class by its label texts, and those of the suppressed rows."""
    classes: dict[tuple[str, ...], Counter[str]] = {}
    suppressed: Counter[str] = Counter()
    with path.open(encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file, delimiter=";"):
            labels = tuple(row[name] for name in NAMES)
            if set(labels) == {"*"}:
                suppressed[row["occupation"]] += 1
            else:
                classes.setdefault(labels, Counter())[row["occupation"]] += 1
    return classes, suppressed


def test_classes_are_those_of_a_naive_count(data: Path, adult_schema: Path) -> None:
    path = data / "releases" / "arx_adult_k5.csv"
    release = read_release(path, adult_schema)
    assert isinstance(release, Generalized)
    assert (release.groups, release.suppressed, release.people) == (222, 506, 30162)
    assert release.sizes.min() == 5

    classes, suppressed = naive(path)
    leaves = release.schema["occupation"].leaves
    found: dict[tuple[str, ...], Counter[str]] = {}
    hidden: Counter[str] = Counter()
    order = [column.name for column in release.schema.quasi]
    cells = release.sensitive
    for q, value, count in zip(cells.group.tolist(), cells.codes[:, 0].tolist(), cells.counts.tolist(), strict=True):
        if q < 0:
            hidden[leaves[value]] += count
            continue
        texts = {name: release.labels[j][release.codes[q, j]].text for j, name in enumerate(order)}
        found.setdefault(tuple(texts[name] for name in NAMES), Counter())[leaves[value]] += count
    assert found == classes
    assert hidden == suppressed

    grouping = release.grouping()
    assert grouping.groups == 222
    assert grouping.suppressed == 506
    everybody = sum(classes.values(), suppressed)
    assert dict(zip(leaves, grouping.table.tolist(), strict=True)) == {leaf: everybody[leaf] for leaf in leaves}


def test_labels_cover_what_the_hierarchies_say(data: Path, adult_schema: Path) -> None:
    release = read_release(data / "releases" / "arx_adult_k5.csv", adult_schema)
    assert isinstance(release, Generalized)
    for column, labels in zip(release.schema.quasi, release.labels, strict=True):
        with (data / "adult" / f"adult_hierarchy_{column.name}.csv").open(encoding="utf-8", newline="") as file:
            paths = [row for row in csv.reader(file, delimiter=";") if row]
        for label in labels:
            covered = {path[0] for path in paths if label.text in path}
            assert {column.leaves[code] for code in label.members} == covered
    ages = next(
        labels for column, labels in zip(release.schema.quasi, release.labels, strict=True) if column.name == "age"
    )
    twenties = next(label for label in ages if label.text == "20-39")
    leaves = release.schema["age"].leaves
    assert [leaves[code] for code in twenties.members] == [str(age) for age in range(21, 41)]


def test_rows_of_a_class_are_found_again(data: Path, adult_schema: Path) -> None:
    path = data / "releases" / "arx_adult_k5.csv"
    release = read_release(path, adult_schema)
    assert isinstance(release, Generalized)
    with path.open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file, delimiter=";"))
    smallest = int(release.sizes.argmin())
    found = release.row_numbers(smallest, limit=100)
    assert len(found) == release.sizes[smallest]
    assert len({tuple(rows[i][name] for name in NAMES) for i in found}) == 1
