"""What every adversary owes, whatever the release: one suite over the registry × the kinds of release.

A new adversary is run through all of it without a line here. Two promises are those of an adversary that takes the
target to be in the release (`assumes_presence`): certainty about singletons, and nothing but the table's frequencies from
a release that tells nothing.
"""

from __future__ import annotations

import csv
import random
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

import dalenius as dl
from dalenius.adversaries import ADVERSARIES, UNKNOWN, Refused, Targets, adversaries_needing, make_adversary
from dalenius.adversaries.models.sampling import spread
from dalenius.belief import Belief
from dalenius.releases import KINDS, Release
from dalenius.schema import Schema

SCHEMA = """sensitive = "disease"
[columns.age]
role = "quasi"
type = "integer"
domain = { min = 20, max = 25 }
[columns.city]
role = "quasi"
domain = ["Oslo", "Bergen", "Hamar"]
[columns.disease]
role = "sensitive"
domain = ["Ache", "Flu", "Gout", "Pox"]
"""
VALUES = ("Ache", "Flu", "Gout", "Pox")
CITIES = ("Oslo", "Bergen", "Hamar")
Rows = list[dict[str, str]]
Files = dict[str, Rows]  # what stands in each file of a release, by the ending of its name

RAW = [
    {"age": str(age), "city": city, "disease": disease}
    for age, city, disease in [
        (20, "Oslo", "Flu"), (20, "Oslo", "Pox"), (20, "Oslo", "Flu"), (21, "Hamar", "Ache"), (22, "Oslo", "Flu"),
        (23, "Bergen", "Pox"), (23, "Bergen", "Flu"), (25, "Hamar", "Flu"),
    ]
]  # fmt: skip


def cells(*lines: str) -> Rows:
    return [dict(zip(("age", "city", "disease"), line.split("; "), strict=True)) for line in lines]


