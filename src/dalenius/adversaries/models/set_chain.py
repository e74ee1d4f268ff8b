"""A chain over overlapping sets. Its state is how many rows of each set have each of its leaves (methods A, exact inference 3)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from dalenius.adversaries.models.population import Pending, Population
from dalenius.adversaries.models.sampling import WATCHED, Batch
from dalenius.arrays import Floats, Longs
from dalenius.kernels.gibbs_sets import start_sets, sweep_sets

__all__ = ["SetChain", "SetModes", "disperse", "start_state"]

SCOUTS = 16  # for each pair that may have several modes
SCOUT_SWEEPS = 40  # before a scout's place is measured, and as many while it is
MIN_DISTANCE = 0.05  # of different modes: the share of the rows whose leaves differ
MAX_WEIGHED_PLACES = 2
_EVENLY = np.empty(0, dtype=np.int64)


def start_state(pending: Pending, rank: Longs, seed: int) -> tuple[Longs, Longs]:
    """Return a state of a pair: drawn evenly, or with all rows of each set on its leaf of the first rank."""
    family = pending.family
    return start_sets(family.first, family.members, pending.said, family.leaves, rank, seed)


@dataclass(slots=True, eq=False)
class SetChain:
    """One chain for all pairs of attribute and value that are pending."""

    population: Population
    rng: np.random.Generator
    rows: list[tuple[Longs, Longs]] = field(init=False)  # of each pair: rows of each set and leaf, and of each leaf
    states: int = 0  # none are kept: the means suffice
    watched: list[Longs] = field(init=False)
    centres: list[Floats] = field(init=False)  # of each pair: densities to jump between, none if it has one mode

    def __post_init__(self) -> None:
        pending = self.population.pending
        self.rows = [start_state(p, _EVENLY, self.seed()) for p in pending]
        self.centres = [np.empty((0, len(p.beta))) for p in pending]
        # One leaf of some pairs, the same for all chains.
        choice = np.random.default_rng(0)
        chosen = set(choice.permutation(len(pending))[:WATCHED].tolist())
        self.watched = [
            choice.choice(np.unique(p.family.members), 1).astype(np.int64)
            if i in chosen
            else np.empty(0, dtype=np.int64)
            for i, p in enumerate(pending)
        ]

    def seed(self) -> int:
        return int(self.rng.integers(2**31))

    def settle(self, sweeps: int) -> None:
        self.advance(sweeps)

    def advance(self, sweeps: int) -> Batch:
        """Return means over the sweeps: for each pair those of each leaf, and of each leaf's share of a row of each set."""
        means: list[Floats] = []
        traces = []
        parts = zip(self.population.pending, self.rows, self.watched, self.centres, strict=True)
        for pending, (rows, total), watched, centres in parts:
            family = pending.family
            trace = np.empty((sweeps, len(watched)))
            means += sweep_sets(
                family.first,
                family.members,
                pending.said,
                pending.beta,
                rows,
                total,
                centres,
                watched,
                trace,
                sweeps,
                self.seed(),
            )
            traces.append(trace)
        return Batch(means, trace=np.concatenate(traces, axis=1))


@dataclass(frozen=True, slots=True)
class SetModes:
    """How many places the scouts found for the pair with the most places.

    Visits are not counted. If chains jump between two places, their agreement shows that they weigh them. If there are more, there
    may be any number, and chains may agree on the few that they know: then nothing is certain.
    """

    places: int

    def unseen(self) -> float:
        return 1.0 if self.places > MAX_WEIGHED_PLACES else 0.0

    def unmixed(self) -> str:
        return (
            f"with a prior below 1 the sets have several modes: scouts found {self.places}, and these cannot be weighed against "
            "each other and against others that were not found"
        )

    def to_dict(self) -> dict[str, int]:
        return {"modes": self.places}


def disperse(chains: Sequence[SetChain], rng: np.random.Generator) -> SetModes:
    """Start chains far apart, and let them jump where there may be several modes.

    The first chain starts evenly. For each other chain the leaves have an order, and each set gives all its rows to its first leaf.
    If every β is at least 1, the posterior of a pair has one mode (its density is log-concave). Otherwise it may have several, in
    which few leaves share the rows. Scouts search for these, and chains start from those that lie farthest apart.
    """
    places = 1
    for i, pending in enumerate(chains[0].population.pending):
        leaves = pending.family.leaves
        orders = [order for _ in range(SCOUTS // 2) for order in _and_reverse(rng.permutation(leaves))]
        if (pending.beta[np.unique(pending.family.members)] >= 1).all():
            for chain, order in zip(chains[1:], orders * len(chains), strict=False):
                chain.rows[i] = start_state(pending, order, chain.seed())
            continue
        scouted = [_scout(pending, order, int(rng.integers(2**31))) for order in orders]
        centres = np.array([place.centre for place in scouted])
        places = max(places, _distinct(scouted))
        for chain, which in zip(chains, _far_apart(centres, len(chains)), strict=True):
            chain.rows[i] = scouted[which].rows.copy(), scouted[which].total.copy()
            chain.centres[i] = centres
    return SetModes(places)


@dataclass(frozen=True, slots=True, eq=False)
class Scouted:
    """Where a scout ended: its state, mean and variance of its walk as shares, and a density that fits them."""

    rows: Longs
    total: Longs
    mean: Floats
    variance: Floats
    centre: Floats


def _distinct(scouted: Sequence[Scouted]) -> int:
    """Return how many places are different: farther apart than short walks in one mode."""
    places: list[Scouted] = []
    for place in scouted:
        if all(_distance(place, other) > MIN_DISTANCE for other in places):
            places.append(place)
    return len(places)


def _distance(first: Scouted, second: Scouted) -> float:
    # Neighbouring sweeps are alike: about ten of them are worth one draw.
    noise = np.sqrt((first.variance + second.variance) * 10 / SCOUT_SWEEPS)
    return float(np.maximum(np.abs(first.mean - second.mean) - 2 * noise, 0.0).sum()) / 2


def _and_reverse(order: Longs) -> tuple[Longs, Longs]:
    return order, order.max() - order


def _scout(pending: Pending, order: Longs, seed: int) -> Scouted:
    """Walk from a state and return where the walk ends, with a Dirichlet density of its mean and variance."""
    family = pending.family
    rows, total = start_state(pending, order, seed)
    watched = np.arange(family.leaves, dtype=np.int64)
    trace = np.empty((2 * SCOUT_SWEEPS, family.leaves))
    none = np.empty((0, family.leaves))
    sweep_sets(
        family.first, family.members, pending.said, pending.beta, rows, total, none, watched, trace, len(trace), seed
    )
    weight = pending.beta + trace[SCOUT_SWEEPS:]
    everything = float(pending.beta.sum() + pending.said.sum())
    mean, variance = weight.mean(axis=0), weight.var(axis=0)
    inner = (mean * (everything - mean) - variance) / (everything + 1)
    room = (mean * (everything - mean)).sum()
    concentration = np.clip(room / (variance + inner).sum() - 1, 1e-3 * everything, everything)
    return Scouted(rows, total, mean / everything, variance / everything**2, mean / everything * concentration)


def _far_apart(centres: Floats, number: int) -> list[int]:
    """Choose centres: each as far as possible from those before, and again from the first when all are taken."""
    shares = centres / centres.sum(axis=1, keepdims=True)
    chosen = [0]
    while len(chosen) < number:
        away = np.abs(shares[:, None] - shares[chosen][None]).sum(axis=2).min(axis=1)
        chosen.append(int(away.argmax()) if away.max() > 0 else len(chosen) % len(centres))
    return chosen
