"""The examples of docs/extending.md: what is added works with everything that was there."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import dalenius as dl
from dalenius.adversaries import ADVERSARIES, RandomWorlds, Targets
from dalenius.auditing import audit
from dalenius.criteria import DistinctDiversity, KAnonymity
from dalenius.datasets import save_hospital
from dalenius.publishers.lattice import Lattice
from dalenius.publishers.mondrian import Mondrian
from dalenius.reports import html
from dalenius.schema import Schema
from tests.conftest import ROOT
from tests.criteria.models import Case, cases
from tests.test_plugins import install

sys.path.insert(0, str(ROOT))
try:
    from examples.my_adversary import WholeClasses
    from examples.my_criterion import SecondValue
    from examples.my_scheme import Runs
finally:
    sys.path.remove(str(ROOT))


def path_with(folder: Path) -> str:
    """PYTHONPATH with a folder of plug-ins, the source's folder and ours."""
    return os.pathsep.join([str(folder), str(ROOT), str(ROOT / "src")])


@pytest.fixture
def registered(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(ADVERSARIES._parts, WholeClasses.name, WholeClasses)


@pytest.mark.slow
def test_the_contract_suite_can_fail(tmp_path: Path) -> None:
    """An adversary that forgets to normalise, and says the same about everybody."""
    (tmp_path / "bad_adversary.py").write_text(
        "import numpy as np\n"
        "from examples.my_adversary import WholeClasses\n"
        "class Bad(WholeClasses):\n"
        "    name = 'bad'\n"
        "    def believe(self, release, targets, *, column=None, rng=None):\n"
        "        found = super().believe(release, targets, column=column, rng=rng)\n"
        "        found.posterior[:] = 0.3\n"
        "        return found\n",
        encoding="utf-8",
    )
    install(tmp_path, "dalenius.adversaries", "bad", "bad_adversary:Bad")
    environment = {**os.environ, "PYTEST_ADDOPTS": "", "PYTHONPATH": path_with(tmp_path)}
    command = ["-q", "-x", "-p", "no:cacheprovider", "-k", "bad-", "tests/contract"]
    done = subprocess.run(
        [sys.executable, "-m", "pytest", *command], cwd=ROOT, env=environment, capture_output=True, text=True
    )
    assert done.returncode == 1, done.stdout[-3000:]


@pytest.mark.usefixtures("registered")
def test_the_audit_plays_a_new_adversary(tmp_path: Path) -> None:
    table = save_hospital(tmp_path, 400, 1)
    schema = Schema.load(tmp_path / "privacy.toml")
    release = Lattice([KAnonymity(5)], suppression=0.02).publish(dl.Table(table, schema)).release
    found = audit(release, schema, truth=table)
    assert found.attacks[-1].adversary == "whole-classes", "it comes after our own"
    assert len(found.attacks) > 1
    assert "whole-classes" in html.page(found, {})
    assert found.to_document()["attacks"][-1]["does"] == WholeClasses.does


def test_wide_classes_count_as_much() -> None:
    """Of two classes that a target fits, random worlds weigh the wide one less; this adversary does not."""
    schema = dl.Schema(
        [dl.Column("city", "quasi", domain=dl.Domain(("a", "b", "c", "d"))), dl.Column("s", "sensitive")]
    )
    release = dl.read_release({"city": ["a", "{a, b, c, d}"], "s": ["x", "y"]}, schema)
    target = Targets(release.schema, np.array([[0]], dtype=np.int32))
    np.testing.assert_allclose(WholeClasses().attack(release, target).posterior, [[0.5, 0.5]])
    np.testing.assert_allclose(RandomWorlds().attack(release, target).posterior, [[0.8, 0.2]])


@given(case=cases(), m=st.integers(1, 3), choice=st.data())
def test_the_criterion(case: Case, m: int, choice: st.DataObject) -> None:
    """Its level by sorting, and its promise: what it lets pass still passes when merged with anything."""
    criterion = SecondValue(m)
    levels = [sorted((group.count(value) for value in set(group)), reverse=True) for group in case.groups]
    assert criterion.levels(case.grouping()).tolist() == [one[1] if len(one) > 1 else 0 for one in levels]
    for group, ok in zip(case.groups, criterion.passes(case.grouping()), strict=True):
        if ok:
            other = choice.draw(st.sampled_from(case.groups))
            whole = Case([group + other], [], case.column)
            assert criterion.passes(whole.grouping()).all()


def test_publishers_keep_a_new_criterion() -> None:
    table = dl.datasets.hospital(1000, seed=2)
    for publisher in (Mondrian([KAnonymity(5), SecondValue(2)]), Lattice([SecondValue(2)], suppression=0.02)):
        release = publisher.publish(table).release
        assert SecondValue(2).level(release.grouping()).value >= 2
    loose = Mondrian([KAnonymity(5), DistinctDiversity(2)]).publish(table).release
    assert SecondValue(2).level(loose.grouping()).value == 1
    with pytest.raises(dl.ParameterError, match="an int ≥ 1"):
        SecondValue(0)


@pytest.mark.parametrize("k", [1, 5, 40])
def test_the_scheme(k: int, tmp_path: Path) -> None:
    table = dl.Table(save_hospital(tmp_path, 500, 3), tmp_path / "privacy.toml")
    made = Runs(k).publish(table)
    assert made.release.sizes.min() >= k
    assert made.release.people == 500
    made.write(tmp_path / "runs.csv")
    back = dl.read_release(tmp_path / "runs.csv", tmp_path / "privacy.toml")
    assert sorted(back.sizes.tolist()) == sorted(made.release.sizes.tolist())  # type: ignore[attr-defined]
    with pytest.raises(dl.InputError, match="larger than the table"):
        Runs(501).publish(table)


def test_what_frontier_kept_depends_on_every_plug_in(registered: None) -> None:  # noqa: ARG001 - registers one
    """Points that were measured before an adversary was installed are measured again."""
    from dalenius.auditing import journal

    with_it = journal._program()
    ADVERSARIES.remove(WholeClasses.name)
    assert journal._program() != with_it
