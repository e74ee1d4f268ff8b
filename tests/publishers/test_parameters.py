"""Parameters that no publisher can use are refused in one sentence."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from dalenius import datasets
from dalenius.auditing import audit
from dalenius.criteria import KAnonymity
from dalenius.errors import ParameterError
from dalenius.publishers.anatomy import Anatomy
from dalenius.publishers.lattice import Lattice
from dalenius.publishers.mondrian import Mondrian
from dalenius.publishers.noisy_counts import Simulation


@pytest.mark.parametrize("publisher", [Lattice, Mondrian])
@pytest.mark.parametrize("criteria", [[5], [KAnonymity(5), "k=5"], [KAnonymity], KAnonymity(5), "k", 5, None])
def test_what_is_no_list_of_criteria(publisher: Callable[[object], object], criteria: object) -> None:
    with pytest.raises(ParameterError, match=r"^The 'criteria' parameter of .* must be a list of criteria, .* Got .*"):
        publisher(criteria)


@pytest.mark.parametrize("seed", [-1, 1.5, "1", True])
def test_what_is_no_seed(seed: int) -> None:
    table = datasets.hospital(30, seed=1)
    for draw in (
        lambda: Anatomy(2).publish(table, seed=seed),
        lambda: Simulation(1.0).draw(table, seed),
        lambda: audit(table.source, table.declared, seed=seed),
    ):
        with pytest.raises(ParameterError, match=r"^The 'seed' parameter of .* must be an int ≥ 0\. Got .* instead\.$"):
            draw()
