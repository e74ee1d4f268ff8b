"""Where else the links of an anatomized release may be: places that chains are started from, and jumps between them.

Chains that all end in one mode agree with each other, and no diagnostic of theirs tells that there is another. So other states
are looked for on purpose. Scouts start where the links follow one attribute alone, or nothing, and walk on from there; each gets
a weight, an estimate of the posterior mass around the place where it ends. Places that weigh nothing are left out, chains are
started from those that remain and lie farthest apart, and if there are several, jumps are proposed between them.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

import numpy as np

from dalenius.adversaries.models.links import EVERY, Jumps, LinkChain, Links
from dalenius.arrays import Bools, Floats, Ints, Longs
from dalenius.errors import counted
from dalenius.kernels import mode_jumps as kernel

MAX_SCOUTS = 8  # that follow an attribute each
EVEN_SCOUTS = 2  # that follow nothing
SCOUT_WARMEST = 0.8  # the power of the likelihood that scouts start with if weights are rough: shallow places melt
SCOUT_SWEEPS = 60  # before a scout's place is measured, if weights are rough
COLD_SWEEPS = 10  # the same if they are precise: a scout that walks longer may leave the mode it was sent to
COPIES = 4  # times that scouts are sent to each attribute if weights are precise
COPIED_ROWS = 200_000  # rows times attributes up to which they are: more would take long
FOUND = 4  # times that each mode must be found before it is believed that there are no others
ROUNDS = 5  # of scouts that are sent to find them so often
MEASURED_SWEEPS = 40
WEIGHINGS = 8  # draws behind each bound of a weight
NEGLIGIBLE = 20.0  # a place lighter than the heaviest by e to this is left out
UNKNOWN_WEIGHT = 1e12
PRECISE = 5.0  # bounds this close weigh a place well
FAIR = 20.0  # bounds this close still tell modes from places that a chain merely passes
ENTRIES = 25  # of all chains together to a place, after which the share of their time there tells its mass
WITHIN = 1.0  # the log of the factor that precise weights are right within
REFIT_SWEEPS = 200  # of each chain, after which densities are fitted anew
LEAST_STATES = 20  # of a place, to fit it anew
LLOYD = 5  # rounds in which states go to the nearest place, and places to the middle of their states
TRIALS = 12  # jumps of each kind that are tried before it is kept


@dataclass(frozen=True, slots=True, eq=False)
class Place:
    """Where a chain has been for some sweeps: its last state, mean and variance of `weight`, and a density that fits them."""

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
        """Whether it weighs nothing beside another. What is not known, because numbers underflow, may weigh anything."""
        if self.low <= -UNKNOWN_WEIGHT / WEIGHINGS:
            return False
        margin = NEGLIGIBLE + max(0.0, heaviest.high - heaviest.low, self.high - self.low) / 4
        return self.weight < heaviest.weight - margin

    def distance(self, other: Place, links: Links) -> Floats:
        """For each value the largest total variation of an attribute's leaves, less what short walks differ by."""
        # Neighbouring sweeps are alike: some five of them are worth one draw.
        noise = np.sqrt((self.variance + other.variance) * 5 / MEASURED_SWEEPS)
        away = np.abs(self.mean - other.mean) - 2 * noise
        parts = np.add.reduceat(np.maximum(away, 0.0), links.first_leaf[:-1], axis=0) / (2 * links.total)
        return np.asarray(parts.max(axis=0))


DISTINCT = 0.05  # of the rows of a value, whose leaves differ


def visit(chain: LinkChain) -> Place:
    """Let a chain walk where it is, without exchanges, and describe the place."""
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
    centre = fitted(links, mean, variance)
    low, high = weighed(chain, centre, drawn)
    return Place(chain.row_at.copy(), mean, variance, centre, low, high)


