"""The hospital generator: draws follow the joint it states, and the joint factorises as it says."""

from __future__ import annotations

import doctest
import hashlib
import itertools
import tomllib

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy import stats

from dalenius.datasets import _hospital as hospital

COLUMNS = ("age", "sex", "zip", "nationality", "disease")
THRESHOLD = 1e-4  # a fixed seed either passes for ever or not at all
N = 400_000

LEAVES, JOINT = hospital.joint()
CONDITIONAL = hospital.conditional()
QUASI = JOINT.sum(axis=-1)


@pytest.fixture(scope="module")
def patients() -> dict[str, NDArray]:
    return hospital.draw(N, seed=20250101)


@pytest.fixture(scope="module")
def counts(patients: dict[str, NDArray]) -> NDArray:
    """Count the patients of each cell of JOINT, through the labels and not through the generator's codes."""
    codes = []
    for column in COLUMNS:
        code = {label: place for place, label in enumerate(LEAVES[column])}
        codes.append([code[label] for label in patients[column].astype(str).tolist()])
    flat = np.ravel_multi_index(np.array(codes), JOINT.shape)
    return np.bincount(flat, minlength=JOINT.size).reshape(JOINT.shape)


def marginal(cells: NDArray, *columns: str) -> NDArray:
    return cells.sum(axis=tuple(axis for axis, column in enumerate(COLUMNS) if column not in columns))


def largest_quasi_cell(band: int, sex: int) -> tuple[int, ...]:
    """Find the age, sex, zip and nationality with the most people in the fifteen years from `band`."""
    within = np.zeros_like(QUASI)
    within[band : 100 if band == 75 else band + 15, sex] = 1
    return tuple(int(place) for place in np.unravel_index((QUASI * within).argmax(), QUASI.shape))


def chi_square(observed: NDArray, probability: NDArray, least: float = 5.0) -> float:
    """Pearson's p-value. Cells that expect fewer than `least` are merged; impossible ones must be empty."""
    observed, probability = observed.ravel(), probability.ravel()
    if observed[probability == 0].any():
        return 0.0
    expected = observed.sum() * probability
    order = np.argsort(expected, kind="stable")
    observed, expected = observed[order], expected[order]
    # Merge the sparse cells, and as many of the next as it takes for the merged cell not to be sparse itself.
    enough = int(np.searchsorted(np.cumsum(expected), least))
    merged = max(int(np.searchsorted(expected, least)), enough + 1 if expected[0] < least else 0)
    if merged:
        observed = np.append(observed[merged:], observed[:merged].sum())
        expected = np.append(expected[merged:], expected[:merged].sum())
    assert len(expected) > 1, "too little data for a chi-square test"
    return float(stats.chi2.sf(((observed - expected) ** 2 / expected).sum(), len(expected) - 1))


def conditional_levels(counts: NDArray, conditional: NDArray) -> list[float]:
    """List the p-values of disease given age band, sex and nationality: uniform if `conditional` is true.

    The quasi cells are taken as drawn, so that nothing but the conditional is tested.
    """
    expected = counts.sum(axis=-1, keepdims=True) * conditional
    observed, expected = (
        np.add.reduceat(cells.sum(axis=2), np.arange(0, 90, 15), axis=0).reshape(-1, len(LEAVES["disease"]))
        for cells in (counts, expected)
    )
    probability = expected / expected.sum(axis=1, keepdims=True)
    return [chi_square(row, truth) for row, truth in zip(observed, probability, strict=True)]


# --- the helper itself


def test_chi_square_agrees_with_scipy_when_nothing_is_merged() -> None:
    observed = np.array([18, 55, 27])
    probability = np.array([0.2, 0.5, 0.3])
    theirs = stats.chisquare(observed, 100 * probability).pvalue
    assert chi_square(observed, probability) == pytest.approx(theirs)


def test_chi_square_merges_sparse_cells_only() -> None:
    # 1 and 3 expected are merged with 6, since 4 together is still sparse.
    observed = np.array([2, 4, 5, 89])
    by_hand = stats.chisquare([11, 89], [10, 90]).pvalue
    assert chi_square(observed, np.array([0.01, 0.03, 0.06, 0.90])) == pytest.approx(by_hand)


