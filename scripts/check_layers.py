"""Check who may import whom. Fails when a module reaches above itself, sideways, into private names, or for a heavy library.

The rules:

- layers: a part of the package imports only the parts below it (ALLOWED), and nothing imports `cli`;
- siblings: inside a package, a module imports only what the package shares (SHARED), and never from its own `__init__`. What
  several modules need belongs in the subpackage `models`;
- models: the modules of a `models` subpackage do not import each other in a circle, and do not import the registry of the package
  around them, whose members import them;
- private names: `_name` belongs to the module that defines it;
- dynamic imports: only the registries (REGISTRIES) look modules or installed packages up by name;
- libraries: each heavy library has a home (HOMES), and `cli` imports none of them at module level.

`scripts/layers_allowed.toml` lists what broke a rule when the rule was written. Its entries may only be removed, never added:
an entry that is no longer needed fails the check, and `--update` removes it. `--update --accept` also adds what is wrong now. It is
for code that moves from one file to another, so that its entry changes its name.
"""

from __future__ import annotations

import ast
import sys
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

SCRIPTS = Path(__file__).resolve().parent
ROOT = SCRIPTS.parent / "src" / "dalenius"
LISTED = SCRIPTS / "layers_allowed.toml"

# Which parts of the package a part may import, besides itself and what everybody needs: `arrays` and `reprs`.
# `errors` and `kernels` import nothing else of ours.
BASE = {"bands", "errors", "options", "hierarchy", "schema", "output", "coding", "config", "result", "schema_text"}
EVERYBODY = {"arrays", "reprs"}
ALLOWED: dict[str, set[str]] = {
    "arrays": set(),
    "reprs": set(),
    "errors": set(),
    "options": {"errors"},
    "bands": set(),
    "result": {"errors"},
    "kernels": set(),
    "plugins": {"errors"},
    "output": {"errors"},
    "workers": {"errors"},
    "hierarchy": {"errors"},
    "schema": {
        "bands",
        "errors",
        "hierarchy",
        "config",
        "result",
        "schema_text",
    },  # which are imported when they are needed
    "schema_text": {"errors", "hierarchy", "output", "schema"},
    "config": {"errors", "hierarchy", "schema", "criteria"},  # the criteria of plug-ins have keys in [policy]
    "coding": {"errors", "hierarchy", "schema"},
    "engines": {"errors", "plugins"},
    "table": BASE | {"engines"},
    "releases": BASE | {"engines", "plugins"},
    "criteria": BASE | {"releases", "kernels", "plugins"},
    "belief": BASE,
    "guess": BASE | {"engines"},
    "adversaries": BASE | {"releases", "criteria", "kernels", "belief", "plugins"},
    "measures": BASE | {"releases", "criteria", "adversaries", "kernels", "belief"},
    "publishers": BASE | {"engines", "table", "releases", "criteria", "adversaries", "measures", "kernels", "plugins"},
    "auditing": BASE
    | {"engines", "table", "releases", "criteria", "adversaries", "measures", "publishers", "belief"}
    | {"workers"},
    "reports": BASE | {"releases", "criteria", "auditing", "adversaries", "measures", "publishers", "guess", "demo"},
    "papers": BASE
    | {
        "engines",
        "table",
        "releases",
        "criteria",
        "adversaries",
        "measures",
        "publishers",
        "auditing",
        "reports",
        "datasets",
    },
    "datasets": BASE | {"engines", "table", "releases"},
    "demo": BASE | {"table", "criteria", "measures", "publishers", "auditing", "datasets"},
}
# These stand above everything; `__init__` only names what is public. Only `cli` itself and `__main__` import `cli`.
TOP = {"cli", "api", "__init__", "__main__"}

# What every module of a package may import from its own package; and what single packages share besides.
SHARED = {"base", "models", "registry"}
ROOMS = {
    "opening",
    "playing",
    "measuring",
    "judging",
    "figures",
}  # an audit goes through them, and hands on what each returns
SHARED_BY: dict[str, set[str]] = {
    "api": {"arguments", "support"},
    "cli": {"build", "common"},
    "engines": {"ibis_rows", "sources", "textfile", "watching"},
    "reports": {"charts", "document", "frame", "layout", "numbers", "phrases", "words"},
    "releases": {"evidence", "files", "reading", "sidecar"},
    "adversaries": {"evidence"},
    "auditing": {
        "audit",
        "attacks",
        "disclosure",
        "groups",
        "people",
        "policy",
        "secrets",
        "suppressed",
        "threat",
        *ROOMS,
    },
    "criteria": {"axis", "parsing", "predicate", "realistic"},
    "publishers": {"classes", "grid", "label_sets", "parts", "tally"},
}
# These gather the modules of their package, so that they may import all of them.
GATHERING = {"__init__", "registry", "cli/app.py", "auditing/audit.py", "reports/results.py"}

