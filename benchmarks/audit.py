"""An audit of another tool's release of Adult, with the share of each stage."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from harness import heading, line, once

_AUDIT = """
import sys
import dalenius as dl
from dalenius.auditing import audit
from dalenius.reports import html
data = sys.argv[1]
schema = dl.datasets.adult(data).declared
marks = []
def progress(stage):
    marks.append((stage, time.perf_counter()))
start = time.perf_counter()
found = audit(
    f"{data}/releases/arx_adult_k5.csv", schema, truth=f"{data}/adult/adult.csv", progress=progress
)
progress("report")
page = html.page(found, {})
progress("end")
stages = {}
for (stage, begun), (_, ended) in zip(marks, marks[1:]):
    stages[stage] = stages.get(stage, 0) + ended - begun
_report(time.perf_counter() - start, stages=stages, bytes=len(page.encode()))
"""


def run() -> None:
    data = Path(os.environ.get("DALENIUS_DATA", "../shared/data")).resolve()
    if not (data / "releases" / "arx_adult_k5.csv").is_file():
        print(f"\nSkipped: $DALENIUS_DATA ({data}) holds no releases/arx_adult_k5.csv.")
        return
    with tempfile.TemporaryDirectory() as folder:
        start = time.perf_counter()
        demo = "import sys; sys.argv = ['dalenius', 'demo']; from dalenius.cli import main; main()"
        subprocess.run([sys.executable, "-c", demo], cwd=folder, check=True, capture_output=True)
        heading("The bundled demo: made, published, attacked, reported")
        line("seconds, from start to end", f"{time.perf_counter() - start:.1f}", "seconds")
    found = once(_AUDIT, arguments=(str(data),))
    heading("Audit of ARX's release of Adult (30,162 people) with the truth, file to HTML report")
    line("seconds", f"{found.seconds:.1f}", "about 60")
    line("peak memory, MB", f"{found.megabytes:.0f}", "< 1000", f"report {found.extra['bytes'] / 1024:.0f} KiB")
    stages = found.extra["stages"]
    assert isinstance(stages, dict)
    for stage, seconds in stages.items():
        line(f"  {stage}", f"{seconds / found.seconds:.0%}", "", f"{seconds:.2f} s")
