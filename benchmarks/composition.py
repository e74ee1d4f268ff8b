"""The intersection attack: a million people against two releases of Adult, and anonypyx's IntersectionAttacker on a few."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from pathlib import Path

from harness import heading, line, once

ANONYPYX = "anonypyx==0.2.11"
PEOPLE = 1_000_000
FEW = 30  # targets that anonypyx is given

# Two Mondrian releases with k = 5 of overlapping halves of Adult, as files of ours and as anonypyx wants them: a column for
# each end of an interval, and for each category. The targets are people of both; the million have other ages, so that
# they are not a few thousand over and over.
_PREPARE = """
import csv, json, sys
from pathlib import Path
import numpy as np
from dalenius.criteria import KAnonymity
from dalenius.papers.composition_experiments import overlapping
from dalenius.publishers.mondrian import Mondrian
data, folder, people, few = sys.argv[1], Path(sys.argv[2]), int(sys.argv[3]), int(sys.argv[4])
found = overlapping(data)
schema = found.tables[0].schema
names = [column.name for column in schema.quasi]
def save(name, columns):
    with (folder / name).open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(columns)
        writer.writerows(zip(*(np.asarray(column).tolist() for column in columns.values())))
def machine(codes, sets):
    columns = {}
    for a, column in enumerate(schema.quasi):
        if column.type == "integer":
            for end, name in ((0, "_min"), (-1, "_max")):
                columns[column.name + name] = np.array([int(column.leaves[m[end]]) for m in sets[a]])[codes[:, a]]
        else:
            for leaf, text in enumerate(column.leaves):
                columns[f"{column.name}_{text}"] = np.array([int(leaf in m) for m in sets[a]])[codes[:, a]]
    return columns
for j, table in enumerate(found.tables):
    release = Mondrian([KAnonymity(5)]).publish(table).release
    release.write(folder / f"release{j}.csv")
    cells = release.sensitive
    boxes = machine(release.codes[cells.group], [[label.members for label in labels] for labels in release.labels])
    value = np.array(schema.sensitive[0].leaves)[cells.codes[:, 0]]
    save(f"machine{j}.csv", {**boxes, "occupation": value, "count": cells.counts})
rng = np.random.default_rng(1)
m = len(names)
many = found.overlap[rng.integers(0, len(found.overlap), people), :m].copy()
age = names.index("age")
many[:, age] = rng.integers(0, len(schema.quasi[age].leaves), people)
for name, codes in (("many.csv", many), ("few.csv", found.overlap[:few, :m])):
    save(name, {n: np.array(c.leaves)[codes[:, a]] for a, (n, c) in enumerate(zip(names, schema.quasi))})
single = [[[leaf] for leaf in range(len(column.leaves))] for column in schema.quasi]
save("known.csv", {"ID": np.arange(few), **machine(found.overlap[:few, :m], single)})
(folder / "columns.json").write_text(json.dumps({c.name: [c.type, list(c.leaves)] for c in schema.quasi}))
text = 'sensitive = "occupation"\\n'
for column in schema.coded:
    text += f'[columns.{column.name}]\\nrole = "{column.role}"\\ndomain = {json.dumps(list(column.leaves))}\\n'
    text += 'type = "integer"\\n' if column.type == "integer" else ""
(folder / "privacy.toml").write_text(text, encoding="utf-8")
_report(0.0)
"""

_OURS = """
import sys
from pathlib import Path
from dalenius import engines as engine
from dalenius.auditing.compose import open_releases
from dalenius.auditing.compose_figures import figures
from dalenius.schema import Schema
folder = Path(sys.argv[1])
schema, here = Schema.load(folder / "privacy.toml"), engine.default()
releases = [folder / "release0.csv", folder / "release1.csv"]
open_releases(releases, [schema], folder / "few.csv", engine=here).intersect()  # compiled before the clock starts
start = time.perf_counter()
opened = open_releases(releases, [schema], folder / sys.argv[2], engine=here)
read = time.perf_counter()
found = opened.intersect()
told = figures(found, found, opened.suppressed_share)
end = time.perf_counter()
sizes = found.posterior.tolist() if len(found.posterior) < 1000 else []
_report(end - read, read=read - start, sizes=sizes, certain=told["PVP"]["100"], words=int(found.left.nbytes))
"""

_THEIRS = """
import json, sys
from pathlib import Path
import pandas as pd
from anonypyx.attackers import IntersectionAttacker
from anonypyx.generalisation import MachineReadable
folder = Path(sys.argv[1])
columns = json.loads((folder / "columns.json").read_text())
hot = {name: [f"{name}_{leaf}" for leaf in leaves] for name, (kind, leaves) in columns.items() if kind != "integer"}
ends = {name: (f"{name}_min", f"{name}_max") for name, (kind, _) in columns.items() if kind == "integer"}
schema = MachineReadable(hot, ends, ["occupation"])
releases = [pd.read_csv(folder / f"machine{j}.csv") for j in range(2)]
known = pd.read_csv(folder / "known.csv")
start = time.perf_counter()
attacker = IntersectionAttacker(known, list(columns), "occupation", schema)
for release in releases:
    attacker.observe(release, [*columns, "occupation"], list(range(len(known))))
sizes = [len(attacker.predict(i, "occupation")) for i in range(len(known))]
_report((time.perf_counter() - start) / len(known), sizes=sizes)
"""


def anonypyx_python() -> str:
    """The interpreter of anonypyx' own environment, made beside ours on first use: its pins are not ours."""
    folder = Path(sys.prefix) / "anonypyx"
    python = folder / "bin" / "python"
    if not python.exists():
        subprocess.run([sys.executable, "-m", "venv", str(folder)], check=True)
        subprocess.run([str(python), "-m", "pip", "install", "--quiet", ANONYPYX], check=True)
    return str(python)


def run() -> None:
    data = Path(os.environ.get("DALENIUS_DATA", "../shared/data"))
    if not (data / "adult" / "adult.csv").is_file():
        print(f"\nSkipped: {data} holds no Adult.")
        return
    with tempfile.TemporaryDirectory() as folder:
        once(_PREPARE, arguments=(str(data), folder, str(PEOPLE), str(FEW)))
        few = once(_OURS, arguments=(folder, "few.csv"))
        theirs = once(_THEIRS, python=anonypyx_python(), arguments=(folder,), timeout=900)
        if few.extra["sizes"] != theirs.extra["sizes"]:
            raise RuntimeError("the contenders leave different numbers of values")
        ours = once(_OURS, arguments=(folder, "many.csv"))
    heading(f"Intersection attack on two releases of Adult (Mondrian, k = 5): {PEOPLE:,} people")
    ratio = theirs.seconds / (ours.seconds / PEOPLE)
    read, words = float(str(ours.extra["read"])), int(str(ours.extra["words"]))
    told = f"{ours.seconds:.1f} s, and {read:.1f} s to read; sets {words / 2**20:.0f} MiB"
    line("anonypyx / ours, per target", f"{ratio:,.0f}", "≥ 500", told)
    line("…, with reading all files", f"{theirs.seconds / ((ours.seconds + read) / PEOPLE):,.0f}", "", "")
    line("anonypyx, per target", f"{theirs.seconds * 1000:.0f} ms", "", f"of {FEW}, the same sizes as ours")
