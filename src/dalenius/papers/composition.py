"""The exhibits of Ganta, Kasiviswanathan and Smith, "Composition Attacks and Auxiliary Information in Data Privacy" (KDD 2008).

The figures have no numbers in print but those the text names. IPUMS is not at hand: what the paper shows of it in Figure 4 is
tried on Adult. The 12 % of perfect breaches that it names for Adult at k = 5 do not follow from its stated setup.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import numpy as np

from dalenius import datasets
from dalenius.adversaries import UNKNOWN, Targets
from dalenius.adversaries.intersection import intersect
from dalenius.papers.base import Compared, Exhibit, Paper
from dalenius.papers.composition_experiments import (
    OVERLAP,
    Attacked,
    Side,
    by_criterion,
    by_k,
    overlapping,
    side_by_side,
)
from dalenius.reports import charts
from dalenius.reports.charts import Curve

__all__ = [
    "CITATION",
    "COLOURS",
    "DATA",
    "MISSING",
    "NEEDING_DATA",
    "SETUP",
    "Experiments",
    "build",
    "build_without_data",
    "experiments",
    "shown",
]

CITATION = (
    "S. R. Ganta, S. P. Kasiviswanathan and A. Smith, Composition Attacks and Auxiliary Information in Data Privacy, "
    "ACM SIGKDD Conference on Knowledge Discovery and Data Mining (2008)"
)
DATA = (
    "UCI Adult, as in the paper. Its other census, IPUMS, is not at hand: what it shows of that alone, in Figure 4, is tried on "
    "Adult. The paper says how many people are in both subsets, and not how large the subsets are."
)
COLOURS = ("#b3261e", "#1f5fa8", "#1b7a3d", "#8a5a00")
SETUP = (
    "Two subsets of Adult's 30,162 people with 5,000 in common; the paper does not say how large they are, and here everybody "
    "is in one of them. Seven quasi-identifiers, occupation is sensitive."
)
MISSING = "(b) and (d) are of IPUMS, which is not at hand."


@dataclass(frozen=True, slots=True, eq=False)
class Experiments:
    """Section 3 on Adult, and differential privacy beside it."""

    by_k: dict[str, list[Attacked]]
    by_criterion: dict[str, list[Attacked]]
    sides: list[Side]


NEEDING_DATA = ("Figure 1", "Figure 2", "Figure 3", "Figure 4", "Beside differential privacy")


def build(path: str | Path | None = None, *, quick: bool = False) -> Paper:
    """Every exhibit; `path` is a folder that holds Adult (see `dalenius.datasets.adult`)."""
    return shown(experiments(path, quick=quick))


def build_without_data() -> Paper:
    """The exhibit that needs no data but what the paper prints."""
    return Paper("composition", CITATION, (_table1(),))


def experiments(path: str | Path | None = None, *, quick: bool = False) -> Experiments:
    """Publish and attack. `quick` has fewer parameters."""
    found = overlapping(path)
    some = {"levels": (5, 20)} if quick else {}
    fewer = {"diversities": (2, 5), "closeness": (0.4,)} if quick else {}
    apart = overlapping(path, others=OVERLAP)
    return Experiments(by_k(found, **some), by_criterion(found, **fewer), side_by_side(apart))  # type: ignore[arg-type]


def shown(found: Experiments) -> Paper:
    return Paper(
        "composition",
        CITATION,
        (_table1(), _figure1(found), _figure2(found), _figure3(found), _figure4(found), _beside(found)),
        DATA,
    )


def _table1() -> Exhibit:
    releases = [datasets.paper(f"composition-1{letter}") for letter in "ab"]
    grouped = [classes for release in releases if (classes := release.classes()) is not None]
    schema = grouped[0].schema
    alice = Targets(
        schema,
        np.array([[schema["zip"].leaves.index("13012"), schema["age"].leaves.index("28"), UNKNOWN]], dtype=np.int32),
    )
    leaves = schema["condition"].leaves
    result = intersect(grouped, [alice] * 2, leaves, [np.arange(len(leaves))] * 2, ["condition"] * 2)
    left = [value for i, value in enumerate(leaves) if result.holds(np.array([i]))[0]]
    return Exhibit(
        "Table 1",
        "Two hospitals and Alice, who is 28, lives at 13012 and went to both",
        "What is left of her condition in each hospital's release, and in both together.",
        ("release", "values left"),
        [[name, str(n)] for name, n in zip(("(a), k = 4", "(b), k = 6"), result.prior[:, 0].tolist(), strict=True)],
        (Compared("left by both", "AIDS", ", ".join(left)),),
    )


def _curves(found: dict[str, list[Attacked]], share: Callable[[Attacked], float]) -> list[Curve]:
    return [
        Curve.line(name, [(float(one.parameter), share(one)) for one in mine], colour)
        for (name, mine), colour in zip(found.items(), COLOURS, strict=False)
    ]


def _figure1(found: Experiments) -> Exhibit:
    mondrian = found.by_k["Mondrian"]
    first = {name: mine[0] for name, mine in found.by_k.items()}
    rows = [
        [
            name,
            f"{one.parameter:g}",
            *(f"{one.figures.PVP[c]:.1f}" for c in ("100", "50", "33", "25")),
            f"{one.figures.VP:.1f}",
        ]
        for name, mine in found.by_k.items()
        for one in mine
    ]
    perfect = partial(
        charts.bands, _curves(found.by_k, lambda one: one.figures.PVP["100"] / 100), ("k", "perfect breaches"), {}
    )
    partly = partial(
        charts.bands,
        [
            Curve.line(f"{c} % sure", [(float(one.parameter), one.figures.PVP[c] / 100) for one in mondrian], colour)
            for c, colour in zip(("25", "33", "50", "100"), COLOURS, strict=True)
        ],
        ("k", "people in both"),
        {},
    )
    shares = [f"{one.figures.PVP['100']:.2f}" for one in mondrian]
    low, high = (
        min(one.figures.PVP["100"] for one in first.values()),
        max(one.figures.PVP["100"] for one in first.values()),
    )
    return Exhibit(
        "Figure 1",
        "Severity of the intersection attack: perfect and partial breaches",
        f"{SETUP} {MISSING} Centroids locate by the nearest one.",
        ("releases", "k", "one value left, %", "two at most", "three", "four", "any drop (VP)"),
        rows,
        (
            Compared(
                "k = 5: perfect breaches",
                "around 12 %",
                f"{low:.1f} to {high:.1f} %",
                "; ".join(f"{name}: {one.figures.PVP['100']:.1f} %" for name, one in first.items())
                + ". The print does not say for which of these",
            ),
            Compared("k = 5: four values left at most, Mondrian", "more than 60 %", mondrian[0].figures.PVP["25"]),
            Compared(
                "breaches become rarer with k, Mondrian",
                "yes",
                _falling([one.figures.PVP["100"] for one in mondrian]),
                f"{', '.join(shares)} %; the last ones are a few people in 5,000",
            ),
        ),
        ((perfect, "(a) one value left"), (partly, "(c) Mondrian on both: how sure the attacker is")),
    )  # fmt: skip


def _falling(values: Sequence[float]) -> str:
    return _yes(all(a >= b for a, b in itertools.pairwise(values)))


def _figure2(found: Experiments) -> Exhibit:
    mine = found.by_k["Mondrian"]
    rows = [
        [
            f"{one.parameter:g}",
            *(f"{size:.1f}" for size in one.sizes),
            *(f"{ea:.2f}" for ea in one.figures.mean_prior_anonymity),
        ]
        for one in mine
    ]
    centroids = found.by_k.get("microaggregation", [])
    own = [f"{100 * min(one.located):.0f} to {100 * max(one.located):.0f} %" for one in centroids]
    below = all(one.sizes[0] > one.figures.mean_prior_anonymity[0] for one in mine)
    fewer = {f"{one.parameter:g}": max(one.figures.mean_prior_anonymity) < one.parameter for one in mine}
    not_fewer = [k for k, holds in fewer.items() if not holds]
    return Exhibit(
        "Figure 2",
        "Presumed anonymity k, sizes of the classes of people in both, and effective anonymity: Mondrian",
        "Effective anonymity is the number of different values in a class. The paper says that no class need be larger than "
        "2k + 1; it is 2k − 1.",
        ("k", "class in subset 1", "in subset 2", "effective anonymity in 1", "in 2"),
        rows,
        (
            Compared("effective anonymity is below the class size", "yes", _yes(below)),
            Compared(
                "effective anonymity is below the presumed one, k",
                "far less",
                f"for k = {', '.join(k for k, holds in fewer.items() if holds)}",
                f"not for k = {', '.join(not_fewer)}: classes have more people than are asked for" if not_fewer else "",
            ),
            Compared(
                "average class, k = 5",
                "close to 40, on IPUMS",
                mine[0].sizes[0],
                "on Adult; 2k − 1 would be 9",
            ),
            *(
                Compared(
                    "the nearest centroid is the person's own, k = 5",
                    "approximately 70 %",
                    text,
                    "it depends on how categories are measured, which the paper does not say",
                )
                for text in own[:1]
            ),
        ),
    )


def _yes(holds: bool) -> str:
    return "yes" if holds else "no"


def _figure3(found: Experiments) -> Exhibit:
    mine = found.by_k["Mondrian"]
    rows = [
        [
            f"{one.parameter:g}",
            *(f"{ea:.2f}" for ea in one.figures.mean_prior_anonymity),
            f"{one.figures.mean_posterior_anonymity:.2f}",
            f"{one.figures.mean_drop:.2f}",
            f"{one.figures.drop_of_means:.2f}",
            str(one.figures.already_certain),
        ]
        for one in mine
    ]
    return Exhibit(
        "Figure 3",
        "Average effective anonymity before and after the attack: Mondrian",
        "The drop of a person is from the smaller of both sets; the drop of the means, which the paper plots, is beside its mean.",
        ("k", "before, subset 1", "subset 2", "after", "mean drop", "drop of means", "certain from one release"),
        rows,
        (
            Compared(
                "anonymity after is below that before, in both subsets", "much less",
                _yes(all(one.figures.mean_posterior_anonymity < min(one.figures.mean_prior_anonymity) for one in mine)),
                f"k = 5: {mine[0].figures.mean_prior_anonymity[0]:.2f} and {mine[0].figures.mean_posterior_anonymity:.2f}",
            ),
        ),
    )  # fmt: skip


def _figure4(found: Experiments) -> Exhibit:
    rows = [
        [
            name,
            f"{one.parameter:g}",
            *(f"{one.figures.PVP[c]:.1f}" for c in ("100", "50", "33", "25")),
            f"{one.sizes[0]:.0f}",
        ]
        for name, mine in found.by_criterion.items()
        for one in mine
    ]
    plain = [("k = 10", one) for one in found.by_k["Mondrian"] if one.parameter == 10]
    named = (("entropy ℓ-diversity", 5, "ℓ = 5"), ("t-closeness", 0.4, "t = 0.4"))
    strong = [(text, one) for name, at, text in named for one in found.by_criterion[name] if one.parameter == at]
    return Exhibit(
        "Figure 4",
        "Mondrian with k = 10 and entropy ℓ-diversity, or t-closeness",
        "The paper shows it on IPUMS; here it is Adult, with fewer values of the sensitive column (14, not 247).",
        ("criterion", "ℓ or t", "one value left, %", "two at most", "three", "four", "class of people in both"),
        rows,
        (
            Compared(
                "classes grow", "45 (k), 450 (ℓ = 5), 1,300 (t = 0.4), on IPUMS",
                ", ".join(f"{one.sizes[0]:.0f} ({text})" for text, one in (*plain, *strong)), "on Adult",
            ),
            Compared(
                "four values left at most", "considerable breach, on IPUMS",
                ", ".join(f"{one.figures.PVP['25']:.1f} % ({text})" for text, one in strong),
                "on Adult little is left of it: there are 14 values, and ℓ = 5 asks for a good part of them",
            ),
        ),
    )  # fmt: skip


def _beside(found: Experiments) -> Exhibit:
    return Exhibit(
        "Beside differential privacy",
        "The same people through two syntactic and through two noisy releases, on one scale",
        "Not in the paper: the experiment that it argues for. Two subsets of Adult with 5,000 people in common, and 5,000 in "
        "neither. Of Mondrian's releases one of the values left is guessed; noisy counts have half of ε each, are added up, and "
        "naive Bayes guesses.",
        (
            "releases", "parameter", "people in both, guessed right", "people in neither",
            "what being in both adds (95 %)", "certain and right",
        ),
        [
            [
                one.method,
                one.parameter,
                f"{one.both.value:.3f}",
                f"{one.others.value:.3f}",
                f"{one.gain.value:.3f} ({one.gain.low:.3f} to {one.gain.high:.3f})",
                f"{100 * one.certain.value:.2f} %",
            ]
            for one in found.sides
        ],
    )  # fmt: skip
