"""Imports go one way. Fails when a module imports one that stands above it, or a library outside its home."""

from __future__ import annotations

import ast
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent / "src" / "dalenius"

# Which parts of the package a part may import, besides itself. `errors` and `kernel` import nothing of ours.
BASE = {"bands", "errors", "hierarchy", "schema", "output", "coding", "config"}
ALLOWED: dict[str, set[str]] = {
    "errors": set(),
    "bands": set(),
    "kernel": set(),
    "output": {"errors"},
    "workers": {"errors"},
    "hierarchy": {"errors"},
    "schema": {"bands", "errors", "hierarchy", "config"},
    "config": {"errors", "hierarchy", "schema"},
    "coding": {"errors", "hierarchy", "schema"},
    "engine": {"errors"},
    "table": BASE | {"engine"},
    "release": BASE | {"engine"},
    "criterion": BASE | {"release", "kernel"},
    "belief": BASE,
    "guess": BASE | {"engine"},
    "adversary": BASE | {"release", "criterion", "kernel", "belief"},
    "measure": BASE | {"release", "criterion", "adversary", "kernel", "belief"},
    "publish": BASE | {"engine", "table", "release", "criterion", "adversary", "measure", "kernel"},
    "audit": BASE
    | {"engine", "table", "release", "criterion", "adversary", "measure", "publish", "belief"}
    | {"workers"},
    "report": BASE | {"release", "audit", "adversary", "measure", "publish"},
    "papers": BASE
    | {"engine", "table", "release", "criterion", "adversary", "measure", "publish", "audit", "report", "datasets"},
    "datasets": BASE | {"engine", "table", "release"},
}
# Parts whose modules do not import each other; `base`-like modules are for all of them.
SIBLINGS: dict[str, set[str]] = {
    "release": {"anatomized", "centroids", "channel", "generalized", "noisy_counts"},
}
HOMES = {"ibis": "engine", "duckdb": "engine", "pyarrow": "engine", "pyspark": "engine", "psycopg": "engine",
         "numba": "kernel", "altair": "report", "opendp": "publish", "typer": "cli", "pydantic": "config"}  # fmt: skip


def imports(path: Path) -> list[tuple[int, str]]:
    """Every module that a file imports, with its line; `from dalenius import x` counts as dalenius.x."""
    found = []
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            found += [(node.lineno, alias.name) for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            if node.level:
                found.append((node.lineno, "relative import"))
            elif node.module == "dalenius":
                found += [(node.lineno, f"dalenius.{alias.name}") for alias in node.names]
            else:
                found += [(node.lineno, f"{node.module}.{alias.name}") for alias in node.names]
    return found


def check(root: Path = ROOT) -> list[str]:
    """One line for each import that breaks a rule."""
    wrong = []
    for path in sorted(root.rglob("*.py")):
        relative = path.relative_to(root)
        part = relative.parts[0].removesuffix(".py")
        for line, module in imports(path):
            place = f"{relative}:{line}: imports {module}"
            top, _, rest = module.partition(".")
            if module == "relative import":
                wrong.append(f"{relative}:{line}: a relative import; write the whole name")
            if top in HOMES and HOMES[top] != part:
                wrong.append(f"{place}, which belongs in {HOMES[top]}")
            if top != "dalenius" or part in ("cli", "__init__"):
                continue
            other, _, sibling = rest.partition(".")
            if other in ("__version__", part) and other != part:
                continue
            if other != part and other not in ALLOWED.get(part, set()):
                wrong.append(f"{place}, which stands above {part}")
            mine = relative.stem
            if other == part and mine in SIBLINGS.get(part, set()):
                target = sibling.partition(".")[0]
                if target in SIBLINGS[part] and target != mine:
                    wrong.append(f"{place}, a sibling")
    return sorted(set(wrong))


if __name__ == "__main__":
    problems = check()
    for problem in problems:
        print(problem)
    sys.exit(1 if problems else 0)
