"""Samplers of an anatomized release against the paper's own, sweeps of more and more rows, and the exact path."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path

import numpy as np
from harness import heading, line, once

# Efficiency: one over the variance of an estimated belief times the seconds it took, so many times as many effective
# samples a second. All start from the same kind of state, after the same burn-in, and estimate the attacker's beliefs about
# every distinct person of Adult. Reported is the median over the beliefs between 0.02 and 0.98; the variance is that between
# batches.
_OURS = """
import sys
import numpy as np
import dalenius as dl
from dalenius.adversaries.models.links import LinkChain, Links
from dalenius.publishers.anatomy import Anatomy
release = Anatomy(int(sys.argv[2])).publish(dl.datasets.adult(sys.argv[1]), seed=1).release
links = Links.of(release)
fitting = links.fitting(links.tuples, np.zeros(links.tuples.shape[1]))
chain = LinkChain(links, sys.argv[3], np.random.default_rng(0))
chain.settle(150)
sweeps, batches, seen = int(sys.argv[4]), 24, []
start = time.perf_counter()
for _ in range(batches):
    weights = fitting @ chain.advance(sweeps).means[0]
    seen.append(weights / weights.sum(axis=1, keepdims=True))
seconds = (time.perf_counter() - start) / batches
np.save(sys.argv[6], np.array([np.mean(seen, axis=0), np.var(seen, axis=0, ddof=1) * seconds]))
_report(seconds, sweep=seconds / sweeps)
"""

_NUMPY = """
import sys
sys.path.insert(0, sys.argv[5])
import numpy as np
import dalenius as dl
import plain_metropolis as plain
from dalenius.adversaries.models.links import LinkChain, Links
from dalenius.publishers.anatomy import Anatomy
release = Anatomy(int(sys.argv[2])).publish(dl.datasets.adult(sys.argv[1]), seed=1).release
links = Links.of(release)
chain = LinkChain(links, "block", np.random.default_rng(0))
chain.settle(150)  # the same burn-in
sensitive = np.empty(len(links.rows), dtype=np.intp)
sensitive[chain.row_at] = links.place_value
group = np.repeat(np.arange(len(links.group_start) - 1), np.diff(links.group_start))
codes = (links.rows - links.first_leaf[:-1]).astype(np.intp)
state, order = plain.start(codes, sensitive, group.astype(np.intp), links.leaves.tolist(), len(links.table))
rng = np.random.default_rng(1)
for _ in range(300):
    plain.sweep(state, rng)
sweeps, batches, seen = int(sys.argv[4]), 24, []
slot, values = links.slot[order].astype(np.intp), len(links.table)
size = len(links.tuples) * values
start = time.perf_counter()
for _ in range(batches):
    met = np.zeros(size)
    for sweep in range(sweeps):
        plain.sweep(state, rng)
        if sweep % 4:  # ours does not look at all sweeps either
            continue
        met += np.bincount(slot * values + state.sensitive, minlength=size)
    weights = met.reshape(-1, values)
    seen.append(weights / weights.sum(axis=1, keepdims=True))
