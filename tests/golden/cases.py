"""Made-up tables and the commands to run on them: what they print and write must not change by accident.

Only the standard library and the command line are used, so that the same cases run on an older revision (`make same`).
A case is a folder of files and a list of commands. Each command leaves its exit code, what it printed, and what it wrote.
"""

from __future__ import annotations

import contextlib
import io
import json
import os
import random
import re
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

Step = dict[str, Any]
CITIES = ("Oslo", "Bergen", "Hamar", "Moss")
DISEASES = ("Flu", "Gout", "Pox", "Ache", "Cold")
LEFT_OUT = ("run", "seconds", "sha256", "dalenius")  # of JSON: they differ between equal runs, or between revisions
NUMBER = re.compile(r"\d+(?:\.\d+)?(?: ms| s| seconds)\b")


@dataclass(frozen=True)
class Case:
    """Files by name, and commands as they are typed."""

    files: dict[str, str]
    commands: list[list[str]]


def case(seed: int) -> Case:
    """One of many: which commands it has goes round, what is in the table is drawn."""
    rng = random.Random(seed)
    several = rng.random() < 0.2
    missing = 0.1 if rng.random() < 0.3 else 0.0
    n = rng.randint(30, 120)
    files = {
        "t.csv": _table(rng, n, several, missing),
        "others.csv": _table(rng, n, several, missing),
        "p.toml": _schema(several, rng),
        "people.csv": _people(rng),
    }
    ways = [_release, _classes, _anatomy, _microaggregation, _counts, _choice, _several, _odd]
    return Case(files, [[*command] for command in ways[seed % len(ways)](rng, several)])


Commands = Iterator[list[str]]


def _release(rng: random.Random, several: bool) -> Commands:
    k = rng.choice([2, 3, 5])
    yield ["init", "t.csv", "-o", "guessed.toml"]
    lattice = ["--k", str(k), "--suppression", rng.choice(["0", "0.1"]), "--schema", "p.toml"]
    yield ["publish", "t.csv", *lattice, "-o", "r.csv", "--json", "published.json"]
    yield ["check", "r.csv", "--schema", "p.toml", "--json", "checked.json"]
    yield ["lattice", "t.csv", *lattice, "-o", "nodes.html", "--json", "lattice.json"]
    yield from _audits("r.csv")
    attack = ["attack", "r.csv", "--targets", "people.csv", "-o", "beliefs.csv", "--schema", "p.toml", *_one(several)]
    yield [*attack, "--truth", "t.csv", "--json", "attacked.json", "--mcse", "0.05"]


def _classes(rng: random.Random, several: bool) -> Commands:
    criteria = rng.choice([["--l", "2"], ["--t", "0.4"], ["--entropy-l", "1.5"], ["--beta", "3"], ["--alpha", "0.8"]])
    yield ["publish", "t.csv", "--method", "mondrian", "--k", "3", *criteria, "-o", "r.csv", "--schema", "p.toml"]
    yield ["check", "r.csv", "--schema", "p.toml", "--adversary", "I:table:50", "--json", "checked.json"]
    yield from _audits("r.csv")
    attack = ["attack", "r.csv", "--adversary", "random-worlds", "--truth", "t.csv", "--holdout", "others.csv"]
    yield [*attack, "--schema", "p.toml", *_one(several), "--json", "attacked.json"]


def _anatomy(rng: random.Random, several: bool) -> Commands:
    yield ["publish", "t.csv", "--method", "anatomy", "--l", "2", "-o", "a", "--schema", "p.toml", "--seed", "1"]
    yield ["check", "a", "--schema", "p.toml", "--json", "checked.json"]
    yield from _audits("a")
    name = rng.choice(["definetti-majority", "random-worlds", "attacker"])
    attack = ["attack", "a", "--adversary", name, "--truth", "t.csv", "--holdout", "others.csv", "--schema", "p.toml"]
    yield [*attack, *_one(several), "--json", "attacked.json", *([] if name == "random-worlds" else ["--mcse", "0.1"])]


def _microaggregation(rng: random.Random, _several: bool) -> Commands:
    shown = rng.choice(["ranges", "centroids"])
    common = ["--method", "microaggregation", "--k", "3", "--shown", shown, "--schema", "p.toml"]
    yield ["publish", "t.csv", *common, "-o", "r.csv", "--json", "published.json"]
    yield ["check", "r.csv", "--schema", "p.toml", "--json", "checked.json"]
    yield from _audits("r.csv")


