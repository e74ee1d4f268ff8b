"""The recommendations of the guide: which measure, why, under which assumptions, with which limits, and what to run.

Entropies in the bounds are in bits, divergences in nats, as Pinsker's inequality needs them.

The bounds on ΔP are half the printed ones. With posterior p, prior q and their best guesses a and b, E_q d(X,b) ≤ E_q d(X,a), so
ΔP = E_p d(X,b) − E_p d(X,a) ≤ (E_p − E_q)[d(X,b) − d(X,a)]. What is in brackets lies between −d_max and d_max, which gives
2 d_max TV; it is 2L-Lipschitz if the loss is L-Lipschitz, which gives 2L times the earth mover's distance; and TV ≤ tanh(δ/2).
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Also:
    """Another command, and what it is for."""

    purpose: str
    command: str
    keys: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Recommendation:
    """A measure for a case. `keys` are those of the command's JSON document to read."""

    measure: str
    why: str
    assumes: tuple[str, ...]
    limits: tuple[str, ...]
    bounds: str
    command: str
    keys: tuple[str, ...]
    reference: str
    also: tuple[Also, ...] = ()

    @property
    def notation(self) -> dict[str, str]:
        """The signs in its bounds."""
        rest = self.bounds.replace("ΔP(y)", "ΔP")
        return {sign: meaning for sign, meaning in NOTATION.items() if sign in rest}


# What a sign in the bounds means; whoever shows a bound shows those that occur in it.
NOTATION = {
    "P(y)": "the attacker's smallest expected loss once it has seen y; where all mistakes are alike, its chance of error.",
    "ΔP": "what seeing y saves the attacker, against the guess that it would have made without.",
    "d_max": "what the worst guess costs the attacker.",
    "TV": "total variation: half the sum of the absolute differences of two distributions.",
    "α": "the largest share that a value has in a class.",
    "nats": "natural logarithms; the document of `dalenius channel` has bits, and a bit is 0.693 nats.",
}

_PAPER = "Rebollo-Monedero, Parra-Arnau, Diaz and Forné 2013, "
_CHECK = "dalenius check RELEASE --json -"
_AUDIT = "dalenius audit RELEASE --truth TABLE -o report.html --json report.json"
_CLASSES = "dalenius channel --release RELEASE --json -"
_HAMMING = "dalenius channel MATRIX --prior prior.csv --loss hamming --json -"
_GRADED = "dalenius channel MATRIX --prior prior.csv --loss absolute --json -"
_CROWDS = "dalenius channel --model crowds:n=10,p=0.3 --loss hamming --json -"
_DESIGN = "dalenius channel MATRIX --prior prior.csv --loss {} --design {} --distortion 0.1"

_RIGHT_OR_WRONG = "Only the right value is worth anything to the attacker."
_KNOWS_CHANNEL = (
    "The attacker knows how the system works and how common each value is, and draws the right conclusions."
)
_KNOWS_CLASS = "The attacker knows that the person is in the table and in which class."
_COUNTS_ROWS = "It takes every row of the class for equally likely the person's."
_INDEPENDENT = "The values of the sequence are independent of each other and pass through the system one by one."
_ONE_SECRET = (
    "One value that is seen several times is no sequence: all that is seen of it is one observation. What several releases "
    "give away together is told by `dalenius compose`."
)
_LEARNERS = "Whoever learns from the other classes may know more than a class tells: `dalenius attack` tries that."
_ORDER = "min-entropy ≤ Shannon entropy ≤ Hartley entropy, equal where all that is possible is equally likely"

