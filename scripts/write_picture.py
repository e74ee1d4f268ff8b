"""Draw docs/demo.svg, the picture of the README: how often adversaries are right about the demo's three releases."""

from __future__ import annotations

import tempfile
from pathlib import Path

from dalenius import demo
from dalenius.auditing import audit
from dalenius.datasets import save_hospital
from dalenius.reports import audit_charts
from dalenius.schema import Schema
from dalenius.table import Table

PICTURE = Path(__file__).resolve().parent.parent / "docs" / "demo.svg"


def draw() -> str:
    attacks = []
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        table, others = save_hospital(folder, 3000, 0), save_hospital(folder, 3000, 2, name="others.csv")
        schema = folder / "privacy.toml"
        (folder / "policy.toml").write_text(schema.read_text(encoding="utf-8") + demo.POLICY, encoding="utf-8")
        opened, asked = Table(table, Schema.load(schema)), Schema.load(folder / "policy.toml")
        for scheme in demo.all_schemes(0):
            scheme.publish(opened).write(folder / scheme.file)
            found = audit(str(folder / scheme.file), asked, truth=table, holdout=others, seed=0)
            best = max(found.attacks, key=lambda one: one.success.value)
            attacks.append((f"{scheme.short}: {best.adversary}", best))
    return audit_charts.compared(attacks)


if __name__ == "__main__":
    PICTURE.write_text(draw() + "\n", encoding="utf-8")