# The modules that look others up by name: a registry knows its members, and finds those of plug-ins.
REGISTRIES = {
    "plugins.py",
    "adversaries/registry.py",
    "criteria/registry.py",
    "publishers/registry.py",
    "releases/registry.py",
    "reports/words/__init__.py",  # knows the languages
}

HOMES = {"ibis": "engines", "duckdb": "engines", "pyarrow": "engines", "pyspark": "engines", "psycopg": "engines",
         "numba": "kernels", "altair": "reports", "vl_convert": "reports", "opendp": "publishers", "arviz_stats": "adversaries",
         "typer": "cli", "pydantic": "config"}  # fmt: skip
# `dalenius --help` answers at once because no command loads these before it runs.
HEAVY = {"altair", "arviz_stats", "duckdb", "ibis", "numba", "numpy", "opendp", "pandas", "polars", "psycopg", "pyarrow",
         "pyspark", "scipy", "vl_convert"}  # fmt: skip

# Underscored, but public by Python's documentation: named tuples, and `os._exit`.
DOCUMENTED = {"_asdict", "_exit", "_fields", "_field_defaults", "_make", "_replace"}

RELATIVE = "a relative import"


@dataclass(frozen=True, slots=True, order=True)
class Problem:
    """One broken rule. Only the kinds of KINDS can be listed as known; `key` is what the list names."""

    file: str
    line: int
    kind: str
    key: str
    text: str

    def __str__(self) -> str:
        return f"{self.file}:{self.line}: {self.text}"


KINDS = ("siblings", "private", "dynamic")


