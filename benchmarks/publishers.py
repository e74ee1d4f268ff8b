"""Mondrian against a plain recursion, and what a million rows take; MDAV on Adult; Anatomy of three million rows."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path

from harness import Result, heading, line, once

_MONDRIAN = """
import sys
import dalenius as dl
from dalenius.criteria import KAnonymity
from dalenius.publishers.mondrian import Mondrian
table = dl.datasets.adult(sys.argv[1])
table.cells()
Mondrian([KAnonymity(5)]).publish(table)  # compiled code is loaded once
times = []
for _ in range(9):
    start = time.perf_counter()
    published = Mondrian([KAnonymity(5)]).publish(table)
    times.append(time.perf_counter() - start)
_report(sorted(times)[4], classes=published.parts)
"""

# Strict Mondrian as one would write it: rows as tuples of positions, a recursion, a sort for each cut.
_RECURSION = """
import sys
import dalenius as dl
from dalenius.publishers.mondrian import positions
sys.setrecursionlimit(100_000)
table = dl.datasets.adult(sys.argv[1])
cells = table.cells()
quasi = cells.schema.quasi
place = [positions(column).tolist() for column in quasi]
rows = []
for codes, count in zip(cells.codes[:, :len(quasi)].tolist(), cells.counts.tolist()):
    rows += [tuple(place[a][code] for a, code in enumerate(codes))] * count
m, k = len(quasi), 5
span = [max(max(row[a] for row in rows) - min(row[a] for row in rows), 1) for a in range(m)]
start = time.perf_counter()
def cut(part):
    widths = []
    for a in range(m):
        values = [row[a] for row in part]
        widths.append(-(max(values) - min(values)) / span[a])
    for a in sorted(range(m), key=widths.__getitem__):
        if not widths[a]:
            break
        values = sorted(row[a] for row in part)
        best, where, n = None, None, len(values)
        for i in range(n - 1):
            if values[i] != values[i + 1] and (best is None or abs(2 * (i + 1) - n) < best):
                best, where = abs(2 * (i + 1) - n), values[i]
        left = [row for row in part if row[a] <= where]
        right = [row for row in part if row[a] > where]
        if len(left) >= k and len(right) >= k:
            return cut(left) + cut(right)
    return [part]
parts = cut(rows)
_report(time.perf_counter() - start, classes=len(parts))
"""

_LARGE = """
import sys
from pathlib import Path
import duckdb, numpy as np, pyarrow as pa
people, folder = int(sys.argv[2]), Path(sys.argv[1])
rng = np.random.default_rng(1)
drawn = pa.table({"age": rng.integers(0, 100, people), "zip": rng.integers(0, 1000, people), "sex": rng.integers(0, 2, people),
                  "job": rng.integers(0, 14, people), "ill": np.minimum(rng.geometric(0.2, people), 12)})
duckdb.sql(f"copy (from drawn) to '{folder / (sys.argv[2] + '.csv')}' (header)")
(folder / "privacy.toml").write_text('sensitive = "ill"\\n' + "".join(
    f'[columns.{name}]\\nrole = "quasi"\\ntype = "integer"\\ndomain = {{ min = 0, max = {most} }}\\n'
    for name, most in (("age", 99), ("zip", 999), ("sex", 1), ("job", 13))))
_report(0.0)
"""

_PUBLISH = """
import sys
from pathlib import Path
import dalenius as dl
from dalenius.criteria import KAnonymity
from dalenius.engines import default
from dalenius.publishers.anatomy import Anatomy
from dalenius.publishers.mondrian import Mondrian
folder, method = Path(sys.argv[1]), sys.argv[3]
publisher = {"mondrian": Mondrian([KAnonymity(5)]), "anatomy": Anatomy(4)}[method]
small = dl.datasets.hospital(500, seed=1)
(publisher.publish(small)).release  # compiled code is loaded once
default()
table = dl.Table(folder / (sys.argv[2] + ".csv"), folder / "privacy.toml")
start = time.perf_counter()
table.cells()
scan = time.perf_counter()
published = publisher.publish(table)
made = time.perf_counter()
published.write(folder / method)
_report(time.perf_counter() - start, scan=scan - start, made=made - scan)
"""

_MDAV = """
import sys
import dalenius as dl
from dalenius.publishers.microaggregation import Microaggregation
table = dl.datasets.adult(sys.argv[1])
table.cells()
Microaggregation(5).publish(dl.datasets.hospital(100, seed=1))  # compiled code is loaded once
block = int(sys.argv[2]) or None
start = time.perf_counter()
published = Microaggregation(5, block=block).publish(table)
_report(time.perf_counter() - start, groups=published.groups)
"""


def run() -> None:
    data = Path(os.environ.get("DALENIUS_DATA", "../shared/data"))
    if not (data / "adult" / "adult.csv").is_file():
        print(f"\nSkipped: $DALENIUS_DATA ({data}) holds no adult/adult.csv.")
        return
    ours, theirs = (once(code, arguments=(str(data),)) for code in (_MONDRIAN, _RECURSION))
    if ours.extra["classes"] != theirs.extra["classes"]:
        raise RuntimeError(f"the contenders disagree: {ours} {theirs}")
    heading("Mondrian on Adult, eight quasi-identifiers, k = 5")
    detail = f"{theirs.seconds:.2f} s, {ours.seconds * 1000:.0f} ms, {ours.extra['classes']} classes"
    line("a plain recursion / ours", f"{theirs.seconds / ours.seconds:.0f}", "≥ 10", detail)
    heading("MDAV on Adult, 30,162 rows, k = 5")
    for name, block in (("all rows", 0), ("blocks of 5,000", 5000)):
        found = once(_MDAV, arguments=(str(data), str(block)))
        line(name, f"{found.seconds:.1f} s", "a few" if not block else "", f"{found.extra['groups']} groups")
    with tempfile.TemporaryDirectory() as folder:
        for method, people in (("mondrian", 1_000_000), ("anatomy", 3_000_000)):
            once(_LARGE, arguments=(folder, str(people)))
            _large(method, people, once(_PUBLISH, arguments=(folder, str(people), method)))


def _large(method: str, people: int, found: Result) -> None:
    heading(f"{method.capitalize()} of {people:,} rows, CSV to CSV")
    scan, made = float(str(found.extra["scan"])), float(str(found.extra["made"]))
    written = found.seconds - scan - made
    detail = f"scan {scan:.2f} s, publish {made:.2f} s, write {written:.2f} s; {found.megabytes:.0f} MB"
    line("in all", f"{found.seconds:.1f} s", "a few", detail)