MIN_ENTROPY_IDENTITY = Recommendation(
    measure="min-entropy of who it is",
    why="The attacker names one person, the likeliest one, and is right or wrong. The min-entropy is minus the logarithm of how "
    "likely that person is: a single guess cannot do better, so this is the worst case.",
    assumes=(_KNOWS_CHANNEL, _RIGHT_OR_WRONG, "It guesses once, from one observation."),
    limits=(
        "It looks at the likeliest candidate only: it does not tell how many others are nearly as likely.",
        "It is as good as the matrix and the prior; an attacker who knows more needs a channel that says so.",
    ),
    bounds=f"P(y) = 1 − 2^(−min-entropy in bits), exactly, for every observation; the smallest one counts. {_ORDER}.",
    command=_HAMMING,
    keys=("worst_min_entropy", "worst_case_privacy"),
    also=(
        Also("For an anonymity protocol", _CROWDS, ("worst_min_entropy", "worst_case_privacy")),
        Also("For a table, where all rows of a class are equally likely, P(y) ≥ 1 − 1/k", _CHECK, ("k_anonymity.k",)),
        Also("To design the system", _DESIGN.format("hamming", "worst-case")),
    ),
    reference=_PAPER + "sections V-A1 (equation 7) and VII",
)

SHANNON_IDENTITY = Recommendation(
    measure="Shannon entropy of who it is",
    why="The attacker weighs all candidates, not only the likeliest one. The Shannon entropy averages over them: 2 to its power "
    "is the number of equally likely people who would leave as much doubt.",
    assumes=(_KNOWS_CHANNEL, _RIGHT_OR_WRONG, "Every observation counts as often as it happens."),
    limits=(
        "An average hides people: one may be known for certain while the entropy is high.",
        "It is no error by itself. For a single guess the average error, `average_privacy`, is the exact number; report both.",
    ),
    bounds="For n candidates, with H the average entropy in bits: (H − 1) / log2 n ≤ average error ≤ 1 − 2^(−H). The left "
    f"side is Fano's inequality. {_ORDER}.",
    command=_HAMMING,
    keys=("shannon_entropy", "average_privacy"),
    also=(
        Also("For an anonymity protocol", _CROWDS, ("shannon_entropy", "average_privacy")),
        Also("For a table: how often a row is linked to the right person on average", _AUDIT, ("risks.average",)),
        Also("To design the system", _DESIGN.format("hamming", "average")),
    ),
    reference=_PAPER + "sections VI-B and VII; equation 6",
)

K_ANONYMITY = Recommendation(
    measure="k-anonymity (Hartley entropy of who it is)",
    why="The attacker counts the people whom a row may belong to: at least k. The logarithm of that count is the Hartley "
    "entropy. It is a best case, because no candidate is taken for likelier than another.",
    assumes=(_KNOWS_CLASS, _COUNTS_ROWS, _RIGHT_OR_WRONG),
    limits=(
        "Knowledge that makes one of the k likelier is not counted, and only lowers the error.",
        "It says nothing about attributes: k people who all have one diagnosis are k-anonymous.",
        "Several releases of the same people can leave fewer than k together: see `dalenius compose`.",
    ),
    bounds="In a class of k people P(y) ≤ 1 − 1/k = 1 − 2^(−Hartley entropy in bits), equal where all k are equally likely: "
    f"a ceiling, no guarantee. {_ORDER}.",
    command=_CHECK,
    keys=("k_anonymity.k",),
    also=(
        Also("To make such a release", "dalenius publish TABLE --k 5 -o RELEASE"),
        Also("For an anonymity protocol", _CROWDS, ("hartley_entropy",)),
    ),
    reference=_PAPER + "sections V-A1 and VII",
)

MIN_ENTROPY_ATTRIBUTE = Recommendation(
    measure="min-entropy of the attribute (the largest share of a value in a class)",
    why="The attacker guesses the commonest value of the class and is right or wrong. The share α of that value is how often it "
    "is right; the min-entropy is minus its logarithm. The class with the largest share is the worst case.",
    assumes=(_KNOWS_CLASS, _COUNTS_ROWS, _RIGHT_OR_WRONG),
    limits=(
        "A value that is common everywhere gives a large share although the release teaches nothing: compare the table's own.",
        _LEARNERS,
    ),
    bounds="In the worst class P(y) = 1 − α = 1 − 2^(−min-entropy in bits), exactly.",
    command=_CHECK,
    keys=("alpha_k_anonymity.alpha",),
    also=(
        Also("To make such a release", "dalenius publish TABLE --k 5 --alpha 0.5 -o RELEASE"),
        Also("For a system that adds noise", _HAMMING, ("worst_min_entropy", "worst_case_privacy")),
    ),
    reference=_PAPER + "section V-A1 (equation 7)",
)

