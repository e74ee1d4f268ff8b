"""The exhibits of Cormode, "Personal Privacy vs Population Privacy: Learning to Attack Anonymization" (KDD 2011).

Its figures have no numbers in print; what the text says of them stands beside ours. The Internet usage data of Figures 2 and 5
are not at hand.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import numpy as np

from dalenius.errors import InputError
from dalenius.papers.base import Compared, Exhibit, Paper
from dalenius.papers.population_comparison import Choice, choices
from dalenius.papers.population_experiments import DRAWS, EPSILONS, QUASI, Point, Study, naive_attack, study
from dalenius.papers.population_linking import LEVELS, MERGES, PREDICTIONS, REPETITIONS, Linked, definetti
from dalenius.reports import charts
from dalenius.reports.charts import Curve

__all__ = [
    "CITATION",
    "COLOURS",
    "COMMONEST",
    "DATA",
    "FILES",
    "MERGED",
    "MISSING",
    "NEEDING_DATA",
    "TOLERANCE",
    "Experiments",
    "build",
    "build_without_data",
    "experiments",
    "folder_of",
    "shown",
]

CITATION = (
    "G. Cormode, Personal Privacy vs Population Privacy: Learning to Attack Anonymization, "
    "ACM SIGKDD Conference on Knowledge Discovery and Data Mining (2011)"
)
DATA = (
    "UCI Adult, as in the paper; the people who were not counted are those of adult.test. Its figures have no numbers in print: "
    "what the text says of them stands beside ours. The Internet usage survey of Figures 2 and 5 is not at hand."
)
FILES = ("adult.data", "adult.test")
MERGED = {1: "tight", 2: "doubled", 3: "tripled"}
COMMONEST = {"occupation": ("13 %", ""), "marital-status": ("45 %", "the print cuts off where it should round")}
COLOURS = {"permutation": "#b3261e", "majority": "#8a5a00", "group": "#1f5fa8", "open": "#1b7a3d"}
TOLERANCE = 0.01  # of an accuracy that is said to be the same as another
MISSING = "The Internet usage survey of 1997 is not at hand: it has to be asked for at the UCI repository, and is not bundled."


@dataclass(frozen=True, slots=True, eq=False)
class Experiments:
    """Sections 2.3 and 3.2 on Adult."""

    about: str
    naive: dict[str, list[Point]]  # by target
    commonest: dict[str, float]
    linked: list[Linked]
    compared: list[Choice]

    def noiseless(self, target: str) -> float:
        """The accuracy at the largest ε: as good as without noise."""
        return max(self.naive[target], key=lambda point: point.epsilon).mean("counted")

    def at(self, level: int, merge: int) -> Linked:
        return next(one for one in self.linked if (one.l, one.merge) == (level, merge))


NEEDING_DATA = ("Figure 1", "Figure 2", "Figure 3", "Figure 4", "Figure 5", "Comparison")


def build(path: str | Path | None = None, *, quick: bool = False) -> Paper:
    """Every exhibit; `path` is a folder that holds Adult, or $DALENIUS_DATA is."""
    return shown(experiments(path, quick=quick))


def build_without_data() -> Paper:
    """Every exhibit is an experiment on data."""
    return Paper("population", CITATION, ())


def experiments(path: str | Path | None = None, *, quick: bool = False) -> Experiments:
    """Publish and attack. `quick` has fewer draws, repetitions and levels."""
    folder = folder_of(path)
    studies = {target: study(folder, target) for target in QUASI}
    naive = {
        target: naive_attack(one, (0.01, 0.1, 1.0, 10.0) if quick else EPSILONS, draws=3 if quick else DRAWS)
        for target, one in studies.items()
    }
    occupation = studies["occupation"]
    linked = definetti(
        occupation,
        (2, 5, 7) if quick else LEVELS,
        MERGES,
        repetitions=1 if quick else REPETITIONS,
    )
    small = {"epsilons": (0.01, 0.1, 1.0), "levels": ((2, 1), (5, 1), (5, 2)), "classes": (5,), "sweeps": 60}
    return Experiments(
        f"{occupation.counted.cells().people:,} people of Adult with an occupation, all 32,561 for marital status.",
        naive,
        {target: _commonest(one) for target, one in studies.items()},
        linked,
        choices(occupation, **(small if quick else {})),  # type: ignore[arg-type]
    )


def folder_of(path: str | Path | None) -> Path:
    """The folder that holds UCI's own files."""
    named = path or os.environ.get("DALENIUS_DATA")
    if not named:
        raise InputError(
            "The experiments are on UCI Adult, adult.data and adult.test: name the folder, or set DALENIUS_DATA."
        )
    for folder in (Path(named), Path(named) / "adult"):
        if all((folder / name).is_file() for name in FILES):
            return folder
    raise InputError(
        f"{named}: there are no {' and '.join(FILES)} there, nor in a folder adult. They are the files of UCI Adult."
    )


