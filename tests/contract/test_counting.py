"""What every adversary on noisy counts must do, whatever the counts are of: the registry's, one by one."""

from __future__ import annotations

import json
import random
from pathlib import Path

import numpy as np
import pytest

import dalenius as dl
from dalenius.adversaries import ADVERSARIES, UNKNOWN, Refused, Targets, adversaries_needing, make_adversary
from dalenius.belief import Belief
from dalenius.releases import NoisyCounts, Release

VALUES = ("Ache", "Flu", "Gout", "Pox")
SCHEMA = """sensitive = "disease"
[columns.age]
role = "quasi"
type = "integer"
domain = { min = 20, max = 25 }
intervals = [2]
[columns.city]
role = "quasi"
domain = ["Oslo", "Bergen", "Hamar"]
[columns.weight]
role = "quasi"
type = "integer"
domain = { min = 50, max = 99 }
[columns.disease]
role = "sensitive"
domain = ["Ache", "Flu", "Gout", "Pox"]
"""
AGES, CITIES = [str(age) for age in range(20, 26)], ["Oslo", "Bergen", "Hamar"]
WEIGHTS = [str(weight) for weight in range(50, 100)]
COUNTING = adversaries_needing("counts")
KINDS: dict[str, dict[str, list[str]]] = {
    "leaves": {"age": AGES, "city": CITIES, "weight": WEIGHTS},
    "labels": {"age": ["[20, 21]", "[22, 23]", "[24, 25]"], "city": ["{Oslo, Hamar}", "Bergen"], "weight": ["*"]},
    "joint": {
        json.dumps(["age", "city"]): [json.dumps([age, city]) for age in ("20-22", "23-25") for city in CITIES],
        "weight": ["<70", ">=70"],
    },
    "gaussian": {"age": AGES, "city": CITIES, "weight": ["n", "sum", "squares"]},
}
Line = tuple[str, str, str, float]


def lines(kind: str, seed: int) -> list[Line]:
    """Counts that follow the values somewhat, some of them below 0."""
    rng = np.random.default_rng(seed)
    found = []
    for column, rows in KINDS[kind].items():
        for i, row in enumerate(rows):
            for s, value in enumerate(VALUES):
                count = {"n": 300, "sum": 300 * (10 + 6 * s), "squares": 300 * (150 + (10 + 6 * s) ** 2)}.get(
                    row, 400 if i % len(VALUES) == s else 40
                )
                found.append((column, row, value, float(count + rng.integers(-60, 61))))
    return found


def write(folder: Path, rows: list[Line], kind: str, schema: str = SCHEMA) -> NoisyCounts:
    folder.mkdir()
    (folder / "privacy.toml").write_text(schema, encoding="utf-8")
    quoted = ['"{}","{}",{},{}'.format(c.replace('"', '""'), v.replace('"', '""'), s, n) for c, v, s, n in rows]
    (folder / "c.counts.csv").write_text("\n".join(["column,value,disease,count", *quoted]) + "\n", encoding="utf-8")
    meta = {"mechanism": "laplace", "scale": 20.0, "epsilon": 0.25, "sensitivity": 3, "neighbours": "add-remove"}
    extra = {"gaussian": {"weight": {"low": 55, "high": 95}}} if kind == "gaussian" else {}
    (folder / "c.json").write_text(json.dumps({**meta, **extra}), encoding="utf-8")
    release = dl.read_release(folder / "c", folder / "privacy.toml")
    assert isinstance(release, NoisyCounts)
    return release


def everybody(release: NoisyCounts) -> Targets:
    codes = [[a, c, w] for a in range(-1, 6) for c in range(-1, 3) for w in (-1, 0, 17, 49)]
    return Targets(release.schema, np.array(codes, dtype=np.int32))


def believe(name: str, release: Release, targets: Targets, seed: int = 0) -> Belief:
    return make_adversary(name).attack(release, targets, rng=np.random.default_rng(seed))


