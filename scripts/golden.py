"""Write what commands print and write today into tests/golden/expected, to be held against from now on.

    PYTHONPATH=. python scripts/golden.py

Do it after a change of output that is meant, and read the diff.
"""

from __future__ import annotations

import json
from typing import Any

from tests.golden.cases import run
from tests.golden.surface import surface
from tests.golden.test_golden import EXPECTED, SEEDS


def write(name: str, value: Any) -> None:
    EXPECTED.mkdir(exist_ok=True)
    text = json.dumps(value, indent=1, ensure_ascii=False, sort_keys=True) + "\n"
    (EXPECTED / f"{name}.json").write_text(text, encoding="utf-8")


for seed in SEEDS:
    write(f"case-{seed:02}", run(seed))
write("surface", surface())
