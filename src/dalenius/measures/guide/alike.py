"""Recommendations where a guess is right or wrong, and all wrong guesses are alike (Hamming loss)."""

from __future__ import annotations

from dalenius.measures.guide.recommendation import (
    AUDIT,
    CHECK,
    CLASSES,
    COUNTS_ROWS,
    CROWDS,
    DESIGN,
    HAMMING,
    INDEPENDENT,
    KNOWS_CHANNEL,
    KNOWS_CLASS,
    LEARNERS,
    ONE_SECRET,
    ORDER,
    PAPER,
    RIGHT_OR_WRONG,
    Also,
    Recommendation,
)

__all__ = [
    "HARTLEY_SEQUENCE",
    "K_ANONYMITY",
    "L_DIVERSITY",
    "MIN_ENTROPY_ATTRIBUTE",
    "MIN_ENTROPY_IDENTITY",
    "MIN_ENTROPY_SEQUENCE",
    "SHANNON_ATTRIBUTE",
    "SHANNON_IDENTITY",
    "SHANNON_SEQUENCE",
]

MIN_ENTROPY_IDENTITY = Recommendation(
    measure="min-entropy of who it is",
    why="The attacker names one person, the likeliest one, and is right or wrong. The min-entropy is minus the logarithm of how "
    "likely that person is: a single guess cannot do better, so this is the worst case.",
    assumes=(KNOWS_CHANNEL, RIGHT_OR_WRONG, "It guesses once, from one observation."),
    limits=(
        "It looks at the likeliest candidate only: it does not tell how many others are nearly as likely.",
        "It is as good as the matrix and the prior; an attacker who knows more needs a channel that says so.",
    ),
    bounds=f"P(y) = 1 − 2^(−min-entropy in bits), exactly, for every observation; the smallest one counts. {ORDER}.",
    command=HAMMING,
    keys=("worst_min_entropy", "worst_case_privacy"),
    also=(
        Also("For an anonymity protocol", CROWDS, ("worst_min_entropy", "worst_case_privacy")),
        Also("For a table, where all rows of a class are equally likely, P(y) ≥ 1 − 1/k", CHECK, ("k_anonymity.k",)),
        Also("To design the system", DESIGN.format("hamming", "worst-case")),
    ),
    reference=PAPER + "sections V-A1 (equation 7) and VII",
)

SHANNON_IDENTITY = Recommendation(
    measure="Shannon entropy of who it is",
    why="The attacker weighs all candidates, not only the likeliest one. The Shannon entropy averages over them: 2 to its power "
    "is the number of equally likely people who would leave as much doubt.",
    assumes=(KNOWS_CHANNEL, RIGHT_OR_WRONG, "Every observation counts as often as it happens."),
    limits=(
        "An average hides people: one may be known for certain while the entropy is high.",
        "It is no error by itself. For a single guess the average error, `average_privacy`, is the exact number; report both.",
    ),
    bounds="For n candidates, with H the average entropy in bits: (H − 1) / log2 n ≤ average error ≤ 1 − 2^(−H). The left "
    f"side is Fano's inequality. {ORDER}.",
    command=HAMMING,
    keys=("shannon_entropy", "average_privacy"),
    also=(
        Also("For an anonymity protocol", CROWDS, ("shannon_entropy", "average_privacy")),
        Also("For a table: how often a row is linked to the right person on average", AUDIT, ("risks.average",)),
        Also("To design the system", DESIGN.format("hamming", "average")),
    ),
    reference=PAPER + "sections VI-B and VII; equation 6",
)

K_ANONYMITY = Recommendation(
    measure="k-anonymity (Hartley entropy of who it is)",
    why="The attacker counts the people whom a row may belong to: at least k. The logarithm of that count is the Hartley "
    "entropy. It is a best case, because no candidate is taken for likelier than another.",
    assumes=(KNOWS_CLASS, COUNTS_ROWS, RIGHT_OR_WRONG),
    limits=(
        "Knowledge that makes one of the k likelier is not counted, and only lowers the error.",
        "It says nothing about attributes: k people who all have one diagnosis are k-anonymous.",
        "Several releases of the same people can leave fewer than k together: see `dalenius compose`.",
    ),
    bounds="In a class of k people P(y) ≤ 1 − 1/k = 1 − 2^(−Hartley entropy in bits), equal where all k are equally likely: "
    f"a ceiling, no guarantee. {ORDER}.",
    command=CHECK,
    keys=("k_anonymity.k",),
    also=(
        Also("To make such a release", "dalenius publish TABLE --k 5 -o RELEASE"),
        Also("For an anonymity protocol", CROWDS, ("hartley_entropy",)),
    ),
    reference=PAPER + "sections V-A1 and VII",
)

MIN_ENTROPY_ATTRIBUTE = Recommendation(
    measure="min-entropy of the attribute (the largest share of a value in a class)",
    why="The attacker guesses the commonest value of the class and is right or wrong. The share α of that value is how often it "
    "is right; the min-entropy is minus its logarithm. The class with the largest share is the worst case.",
    assumes=(KNOWS_CLASS, COUNTS_ROWS, RIGHT_OR_WRONG),
    limits=(
        "A value that is common everywhere gives a large share although the release teaches nothing: compare the table's own.",
        LEARNERS,
    ),
    bounds="In the worst class P(y) = 1 − α = 1 − 2^(−min-entropy in bits), exactly.",
    command=CHECK,
    keys=("alpha_k_anonymity.alpha",),
    also=(
        Also("To make such a release", "dalenius publish TABLE --k 5 --alpha 0.5 -o RELEASE"),
        Also("For a system that adds noise", HAMMING, ("worst_min_entropy", "worst_case_privacy")),
    ),
    reference=PAPER + "section V-A1 (equation 7)",
)

