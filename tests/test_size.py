"""The check of sizes: the package keeps to its list, every kind of excess is seen, and the list only shrinks."""

from __future__ import annotations

import ast
import tomllib
from pathlib import Path

import check_size
import pytest


def planted(root: Path, files: dict[str, str]) -> Path:
    for name, text in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    return root


def long(lines: int, name: str = "f") -> str:
    """A function of so many lines, no two of them alike."""
    return f"def {name}():\n" + "".join(f"    {name}{n} = {n}\n" for n in range(lines - 1))


def tangled(complexity: int, name: str = "f") -> str:
    return f"def {name}(x):\n    return {' or '.join(f'x == {n}' for n in range(complexity))}\n"


@pytest.mark.slow
def test_the_package_keeps_to_its_list() -> None:
    assert check_size.check(check_size.ROOT, check_size.LISTED) == []


@pytest.mark.parametrize(
    ("code", "expected"),
    [
        ("def f(): return 1", 1),
        # if, elif, and
        ("def f(x, y):\n    if x and y: return 1\n    elif x: return 2\n    else: return 3", 4),
        # for, while, two conditions of the comprehension; its loop adds nothing
        ("def f(x):\n    for a in x:\n        while a: a -= 1\n    return [a for a in x if a if a > 1]", 5),
        # two handlers, a conditional expression, two `or`
        ("def f(x):\n    try: g()\n    except A: pass\n    except B: pass\n    return x or 1 or 2 if x else 3", 6),
        # two cases and one with a guard (`and` adds one more); `case _` is an else
        ("def f(x):\n match x:\n  case 1: pass\n  case 2: pass\n  case y if y and x: pass\n  case _: pass", 5),
    ],
)
def test_complexity_worked_out_by_hand(code: str, expected: int) -> None:
    assert check_size.complexity(ast.parse(code).body[0]) == expected


@pytest.mark.parametrize(
    ("file", "text", "said"),
    [
        ("cli/a.py", long(61), "cli/a.py:f: lines 61 is above the limit of 60"),
        ("cli/a.py", tangled(13), "cli/a.py:f: complexity 13 is above the limit of 12"),
        ("auditing/a.py", long(81), "auditing/a.py:f: lines 81 is above the limit of 80"),
        ("auditing/a.py", tangled(21), "auditing/a.py:f: complexity 21 is above the limit of 20"),
        (
            "a.py",
            f"class C:\n    {tangled(21).replace('    ', '        ')}",
            "a.py:C.f: complexity 21 is above the limit of 20",
        ),
        ("kernels/a.py", "\n" * 401, "kernels/a.py: lines 401 is above the limit of 400"),
        (
            "auditing/a.py",
            "\n".join(f"isinstance({x}, (int, release.Channel))" for x in "abcdef"),
            "release_class_tests: count 6 is above the limit of 5",
        ),
        (
            "auditing/a.py",
            "match x:\n" + "\n".join(f" case Generalized(a={n}): pass" for n in range(6)),
            "release_class_tests: count 6 is above the limit of 5",
        ),
    ],
)
def test_what_is_too_large_is_seen(tmp_path: Path, file: str, text: str, said: str) -> None:
    assert check_size.check(planted(tmp_path, {file: text})) == [said]


@pytest.mark.parametrize(
    ("file", "text"),
    [
        ("cli/a.py", long(60) + tangled(12, "g")),
        ("auditing/a.py", long(80) + tangled(20, "g")),
        ("kernels/a.py", long(300) + tangled(50, "g")),
        ("auditing/a.py", "\n" * 400),
        ("auditing/a.py", "\n".join(f"isinstance({x}, Channel)" for x in "abcde")),
        ("releases/a.py", "\n".join(f"isinstance({x}, Channel)" for x in "abcdef")),
        ("auditing/a.py", "\n".join(f"isinstance({x}, int)" for x in "abcdef")),
    ],
)
def test_what_is_within_its_limit_passes(tmp_path: Path, file: str, text: str) -> None:
    assert check_size.check(planted(tmp_path, {file: text})) == []


def test_duplicated_runs_are_maximal_and_counted_by_pairs() -> None:
    eight = "".join(f"x{n} = {n}\n" for n in range(8))
    spaced = eight.replace(" = ", "  =  ").replace("x4", "\n# a comment\nimport os\nx4")
    assert check_size.duplicated_runs({"a.py": eight, "b.py": f"y = 1\n{spaced}"}) == [
        "a.py:1 and b.py:2 share 8 lines"
    ]
    assert len(check_size.duplicated_runs({"a.py": eight, "b.py": eight, "c.py": eight})) == 3
    assert len(check_size.duplicated_runs({"a.py": f"{eight}y = 1\n{eight}"})) == 1
    five = "".join(f"x{n} = {n}\n" for n in range(5))
    assert check_size.duplicated_runs({"a.py": five, "b.py": five}) == []
    text = f'"""{eight}"""\n'
    assert check_size.duplicated_runs({"a.py": text, "b.py": text}) == [], "docstrings do not count"


def test_duplicates_are_seen_and_shown(tmp_path: Path) -> None:
    six = "".join(f"x{n} = {n}\n" for n in range(6))
    first, second = check_size.check(planted(tmp_path, {"a.py": six, "b/c.py": six}))
    assert first == "duplicated_runs: count 1 is above the limit of 0"
    assert second.strip() == "a.py:1 and b/c.py:1 share 6 lines"


def test_the_list_only_shrinks(tmp_path: Path) -> None:
    listed = tmp_path / "listed.toml"
    root = planted(tmp_path / "package", {"a.py": tangled(25)})
    check_size.update(root, listed, accept=False)
    assert len(check_size.check(root, listed)) == 1, "nothing is added unless it is accepted"
    check_size.update(root, listed, accept=True)
    assert check_size.check(root, listed) == []

    planted(root, {"a.py": tangled(26)})
    check_size.update(root, listed, accept=False)
    assert check_size.check(root, listed) == ["a.py:f: complexity grew from 25 to 26"]

    planted(root, {"a.py": tangled(22)})
    assert check_size.check(root, listed) == [], "smaller is well"
    check_size.update(root, listed, accept=False)
    assert tomllib.loads(listed.read_text(encoding="utf-8"))["functions"] == {"a.py:f": {"complexity": 22}}

    planted(root, {"a.py": tangled(20)})
    (problem,) = check_size.check(root, listed)
    assert "no longer needed" in problem
    check_size.update(root, listed, accept=False)
    assert check_size.check(root, listed) == []


def test_reasons_are_kept(tmp_path: Path) -> None:
    listed = tmp_path / "listed.toml"
    listed.write_text('[functions]\n"a.py:f" = { complexity = 30, why = "a table" }\n', encoding="utf-8")
    check_size.update(planted(tmp_path / "package", {"a.py": tangled(25)}), listed, accept=False)
    entry = tomllib.loads(listed.read_text(encoding="utf-8"))["functions"]["a.py:f"]
    assert entry == {"complexity": 25, "why": "a table"}