BOXES = cells(
    "[20, 22]; Oslo; Flu", "[20, 22]; Oslo; Pox", "[20, 22]; Oslo; Flu", "[23, 25]; *; Ache", "[23, 25]; *; Flu"
)
OVERLAPS = cells(
    "[20, 23]; {Oslo, Bergen}; Flu", "[20, 23]; {Oslo, Bergen}; Pox", "[22, 25]; {Bergen, Hamar}; Flu",
    "[22, 25]; {Bergen, Hamar}; Ache", "22; Oslo; Flu", "*; *; Gout", "*; *; Flu",
)  # fmt: skip
WEIGHED = [{**row, "count": str(2 + i)} for i, row in enumerate(BOXES)]
ANATOMY: Files = {
    ".quasi.csv": [
        {"group": str(i // 3), "age": row["age"], "city": row["city"]} for i, row in enumerate(RAW[:6])
    ],
    ".sensitive.csv": [{"group": str(i // 3), "disease": row["disease"]} for i, row in enumerate(RAW[:6])],
}  # fmt: skip
MEANS: Files = {
    ".csv": [
        {"group": group, **row}
        for group, row in zip(
            "aabbbccd",
            cells(
                "20.5; Oslo; Flu", "20.5; Oslo; Pox", "22; Oslo; Flu", "22; Oslo; Flu", "22; Oslo; Ache", "23.5; Bergen; Gout",
                "23.5; Bergen; Flu", "25; Hamar; Flu",
            ),
            strict=True,
        )
    ],
    ".csv.meta.json": [],
}  # fmt: skip
RELEASES: dict[str, Files] = {
    "generalized": {".csv": BOXES},
    "generalized, overlapping, suppressed rows": {".csv": OVERLAPS},
    "generalized, counts": {".csv": WEIGHED},
    "raw table": {".csv": RAW},
    "anatomized": ANATOMY,
    "centroids": MEANS,
}


def put(folder: Path, files: Files, schema: str = SCHEMA) -> None:
    folder.mkdir(exist_ok=True)
    (folder / "privacy.toml").write_text(schema, encoding="utf-8")
    for ending, rows in files.items():
        if not rows:  # the sidecar of centroids
            (folder / f"release{ending}").write_text('{"kind": "centroids"}', encoding="utf-8")
            continue
        with (folder / f"release{ending}").open("w", encoding="utf-8", newline="") as file:
            writer = csv.DictWriter(file, rows[0])
            writer.writeheader()
            writer.writerows(rows)


def write(folder: Path, files: Files, schema: str = SCHEMA) -> Release:
    put(folder, files, schema)
    whole = folder / "release.csv"
    return dl.read_release(whole if whole.exists() else folder / "release", folder / "privacy.toml")


def everybody(schema: Schema, cities: tuple[str, ...] = CITIES) -> Targets:
    """Every target that there can be, attributes known or not, in a fixed order of meaning."""
    city = schema["city"].leaves
    codes = [
        [age, UNKNOWN if name is None else city.index(name)] for age in range(UNKNOWN, 6) for name in (None, *cities)
    ]
    return Targets(schema, np.array(codes, dtype=np.int32))


def believe(name: str, release: Release, targets: Targets, seed: int = 0) -> Belief:
    return make_adversary(name).attack(release, targets, rng=np.random.default_rng(seed))


def close(belief: Belief) -> float:
    """How far two runs of a sampler may be apart: six standard errors; nothing to speak of where it is exact."""
    return float(1e-9 + 6 * np.nan_to_num(belief.stderr).max())


def close_baseline(belief: Belief) -> float:
    """The same for the baseline, where that was sampled too."""
    draws = belief.replicates
    if draws is None or draws.baseline is None:
        return 0.0
    return float(8 * spread(draws.baseline)[0].max())  # six errors of a difference


# Of the realistic adversaries, which are written out and in no registry, one of each class.
REALISTIC = ["I:uniform:30", "I:uniform:30:at-most", "II:50", "III:uniform", "IV"]


# Those of noisy counts have a suite of their own, test_counting.py.
ALL = [*sorted(set(ADVERSARIES) - set(adversaries_needing("counts"))), *REALISTIC]
OFFERED = {"anatomized": {"classes", "links"}, "centroids": {"classes", "centres"}}


def attacks(name: str, kind: str) -> bool:
    """Whether this adversary attacks releases of this kind: they offer evidence that it needs."""
    return bool(set(make_adversary(name).needs) & OFFERED.get(kind, {"classes", "rows"}))


CASES = [(name, kind) for name in ALL for kind in sorted(RELEASES) if attacks(name, kind)]


@pytest.fixture(params=CASES, ids=lambda case: "-".join(case))
def case(request: pytest.FixtureRequest) -> tuple[str, str]:
    name, kind = request.param
    return name, kind


@pytest.fixture
def adversary(case: tuple[str, str]) -> str:
    return case[0]


@pytest.fixture(params=[name for name in ALL if attacks(name, "generalized") and make_adversary(name).assumes_presence])
def present(request: pytest.FixtureRequest) -> str:
    """An adversary that takes the target to be in the release, whatever its kind."""
    return str(request.param)


@pytest.fixture
def files(case: tuple[str, str]) -> Files:
    """A release that this adversary attacks."""
    return RELEASES[case[1]]


@pytest.fixture
def opened(files: Files, tmp_path: Path) -> Release:
    return write(tmp_path / "release", files)


@pytest.mark.slow
def test_rows_sum_to_one_or_are_undefined(adversary: str, opened: Release) -> None:
    belief = believe(adversary, opened, everybody(opened.schema))
    assert belief.posterior.shape == (len(belief), len(VALUES))
    matched = belief.posterior[belief.matched]
    assert belief.matched.any()
    assert ((matched >= 0) & (matched <= 1)).all()
    np.testing.assert_allclose(matched.sum(axis=1), 1, atol=1e-9)
    assert np.isnan(belief.posterior[~belief.matched]).all()
    assert belief.column.name == "disease"
    assert belief.stderr.shape == belief.posterior.shape
    if belief.method == "exact":
        assert (belief.stderr == 0).all()


@pytest.mark.slow
def test_the_baseline_sums_to_one(adversary: str, opened: Release) -> None:
    belief = believe(adversary, opened, everybody(opened.schema))
    assert (belief.baseline >= 0).all()
    if not make_adversary(
        adversary
    ).baseline_sums_to_one:  # an entry is for a person who has that value: none is left out twice
        assert (belief.baseline.sum(axis=1) <= 1 + 1e-9).all()
        return
    np.testing.assert_allclose(belief.baseline.sum(axis=1), 1, atol=1e-9)


@pytest.mark.slow
def test_same_seed_same_belief(adversary: str, opened: Release) -> None:
    targets = everybody(opened.schema)
    one, two = believe(adversary, opened, targets, seed=3), believe(adversary, opened, targets, seed=3)
    for field in ("posterior", "baseline", "stderr", "matched"):
        np.testing.assert_array_equal(getattr(one, field), getattr(two, field))


@pytest.mark.slow
def test_a_target_is_believed_the_same_alone_and_among_others(adversary: str, opened: Release) -> None:
    everyone = everybody(opened.schema)
    whole = believe(adversary, opened, everyone)
    for i in (0, 5, len(everyone) - 1):
        alone = believe(adversary, opened, Targets(opened.schema, everyone.codes[i : i + 1]))
        np.testing.assert_allclose(alone.posterior[0], whole.posterior[i], atol=close(whole))
    order = np.random.default_rng(2).permutation(len(everyone))
    shuffled = believe(adversary, opened, Targets(opened.schema, everyone.codes[order]))
    np.testing.assert_allclose(shuffled.posterior, whole.posterior[order], atol=close(whole))


@pytest.mark.slow
def test_the_order_of_rows_is_irrelevant(adversary: str, files: Files, opened: Release, tmp_path: Path) -> None:
    shuffled = {ending: random.Random(4).sample(rows, len(rows)) for ending, rows in files.items()}
    assert any(shuffled[ending] != files[ending] for ending in files)
    other = write(tmp_path / "shuffled", shuffled)
    targets = everybody(opened.schema)
    one, two = believe(adversary, opened, targets), believe(adversary, other, targets)
    np.testing.assert_allclose(two.posterior, one.posterior, atol=close(one))
    np.testing.assert_allclose(two.baseline, one.baseline, rtol=1e-12, atol=close_baseline(one))


def renamed(files: Files, column: str, names: dict[str, str]) -> Files:
    """The release with other words for the values of a column, in sets too."""

    def word(text: str) -> str:
        if text.startswith("{"):
            return "{" + ", ".join(names[part] for part in text.strip("{}").split(", ")) + "}"
        return names.get(text, text)

    return {
        ending: [{**row, column: word(row[column])} if column in row else row for row in rows]
        for ending, rows in files.items()
    }


@pytest.mark.slow
def test_renaming_values_permutes_columns_only(adversary: str, files: Files, opened: Release, tmp_path: Path) -> None:
    """Other words, which sort in another order: the same belief in another order of columns."""
    names = {"Ache": "zeta", "Flu": "mu", "Gout": "xi", "Pox": "alpha"}
    schema = SCHEMA.replace('["Ache", "Flu", "Gout", "Pox"]', '["alpha", "mu", "xi", "zeta"]')
    other = write(tmp_path / "renamed", renamed(files, "disease", names), schema)
    targets = everybody(opened.schema)
    one, two = believe(adversary, opened, targets), believe(adversary, other, Targets(other.schema, targets.codes))
    back = [two.column.leaves.index(names[value]) for value in one.column.leaves]
    assert back != sorted(back)
    np.testing.assert_allclose(two.posterior[:, back], one.posterior, atol=close(one))
    np.testing.assert_allclose(two.baseline[:, back], one.baseline, rtol=1e-7, atol=close_baseline(one))


@pytest.mark.slow
def test_renaming_quasi_identifiers_changes_nothing(
    adversary: str, files: Files, opened: Release, tmp_path: Path
) -> None:
    names = {"Oslo": "Rome", "Bergen": "Arezzo", "Hamar": "Milan"}
    schema = SCHEMA.replace('["Oslo", "Bergen", "Hamar"]', '["Arezzo", "Milan", "Rome"]')
    other = write(tmp_path / "renamed", renamed(files, "city", names), schema)
    one = believe(adversary, opened, everybody(opened.schema))
    two = believe(adversary, other, everybody(other.schema, tuple(names[city] for city in CITIES)))
    np.testing.assert_allclose(two.posterior, one.posterior, atol=close(one))


def test_unknown_attributes_are_allowed(adversary: str, opened: Release) -> None:
    nothing = Targets(opened.schema, np.full((1, 2), UNKNOWN, dtype=np.int32))
    belief = believe(adversary, opened, nothing)
    assert belief.matched.all()
    found = make_adversary(adversary)
    # Whoever knows nothing of the target has the table's frequencies; but naive Bayes on the values of each group does not
    # count how often they are there.
    if (
        found.assumes_presence
        and found.baseline_sums_to_one
        and found.baseline_is_table
        and adversary != "definetti-group"
    ):
        np.testing.assert_allclose(belief.posterior, belief.baseline, atol=close(belief))


@pytest.mark.parametrize("mark", ["*", "{20, 21, 22, 23, 24, 25}"])
def test_a_release_that_tells_nothing_gives_the_tables_frequencies(present: str, mark: str, tmp_path: Path) -> None:
    diseases = ["Flu"] * 5 + ["Pox"] * 2 + ["Ache"]
    rows = [{"age": mark, "city": "*", "disease": disease} for disease in diseases]
    release = write(tmp_path / "silent", {".csv": rows})
    belief = believe(present, release, everybody(release.schema))
    frequencies = [diseases.count(value) / len(diseases) for value in VALUES]
    assert belief.matched.all()
    for row, baseline in zip(belief.posterior, belief.baseline, strict=True):
        np.testing.assert_allclose(row, frequencies, atol=max(1e-12, close(belief)))
        if make_adversary(present).baseline_sums_to_one and make_adversary(present).baseline_is_table:
            np.testing.assert_allclose(baseline, frequencies, atol=1e-12)


@pytest.mark.parametrize("kind", ["raw table", "anatomized"])
def test_singletons_give_certainty(present: str, kind: str, tmp_path: Path) -> None:
    """A person published with an exact tuple that nobody shares, in a class of its own."""
    found: Files = {".csv": RAW}
    if kind == "anatomized":
        found = {
            ".quasi.csv": [*ANATOMY[".quasi.csv"], {"group": "9", "age": "25", "city": "Hamar"}],
            ".sensitive.csv": [*ANATOMY[".sensitive.csv"], {"group": "9", "disease": "Flu"}],
        }
    release = write(tmp_path / "single", found)
    target = Targets(release.schema, np.array([[5, CITIES.index("Hamar")]], dtype=np.int32))
    belief = believe(present, release, target)
    np.testing.assert_allclose(belief.posterior[0], [value == "Flu" for value in VALUES], atol=close(belief))


@pytest.mark.parametrize("adversary", sorted(adversaries_needing("centres")))
def test_centroids_that_tell_nothing_and_centroids_of_one(adversary: str, tmp_path: Path) -> None:
    """The same two promises where no labels are: everybody at one point, and somebody alone at a point of their own."""
    diseases = ["Flu"] * 5 + ["Pox"] * 2 + ["Ache"]
    rows = [{"group": str(i // 3), "age": "22.5", "city": "Oslo", "disease": d} for i, d in enumerate(diseases)]
    release = write(tmp_path / "silent", {**MEANS, ".csv": rows})
    belief = believe(adversary, release, everybody(release.schema))
    assert belief.matched.all()
    for row in belief.posterior:
        np.testing.assert_allclose(row, [diseases.count(value) / len(diseases) for value in VALUES], atol=1e-12)
    release = write(tmp_path / "single", MEANS)
    target = Targets(release.schema, np.array([[5, CITIES.index("Hamar")]], dtype=np.int32))
    np.testing.assert_allclose(believe(adversary, release, target).posterior, [[value == "Flu" for value in VALUES]])


def _centroids(folder: Path) -> Release:
    rows = [{"group": "0", "age": "21.5", "city": "Oslo", "disease": "Flu", "count": "2"}]
    put(folder, {".csv": rows})
    return dl.read_release(folder / "release.csv", folder / "privacy.toml", kind="centroids")


def _noisy(folder: Path) -> Release:
    put(folder, {".csv": RAW})
    lines = ["column,value,disease,count"]
    domains = {"age": [str(age) for age in range(20, 26)], "city": list(CITIES)}
    for column, leaves in domains.items():
        lines += [f"{column},{leaf},{value},1.5" for leaf in leaves for value in VALUES]
    (folder / "noisy.counts.csv").write_text("\n".join(lines) + "\n", encoding="utf-8")
    meta = '{"mechanism": "laplace", "scale": 2.0, "epsilon": 1.0, "sensitivity": 2, "neighbours": "add-remove"}'
    (folder / "noisy.json").write_text(meta, encoding="utf-8")
    return dl.read_release(folder / "noisy", folder / "privacy.toml")


def _channel(folder: Path) -> Release:
    put(folder, {".csv": RAW})
    (folder / "channel.csv").write_text("input,a,b\nx,0.5,0.5\ny,1,0\n", encoding="utf-8")
    return dl.read_release(folder / "channel.csv", folder / "privacy.toml", kind="channel")


OTHERS: dict[str, Callable[[Path], Release]] = {"centroids": _centroids, "noisy-counts": _noisy, "channel": _channel}


def test_every_kind_of_release_is_tried() -> None:
    ours = {name for name, kind in KINDS.items() if kind.__module__.startswith("dalenius.")}
    assert {"generalized", "anatomized", *OTHERS} == ours


@pytest.mark.parametrize("adversary", ALL)
@pytest.mark.parametrize("kind", sorted(OTHERS))
def test_what_is_not_supported_is_refused_with_a_reason(adversary: str, kind: str, tmp_path: Path) -> None:
    release = OTHERS[kind](tmp_path / "other")
    assert release.kind == kind
    reason = make_adversary(adversary).refusal(release)
    schema = dl.Schema.load(tmp_path / "other" / "privacy.toml").bind({})
    if reason is None:
        belief = believe(adversary, release, everybody(schema))
        np.testing.assert_allclose(belief.posterior[belief.matched].sum(axis=1), 1, atol=1e-9)
        return
    assert len(reason.split()) >= 4
    with pytest.raises(Refused, match="cannot attack this release") as refused:
        believe(adversary, release, everybody(schema))
    assert reason in str(refused.value)
    assert adversary in str(refused.value)


@pytest.mark.parametrize("adversary", ALL)
def test_every_adversary_says_what_it_knows_and_does(adversary: str) -> None:
    found = make_adversary(adversary)
    assert found.name == adversary
    for sentence in (found.knows, found.does):
        assert len(sentence.split()) >= 4
        assert not sentence.endswith(".")  # they stand inside a sentence of the report


def test_an_unknown_adversary_is_refused_with_a_hint() -> None:
    with pytest.raises(dl.InputError, match="Did you mean 'random-worlds'"):
        make_adversary("random-world")