def _counts(rng: random.Random, several: bool) -> Commands:
    common = ["--schema", "p.toml", "--seed", str(rng.randint(0, 9)), "-q"]
    grid = ["--method", "noisy-counts", "--epsilons", "0.5,5", "--draws", "2", "--share", "0.3"]
    yield ["frontier", "t.csv", *grid, *common, "-o", "page.html", "--json", "frontier.json"]
    yield ["guide", "--all", "--json", "guide.json"]
    yield ["channel", "--release", "t.csv", "--schema", "p.toml", *_one(several), "--json", "channel.json"]


def _choice(rng: random.Random, _several: bool) -> Commands:
    grid = ["--method", "lattice", "--method", "mondrian", "--k", "2,4", "--fresh", "--jobs", "1"]
    risk = rng.choice(["attacker", "random-worlds", "closeness", "perfect-breach"])
    yield [
        "frontier",
        "t.csv",
        *grid,
        "--risk",
        risk,
        "--schema",
        "p.toml",
        "-o",
        "page.html",
        "--json",
        "frontier.json",
    ]
    audit = ["audit", "t.csv", "--method", "lattice", "--k", "3", "--holdout", "others.csv", "--schema", "p.toml"]
    yield [*audit, "--json", "audit.json"]


def _several(rng: random.Random, several: bool) -> Commands:
    yield ["publish", "t.csv", "--k", "2", "-o", "r.csv", "--schema", "p.toml", "-q"]
    mondrian = ["--method", "mondrian", "--k", "2", "-o", "s.csv"]
    given = [] if several or rng.random() < 0.5 else ["--l", "2", "--given", "r.csv"]
    yield ["publish", "t.csv", *mondrian, *given, "--schema", "p.toml", "-q"]
    compose = ["compose", "r.csv", "s.csv", "--targets", "people.csv", "--schema", "p.toml", *_one(several)]
    yield [*compose, "-o", "rows.csv", "--json", "composed.json"]
    yield ["compare", "r.csv", "s.csv", "--truth", "t.csv", "--schema", "p.toml", "--json", "compared.json"]


def _odd(rng: random.Random, _several: bool) -> Commands:
    """What is refused: the message and the exit code stay, too."""
    yield ["check", "nowhere.csv", "--schema", "p.toml"]
    yield ["publish", "t.csv", "--k", "1", "-o", "r.csv", "--schema", "p.toml"]
    yield ["publish", "t.csv", "--method", rng.choice(["anatomi", "mondrain"]), "-o", "r.csv", "--schema", "p.toml"]
    yield ["audit", "t.csv", "--holdout", "others.csv", "--schema", "p.toml"]
    yield ["attack", "t.csv", "--schema", "p.toml"]
    yield ["compose", "t.csv", "--targets", "people.csv", "--schema", "p.toml"]
    yield ["split", "t.csv", "--share", "1.5", "-o", "a.csv", "--others", "b.csv"]
    yield ["frontier", "t.csv", "--risk", "none", "--schema", "p.toml"]
    yield ["split", "t.csv", "--share", "0.3", "--seed", str(rng.randint(0, 99)), "-o", "a.csv", "--others", "b.csv"]


def _audits(release: str) -> Commands:
    yield ["audit", release, "--schema", "p.toml", "--json", "blind.json"]
    full = ["audit", release, "--truth", "t.csv", "--holdout", "others.csv", "--schema", "p.toml", "--mcse", "0.1"]
    yield [*full, "-o", "report.html", "--json", "audit.json"]


def _one(several: bool) -> list[str]:
    return ["--sensitive", "disease"] if several else []


def _table(rng: random.Random, n: int, several: bool, missing: float) -> str:
    lines = ["age,city,zip,disease" + (",pay" if several else "")]
    for _ in range(n):
        city = rng.choice(CITIES)
        disease = DISEASES[CITIES.index(city)] if rng.random() < 0.4 else rng.choice(DISEASES)
        disease = "" if rng.random() < missing else disease
        row = [str(rng.randint(20, 59)), city, str(rng.choice([1100, 1101, 1200, 1210])), disease]
        lines.append(",".join([*row, rng.choice(["low", "high"])] if several else row))
    return "\n".join(lines) + "\n"


def _people(rng: random.Random) -> str:
    rows = [f"{rng.randint(20, 59)},{rng.choice(CITIES)},{rng.choice([1100, 1101, 1200, 1210])}" for _ in range(5)]
    return "\n".join(["age,city,zip", *rows]) + "\n"


