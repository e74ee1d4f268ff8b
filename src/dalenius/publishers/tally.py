"""What a publisher decided, as rows of text with counts, to be compared with what was written.

A table may change between the scan that was counted and the scan that is written. Criteria then hold of people who are not
those in the file. So the file is counted, too, before it is published.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from dalenius.arrays import Ints, Longs
from dalenius.coding import distinct_rows
from dalenius.engines import Counted
from dalenius.table import Table

__all__ = ["Tally", "labelled", "of_classes", "vocabulary"]


@dataclass(frozen=True, slots=True, eq=False)
class Tally:
    """How many rows have each combination of codes: `counts[i]` of them have `rows[i]`, and no others are there.

    `codes[column]` tells the code of every text that may stand in a column. Several texts may have the same code, and
    combinations may be listed more than once.
    """

    codes: Mapping[str, Mapping[str, int]]
    rows: Ints
    counts: Longs

    @property
    def columns(self) -> tuple[str, ...]:
        return tuple(self.codes)

    @property
    def limit(self) -> int:
        """The number of distinct rows of text that these can be: each combination in all its spellings."""
        spellings = np.ones(len(self.rows))
        for j, codes in enumerate(self.codes.values()):
            spellings *= np.bincount(list(codes.values()))[self.rows[:, j]]
        return int(min(spellings.sum(), 2**62))

    def holds(self, counted: Counted) -> bool:
        """Return whether these rows of text are the combinations, each as often as it must be."""
        coded = np.empty_like(counted.codes)
        for j, (codes, texts) in enumerate(zip(self.codes.values(), counted.texts, strict=True)):
            coded[:, j] = np.array([codes.get(text, -1) for text in texts], dtype=np.int32)[counted.codes[:, j]]
        if (coded < 0).any():
            return False
        sizes = [max(codes.values()) + 1 for codes in self.codes.values()]
        _, number = distinct_rows(np.concatenate([self.rows, coded]).astype(np.int32), sizes)
        missing = np.bincount(number, weights=np.concatenate([self.counts, -counted.counts]))
        return not missing.any()  # exact: floats are below 2^53


def vocabulary(texts: Sequence[str]) -> tuple[dict[str, int], Ints]:
    """Return a code for each different text, and the code of each of these."""
    codes = {text: code for code, text in enumerate(dict.fromkeys(texts))}
    return codes, np.array([codes[text] for text in texts], dtype=np.int32)


def of_classes(table: Table, group: Ints, labels: Mapping[str, Sequence[str]]) -> Tally:
    """Return the people of each class by their sensitive values: `group` is the class of each cell of the table."""
    cells, texts = table.cells(), table.texts()
    m = len(cells.schema.quasi)
    known = {column.name: texts[column.name] for column in cells.schema.sensitive}
    return labelled(labels, np.repeat(group[:, None], m, axis=1), known, cells.codes[:, m:], cells.counts)


def labelled(
    labels: Mapping[str, Sequence[str]],
    index: Ints,
    known: Mapping[str, Mapping[str, int]],
    values: Ints,
    counts: Longs,
) -> Tally:
    """Return the rows of classes: row i has `labels[column][index[i, a]]` in labelled column a.

    It has leaf `values[i, j]` in column j of those that are published as they are, whose texts are `known`.
    """
    words = {column: vocabulary(texts) for column, texts in labels.items()}
    columns = [place[index[:, a]] for a, (_, place) in enumerate(words.values())]
    codes = {column: codes for column, (codes, _) in words.items()}
    rows = np.column_stack([*columns, *values.T]).astype(np.int32)
    return Tally({**codes, **known}, rows, counts)