def fitted(links: Links, mean: Floats, variance: Floats) -> Floats:
    """Dirichlet densities with the mean of π, and with its variance summed over the leaves of an attribute.

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


def weighed(chain: LinkChain, centre: Floats, drawn: Sequence[Floats]) -> tuple[float, float]:
    """Bounds of log ∫ m(π) dπ over the place: E[log m − log r] under the density r is below, under the posterior there above.

    Both by Jensen's inequality, with r = Dir(centre); they are as far apart as r misfits the posterior.
    """
    links = chain.links
    everything = np.ones(len(links.table), dtype=np.bool_)
    states = kernel.states_of_groups(links.group_run, links.run_start)
    found: list[list[float]] = [[], []]
    for weight in drawn:
        for which, parameters in enumerate((centre, weight)):
            found[which].append(
                kernel.log_weight(
                    links.group_start, links.rows, links.place_value, links.group_run, links.run_start, states,
                    links.first_leaf, links.beta, everything, parameters, centre, chain.row_at, chain.seed(),
                )
            )  # fmt: skip
    # Where numbers underflow the bounds are as wide as can be: the place is kept, and nothing is concluded from its weight.
    low, high = (float(np.mean(np.maximum(bound, -UNKNOWN_WEIGHT))) for bound in found)
    return low, high


@dataclass(slots=True, eq=False)
class Modes:
    """The distinct places that were found, and how the chains have been moving between them."""

    chains: Sequence[LinkChain]
    places: list[Place]  # the heaviest first
    left_out: int  # that weigh nothing
    found: list[int]  # how often each place was come to by scouts, and by chains before they were moved
    fair: bool = False  # the weights are fairly known

    def unseen(self) -> float:
        """The mass, at most, of modes that chains have come to too rarely to weigh them by their visits.

        Weights that are precise tell the mass, within a factor; the closest bounds decide whether they are, since a place measured
        on a walk from one mode to another has wide ones. Weights that are rough do not tell whether a place ought to be
        visited at all: then those count where chains have been. One that began elsewhere and left for good has shown that
        nothing keeps it there.
        """
        if self.may_be_others:
            return 1.0
        heaviest = self.places[0]
        looks, entries = self._visits()
        if min(place.high - place.low for place in self.places) <= PRECISE:
            mass = np.array([math.exp(min(0.0, place.high - heaviest.low + WITHIN)) for place in self.places])
        else:
            later = {place for chain in self.chains for place in chain.visits[len(chain.visits) // 2 :]}
            mass = np.array([float(place in later) for place in range(len(self.places))])
        mass[looks.argmax()] = 0.0  # all that is left
        return min(1.0, float(mass[entries < ENTRIES].sum()))

    @property
    def may_be_others(self) -> bool:
        """Whether a mode was found so rarely that others may not have been found at all.

        Where weights are rough many places are those that a chain passes, and how often scouts find one says nothing.
        """
        return self.fair and len(self.places) > 1 and min(self.found) < FOUND

    def unmixed(self) -> str:
        """Why the chains have not weighed the modes."""
        if self.may_be_others:
            return (
                f"scouts found {len(self.places)} modes, one of them only {counted(min(self.found), 'time', 'times')}: there "
                "may be others that nobody found"
            )
        _, entries = self._visits()
        jumps = self.chains[0].jumps
        if jumps is not None and not len(jumps.moving):
            return (
                f"the chains found {len(self.places)} modes and cannot weigh them: the release has so many parameters that no jump "
                "from one mode to another is accepted"
            )
        return (
            f"the chains found {len(self.places)} modes and came to one of them {entries.min()} times only, "
            "too few to weigh it"
        )

    def _visits(self) -> tuple[Longs, Longs]:
        """How often chains were near each place, and how often they came to it from another."""
        size = len(self.places)
        looks, entries = np.zeros(size, dtype=np.int64), np.zeros(size, dtype=np.int64)
        for chain in self.chains:
            visits = np.array(chain.visits, dtype=np.int64)
            looks += np.bincount(visits, minlength=size)
            entries += np.bincount(visits[1:][visits[1:] != visits[:-1]], minlength=size)
        return looks, entries

    def told(self) -> dict[str, Any]:
        tried = sum(chain.jumped[0] for chain in self.chains)
        return {
            "modes": len(self.places),
            "modes_left_out": self.left_out,
            "modes_found_times": self.found,
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
    """Send scouts out, weigh the places where they and the chains are, and move chains so that they lie far apart."""
    places = list(pool.map(visit, chains))
    # Where weights are precise scouts may end in places that weigh nothing, which will be seen: they stay where they were sent.
    # The closest bounds decide: a chain that was on its way from one mode to another has wide ones whatever the release.
    closest = min(place.high - place.low for place in places)
    precise, fair = closest <= PRECISE, closest <= FAIR
    followed: list[int | None] = [*rng.permutation(links.rows.shape[1])[:MAX_SCOUTS].tolist(), *[None] * EVEN_SCOUTS]
    if fair and links.rows.size <= COPIED_ROWS:
        followed *= COPIES
    for _ in range(ROUNDS):
        scouts = [
            LinkChain(links, "block", seed, follows=attribute)
            for seed, attribute in zip(rng.spawn(len(followed)), followed, strict=True)
        ]
        places += pool.map(lambda scout: _scouted(scout, precise=precise), scouts)
        kept, modes, times = _told_apart(places, links)
        found = Modes(chains, modes, len(places) - len(kept), times, fair)
        if not found.may_be_others:
            break
    _move_apart(chains, places[: len(chains)], kept, modes)
    if len(modes) < 2:
        return found
    centres = np.array([place.centre for place in modes])
    for chain in chains:
        chain.jumps = Jumps.of(links, centres, np.array([place.mean for place in modes]), _moving(modes, links))
    list(pool.map(lambda chain: chain.try_jumps(TRIALS), chains))
    # All chains go by the same kinds of jumps: those that any of them has made.
    works = np.any([chain.jumps.works for chain in chains if chain.jumps is not None], axis=0)
    for chain in chains:
        assert chain.jumps is not None
        chain.jumps.keep(works)
    if works.any():
        _refit(chains, pool)
    list(pool.map(lambda chain: chain.advance(sweeps), chains))
    for chain in chains:
        chain.forget_visits()
    return found


def _told_apart(places: Sequence[Place], links: Links) -> tuple[list[Place], list[Place], list[int]]:
    """The places that weigh something, one of each mode, the heaviest first, and how many there are of each."""
    heaviest = max(places, key=lambda place: place.weight)
    kept = [place for place in places if not place.is_negligible(heaviest)]
    modes: list[Place] = []
    times: list[int] = []
    for place in sorted(kept, key=lambda place: -place.weight):
        near = [float(place.distance(other, links).max()) for other in modes]
        if min(near, default=math.inf) > DISTINCT:
            modes.append(place)
            times.append(1)
        else:
            times[int(np.argmin(near))] += 1
    return kept, modes, times


def _refit(chains: Sequence[LinkChain], pool: ThreadPoolExecutor) -> None:
    """Fit the densities anew to where chains are that jump already.

    The walks that places were measured on are short, and some led from one mode to another: a density fitted to such a walk is
    accepted rarely, and chains then stay for long where it proposes too little.
    """
    links, jumps = chains[0].links, chains[0].jumps
    assert jumps is not None
    states = np.concatenate(list(pool.map(_walked, chains)))
    centres, means = jumps.centres.copy(), jumps.means.copy()
    for _ in range(LLOYD):
        nearest = np.abs(states[:, None] - means[None]).sum(axis=(2, 3)).argmin(axis=1)
        for place in range(len(means)):
            mine = states[nearest == place]
            if len(mine) >= LEAST_STATES:
                means[place] = mine.mean(axis=0)
                centres[place] = fitted(links, means[place], mine.var(axis=0))
    for chain in chains:
        assert chain.jumps is not None
        chain.jumps.centres, chain.jumps.means = centres, means


def _walked(chain: LinkChain) -> Floats:
    """States of a chain that jumps, some sweeps apart."""
    states = []
    for _ in range(REFIT_SWEEPS // EVERY):
        chain.advance(EVERY)
        states.append(chain.weight.copy())
    return np.array(states)


def _move_apart(chains: Sequence[LinkChain], own: list[Place], kept: list[Place], modes: list[Place]) -> None:
    """Bring the chains to the modes in turn, each to a place of its own there if there is one.

    A chain that stands in its mode stays. Where a mode has fewer places than chains, and none that weighs something is left
    over, a chain starts from the mode's first place, or, with one mode alone, stays where it is.
    """
    links = chains[0].links
    where = [int(np.argmin([place.distance(mode, links).max() for mode in modes])) for place in kept]
    free = list(range(len(kept)))
    todo = []
    for i, chain in enumerate(chains):
        mine = next((j for j in free if kept[j] is own[i]), None)
        if mine is not None and where[mine] == i % len(modes):
            free.remove(mine)
        else:
            todo.append((chain, i % len(modes)))
    for chain, mode in todo:
        others = [j for j in free if where[j] == mode]
        if others:
            free.remove(others[-1])  # scouts come last, and other chains may still be where they are
            chain.move_to(kept[others[-1]].row_at)
        elif len(modes) > 1:
            chain.move_to(modes[mode].row_at)


def _scouted(scout: LinkChain, *, precise: bool) -> Place:
    if precise:
        scout.cool(COLD_SWEEPS, 1.0, exchanging=False)
    else:
        scout.cool(SCOUT_SWEEPS, SCOUT_WARMEST)
    return visit(scout)


def _moving(modes: list[Place], links: Links) -> Bools:
    """Which values a jump moves: all, or the two by which two places differ most."""
    size = len(links.table)
    kinds = [np.ones(size, dtype=np.bool_)]
    for i, one in enumerate(modes):
        for other in modes[:i]:
            pair = np.zeros(size, dtype=np.bool_)
            pair[np.argsort(-one.distance(other, links), kind="stable")[:2]] = True
            kinds.append(pair)
    return np.unique(np.array(kinds), axis=0)