def _commonest(one: Study) -> float:
    cells = one.counted.cells()
    return float(np.bincount(cells.codes[:, -1], weights=cells.counts).max() / cells.people)


def shown(found: Experiments) -> Paper:
    """The exhibits of experiments that were made."""
    return Paper(
        "population",
        CITATION,
        (
            _figure1(found),
            Exhibit("Figure 2", "Naive attack on the Internet usage data", MISSING),
            _figure3(found),
            _figure4(found),
            Exhibit("Figure 5", "deFinetti attack on the Internet usage data, income", MISSING),
            _comparison(found),
        ),
        DATA,
    )


# The naive attack -----------------------------------------------------------------------------------------------------


def _range(values: Sequence[float]) -> str:
    return f"{min(values):.3f} – {np.mean(values):.3f} – {max(values):.3f}"


def _curve(points: Sequence[Point], who: str, name: str, colour: str, dash: Sequence[int] = (1, 0)) -> Curve:
    places = []
    for point in points:
        values = [rate.value for rate in getattr(point, who) if rate.n]
        if values:
            places.append((point.epsilon, min(values), float(np.mean(values)), max(values)))
    return Curve(name, places, colour, dash)


def _yes(holds: bool) -> str:
    return "yes" if holds else "no"


def _figure1(found: Experiments) -> Exhibit:
    rows, drawn, compared = [], [], []
    for letter, (target, points) in zip("ab", found.naive.items(), strict=True):
        for point in points:
            rates = [[rate.value for rate in who] for who in (point.counted, point.others)]
            rows.append([target, f"{point.epsilon:g}", *map(_range, rates)])
        curves = [
            _curve(points, "counted", "people counted", "#b3261e"),
            _curve(points, "others", "people who were not counted", "#1f5fa8", (5, 3)),
        ]
        chart = partial(
            charts.bands,
            curves,
            ("ε (log scale)", "share of people guessed right"),
            {"the commonest value": found.commonest[target]},
            log=True,
        )
        drawn.append((chart, f"({letter}) {target}: least, mean and most of {len(points[0].counted)} draws of noise"))
        compared += _said_of_naive(found, target, points)
    return Exhibit(
        "Figure 1",
        "Naive attack on Adult: how often naive Bayes on noisy counts is right, against ε",
        f"{found.about} Noise is geometric, α = exp(−ε/m). People who were not counted are those of adult.test.",
        ("target", "ε", "people counted: least – mean – most", "not counted"),
        rows,
        compared,
        drawn,
    )


def _said_of_naive(found: Experiments, target: str, points: Sequence[Point]) -> list[Compared]:
    at = {point.epsilon: point for point in points}
    top, one, low = found.noiseless(target), at[1.0].mean("counted"), at[0.01].mean("counted")
    apart = max(abs(point.mean("counted") - point.mean("others")) for point in points)
    return [
        Compared(f"{target}: share of the commonest value", COMMONEST[target][0], found.commonest[target], COMMONEST[target][1]),
        Compared(f"{target}: ε = 1 is as good as no noise", "yes", _yes(abs(one - top) < TOLERANCE), f"{one:.3f}, {top:.3f}"),
        Compared(f"{target}: accuracy at ε = 0.01", "non-trivial", low),
        Compared(
            f"{target}: largest difference to people not counted", "about as accurate", apart, "over all ε, means of draws"
        ),
    ]  # fmt: skip


def _figure3(found: Experiments) -> Exhibit:
    rows, drawn, compared = [], [], []
    printed = {"occupation": "a few hundred, 1 %", "marital-status": "over 8,000, 25 %"}
    for letter, (target, points) in zip("ab", found.naive.items(), strict=True):
        for point in points:
            people, right = [rate.n for rate in point.sure], [rate.value for rate in point.sure if rate.n]
            rows.append([target, f"{point.epsilon:g}", f"{np.mean(people):,.0f}", _range(right) if right else "nobody"])
        chart = partial(
            charts.bands,
            [
                _curve(points, "sure", "people it is surer of than 0.8", "#b3261e"),
                _curve(points, "counted", "everybody", "#5b6770"),
            ],
            ("ε (log scale)", "share of people guessed right"),
            {"as sure as it says, at least": 0.8},
            log=True,
        )
        drawn.append((chart, f"({letter}) {target}"))
        top = max(points, key=lambda point: point.epsilon)
        mean = float(np.mean([rate.n for rate in top.sure]))
        compared.append(Compared(f"{target}: people it is sure of, at the largest ε", printed[target], f"{mean:,.0f}"))
        compared.append(
            Compared(
                f"{target}: right about them",
                "quite accurate; 85 % in some cases",
                float(np.mean([rate.value for rate in top.sure if rate.n])),
            )
        )
    return Exhibit(
        "Figure 3",
        "Naive attack restricted to people of whom it is surer than 0.8",
        "Below ε = 1 noise makes the classifier surer than it should be: it is sure of more people, and right less often. "
        "(c) and (d) are of the Internet usage data. " + MISSING,
        ("target", "ε", "people on average", "guessed right: least – mean – most"),
        rows,
        compared,
        drawn,
    )


