"""Other modes of the posterior of an anatomized release: places that chains start from, and jumps between them.

Chains that all end in one mode agree with each other, and no diagnostic shows that there is another mode. So this module searches
for other states. Scouts start where the links follow one attribute alone, or nothing, and walk on from there. Each gets a weight:
an estimate of the posterior mass around the place where it ends. Places without weight are left out. Chains start from the
remaining places that lie farthest apart, and if there are several, jumps are proposed between them.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

import numpy as np

from dalenius.adversaries.models.links import KEEP_EVERY, Jumps, LinkChain, Links
from dalenius.arrays import Bools, Floats, Ints, Longs
from dalenius.errors import counted
from dalenius.kernels import mode_jumps as kernel

__all__ = ["Modes", "Place", "explore", "visit"]

MAX_SCOUTS = 8  # that follow an attribute each
EVEN_SCOUTS = 2  # that follow nothing
SCOUT_HEAT = 0.8  # the power of the likelihood that scouts start with if weights are rough: they leave shallow places
SCOUT_SWEEPS = 60  # before a scout's place is measured, if weights are rough
COLD_SWEEPS = 10  # the same if they are precise: a scout that walks longer may leave the mode it was sent to
COPIES = 4  # times that scouts are sent to each attribute if weights are precise
MAX_COPIED_CELLS = 200_000  # rows times attributes up to which they are: more would take long
MIN_TIMES_FOUND = 4  # of each mode; otherwise there may be others that were not found
MAX_ROUNDS = 5  # of scouts, until each mode is found that often
MEASURED_SWEEPS = 40
WEIGHINGS = 8  # draws behind each bound of a weight
NEGLIGIBLE = 20.0  # a place is left out if its log weight is this much below the largest
UNKNOWN_WEIGHT = 1e12
MAX_PRECISE_GAP = 5.0  # bounds this close weigh a place well
MAX_FAIR_GAP = 20.0  # bounds this close still distinguish modes from places that a chain merely passes
MIN_ENTRIES = 25  # of all chains to a place; from then on the share of their time there estimates its mass
WEIGHT_ERROR = 1.0  # the log of the factor by which precise weights may be wrong
REFIT_SWEEPS = 200  # of each chain, after which densities are fitted again
MIN_STATES = 20  # of a place, to fit it again
LLOYD_ROUNDS = 5  # in which states go to the nearest place, and places to the mean of their states
TRIALS = 12  # jumps of each kind that are tried before it is kept


@dataclass(frozen=True, slots=True, eq=False)
class Place:
    """Where a chain was for some sweeps: its last state, mean and variance of `weight`, and a density that fits them."""

    row_at: Ints
    mean: Floats
    variance: Floats
    centre: Floats  # of Dirichlet densities, to propose parameters from
    low: float  # bounds of the log of the posterior mass around it, up to a constant and their Monte-Carlo error
    high: float

    @property
    def weight(self) -> float:
        return (self.low + self.high) / 2

    def is_negligible(self, heaviest: Place) -> bool:
        """Return whether its weight is negligible compared with another. An unknown weight, after underflow, never is."""
        if self.low <= -UNKNOWN_WEIGHT / WEIGHINGS:
            return False
        margin = NEGLIGIBLE + max(0.0, heaviest.high - heaviest.low, self.high - self.low) / 4
        return self.weight < heaviest.weight - margin

    def distance(self, other: Place, links: Links) -> Floats:
        """Return the largest total variation of an attribute's leaves for each value, minus what short walks differ by."""
        # Neighbouring sweeps are alike: about five of them are worth one draw.
        noise = np.sqrt((self.variance + other.variance) * 5 / MEASURED_SWEEPS)
        away = np.abs(self.mean - other.mean) - 2 * noise
        parts = np.add.reduceat(np.maximum(away, 0.0), links.first_leaf[:-1], axis=0) / (2 * links.total)
        return np.asarray(parts.max(axis=0))


MIN_DISTANCE = 0.05  # of different modes: the share of the rows of a value whose leaves differ


