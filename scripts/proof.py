"""Attack releases whose posterior has several modes, with many seeds, and record how often the answer is correct.

    PYTHONPATH=. python scripts/proof.py [--seeds 200] [--minutes 60] [--workers 2] [--keep FILE] [--write]

The true answers come from the oracles of the tests, which count worlds and share no code with the sampler. --write puts the table
into docs/proof.md. If the time runs out, the remaining seeds are left out, and the table says how many were run. --keep saves the
outcomes in a file. A run that was stopped continues from there, as long as the sampler is the same.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import platform
import sys
import time
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from dataclasses import astuple, dataclass
from datetime import UTC, datetime
from pathlib import Path

import numba
import numpy as np
import scipy
from marked_pages import rewrite
from tests.adversaries.mode_worlds import campaign, exact
from tests.adversaries.models.test_set_modes import ring
from tests.adversaries.test_relative_links import released

from dalenius.adversaries import Targets
from dalenius.adversaries.attacker import Attacker
from dalenius.adversaries.models.sampling import Effort
from dalenius.releases import Release

ROOT = Path(__file__).resolve().parent.parent
EFFORT = Effort(mcse=0.02, most_sweeps=4000)
SHORT = Effort(most_sweeps=1000)  # the error that is usually asked for, and a budget that hardly suffices
QUICK = Effort(mcse=0.05, most_sweeps=1000)  # an error that is soon reached
RINGS = ((30, 0.01), (100, 0.01), (30, 0.1), (30, 0.5))
SLACK = 0.001  # an answer this close counts as right: probabilities near 0 have errors that are not normal
STATED = 3  # standard errors that an answer may be off
FALSE = 6  # standard errors, and at least the error asked for, beyond which it was certain of what is wrong
BATCH = 20  # seeds that one process runs at a time


@dataclass(frozen=True, slots=True)
class Outcome:
    converged: bool
    off: float  # the largest distance of a belief from the truth
    units: float  # the same in standard errors, of beliefs that are off by more than the slack
    sweeps: int
    asked: float  # the error asked for

    @property
    def right(self) -> bool:
        return self.converged and self.units <= STATED

    @property
    def false(self) -> bool:
        return self.converged and self.units > FALSE and self.off > self.asked


@dataclass(frozen=True, slots=True)
class Case:
    """What makes the release, the targets and the true beliefs about them; and how long to sample."""

    make: Callable[[], tuple[Release, list[tuple[int, ...]], np.ndarray]]
    effort: Effort = EFFORT


def cases() -> dict[str, Case]:
    found: dict[str, Case] = {}
    for family in campaign():
        found[family.name] = Case(lambda family=family: (released(family.release()), family.tuples, exact(family)[1]))  # type: ignore[misc]
    for n, beta in RINGS:
        right = np.array([[n / (n + 10), 10 / (n + 10)]])
        found[f"sets in a ring {n}, β = {beta:g}"] = Case(
            lambda n=n, beta=beta, right=right: (ring(n, beta), [(0,)], right)  # type: ignore[misc]
        )
    for name in list(found):
        if name.startswith(("crossed", "leaning")):
            found[f"{name}, short"] = Case(found[name].make, SHORT)
            found[f"{name}, quick"] = Case(found[name].make, QUICK)
    return found


def run(name: str, seeds: range) -> list[Outcome]:
    """One case with some seeds."""
    case = cases()[name]
    release, targets, right = case.make()
    known = Targets(release.schema, np.array(targets, dtype=np.int32))
    outcomes = []
    for seed in seeds:
        belief = Attacker(effort=case.effort).attack(release, known, rng=np.random.default_rng(seed))
        off = np.abs(belief.posterior - right)
        units = np.where(off > SLACK, off / np.maximum(belief.stderr, 1e-12), 0.0)
        told = belief.diagnostics
        outcomes.append(
            Outcome(
                bool(told["converged"]), float(off.max()), float(units.max()), int(told["sweeps"]), case.effort.mcse
            )
        )
    return outcomes


def version() -> str:
    """A number that changes with the sampler and the releases."""
    parts = [path for part in ("adversaries", "kernels") for path in (ROOT / "src/dalenius" / part).rglob("*.py")]
    parts += [ROOT / "tests/adversaries/mode_worlds.py", ROOT / "tests/adversaries/models/test_set_modes.py"]
    return hashlib.sha256(b"".join(path.read_bytes() for path in sorted(parts))).hexdigest()


def kept(path: Path | None) -> dict[str, list[Outcome]]:
    """Outcomes of an earlier run of the same sampler."""
    if path is None or not path.exists():
        return {}
    document = json.loads(path.read_text(encoding="utf-8"))
    if document["version"] != version():
        return {}
    return {name: [Outcome(*one) for one in outcomes] for name, outcomes in document["outcomes"].items()}


def keep(path: Path | None, found: dict[str, list[Outcome]]) -> None:
    if path is not None:
        outcomes = {name: [astuple(one) for one in mine] for name, mine in found.items()}
        path.write_text(json.dumps({"version": version(), "outcomes": outcomes}), encoding="utf-8")


def ran(seeds: int, minutes: float, workers: int, path: Path | None) -> dict[str, list[Outcome]]:
    """All cases, twenty seeds of each in turn, so that a limit of time cuts all alike."""
    end = time.monotonic() + 60 * minutes
    names = list(cases())
    found = {name: [] for name in names} | kept(path)
    with ProcessPoolExecutor(workers) as pool:
        for low in range(0, seeds, BATCH):
            part = range(low, min(low + BATCH, seeds))
            left = [name for name in names if len(found[name]) < part.stop]
            for name, outcomes in zip(left, pool.map(run, left, [part] * len(left)), strict=True):
                found[name] = [*found[name][:low], *outcomes]
                keep(path, found)
            print(f"{part.stop} seeds of {seeds}", flush=True)
            if time.monotonic() > end:
                break
    return found


def table(results: dict[str, list[Outcome]]) -> str:
    lines = [
        "| release | seeds | converged | of these within 3 standard errors | right, or “not converged” | false certainty "
        "| median sweeps |",
        "|---|---|---|---|---|---|---|",
    ]
    for name, outcomes in results.items():
        number, converged = len(outcomes), sum(one.converged for one in outcomes)
        right, false = sum(one.right for one in outcomes), sum(one.false for one in outcomes)
        honest = right + number - converged
        share = f"{right} ({right / converged:.1%})" if converged else "–"
        sweeps = int(np.median([one.sweeps for one in outcomes]))
        lines.append(f"| {name} | {number} | {converged} | {share} | {honest / number:.1%} | {false} | {sweeps:,} |")
    return "\n".join(lines) + "\n"


def versions(seeds: int) -> str:
    return (
        f"Seeds 0 to {seeds - 1}, {datetime.now(UTC):%d %B %Y}. Python {platform.python_version()}, numpy {np.__version__}, "
        f"numba {numba.__version__}, scipy {scipy.__version__}. Requested error {EFFORT.mcse:g}, at most "
        f"{EFFORT.most_sweeps:,} sweeps for each of {EFFORT.chains} chains; *short*: {SHORT.mcse:g} and {SHORT.most_sweeps:,}; "
        f"*quick*: {QUICK.mcse:g} and {QUICK.most_sweeps:,}.\n"
    )


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--seeds", type=int, default=200)
    parser.add_argument("--minutes", type=float, default=60.0, help="no further seeds are begun after so long")
    parser.add_argument("--workers", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--keep", type=Path, help="a file for the outcomes, to go on from")
    parser.add_argument("--write", action="store_true", help="write the table into docs/proof.md")
    given = parser.parse_args()
    results = ran(given.seeds, given.minutes, given.workers, given.keep)
    done = min(len(outcomes) for outcomes in results.values())
    text = f"{versions(done)}\n{table(results)}"
    print(text)
    if given.write:
        rewrite(ROOT / "docs" / "proof.md", "proof.py", text)
    return int(any(one.false for outcomes in results.values() for one in outcomes))


if __name__ == "__main__":
    sys.exit(main())
