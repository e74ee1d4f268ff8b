"""Check how large and how tangled the code is. Fails when something passes a limit, or grows although it is listed.

The limits: lines and cyclomatic complexity of functions (tighter in `cli`, none in `kernel`), lines of modules, tests of a
release's class outside `release`, and pairs of places that share six or more lines.

`scripts/size_listed.toml` lists what was above a limit when the limit was set, with its size. The list only shrinks: an entry that
is no longer needed fails the check. `--update` lowers and removes entries, and never adds one. `--update --accept` also adds and
raises; it is for code that moves from one file to another.
"""

from __future__ import annotations

import ast
import sys
import tomllib
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

SCRIPTS = Path(__file__).resolve().parent
ROOT = SCRIPTS.parent / "src" / "dalenius"
LISTED = SCRIPTS / "size_listed.toml"

CLI_LIMITS = {"lines": 60, "complexity": 12}
LIMITS = {"lines": 80, "complexity": 20}
MODULE_LIMITS = {"lines": 400}
TOTAL_LIMITS = {"release_class_tests": 5, "duplicated_runs": 0}
RUN = 6  # identical lines that count as duplicated
RELEASE_CLASSES = {"Anatomized", "Centroids", "Channel", "Generalized", "GroupedRelease", "NoisyCounts"}

Function = ast.FunctionDef | ast.AsyncFunctionDef
Sizes = dict[str, int]


@dataclass(slots=True)
class Excess:
    """What is above a limit: the sizes of functions and modules by name, and the package's totals."""

    functions: dict[str, Sizes] = field(default_factory=dict)
    modules: dict[str, Sizes] = field(default_factory=dict)
    totals: dict[str, Sizes] = field(default_factory=dict)


GROUPS = ("functions", "modules", "totals")


def complexity(function: ast.AST) -> int:
    """McCabe's number of a function: 1, and 1 for each place where it can go two ways. Functions inside it count as part of it."""
    return 1 + sum(map(ways, ast.walk(function)))


def ways(node: ast.AST) -> int:
    """How many ways a node adds. A loop of a comprehension adds none, only its conditions do."""
    if isinstance(node, ast.If | ast.IfExp | ast.For | ast.AsyncFor | ast.While | ast.ExceptHandler):
        return 1
    if isinstance(node, ast.BoolOp):
        return len(node.values) - 1
    if isinstance(node, ast.comprehension):
        return len(node.ifs)
    if isinstance(node, ast.match_case):
        return 0 if ast.unparse(node.pattern) == "_" and node.guard is None else 1  # `case _` is an else
    return 0


def functions(tree: ast.AST, within: str = "") -> Iterator[tuple[str, Function]]:
    """Every function with its name, `Class.method` or `outer.inner`."""
    for node in ast.iter_child_nodes(tree):
        name = within
        if isinstance(node, ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            name = f"{within}.{node.name}".lstrip(".")
        if isinstance(node, Function):
            yield name, node
        yield from functions(node, name)


def above(sizes: Sizes, limits: Sizes) -> Sizes:
    return {what: size for what, size in sizes.items() if size > limits[what]}


def limits_of(file: str) -> Sizes | None:
    """The limits for functions of a file; None for compiled code, whose loops stand in one function because calls cost."""
    if file.startswith("kernels/"):
        return None
    return CLI_LIMITS if file.startswith("cli/") else LIMITS


def large_functions(file: str, tree: ast.AST) -> dict[str, Sizes]:
    limits = limits_of(file)
    if limits is None:
        return {}
    found: dict[str, Sizes] = {}
    for name, node in functions(tree):
        sizes = {"lines": (node.end_lineno or node.lineno) - node.lineno + 1, "complexity": complexity(node)}
        # A property and its setter have one name: the larger of the two counts.
        for what, size in above(sizes, limits).items():
            mine = found.setdefault(f"{file}:{name}", {})
            mine[what] = max(size, mine.get(what, 0))
    return found


def release_class_tests(tree: ast.AST) -> int:
    """How often a file asks of which class a release is, by `isinstance` or in a `case`."""
    asked = 0
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and ast.unparse(node.func) == "isinstance" and len(node.args) == 2:
            asked += bool(names_in(node.args[1]) & RELEASE_CLASSES)
        elif isinstance(node, ast.MatchClass):
            asked += bool(names_in(node.cls) & RELEASE_CLASSES)
    return asked


def names_in(node: ast.AST) -> set[str]:
    parts = list(ast.walk(node))
    return {part.id for part in parts if isinstance(part, ast.Name)} | {
        part.attr for part in parts if isinstance(part, ast.Attribute)
    }


def code_lines(text: str) -> list[tuple[int, str]]:
    """The lines that count for duplicates, numbered, with single spaces; no blank lines, comments, imports, docstrings."""
    skipped: set[int] = set()
    for node in ast.walk(ast.parse(text)):
        is_text = (
            isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str)
        )
        if is_text or isinstance(node, ast.Import | ast.ImportFrom):
            skipped.update(range(node.lineno, (node.end_lineno or node.lineno) + 1))
    plain = ((number, " ".join(line.split())) for number, line in enumerate(text.splitlines(), 1))
    return [(number, line) for number, line in plain if line and not line.startswith("#") and number not in skipped]


