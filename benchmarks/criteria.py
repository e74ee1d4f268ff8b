"""All levels of `check` against pyCANON, and the lattice search against recounting every node in NumPy."""

from __future__ import annotations

import os
import resource
import subprocess
import sys
import tempfile
from pathlib import Path

from harness import Result, compare, heading, line, once

PYCANON = "pycanon==1.3.6"
REPEATED = 100  # 30,162 × 100 rows
LONGEST = 600  # seconds that pyCANON may take on the repeated table before it is called off

_OURS = """
import sys
import dalenius as dl
from dalenius.criteria import measure
from dalenius.engines import default
default()
schema = dl.datasets.adult(sys.argv[2]).declared
start = time.perf_counter()
release = dl.read_release(sys.argv[1], schema)
levels = measure(release.grouping())
_report(time.perf_counter() - start, t=levels["t_closeness", "equal"].value, k=int(levels["k_anonymity", "k"].value))
"""

# What pyCANON takes from a file to the same levels: reading included on both sides.
_THEIRS = """
import sys
import pandas as pd
from pycanon import anonymity
start = time.perf_counter()
frame = pd.read_csv(sys.argv[1], sep=";")
quasi, sensitive = [name for name in frame.columns if name != "occupation"], ["occupation"]
k = anonymity.k_anonymity(frame, quasi)
found = {}
for name in ("alpha_k_anonymity", "l_diversity", "entropy_l_diversity", "recursive_c_l_diversity", "t_closeness",
             "delta_disclosure", "basic_beta_likeness", "enhanced_beta_likeness"):
    found[name] = getattr(anonymity, name)(frame, quasi, sensitive)
_report(time.perf_counter() - start, t=found["t_closeness"], k=k)
"""

_SEARCH = """
import sys
import dalenius as dl
from dalenius.criteria import KAnonymity
from dalenius.publishers.lattice import Lattice
table = dl.datasets.adult(sys.argv[1])
publisher = Lattice([KAnonymity(5)], suppression=float(sys.argv[2]), suppressed_rows="as-is")  # as ARX does
table.cells()
publisher.publish(table)  # compiled code is loaded once
times = []
for _ in range(9):
    start = time.perf_counter()
    found = publisher.publish(table).outcome
    times.append(time.perf_counter() - start)
_report(sorted(times)[4], checked=found.checked, cost=found.best.cost)
"""

# Every node counted anew from the table's cells, as one would write it in NumPy; the cost is the same loss.
_RECOUNT = """
import itertools, sys
import numpy as np
import dalenius as dl
table = dl.datasets.adult(sys.argv[1])
cells = table.cells()
quasi = cells.schema.quasi
m, people = len(quasi), cells.people
trees = [column.hierarchy for column in quasi]
limit = int(float(sys.argv[2]) * people)
codes, counts = cells.codes[:, :m], cells.counts
start = time.perf_counter()
shares = [[np.bincount(map_)[map_] / len(tree.leaves) for map_ in tree.maps] for tree in trees]
best = np.inf
nodes = 0
for node in itertools.product(*(range(tree.height + 1) for tree in trees)):
    nodes += 1
    key = np.zeros(len(codes), dtype=np.int64)
    for a, level in enumerate(node):
        key = key * len(trees[a].labels[level]) + trees[a].maps[level][codes[:, a]]
    _, inverse = np.unique(key, return_inverse=True)
    sizes = np.bincount(inverse, weights=counts)
    small = (sizes < 5)[inverse]
    if counts[small].sum() > limit:
        continue
    product = 1.0
    for a, level in enumerate(node):
        mean = (np.where(small, 1.0, shares[a][level][codes[:, a]]) * counts).sum() / people
        leaf = 1 / len(trees[a].leaves)
        product *= 1 + (mean - leaf) / (1 - leaf)
    best = min(best, product ** (1 / m) - 1)
_report(time.perf_counter() - start, nodes=nodes, cost=float(best))
"""