def test_chi_square_is_calibrated_on_true_draws() -> None:
    rng = np.random.default_rng(5)
    truth = marginal(JOINT, "zip", "disease")
    levels = np.array([chi_square(rng.multinomial(20_000, truth.ravel()), truth) for _ in range(300)])
    assert stats.kstest(levels, "uniform").pvalue > 1e-3


def test_chi_square_rejects_an_impossible_value() -> None:
    assert chi_square(np.array([500, 499, 1]), np.array([0.5, 0.5, 0.0])) == 0.0


MORE_HIV = JOINT * np.where(np.array(LEAVES["disease"]) == "HIV", 1.15, 1.0)
MORE_HIV /= MORE_HIV.sum()
# Every single column is right; only the correlation with disease is gone.
INDEPENDENT = QUASI[..., None] * marginal(JOINT, "disease")


@pytest.mark.slow
@pytest.mark.parametrize(
    ("perturbed", "columns"),
    [
        pytest.param(MORE_HIV, ("disease",), id="a rare disease 15 % more common"),
        pytest.param(np.roll(JOINT, 1, axis=0), ("age",), id="everybody a year older"),
        pytest.param(JOINT[:, ::-1], ("sex", "disease"), id="sexes swapped"),
        pytest.param(0.97 * JOINT + 0.03 / JOINT.size, ("zip", "nationality"), id="3 % uniform noise"),
        pytest.param(0.97 * JOINT + 0.03 / JOINT.size, COLUMNS, id="3 % uniform noise, whole joint"),
        pytest.param(INDEPENDENT, ("age", "disease"), id="disease independent of age"),
        pytest.param(INDEPENDENT, ("sex", "disease"), id="disease independent of sex"),
        pytest.param(INDEPENDENT, ("nationality", "disease"), id="disease independent of nationality"),
        pytest.param(INDEPENDENT, COLUMNS, id="disease independent, whole joint"),
    ],
)
def test_chi_square_rejects_a_perturbed_joint(counts: NDArray, perturbed: NDArray, columns: tuple[str, ...]) -> None:
    assert perturbed.sum() == pytest.approx(1)
    assert chi_square(marginal(counts, *columns), marginal(perturbed, *columns)) < THRESHOLD


@pytest.mark.parametrize(("band", "sex"), list(itertools.product(range(0, 60, 15), (0, 1))))
def test_chi_square_rejects_the_next_age_band_in_a_large_quasi_cell(counts: NDArray, band: int, sex: int) -> None:
    place = largest_quasi_cell(band, sex)
    assert chi_square(counts[place], CONDITIONAL[(place[0] + 15, *place[1:])]) < THRESHOLD


def test_chi_square_rejects_the_conditional_of_the_other_sex(counts: NDArray) -> None:
    assert stats.kstest(conditional_levels(counts, CONDITIONAL[:, ::-1]), "uniform").pvalue < THRESHOLD


# --- a draw follows the joint


@pytest.mark.parametrize("column", COLUMNS)
def test_marginal(counts: NDArray, column: str) -> None:
    assert chi_square(marginal(counts, column), marginal(JOINT, column)) > THRESHOLD


@pytest.mark.parametrize("pair", list(itertools.combinations(COLUMNS, 2)), ids="-".join)
def test_pairwise_marginal(counts: NDArray, pair: tuple[str, str]) -> None:
    assert chi_square(marginal(counts, *pair), marginal(JOINT, *pair)) > THRESHOLD


def test_whole_joint(counts: NDArray) -> None:
    assert chi_square(counts, JOINT) > THRESHOLD


@pytest.mark.parametrize(("band", "sex"), list(itertools.product(range(0, 90, 15), (0, 1))))
def test_disease_within_the_largest_quasi_cell(counts: NDArray, band: int, sex: int) -> None:
    place = largest_quasi_cell(band, sex)
    assert counts[place].sum() > 100
    assert chi_square(counts[place], CONDITIONAL[place]) > THRESHOLD


def test_disease_given_age_band_sex_and_nationality(counts: NDArray) -> None:
    assert stats.kstest(conditional_levels(counts, CONDITIONAL), "uniform").pvalue > THRESHOLD