def _schema(several: bool, rng: random.Random) -> str:
    policy = rng.choice(["", "[policy]\nmin_k = 3\nmax_attacker_gain = 0.2\nmax_perfect_breach = 0.1\n"])
    domain = ", ".join(f'"{name}"' for name in (*DISEASES, ""))
    pay = '[columns.pay]\nrole = "sensitive"\ndomain = ["low", "high"]\n' if several else ""
    names = '["disease", "pay"]' if several else '"disease"'
    cities = ", ".join(f'"{name}"' for name in CITIES)
    return (
        f"sensitive = {names}\n"
        '[columns.age]\nrole = "quasi"\ntype = "integer"\ndomain = { min = 20, max = 59 }\nintervals = [5, 10, 20]\n'
        f'[columns.city]\nrole = "quasi"\ndomain = [{cities}]\nhierarchy = "suppress"\n'
        '[columns.zip]\nrole = "quasi"\ndomain = ["1100", "1101", "1200", "1210"]\nmask = "right"\n'
        f'[columns.disease]\nrole = "sensitive"\ndomain = [{domain}]\n{pay}{policy}'
    )


# Running them ----------------------------------------------------------------------------------------------------------


def run(seed: int) -> list[Step]:
    """What each command of a case printed and wrote, without what may differ between equal runs."""
    from dalenius.cli import app

    made = case(seed)
    with tempfile.TemporaryDirectory() as folder, _inside(Path(folder)):
        for name, text in made.files.items():
            Path(name).write_text(text, encoding="utf-8")
        return [_done(app.run, command) for command in made.commands]


@contextlib.contextmanager
def _inside(folder: Path) -> Iterator[None]:
    before = Path.cwd()
    os.chdir(folder)
    try:
        yield
    finally:
        os.chdir(before)


def _done(call: Callable[[list[str]], int], command: list[str]) -> Step:
    known = {path: path.stat().st_mtime_ns for path in _files()}
    out, err = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        code = call(command)
    written = [path for path in _files() if known.get(path) != path.stat().st_mtime_ns]
    files = {str(path): _content(path) for path in sorted(written)}
    return {"command": " ".join(command), "code": code, "out": _plain(out), "err": _plain(err), "files": files}


def _files() -> list[Path]:
    """What is there, but what `frontier` keeps: its names have the checksum of the program in them."""
    return [path for path in Path().rglob("*") if path.is_file() and path.parent.suffix != ".frontier"]


def _plain(stream: io.StringIO) -> list[str]:
    return NUMBER.sub("N s", stream.getvalue()).splitlines()


def _content(path: Path) -> Any:
    text = path.read_text(encoding="utf-8")
    if path.suffix == ".json":
        return _pruned(json.loads(text))
    return _page(text) if path.suffix == ".html" else text.splitlines()


def _pruned(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _pruned(inner) for key, inner in value.items() if key not in LEFT_OUT}
    return [_pruned(inner) for inner in value] if isinstance(value, list) else value


def _page(text: str) -> list[str]:
    """What a reader sees of a page: the words of each element, without style, and of charts their labels."""
    body = re.sub(r"<style.*?</style>", "", text, flags=re.DOTALL).partition("<h2>How to repeat this</h2>")[0]
    pieces = re.sub(r"<[^>]+>", "\n", re.sub(r"\s+", " ", body)).split("\n")
    return [piece.strip() for piece in pieces if piece.strip()]


# Comparing them --------------------------------------------------------------------------------------------------------


def differences(before: Any, after: Any, place: str = "", close: float = 1e-9) -> Iterator[str]:
    """Where two results differ: keys, numbers that are not close, and texts."""
    if isinstance(before, dict) and isinstance(after, dict):
        for key in sorted(before.keys() | after.keys()):
            if key not in before or key not in after:
                yield f"{place}/{key}: {'new' if key in after else 'gone'}"
            else:
                yield from differences(before[key], after[key], f"{place}/{key}", close)
    elif isinstance(before, list) and isinstance(after, list) and len(before) == len(after):
        for i, (one, other) in enumerate(zip(before, after, strict=True)):
            yield from differences(one, other, f"{place}/{i}", close)
    elif _number(before) and _number(after):
        if abs(before - after) > close * max(1.0, abs(before), abs(after)):
            yield f"{place}: {before!r} is now {after!r}"
    elif before != after:
        yield f"{place}: {_short(before)} is now {_short(after)}"


def _number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _short(value: Any) -> str:
    text = repr(value)
    return text if len(text) < 300 else text[:300] + " …"