@pytest.fixture(params=sorted(COUNTING))
def adversary(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture(params=sorted(KINDS))
def kind(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture
def opened(kind: str, tmp_path: Path) -> NoisyCounts:
    return write(tmp_path / "release", lines(kind, 1), kind)


def test_beliefs_are_distributions_of_everybody(adversary: str, opened: NoisyCounts) -> None:
    belief = believe(adversary, opened, everybody(opened))
    assert belief.matched.all()
    assert (belief.posterior >= 0).all()
    np.testing.assert_allclose(belief.posterior.sum(axis=1), 1, atol=1e-9)
    np.testing.assert_allclose(belief.baseline.sum(axis=1), 1, atol=1e-9)
    json.dumps(dict(belief.diagnostics))


def test_same_seed_same_belief(adversary: str, opened: NoisyCounts) -> None:
    one, two = (believe(adversary, opened, everybody(opened), seed=3) for _ in range(2))
    np.testing.assert_array_equal(one.posterior, two.posterior)
    np.testing.assert_array_equal(one.baseline, two.baseline)


def test_alone_and_among_others(adversary: str, opened: NoisyCounts) -> None:
    everyone = everybody(opened)
    whole = believe(adversary, opened, everyone)
    for i in (0, 5, len(everyone) - 1):
        alone = believe(adversary, opened, Targets(opened.schema, everyone.codes[i : i + 1]))
        np.testing.assert_allclose(alone.posterior[0], whole.posterior[i], atol=1e-12)


def test_the_order_of_lines_is_irrelevant(adversary: str, kind: str, opened: NoisyCounts, tmp_path: Path) -> None:
    shuffled = random.Random(4).sample(lines(kind, 1), len(lines(kind, 1)))
    other = write(tmp_path / "shuffled", shuffled, kind)
    one, two = believe(adversary, opened, everybody(opened)), believe(adversary, other, everybody(other))
    np.testing.assert_allclose(two.posterior, one.posterior, atol=1e-12)


@pytest.mark.parametrize("deterministic", sorted(set(COUNTING) - {"naive-bayes-drawn"}))
def test_renaming_values_permutes_columns_only(
    deterministic: str, kind: str, opened: NoisyCounts, tmp_path: Path
) -> None:
    names = dict(zip(VALUES, ("zeta", "mu", "xi", "alpha"), strict=True))
    schema = SCHEMA.replace('["Ache", "Flu", "Gout", "Pox"]', '["alpha", "mu", "xi", "zeta"]')
    other = write(tmp_path / "renamed", [(c, v, names[s], n) for c, v, s, n in lines(kind, 1)], kind, schema)
    one, two = believe(deterministic, opened, everybody(opened)), believe(deterministic, other, everybody(other))
    back = [other.target.leaves.index(names[value]) for value in opened.target.leaves]
    assert back != sorted(back)
    np.testing.assert_allclose(two.posterior[:, back], one.posterior, atol=1e-12)


def test_who_knows_nothing_believes_the_shares(adversary: str, opened: NoisyCounts) -> None:
    belief = believe(adversary, opened, Targets(opened.schema, np.full((1, 3), UNKNOWN, dtype=np.int32)))
    np.testing.assert_allclose(belief.posterior, belief.baseline, atol=1e-12)


def test_something_is_learned(adversary: str, opened: NoisyCounts) -> None:
    """The counts do tell something: beliefs about somebody differ from the shares."""
    belief = believe(adversary, opened, everybody(opened))
    assert np.abs(belief.posterior - belief.baseline).max() > 0.1


def test_other_releases_are_refused(adversary: str, tmp_path: Path) -> None:
    (tmp_path / "p.toml").write_text('[columns.q]\nrole = "quasi"\n[columns.s]\nrole = "sensitive"\n', encoding="utf-8")
    (tmp_path / "r.csv").write_text("q,s\na,x\n", encoding="utf-8")
    release = dl.read_release(tmp_path / "r.csv", tmp_path / "p.toml")
    with pytest.raises(Refused, match=f"^{adversary} cannot attack this release: .* does not count"):
        believe(adversary, release, Targets(release.schema, np.zeros((1, 1), dtype=np.int32)))


def test_each_says_what_it_knows_and_does(adversary: str) -> None:
    found = make_adversary(adversary)
    assert found.name == adversary
    for sentence in (found.knows, found.does):
        assert len(sentence.split()) >= 4
        assert not sentence.endswith(".")


def test_the_audit_plays_the_first_of_them_only() -> None:
    assert [name for name in COUNTING if ADVERSARIES[name].is_audited] == ["naive-bayes"]
    assert next(iter(COUNTING)) == "naive-bayes"