SHANNON_ATTRIBUTE = Recommendation(
    measure="Shannon entropy of the attribute",
    why="The attacker weighs all values that the person may have, and every observation counts as often as it happens. What is "
    "left of the attribute's entropy is the doubt that stays; what is gone is the mutual information.",
    assumes=(_KNOWS_CHANNEL, _RIGHT_OR_WRONG, "Every observation counts as often as it happens."),
    limits=(
        "An average hides people: one class may give its value away while the entropy is high.",
        "It is no error by itself. For a single guess the average error, `average_privacy`, is the exact number; report both.",
        "`check` has the entropy of the worst class only, as entropy ℓ-diversity (ℓ is e to its power in nats).",
    ),
    bounds="For n values, with H the average entropy in bits: (H − 1) / log2 n ≤ average error ≤ 1 − 2^(−H). The left side is "
    f"Fano's inequality. {_ORDER}.",
    command=_HAMMING,
    keys=("shannon_entropy", "average_privacy", "mutual_information"),
    also=(
        Also("For a table: of a person's value, given the class", _CLASSES, ("shannon_entropy", "average_privacy")),
        Also("For a table: how often an adversary is right, over all people", _AUDIT, ("attacks[].success.value",)),
        Also(
            "To make a release whose every class keeps some entropy", "dalenius publish TABLE --entropy-l 3 -o RELEASE"
        ),
        Also("To design the system", _DESIGN.format("hamming", "average")),
    ),
    reference=_PAPER + "sections V-A and V-B2; equation 6",
)

L_DIVERSITY = Recommendation(
    measure="distinct ℓ-diversity (Hartley entropy of the attribute)",
    why="The attacker counts the values that occur in the class: at least ℓ. The logarithm of that count is the Hartley entropy. "
    "It is a best case, because no value is taken for likelier than another.",
    assumes=(_KNOWS_CLASS, "It takes every value that occurs in the class for equally likely.", _RIGHT_OR_WRONG),
    limits=(
        "Shares are not counted: 99 people with one value and one with another are 2-diverse.",
        "Values that mean nearly the same count as different.",
        "Several releases of the same people can leave fewer than ℓ values together: see `dalenius compose`.",
    ),
    bounds="In a class with ℓ values P(y) ≤ 1 − 1/ℓ = 1 − 2^(−Hartley entropy in bits), equal where all ℓ are equally "
    f"common: a ceiling, no guarantee. {_ORDER}.",
    command=_CHECK,
    keys=("distinct_l_diversity.l",),
    also=(
        Also("To make such a release", "dalenius publish TABLE --k 5 --l 3 -o RELEASE"),
        Also("For a system that adds noise", _HAMMING, ("hartley_entropy",)),
    ),
    reference=_PAPER + "sections V-A1 and VII",
)

MIN_ENTROPY_SEQUENCE = Recommendation(
    measure="min-entropy of a sequence",
    why="The attacker names one whole sequence, the likeliest one. Of independent values that is the likeliest value each time, "
    "and the min-entropies of the observations add up.",
    assumes=(_KNOWS_CHANNEL, _INDEPENDENT, "It must have the whole sequence right."),
    limits=(
        "Whoever is content with a part of the sequence is right more often: each single guess is no harder than before.",
        "Values that depend on each other, such as the places on a way, are easier to guess than this says.",
        _ONE_SECRET,
    ),
    bounds="Chance of having all m values right ≤ 2^(−m · min-entropy in bits), with that of the worst observation; equal if "
    "every observation is such a one.",
    command=_HAMMING,
    keys=("worst_min_entropy", "worst_case_privacy"),
    reference=_PAPER + "section V-A2, last paragraph",
)

