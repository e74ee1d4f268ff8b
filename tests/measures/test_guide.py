"""The guide's table: total, unambiguous, said in full, and its inequalities true."""

from __future__ import annotations

import itertools
import math
import re
from pathlib import Path

import numpy as np
import pytest
from marked_pages import renewed

from dalenius.errors import InputError, ParameterError
from dalenius.measures.guide import (
    QUESTIONS,
    RULES,
    Recommendation,
    Rule,
    alike,
    combinations,
    graded,
    needed_answers,
    open_questions,
    recommend,
)
from dalenius.reports.guide import markdown

ROOT = Path(__file__).resolve().parents[2]
ALL = list(combinations())
NAMES = [rule.then.measure for rule in RULES]


def test_the_five_questions() -> None:
    assert [(question.flag, question.words) for question in QUESTIONS] == [
        ("--about", ("identity", "attribute")),
        ("--loss", ("hamming", "graded")),
        ("--loss-known", ("yes", "no")),
        ("--observations", ("single", "repeated")),
        ("--case", ("worst", "average", "best")),
    ]
    assert len(ALL) == 48 == len({tuple(one.values()) for one in ALL})


@pytest.mark.parametrize("answers", ALL, ids=lambda answers: "-".join(answers.values()))
def test_every_combination_has_exactly_one_rule(answers: dict[str, str]) -> None:
    fitting = [rule for rule in RULES if rule.fits(answers)]
    assert len(fitting) == 1
    assert recommend(answers) is fitting[0].then


def test_rules_are_disjoint_and_cover_all() -> None:
    """Any two differ in a question that both answer, and together they have room for 48 combinations."""
    keys = [question.key for question in QUESTIONS]
    for one, other in itertools.combinations(RULES, 2):
        assert any(
            None not in (one.wants(key), other.wants(key)) and one.wants(key) != other.wants(key) for key in keys
        )
    room = [math.prod(1 if rule.wants(q.key) else len(q.words) for q in QUESTIONS) for rule in RULES]
    assert sum(room) == 48
    for rule in RULES:
        assert all(rule.wants(q.key) in (None, *q.words) for q in QUESTIONS)


# Table IV and figure 4 of the paper, as far as they go: about, loss, loss known, observations, case → what must be read.
PAPER = {
    ("identity", "hamming", "yes", "single", "best"): "k_anonymity.k",
    ("attribute", "hamming", "yes", "single", "best"): "distinct_l_diversity.l",
    ("identity", "hamming", "yes", "single", "worst"): "worst_min_entropy",
    ("identity", "hamming", "yes", "single", "average"): "shannon_entropy",
    ("attribute", "hamming", "no", "repeated", "average"): "shannon_entropy",
    ("attribute", "graded", "no", "single", "worst"): "t_closeness.equal",
    ("attribute", "graded", "no", "single", "average"): "mutual_information",
    ("attribute", "graded", "yes", "single", "worst"): "worst_case_privacy",
    ("attribute", "graded", "yes", "single", "average"): "average_privacy",
}


@pytest.mark.parametrize("words", PAPER)
def test_what_the_paper_says(words: tuple[str, ...]) -> None:
    answers = dict(zip((question.key for question in QUESTIONS), words, strict=True))
    assert PAPER[words] in recommend(answers).keys


@pytest.mark.parametrize("answers", ALL, ids=lambda answers: "-".join(answers.values()))
def test_moot_questions_change_nothing(answers: dict[str, str]) -> None:
    """Asked one after the other, as on a terminal, what was left out has no say: any answer to it leads to the same."""
    asked: dict[str, str] = {}
    while missing := open_questions(asked):
        asked[missing[0].key] = answers[missing[0].key]
    assert recommend(asked) is recommend(answers)
    assert {recommend(whole).measure for whole in combinations(asked)} == {recommend(answers).measure}


@pytest.mark.parametrize("answers", ALL, ids=lambda answers: "-".join(answers.values()))
def test_needed_answers(answers: dict[str, str]) -> None:
    needed = needed_answers(answers)
    assert recommend(needed) is recommend(answers)
    for key in needed:
        assert open_questions({other: answer for other, answer in needed.items() if other != key})


@pytest.mark.parametrize(
    ("answers", "left"),
    [
        ({}, ["about", "loss", "loss_known", "observations", "case"]),
        ({"loss": "graded"}, ["about", "loss_known", "case"]),
        ({"loss": "graded", "loss_known": "yes"}, ["case"]),
        ({"loss": "graded", "loss_known": "no", "case": "average"}, []),
        ({"loss": "graded", "loss_known": "no", "case": "worst"}, ["about"]),
        ({"loss": "hamming"}, ["about", "observations", "case"]),
        ({"loss": "hamming", "observations": "repeated"}, ["case"]),
        ({"about": "identity", "loss": "hamming", "observations": "single"}, ["case"]),
    ],
)
def test_what_still_matters(answers: dict[str, str], left: list[str]) -> None:
    assert [question.key for question in open_questions(answers)] == left
    if left:
        with pytest.raises(InputError, match=f"needs an answer to {', '.join(left)}"):
            recommend(answers)


def test_wrong_answers() -> None:
    with pytest.raises(ParameterError, match="'--case' parameter of guide must be worst, average or best"):
        recommend({"case": "mean"})
    with pytest.raises(InputError, match="does not ask for 'colour'"):
        recommend({"colour": "red"})


