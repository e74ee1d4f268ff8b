"""Simulation-based calibration of the samplers (Talts, Betancourt, Simpson, Vehtari and Gelman 2018).

A truth is drawn from the prior, data from the truth, a release from the data, and the sampler runs on the release. Whatever the
release says, the truth is then one more draw from the posterior: its rank among the sampler's draws is uniform, of any number
that a state has. Two kinds of numbers are ranked: counts of rows with a leaf and a value, and the likelihood of the state, which
notices samplers that a count does not (one that drew from the prior would rank counts right).

All seeds are fixed, so a test passes always or never. That a right sampler was given a p-value below 1e-3, taken over all that
is ranked, by the one choice of seeds had a chance of 1 in 1000; samplers that are wrong on purpose are far below that.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.special import gammaln
from scipy.stats import chisquare

from dalenius.adversaries.models.links import LinkChain, Links
from dalenius.adversaries.models.population import Population
from dalenius.adversaries.models.sampling import Method
from dalenius.adversaries.models.set_chain import SetChain
from tests.adversaries.relative_worlds import Tiny
from tests.adversaries.test_relative_exact import released as generalized
from tests.adversaries.test_relative_links import released as anatomized
from tests.adversaries.vertical_worlds import Vertical

pytestmark = pytest.mark.slow

Floats = NDArray[np.float64]

REPLICATIONS = 200
DRAWS = 59  # of the posterior: 60 ranks, in 10 bins of 6
BINS = 10
VALUES = 3
LEVEL = 1e-3  # right samplers are above
WRONG = 1e-6  # and wrong ones below


# The model ------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Truth:
    """Parameters of the prior, what was drawn from it, and rows drawn from that."""

    alpha: Floats
    beta: tuple[Floats, ...]
    pi: tuple[Floats, ...]  # of each attribute: [value, leaf]
    values: NDArray[np.int64]
    leaves: NDArray[np.int64]  # [row, attribute]

    def counts(self, a: int) -> Floats:
        """Rows of attribute a with each leaf and value."""
        found = np.zeros((len(self.beta[a]), VALUES))
        np.add.at(found, (self.leaves[:, a], self.values), 1)
        return found


def drawn(rng: np.random.Generator, sizes: list[int], rows: int) -> Truth:
    """α and β are any numbers that the adversary knows; π is drawn from them, and rows from π."""
    alpha = rng.choice([1.0, 2.0, 3.5], VALUES)
    beta = tuple(rng.choice([0.5, 1.0, 2.0], size) for size in sizes)
    pi = tuple(rng.dirichlet(mine, VALUES) for mine in beta)
    values = rng.choice(VALUES, rows, p=rng.dirichlet(alpha))
    leaves = np.array([[rng.choice(len(one[s]), p=one[s]) for one in pi] for s in values])
    return Truth(alpha, beta, pi, values, leaves)


def likelihood(counts: Floats | NDArray[np.int64], beta: Floats) -> float:
    """The logarithm of a table's likelihood with π integrated out, but for a constant."""
    return float(gammaln(counts + beta[:, None]).sum())


# Ranks ----------------------------------------------------------------------------------------------------------------


def rank(truth: float, draws: Floats, rng: np.random.Generator) -> int:
    """How many draws are below the truth; among equals its place is drawn."""
    return int((draws < truth).sum()) + int(rng.integers((draws == truth).sum() + 1))


def ranks(true: list[Floats], drawn: list[Floats]) -> list[list[int]]:
    """Of each replication and number."""
    rng = np.random.default_rng(2)
    return [
        [rank(float(mine[i]), draws[:, i], rng) for i in range(len(mine))]
        for mine, draws in zip(true, drawn, strict=True)
    ]


def smallest_p(found: list[list[int]]) -> float:
    """The smallest p-value of a χ² test for uniform ranks over all numbers ranked, times how many these are (Bonferroni)."""
    columns = np.array(found).T
    bins = columns * BINS // (DRAWS + 1)
    each = [float(chisquare(np.bincount(mine, minlength=BINS)).pvalue) for mine in bins]
    return min(1.0, min(each) * len(each))


# Links ----------------------------------------------------------------------------------------------------------------


