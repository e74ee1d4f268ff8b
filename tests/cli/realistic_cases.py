"""What the tests of realistic adversaries share: the answers of the command line, and a town of seventy people."""

from __future__ import annotations

import json
import math
import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import unwarned
from tests.criteria.realistic_oracle import Number

Answer = tuple[int, str, str]
Cli = Callable[..., Answer]
DISEASES = ("Zitterpox", "Yawnfever", "Xanthitis", "Wobbles")
TOWN = """sensitive = "ill"
[columns.name]
role = "identifier"
[columns.age]
role = "quasi"
type = "integer"
domain = { min = 20, max = 39 }
intervals = [5, 10]
[columns.sex]
role = "quasi"
domain = ["F", "M"]
hierarchy = "suppress"
[columns.ill]
role = "sensitive"
domain = ["Zitterpox", "Yawnfever", "Xanthitis", "Wobbles"]
"""


def said(cli: Cli, *arguments: str) -> str:
    code, out, err = cli(*arguments)
    assert (code, unwarned(err)) == (0, ""), err
    return out


def document(cli: Cli, *arguments: str) -> dict[str, Any]:
    found = json.loads(said(cli, *arguments, "--json", "-"))
    assert isinstance(found, dict)
    return found


def private(cli: Cli, *arguments: str) -> dict[str, Any]:
    found = document(cli, "check", *arguments)["epsilon_privacy"]
    assert isinstance(found, dict)
    return found


def close(value: Number) -> Any:
    """ε as JSON has it."""
    return "inf" if value == math.inf else pytest.approx(float(value), rel=1e-9)


def write(folder: Path, name: str, text: str) -> None:
    (folder / name).write_text(text, encoding="utf-8")


def townspeople() -> list[tuple[str, str, str]]:
    rng = random.Random(11)
    return [
        (str(rng.randint(20, 39)), rng.choice("FM"), rng.choices(DISEASES[:3], weights=(5, 3, 2))[0]) for _ in range(70)
    ]


TOWNSPEOPLE = townspeople()
