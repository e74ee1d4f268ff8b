"""`dalenius attack` with adversaries of plug-ins: whatever evidence they need, with targets, the truth and held-out people."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from dalenius.adversaries import ADVERSARIES, Adversary, Targets
from dalenius.adversaries.models.count_classifier import shares
from dalenius.belief import Belief
from dalenius.cli import app
from dalenius.datasets import save_hospital
from dalenius.releases import Release
from tests.conftest import COMMAND_LINE, LONG, ROOT
from tests.processes import Starter
from tests.test_plugins import install

RELEASES = {"rows": "g.csv", "links": "a", "centres": "m.csv", "counts": "c"}
COMMANDS = {
    "g.csv": ("--method", "mondrian", "--k", "4"),
    "a": ("--method", "anatomy", "--l", "2"),
    "m.csv": ("--method", "microaggregation", "--k", "4"),
    "c": ("--method", "noisy-counts", "--epsilon", "5"),
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A hospital's patients, a release of each kind, people held out and five targets."""
    folder = tmp_path_factory.mktemp("hospital")
    save_hospital(folder, 200, 1)
    head, *rows = (folder / "patients.csv").read_text(encoding="utf-8").splitlines(True)
    parts = {"t.csv": rows[:140], "o.csv": rows[140:], "people.csv": rows[:5]}
    for name, some in parts.items():
        (folder / name).write_text(head + "".join(some), encoding="utf-8")
    before = Path.cwd()
    os.chdir(folder)
    try:
        for name, options in COMMANDS.items():
            assert app.run(["publish", "t.csv", *options, "-o", name, "--quiet"]) == 0
    finally:
        os.chdir(before)
    return folder


class Shares(Adversary):
    """Believes of everybody what the release says of all."""

    name = "shares"
    knows = "the release"
    does = "takes everybody for anybody"

    def believe(
        self,
        release: Release,
        targets: Targets,
        *,
        column: str | None = None,
        rng: np.random.Generator | None = None,  # noqa: ARG002 - exact: nothing is drawn
    ) -> Belief:
        counts, classes = release.counts(), release.classes()
        if counts is not None:
            of, table = release.schema[counts.sensitive], np.asarray(shares(counts), dtype=np.float64)
        else:
            assert classes is not None
            grouping = classes.grouping(column)
            of, table = grouping.column, grouping.table / grouping.table.sum()
        return Belief.exact(of, np.tile(table, (len(targets), 1)), table / table.sum())


def toy(evidence: str, **attributes: Any) -> type[Adversary]:
    return type(f"Shares_{evidence}", (Shares,), {"needs": (evidence,), **attributes})


class Sampler(Shares):
    """Made as those are made that sample; says that it has not converged."""

    samples = True

    def __init__(self, error: Any = None, effort: Any = None, *, memory: Any = None, progress: Any = None) -> None:
        self.made_with = error, memory, progress
        self.effort = effort

    def believe(
        self, release: Release, targets: Targets, *, column: str | None = None, rng: np.random.Generator | None = None
    ) -> Belief:
        belief = super().believe(release, targets, column=column, rng=rng)
        told = {"converged": False, "interrupted": False, "sweeps": self.effort.most_sweeps, "chains": 4}
        told |= {"largest_mcse": 0.5, "largest_rhat": 2.0}
        return Belief(belief.column, belief.posterior, belief.baseline, belief.stderr, belief.matched, "exact", told)


@pytest.fixture
def plugged(request: pytest.FixtureRequest) -> Iterator[type[Adversary]]:
    part: type[Adversary] = request.param
    ADVERSARIES.add(part)
    yield part
    ADVERSARIES.remove(part.name)


def attacked(folder: Path, monkeypatch: pytest.MonkeyPatch, *arguments: str) -> tuple[int, dict[str, Any]]:
    monkeypatch.chdir(folder)
    Path("x.json").unlink(missing_ok=True)
    code = app.run(["attack", *arguments, "--json", "x.json", "--quiet"])
    return code, json.loads(Path("x.json").read_text(encoding="utf-8")) if Path("x.json").exists() else {}


TOYS = [toy(evidence) for evidence in (*RELEASES, "classes")]