SHANNON_ATTRIBUTE = Recommendation(
    measure="Shannon entropy of the attribute",
    why="The attacker weighs all values that the person may have, and every observation counts as often as it happens. What is "
    "left of the attribute's entropy is the doubt that stays; what is gone is the mutual information.",
    assumes=(KNOWS_CHANNEL, RIGHT_OR_WRONG, "Every observation counts as often as it happens."),
    limits=(
        "An average hides people: one class may give its value away while the entropy is high.",
        "It is no error by itself. For a single guess the average error, `average_privacy`, is the exact number; report both.",
        "`check` has the entropy of the worst class only, as entropy ℓ-diversity (ℓ is e to its power in nats).",
    ),
    bounds="For n values, with H the average entropy in bits: (H − 1) / log2 n ≤ average error ≤ 1 − 2^(−H). The left side is "
    f"Fano's inequality. {ORDER}.",
    command=HAMMING,
    keys=("shannon_entropy", "average_privacy", "mutual_information"),
    also=(
        Also("For a table: of a person's value, given the class", CLASSES, ("shannon_entropy", "average_privacy")),
        Also("For a table: how often an adversary is right, over all people", AUDIT, ("attacks[].success.value",)),
        Also(
            "To make a release whose every class keeps some entropy", "dalenius publish TABLE --entropy-l 3 -o RELEASE"
        ),
        Also("To design the system", DESIGN.format("hamming", "average")),
    ),
    reference=PAPER + "sections V-A and V-B2; equation 6",
)

L_DIVERSITY = Recommendation(
    measure="distinct ℓ-diversity (Hartley entropy of the attribute)",
    why="The attacker counts the values that occur in the class: at least ℓ. The logarithm of that count is the Hartley entropy. "
    "It is a best case, because no value is taken for likelier than another.",
    assumes=(KNOWS_CLASS, "It takes every value that occurs in the class for equally likely.", RIGHT_OR_WRONG),
    limits=(
        "Shares are not counted: 99 people with one value and one with another are 2-diverse.",
        "Values that mean nearly the same count as different.",
        "Several releases of the same people can leave fewer than ℓ values together: see `dalenius compose`.",
    ),
    bounds="In a class with ℓ values P(y) ≤ 1 − 1/ℓ = 1 − 2^(−Hartley entropy in bits), equal where all ℓ are equally "
    f"common: a ceiling, no guarantee. {ORDER}.",
    command=CHECK,
    keys=("distinct_l_diversity.l",),
    also=(
        Also("To make such a release", "dalenius publish TABLE --k 5 --l 3 -o RELEASE"),
        Also("For a system that adds noise", HAMMING, ("hartley_entropy",)),
    ),
    reference=PAPER + "sections V-A1 and VII",
)

MIN_ENTROPY_SEQUENCE = Recommendation(
    measure="min-entropy of a sequence",
    why="The attacker names one whole sequence, the likeliest one. Of independent values that is the likeliest value each time, "
    "and the min-entropies of the observations add up.",
    assumes=(KNOWS_CHANNEL, INDEPENDENT, "It must have the whole sequence right."),
    limits=(
        "Whoever is content with a part of the sequence is right more often: each single guess is no harder than before.",
        "Values that depend on each other, such as the places on a way, are easier to guess than this says.",
        ONE_SECRET,
    ),
    bounds="Chance of having all m values right ≤ 2^(−m · min-entropy in bits), with that of the worst observation; equal if "
    "every observation is such a one.",
    command=HAMMING,
    keys=("worst_min_entropy", "worst_case_privacy"),
    reference=PAPER + "section V-A2, last paragraph",
)

SHANNON_SEQUENCE = Recommendation(
    measure="Shannon entropy of a sequence (size of the typical set)",
    why="Of a long sequence almost surely one of about 2^(m · H) sequences is the true one, all about equally likely, where m is "
    "the length and H the Shannon entropy that an observation leaves. That number is the size of the haystack.",
    assumes=(KNOWS_CHANNEL, INDEPENDENT, "The sequence is long; for a short one the count is only rough."),
    limits=(
        "The likeliest sequence may not be among those: the entropy does not bound one best guess. That is the min-entropy.",
        "For values that depend on each other the entropy per step (the entropy rate) takes the place of H, and is smaller.",
        ONE_SECRET,
    ),
    bounds="A list of about 2^(m · H) sequences, H in bits, holds the true one almost surely, and no much shorter list does.",
    command=HAMMING,
    keys=("shannon_entropy",),
    also=(
        Also(
            "To design the system: little mutual information is much entropy left",
            DESIGN.format("hamming", "mutual-information"),
        ),
    ),
    reference=PAPER + "section V-A2",
)  # fmt: skip

HARTLEY_SEQUENCE = Recommendation(
    measure="Hartley entropy of a sequence",
    why="The attacker counts the sequences that are possible: the numbers of possible values multiply, and their logarithms add "
    "up. It is a best case, because no sequence is taken for likelier than another.",
    assumes=("The attacker rules out what is impossible and does nothing more.", INDEPENDENT),
    limits=(
        "Noise that makes everything possible gives the largest number there is, however small the noise.",
        "The count grows with the length by itself: compare it with the count without any observation.",
        ONE_SECRET,
    ),
    bounds="Chance of having all m values right ≥ 2^(−sum of the Hartley entropies in bits): a ceiling of privacy, no guarantee.",
    command=HAMMING,
    keys=("hartley_entropy",),
    reference=PAPER + "sections V-A1 and V-A2; extended to sequences here",
)
