"""Invented patients of an invented city, drawn from a joint distribution that is known exactly.

    p(zip) p(nationality | district) p(age | district) p(sex) p(disease | age band, sex, region) p(admission)

A district is the first four digits of a ZIP, a region a group of nationalities, an age band fifteen years. So
disease depends on age, sex and nationality, nationality and age depend on ZIP, and many patients are the only
one with their age, sex, ZIP and nationality. Because the truth is known, what an adversary believes can be
compared with what anybody could have learned about the population (`conditional`), not only with the table.

Every distribution is a table of integer weights: sums are exact in any order, so no machine's rounding can
move a patient from one value to another. Nothing was measured; the numbers claim nothing about real people.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from dalenius.arrays import Floats, Longs
from dalenius.errors import ParameterError

# District: the weight of the ages 0, 10, … 100, linear in between.
_DISTRICTS: dict[str, tuple[int, ...]] = {
    "0211": (30, 18, 60, 90, 70, 55, 50, 45, 30, 10, 0),  # old town: young professionals
    "0213": (10, 12, 150, 80, 35, 25, 22, 20, 12, 4, 0),  # university: students
    "0214": (45, 35, 60, 80, 75, 60, 45, 30, 15, 4, 0),  # harbour: working age, newcomers
    "0220": (80, 60, 25, 70, 85, 60, 45, 40, 25, 8, 0),  # garden suburbs: families
    "0221": (20, 15, 20, 30, 40, 55, 80, 95, 75, 25, 0),  # north: retired
    "0310": (50, 40, 45, 60, 65, 70, 65, 50, 28, 7, 0),  # mills across the river
    "0311": (15, 12, 10, 18, 30, 50, 75, 90, 80, 30, 0),  # hill villages: few and old
}

# From the most to the least populated. They lie in 7 districts, these in 3 areas (021, 022, 031) and these in
# 2 (02, 03), so that every further digit masked hides something.
# fmt: off
_ZIPS_BY_POPULATION = (
    "02115", "02139", "02203", "02145", "02210", "03101", "02134", "02111",
    "02205", "02141", "02130", "02118", "02214", "02201", "02148", "03104",
    "02113", "02132", "02208", "02142", "02217", "02110", "03112", "03117",
)
# fmt: on

_REGIONS = ("North America", "South America", "Europe", "Asia", "Africa")

# Nationality: region, and weight per district in the order of _DISTRICTS.
_NATIONALITIES: dict[str, tuple[str, tuple[int, ...]]] = {
    "USA": ("North America", (700, 560, 480, 800, 860, 690, 930)),
    "Canada": ("North America", (30, 35, 10, 25, 30, 10, 25)),
    "Mexico": ("North America", (30, 20, 70, 15, 10, 50, 3)),
    "Brazil": ("South America", (40, 30, 130, 20, 8, 60, 2)),
    "Colombia": ("South America", (25, 20, 70, 10, 5, 30, 2)),
    "Ireland": ("Europe", (45, 20, 15, 30, 45, 10, 20)),
    "Italy": ("Europe", (50, 30, 20, 20, 25, 15, 10)),
    "Poland": ("Europe", (20, 15, 25, 15, 8, 90, 3)),
    "China": ("Asia", (30, 140, 40, 25, 4, 10, 2)),
    "India": ("Asia", (20, 110, 30, 35, 3, 15, 1)),
    "Ghana": ("Africa", (6, 12, 60, 3, 1, 12, 1)),
    "Kenya": ("Africa", (4, 8, 50, 2, 1, 8, 1)),
}

_SEXES = {"F": 53, "M": 47}

_BAND_YEARS = 15  # 0-14, 15-29, … 60-74, 75 and over
_BANDS = 6

# Disease: group, weight per age band, factor per sex (F, M), factor per region in the order of _REGIONS.
# The zeros are meant: in real tables, too, there are values that a person who is known a little cannot have.
_DISEASES: dict[str, tuple[str, tuple[int, ...], tuple[int, ...], tuple[int, ...]]] = {
    "Flu": ("Respiratory", (420, 330, 240, 160, 110, 120), (10, 10), (10, 10, 10, 10, 10)),
    "Asthma": ("Respiratory", (260, 120, 80, 60, 50, 40), (10, 11), (12, 10, 9, 8, 9)),
    "Hypertension": ("Circulatory", (2, 25, 120, 260, 330, 320), (10, 11), (11, 10, 10, 8, 13)),
    "Heart disease": ("Circulatory", (4, 8, 35, 120, 230, 320), (7, 13), (11, 10, 12, 5, 8)),
    "Gastritis": ("Digestive", (110, 150, 160, 130, 90, 60), (11, 9), (8, 13, 10, 14, 10)),
    "Hepatitis": ("Digestive", (6, 20, 35, 35, 25, 15), (8, 12), (10, 10, 10, 10, 10)),
    "Diabetes": ("Systemic", (12, 25, 60, 130, 170, 140), (9, 11), (11, 13, 8, 12, 8)),
    "HIV": ("Systemic", (1, 18, 26, 14, 5, 1), (7, 13), (10, 10, 10, 10, 10)),
    "Breast cancer": ("Tumour", (0, 4, 40, 80, 70, 45), (20, 1), (11, 9, 11, 8, 9)),
    "Prostate cancer": ("Tumour", (0, 0, 3, 50, 120, 110), (0, 15), (11, 10, 10, 7, 12)),
    "Fracture": ("Skeletal", (180, 190, 110, 80, 90, 150), (9, 11), (10, 9, 12, 9, 8)),
    "Arthritis": ("Skeletal", (3, 10, 35, 90, 150, 160), (12, 8), (10, 10, 11, 9, 10)),
}

_MONTHS = tuple(f"2025-{month:02}" for month in range(1, 13))

# The leaves in the order of the axes of joint().
_LEAVES: dict[str, tuple[str, ...]] = {
    "age": tuple(str(age) for age in range(100)),
    "sex": tuple(_SEXES),
    "zip": tuple(sorted(_ZIPS_BY_POPULATION)),
    "nationality": tuple(_NATIONALITIES),
    "disease": tuple(_DISEASES),
}

SCHEMA_TOML = """\
sensitive = "disease"
hierarchies = "."

