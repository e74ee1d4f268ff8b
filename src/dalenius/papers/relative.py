"""Boreale, Corradi and Viscardi, "Relative Privacy Threats and Learning From Anonymized Data", IEEE TIFS 2019: Tables I–V,
Figures 1–3.

Which 5,692 rows of Adult the paper used cannot be told: here they are drawn at random from the 30,162 complete ones. Nor are
the settings of its anonymization tools known beyond k and ℓ. So of Tables IV and V and of the figures only what is said about
them can be compared. Tables I and III are about eight people and are the paper's own.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Any

from dalenius import datasets
from dalenius.papers.base import Compared, Exhibit, Paper
from dalenius.papers.relative_experiments import (
    EDGES,
    LEVELS,
    SUPPRESSION,
    Experiments,
    Measured,
    Points,
    example,
    experiments,
    remark5,
)
from dalenius.releases import Generalized
from dalenius.reports import charts
from dalenius.reports.numbers import number

CITATION = (
    "M. Boreale, F. Corradi and C. Viscardi, Relative Privacy Threats and Learning From Anonymized Data, "
    "IEEE Transactions on Information Forensics and Security (2019)"
)
DATA = (
    "Tables I and III are about eight people and are the paper's own. Tables IV and V are of 5,692 rows of Adult that cannot be "
    "told: 16.6 % of them have the commonest occupation, of random rows 13.4 %. Ours are random ones, and the "
    "settings of the paper's tools are not known beyond k and ℓ. So only what is said of these numbers can be compared."
)
# Table III as printed.
PRINTED_III = {
    "p_L": ("0.343", "0.317", "0.113", "0.114", "0.113"),
    "p_A": ("0.580", "0.420", "0", "0", "0"),
    "p_RW": ("0.500", "0.500", "0", "0", "0"),
}
# Tables IV (k-anonymity) and V (Anatomy) as printed; columns as LEVELS.
PRINTED_IV = {
    "GT_A": ("0.2930", "0.2994"),
    "GT_L": ("0.2681", "0.2756"),
    "GT_RW": ("0.2131", "0.2890"),
    "RGT_A": ("0.0249", "0.0232"),
    "RF": ("0.3106", "0.3011"),
    "ABS_A": ("9795.58", "9699.09"),
    "ABS_RW": ("9980.35", "9451.53"),
    "baseline_accuracy": ("0.1656", "0.1656"),
    "ideal_accuracy": ("0.3534", "0.3534"),
}
PRINTED_V = {
    "GT_A": ("0.3273", "0.2396"),
    "GT_L": ("0.2653", "0.2136"),
    "GT_RW": ("0.1669", "0.1689"),
    "RGT_A": ("0.0620", "0.0260"),
    "RF": ("0.6493", "0.5341"),
    "ABS_A": ("8391.66", "9276.25"),
    "ABS_RW": ("9471.94", "9889.07"),
    "baseline_accuracy": ("0.1656", "0.1656"),
    "ideal_accuracy": ("0.3534", "0.3534"),
}


NEEDING_DATA = ("Table IV", "Table V", "Figure 2", "Figure 3")


def build(path: str | Path | None = None, *, quick: bool = False) -> Paper:
    """Every exhibit; `path` is a folder that holds Adult (see `dalenius.datasets.adult`)."""
    return shown(experiments(path, quick=quick))


def build_without_data() -> Paper:
    """The exhibits that need no data but what the paper prints."""
    return Paper("relative", CITATION, (_table1(), _table2(), _table3(), _figure1()))


def shown(found: Experiments) -> Paper:
    """The exhibits of experiments that were made."""
    exhibits = (_table1(), _table2(), _table3(), _table4(found), _table5(found), _figure1())
    horizontal = _figure("Figure 2", "k-anonymity", "k = ℓ = {}", found.horizontal)
    vertical = _figure("Figure 3", "Anatomy", "ℓ = {}", found.vertical, found.horizontal)
    return Paper("relative", CITATION, (*exhibits, horizontal, vertical), DATA)


def compatible_tables(release: Generalized) -> int:
    """How many tables a generalized release may have been made of."""
    widths = [
        math.prod(len(labels[code].members) for labels, code in zip(release.labels, codes, strict=True))
        for codes in release.codes.tolist()
    ]
    return math.prod(width**size for width, size in zip(widths, release.sizes.tolist(), strict=True))


def _table1() -> Exhibit:
    original, recoded, anatomized = (example(f"relative-1{letter}") for letter in "abc")
    release = datasets.paper("relative-1b").rows()
    assert release is not None
    heart = recoded.diseases.index("Heart")
    p_l = remark5()
    return Exhibit(
        "Table I",
        "A table (a), 2-anonymous by local recoding (b), and anatomized (c): what is believed of a Malaysian at 45501",
        "Of (c) learner and attacker are sampled, all else is exact. Remark 5 is added: a table that is published as it is.",
        ("table", "belief", *recoded.diseases),
        [
            [f"({letter})", who, *(number(float(p)) for p in getattr(found, name))]
            for letter, found in (("a", original), ("b", recoded), ("c", anatomized))
            for who, name in (("p_L", "learner"), ("p_A", "attacker"), ("p_RW", "random_worlds"))
        ],
        (
            Compared("tables compatible with (b)", "6.4 × 10^5", f"{compatible_tables(release):,}"),
            Compared("(a): p_A of Heart", "certain", float(original.attacker[heart]), "Remark 5: r_v occurs once"),
            Compared("(b): p_A of Heart", "high probability", float(recoded.attacker[heart]), "7/12 exactly"),
            Compared(
                "(c): p_A of Heart",
                "not printed",
                f"{anatomized.attacker[heart]:.4f} ± {anatomized.error[heart]:.4f}",
                "sampled",
            ),
            Compared("Remark 5: p_L of the rare value", "≈ 0.004", p_l),
            Compared("Remark 5: Ti", "≈ 250", 1 / p_l),
        ),
    )


def _table2() -> Exhibit:
    return Exhibit(
        "Table II", "Notation", "The notation: π, α, β, γ, δ, Ti, GT, RF. It stands beside the code that uses it."
    )


def _table3() -> Exhibit:
    ours = example("relative-1b")
    beliefs = {"p_L": ours.learner, "p_A": ours.attacker, "p_RW": ours.random_worlds}
    notes = {"p_L": "printed: simulated, ours exact", "p_A": "printed: simulated, ours exact", "p_RW": ""}
    return Exhibit(
        "Table III",
        "Beliefs about the victim of Table I(b)",
        "The paper takes the exact computation for a daunting task and simulates; it takes 640,000 tables or, with one "
        "attribute and one value after the other, a few terms. p_L is the joint probability, normalised: the expectation of "
        "the conditional one, (6), is a different number, and not the printed one.",
        compared=tuple(
            Compared(f"{who}, {disease}", printed, float(p), notes[who])
            for who, belief in beliefs.items()
            for disease, printed, p in zip(ours.diseases, PRINTED_III[who], belief, strict=True)
        ),
    )


NOTES = {
    "GT_A": "",
    "GT_L": "",
    "GT_RW": "",
    "RGT_A": "GT_A − GT_L",
    "RF": "",
    "ABS_A": "of 2 for a person at most",
    "ABS_RW": "of 2 for a person at most",
    "baseline_accuracy": "the share of the commonest value; 5,692 random rows of Adult hardly have as much as is printed",
    "ideal_accuracy": 'the print says "threatened under p_L", meant is p_I',
}


def _measures(found: Sequence[Measured], printed: dict[str, tuple[str, str]], notes: dict[str, str]) -> list[list[str]]:
    return [
        [
            name,
            *(cell for one, theirs in zip(found, row, strict=True) for cell in (theirs, one.shown(name))),
            notes[name],
        ]
        for name, row in printed.items()
    ]


def _header(text: str, found: Sequence[Measured]) -> tuple[str, ...]:
    pairs = (
        (f"{text.format(level)}, printed", f"{text.format(one.level)}, ours")
        for level, one in zip(LEVELS, found, strict=True)
    )
    return "measure", *(cell for pair in pairs for cell in pair), "note"


def _table4(found: Experiments) -> Exhibit:
    notes = NOTES | {
        "GT_RW": "where classes overlap only in suppressed rows random worlds are nearly the attacker's",
        "RGT_A": "GT_A − GT_L; printed for 6, 0.0232, but 0.2994 − 0.2756 is 0.0238",
        "RF": f"printed is 1 − ETV, ours 1 − TV; 1 − ETV, which nothing keeps above 0, is {_etv(found.horizontal)}",
    }
    four, six = found.horizontal
    same = found.disjoint.threats
    return Exhibit(
        "Table IV",
        "Threat and faithfulness of k-anonymous and ℓ-diverse releases",
        f"{found.about} Full-domain recoding with the hierarchies of ARX, the least loss, and at most {SUPPRESSION:.0%} of the "
        "rows suppressed. The print does not say how much was, or which loss ARX was to make least; it says that groups are "
        "not disjoint. Our values are exact but for those with an error.",
        _header("k = ℓ = {}", found.horizontal),
        _measures(found.horizontal, PRINTED_IV, notes),
        (
            *(
                Compared(f"average group size, {one.level}", printed, one.average_size, "follows from the settings")
                for one, printed in ((four, "38"), (six, "355"))
            ),
            *(
                Compared(
                    f"{name}, {LEVELS[i]}, at most {', '.join(f'{limit:.0%}' for limit in found.by_limit)} suppressed",
                    PRINTED_IV[name][i],
                    ", ".join(f"{both[i].value(name):.4f}" for both in found.by_limit.values()),
                    "the choice of 5 % matters: a value near the print says little",
                )
                for name in ("GT_A", "RGT_A")
                for i in range(len(LEVELS))
            ),
            Compared(
                "largest Ti",
                "about 13.8",
                max(one.threats.max_Ti for one in found.horizontal),
                "of one person: it depends on who is in the subset, and on what is suppressed",
            ),
            Compared(
                "log2 Ti ≥ 1, of those threatened under p_A, 4",
                "≈ 6 %",
                four.under_attacker.doubled,
                "other rows of Adult",
            ),
            Compared(
                "log2 Ti ≥ 1, of everybody, 4",
                "≈ 0.6 %",
                four.threats.log2_Ti_above_1,
                "6 % of 0.2930 are 1.8 %: one of the printed numbers is wrong",
            ),
            Compared(
                "without suppression: ABS_A − ABS_RW",
                "not printed",
                same.ABS_A - same.ABS_RW,
                "inside disjoint classes of full domains the prior rules: attacker and random worlds are one",
            ),
        ),
    )


def _etv(found: Sequence[Measured]) -> str:
    return " and ".join(f"{1 - one.faithfulness.ETV:.3f}" for one in found)


def _table5(found: Experiments) -> Exhibit:
    notes = NOTES | {
        "GT_RW": "1/ℓ but for people whose quasi-identifiers others share; printed for 4, it is far from that",
        "RF": f"printed is 1 − ETV, ours 1 − TV; 1 − ETV is {_etv(found.vertical)}",
        "ABS_RW": "2(1 − 1/ℓ) a person but for shared quasi-identifiers: the print would need more of these than ours has",
    }
    low, high = found.vertical
    return Exhibit(
        "Table V",
        "Threat and faithfulness of anatomized releases",
        f"{found.about} {convergence(found.vertical)} ± is the Monte-Carlo error, of other batches or of a chain left out; where "
        "chains do not agree it is too small, for it knows of no place that none of them found.",
        _header("ℓ = {}", found.vertical),
        _measures(found.vertical, PRINTED_V, notes),
        (
            Compared(
                "largest Ti",
                "about 286.19",
                max(one.threats.max_Ti for one in found.vertical),
                "a ratio of two small numbers, of one person: it depends on who is in the subset",
            ),
            Compared(
                f"log2 Ti ≥ 1, of those threatened under p_A, {low.level}",
                "≈ 26 %",
                low.under_attacker.doubled,
                "other rows of Adult, and other groups: of ours more people are threatened",
            ),
            Compared(
                f"log2 Ti ≥ 1, of everybody, {low.level}", "≈ 8 %, 483 people", low.threats.log2_Ti_above_1, "likewise"
            ),
            Compared(
                f"RGT_A falls from {low.level} to {high.level}", "yes", _yes(low.threats.RGT_A > high.threats.RGT_A)
            ),
            Compared(
                f"RF falls from {low.level} to {high.level}", "yes", _yes(low.faithfulness.RF > high.faithfulness.RF)
            ),
        ),
    )


def convergence(found: Sequence[Measured]) -> str:
    """What the chains say of themselves."""
    apart = [one for one in found if not one.diagnostics["converged"]]
    if not apart:
        return "The chains agree."
    told = "; ".join(
        f"ℓ = {one.level}: {one.diagnostics['chains']} chains of {one.diagnostics['sweeps']:,} sweeps, R-hat "
        f"{one.diagnostics['largest_rhat']:.2f}, {one.diagnostics['beliefs_that_differ_between_chains']:,} beliefs that "
        "differ between chains"
        for one in apart
    )
    return (
        f"NOT CONVERGED ({told}). Beliefs of single people are not reliable. Where chains differ they have settled at "
        "different ways to tell occupations apart and stay there; the paper's tests compare parts of one chain and cannot see "
        "that."
    )


def _yes(holds: bool) -> str:
    return "yes" if holds else "no"


def _figure1() -> Exhibit:
    return Exhibit("Figure 1", "Sampling of horizontal schemes", "A drawing of the sampler, (36). It has no numbers.")


# What Sections VI-A and B say of the share of threatened people whom the attacker is surer of: in words, low and high end.
CLAIMS = {
    ("Figure 2", "p_A"): ("roughly half", 0.4, 0.6),
    ("Figure 2", "p_L"): ("smaller under p_A", 0.0, 0.5),
    ("Figure 3", "p_A"): ("the majority", 0.5, 1.0),
    ("Figure 3", "p_L"): ("the majority", 0.5, 1.0),
}


def _surer(claim: tuple[str, float, float], what: str, ours: float) -> Compared:
    printed, low, high = claim
    return Compared(what, printed, ours, "" if low <= ours <= high else "not so here: other rows, and other groups")


def _skewed(mine: Points, other: Points | None, what: str) -> Compared:
    """γ is said to be positive and, where there is another scheme to go by, greater than of that."""
    if other is None:
        return Compared(what, "positive", mine.skewness, "" if mine.skewness > 0 else "not so here: other rows")
    note = f"there it is {number(other.skewness)}"
    return Compared(
        what,
        "even greater than of k-anonymity",
        mine.skewness,
        note if mine.skewness > other.skewness else f"{note}: not so here, other rows and other groups",
    )


def _figure(
    name: str, scheme: str, text: str, found: Sequence[Measured], beside: Sequence[Measured] | None = None
) -> Exhibit:
    drawn: list[tuple[Any, str]] = []
    rows = []
    letters = iter("abcdefgh")
    for one in reversed(found):  # the paper has 6 on top
        level = text.format(one.level)
        for who, mine in (("p_A", one.under_attacker), ("p_L", one.under_learner)):
            scatter = partial(charts.beliefs_against, mine.learner, mine.attacker, ("p_L", "p_A"))
            bars = partial(charts.histogram, EDGES, mine.counts(), ("log2 Ti", "people"))
            drawn.append((scatter, f"({next(letters)}) {level}: p_L and p_A of those threatened under {who}"))
            drawn.append((bars, f"({next(letters)}) {level}: log2 Ti of those threatened under {who}"))
            numbers = (mine.attacker_surer, mine.doubled, mine.skewness)
            rows.append([level, who, f"{len(mine.logs):,}", *map(number, numbers)])
    return Exhibit(
        name,
        f"p_L against p_A and log2 Ti of threatened people: {scheme}",
        "Dark red: the attacker is surer than the learner. The numbers of the skewness γ are in the paper's figures and not in its "
        "text.",
        ("release", "threatened under", "people", "share with p_A ≥ p_L", "share with log2 Ti ≥ 1", "γ"),
        rows,
        (
            *(
                _surer(
                    CLAIMS[name, who], f"p_A ≥ p_L, of those threatened under {who}, {one.level}", mine.attacker_surer
                )
                for one in found
                for who, mine in (("p_A", one.under_attacker), ("p_L", one.under_learner))
            ),
            *(
                _skewed(
                    one.under_attacker,
                    beside[i].under_attacker if beside else None,
                    f"γ of those threatened under p_A, {one.level}",
                )
                for i, one in enumerate(found)
            ),
        ),
        tuple(drawn),
    )