@pytest.mark.slow
@pytest.mark.parametrize("plugged", TOYS, indirect=True, ids=lambda part: part.needs[0])
def test_every_evidence(folder: Path, monkeypatch: pytest.MonkeyPatch, plugged: type[Adversary]) -> None:
    release = RELEASES.get(plugged.needs[0], "m.csv")
    options = (release, "--adversary", "shares", "--truth", "t.csv", "--holdout", "o.csv", "--targets", "people.csv")
    code, found = attacked(folder, monkeypatch, *options, "-o", "b.csv")
    assert code == 0
    assert (found["adversary"], found["targets"], found["method"]) == ("shares", 5, "exact")
    assert found["success"]["n"] == found["naive"]["n"] == 140
    assert found["success"]["value"] == pytest.approx(
        found["naive"]["value"]
    )  # the commonest value is said of everybody
    assert found["holdout_success"]["n"] == 60
    assert found["converged"] is True
    assert ("GT_A" in found) == (plugged.needs[0] == "rows")  # relative threats as for random worlds
    lines = (folder / "b.csv").read_text(encoding="utf-8").splitlines()
    assert len(lines) == 1 + 5 * len({line.split(",")[1] for line in lines[1:]})


@pytest.mark.parametrize("plugged", [toy("links", knows_group=True)], indirect=True)
def test_who_asks_for_the_group_gets_it(
    folder: Path, monkeypatch: pytest.MonkeyPatch, plugged: type[Adversary]
) -> None:
    assert plugged.knows_group
    code, found = attacked(folder, monkeypatch, "a", "--adversary", "shares", "--truth", "t.csv", "--holdout", "o.csv")
    assert code == 0
    assert found["group_known"] is True
    assert "GT_A" not in found


@pytest.mark.parametrize("plugged", [toy("counts")], indirect=True)
def test_a_release_without_the_evidence_is_refused(
    folder: Path, monkeypatch: pytest.MonkeyPatch, plugged: type[Adversary], capsys: pytest.CaptureFixture[str]
) -> None:
    for release in ("g.csv", "a", "m.csv"):
        code, _ = attacked(folder, monkeypatch, release, "--adversary", plugged.name, "--truth", "t.csv")
        assert code == 2
        assert "shares cannot attack this release: " in capsys.readouterr().err


@pytest.mark.parametrize("plugged", [Sampler], indirect=True)
def test_who_samples_gets_the_options_and_is_warned_about(
    folder: Path, monkeypatch: pytest.MonkeyPatch, plugged: type[Adversary], capsys: pytest.CaptureFixture[str]
) -> None:
    assert plugged.samples
    options = ("g.csv", "--adversary", "shares", "--truth", "t.csv", "--targets", "people.csv", "-o", "b.csv")
    code, found = attacked(folder, monkeypatch, *options, "--most-sweeps", "7", "--holdout", "o.csv")
    assert code == 3
    assert found["converged"] is False
    warned = capsys.readouterr().err
    for whom in ("targets", "the people of the table", "the held-out people"):
        assert f"NOT CONVERGED: beliefs about {whom} were stopped after 7 sweeps" in warned


@pytest.mark.parametrize("plugged", [toy("classes", usual_for=("centres",))], indirect=True)
def test_ours_are_usual_first(folder: Path, monkeypatch: pytest.MonkeyPatch, plugged: type[Adversary]) -> None:
    assert plugged.usual_for
    assert attacked(folder, monkeypatch, "m.csv", "--truth", "t.csv")[1]["adversary"] == "nearest-centroid"


@pytest.mark.slow
def test_an_installed_adversary(starter: Starter, folder: Path, tmp_path: Path) -> None:
    install(tmp_path, "dalenius.adversaries", "whole-classes", "examples.my_adversary:WholeClasses")
    path = os.pathsep.join([str(tmp_path), str(ROOT), str(ROOT / "src")])

    def run(*arguments: str) -> subprocess.CompletedProcess[str]:
        environment = {**os.environ, "PYTHONPATH": path, "COLUMNS": "200"}
        return starter.run(COMMAND_LINE, ["attack", *arguments], cwd=folder, env=environment, timeout=LONG)

    assert "whole-classes" in "".join(run("--help").stdout.split())  # a line may end at the hyphen
    whole = ("--adversary", "whole-classes", "--truth", "t.csv", "--holdout", "o.csv")
    done = run("g.csv", *whole, "--targets", "people.csv", "-o", "b.csv", "--json", "x.json")
    assert done.returncode == 0, done.stderr
    assert "Wrote b.csv: beliefs of whole-classes about 5 targets (exact)" in done.stdout
    assert "whole-classes on " in done.stdout