[columns.patient]
role = "identifier"

[columns.age]
role = "quasi"
type = "integer"

[columns.sex]
role = "quasi"

[columns.zip]
role = "quasi"

[columns.nationality]
role = "quasi"

[columns.admission]
role = "other"

[columns.disease]
role = "sensitive"
"""


def _integers(rows: Any) -> Longs:
    return np.array(rows, dtype=np.int64)


# What a value belongs to: district of a ZIP, band of an age, region of a nationality.
_DISTRICT_OF_ZIP = _integers([list(_DISTRICTS).index(code[:4]) for code in _LEAVES["zip"]])
_BAND_OF_AGE = np.minimum(_integers(range(100)) // _BAND_YEARS, _BANDS - 1)
_REGION_OF_NATIONALITY = _integers([_REGIONS.index(region) for region, _ in _NATIONALITIES.values()])


def _zip_weights() -> Longs:
    """Weights [1, zip], falling like 1 / (rank + 1) from rank 1, the largest: Zipf with a flattened top."""
    return _integers([[100_000 // (_ZIPS_BY_POPULATION.index(code) + 2) for code in _LEAVES["zip"]]])


def _nationality_weights() -> Longs:
    """Weights [district, nationality]."""
    return _integers([weights for _, weights in _NATIONALITIES.values()]).T


def _age_weights() -> Longs:
    """Weights [district, age]: ten times the line between the two decades around the age."""
    decades = _integers(list(_DISTRICTS.values()))
    decade, year = np.divmod(np.arange(100), 10)
    weights: Longs = decades[:, decade] * (10 - year) + decades[:, decade + 1] * year
    return weights


def _sex_weights() -> Longs:
    """Weights [1, sex]."""
    return _integers([list(_SEXES.values())])


def _disease_weights() -> Longs:
    """Weights [band, sex, region, disease]."""
    band, sex, region = (_integers([row[part] for row in _DISEASES.values()]).T for part in (1, 2, 3))
    return band[:, None, None] * sex[:, None] * region


def _probabilities(weights: Longs) -> Floats:
    probabilities: Floats = weights / weights.sum(axis=-1, keepdims=True)
    return probabilities


def _sample(rng: np.random.Generator, weights: Longs, context: Longs) -> Longs:
    """One value per person by inverse transform; the person's context is a row of weights [context, value].

    All rows are laid end to end on one line of integers, so a single sorted search serves every context.
    floor(u · total) < total for every double u < 1, so nobody falls into the next row.
    """
    total = weights.sum(axis=1)
    start = np.cumsum(total) - total
    point = start[context] + (rng.random(len(context)) * total[context]).astype(np.int64)
    place = np.searchsorted(np.cumsum(weights), point, side="right")
    value: Longs = place - context * weights.shape[1]
    return value


def _identifiers(n: int) -> NDArray[np.str_]:
    """P000001, P000002, …, wider from a million; code points, since formatting that many takes seconds."""
    digits = max(6, len(str(n)))
    text = np.empty((n, digits + 1), dtype=np.uint32)
    text[:, 0] = ord("P")
    rest = np.arange(1, n + 1)
    for place in range(digits, 0, -1):
        rest, digit = np.divmod(rest, 10)
        text[:, place] = digit + ord("0")
    return text.view(f"U{digits + 1}").ravel()


def _check_integer(name: str, value: object, least: int) -> None:
    if isinstance(value, bool) or not isinstance(value, int | np.integer) or value < least:
        raise ParameterError(name, "hospital", f"an int ≥ {least}", value)


def draw(n: int, seed: int) -> dict[str, NDArray[Any]]:
    """Draw n independent patients: column → array of text (age: int64). Same n and seed, same patients.

    >>> patients = draw(3, seed=1)
    >>> list(patients)
    ['patient', 'age', 'sex', 'zip', 'nationality', 'admission', 'disease']
    >>> patients["patient"].tolist()
    ['P000001', 'P000002', 'P000003']
    """
    _check_integer("n", n, 1)
    _check_integer("seed", seed, 0)
    rng = np.random.default_rng(seed)
    alone = np.zeros(n, dtype=np.int64)  # the context of what depends on nothing

    # The order of the six samples is part of the data: each takes the next n numbers of the stream.
    zip_code = _sample(rng, _zip_weights(), alone)
    district = _DISTRICT_OF_ZIP[zip_code]
    nationality = _sample(rng, _nationality_weights(), district)
    age = _sample(rng, _age_weights(), district)
    sex = _sample(rng, _sex_weights(), alone)
    weights = _disease_weights()
    group = np.ravel_multi_index((_BAND_OF_AGE[age], sex, _REGION_OF_NATIONALITY[nationality]), weights.shape[:-1])
    disease = _sample(rng, weights.reshape(-1, weights.shape[-1]), group)
    admission = _sample(rng, np.ones((1, len(_MONTHS)), dtype=np.int64), alone)

    return {
        "patient": _identifiers(n),
        "age": age,
        "sex": np.array(_LEAVES["sex"])[sex],
        "zip": np.array(_LEAVES["zip"])[zip_code],
        "nationality": np.array(_LEAVES["nationality"])[nationality],
        "admission": np.array(_MONTHS)[admission],
        "disease": np.array(_LEAVES["disease"])[disease],
    }


def conditional() -> Floats:
    """p(disease | age, sex, zip, nationality), axes as in joint(): what endless data teach a learner."""
    disease = _probabilities(_disease_weights())
    per_person = disease[_BAND_OF_AGE][:, :, _REGION_OF_NATIONALITY]  # [age, sex, nationality, disease]
    return np.repeat(per_person[:, :, None], len(_LEAVES["zip"]), axis=2)


def joint() -> tuple[dict[str, tuple[str, ...]], Floats]:
    """The leaves of each column and the exact p[age, sex, zip, nationality, disease].

    >>> leaves, p = joint()
    >>> p.shape == tuple(len(leaves[column]) for column in leaves)
    True
    """
    age = _probabilities(_age_weights())[_DISTRICT_OF_ZIP].T  # [age, zip]
    sex = _probabilities(_sex_weights())[0]
    zip_code = _probabilities(_zip_weights())[0]
    nationality = _probabilities(_nationality_weights())[_DISTRICT_OF_ZIP]  # [zip, nationality]
    quasi = np.einsum("az,s,z,zn->aszn", age, sex, zip_code, nationality)
    return dict(_LEAVES), quasi[..., None] * conditional()


def _interval(age: int, years: int) -> str:
    low = age - age % years
    return f"[{low}, {low + years - 1}]"


def hierarchies() -> dict[str, str]:
    """File name → text: one line per leaf, levels from the leaf to `*` separated by `;`, no header."""
    levels: dict[str, list[list[str]]] = {
        "age": [[str(age), *(_interval(age, years) for years in (5, 10, 20))] for age in range(100)],
        "sex": [[sex] for sex in _LEAVES["sex"]],
        "zip": [[code, *(code[:keep].ljust(5, "*") for keep in (4, 3, 2))] for code in _LEAVES["zip"]],
        "nationality": [[country, region] for country, (region, _) in _NATIONALITIES.items()],
        "disease": [[disease, row[0]] for disease, row in _DISEASES.items()],
    }
    return {
        f"hospital_hierarchy_{column}.csv": "".join(";".join([*row, "*"]) + "\n" for row in rows)
        for column, rows in levels.items()
    }
