"""Recommendations if a near miss helps the attacker, whether or not it is known by how much.

The bounds on ΔP are half the printed ones. With posterior p, prior q and their best guesses a and b, E_q d(X,b) ≤ E_q d(X,a), so
ΔP = E_p d(X,b) − E_p d(X,a) ≤ (E_p − E_q)[d(X,b) − d(X,a)]. The term in brackets lies between −d_max and d_max, which gives
2 d_max TV; it is 2L-Lipschitz if the loss is L-Lipschitz, which gives 2L times the earth mover's distance; and TV ≤ tanh(δ/2).
"""

from __future__ import annotations

from dalenius.measures.guide.recommendation import (
    CHECK,
    CLASSES,
    COUNTS_ROWS,
    CROWDS,
    DESIGN,
    GRADED,
    HAMMING,
    KNOWS_CHANNEL,
    KNOWS_CLASS,
    LEARNERS,
    ONE_SECRET,
    PAPER,
    Also,
    Recommendation,
)

__all__ = [
    "AVERAGE_ERROR",
    "COUNT_ATTRIBUTE",
    "COUNT_IDENTITY",
    "MUTUAL_INFORMATION",
    "NO_BEST_ERROR",
    "T_CLOSENESS",
    "T_IDENTITY",
    "WORST_ERROR",
]

_KNOWN_LIMITS = (
    "Its unit is that of the loss (squared for the squared loss), so it cannot be compared across losses.",
    "Another attacker may have another loss. If the loss is unknown, use a bound instead of a number.",
    "It is the error per value, also for a sequence of independent values. " + ONE_SECRET,
)
_KNOWN_ASSUMES = (
    KNOWS_CHANNEL,
    "The loss that you give is the attacker's own.",
    "The attacker makes the guess with the smallest expected loss (a Bayes estimator).",
)
_ANY_LOSS = (
    "For another loss: squared, or a file with one row for each true value and one column for each guess (also for "
    "distances between people)"
)

WORST_ERROR = Recommendation(
    measure="worst-case estimation error",
    why="You know what a guess costs the attacker, so you can measure it directly: compute the smallest expected loss after each "
    "observation, and take the observation with the smallest one.",
    assumes=_KNOWN_ASSUMES,
    limits=("A single rare observation determines it.", *_KNOWN_LIMITS),
    bounds="It is the error itself: P(y) ≥ worst-case privacy for every y, and worst case ≤ average ≤ error without observation.",
    command=GRADED,
    keys=("worst_case_privacy",),
    also=(
        Also(_ANY_LOSS, "dalenius channel MATRIX --prior prior.csv --loss loss.csv --json -", ("worst_case_privacy",)),
        Also("To design the system", DESIGN.format("absolute", "worst-case")),
    ),
    reference=PAPER + "sections IV-C (equation 3) and V-B",
)

AVERAGE_ERROR = Recommendation(
    measure="average estimation error",
    why="You know what a guess costs the attacker, so you can measure it directly: compute the smallest expected loss after each "
    "observation, and average. For the squared loss this is the mean squared error.",
    assumes=_KNOWN_ASSUMES,
    limits=("An average hides the observations that reveal a lot.", *_KNOWN_LIMITS),
    bounds="It is the error itself: worst case ≤ average ≤ error without observation.",
    command=GRADED,
    keys=("average_privacy",),
    also=(
        Also(_ANY_LOSS, "dalenius channel MATRIX --prior prior.csv --loss loss.csv --json -", ("average_privacy",)),
        Also("To design the system", DESIGN.format("absolute", "average")),
    ),
    reference=PAPER + "sections IV-C (equation 4), V-B and VI-A",
)

NO_BEST_ERROR = Recommendation(
    measure="average estimation error, as there is no best case",
    why="Best cases count what is possible, and a count ignores how close two values are. The paper has no best case for a graded "
    "loss, and neither does Dalenius. The average is the most favourable number that still describes the attacker.",
    assumes=_KNOWN_ASSUMES,
    limits=("It is not a best case: single observations may leave the attacker with a larger error.", *_KNOWN_LIMITS),
    bounds="Worst case ≤ average ≤ error without observation, which is the upper limit of every average.",
    command=GRADED,
    keys=("average_privacy",),
    also=(Also(_ANY_LOSS, "dalenius channel MATRIX --prior prior.csv --loss loss.csv --json -", ("average_privacy",)),),
    reference=PAPER + "section IV-C (equation 4); the choice is ours",
)

_UNKNOWN_ASSUMES = (
    "Without the observation, the attacker knows how common each value is overall. With it, it draws the correct conclusion.",
    "The attacker makes the guess with the smallest expected loss, whatever the loss is. The paper says the most likely value, "
    "but its proof needs the cheapest one.",
    "You know the largest loss d_max, or a share of it is enough for you.",
)
_GAIN_ONLY = (
    "It bounds what the observation adds, not what the attacker knows anyway. A common value may be easy to guess."
)
_PER_VALUE = "It applies per value, also to a sequence of independent values. " + ONE_SECRET
_DELTA_BOUND = "With δ, the logarithm of the largest factor: t in nats ≤ δ, and ΔP(y) ≤ 2 d_max tanh(δ/2)"