@cache
def link_case(seed: int) -> tuple[Truth, Links]:
    """About forty people in groups of three or four; who is in which has nothing to do with who has what."""
    rng = np.random.default_rng([1, seed])
    sizes = rng.integers(2, 5, rng.integers(2, 4)).tolist()
    truth = drawn(rng, sizes, 40)
    groups, low = [], 0
    while low < 40:
        high = min(40, low + int(rng.integers(3, 5)))
        rows = tuple(tuple(int(leaf) for leaf in row) for row in truth.leaves[low:high])
        groups.append((rows, tuple(sorted(truth.values[low:high].tolist()))))
        low = high
    case = Vertical(tuple(groups), tuple(truth.alpha), tuple(tuple(mine) for mine in truth.beta))
    return truth, Links.of(anatomized(case))


def of_table(counts: Floats, links: Links) -> Floats:
    """The numbers ranked of a table [leaf of any attribute, value]: some counts, and the likelihood."""
    last = len(counts) - 1
    return np.array([counts[0, 0], counts[1, 1], counts[last, 2], counts[last, 0], likelihood(counts, links.beta)])


Walk = Callable[[LinkChain], object]  # from one state to one that hardly remembers it


def link_ranks(method: Method, walk: Walk) -> list[list[int]]:
    true, found = [], []
    for seed in range(REPLICATIONS):
        truth, links = link_case(seed)
        counts = np.concatenate([truth.counts(a) for a in range(len(truth.beta))])
        true.append(of_table(counts, links))
        chain = LinkChain(links, method, np.random.default_rng([3, seed]))
        chain.settle(60)
        draws = []
        for _ in range(DRAWS):
            walk(chain)
            draws.append(of_table(np.rint(chain.weight - links.beta[:, None]), links))
        found.append(np.array(draws))
    return ranks(true, found)


@pytest.mark.parametrize(("method", "thin"), [("block", 10), ("swaps", 30), ("metropolis", 60)])
def test_links(method: Method, thin: int) -> None:
    assert smallest_p(link_ranks(method, lambda chain: chain.advance(thin))) > LEVEL


def test_the_papers_sampler_draws_the_population() -> None:
    """π itself: what a learner looks at under the paper's sampler."""
    true, found = [], []
    for seed in range(REPLICATIONS):
        truth, links = link_case(seed)
        true.append(np.array([truth.pi[0][0, 0], truth.pi[0][1, 1], truth.pi[-1][2, -1]]))
        chain = LinkChain(links, "metropolis", np.random.default_rng([4, seed]))
        chain.settle(60)
        draws = []
        for _ in range(DRAWS):
            kept = chain.advance(40).kept
            assert kept is not None
            pi = kept[-1]
            draws.append([pi[0, 0] / links.total[0, 0], pi[1, 1] / links.total[0, 1], pi[-1, 2] / links.total[-1, 2]])
        found.append(np.array(draws))
    assert smallest_p(ranks(true, found)) > LEVEL


def hot(chain: LinkChain) -> None:
    """Blocks in which the likelihood counts twice."""
    links = chain.links
    met = np.zeros((len(links.tuples), len(links.table)))
    trace, states = np.empty((10, len(chain.watched[0]))), np.empty((10, len(chain.watched[2])), dtype=np.int32)
    chain._blocks(met, trace, states, 10, 2.0)


def swaps(chain: LinkChain, own: float) -> None:
    """Some sweeps of swaps in plain Python; `own` is how much of a row is taken out of the counts that judge it: 1 is right."""
    links, rng = chain.links, chain.rng
    weight, value, at = chain.weight.tolist(), links.place_value.tolist(), chain.row_at.tolist()
    rows = links.rows.tolist()
    for low, high in np.stack([links.group_start[:-1], links.group_start[1:]], axis=1).tolist():
        if high - low < 2:
            continue
        for u, v, chance in rng.random((20, 3)).tolist():
            x, y = low + int(u * (high - low)), low + int(v * (high - low))
            s, t = value[x], value[y]
            if s == t:
                continue
            ratio = 1.0
            for mine, theirs in zip(rows[at[x]], rows[at[y]], strict=True):
                if mine != theirs:
                    ratio *= weight[mine][t] * weight[theirs][s] / (weight[mine][s] - own) / (weight[theirs][t] - own)
            if chance < ratio:
                for mine, theirs in zip(rows[at[x]], rows[at[y]], strict=True):
                    weight[mine][s] -= 1
                    weight[theirs][t] -= 1
                    weight[mine][t] += 1
                    weight[theirs][s] += 1
                at[x], at[y] = at[y], at[x]
    chain.weight[:], chain.row_at[:] = weight, at