SHANNON_SEQUENCE = Recommendation(
    measure="Shannon entropy of a sequence (size of the typical set)",
    why="Of a long sequence almost surely one of about 2^(m · H) sequences is the true one, all about equally likely, where m is "
    "the length and H the Shannon entropy that an observation leaves. That number is the size of the haystack.",
    assumes=(_KNOWS_CHANNEL, _INDEPENDENT, "The sequence is long; for a short one the count is only rough."),
    limits=(
        "The likeliest sequence may not be among those: the entropy does not bound one best guess. That is the min-entropy.",
        "For values that depend on each other the entropy per step (the entropy rate) takes the place of H, and is smaller.",
        _ONE_SECRET,
    ),
    bounds="A list of about 2^(m · H) sequences, H in bits, holds the true one almost surely, and no much shorter list does.",
    command=_HAMMING,
    keys=("shannon_entropy",),
    also=(
        Also(
            "To design the system: little mutual information is much entropy left",
            _DESIGN.format("hamming", "mutual-information"),
        ),
    ),
    reference=_PAPER + "section V-A2",
)  # fmt: skip

HARTLEY_SEQUENCE = Recommendation(
    measure="Hartley entropy of a sequence",
    why="The attacker counts the sequences that are possible: the numbers of possible values multiply, and their logarithms add "
    "up. It is a best case, because no sequence is taken for likelier than another.",
    assumes=("The attacker rules out what is impossible and does nothing more.", _INDEPENDENT),
    limits=(
        "Noise that makes everything possible gives the largest number there is, however small the noise.",
        "The count grows with the length by itself: compare it with the count without any observation.",
        _ONE_SECRET,
    ),
    bounds="Chance of having all m values right ≥ 2^(−sum of the Hartley entropies in bits): a ceiling of privacy, no guarantee.",
    command=_HAMMING,
    keys=("hartley_entropy",),
    reference=_PAPER + "sections V-A1 and V-A2; extended to sequences here",
)

_KNOWN_LIMITS = (
    "It is in the unit of the loss, squared for the squared loss, and cannot be compared across losses.",
    "Another attacker may have another loss: with the loss unknown, ask for a bound in place of a number.",
    "It is the error per value, also of a sequence of independent values. " + _ONE_SECRET,
)
_KNOWN_ASSUMES = (
    _KNOWS_CHANNEL,
    "The loss that you give is the attacker's own.",
    "It makes the guess that costs it least on average (a Bayes estimator).",
)
_ANY_LOSS = (
    "For another loss: squared, or a file with a row for each truth and a column for each guess (also of distances "
    "between people)"
)

WORST_ERROR = Recommendation(
    measure="worst-case estimation error",
    why="You know what a guess costs the attacker, so nothing has to stand in for it: measure its smallest expected loss after "
    "each observation, and take the observation that leaves the least.",
    assumes=_KNOWN_ASSUMES,
    limits=("A single rare observation decides it.", *_KNOWN_LIMITS),
    bounds="It is the error itself: P(y) ≥ worst-case privacy for every y, and worst case ≤ average ≤ error without observing.",
    command=_GRADED,
    keys=("worst_case_privacy",),
    also=(
        Also(_ANY_LOSS, "dalenius channel MATRIX --prior prior.csv --loss loss.csv --json -", ("worst_case_privacy",)),
        Also("To design the system", _DESIGN.format("absolute", "worst-case")),
    ),
    reference=_PAPER + "sections IV-C (equation 3) and V-B",
)