T_IDENTITY = Recommendation(
    measure="largest divergence of the posterior from the prior (t-closeness of the identity)",
    why="You do not know what a near miss is worth. But no attacker, with any loss, gains much from an observation that hardly "
    "changes its belief. t is the largest change in the belief about who it is. δ is stricter: it is the largest factor. "
    "Neither depends on --loss.",
    assumes=_UNKNOWN_ASSUMES,
    limits=(
        _GAIN_ONLY,
        "t is an average over values within the worst observation. Only δ is a worst case in both, and it is infinite as soon as "
        "someone is ruled out.",
        _PER_VALUE,
    ),
    bounds=f"ΔP(y) ≤ 2 d_max TV ≤ √2 d_max √t for every y, t in nats. {_DELTA_BOUND}.",
    command=HAMMING,
    keys=("t_kl", "delta_disclosure"),
    also=(Also("For an anonymity protocol", CROWDS, ("t_kl", "delta_disclosure")),),
    reference=PAPER + "sections V-B1 and V-B3 (equation 8); the paper treats attributes there; the proof is the same",
)

T_CLOSENESS = Recommendation(
    measure="t-closeness, or δ-disclosure if it must be stricter",
    why="You do not know what a near miss is worth. But no attacker, with any loss, gains much from a class whose values are "
    "distributed as in the whole table. t is how far the worst class is from that. δ is stricter: it is the largest factor.",
    assumes=_UNKNOWN_ASSUMES,
    limits=(
        _GAIN_ONLY,
        "t is an average over values within the worst class. Only δ is a worst case in both, and it is infinite as soon as a "
        "class lacks a value.",
        "t as an earth mover's distance and t as a divergence are different numbers, with different bounds.",
        LEARNERS,
        _PER_VALUE,
    ),
    bounds="With t_closeness.equal, which is the total variation: ΔP(y) ≤ 2 d_max t. With t_closeness.ordered or "
    ".hierarchical: the same, for a loss that differs by at most d_max times the distance of two values. "
    "As a divergence in nats (t_kl): ΔP(y) ≤ √2 d_max √t. "
    f"{_DELTA_BOUND}.",
    command=CHECK,
    keys=("t_closeness.equal", "t_closeness.ordered", "t_closeness.hierarchical", "delta_disclosure.delta"),
    also=(
        Also("To make such a release", "dalenius publish TABLE --k 5 --t 0.2 -o RELEASE"),
        Also("To make a stricter one", "dalenius publish TABLE --k 5 --delta 1.5 -o RELEASE"),
        Also("For a system that adds noise", HAMMING, ("t_kl", "t_emd", "delta_disclosure")),
    ),
    reference=PAPER + "sections V-B1, V-B3 (equation 8) and VII",
)

MUTUAL_INFORMATION = Recommendation(
    measure="mutual information",
    why="You do not know what a near miss is worth. But no attacker, with any loss, gains much on average from observations that "
    "reveal little about the value. The mutual information is what they reveal on average: t-closeness without the worst case. "
    "It does not depend on --loss.",
    assumes=_UNKNOWN_ASSUMES,
    limits=(
        "An average hides the observations that reveal a lot. t-closeness describes the worst of them.",
        _GAIN_ONLY,
        _PER_VALUE,
    ),
    bounds="E[ΔP²] ≤ 2 d_max² I, so the average of ΔP is at most √2 d_max √I, "
    "where I is the mutual information in nats. I is at most t as a divergence, and that is at most δ of δ-disclosure.",
    command=HAMMING,
    keys=("mutual_information",),
    also=(
        Also("For a table: what the classes reveal about a person's value", CLASSES, ("mutual_information",)),
        Also(
            "To design the system: the smallest mutual information for a given distortion",
            DESIGN.format("hamming", "mutual-information"),
        ),
    ),
    reference=PAPER + "sections V-B2 (equation 9) and VII",
)  # fmt: skip

_NO_BOUND = (
    "None. For every count there is a loss under which all remaining values are nearly the same to the attacker. ΔP(y) can be "
    "as large as d_max."
)
_NOT_ENOUGH = (
    "The paper has no best case for a graded loss. If near misses matter, answer worst or average instead of best."
)

COUNT_IDENTITY = Recommendation(
    measure="k-anonymity, which does not bound near misses",
    why="A best case counts the possible people. That is k-anonymity, whatever the loss. It says only that the attacker cannot "
    "name the person for certain, not how close a guess comes.",
    assumes=(KNOWS_CLASS, COUNTS_ROWS),
    limits=(
        "k people who live in one house, or belong to one family, are k-anonymous but close to each other.",
        _NOT_ENOUGH,
    ),
    bounds=_NO_BOUND,
    command=CHECK,
    keys=("k_anonymity.k",),
    also=(
        Also("To make such a release", "dalenius publish TABLE --k 5 -o RELEASE"),
        Also("For an anonymity protocol", CROWDS, ("hartley_entropy",)),
    ),
    reference=PAPER + "section VII; the choice is ours",
)

COUNT_ATTRIBUTE = Recommendation(
    measure="distinct ℓ-diversity, which does not bound near misses",
    why="A best case counts the possible values. That is ℓ-diversity, whatever the loss. It says only that the attacker cannot "
    "name the value for certain, not how close a guess comes.",
    assumes=(KNOWS_CLASS, "The attacker assumes that every value in the class is equally likely."),
    limits=(
        "A class with the salaries 3,000, 3,001 and 3,002 has three values and still reveals the salary.",
        _NOT_ENOUGH,
    ),
    bounds=_NO_BOUND,
    command=CHECK,
    keys=("distinct_l_diversity.l",),
    also=(
        Also("To make such a release", "dalenius publish TABLE --k 5 --l 3 -o RELEASE"),
        Also("For a system that adds noise", HAMMING, ("hartley_entropy",)),
    ),
    reference=PAPER + "section VII; the choice is ours",
)