def test_wrong_links() -> None:
    """The same ranks tell samplers that are wrong from one that is right, written in the same plain Python."""
    assert smallest_p(link_ranks("swaps", lambda chain: swaps(chain, 1.0))) > LEVEL
    assert smallest_p(link_ranks("swaps", lambda chain: swaps(chain, 0.0))) < WRONG
    assert smallest_p(link_ranks("block", hot)) < WRONG


# Sets -----------------------------------------------------------------------------------------------------------------


def published(leaf: int, leaves: int, rng: np.random.Generator) -> frozenset[int]:
    """A leaf, two neighbours in a circle, or everything.

    Coarsening at random: a set is as probable for each leaf in it (0.02, 0.2, 0.58), so it says nothing but that it holds the leaf.
    """
    at = rng.random()
    if at < 0.02:
        return frozenset((leaf,))
    if at < 0.42:
        return frozenset((leaf, (leaf + (1 if at < 0.22 else -1)) % leaves))
    return frozenset(range(leaves))


@cache
def set_case(seed: int, attributes: int) -> tuple[Truth, Population]:
    """Many people, and few sets, so that sets of many rows are shared out; a row that says nothing at all is a suppressed one."""
    rng = np.random.default_rng([5, attributes, seed])
    sizes = rng.integers(3, 6, attributes).tolist()
    truth = drawn(rng, sizes, 150)
    rows = tuple(
        (tuple(published(int(leaf), n, rng) for leaf, n in zip(row, sizes, strict=True)), int(s))
        for row, s in zip(truth.leaves, truth.values, strict=True)
    )
    case = Tiny(rows, tuple(truth.alpha), tuple(tuple(mine) for mine in truth.beta))
    return truth, Population.of(generalized(case), exact=False, allocations=False)


def of_pairs(counts: list[NDArray[np.int64]], population: Population) -> Floats:
    """The numbers ranked of what each pending pair of attribute and value has of each leaf.

    Of the pair with most rows two leaves, and what all pairs have of their first leaf; which pair that is, the release says.
    """
    pending = population.pending
    first = int(np.argmax([p.said.sum() for p in pending]))
    return np.array(
        [
            counts[first][0],
            counts[first][-1],
            sum(mine[0] for mine in counts),
            math.fsum(likelihood(mine[:, None], p.beta) for mine, p in zip(counts, pending, strict=True)),
        ]
    )


def set_ranks(walk: Callable[[SetChain], object], attributes: int = 1) -> list[list[int]]:
    true, found = [], []
    for seed in range(REPLICATIONS):
        truth, population = set_case(seed, attributes)
        counts = [truth.counts(p.attribute)[:, p.value].astype(np.int64) for p in population.pending]
        assert counts
        chain = SetChain(population, np.random.default_rng([6, seed]))
        assert [mine.sum() for mine in counts] == [total.sum() for _, total in chain.rows]
        true.append(of_pairs(counts, population))
        chain.settle(60)
        draws = []
        for _ in range(DRAWS):
            walk(chain)
            draws.append(of_pairs([total for _, total in chain.rows], population))
        found.append(np.array(draws))
    return ranks(true, found)


def test_sets() -> None:
    assert smallest_p(set_ranks(lambda chain: chain.advance(10), attributes=2)) > LEVEL


def shared(chain: SetChain, *, dirichlet: bool, own: bool = False) -> None:
    """Two sweeps in plain Python. Right is to draw p first.

    The set's `own` rows may then as well be counted: p is drawn given everything, and the rows given p. Without p they may not.
    """
    rng = chain.rng
    for pending, (rows, total) in zip(chain.population.pending, chain.rows, strict=True):
        parts = [slice(low, high) for low, high in itertools.pairwise(pending.family.first.tolist())]
        members = [pending.family.members[part] for part in parts]
        for _ in range(2):
            for said, part, leaves in zip(pending.said.tolist(), parts, members, strict=True):
                others = total[leaves] - rows[part]
                weight = pending.beta[leaves] + (total[leaves] if own else others)
                rows[part] = rng.multinomial(said, rng.dirichlet(weight) if dirichlet else weight / weight.sum())
                total[leaves] = others + rows[part]


def test_wrong_sets() -> None:
    """Multinomial weights without p are noticed; what is right in plain Python is not."""
    assert smallest_p(set_ranks(lambda chain: shared(chain, dirichlet=True))) > LEVEL
    assert smallest_p(set_ranks(lambda chain: shared(chain, dirichlet=True, own=True))) > LEVEL
    assert smallest_p(set_ranks(lambda chain: shared(chain, dirichlet=False))) < WRONG
