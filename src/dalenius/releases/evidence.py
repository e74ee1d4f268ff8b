"""The shapes of evidence: what a release tells, and the only thing that criteria, adversaries and measures look at.

A release offers a shape by overriding the method of that name in `Release`; whoever asks for one that it does not offer gets None.

The types are the frozen data of the kinds that are made of that shape, and no protocols: an adversary relies on what their
constructors guarantee (labels are distinct as sets and sorted, tuples and values of a group are as many), which a protocol cannot
promise. A new kind needs no subclass of them. It builds one from its own data when it is read, by `Generalized.from_sets`, say,
keeps it, and returns it each time it is asked: evidence is asked for many times. `examples/my_kind.py` does that.

All evidence of one release is about the same people, in the same coding. `rows()`, `links()` and `centres()` describe the groups of
`classes()`, under the same numbers.
"""

from __future__ import annotations

from typing import Literal

__all__ = ["SHAPES", "Shape"]

Shape = Literal["classes", "rows", "links", "centres", "counts", "draws"]

SHAPES: dict[Shape, str] = {
    "classes": "groups of people with counts per sensitive value",
    "rows": "independent rows, each with the values that it may have in each quasi-identifier",
    "links": "groups of exact tuples and of values whose link has been cut",
    "centres": "groups that are described by a point, without borders",
    "counts": "numbers that are linear in the table, with their noise",
    "draws": "rows that belong to nobody",
}