seconds = (time.perf_counter() - start) / batches
np.save(sys.argv[6], np.array([np.mean(seen, axis=0), np.var(seen, axis=0, ddof=1) * seconds]))
_report(seconds, sweep=seconds / sweeps)
"""

_ROWS = """
import sys
import numpy as np
from dalenius.adversaries.models.links import LinkChain, Links
from dalenius.releases import Anatomized, GroupCells
from dalenius.schema import Column, Domain, Schema
people = int(sys.argv[1])
rng = np.random.default_rng(1)
sizes, values = (100, 50, 16, 2), 12
quasi = tuple(Column(f"q{a}", "quasi", domain=Domain(tuple(map(str, range(n))))) for a, n in enumerate(sizes))
schema = Schema((*quasi, Column("s", "sensitive", domain=Domain(tuple(map(str, range(values))))))).bind({})
group = np.repeat(np.arange(people // 4, dtype=np.int32), 4)
codes = np.column_stack([rng.integers(0, n, people) for n in sizes]).astype(np.int32)
sensitive = ((np.arange(people) % 4) * 3 + rng.integers(0, 3, people)).astype(np.int32)  # four different ones in a group
ones = np.ones(people, dtype=np.int64)
release = Anatomized(
    schema, GroupCells.gather(group, codes, ones, list(sizes)), GroupCells.gather(group, sensitive[:, None], ones, [values])
)
chain = LinkChain(Links.of(release), "block", np.random.default_rng(0))
chain.advance(1)
start = time.perf_counter()
chain.advance(5)
_report((time.perf_counter() - start) / 5)
"""

_EXACT = """
import sys
import numpy as np
from dalenius.adversaries import Targets
from dalenius.adversaries.attacker import Attacker
from dalenius.releases import Generalized
from dalenius.schema import Column, Domain, Schema
people, classes, values = int(sys.argv[1]), 400, 12
rng = np.random.default_rng(1)
sizes = (100, 50, 16)
quasi = tuple(Column(f"q{a}", "quasi", domain=Domain(tuple(map(str, range(n))))) for a, n in enumerate(sizes))
schema = Schema((*quasi, Column("s", "sensitive", domain=Domain(tuple(map(str, range(values))))))).bind({})
sets = [
    [np.arange(n // 5 * int(k), n // 5 * (int(k) + 1), dtype=np.int32) for n, k in zip(sizes, rng.integers(0, 5, 3))]
    for _ in range(classes)
]
group = np.repeat(np.arange(classes, dtype=np.int32), values)
cells = np.tile(np.arange(values, dtype=np.int32), classes)[:, None]
counts = np.full(len(group), people // len(group), dtype=np.int64)
release = Generalized.from_sets(schema, sets, group, cells, counts)
codes = np.column_stack([rng.integers(0, n // 5 * 5, 5000) for n in sizes]).astype(np.int32)
targets = Targets(schema, codes)
Attacker().attack(release, Targets(schema, codes[:1]))
start = time.perf_counter()
belief = Attacker().attack(release, targets)
if belief.method != "exact":
    raise RuntimeError(belief.method)
_report(time.perf_counter() - start)
"""


def _samplers(data: str, l_: str, folder: str) -> None:
    here = str(Path(__file__).parent)
    found = {}
    for name, method, sweeps in (("block", "block", "80"), ("swaps", "swaps", "300"), ("compiled", "metropolis", "600"),
                                 ("numpy", "", "400")):  # fmt: skip
        code = _OURS if method else _NUMPY
        result = once(code, arguments=(data, l_, method, sweeps, here, f"{folder}/{name}.npy"))
        found[name] = float(str(result.extra["sweep"])) * 1000, *np.load(f"{folder}/{name}.npy")
    mine, mean, cost = found["block"]
    some = (mean > 0.02) & (mean < 0.98) & (cost > 0)
    for name, words, target in (
        ("numpy", "the paper's sampler in NumPy", "≥ 30"),
        ("compiled", "the paper's sampler, compiled", "≥ 3"),
        ("swaps", "swaps with π integrated out", ""),
    ):
        sweep, _, theirs = found[name]
        ratio = float(np.median(theirs[some] / cost[some]))
        line(words, f"{ratio:.0f}", target if l_ == "4" else "", f"{sweep:.2f} ms a sweep, ours {mine:.2f} ms")


def run() -> None:
    data = Path(os.environ.get("DALENIUS_DATA", "../shared/data"))
    if not (data / "adult" / "adult.csv").is_file():
        print(f"\nSkipped: $DALENIUS_DATA ({data}) holds no adult/adult.csv.")
        return
    for l_ in ("4", "6"):
        heading(f"Anatomy of Adult, ℓ = {l_}: effective samples a second of the attacker's beliefs, ours / other")
        with tempfile.TemporaryDirectory() as folder:
            _samplers(str(data), l_, folder)
    heading("A sweep of exact blocks, four rows in a group, by rows")
    first = None
    for people in (30_000, 300_000, 3_000_000):
        found = once(_ROWS, arguments=(str(people),))
        first = first or found.seconds / people
        detail = f"{found.seconds * 1000:.0f} ms, {found.megabytes:.0f} MB"
        line(
            f"{people:,} rows",
            f"{found.seconds / people / first:.2f}",
            "about 1",
            f"time a row against the first; {detail}",
        )
    heading("Exact attack of 5,000 targets on a laminar release of 400 classes, by people")
    base = None
    for people in (48_000, 480_000, 3_000_000):
        found = once(_EXACT, arguments=(str(people),))
        base = base or found
        detail = f"{found.seconds * 1000:.0f} ms, {found.megabytes:.0f} MB"
        line(f"{people:,} people", f"{found.seconds / base.seconds:.2f}", "about 1", detail)
