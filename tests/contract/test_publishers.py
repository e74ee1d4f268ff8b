"""What every registered publisher owes: it describes itself, its options make it, and it writes what it says."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import dalenius as dl
from dalenius.auditing.candidates import Candidate, grid
from dalenius.auditing.checking import check
from dalenius.criteria import CRITERIA, Criterion, axis_of
from dalenius.errors import DaleniusError
from dalenius.options import Option
from dalenius.publishers.base import Example, Publisher
from dalenius.publishers.registry import PUBLISHERS, audit_options, axes, from_options, grid_options, options, owners
from dalenius.releases import GroupCells, Release

PEOPLE = 150
QUASI = ("age", "sex", "zip", "nationality")
KINDS = [pytest.param(kind, id=name) for name, kind in PUBLISHERS.items()]
OPTIONS = [
    pytest.param(kind, option, id=f"{name}-{option.name}")
    for name, kind in PUBLISHERS.items()
    for option in kind.options
    if option.type is not bool
]
BAD: dict[type[Any], tuple[Any, ...]] = {
    int: (-1,),
    float: (-1.0, float("nan")),
    str: ("no such thing",),
    Path: (Path("no/such/file"),),
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("publishers")
    dl.datasets.save_hospital(place, PEOPLE, seed=5)
    return place


@pytest.fixture(scope="module")
def table(folder: Path) -> dl.Table:
    return dl.Table(folder / "patients.csv", folder / "privacy.toml")


def candidates(kind: type[Publisher], table: dl.Table) -> list[Candidate]:
    """The usual values of its grid that this table allows."""
    return grid([kind.name], {}, table)


def people(columns: Sequence[dl.Column], cells: GroupCells, group: int) -> tuple[Any, ...]:
    """The values of the people of a group, sorted, with how many have them."""
    own = cells.group == group
    values = [tuple(c.leaves[code] for c, code in zip(columns, row, strict=True)) for row in cells.codes[own].tolist()]
    return tuple(sorted(zip(values, cells.counts[own].tolist(), strict=True)))


def classes(release: Release) -> Counter[tuple[Any, ...]]:
    """Every class by the values of its people and what else the release says of it; equal ones are counted."""
    grouped, rows, links, centres = release.classes(), release.rows(), release.links(), release.centres()
    assert grouped is not None
    found: Counter[tuple[Any, ...]] = Counter()
    regions = None if rows is None else rows.regions()
    for group in range(-1, grouped.groups):
        said: Any = None
        if group >= 0 and regions is not None:
            said = tuple(
                tuple(tuple(own[code].tolist()) for own, code in zip(regions.sets, row, strict=True))
                for row in regions.codes[regions.owner == group].tolist()
            )
        elif group >= 0 and centres is not None:
            said = tuple(np.round(centres.points[group], 1).tolist())
        elif links is not None:
            said = people(release.schema.quasi, links.quasi, group)
        found[said, people(release.schema.sensitive, grouped.sensitive, group)] += 1
    return found


def assert_same(one: Release, other: Release) -> None:
    """Both offer the same evidence, whatever the order of their classes."""
    counts, others = one.counts(), other.counts()
    if counts is not None and others is not None:
        assert [table.tolist() for table in counts.noisy] == [table.tolist() for table in others.noisy]
    else:
        assert classes(one) == classes(other)


@pytest.mark.parametrize("kind", KINDS)
def test_it_describes_itself(kind: type[Publisher]) -> None:
    assert re.fullmatch(r"[a-z]+(-[a-z]+)*", kind.name)
    assert kind.title
    assert kind.description.endswith(".")
    assert kind.description.count(". ") == 0
    for option in kind.options:
        assert re.fullmatch(r"[a-z]+(-[a-z]+)*", option.name)
        assert option.help.endswith(".")
    names = {option.name for option in kind.options}
    assert kind.not_in_audit <= names
    assert set(kind.grid.options) <= names
    assert kind.takes_seed <= kind.is_drawn
    assert not (kind.is_drawn and not kind.takes_seed and not kind.refuses_seed)


@pytest.mark.parametrize("kind", KINDS)
def test_it_carries_an_example(kind: type[Publisher], table: dl.Table) -> None:
    example = getattr(kind, "example", None)
    advice = "add `example = Example(criteria, options)`, with which it publishes a table of 150 people"
    assert isinstance(example, Example), f"The publisher {kind.name!r} has no example: {advice}."
    publisher = from_options(kind.name, example.criteria, example.options)
    assert publisher.run(table).release.schema.quasi


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(
    "model", [pytest.param(model, id=name) for name, model in CRITERIA.items() if model.reported and model.option]
)
def test_it_keeps_the_criteria_that_it_says(kind: type[Publisher], model: type[Criterion], table: dl.Table) -> None:
    """`frontier` varies the criteria in `keeps`, so the publisher must take these and refuse all others."""
    criterion, own = model.measuring(model.reported[0].key), kind.example.options
    axis = axis_of(model)
    assert axis is not None
    if not issubclass(model, kind.keeps):
        assert axis not in kind.axes()
        with pytest.raises(DaleniusError):
            kind.from_options([criterion], own)
        return
    assert isinstance(kind.from_options([criterion], own), kind)
    if model.option is not None and model.option.type is not str:
        tried = axis.parse(f"{model.example:g}")
        assert tried == (model.example,)
        for candidate in grid([kind.name], {axis.name: tried}, table):
            assert axis.label(f"{model.example:g}") in candidate.label
            place = candidate.options.index(f"--{model.option.name}")
            assert float(candidate.options[place + 1]) == model.example


def test_all_options_are_offered_once() -> None:
    for offered in (options(), audit_options(), grid_options()):
        assert len({option.name for option in offered}) == len(offered)
    assert {option.name for option in audit_options()} <= {option.name for option in options()}
    assert len({axis.name for axis in axes()}) == len(axes())
    for option in options():
        assert owners(option.parameter)
    assert sum(kind.has_curve for kind in PUBLISHERS.values()) == 1  # `frontier` draws one, and says so in its help


@pytest.mark.parametrize("kind", KINDS)
def test_its_grid_makes_it(kind: type[Publisher], table: dl.Table) -> None:
    """Each candidate publishes, and is made again by the options that it writes."""
    tried = candidates(kind, table)
    assert tried
    for candidate in tried:
        publisher = candidate.publisher()
        assert isinstance(publisher, kind)
        assert publisher.promises()
        assert candidate.label
        assert candidate.options[:2] == ["--method", kind.name]
        assert [column.name for column in candidate.release(table, 0).schema.quasi] == list(QUASI)


@pytest.mark.parametrize(("kind", "option"), OPTIONS)
def test_a_bad_value_of_an_option_is_refused_in_one_sentence(
    kind: type[Publisher], option: Option, table: dl.Table
) -> None:
    good = candidates(kind, table)[0]
    for bad in BAD[option.type]:
        given = [bad] if option.is_repeatable else bad
        with pytest.raises(DaleniusError) as refused:
            Candidate(kind.name, {**good.parameters, option.parameter: given}).publish(table, None)
        message = str(refused.value)
        assert "\n" not in message
        assert 20 < len(message) < 400


@pytest.mark.parametrize("kind", KINDS)
def test_what_is_written_is_what_is_read_back(kind: type[Publisher], table: dl.Table, tmp_path: Path) -> None:
    published = candidates(kind, table)[0].publish(table, 0 if kind.takes_seed else None)
    published.write(tmp_path / "out")
    for file in kind.files(tmp_path / "out"):
        assert file.is_file()
    assert {file.name for file in tmp_path.iterdir()} == {
        *(file.name for file in kind.files(tmp_path / "out")),
        "out.meta.json",
    }
    back = dl.read_release(tmp_path / "out", table.declared)
    assert back.kind == published.kind == published.release.kind
    assert_same(published.release, back)


@pytest.mark.parametrize("kind", KINDS)
def test_the_record_has_the_documented_keys(kind: type[Publisher], table: dl.Table, tmp_path: Path) -> None:
    published = candidates(kind, table)[0].publish(table, 0 if kind.takes_seed else None)
    record, document = published.record, published.document()
    common = {"method", "criteria", "columns_left", "classes", "suppressed", "people", "given", "kind", "versions"}
    assert not common & record.details.keys()
    assert document["method"] == kind.name
    assert document["criteria"] == list(record.criteria)
    assert set(document["columns_left"]) == {column.name for column in table.schema.quasi}
    grouped = published.release.classes()
    assert (record.headcount is None) == (grouped is None)
    if grouped is not None:
        counts = (grouped.people, grouped.groups, grouped.suppressed)
        assert (document["people"], document["classes"], document["suppressed"]) == counts
    assert all(word and text for word, text in record.notes)
    published.write(tmp_path / "out")
    sidecar = json.loads((tmp_path / "out.meta.json").read_text(encoding="utf-8"))
    assert {"kind", "versions", "shuffled", *document} <= sidecar.keys()
    assert not any("seed" in key for key in sidecar)


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
def test_what_is_asked_for_holds_on_what_is_written(kind: type[Publisher], table: dl.Table, tmp_path: Path) -> None:
    """By the numbers of `check`, from the file."""
    makers = {axis.name: axis.criterion for axis in kind.axes() if axis.criterion is not None}
    for number, candidate in enumerate(candidates(kind, table)):
        criteria = [make(candidate.parameters[name]) for name, make in makers.items() if name in candidate.parameters]
        if not criteria:
            return
        path = tmp_path / f"out{number}"
        candidate.publish(table, 0 if kind.takes_seed else None).write(path)
        assert check(path, table.declared, criteria=criteria).holds


@pytest.mark.parametrize("kind", [kind for kind in KINDS if not kind.values[0].is_drawn])
def test_the_order_of_the_rows_does_not_matter(kind: type[Publisher], folder: Path, table: dl.Table) -> None:
    head, *rows = (folder / "patients.csv").read_text(encoding="utf-8").splitlines()
    other = folder / "reversed.csv"
    other.write_text("\n".join([head, *reversed(rows)]) + "\n", encoding="utf-8")
    candidate = candidates(kind, table)[0]
    turned = dl.Table(other, folder / "privacy.toml")
    published, again = candidate.publish(table, None), candidate.publish(turned, None)
    assert published.record.headcount == again.record.headcount
    if not kind.follows_row_order:
        assert_same(published.release, again.release)


@pytest.mark.parametrize("kind", KINDS)
def test_a_seed_repeats_a_trial(kind: type[Publisher], table: dl.Table) -> None:
    candidate = candidates(kind, table)[0]
    assert_same(candidate.release(table, 3), candidate.release(table, 3))


@pytest.mark.parametrize("kind", KINDS)
def test_what_it_draws_is_drawn_anew(kind: type[Publisher], table: dl.Table) -> None:
    """Without a seed a method that draws publishes another release, and any other the same."""
    candidate = candidates(kind, table)[0]
    one, other = (candidate.publish(table, None).release for _ in range(2))
    if not kind.is_drawn:
        assert_same(one, other)
        return
    with pytest.raises(AssertionError):
        assert_same(one, other)