@pytest.mark.parametrize("rule", RULES, ids=NAMES)
def test_all_is_said(rule: Rule) -> None:
    one = rule.then
    assert NAMES.count(one.measure) == 1
    sentences = (one.why, *one.assumes, *one.limits, one.bounds)
    assert one.assumes
    assert one.limits
    for sentence in sentences:
        assert sentence[0] == sentence[0].upper() or sentence[0] in "tδℓk"
        assert sentence.endswith(".")
        assert sentence == " ".join(sentence.split())  # pieces were joined with one space
    assert len(set(sentences)) == len(sentences)
    assert one.keys
    assert re.search(r"2013, .*section", one.reference)
    for command in (one.command, *(other.command for other in one.also)):
        assert command.startswith("dalenius ")
        assert len(command) <= 110
    assert "ΔP" not in one.bounds or "ΔP" in one.notation
    assert ("P(y)" in one.notation) == bool(re.search(r"(?<!Δ)P\(y\)", one.bounds))
    assert set(re.findall(r"d_max|TV|α", one.bounds)) == {"d_max", "TV", "α"} & set(one.notation)


def test_every_recommendation_is_used() -> None:
    texts = [one for part in (alike, graded) for one in vars(part).values() if isinstance(one, Recommendation)]
    assert len(texts) == len(RULES)
    assert {id(one) for one in texts} == {id(rule.then) for rule in RULES}


def test_the_page_has_the_table() -> None:
    """docs/guide.md is what scripts/write_guide.py would write."""
    page = (ROOT / "docs" / "guide.md").read_text(encoding="utf-8")
    assert markdown() in page
    assert renewed(page, "write_guide.py", markdown()) == page
    with pytest.raises(SystemExit, match="no marks"):
        renewed(page, "write_nothing.py", "")
    assert f"{len(ALL)} combinations of answers fall under {len(RULES)} rules" in page


# ---------------------------------------------------------------------------- the bounds, on distributions at random


def distributions(rng: np.random.Generator, n: int, *, full: bool) -> np.ndarray:
    found = rng.dirichlet(np.full(n, rng.choice([0.2, 1.0, 5.0]))) + 1e-9
    if not full and n > 2:
        found[rng.integers(n)] = 0.0
    return found / found.sum()


def test_bounds_of_entropies() -> None:
    rng = np.random.default_rng(1)
    for _ in range(500):
        n, m = int(rng.integers(2, 7)), int(rng.integers(1, 5))
        weights = distributions(rng, m, full=True) if m > 1 else np.ones(1)
        posteriors = [distributions(rng, n, full=bool(rng.integers(2))) for _ in range(m)]
        errors, entropies = [], []
        for p in posteriors:
            positive = p[p > 0]
            least, shannon, hartley = -np.log2(p.max()), -(positive * np.log2(positive)).sum(), np.log2(len(positive))
            assert least <= shannon + 1e-12 <= hartley + 2e-12
            error = 1 - p.max()
            assert error == pytest.approx(1 - 2**-least)
            assert error <= 1 - 2**-hartley + 1e-12
            errors.append(error)
            entropies.append(shannon)
        error, entropy = weights @ errors, weights @ entropies
        assert (entropy - 1) / np.log2(n) <= error + 1e-12
        assert error <= 1 - 2**-entropy + 1e-12


def test_bounds_of_divergences() -> None:
    """ΔP under losses at random; for earth mover's distances under absolute loss. The factor 2 is nearly needed."""
    rng = np.random.default_rng(2)
    closest = 0.0
    for _ in range(1000):
        n = int(rng.integers(2, 6))
        joint = rng.dirichlet(np.full(n * 3, rng.choice([0.3, 2.0, 20.0]))).reshape(n, 3) + 1e-9
        joint /= joint.sum()
        q, seen = joint.sum(axis=1), joint.sum(axis=0)
        loss = rng.random((n, n)) * (1 - np.eye(n))
        line = np.abs(np.subtract.outer(np.arange(n), np.arange(n))).astype(float)
        gains, divergences, ratios = [], [], []
        for y in range(3):
            p = joint[:, y] / seen[y]
            variation, divergence = np.abs(p - q).sum() / 2, (p * np.log(p / q)).sum()
            delta = np.abs(np.log(p / q)).max()
            gain = p @ loss[:, (q @ loss).argmin()] - (p @ loss).min()
            assert gain <= 2 * loss.max() * variation + 1e-12
            assert 2 * loss.max() * variation <= math.sqrt(2 * divergence) * loss.max() + 1e-12
            assert variation <= math.tanh(delta / 2) + 1e-12
            closest = max(closest, gain / (2 * loss.max() * variation))
            moved = np.abs(np.cumsum(p - q)).sum() / (n - 1)  # t, ordered: of distances divided by the largest
            assert p @ line[:, (q @ line).argmin()] - (p @ line).min() <= 2 * line.max() * moved + 1e-12
            gains.append(gain)
            divergences.append(divergence)
            ratios.append(delta)
        information = seen @ divergences
        assert seen @ np.square(gains) <= 2 * loss.max() ** 2 * information + 1e-12
        assert seen @ gains <= math.sqrt(2 * information) * loss.max() + 1e-12
        assert information <= max(divergences) + 1e-12 <= max(ratios) + 2e-12
    assert closest > 0.6


def test_a_count_bounds_no_near_miss() -> None:
    """Three values are left, a hair apart, far from what was common: the observation is worth d_max."""
    places = np.array([0.0, 0.9999, 0.99995, 1.0])
    loss = np.abs(np.subtract.outer(places, places))
    q, p = np.array([0.97, 0.01, 0.01, 0.01]), np.array([0.0, 1, 1, 1]) / 3
    assert p @ loss[:, (q @ loss).argmin()] - (p @ loss).min() > 0.999 * loss.max()