def pycanon_python() -> str:
    """The interpreter of pyCANON's own environment, made beside ours on first use: its pins are not ours."""
    folder = Path(sys.prefix) / "pycanon"
    python = folder / "bin" / "python"
    if not python.exists():
        subprocess.run([sys.executable, "-m", "venv", str(folder)], check=True)
        subprocess.run([str(python), "-m", "pip", "install", "--quiet", PYCANON], check=True)
    return str(python)


def check_against_pycanon(data: Path, folder: Path) -> None:
    table = data / "adult" / "adult.csv"
    ours = [once(_OURS, arguments=(str(table), str(data))) for _ in range(3)]
    ours_best = sorted(ours, key=lambda result: result.seconds)[1]
    theirs = once(_THEIRS, python=pycanon_python(), arguments=(str(table),))
    _compare(f"All levels of `check` on Adult, file to numbers, against {PYCANON}", ours_best, theirs, "≥ 200", "")
    large = folder / "adult.csv"
    header, *rows = table.read_text().splitlines(keepends=True)
    with large.open("w") as file:
        file.write(header)
        for _ in range(REPEATED):
            file.writelines(rows)
    ours_large = once(_OURS, arguments=(str(large), str(data)))
    try:
        theirs_large = once(_THEIRS, python=pycanon_python(), arguments=(str(large),), timeout=LONGEST)
    except subprocess.TimeoutExpired:
        heading(f"The same on {len(rows) * REPEATED:,} rows")
        least = LONGEST / ours_large.seconds
        line("pyCANON's time / ours, at least", f"{least:.0f}", "≥ 100", f"ours {ours_large.seconds:.2f} s; called off")
        # The largest of all processes run here is pyCANON's if it is larger than ours.
        largest = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1024
        memory = f"{largest:.0f} MB, {ours_large.megabytes:.0f} MB"
        line("pyCANON's peak memory / ours, by then", f"{largest / ours_large.megabytes:.2f}", "> 1", memory)
        return
    _compare(f"The same on {len(rows) * REPEATED:,} rows", ours_large, theirs_large, "≥ 100", "> 1")


def _compare(title: str, ours: Result, theirs: Result, target: str, memory_target: str) -> None:
    if abs(float(str(ours.extra["t"])) - float(str(theirs.extra["t"]))) > 1e-9 or ours.extra["k"] != theirs.extra["k"]:
        raise RuntimeError(f"the contenders disagree: {ours} {theirs}")
    heading(title)
    ratio = theirs.seconds / ours.seconds
    line("pyCANON's time / ours", f"{ratio:.0f}", target, f"{theirs.seconds:.1f} s, {ours.seconds:.3f} s")
    memory = theirs.megabytes / ours.megabytes
    line(
        "pyCANON's peak memory / ours",
        f"{memory:.2f}",
        memory_target,
        f"{theirs.megabytes:.0f} MB, {ours.megabytes:.0f} MB",
    )


def search(data: Path) -> None:
    for suppression, arx in (("0", "0.05 s, 122 nodes"), ("0.02", "0.4 s, 538 nodes")):
        arguments = (str(data), suppression)
        ours = compare({"ours": _SEARCH}, rounds=3, arguments=arguments)["ours"]
        theirs = once(_RECOUNT, arguments=arguments)
        if abs(float(str(ours.extra["cost"])) - float(str(theirs.extra["cost"]))) > 1e-9:
            raise RuntimeError(f"the contenders disagree: {ours} {theirs}")
        heading(f"Lattice search on Adult, eight quasi-identifiers, k = 5, {float(suppression):.0%} suppression")
        detail = f"{ours.seconds:.4f} s, {ours.extra['checked']} of {theirs.extra['nodes']} nodes checked"
        line("recounting every node in NumPy / ours", f"{theirs.seconds / ours.seconds:.0f}", "≥ 50", detail)
        line("ARX as measured before, warm", arx)


def run() -> None:
    data = Path(os.environ.get("DALENIUS_DATA", "../shared/data"))
    if not (data / "adult" / "adult.csv").is_file():
        print(f"\nSkipped: $DALENIUS_DATA ({data}) holds no adult/adult.csv.")
        return
    search(data)
    with tempfile.TemporaryDirectory() as folder:
        check_against_pycanon(data, Path(folder))