@pytest.mark.parametrize("column", COLUMNS)
def test_admission_is_uniform_and_independent(patients: dict[str, NDArray], column: str) -> None:
    months, month = np.unique(patients["admission"], return_inverse=True)
    assert months.tolist() == [f"2025-{number:02}" for number in range(1, 13)]
    values, value = np.unique(patients[column], return_inverse=True)
    table = np.bincount(month * len(values) + value, minlength=12 * len(values)).reshape(12, -1)
    assert chi_square(table.sum(axis=1), np.full(12, 1 / 12)) > THRESHOLD
    # Values with a handful of patients would break the test's approximation.
    assert stats.chi2_contingency(table[:, table.sum(axis=0) >= 60]).pvalue > THRESHOLD


# --- the joint


def test_joint_is_a_distribution_over_the_leaves() -> None:
    assert tuple(LEAVES) == COLUMNS
    assert JOINT.shape == tuple(len(LEAVES[column]) for column in COLUMNS)
    assert JOINT.dtype == np.float64
    assert (JOINT >= 0).all()
    assert JOINT.sum() == pytest.approx(1, abs=1e-12)
    assert (QUASI > 0).all()


def test_conditional_is_the_joint_given_the_quasi_identifiers() -> None:
    np.testing.assert_allclose(CONDITIONAL.sum(axis=-1), 1, atol=1e-12)
    np.testing.assert_allclose(JOINT / QUASI[..., None], CONDITIONAL, atol=1e-12)


def test_sex_is_independent_of_the_other_quasi_identifiers() -> None:
    product = QUASI.sum(axis=1, keepdims=True) * QUASI.sum(axis=(0, 2, 3), keepdims=True)
    np.testing.assert_allclose(QUASI, product, atol=1e-15)


def test_age_and_nationality_are_independent_given_zip_and_depend_on_its_district_only() -> None:
    per_zip = np.moveaxis(QUASI.sum(axis=1), 1, 0)  # [zip, age, nationality]
    given_zip = per_zip / per_zip.sum(axis=(1, 2), keepdims=True)
    age, nationality = given_zip.sum(axis=2), given_zip.sum(axis=1)
    np.testing.assert_allclose(given_zip, age[:, :, None] * nationality[:, None, :], atol=1e-14)
    districts = np.array([code[:4] for code in LEAVES["zip"]])
    for one, other in itertools.combinations(range(len(districts)), 2):
        same = districts[one] == districts[other]
        assert np.allclose(age[one], age[other], atol=1e-14) == same
        assert np.allclose(nationality[one], nationality[other], atol=1e-14) == same


def test_disease_depends_on_age_band_sex_and_region_only() -> None:
    np.testing.assert_allclose(CONDITIONAL, np.broadcast_to(CONDITIONAL[:, :, :1], JOINT.shape), atol=1e-14)
    disease = CONDITIONAL[:, :, 0]  # [age, sex, nationality, disease]
    changes = [age for age in range(1, 100) if not np.allclose(disease[age], disease[age - 1], atol=1e-14)]
    assert changes == [15, 30, 45, 60, 75]
    region = {row[0]: row[1] for row in rows("nationality")}
    for one, other in itertools.combinations(range(len(LEAVES["nationality"])), 2):
        same = region[LEAVES["nationality"][one]] == region[LEAVES["nationality"][other]]
        assert np.allclose(disease[:, :, one], disease[:, :, other], atol=1e-14) == same
    assert not np.allclose(disease[:, 0], disease[:, 1], atol=1e-3)


def test_only_the_impossible_has_probability_zero() -> None:
    impossible = set()
    for age, sex, disease in zip(*np.nonzero(marginal(JOINT, "age", "sex", "disease") == 0), strict=True):
        impossible.add((LEAVES["disease"][disease], LEAVES["sex"][sex], int(age)))
    assert impossible == (
        {("Breast cancer", sex, age) for sex in "FM" for age in range(15)}
        | {("Prostate cancer", "F", age) for age in range(100)}
        | {("Prostate cancer", "M", age) for age in range(30)}
    )


# --- skew and correlation


def test_diseases_are_skewed_and_hiv_is_rare() -> None:
    share = dict(zip(LEAVES["disease"], marginal(JOINT, "disease"), strict=True))
    assert max(share, key=lambda disease: share[disease]) == "Flu"
    assert share["Flu"] + share["Hypertension"] > 0.3
    assert 0.005 < share["HIV"] < 0.02
    assert share["HIV"] == min(share.values())