AVERAGE_ERROR = Recommendation(
    measure="average estimation error",
    why="You know what a guess costs the attacker, so nothing has to stand in for it: measure its smallest expected loss after "
    "each observation, and average. For the squared loss this is the mean squared error.",
    assumes=_KNOWN_ASSUMES,
    limits=("An average hides the observations that give much away.", *_KNOWN_LIMITS),
    bounds="It is the error itself: worst case ≤ average ≤ error without observing.",
    command=_GRADED,
    keys=("average_privacy",),
    also=(
        Also(_ANY_LOSS, "dalenius channel MATRIX --prior prior.csv --loss loss.csv --json -", ("average_privacy",)),
        Also("To design the system", _DESIGN.format("absolute", "average")),
    ),
    reference=_PAPER + "sections IV-C (equation 4), V-B and VI-A",
)

NO_BEST_ERROR = Recommendation(
    measure="average estimation error, for want of a best case",
    why="The best cases count what is possible, and a count does not know how near two values are. The paper has no best case for "
    "a graded loss, and neither have we: the average is the kindest number that still says something about the attacker.",
    assumes=_KNOWN_ASSUMES,
    limits=("It is not a best case: single observations may leave the attacker a larger error.", *_KNOWN_LIMITS),
    bounds="Worst case ≤ average ≤ error without observing, which is the ceiling of every average.",
    command=_GRADED,
    keys=("average_privacy",),
    also=(Also(_ANY_LOSS, "dalenius channel MATRIX --prior prior.csv --loss loss.csv --json -", ("average_privacy",)),),
    reference=_PAPER + "section IV-C (equation 4); the choice is ours",
)

_UNKNOWN_ASSUMES = (
    "Without the observation the attacker believes what is common among all; with it, it draws the right conclusion.",
    "It makes the guess that costs it least on average, whatever its loss is. The paper says the likeliest value; its proof "
    "needs the cheapest one.",
    "You know the largest loss d_max, or are content with a share of it.",
)
_GAIN_ONLY = (
    "It bounds what the observation adds, not what the attacker knows anyway: what is common may be easy to guess."
)
_PER_VALUE = "It holds per value, also for a sequence of independent values. " + _ONE_SECRET
_DELTA_BOUND = "With δ, the logarithm of the largest factor: t in nats ≤ δ, and ΔP(y) ≤ 2 d_max tanh(δ/2)"

T_IDENTITY = Recommendation(
    measure="largest divergence of the posterior from the prior (t-closeness of who it is)",
    why="You do not know what a near miss is worth. But no attacker, with any loss, gains much from an observation that hardly "
    "moves its belief. t is how far the belief about who it is moves at most; δ, stricter, the largest factor. "
    "Neither depends on --loss.",
    assumes=_UNKNOWN_ASSUMES,
    limits=(
        _GAIN_ONLY,
        "t is an average over values within the worst observation. δ alone is a worst case in both, and infinite as soon as "
        "somebody is ruled out.",
        _PER_VALUE,
    ),
    bounds=f"ΔP(y) ≤ 2 d_max TV ≤ √2 d_max √t for every y, t in nats. {_DELTA_BOUND}.",
    command=_HAMMING,
    keys=("t_kl", "delta_disclosure"),
    also=(Also("For an anonymity protocol", _CROWDS, ("t_kl", "delta_disclosure")),),
    reference=_PAPER + "sections V-B1 and V-B3 (equation 8); the paper has attributes there, the proof is the same",
)

T_CLOSENESS = Recommendation(
    measure="t-closeness, and δ-disclosure where it must be stricter",
    why="You do not know what a near miss is worth. But no attacker, with any loss, gains much from a class whose values are "
    "distributed as in the whole table. t is how far the worst class is from that; δ, stricter, the largest factor.",
    assumes=_UNKNOWN_ASSUMES,
    limits=(
        _GAIN_ONLY,
        "t is an average over values within the worst class. δ alone is a worst case in both, and infinite as soon as a class "
        "lacks a value.",
        "t as an earth mover's distance and t as a divergence are different numbers, with different bounds.",
        _LEARNERS,
        _PER_VALUE,
    ),
    bounds="With t_closeness.equal, which is the total variation: ΔP(y) ≤ 2 d_max t. With t_closeness.ordered or "
    ".hierarchical: the same, for a loss that differs by at most d_max times the distance of two values. "
    "As a divergence in nats (t_kl): ΔP(y) ≤ √2 d_max √t. "
    f"{_DELTA_BOUND}.",
    command=_CHECK,
    keys=("t_closeness.equal", "t_closeness.ordered", "t_closeness.hierarchical", "delta_disclosure.delta"),
    also=(
        Also("To make such a release", "dalenius publish TABLE --k 5 --t 0.2 -o RELEASE"),
        Also("To make a stricter one", "dalenius publish TABLE --k 5 --delta 1.5 -o RELEASE"),
        Also("For a system that adds noise", _HAMMING, ("t_kl", "t_emd", "delta_disclosure")),
    ),
    reference=_PAPER + "sections V-B1, V-B3 (equation 8) and VII",
)

