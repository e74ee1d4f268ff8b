"""The exhibits of a paper that can be made without its data."""

from __future__ import annotations

from dalenius.papers import registry
from dalenius.papers.base import Paper


def assert_same_without_data(whole: Paper) -> None:
    """What needs data and what does not is all there is, and an exhibit that needs none is the same without them."""
    part = registry.build_without_data(whole.key)
    assert part.exhibits
    assert {one.name for one in whole.exhibits} == {*(one.name for one in part.exhibits), *registry.not_made(whole.key)}
    for exhibit in part.exhibits:
        assert whole[exhibit.name].compared == exhibit.compared
        assert whole[exhibit.name].rows == exhibit.rows