def test_zip_populations_are_skewed() -> None:
    share = np.sort(marginal(JOINT, "zip"))
    assert len(share) == 24
    assert share[-1] / share[0] == pytest.approx(25 / 2, rel=1e-3)  # 1/(1 + 1) against 1/(24 + 1)


def mutual_information(*pair: str) -> float:
    together = marginal(JOINT, *pair)
    apart = together.sum(axis=1, keepdims=True) * together.sum(axis=0, keepdims=True)
    some = together > 0
    return float((together[some] * np.log2(together[some] / apart[some])).sum())


def test_columns_are_correlated() -> None:
    """Mutual information in bits."""
    assert mutual_information("age", "disease") > 0.2
    assert mutual_information("sex", "disease") > 0.04
    assert mutual_information("nationality", "disease") > 0.01
    assert mutual_information("zip", "nationality") > 0.1
    assert mutual_information("age", "zip") > 0.1
    assert mutual_information("age", "sex") == pytest.approx(0, abs=1e-12)


def test_many_but_not_all_are_unique_on_the_quasi_identifiers() -> None:
    some = hospital.draw(3_000, seed=3)
    people = zip(*(some[column].tolist() for column in COLUMNS[:-1]), strict=True)
    times = np.unique(np.array([" ".join(map(str, person)) for person in people]), return_counts=True)[1]
    share = (times == 1).sum() / 3_000
    assert 0.05 < share < 0.90
    # What the joint predicts: Σ p (1 − p)^(n − 1). The share's standard deviation is below 1 %.
    assert share == pytest.approx((QUASI * (1 - QUASI) ** 2_999).sum(), abs=0.04)


# --- the arrays


def test_same_seed_same_patients_and_other_seed_other_patients() -> None:
    once, again, other = (hospital.draw(5_000, seed=seed) for seed in (11, 11, 12))
    for column in once:
        np.testing.assert_array_equal(once[column], again[column])
        assert column == "patient" or (once[column] != other[column]).any()


def test_the_data_are_the_same_on_every_machine() -> None:
    # SHA-256 of hospital.draw(2000, 7) as CSV, made by this function with NumPy 2.4.6 on x86-64 Linux.
    columns = hospital.draw(2_000, seed=7)
    lines = [",".join(map(str, row)) for row in zip(*(c.tolist() for c in columns.values()), strict=True)]
    digest = hashlib.sha256("\n".join(lines).encode()).hexdigest()
    assert digest == "5fcba7c655615debd129f6e045fc30853f202c1817918a90da24bedabb1c2592"


def test_columns_and_types(patients: dict[str, NDArray]) -> None:
    assert list(patients) == ["patient", "age", "sex", "zip", "nationality", "admission", "disease"]
    assert patients["age"].dtype == np.int64
    for column, values in patients.items():
        assert values.shape == (N,)
        assert column == "age" or values.dtype.kind == "U"


@pytest.mark.slow
@pytest.mark.parametrize(("n", "last"), [(1, "P000001"), (999_999, "P999999"), (1_000_000, "P1000000")])
def test_patients_are_numbered(n: int, last: str) -> None:
    patient = hospital.draw(n, seed=0)["patient"]
    assert patient[0] == "P" + "1".zfill(len(last) - 1)
    assert patient[-1] == last
    assert len(np.unique(patient)) == n


def test_leading_zeros_are_kept(patients: dict[str, NDArray]) -> None:
    codes = np.unique(patients["zip"]).tolist()
    assert codes == sorted(LEAVES["zip"])
    assert all(len(code) == 5 and code.isdigit() and code.startswith("0") for code in codes)


@pytest.mark.parametrize("n", [0, -1, 2.0, "5", None, True])
def test_bad_n_is_refused(n: object) -> None:
    with pytest.raises(ValueError) as error:
        hospital.draw(n, seed=0)  # type: ignore[arg-type]
    assert str(error.value) == f"The 'n' parameter of hospital must be an int ≥ 1. Got {n!r} instead."


