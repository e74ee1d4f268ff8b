"""Naive Bayes on noisy counts: against scikit-learn where the definitions coincide, and against the printed formulas."""

from __future__ import annotations

import itertools
import math
from pathlib import Path

import numpy as np
import pytest
from sklearn.naive_bayes import CategoricalNB

import dalenius as dl
from dalenius.adversaries import Refused, Targets, make_adversary
from dalenius.adversaries.models.count_classifier import shares
from dalenius.publishers.noisy_counts import Counts, Simulation
from dalenius.releases import NoisyCounts

SIZES = (4, 3, 2)
VALUES = 5
QUASI = [dl.Column(f"q{a}", "quasi", domain=dl.Domain(tuple(f"l{i}" for i in range(n)))) for a, n in enumerate(SIZES)]
SCHEMA = dl.Schema([*QUASI, dl.Column("s", "sensitive", domain=dl.Domain(tuple(f"v{i}" for i in range(VALUES))))]).bind(
    {}
)


def exact(codes: np.ndarray, joint: tuple[tuple[str, ...], ...] = ()) -> NoisyCounts:
    """The counts of coded people, the value last, without noise."""
    names = [column.name for column in SCHEMA.quasi]
    alone = [name for name in names if not any(name in together for together in joint)]
    tables = []
    for together in [*((name,) for name in alone), *joint]:
        sizes = [SIZES[names.index(name)] for name in together]
        table = np.zeros((*sizes, VALUES))
        np.add.at(table, (*(codes[:, names.index(name)] for name in together), codes[:, -1]), 1)
        tables.append(table.reshape(-1, VALUES))
    return NoisyCounts(SCHEMA, "s", tuple(tables), "none", 0.0, None, len(tables), "add-remove", joint)