def visit(chain: LinkChain) -> Place:
    """Let a chain walk where it is, without exchanges, and return the place."""
    links = chain.links
    mean, square = np.zeros_like(chain.weight), np.zeros_like(chain.weight)
    drawn = []
    for sweep in range(MEASURED_SWEEPS):
        chain.warm(1, 1.0, exchanging=False)
        mean += chain.weight / MEASURED_SWEEPS
        square += chain.weight**2 / MEASURED_SWEEPS
        if sweep % (MEASURED_SWEEPS // WEIGHINGS) == 0:
            drawn.append(chain.weight.copy())
    variance = np.maximum(square - mean**2, 0.0)
    centre = fit_densities(links, mean, variance)
    low, high = weigh_place(chain, centre, drawn)
    return Place(chain.row_at.copy(), mean, variance, centre, low, high)


def fit_densities(links: Links, mean: Floats, variance: Floats) -> Floats:
    """Return Dirichlet densities with the mean of π, and with its variance summed over the leaves of an attribute.

    Var π = Var(w)/T² + E[w(T − w)]/(T²(T + 1)), where π ~ Dir(w) given the links and T = Σ w is known.
    """
    centre = np.empty_like(mean)
    for a, (low, high) in enumerate(zip(links.first_leaf[:-1].tolist(), links.first_leaf[1:].tolist(), strict=True)):
        total = links.total[a]
        share = mean[low:high] / total
        inner = (mean[low:high] * (total - mean[low:high]) - variance[low:high]) / (total**2 * (total + 1))
        spread = (variance[low:high] / total**2 + inner).sum(axis=0)
        room = (share * (1 - share)).sum(axis=0)
        # An attribute of one leaf has no variance.
        concentration = np.where(spread > 0, room / np.where(spread > 0, spread, 1.0) - 1, total)
        centre[low:high] = share * np.clip(concentration, 1e-3 * total, total)
    return centre


def weigh_place(chain: LinkChain, centre: Floats, drawn: Sequence[Floats]) -> tuple[float, float]:
    """Return bounds of log ∫ m(π) dπ over the place.

    With r = Dir(centre), E[log m − log r] under r is a lower bound, and under the posterior an upper one (Jensen's inequality). The
    worse r fits the posterior, the farther they are apart.
    """
    links = chain.links
    everything = np.ones(len(links.table), dtype=np.bool_)
    states = kernel.states_of_groups(links.group_run, links.run_start)
    logs: list[list[float]] = [[], []]
    for weight in drawn:
        for which, parameters in enumerate((centre, weight)):
            logs[which].append(
                kernel.log_weight(
                    links.group_start, links.rows, links.place_value, links.group_run, links.run_start, states,
                    links.first_leaf, links.beta, everything, parameters, centre, chain.row_at, chain.seed(),
                )
            )  # fmt: skip
    # Where numbers underflow, the bounds are as wide as possible: the place is kept, and its weight is not used.
    low, high = (float(np.mean(np.maximum(bound, -UNKNOWN_WEIGHT))) for bound in logs)
    return low, high


@dataclass(slots=True, eq=False)
class Modes:
    """The distinct places, and how the chains have moved between them."""

    chains: Sequence[LinkChain]
    places: list[Place]  # the heaviest first
    left_out: int  # places without weight
    times_found: list[int]  # how often scouts, and chains before they were moved, came to each place
    is_fair: bool = False  # the weights are known well enough to tell modes apart

    def unseen(self) -> float:
        """Return an upper bound of the mass of modes that chains have visited too rarely to weigh them by their visits.

        Precise weights give the mass within a factor. The closest bounds decide whether weights are precise, because a place
        measured on a walk between modes has wide ones. Rough weights do not show whether a place should be visited at all. Then
        only the places count where chains were in the second half: a chain that left its first place for good shows that nothing
        keeps it there.
        """
        if self.may_be_others:
            return 1.0
        heaviest = self.places[0]
        looks, entries = self._visits()
        if min(place.high - place.low for place in self.places) <= MAX_PRECISE_GAP:
            mass = np.array([math.exp(min(0.0, place.high - heaviest.low + WEIGHT_ERROR)) for place in self.places])
        else:
            later = {place for chain in self.chains for place in chain.visits[len(chain.visits) // 2 :]}
            mass = np.array([float(place in later) for place in range(len(self.places))])
        mass[looks.argmax()] = 0.0  # it has the rest of the mass
        return min(1.0, float(mass[entries < MIN_ENTRIES].sum()))

    @property
    def may_be_others(self) -> bool:
        """Return whether a mode was found so rarely that others may not have been found at all.

        Where weights are rough, many places are only passed by a chain, and how often scouts find them means nothing.
        """
        return self.is_fair and len(self.places) > 1 and min(self.times_found) < MIN_TIMES_FOUND

    def unmixed(self) -> str:
        """Return why the chains have not weighed the modes."""
        if self.may_be_others:
            return (
                f"scouts found {len(self.places)} modes, one of them only {counted(min(self.times_found), 'time', 'times')}: "
                "there may be others that were not found"
            )
        _, entries = self._visits()
        jumps = self.chains[0].jumps
        if jumps is not None and not len(jumps.moving):
            return (
                f"the chains found {len(self.places)} modes and cannot weigh them: the release has so many parameters that no "
                "jump from one mode to another is accepted"
            )
        return (
            f"the chains found {len(self.places)} modes and visited one of them only "
            f"{counted(int(entries.min()), 'time', 'times')}, too rarely to weigh it"
        )

    def _visits(self) -> tuple[Longs, Longs]:
        """Return how often chains were near each place, and how often they came to it from another."""
        size = len(self.places)
        looks, entries = np.zeros(size, dtype=np.int64), np.zeros(size, dtype=np.int64)
        for chain in self.chains:
            visits = np.array(chain.visits, dtype=np.int64)
            looks += np.bincount(visits, minlength=size)
            entries += np.bincount(visits[1:][visits[1:] != visits[:-1]], minlength=size)
        return looks, entries

    def to_dict(self) -> dict[str, Any]:
        """Return the entries for the diagnostics."""
        tried = sum(chain.jumped[0] for chain in self.chains)
        return {
            "modes": len(self.places),
            "modes_left_out": self.left_out,
            "modes_found_times": self.times_found,
            "mode_log_weights": [round(place.weight - self.places[0].weight, 2) for place in self.places],
            "mode_log_weight_bounds_apart": round(max(place.high - place.low for place in self.places), 2),
            "mode_visits": [np.bincount(chain.visits, minlength=len(self.places)).tolist() for chain in self.chains],
            "mode_crossings": sum(chain.crossings for chain in self.chains),
            "unseen_mode_mass": self.unseen(),
            "jumps": tried,
            "jumps_taken": sum(chain.jumped[1] for chain in self.chains),
        }


def explore(
    links: Links, chains: Sequence[LinkChain], rng: np.random.Generator, sweeps: int, pool: ThreadPoolExecutor
) -> Modes:
    """Send scouts out, weigh the places where they and the chains are, and move the chains far apart."""
    places = list(pool.map(visit, chains))
    # If weights are precise, scouts stay where they were sent: places without weight will be recognised. The closest bounds decide,
    # because a chain on its way from one mode to another always has wide ones.
    closest = min(place.high - place.low for place in places)
    is_precise, is_fair = closest <= MAX_PRECISE_GAP, closest <= MAX_FAIR_GAP
    followed: list[int | None] = [*rng.permutation(links.rows.shape[1])[:MAX_SCOUTS].tolist(), *[None] * EVEN_SCOUTS]
    if is_fair and links.rows.size <= MAX_COPIED_CELLS:
        followed *= COPIES
    for _ in range(MAX_ROUNDS):
        scouts = [
            LinkChain(links, "block", seed, follows=attribute)
            for seed, attribute in zip(rng.spawn(len(followed)), followed, strict=True)
        ]
        places += pool.map(lambda scout: _scout(scout, is_precise=is_precise), scouts)
        kept, modes, times = _distinct_modes(places, links)
        result = Modes(chains, modes, len(places) - len(kept), times, is_fair)
        if not result.may_be_others:
            break
    _move_apart(chains, places[: len(chains)], kept, modes)
    if len(modes) < 2:
        return result
    centres = np.array([place.centre for place in modes])
    for chain in chains:
        chain.jumps = Jumps.of(links, centres, np.array([place.mean for place in modes]), _moving(modes, links))
    list(pool.map(lambda chain: chain.try_jumps(TRIALS), chains))
    # All chains use the same kinds of jumps: those that any of them has made.
    works = np.any([chain.jumps.works for chain in chains if chain.jumps is not None], axis=0)
    for chain in chains:
        assert chain.jumps is not None
        chain.jumps.keep(works)
    if works.any():
        _refit(chains, pool)
    list(pool.map(lambda chain: chain.advance(sweeps), chains))
    for chain in chains:
        chain.forget_visits()
    return result


def _distinct_modes(places: Sequence[Place], links: Links) -> tuple[list[Place], list[Place], list[int]]:
    """Return the places with weight, one place of each mode, the heaviest first, and how many places each mode has."""
    heaviest = max(places, key=lambda place: place.weight)
    kept = [place for place in places if not place.is_negligible(heaviest)]
    modes: list[Place] = []
    times: list[int] = []
    for place in sorted(kept, key=lambda place: -place.weight):
        near = [float(place.distance(other, links).max()) for other in modes]
        if min(near, default=math.inf) > MIN_DISTANCE:
            modes.append(place)
            times.append(1)
        else:
            times[int(np.argmin(near))] += 1
    return kept, modes, times


def _refit(chains: Sequence[LinkChain], pool: ThreadPoolExecutor) -> None:
    """Fit the densities again, to where the jumping chains are.

    The walks that places were measured on are short, and some led from one mode to another. A density fitted to such a walk is
    rarely accepted, and chains then stay long where it proposes too little.
    """
    links, jumps = chains[0].links, chains[0].jumps
    assert jumps is not None
    states = np.concatenate(list(pool.map(_walk, chains)))
    centres, means = jumps.centres.copy(), jumps.means.copy()
    for _ in range(LLOYD_ROUNDS):
        nearest = np.abs(states[:, None] - means[None]).sum(axis=(2, 3)).argmin(axis=1)
        for place in range(len(means)):
            near = states[nearest == place]
            if len(near) >= MIN_STATES:
                means[place] = near.mean(axis=0)
                centres[place] = fit_densities(links, means[place], near.var(axis=0))
    for chain in chains:
        assert chain.jumps is not None
        chain.jumps.centres, chain.jumps.means = centres, means


def _walk(chain: LinkChain) -> Floats:
    """Return states of a jumping chain, some sweeps apart."""
    states = []
    for _ in range(REFIT_SWEEPS // KEEP_EVERY):
        chain.advance(KEEP_EVERY)
        states.append(chain.weight.copy())
    return np.array(states)


def _move_apart(chains: Sequence[LinkChain], own: list[Place], kept: list[Place], modes: list[Place]) -> None:
    """Bring the chains to the modes in turn, each to a place of its own there if there is one.

    A chain that is in its mode stays. If a mode has fewer places than chains, a chain starts from the mode's first place; if there
    is only one mode, it stays where it is.
    """
    links = chains[0].links
    where = [int(np.argmin([place.distance(mode, links).max() for mode in modes])) for place in kept]
    free = list(range(len(kept)))
    todo = []
    for i, chain in enumerate(chains):
        current = next((j for j in free if kept[j] is own[i]), None)
        if current is not None and where[current] == i % len(modes):
            free.remove(current)
        else:
            todo.append((chain, i % len(modes)))
    for chain, mode in todo:
        others = [j for j in free if where[j] == mode]
        if others:
            free.remove(others[-1])  # scouts come last, and other chains may still be where they are
            chain.move_to(kept[others[-1]].row_at)
        elif len(modes) > 1:
            chain.move_to(modes[mode].row_at)


def _scout(scout: LinkChain, *, is_precise: bool) -> Place:
    """Send a scout out, and return the place where it ends."""
    if is_precise:
        scout.cool(COLD_SWEEPS, 1.0, exchanging=False)
    else:
        scout.cool(SCOUT_SWEEPS, SCOUT_HEAT)
    return visit(scout)


def _moving(modes: list[Place], links: Links) -> Bools:
    """Return the values that each kind of jump moves: all, or the two in which two places differ most."""
    size = len(links.table)
    kinds = [np.ones(size, dtype=np.bool_)]
    for i, mode in enumerate(modes):
        for other in modes[:i]:
            pair = np.zeros(size, dtype=np.bool_)
            pair[np.argsort(-mode.distance(other, links), kind="stable")[:2]] = True
            kinds.append(pair)
    return np.unique(np.array(kinds), axis=0)
