"""Cells against the bare query and against pandas; memory that does not grow with rows; the price of an import."""

from __future__ import annotations

import subprocess
import sys
import tempfile
import time
from pathlib import Path

from harness import compare, heading, line, once

ROWS = 3_000_000

_GENERATE = """
import sys
import numpy as np, pyarrow as pa, pyarrow.csv as pc, pyarrow.parquet as pq
path, rows, kind = sys.argv[1], int(sys.argv[2]), sys.argv[3]
rng = np.random.default_rng(0)
# Skewed, with 100,000 distinct rows however many rows there are.
def batch(n):
    cell = (rng.random(n) ** 3 * 100_000).astype(np.int64) * 2654435761 % 504_576
    part = {}
    for name, size in (("age", 73), ("sex", 2), ("zip", 24), ("nationality", 12), ("disease", 12)):
        cell, code = np.divmod(cell, size)
        texts = {"age": [f"{i + 17}" for i in range(size)], "zip": [f"{i + 2100:05}" for i in range(size)]}
        names = pa.array(texts.get(name, [f"{name}{i}" for i in range(size)]))
        part[name] = pa.DictionaryArray.from_arrays(pa.array(code.astype(np.int32)), names).cast(pa.string())
    return pa.table(part)
writer = None
for start in range(0, rows, 1_000_000):
    table = batch(min(1_000_000, rows - start))
    if writer is None:
        writer = pc.CSVWriter(path, table.schema) if kind == "csv" else pq.ParquetWriter(path, table.schema)
    writer.write_table(table)
writer.close()
"""

_OURS = """
import sys
import dalenius as dl
from dalenius.engines import default
default()
quasi = [dl.Column(name, "quasi") for name in ("age", "sex", "zip", "nationality")]
schema = dl.Schema([*quasi, dl.Column("disease", "sensitive")])
start = time.perf_counter()
cells = dl.Table(sys.argv[1], schema).cells()
_report(time.perf_counter() - start, cells=len(cells))
"""

_BARE = """
import sys
import duckdb, pyarrow
con = duckdb.connect()
start = time.perf_counter()
source = f"read_csv('{sys.argv[1]}', all_varchar = true)"
result = con.sql(f"SELECT age, sex, zip, nationality, disease, count(*) FROM {source} GROUP BY ALL").to_arrow_table()
_report(time.perf_counter() - start, cells=result.num_rows)
"""

_PANDAS = """
import sys
import pandas as pd
start = time.perf_counter()
frame = pd.read_csv(sys.argv[1], dtype=str, keep_default_na=False)
cells = frame.groupby(list(frame.columns), observed=True, sort=False).size()
_report(time.perf_counter() - start, cells=len(cells))
"""


def generate(path: Path, rows: int, kind: str) -> None:
    subprocess.run([sys.executable, "-c", _GENERATE, str(path), str(rows), kind], check=True)


def cells(folder: Path) -> None:
    path = folder / "people.csv"
    generate(path, ROWS, "csv")
    found = compare({"ours": _OURS, "bare": _BARE, "pandas": _PANDAS}, rounds=5, arguments=(str(path),))
    ours, bare, pandas = found["ours"], found["bare"], found["pandas"]
    if not ours.extra == bare.extra == pandas.extra:
        raise RuntimeError(f"the contenders disagree: {found}")
    heading(f"Cells of a CSV of {ROWS:,} rows, 5 columns, {ours.extra['cells']:,} distinct")
    line("time / bare DuckDB query", f"{ours.seconds / bare.seconds:.2f}", "≤ 1.3", f"{ours.seconds:.2f} s")
    line(
        "peak memory / bare DuckDB query", f"{ours.megabytes / bare.megabytes:.2f}", "≤ 1.5", f"{ours.megabytes:.0f} MB"
    )
    line("pandas' time / ours", f"{pandas.seconds / ours.seconds:.1f}", "", f"{pandas.seconds:.2f} s")
    line("pandas' memory / ours", f"{pandas.megabytes / ours.megabytes:.1f}", "", f"{pandas.megabytes:.0f} MB")


def memory(folder: Path) -> None:
    peaks = {}
    for rows in (ROWS, 10 * ROWS):
        path = folder / f"people-{rows}.parquet"
        generate(path, rows, "parquet")
        peaks[rows] = once(_OURS, arguments=(str(path),))
    heading("Cells of a Parquet file, peak memory as rows grow and distinct cells stay")
    small, large = peaks[ROWS], peaks[10 * ROWS]
    line(
        f"memory at {10 * ROWS:,} rows / at {ROWS:,}",
        f"{large.megabytes / small.megabytes:.2f}",
        "≤ 1.6",
        f"{large.megabytes:.0f} MB, {large.extra['cells']:,} and {small.extra['cells']:,} cells",
    )
    line("time, likewise", f"{large.seconds / small.seconds:.1f}", "", f"{large.seconds:.2f} s")


def start_up() -> None:
    def fastest(*command: str) -> float:
        times = []
        for _ in range(15):
            start = time.perf_counter()
            subprocess.run([sys.executable, *command], check=True, capture_output=True)
            times.append(time.perf_counter() - start)
        return sorted(times)[len(times) // 2]

    bare = fastest("-c", "pass")
    imported = fastest("-c", "import dalenius")
    version = fastest("-c", "import sys; sys.argv = ['dalenius', '--version']; from dalenius.cli import main; main()")
    heading("Start-up against bare Python")
    line("python -c 'import dalenius' / python -c pass", f"{imported / bare:.2f}", "", f"{imported * 1000:.0f} ms")
    line("dalenius --version / python -c pass", f"{version / bare:.2f}", "", f"{version * 1000:.0f} ms")


def run() -> None:
    with tempfile.TemporaryDirectory() as folder:
        start_up()
        cells(Path(folder))
        memory(Path(folder))
