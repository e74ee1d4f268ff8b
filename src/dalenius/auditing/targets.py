"""Read targets from a file, and write what an adversary believes about them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from dalenius.adversaries import UNKNOWN, Targets
from dalenius.belief import Belief
from dalenius.coding import canonical_texts, leaf_codes
from dalenius.engines import Engine, Source
from dalenius.errors import InputError, counted, listing, nearest
from dalenius.hierarchy import MISSING
from dalenius.output import csv_text
from dalenius.releases.reading import GROUP
from dalenius.schema import Schema


def read_targets(
    source: Source,
    schema: Schema,
    engine: Engine,
    knows: Sequence[str] | None = None,
    groups: Mapping[str, int] | None = None,
) -> Targets:
    """Read a file of quasi-identifiers with one row per target. A missing column, an empty cell or a mark of `missing` is unknown.

    With `knows`, only these columns are read. With the names of a release's `groups`, a column `group` is read, too: the group
    that the target is in. Other columns are ignored.
    """
    rows = engine.files.open(source)
    names = [column.name for column in schema.quasi]
    check_knows(knows, schema)
    used = [name for name in names if name in rows.columns and (knows is None or name in knows)]
    if not used:
        raise InputError(
            f"{rows.name}: the targets have none of the quasi-identifiers {listing(names if knows is None else knows)}."
        )
    texts = list(zip(*rows.read(used), strict=True))
    codes = np.full((len(texts[0]), len(names)), UNKNOWN, dtype=np.int32)
    for name, column in zip(used, texts, strict=True):
        declared = schema[name]
        distinct = [text for text in dict.fromkeys(column) if text != ""]

        def locate(_column: str, text: str, column: tuple[str, ...] = column) -> str:
            return f"row {column.index(text)}"

        leaves = dict(
            zip(distinct, canonical_texts(declared, distinct, schema, where=rows.name, locate=locate), strict=True)
        )
        known = {text: leaf for text, leaf in leaves.items() if leaf != MISSING}  # a missing value is unknown
        known_codes = leaf_codes(declared, list(known.values()), list(known), where=rows.name, locate=locate)
        code = dict(zip(known, known_codes.tolist(), strict=True))
        codes[:, names.index(name)] = [code.get(text, UNKNOWN) for text in column]
    if groups is None or GROUP not in rows.columns:
        return Targets(schema, codes)
    group = np.full(len(codes), UNKNOWN, dtype=np.int32)
    for i, (text,) in enumerate(rows.read([GROUP])):
        if text != "" and text not in groups:
            raise InputError(
                f"{rows.name}, row {i}: the release has no group {text!r}. Leave the cell empty if the group is unknown."
            )
        group[i] = groups.get(text, UNKNOWN)
    return Targets(schema, codes, group)


def check_knows(knows: Sequence[str] | None, schema: Schema) -> None:
    """Refuse knowledge of a column that is not a quasi-identifier."""
    names = [column.name for column in schema.quasi]
    for name in knows or ():
        if name not in names:
            raise InputError(f"--knows {name!r} is not a quasi-identifier.{nearest(name, names)}")


def check_matched(belief: Belief, targets: Targets, adversary: str, where: str, *, skip: bool) -> None:
    """Refuse targets who fit nowhere, by the number of their row, unless such targets are to be skipped."""
    lost = np.flatnonzero(~belief.matched)
    if len(lost) and not skip:
        i = int(lost[0])
        has_group = targets.group is not None and targets.group[i] != UNKNOWN
        what = (
            "nobody like the target is in the group named there"
            if has_group
            else "the target fits no group of the release"
        )
        raise InputError(
            f"{where}, row {i}: {what}, but {adversary} assumes that the target is in the release "
            f"({counted(len(lost), 'such target', 'such targets')}). Fix the row, or add --skip-unmatched for an empty belief."
        )


def beliefs_text(belief: Belief) -> str:
    """Return CSV with one line per target and value. A target who fits nowhere has an empty posterior.

    For an adversary whose guess is not what it believes most, another column has the share of its guess.
    """
    header = ["target", "value", "posterior", "baseline", "stderr", *([] if belief.guess is None else ["guess"])]
    lines: list[list[object]] = []
    for i in range(len(belief)):
        for s, value in enumerate(belief.column.leaves):
            posterior = repr(float(belief.posterior[i, s])) if belief.matched[i] else ""
            stderr = repr(float(belief.stderr[i, s])) if belief.matched[i] else ""
            line: list[object] = [i, value, posterior, repr(float(belief.baseline[i, s])), stderr]
            if belief.guess is not None:
                line.append(repr(float(belief.guess[i, s])) if belief.matched[i] else "")
            lines.append(line)
    return csv_text(header, lines)