def imports(tree: ast.AST) -> list[tuple[int, str]]:
    """Every module that a file imports, with its line; `from dalenius import x` counts as dalenius.x."""
    found = []
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            found += [(node.lineno, alias.name) for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            if node.level:
                found.append((node.lineno, RELATIVE))
            else:
                found += [(node.lineno, f"{node.module}.{alias.name}") for alias in node.names]
    return found


def at_module_level(tree: ast.Module) -> Iterator[ast.stmt]:
    """The statements that run when a module is imported; not those for the type checker alone."""
    waiting: list[ast.AST] = list(tree.body)
    while waiting:
        node = waiting.pop()
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            continue
        if isinstance(node, ast.If) and ast.unparse(node.test).endswith("TYPE_CHECKING"):
            waiting += node.orelse
            continue
        if isinstance(node, ast.stmt):
            yield node
        waiting += ast.iter_child_nodes(node)


def wrong_layers(file: str, part: str, tree: ast.Module) -> Iterator[Problem]:
    """Imports of a part that stands above this one, and relative imports, which hide the part."""
    for line, module in imports(tree):
        top, _, rest = module.partition(".")
        other = rest.partition(".")[0]
        if module == RELATIVE:
            yield Problem(file, line, "layers", "", "a relative import; write the whole name")
        elif top != "dalenius" or other == part:
            continue
        elif other == "cli" and part != "__main__":  # which is a way to start it
            yield Problem(file, line, "layers", "", f"imports {module}: nothing imports the command line")
        elif part not in TOP and other != "__version__" and other not in ALLOWED.get(part, set()) | EVERYBODY:
            yield Problem(file, line, "layers", "", f"imports {module}, which stands above {part}")


def wrong_libraries(file: str, part: str, tree: ast.Module) -> Iterator[Problem]:
    """Libraries outside their homes, and heavy ones that the command line loads before it runs a command."""
    for line, module in imports(tree):
        top = module.partition(".")[0]
        if HOMES.get(top, part) != part:
            yield Problem(file, line, "libraries", "", f"imports {module}, which belongs in {HOMES[top]}")
    if part != "cli":
        return
    for statement in at_module_level(tree):
        if isinstance(statement, ast.Import | ast.ImportFrom):
            for line, module in imports(statement):
                if module.partition(".")[0] in HEAVY - HOMES.keys():
                    yield Problem(
                        file, line, "libraries", "", f"imports {module} at module level; import it in the function"
                    )


def wrong_siblings(file: str, part: str, tree: ast.Module, root: Path) -> Iterator[Problem]:
    """Imports from the same package of what the package does not share."""
    names = Path(file).parts
    mine = names[1].removesuffix(".py") if len(names) > 1 else ""
    if not mine or mine in GATHERING or file in GATHERING:
        return
    for line, module in imports(tree):
        parts = module.split(".")
        if parts[:2] != ["dalenius", part]:
            continue
        target = parts[2] if len(parts) > 2 and is_module(root / part / parts[2]) else "__init__"
        if target != mine and target not in SHARED | SHARED_BY.get(part, set()):
            yield Problem(file, line, "siblings", target, f"imports {module}, a sibling that {part} does not share")


def wrong_models(root: Path) -> Iterator[Problem]:
    """Circles of imports inside a `models` subpackage, and imports of the registry around it."""
    for folder in sorted(root.glob("*/models")):
        part = folder.parent.name
        package = f"dalenius.{part}.models."
        graph: dict[str, dict[str, int]] = {}  # what each module imports when it is loaded, with the line
        for path in sorted(folder.glob("*.py")):
            tree = ast.parse(path.read_text(encoding="utf-8"))
            loaded = [
                pair
                for statement in at_module_level(tree)
                if isinstance(statement, ast.Import | ast.ImportFrom)
                for pair in imports(statement)
            ]
            names = {name: line for line, name in loaded if name.startswith(package)}
            graph[path.stem] = {name.removeprefix(package).partition(".")[0]: line for name, line in names.items()}
            for line, name in loaded:
                if name.startswith(f"dalenius.{part}.registry"):
                    text = f"imports {name}, whose members import {part}/models"
                    yield Problem(f"{part}/models/{path.name}", line, "models", "", text)
        for name, targets in graph.items():
            for target, line in targets.items():
                if name in reachable(graph, target) and name != "__init__":
                    text = f"imports {package}{target}, which imports {name}: a circle"
                    yield Problem(f"{part}/models/{name}.py", line, "models", "", text)


def reachable(graph: dict[str, dict[str, int]], start: str) -> set[str]:
    """The modules that a module imports, directly or through others; itself only if there is a circle."""
    reached: set[str] = set()
    waiting = list(graph.get(start, ()))
    while waiting:
        name = waiting.pop()
        if name not in reached:
            reached.add(name)
            waiting += graph.get(name, ())
    return reached


def is_module(path: Path) -> bool:
    return path.is_dir() or path.with_suffix(".py").exists()


def is_private(name: str) -> bool:
    return name.startswith("_") and not name.startswith("__") and name not in DOCUMENTED and name != "_"


def wrong_private(file: str, part: str, tree: ast.Module, root: Path) -> Iterator[Problem]:
    """Uses of a `_name` that another module defines: imported, or as an attribute of an object.

    A class may use what it inherits through `self`. A private name that this file defines may be used on any object, because two
    objects of one class know each other.
    """
    for line, module in imports(tree):
        names = module.split(".")
        inside = [name for name in names[2:] if is_private(name)]
        if names[0] == "dalenius" and inside and not (names[1] == part and is_own_module(names, root)):
            yield Problem(file, line, "private", inside[0], f"imports {module}: {inside[0]} is private to its module")
    defined = defined_names(tree)
    for node in ast.walk(tree):
        if not isinstance(node, ast.Attribute) or is_self(node.value):
            continue
        if is_private(node.attr) and node.attr not in defined:
            text = f"uses {ast.unparse(node)}: {node.attr} is private to another module"
            yield Problem(file, node.lineno, "private", node.attr, text)


def is_own_module(names: list[str], root: Path) -> bool:
    """Is the only private name that of a module, such as `dalenius.datasets._adult`? It is private to its package."""
    return is_module(root.joinpath(*names[1:3])) and not any(map(is_private, names[3:]))


def defined_names(tree: ast.Module) -> set[str]:
    """The names that a file itself gives to functions, classes, variables and attributes of `self` or `cls`."""
    found = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            found.add(node.name)
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            found.add(node.id)
        elif isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store) and is_self(node.value):
            found.add(node.attr)
    return found


def is_self(node: ast.expr) -> bool:
    return isinstance(node, ast.Name | ast.Call) and ast.unparse(node) in ("self", "cls", "super()")


