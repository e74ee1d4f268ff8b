"""Relative threats of releases that must be sampled, against an enumeration of every world."""

from __future__ import annotations

import dataclasses
import itertools
import json
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest

import dalenius as dl
from dalenius.adversaries.models.sampling import Effort
from dalenius.auditing import audit
from dalenius.auditing.people import open_together
from dalenius.auditing.threat import ACCURACIES, RelativeThreats, _errors, jackknife, relative_threats
from dalenius.belief import Belief, Replicates
from dalenius.cli import app
from dalenius.releases import Anatomized
from tests.adversaries.vertical_worlds import Vertical, joint, random_release

pytestmark = pytest.mark.slow

EFFORT = Effort(mcse=0.004, sweeps=40, most_sweeps=40_000)


def written(case: Vertical, folder: Path) -> None:
    """The release as files, and the table of the first of its worlds."""
    quasi = [f"q{a}" for a in range(len(case.beta))]
    lines = [f"[prior.alpha]\n{''.join(f'v{s} = {float(a)}{chr(10)}' for s, a in enumerate(case.alpha))}"]
    lines += [
        f"[prior.beta.{name}]\n{''.join(f'l{i} = {float(b)}{chr(10)}' for i, b in enumerate(beta))}"
        for name, beta in zip(quasi, case.beta, strict=True)
    ]
    columns = [
        f'[columns.{name}]\nrole = "quasi"\ndomain = {[f"l{i}" for i in range(len(beta))]}\n'
        for name, beta in zip(quasi, case.beta, strict=True)
    ]
    columns.append(f'[columns.s]\nrole = "sensitive"\ndomain = {[f"v{s}" for s in range(len(case.alpha))]}\n')
    (folder / "p.toml").write_text("".join([*columns, *lines]).replace("'", '"'), encoding="utf-8")
    rows = [
        (g, ",".join(f"l{leaf}" for leaf in leaves), f"v{s}")
        for g, (group, values) in enumerate(case.groups)
        for leaves, s in zip(group, values, strict=True)
    ]
    names = ",".join(quasi)
    for file, head, lines_of in (
        ("r.quasi.csv", f"group,{names}", [f"{g},{leaves}" for g, leaves, _ in rows]),
        ("r.sensitive.csv", "group,s", [f"{g},{value}" for g, _, value in rows]),
        ("t.csv", f"{names},s", [f"{leaves},{value}" for _, leaves, value in rows]),
    ):
        (folder / file).write_text("\n".join([head, *lines_of]) + "\n", encoding="utf-8")


def found_in(folder: Path, effort: Effort = EFFORT, seed: int = 0) -> RelativeThreats:
    release, people, _ = open_together(
        folder / "r", folder / "t.csv", None, dl.Schema.load(folder / "p.toml"), kind=None, engine=dl.engines.default()
    )
    assert isinstance(release, Anatomized)
    assert people is not None
    return relative_threats(release, people, "s", np.random.default_rng(seed), effort=effort)


def enumerated(case: Vertical) -> tuple[float, float, float]:
    """RF over every combination, and the sums over people of p_A and p_L of their own value."""
    combinations = list(itertools.product(*(range(len(beta)) for beta in case.beta)))
    learner, _ = joint(case, combinations, [Fraction(0)] * len(case.beta))
    rows = [(leaves, s) for group, values in case.groups for leaves, s in zip(group, values, strict=True)]
    gap = Fraction(0)
    for leaves, row in zip(combinations, learner, strict=True):
        for s, p in enumerate(row):
            mine = [others for others, value in rows if value == s]
            ideal = (case.alpha[s] + len(mine)) / (sum(case.alpha) + len(rows))
            for a, leaf in enumerate(leaves):
                ideal *= (case.beta[a][leaf] + sum(others[a] == leaf for others in mine)) / (
                    sum(case.beta[a]) + len(mine)
                )
            gap += abs(ideal - p)
    learners, attackers = joint(case, [leaves for leaves, _ in rows], [Fraction(0)] * len(case.beta))
    own = [
        sum(float(belief[s] / sum(belief)) for belief, (_, s) in zip(beliefs, rows, strict=True))
        for beliefs in (attackers, learners)
    ]
    return 1 - float(gap) / 2, own[0], own[1]


