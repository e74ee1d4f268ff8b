"""What Python prints of an object is short, and has no value of a person."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from examples.my_kind import Pivot

import dalenius as dl
from dalenius.belief import Belief, Replicates
from dalenius.engines import Assignment, Recoding
from dalenius.releases import Generalized
from dalenius.reprs import short_repr

SECRETS = ("Zoster", "Yaws", "Xerosis")  # no letter of them stands in a column's name
PLACES = ("QQ1", "QQ2", "QQ3", "QQ4")
MANY = {f"{i} very long name of a column {'x' * 200}\n": ["a", "b"] for i in range(60)}
PEOPLE = {
    "age": [str(20 + i % 50) for i in range(200)],
    "place": [PLACES[i % 4] for i in range(200)],
    "ill": [SECRETS[i % 3] for i in range(200)],
}
SCHEMA = dl.Schema(
    [
        dl.Column("age", "quasi", type="integer", intervals=(10, 20), domain=dl.Domain(tuple(map(str, range(20, 70))))),
        dl.Column("place", "quasi", suppress=True),
        dl.Column("ill", "sensitive", domain=dl.Domain(SECRETS)),
    ],
    policy={"min_k": 5},
)
WIDE = dl.Schema([dl.Column(name, "quasi") for name in MANY] + [dl.Column("s", "sensitive")])


def table() -> dl.Table:
    made = dl.Table(pd.DataFrame(PEOPLE), SCHEMA)
    made.cells()
    return made


def generalized() -> Generalized:
    release = dl.publish(pd.DataFrame(PEOPLE), SCHEMA, k=5).published.release
    assert isinstance(release, Generalized)
    return release


def published(method: str, **options: Any) -> dl.Release:
    return dl.publish(pd.DataFrame(PEOPLE), SCHEMA, method=method, **options).published.release


def belief() -> Belief:
    column, shape = table().schema["ill"], (200, 3)
    replicates = Replicates(np.zeros((4, 50, 200, 3)), None, np.arange(200, dtype=np.int32))
    weights = np.ones(shape)
    exact = Belief.exact(column, weights, np.full(3, 1 / 3), values=SECRETS)
    return Belief(column, exact.posterior, exact.baseline, exact.stderr, exact.matched, replicates=replicates)


OBJECTS: dict[str, Callable[[], object]] = {
    "schema": lambda: SCHEMA,
    "schema, bound": lambda: table().schema,
    "schema, wide": lambda: WIDE,
    "column": lambda: SCHEMA["age"],
    "column, bound": lambda: table().schema["place"],
    "column, sensitive": lambda: SCHEMA["ill"],
    "domain": lambda: SCHEMA["ill"].domain,
    "hierarchy": lambda: table().schema["place"].hierarchy,
    "prior": lambda: dl.Prior(alpha=dict.fromkeys(SECRETS, 2.0), beta=1.0),
    "table": table,
    "table, not read": lambda: dl.Table(pd.DataFrame(PEOPLE), SCHEMA),
    "table, wide": lambda: dl.Table(pd.DataFrame(MANY), WIDE),
    "part of a table": lambda: table().part(table().cells().counts),
    "cells": lambda: table().cells(),
    "marginals": lambda: table().marginals(),
    "rows": lambda: table().rows,
    "counted rows": lambda: table().rows.count(["place", "ill"]),
    "summary": lambda: table().rows.summaries(limit=10)["ill"],
    "recoding": lambda: Recoding(("ill",), {"ill": dict.fromkeys(SECRETS, "a")}, suppress=[SECRETS]),
    "assignment": lambda: Assignment(
        ("ill",),
        {"ill": dict.fromkeys(SECRETS, 1)},
        np.zeros((200, 1), np.int32),
        np.zeros(200, np.int32),
        {"ill": SECRETS},
    ),
    "generalized": generalized,
    "centroids": lambda: published("microaggregation", k=5),
    "anatomized": lambda: published("anatomy", l=2),
    "noisy counts": lambda: dl.NoisyCounts(
        SCHEMA.bind({"place": PLACES}), "ill", (np.ones((50, 3)), np.ones((4, 3))), "none", 0.0, None, 1.0, "replace"
    ),
    "channel": lambda: dl.Channel(SECRETS, PLACES, np.full((3, 4), 0.25)),
    "toy kind": lambda: Pivot.from_rows(generalized()),
    "grouping": lambda: generalized().grouping(),
    "cells of groups": lambda: generalized().sensitive,
    "regions": lambda: generalized().regions(),
    "label": lambda: generalized().labels[1][0],
    "sets": lambda: generalized().leaf_sets(0),
    "origin": lambda: dl.read_release(pd.DataFrame(PEOPLE), SCHEMA).rows().origin,  # type: ignore[union-attr]
    "belief": belief,
    "replicates": lambda: belief().replicates,
}


@pytest.mark.parametrize("make", OBJECTS.values(), ids=OBJECTS.keys())
def test_a_repr_is_short_and_has_no_value(make: Callable[[], object]) -> None:
    text = repr(make())
    assert len(text.splitlines()) <= 15
    assert max(map(len, text.splitlines())) <= 100
    assert not [value for value in (*SECRETS, *PLACES) if value in text]
    assert "array(" not in text


def test_a_repr_says_what_it_is() -> None:
    assert repr(table()) == "<Table: a data frame, 200 rows\n  quasi: age, place\n  sensitive: ill>"
    assert repr(dl.Table(Path("people.csv"), SCHEMA)).startswith("<Table: people.csv\n")
    assert repr(SCHEMA) == "<Schema from the schema: 3 columns\n  quasi: age, place\n  sensitive: ill\n  policy: min_k>"
    assert repr(SCHEMA["age"]) == "<Column age: quasi, integer, 50 values, intervals of 10, 20>"
    assert repr(generalized()).startswith("<Generalized, a release of kind generalized: 200 people in ")
    assert "Pivot, a release of kind pivot" in repr(Pivot.from_rows(generalized()))


def test_a_kind_may_have_a_repr_of_its_own() -> None:
    class Own(Pivot):
        def __repr__(self) -> str:
            return "mine"

    assert repr(Own(SCHEMA, generalized())) == "mine"


def test_long_texts_are_cut() -> None:
    text = short_repr("x" * 500, *(f"line {i}" for i in range(40)))
    assert len(text.splitlines()) == 15
    assert text.endswith("\n  and 27 more lines>")
    assert max(map(len, text.splitlines())) == 99