def wrong_dynamic(file: str, tree: ast.Module) -> Iterator[Problem]:
    """Modules and installed packages looked up by name outside the registries."""
    if file in REGISTRIES:
        return
    for line, module in imports(tree):
        if module.startswith("importlib.metadata"):
            yield Problem(file, line, "dynamic", "importlib.metadata", f"imports {module} outside a registry")
    for node in ast.walk(tree):
        name = called(node)
        if name in ("import_module", "__import__"):
            yield Problem(file, node.lineno, "dynamic", name, f"calls {name} outside a registry")  # type: ignore[attr-defined]


def called(node: ast.AST) -> str:
    """The last part of the name of the function that a node calls; empty if it calls none."""
    if not isinstance(node, ast.Call):
        return ""
    return ast.unparse(node.func).rpartition(".")[2]


def problems(root: Path = ROOT) -> list[Problem]:
    """Everything that breaks a rule, known or not, in order of file and line."""
    found: set[Problem] = set(wrong_models(root))
    for path in sorted(root.rglob("*.py")):
        file = path.relative_to(root).as_posix()
        part = file.partition("/")[0].removesuffix(".py")
        tree = ast.parse(path.read_text(encoding="utf-8"))
        found.update(wrong_layers(file, part, tree), wrong_libraries(file, part, tree))
        found.update(
            wrong_siblings(file, part, tree, root), wrong_private(file, part, tree, root), wrong_dynamic(file, tree)
        )
    return sorted(found)


Entries = set[tuple[str, str, str]]  # kind, file, key


def read_listed(path: Path | None) -> Entries:
    if path is None or not path.exists():
        return set()
    tables = tomllib.loads(path.read_text(encoding="utf-8"))
    return {(kind, file, key) for kind in KINDS for file, keys in tables.get(kind, {}).items() for key in keys}


def check(root: Path = ROOT, listed: Path | None = None) -> list[str]:
    """One line for each broken rule that is not listed, and for each entry of the list that nothing needs."""
    known = read_listed(listed)
    found = problems(root)
    wrong = [str(problem) for problem in found if (problem.kind, problem.file, problem.key) not in known]
    needed = {(problem.kind, problem.file, problem.key) for problem in found}
    unneeded = sorted(known - needed)
    return wrong + [
        f"{file}: {key} is listed under {kind} but no longer needed; run check_layers.py --update"
        for kind, file, key in unneeded
    ]


HEADER = """\
# What broke a rule of scripts/check_layers.py when the rule was written. Entries may only be removed.
# siblings: modules of the same package that a file imports although the package does not share them.
# private: names with an underscore that a file takes from another module.
# dynamic: look-ups by name outside the registries, each with its reason.
"""
# Why a file may look modules up by name; a test asks for a reason for every file that does.
REASONS = {
    "__init__.py": "public names are loaded when they are first used, so that `import dalenius` is quick",
    "papers/registry.py": "a paper's experiments are loaded only if that paper is reproduced",
    "result.py": "reports stand above the results that they show; data-frame libraries are optional",
    "publishers/noisy_counts.py": "the release records the version of the library that drew the noise",
}


def write_listed(path: Path, entries: Entries) -> None:
    """Write the list, sorted, one line for each file."""
    lines = [HEADER]
    for kind in KINDS:
        lines.append(f"[{kind}]")
        for file in sorted({file for of, file, _ in entries if of == kind}):
            keys = sorted(key for of, name, key in entries if (of, name) == (kind, file))
            reason = f"  # {REASONS[file]}" if kind == "dynamic" and file in REASONS else ""
            quoted = ", ".join(f'"{key}"' for key in keys)
            lines.append(f'"{file}" = [{quoted}]{reason}')
        lines.append("")
    path.write_text("\n".join(lines).rstrip() + "\n", encoding="utf-8")


def update(root: Path, listed: Path, *, accept: bool) -> None:
    """Remove the entries that nothing needs; with `accept`, also add what is wrong now and can be listed."""
    needed = {(problem.kind, problem.file, problem.key) for problem in problems(root) if problem.kind in KINDS}
    write_listed(listed, needed if accept else needed & read_listed(listed))


def main(arguments: list[str]) -> int:
    if unknown := set(arguments) - {"--update", "--accept"}:
        print(f"Unknown: {' '.join(sorted(unknown))}. Usage: check_layers.py [--update [--accept]]")
        return 2
    if arguments:
        update(ROOT, LISTED, accept="--accept" in arguments)
    wrong = check(ROOT, LISTED)
    for line in wrong:
        print(line)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