@pytest.mark.parametrize("seed", range(8))
def test_figures_of_an_anatomized_release(seed: int, tmp_path: Path) -> None:
    case = random_release(np.random.default_rng([11, seed]), worlds=300)
    written(case, tmp_path)
    found = found_in(tmp_path, seed=seed)
    faithful, attacker, _ = enumerated(case)
    people = sum(len(values) for _, values in case.groups)
    assert found.belief.method == "sampled"
    assert pytest.approx(faithful, abs=max(6 * found.faithfulness.stderr, 1e-9)) == found.faithfulness.RF
    # ABS of one person is 2(1 − p(own)).
    limit = max(6 * found.errors["ABS_A"], 1e-9)
    assert pytest.approx(2 * (people - attacker), abs=limit) == found.threats.ABS_A


def test_errors_of_figures_are_what_repeated_runs_differ_by(tmp_path: Path) -> None:
    """Of a smooth figure, over forty runs that stop as early as they may."""
    case = random_release(np.random.default_rng([11, 4]), worlds=300)
    written(case, tmp_path)
    runs = [found_in(tmp_path, Effort(mcse=0.03, sweeps=10), seed) for seed in range(40)]
    spread = float(np.std([one.threats.ABS_A for one in runs], ddof=1))
    stated = float(np.mean([one.errors["ABS_A"] for one in runs]))
    assert spread > 0
    assert 0.6 < stated / spread < 1.6  # forty runs tell a spread to 11 %; an error from 32 batches to about as much
    # So is that of a quantile of Ti, which jumps between people where a smooth figure does not.
    levels = float(np.std([one.quantile(0.5) for one in runs], ddof=1))
    told = float(np.mean([one.quantile_error(0.5) for one in runs]))
    assert levels > 0
    assert 0.5 < told / levels < 2


