"""What `frontier` tries of a method besides the criteria that it keeps."""

from __future__ import annotations

from dataclasses import dataclass

from dalenius.criteria.axis import Axis

__all__ = ["Grid"]


@dataclass(frozen=True, slots=True)
class Grid:
    """The method's own axes, and what all its candidates share.

    The criteria that the method keeps (`Publisher.keeps`) are axes as well; `Publisher.axes` lists all of them.
    """

    axes: tuple[Axis, ...] = ()
    options: tuple[str, ...] = ()  # the method's own options that `frontier` has, too
    unlabelled: frozenset[str] = frozenset()  # parameters that labels leave out, because all candidates share them
