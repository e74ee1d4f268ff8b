"""Read earlier releases about the people of a table, so that a new release can be planned together with them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from dalenius.auditing.common_values import check_values
from dalenius.auditing.people import widened
from dalenius.coding import canonical_texts
from dalenius.engines import FRAME, Source, source_name
from dalenius.errors import InputError, counted
from dalenius.hierarchy import MISSING
from dalenius.publishers.earlier import given, needed, one_sensitive
from dalenius.publishers.given import Evaluated, Given, evaluate
from dalenius.releases import GroupedRelease, Release, read
from dalenius.schema import Schema
from dalenius.table import Table

__all__ = ["Evaluated", "Given", "evaluate", "read_earlier"]


def read_earlier(
    table: Table,
    sources: Sequence[Source | Release],
    schemas: Sequence[Schema] | None = None,
    *,
    l: int = 2,  # noqa: E741 - the literature's letter
    confidence: float = 1.0,
    mapping: Mapping[str, str] | None = None,
) -> Given:
    """Read earlier releases, all with one schema (the table's if there is none) or each with its own.

    Pass the result to a publisher: `Mondrian(criteria, given=…)`. Its release leaves everybody in the table at least ℓ values, and
    at least 1/`confidence`, or as many as a single class of everybody would leave them.
    """
    needed(l, confidence)
    sensitive = one_sensitive(table.declared)
    declared = list(schemas or [table.declared])
    if len(declared) not in (1, len(sources)):
        raise InputError(
            f"There are {counted(len(sources), 'earlier release', 'earlier releases')} and {len(declared)} schemas: name one "
            "--given-schema for all, or one for each, in order."
        )
    each = declared * len(sources) if len(declared) == 1 else declared
    columns = [_sensitive(schema, sensitive, source) for schema, source in zip(each, sources, strict=True)]
    earlier: list[GroupedRelease] = []
    for source, schema in zip(sources, each, strict=True):
        release = read(source, schema, engine=table.engine)
        if release.classes() is None:
            raise InputError(
                f"--given {source_name(source)}: a release of kind {release.kind!r} has no groups in which anybody could be. "
                "Leave it out: what differentially private counts cost adds up by itself."
            )
        leaves = {}
        for column in schema.quasi:
            if not column.fixed and column.name in {own.name for own in table.schema.quasi}:
                texts = [leaf for leaf in table.schema[column.name].leaves if leaf != MISSING]
                leaves[column.name] = canonical_texts(
                    column, texts, schema, where=table.rows.name, locate=lambda *_: "some row"
                )
        wide = widened(source, release, schema, leaves, None, table.engine).classes()
        assert wide is not None  # it is the same kind again
        earlier.append(wide)
    names = [source_name(table.source), *map(source_name, sources)]
    check_values(
        names,
        [table.declared[sensitive], *(schema[name] for schema, name in zip(each, columns, strict=True))],
        [table.schema[sensitive], *(release.schema[name] for release, name in zip(earlier, columns, strict=True))],
        mapping or {},
        option="--given-map",
    )
    return given(
        table,
        earlier,
        columns=columns,
        l=l,
        confidence=confidence,
        mapping=mapping,
        names=_names(sources),
    )


def _names(sources: Sequence[Source | Release]) -> list[str]:
    """Return the names of earlier releases for messages, without their folders, which may be private."""
    names = [Path(source).name if isinstance(source, str | Path) else FRAME for source in sources]
    return [f"{name} ({i + 1})" if names.count(name) > 1 else name for i, name in enumerate(names)]


def _sensitive(schema: Schema, name: str, source: Source | Release) -> str:
    """Return the sensitive column of an earlier release: the one with the name that it has in the table, or the only one."""
    names = [column.name for column in schema.sensitive]
    if name in names or len(names) == 1:
        return name if name in names else names[0]
    raise InputError(
        f"--given {source_name(source)}: {schema.source} has {len(names)} sensitive columns, and none is called {name!r} as in the "
        "table. Name a --given-schema with one."
    )