@pytest.mark.parametrize("seed", [-1, 0.5, None, False])
def test_bad_seed_is_refused(seed: object) -> None:
    with pytest.raises(ValueError) as error:
        hospital.draw(1, seed=seed)  # type: ignore[arg-type]
    assert str(error.value) == f"The 'seed' parameter of hospital must be an int ≥ 0. Got {seed!r} instead."


def test_numpy_integers_are_integers() -> None:
    assert hospital.draw(np.int64(3), seed=np.int32(1))["age"].shape == (3,)  # type: ignore[arg-type]


# --- hierarchies and schema


def rows(column: str) -> list[list[str]]:
    text = hospital.hierarchies()[f"hospital_hierarchy_{column}.csv"]
    assert text.endswith("\n")
    return [line.split(";") for line in text.splitlines()]


def test_there_is_one_hierarchy_per_column() -> None:
    assert set(hospital.hierarchies()) == {f"hospital_hierarchy_{column}.csv" for column in COLUMNS}


@pytest.mark.parametrize("column", COLUMNS)
def test_hierarchy_covers_exactly_the_leaves(column: str) -> None:
    assert tuple(row[0] for row in rows(column)) == LEAVES[column]
    assert len({len(row) for row in rows(column)}) == 1
    assert {row[-1] for row in rows(column)} == {"*"}


@pytest.mark.parametrize("column", COLUMNS)
def test_hierarchy_nests_and_every_level_is_coarser(column: str) -> None:
    levels = list(zip(*rows(column), strict=True))
    for fine, coarse in itertools.pairwise(levels):
        assert len(set(zip(fine, coarse, strict=True))) == len(set(fine)), "a label has two parents"
        assert len(set(coarse)) < len(set(fine)), "a level hides nothing"


@pytest.mark.parametrize("column", COLUMNS)
def test_hierarchy_labels_are_unambiguous(column: str) -> None:
    """A label means one set of leaves, at whatever level it stands."""
    leaves_of: dict[str, set[frozenset[str]]] = {}
    for level in zip(*rows(column), strict=True):
        for label in set(level):
            covered = frozenset(leaf for leaf, name in zip(LEAVES[column], level, strict=True) if name == label)
            leaves_of.setdefault(label, set()).add(covered)
    assert all(len(meanings) == 1 for meanings in leaves_of.values())
    assert all(label == label.strip() and label for label in leaves_of)


@pytest.mark.parametrize(
    ("column", "leaf", "row"),
    [
        ("age", 23, ["23", "[20, 24]", "[20, 29]", "[20, 39]", "*"]),
        ("age", 99, ["99", "[95, 99]", "[90, 99]", "[80, 99]", "*"]),
        ("sex", 0, ["F", "*"]),
        ("zip", 8, ["02139", "0213*", "021**", "02***", "*"]),
        ("nationality", 3, ["Brazil", "South America", "*"]),
        ("disease", 7, ["HIV", "Systemic", "*"]),
    ],
)
def test_hierarchy_examples(column: str, leaf: int, row: list[str]) -> None:
    assert rows(column)[leaf] == row


def test_interval_labels_say_what_they_cover() -> None:
    for level in range(1, 4):
        covered: dict[str, list[int]] = {}
        for row in rows("age"):
            covered.setdefault(row[level], []).append(int(row[0]))
        for label, ages in covered.items():
            assert label == f"[{min(ages)}, {max(ages)}]"
            assert len(ages) == (5, 10, 20)[level - 1]


def test_schema_declares_exactly_the_columns(patients: dict[str, NDArray]) -> None:
    schema = tomllib.loads(hospital.SCHEMA_TOML)
    assert set(schema) == {"sensitive", "hierarchies", "columns"}
    assert (schema["sensitive"], schema["hierarchies"]) == ("disease", ".")
    assert list(schema["columns"]) == list(patients)
    assert {column: declared["role"] for column, declared in schema["columns"].items()} == {
        "patient": "identifier",
        "age": "quasi",
        "sex": "quasi",
        "zip": "quasi",
        "nationality": "quasi",
        "admission": "other",
        "disease": "sensitive",
    }
    assert [column for column, declared in schema["columns"].items() if "type" in declared] == ["age"]
    assert schema["columns"]["age"]["type"] == "integer"


def test_docstring_examples_run() -> None:
    result = doctest.testmod(hospital)
    assert result.attempted > 0
    assert result.failed == 0