def people(seed: int, n: int = 200) -> np.ndarray:
    rng = np.random.default_rng(seed)
    value = rng.integers(VALUES, size=n) ** 2 // VALUES
    return np.column_stack([*((value + rng.integers(size, size=n) // 2) % size for size in SIZES), value]).astype(
        np.int32
    )


def everybody() -> Targets:
    return Targets(SCHEMA, np.array(list(itertools.product(*map(range, SIZES))), dtype=np.int32))


@pytest.mark.parametrize("seed", range(5))
def test_without_noise_it_is_scikit_learns(seed: int) -> None:
    """Its conditional probabilities are the printed ones; its shares of values are not, and are given to it."""
    codes = people(seed)
    release = exact(codes)
    model = CategoricalNB(alpha=1.0, class_prior=shares(release)[np.unique(codes[:, -1])], min_categories=list(SIZES))
    model.fit(codes[:, :-1], codes[:, -1])
    belief = make_adversary("naive-bayes").attack(release, everybody())
    seen = model.classes_
    # A value that nobody has: scikit-learn does not know of it.
    mine = belief.posterior[:, seen] / belief.posterior[:, seen].sum(axis=1, keepdims=True)
    assert np.abs(mine - model.predict_proba(everybody().codes)).max() < 1e-12


def plain(release: NoisyCounts, target: tuple[int, ...]) -> list[float]:
    """The printed estimators, number by number; −1 is not known."""
    weights = []
    for s in range(VALUES):
        marginal = sum(1 + max(0.0, float(table[v, s])) for table in release.noisy for v in range(len(table)))
        product = marginal
        for names, table in zip(release.tables, release.noisy, strict=True):
            own = [int(name[1:]) for name in names]
            rows = list(itertools.product(*(range(SIZES[a]) for a in own)))
            fits = [
                v
                for v, row in enumerate(rows)
                if all(target[a] in (-1, code) for a, code in zip(own, row, strict=True))
            ]
            product *= math.fsum(1 + max(0.0, float(table[v, s])) for v in fits)
            product /= math.fsum(1 + max(0.0, float(table[v, s])) for v in range(len(rows)))
        weights.append(product)
    return [weight / math.fsum(weights) for weight in weights]


@pytest.mark.parametrize("joint", [(), (("q0", "q2"),), (("q0", "q1", "q2"),)])
@pytest.mark.parametrize("seed", range(4))
def test_the_printed_estimators_under_noise_with_unknown_attributes(
    seed: int, joint: tuple[tuple[str, ...], ...]
) -> None:
    rng = np.random.default_rng(seed)
    quiet = exact(people(seed), joint)
    noise = tuple(table + rng.integers(-30, 31, size=table.shape) for table in quiet.noisy)
    assert min(table.min() for table in noise) < 0
    release = NoisyCounts(SCHEMA, "s", noise, "geometric", 9.0, len(noise) / 9, len(noise), "add-remove", joint)
    codes = np.array(list(itertools.product(*(range(-1, size) for size in SIZES))), dtype=np.int32)
    belief = make_adversary("naive-bayes").attack(release, Targets(SCHEMA, codes), column="s")
    expected = np.array([plain(release, tuple(row)) for row in codes.tolist()])
    assert np.abs(belief.posterior - expected).max() < 1e-12
    assert belief.method == "exact"
    assert not belief.stderr.any()
    assert belief.matched.all()
    nothing = codes.tolist().index([-1, -1, -1])
    assert np.abs(belief.posterior[nothing] - shares(release)).max() < 1e-12
    assert np.abs(belief.baseline - shares(release)).max() == 0


def test_the_marginal_is_made_of_all_tables() -> None:
    """Two tables that disagree, as noise has it, and one value with nothing but noise."""
    counts = (np.array([[3.0, -5.0], [1.0, 2.0]]), np.array([[10.0, -1.0], [0.0, 0.5], [2.0, -7.0]]))
    columns = [dl.Column(f"q{a}", "quasi", domain=dl.Domain(tuple(map(str, range(n))))) for a, n in enumerate((2, 3))]
    schema = dl.Schema([*columns, dl.Column("s", "sensitive", domain=dl.Domain(("x", "y")))]).bind({})
    release = NoisyCounts(schema, "s", counts, "laplace", 1.0, 2.0, 2, "add-remove")
    x, y = (4 + 2) + (11 + 1 + 3), (1 + 3) + (1 + 1.5 + 1)
    assert shares(release) == pytest.approx([x / (x + y), y / (x + y)], abs=1e-15)
    belief = make_adversary("naive-bayes").attack(release, Targets(schema, np.array([[1, 0]], dtype=np.int32)))
    right = [x * (2 / 6) * (11 / 15), y * (3 / 4) * (1 / 3.5)]
    assert belief.posterior[0] == pytest.approx([one / sum(right) for one in right], abs=1e-14)


def test_very_many_attributes_do_not_underflow() -> None:
    names = [f"q{a}" for a in range(400)]
    columns = [dl.Column(name, "quasi", domain=dl.Domain(tuple(map(str, range(50))))) for name in names]
    schema = dl.Schema([*columns, dl.Column("s", "sensitive", domain=dl.Domain(("x", "y")))]).bind({})
    counts = tuple(np.tile([[1.0, 2.0]], (50, 1)) for _ in names)
    release = NoisyCounts(schema, "s", counts, "none", 0.0, None, 400, "add-remove")
    belief = make_adversary("naive-bayes").attack(release, Targets(schema, np.zeros((1, 400), dtype=np.int32)))
    assert belief.posterior[0] == pytest.approx([0.4, 0.6], abs=1e-9)  # equal conditionals: the shares 2 to 3 remain


def test_what_it_refuses(tmp_path: Path) -> None:
    (tmp_path / "p.toml").write_text('[columns.q]\nrole = "quasi"\n[columns.s]\nrole = "sensitive"\n', encoding="utf-8")
    (tmp_path / "r.csv").write_text("q,s\na,x\n", encoding="utf-8")
    release = dl.read_release(tmp_path / "r.csv", tmp_path / "p.toml")
    with pytest.raises(Refused, match="does not count"):
        make_adversary("naive-bayes").attack(release, Targets(release.schema, np.zeros((1, 1), dtype=np.int32)))
    with pytest.raises(dl.InputError, match="about 's'"):
        make_adversary("naive-bayes").attack(exact(people(0)), everybody(), column="t")


def test_published_and_simulated_counts() -> None:
    """Noise of OpenDP and noise of an experiment: both can be attacked, and little noise changes little."""
    table = dl.datasets.hospital(4000, seed=2)
    targets = Targets(table.schema, table.cells().codes[:, : len(table.schema.quasi)])
    exactly = make_adversary("naive-bayes").attack(Simulation(1e6).draw(table, 0), targets).posterior
    published = make_adversary("naive-bayes").attack(Counts(1e6).publish(table).release, targets).posterior
    assert np.abs(exactly - published).max() < 1e-9  # with ε of a million no count is changed
    noisy = make_adversary("naive-bayes").attack(Counts(0.01).publish(table).release, targets).posterior
    assert np.abs(noisy - exactly).max() > 0.1