MUTUAL_INFORMATION = Recommendation(
    measure="mutual information",
    why="You do not know what a near miss is worth. But no attacker, with any loss, gains much on average from observations that "
    "tell little about the value. The mutual information is what they tell on average: t-closeness without the worst case. "
    "It does not depend on --loss.",
    assumes=_UNKNOWN_ASSUMES,
    limits=(
        "An average hides the observations that give much away; t-closeness is the worst of them.",
        _GAIN_ONLY,
        _PER_VALUE,
    ),
    bounds="E[ΔP²] ≤ 2 d_max² I, so the average of ΔP is at most √2 d_max √I, "
    "where I is the mutual information in nats. I is at most t as a divergence, and that is at most δ of δ-disclosure.",
    command=_HAMMING,
    keys=("mutual_information",),
    also=(
        Also("For a table: what the classes tell of a person's value", _CLASSES, ("mutual_information",)),
        Also(
            "To design the system: the least mutual information for a given distortion",
            _DESIGN.format("hamming", "mutual-information"),
        ),
    ),
    reference=_PAPER + "sections V-B2 (equation 9) and VII",
)  # fmt: skip

_NO_BOUND = (
    "None. For every count there is a loss under which all that is left is nearly the same to the attacker: ΔP(y) can be as "
    "large as d_max."
)
_NOT_ENOUGH = (
    "The paper has no best case for a graded loss. If near misses matter, answer worst or average in place of best."
)

COUNT_IDENTITY = Recommendation(
    measure="k-anonymity, which bounds no near miss",
    why="A best case counts who is possible. That is k-anonymity, whatever the loss: the one thing that can be said is that the "
    "attacker cannot name the person for certain, not how near it comes.",
    assumes=(_KNOWS_CLASS, _COUNTS_ROWS),
    limits=(
        "k people who live in one house, or are one family, are k-anonymous and near each other.",
        _NOT_ENOUGH,
    ),
    bounds=_NO_BOUND,
    command=_CHECK,
    keys=("k_anonymity.k",),
    also=(
        Also("To make such a release", "dalenius publish TABLE --k 5 -o RELEASE"),
        Also("For an anonymity protocol", _CROWDS, ("hartley_entropy",)),
    ),
    reference=_PAPER + "section VII; the choice is ours",
)

COUNT_ATTRIBUTE = Recommendation(
    measure="distinct ℓ-diversity, which bounds no near miss",
    why="A best case counts which values are possible. That is ℓ-diversity, whatever the loss: the one thing that can be said is "
    "that the attacker cannot name the value for certain, not how near it comes.",
    assumes=(_KNOWS_CLASS, "It takes every value that occurs in the class for equally likely."),
    limits=(
        "A class with the salaries 3,000, 3,001 and 3,002 has three values and gives the salary away.",
        _NOT_ENOUGH,
    ),
    bounds=_NO_BOUND,
    command=_CHECK,
    keys=("distinct_l_diversity.l",),
    also=(
        Also("To make such a release", "dalenius publish TABLE --k 5 --l 3 -o RELEASE"),
        Also("For a system that adds noise", _HAMMING, ("hartley_entropy",)),
    ),
    reference=_PAPER + "section VII; the choice is ours",
)
