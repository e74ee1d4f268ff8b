"""Engines: the scan grows with rows and nothing else does; what Spark and PostgreSQL cost beside DuckDB; a large audit."""

from __future__ import annotations

import io
import os
import sys
import tempfile
from pathlib import Path

from harness import Result, heading, line, once
from spine import generate

SIZES = (3_000_000, 30_000_000, 300_000_000)
SCHEMA = """
[columns.age]
role = "quasi"
type = "integer"
domain = { min = 17, max = 89 }
intervals = [5, 10, 20]
[columns.sex]
role = "quasi"
hierarchy = "suppress"
[columns.zip]
role = "quasi"
hierarchy = "suppress"
[columns.nationality]
role = "quasi"
hierarchy = "suppress"
[columns.disease]
role = "sensitive"
"""

_CELLS = """
import sys
import dalenius as dl
from dalenius.engines import connect
engine = connect(sys.argv[3])
start = time.perf_counter()
table = dl.Table(sys.argv[1], sys.argv[2], engine=engine)
cells = table.cells()
scan = time.perf_counter() - start
from dalenius.criteria import DistinctDiversity, KAnonymity
from dalenius.publishers.lattice import Lattice
publisher = Lattice([KAnonymity(50), DistinctDiversity(4)], suppression=0.02)
publisher.publish(table)  # compiles
start = time.perf_counter()
found = publisher.publish(table)
_report(scan, search=time.perf_counter() - start, cells=len(cells), people=cells.people)
"""

_PUBLISH = """
import sys
import dalenius as dl
from dalenius.engines import connect
from dalenius.criteria import KAnonymity
from dalenius.publishers.lattice import Lattice
engine = connect(sys.argv[3])
start = time.perf_counter()
published = Lattice([KAnonymity(50)], suppression=0.02).publish(dl.Table(sys.argv[1], sys.argv[2], engine=engine))
made = time.perf_counter() - start
start = time.perf_counter()
published.write(sys.argv[4])
_report(time.perf_counter() - start, made=made)
"""

_AUDIT = """
import sys
import dalenius as dl
from dalenius.auditing import audit
start = time.perf_counter()
found = audit(sys.argv[1], dl.Schema.load(sys.argv[2]), truth=sys.argv[3])
_report(time.perf_counter() - start, attacks=len(found.attacks), classes=found.release.groups)
"""


def run() -> None:
    with tempfile.TemporaryDirectory() as folder:
        schema = Path(folder) / "privacy.toml"
        schema.write_text(SCHEMA, encoding="utf-8")
        found: dict[int, Result] = {}
        heading("Cells of 100,000 distinct rows from Parquet on DuckDB, and a search of the lattice after it")
        tables = {}
        for rows in SIZES:
            tables[rows] = Path(folder) / f"people-{rows}.parquet"
            generate(tables[rows], rows, "parquet")
            found[rows] = once(_CELLS, arguments=(str(tables[rows]), str(schema), "duckdb://"))
            _scaling(rows, found[rows], found[SIZES[0]])
            if rows == SIZES[-1]:
                tables[rows].unlink()
        middle = SIZES[1]
        heading(f"{middle:,} rows on other engines, time of the scan against DuckDB")
        spark = once(_CELLS, arguments=(str(tables[middle]), str(schema), "local-cluster[2,1,1024]"), timeout=900)
        line("Spark, a local cluster of two workers", f"{spark.seconds / found[middle].seconds:.1f}", "",
             f"{spark.seconds:.1f} s, driver {spark.megabytes:.0f} MB")  # fmt: skip
        heading(f"A lattice release of {middle:,} people: written, and audited with every count-based adversary")
        release = Path(folder) / "release.parquet"
        written = once(_PUBLISH, arguments=(str(tables[middle]), str(schema), "duckdb://", str(release)))
        line("writing the release, against one scan", f"{written.seconds / found[middle].seconds:.1f}", "",
             f"{written.seconds:.1f} s, {written.megabytes:.0f} MB; cells and search {written.extra['made']:.1f} s")  # fmt: skip
        audited = once(_AUDIT, arguments=(str(release), str(schema), str(tables[middle])))
        line("audit with the table, against one scan", f"{audited.seconds / found[middle].seconds:.1f}", "",
             f"{audited.seconds:.1f} s, {audited.megabytes:.0f} MB, {audited.extra['classes']:,} classes")  # fmt: skip
        _postgres(tables[SIZES[0]], schema, found[SIZES[0]])


def _scaling(rows: int, found: Result, first: Result) -> None:
    per_row = (found.seconds / rows) / (first.seconds / SIZES[0])
    line(
        f"{rows:,} rows",
        f"{per_row:.2f}",
        "≤ about 1",
        f"time a row against the first; {found.seconds:.1f} s, {found.megabytes:.0f} MB",
    )
    search = float(str(found.extra["search"])) / float(str(first.extra["search"]))
    line("  the search after it", f"{search:.2f}", "about 1", f"{float(str(found.extra['search'])):.2f} s")


def _postgres(table: Path, schema: Path, duckdb: Result) -> None:
    """The same people in a server of our own, loaded by COPY."""
    sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
    import psycopg
    import pyarrow.parquet as pq
    from pyarrow import csv
    from tests.engines.servers import SECRET, postgres_server

    os.environ["PGPASSWORD"] = SECRET
    with postgres_server() as url:
        with psycopg.connect(url, autocommit=True) as connection, connection.cursor() as cursor:
            cursor.execute(
                "CREATE UNLOGGED TABLE people (age text, sex text, zip text, nationality text, disease text)"
            )
            with cursor.copy("COPY people FROM STDIN (FORMAT csv)") as copy:
                for batch in pq.ParquetFile(table).iter_batches(1_000_000):
                    lines = io.BytesIO()
                    csv.write_csv(batch, lines, csv.WriteOptions(include_header=False))
                    copy.write(lines.getvalue())
            cursor.execute("ANALYZE people")
        found = once(_CELLS, arguments=("people", str(schema), url))
        line(f"PostgreSQL, {SIZES[0]:,} rows, the scan against DuckDB's", f"{found.seconds / duckdb.seconds:.1f}", "",
             f"{found.seconds:.1f} s, {found.megabytes:.0f} MB")  # fmt: skip
