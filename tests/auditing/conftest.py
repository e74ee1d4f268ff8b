"""A hospital: a table, its release by the lattice, and people like them who are not in it."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import pytest

import dalenius as dl
from dalenius.criteria import DistinctDiversity, KAnonymity
from dalenius.publishers.lattice import Lattice
from tests.auditing import recount

QUASI = ("age", "sex", "zip", "nationality")


@dataclass(frozen=True)
class Hospital:
    folder: Path
    schema: Path
    table: Path
    release: Path
    holdout: Path
    trees: dict[str, dict[str, frozenset[str]]]


@pytest.fixture(scope="session")
def hospital(tmp_path_factory: pytest.TempPathFactory) -> Hospital:
    folder = tmp_path_factory.mktemp("hospital")
    table = dl.datasets.save_hospital(folder, 500, seed=3)
    others = folder / "others"
    others.mkdir()
    holdout = dl.datasets.save_hospital(others, 350, seed=4)
    schema = folder / "privacy.toml"
    release = folder / "release.csv"
    publisher = Lattice([KAnonymity(3), DistinctDiversity(2)], suppression=0.05)
    published = publisher.publish(dl.Table(table, schema))
    published.write(release)
    trees = {name: recount.members(folder / f"hospital_hierarchy_{name}.csv")[0] for name in QUASI}
    return Hospital(folder, schema, table, release, holdout, trees)