def test_the_command_says_what_was_sampled(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    written(random_release(np.random.default_rng([11, 4]), worlds=300), tmp_path)
    monkeypatch.chdir(tmp_path)
    asked = ["attack", "r", "--schema", "p.toml", "--truth", "t.csv"]
    assert app.run([*asked, "--mcse", "0.02"]) == 0
    said = capsys.readouterr()
    assert " ± " in said.out
    assert "NOT CONVERGED" not in said.err
    assert app.run([*asked, "--mcse", "0.0001", "--most-sweeps", "1", "-q"]) == 3
    assert capsys.readouterr().err.count("were stopped after") == 1  # however quiet
    report = ["audit", "r", "--schema", "p.toml", "--truth", "t.csv", "--json", "a.json"]
    monkeypatch.setattr("dalenius.auditing.playing.MAX_SAMPLED_PEOPLE", 0)  # as if there were many people
    assert app.run(report) == 0
    assert "--mcse 0.005 samples it" in capsys.readouterr().out
    monkeypatch.undo()
    monkeypatch.chdir(tmp_path)
    assert app.run(report) == 0  # a link that is cut is sampled without being asked for
    assert "learner on s (sampled)" in capsys.readouterr().out
    assert app.run([*report, "--mcse", "0.02"]) == 0
    assert "learner on s (sampled)" in capsys.readouterr().out


def test_jackknife_of_a_mean_is_its_standard_error() -> None:
    chains = np.array([0.3, 0.5, 0.45, 0.1, 0.2])
    without = [np.delete(chains, i).mean() for i in range(5)]
    assert jackknife(without) == pytest.approx(chains.std(ddof=1) / np.sqrt(5))


def test_chains_that_are_copies_still_have_the_error_of_their_batches() -> None:
    """Leaving one out changes nothing then; other batches would."""
    rng = np.random.default_rng(0)
    one = rng.dirichlet([5, 5], size=(1, 16, 3))  # a chain, batches, people, values
    both = np.repeat(one, 4, axis=0)
    mean = both.mean(axis=(0, 1))
    column = dl.Column("s", "sensitive", domain=dl.Domain(("x", "y")))
    number = np.arange(3, dtype=np.int32)
    draws = Replicates(both, np.full(both.shape, 0.5), number)
    belief = Belief(
        column, mean, np.full(mean.shape, 0.5), mean, np.ones(3, dtype=bool), "sampled", {"converged": True}, draws
    )
    found = _errors(belief, mean, mean, np.zeros(3, dtype=np.int32), np.ones(3, dtype=np.int64))
    # ABS_A is 2 Σ (1 − p): its error is that of a mean of 64 batches.
    right = 2 * both[..., 0].sum(axis=2).std(ddof=1) / 8
    assert found["ABS_A"] == pytest.approx(right, rel=0.3)  # sixty samples tell it to about 9 %
    assert found["GT_RW"] == 0


def test_a_policy_is_not_tested_by_what_has_not_converged(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    written(random_release(np.random.default_rng([11, 4]), worlds=300), tmp_path)
    schema = (tmp_path / "p.toml").read_text(encoding="utf-8")
    (tmp_path / "p.toml").write_text(schema + "[policy]\nmin_faithfulness = 0.01\n", encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    asked = ["audit", "r", "--schema", "p.toml", "--truth", "t.csv"]
    assert app.run([*asked, "--mcse", "0.02"]) == 0
    assert "passed      min_faithfulness" in capsys.readouterr().out
    monkeypatch.setattr("dalenius.adversaries.models.sampling.MAX_RHAT", 0.5)  # never reached
    found = audit("r", dl.Schema.load("p.toml"), truth="t.csv", effort=Effort(sweeps=2, most_sweeps=8))
    (threshold,) = found.thresholds
    assert (threshold.outcome, threshold.reason) == ("not tested", "sampling has not converged")
    assert any("have not converged" in limit for limit in found.limits)


def test_sampling_goes_on_until_accuracies_are_sharp(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Beliefs may be sharp long before it is clear which is the largest: of six releases that is so of at least three."""
    effort = Effort(mcse=0.02)
    went_on = 0
    for seed in (1, 3, 4, 5, 11, 13):
        written(random_release(np.random.default_rng([11, seed]), worlds=300), tmp_path)
        found = found_in(tmp_path, effort)
        assert found.converged
        assert max(found.errors[name] for name in ACCURACIES) <= effort.mcse
        with monkeypatch.context() as patch:
            patch.setattr("dalenius.auditing.threat.ACCURACIES", ())
            early = found_in(tmp_path, effort)
        sharp = max(early.errors[name] for name in ACCURACIES) <= effort.mcse
        assert (early.belief.diagnostics["sweeps"] == found.belief.diagnostics["sweeps"]) == sharp
        went_on += not sharp
    assert went_on >= 3


def test_a_tie_that_no_sampling_resolves_is_said(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Two values that the release does not tell apart: either is the most believed one, by chance."""
    case = random_release(np.random.default_rng([11, 7]), worlds=300)
    written(case, tmp_path)
    monkeypatch.chdir(tmp_path)
    asked = ["attack", "r", "--schema", "p.toml", "--truth", "t.csv", "--mcse", "0.02", "--most-sweeps", "5000"]
    assert app.run([*asked, "--json", "a.json"]) == 3
    assert "The beliefs themselves have converged" in capsys.readouterr().err
    document = json.loads((tmp_path / "a.json").read_text(encoding="utf-8"))
    assert document["diagnostics"]["converged"]
    assert not document["converged"]
    effort = Effort(mcse=0.02, most_sweeps=5000)
    schema = dl.Schema.load("p.toml")
    found = audit("r", dataclasses.replace(schema, policy={"min_faithfulness": 0.01}), truth="t.csv", effort=effort)
    assert any("tied or nearly tied" in limit for limit in found.limits)
    assert [one.outcome for one in found.thresholds] == ["passed"]  # what was asked for is known


def test_a_sampled_figure_near_its_limit_neither_passes_nor_fails(tmp_path: Path) -> None:
    case = random_release(np.random.default_rng([11, 4]), worlds=300)
    written(case, tmp_path)
    schema, effort = dl.Schema.load(tmp_path / "p.toml"), Effort(mcse=0.02)

    def outcomes(faithful: float, level: float) -> list[str]:
        asked = {"min_faithfulness": faithful, "max_relative_threat": {"quantile": 0.9, "value": level}}
        with_policy = dataclasses.replace(schema, policy=asked)
        found = audit(tmp_path / "r", with_policy, truth=tmp_path / "t.csv", effort=effort)
        return [one.outcome for one in found.thresholds]

    exactly = audit(tmp_path / "r", schema, truth=tmp_path / "t.csv", effort=effort).threats["s"]
    faithful, level = exactly.faithfulness, exactly.quantile(0.9)
    error = exactly.quantile_error(0.9)
    assert min(error, faithful.stderr) > 0
    assert outcomes(faithful.RF, level) == ["not tested", "not tested"]
    assert outcomes(faithful.RF - 3 * faithful.stderr, level + 3 * error) == ["passed", "passed"]
    assert outcomes(faithful.RF + 3 * faithful.stderr, level - 3 * error) == ["violated", "violated"]


@pytest.mark.parametrize("seed", [1, 4])
def test_rates_of_a_sampled_attacker_are_those_of_the_threats(
    seed: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Both are the share of people whose value is believed most; one must not be sharper than the other."""
    written(random_release(np.random.default_rng([11, seed]), worlds=300), tmp_path)
    monkeypatch.chdir(tmp_path)
    lines = (tmp_path / "t.csv").read_text(encoding="utf-8").splitlines()
    (tmp_path / "h.csv").write_text("\n".join([*lines, *lines[1:3]]) + "\n", encoding="utf-8")
    words = ["attack", "r", "--schema", "p.toml", "--truth", "t.csv", "--holdout", "h.csv", "--mcse", "0.02"]
    assert app.run([*words, "--json", "a.json"]) == 0
    document = json.loads((tmp_path / "a.json").read_text(encoding="utf-8"))
    assert document["success"]["value"] == pytest.approx(document["GT_A"], abs=1e-12)
    assert document["random_worlds"]["value"] == pytest.approx(document["GT_RW"], abs=1e-12)


def test_beliefs_that_have_not_converged_are_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Those about targets, about the people of the table and about the held-out ones, each for itself."""
    written(random_release(np.random.default_rng([11, 4]), worlds=300), tmp_path)
    monkeypatch.chdir(tmp_path)
    lines = (tmp_path / "t.csv").read_text(encoding="utf-8").splitlines()
    (tmp_path / "h.csv").write_text("\n".join([*lines, *lines[1:3]]) + "\n", encoding="utf-8")
    words = ["attack", "r", "--schema", "p.toml", "--truth", "t.csv", "--holdout", "h.csv", "--targets", "t.csv"]
    hard = ["--mcse", "0.0001", "--most-sweeps", "1", "--skip-unmatched", "-q"]
    assert app.run([*words, "-o", "b.csv", "--json", "a.json", *hard]) == 3
    said = capsys.readouterr().err
    for what in ("about targets", "about the people of the table", "about the held-out people"):
        assert said.count(f"NOT CONVERGED: beliefs {what} were stopped") == 1
    assert not json.loads((tmp_path / "a.json").read_text(encoding="utf-8"))["converged"]


def test_every_column_has_a_threshold_of_its_own() -> None:
    """A column that surely passes does not speak for one that is too near to the limit."""
    from types import SimpleNamespace
    from typing import Any

    from dalenius.auditing import policy
    from dalenius.auditing.figures import FIGURES, Findings
    from dalenius.auditing.playing import Play

    def column(level: float, error: float, faithful: float, stderr: float) -> Any:
        return SimpleNamespace(
            has_converged_beliefs=True, quantile=lambda _: level, quantile_error=lambda _: error,
            faithfulness=SimpleNamespace(RF=faithful, stderr=stderr),
        )  # fmt: skip

    asked = {"max_relative_threat": {"quantile": 0.9, "value": 2}, "min_faithfulness": 0.8}
    threats = {"a": column(1.9, 0.0, 0.81, 0.0), "b": column(1.89, 0.2, 0.812, 0.05)}
    nothing: Any = None
    findings = Findings(nothing, Play((), (), threats, ()), nothing, asked)
    figures = {key: figure for key in asked if (figure := FIGURES[key](findings)) is not None}
    found = policy.apply(asked, figures)
    assert [one.outcome for one in found] == ["passed", "not tested", "passed", "not tested"]
    assert policy.overall(found) == "incomplete"