# The deFinetti attack -------------------------------------------------------------------------------------------------


def _figure4(found: Experiments) -> Exhibit:
    rows, drawn = [], []
    for merge in sorted({one.merge for one in found.linked}):
        mine = [one for one in found.linked if one.merge == merge]
        rows += [
            [MERGED[merge], str(one.l), f"{1 / one.l:.3f}", *(_range(one.success[name]) for name in PREDICTIONS)]
            for one in mine
        ]
        curves = [
            Curve(name, [(float(one.l), *_three(one.success[name])) for one in mine], COLOURS[name])
            for name in PREDICTIONS
        ]
        curves.append(Curve.line("1/ℓ", [(float(one.l), 1 / one.l) for one in mine], "#9aa4ad", (2, 3)))
        chart: Callable[[], str] = partial(
            charts.bands,
            curves,
            ("ℓ", "share of people guessed right"),
            {"naive Bayes without noise (Figure 1)": found.noiseless("occupation")},
        )
        drawn.append((chart, f"({'abc'[merge - 1]}) {MERGED[merge]} groups, of {merge if merge > 1 else ''}ℓ people"))
    return Exhibit(
        "Figure 4",
        "deFinetti attack on Adult, occupation: accuracy against ℓ",
        "The printed chain: 1,000 sweeps, in each one other permutation is proposed to every group under a classifier made of the "
        "state. Permutation, group and open are the paper's, from the last state; majority is what most of the last 500 states "
        "say. (c) is not in the paper, which says of it that permutation degrades to about 1/ℓ.",
        ("groups", "ℓ", "1/ℓ", *(f"{name}: least – mean – most" for name in PREDICTIONS)),
        rows,
        _said_of_linking(found),
        drawn,
    )


def _three(values: Sequence[float]) -> tuple[float, float, float]:
    return min(values), float(np.mean(values)), max(values)


def _said_of_linking(found: Experiments) -> list[Compared]:
    noiseless = found.noiseless("occupation")
    best = max(one.mean("open") for one in found.linked)
    seven, doubled = found.at(7, 1), found.at(5, 2)
    small, large = found.at(2, 1), found.at(5, 2)

    def also(one: Linked) -> str:
        return ", ".join(f"{name} {one.mean(name):.3f}" for name in ("group", "majority"))

    return [
        Compared("open, at best", f"never better than without noise ({noiseless:.3f})", best),
        Compared(
            "ℓ = 7: permutation",
            "below 30 %",
            seven.mean("permutation"),
            f"{also(seven)}: the state undersells what all states say",
        ),
        Compared(
            "ℓ = 5, doubled: permutation",
            f"below the classifier without noise ({noiseless:.3f})",
            doubled.mean("permutation"),
            f"{also(doubled)}; the paper says it of permutation and group together",
        ),
        *(
            Compared(
                f"{MERGED[merge]}: permutation times ℓ",
                printed,
                ", ".join(f"{one.mean('permutation') * one.l:.2f}" for one in found.linked if one.merge == merge),
                "ℓ = " + ", ".join(str(one.l) for one in found.linked if one.merge == merge),
            )
            for merge, printed in ((1, "far above 1"), (2, "above 1, by less"), (3, "about 1"))
        ),
        Compared(
            "small groups: permutation before group",
            "yes",
            _yes(small.mean("permutation") > small.mean("group")),
            "ℓ = 2",
        ),
        Compared(
            "large groups: group before permutation",
            "yes",
            _yes(large.mean("group") > large.mean("permutation")),
            "10 people",
        ),
    ]


def _comparison(found: Experiments) -> Exhibit:
    points = [(one.method, one.parameter, one.success.value, one.error) for one in found.compared]
    chart = partial(
        charts.risk_against_utility,
        points,
        ("mean relative error of count queries (log scale): better to the left", "guessed right by the best attack"),
    )
    return Exhibit(
        "Comparison",
        "Differential privacy, Anatomy and generalization on one scale of attack accuracy, against one of utility",
        "Not in the paper: the chart that it argues for. On noisy counts naive Bayes attacks, on Anatomy the majority of states "
        "of the posterior's sampler, on generalized tables the attacker who knows that the target is there. What is right about "
        "others, too, is about the population; the rest is about persons.",
        ("release", "parameter", "people in it", "others", "what being in it adds (95 %)", "error of count queries"),
        [
            [
                one.method,
                one.parameter,
                f"{one.success.value:.3f}",
                f"{one.control.value:.3f}",
                f"{one.gain.value:.3f} ({one.gain.low:.3f} to {one.gain.high:.3f})",
                f"{one.error:.3f}",
            ]
            for one in found.compared
        ],
        (),
        ((chart, "Risk against utility: each point is a release, named where there is room"),),
    )