def duplicated_runs(texts: dict[str, str]) -> list[str]:
    """One sentence for each pair of places that share a run of at least RUN lines, as long as it can be made."""
    codes = {file: code_lines(text) for file, text in sorted(texts.items())}
    windows: dict[tuple[str, ...], list[tuple[str, int]]] = defaultdict(list)
    for file, lines in codes.items():
        words = [line for _, line in lines]
        for start in range(len(words) - RUN + 1):
            windows[tuple(words[start : start + RUN])].append((file, start))
    pairs = {
        (first, second)
        for places in windows.values()
        for index, first in enumerate(places)
        for second in places[index + 1 :]
    }
    found = []
    for (file, start), (other, there) in sorted(pairs):
        if ((file, start - 1), (other, there - 1)) in pairs:
            continue  # in the middle of a longer run
        length = RUN
        while ((file, start + length - RUN + 1), (other, there + length - RUN + 1)) in pairs:
            length += 1
        found.append(f"{file}:{codes[file][start][0]} and {other}:{codes[other][there][0]} share {length} lines")
    return found


def measure(root: Path) -> tuple[Excess, list[str]]:
    """What is above a limit, and the duplicated runs in words."""
    excess = Excess()
    texts = {path.relative_to(root).as_posix(): path.read_text(encoding="utf-8") for path in sorted(root.rglob("*.py"))}
    asked = 0
    for file, text in texts.items():
        tree = ast.parse(text)
        excess.functions |= large_functions(file, tree)
        if large := above({"lines": len(text.splitlines())}, MODULE_LIMITS):
            excess.modules[file] = large
        asked += 0 if file.startswith("releases/") else release_class_tests(tree)
    runs = duplicated_runs(texts)
    totals = above({"release_class_tests": asked, "duplicated_runs": len(runs)}, TOTAL_LIMITS)
    excess.totals = {name: {"count": count} for name, count in totals.items()}
    return excess, runs


Listed = dict[str, dict[str, dict[str, Any]]]  # group, name, sizes and perhaps `why`


def read_listed(path: Path | None) -> Listed:
    if path is None or not path.exists():
        return {group: {} for group in GROUPS}
    tables = tomllib.loads(path.read_text(encoding="utf-8"))
    return {group: tables.get(group, {}) for group in GROUPS}


def check(root: Path = ROOT, listed: Path | None = None) -> list[str]:
    """One line for each size that is new above its limit or has grown, and for each that the list names without need."""
    known = read_listed(listed)
    excess, runs = measure(root)
    wrong = []
    for group in GROUPS:
        now: dict[str, Sizes] = getattr(excess, group)
        for name, sizes in sorted(now.items()):
            for what, size in sizes.items():
                before = known[group].get(name, {}).get(what)
                if before is None:
                    wrong.append(f"{name}: {what} {size} is above the limit of {limit(name, what)}")
                elif size > before:
                    wrong.append(f"{name}: {what} grew from {before} to {size}")
        for name, entry in sorted(known[group].items()):
            unneeded = [what for what in entry if what != "why" and what not in now.get(name, {})]
            wrong += [f"{name}: {what} is listed but no longer needed; run check_size.py --update" for what in unneeded]
    if any(line.startswith("duplicated_runs: count") for line in wrong):
        wrong += [f"  {run}" for run in runs]
    return wrong


def limit(name: str, what: str) -> int:
    if name in TOTAL_LIMITS:
        return TOTAL_LIMITS[name]
    file, _, function = name.partition(":")
    return ((limits_of(file) or LIMITS) if function else MODULE_LIMITS)[what]


def lowered(known: dict[str, Any], now: Sizes, *, accept: bool) -> dict[str, Any]:
    """An entry of the list as it should be now; empty if nothing is left of it."""
    if accept:
        sizes: dict[str, Any] = dict(now)
    else:
        sizes = {what: min(now[what], size) for what, size in known.items() if what in now}
    return {**sizes, "why": known["why"]} if sizes and "why" in known else sizes


def update(root: Path, listed: Path, *, accept: bool) -> None:
    """Lower and remove entries; with `accept`, write the sizes of today."""
    known = read_listed(listed)
    excess, _ = measure(root)
    fresh: Listed = {}
    for group in GROUPS:
        now: dict[str, Sizes] = getattr(excess, group)
        names = now if accept else known[group]
        entries = {name: lowered(known[group].get(name, {}), now.get(name, {}), accept=accept) for name in names}
        fresh[group] = {name: entry for name, entry in sorted(entries.items()) if entry}
    write_listed(listed, fresh)


HEADER = """\
# What was above a limit of scripts/check_size.py when the limit was set. Sizes may only fall, entries may only be removed:
# python scripts/check_size.py --update
"""


def write_listed(path: Path, listed: Listed) -> None:
    lines = [HEADER]
    for group in GROUPS:
        lines.append(f"[{group}]")
        for name, entry in listed[group].items():
            # A number is written as it is; the reason is the only text, and has no quotes in it.
            values = ", ".join(
                f"{key} = {value}" if key != "why" else f'why = "{value}"' for key, value in entry.items()
            )
            lines.append(f'"{name}" = {{ {values} }}')
        lines.append("")
    path.write_text("\n".join(lines).rstrip() + "\n", encoding="utf-8")


def main(arguments: list[str]) -> int:
    if unknown := set(arguments) - {"--update", "--accept"}:
        print(f"Unknown: {' '.join(sorted(unknown))}. Usage: check_size.py [--update [--accept]]")
        return 2
    if arguments:
        update(ROOT, LISTED, accept="--accept" in arguments)
    wrong = check(ROOT, LISTED)
    for line in wrong:
        print(line)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
