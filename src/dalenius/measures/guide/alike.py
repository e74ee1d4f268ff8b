"""Recommendations if a guess is correct or wrong, and all wrong guesses are equally bad (Hamming loss)."""

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
    measure="min-entropy of the identity",
    why="The attacker names the most likely person, and is correct or wrong. The min-entropy is minus the logarithm of that "
    "person's probability. No single guess can do better, so this is the worst case.",
    assumes=(KNOWS_CHANNEL, RIGHT_OR_WRONG, "The attacker guesses once, from one observation."),
    limits=(
        "It considers the most likely candidate only. It does not show how many others are nearly as likely.",
        "It is only as good as the matrix and the prior. An attacker who knows more needs another channel.",
    ),
    bounds=f"P(y) = 1 − 2^(−min-entropy in bits), exactly, for every observation. The smallest one counts. {ORDER}.",
    command=HAMMING,
    keys=("worst_min_entropy", "worst_case_privacy"),
    also=(
        Also("For an anonymity protocol", CROWDS, ("worst_min_entropy", "worst_case_privacy")),
        Also("For a table in which all rows of a class are equally likely, P(y) ≥ 1 − 1/k", CHECK, ("k_anonymity.k",)),
        Also("To design the system", DESIGN.format("hamming", "worst-case")),
    ),
    reference=PAPER + "sections V-A1 (equation 7) and VII",
)

SHANNON_IDENTITY = Recommendation(
    measure="Shannon entropy of the identity",
    why="The attacker weighs all candidates, not only the most likely one. The Shannon entropy averages over them. 2 to the power "
    "of the entropy is the number of equally likely people who would leave the same uncertainty.",
    assumes=(KNOWS_CHANNEL, RIGHT_OR_WRONG, "Observations are weighted by how often they occur."),
    limits=(
        "An average hides individuals: one person may be known for certain although the entropy is high.",
        "It is not an error by itself. For a single guess, the average error, `average_privacy`, is the exact number. Report both.",
    ),
    bounds="For n candidates and average entropy H in bits: (H − 1) / log2 n ≤ average error ≤ 1 − 2^(−H). The left side is "
    f"Fano's inequality. {ORDER}.",
    command=HAMMING,
    keys=("shannon_entropy", "average_privacy"),
    also=(
        Also("For an anonymity protocol", CROWDS, ("shannon_entropy", "average_privacy")),
        Also("For a table: how often a row is linked to the correct person, on average", AUDIT, ("risks.average",)),
        Also("To design the system", DESIGN.format("hamming", "average")),
    ),
    reference=PAPER + "sections VI-B and VII; equation 6",
)

K_ANONYMITY = Recommendation(
    measure="k-anonymity (Hartley entropy of the identity)",
    why="The attacker counts the people to whom a row may belong: at least k. The logarithm of that count is the Hartley entropy. "
    "It is a best case, because no candidate is considered more likely than another.",
    assumes=(KNOWS_CLASS, COUNTS_ROWS, RIGHT_OR_WRONG),
    limits=(
        "It ignores knowledge that makes one of the k more likely. Such knowledge only lowers the error.",
        "It says nothing about attributes: k people who all have the same diagnosis are k-anonymous.",
        "Several releases of the same people can leave fewer than k together: see `dalenius compose`.",
    ),
    bounds="In a class of k people, P(y) ≤ 1 − 1/k = 1 − 2^(−Hartley entropy in bits), with equality if all k are equally likely. "
    f"This is an upper limit, not a guarantee. {ORDER}.",
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
    why="The attacker guesses the most common value of the class, and is correct or wrong. The share α of that value is how often "
    "the guess is correct. The min-entropy is minus its logarithm. The class with the largest share is the worst case.",
    assumes=(KNOWS_CLASS, COUNTS_ROWS, RIGHT_OR_WRONG),
    limits=(
        "A value that is common everywhere has a large share even if the release reveals nothing. Compare it with the table's own.",
        LEARNERS,
    ),
    bounds="In the worst class, P(y) = 1 − α = 1 − 2^(−min-entropy in bits), exactly.",
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
    why="The attacker weighs all values that the person may have, and observations are weighted by how often they occur. The "
    "entropy that remains is the attacker's uncertainty. The entropy that is lost is the mutual information.",
    assumes=(KNOWS_CHANNEL, RIGHT_OR_WRONG, "Observations are weighted by how often they occur."),
    limits=(
        "An average hides individuals: one class may reveal its value although the entropy is high.",
        "It is not an error by itself. For a single guess, the average error, `average_privacy`, is the exact number. Report both.",
        "`check` reports the entropy of the worst class only, as entropy ℓ-diversity (ℓ is e to the power of the entropy in nats).",
    ),
    bounds="For n values and average entropy H in bits: (H − 1) / log2 n ≤ average error ≤ 1 − 2^(−H). The left side is "
    f"Fano's inequality. {ORDER}.",
    command=HAMMING,
    keys=("shannon_entropy", "average_privacy", "mutual_information"),
    also=(
        Also(
            "For a table: the entropy of a person's value, given the class",
            CLASSES,
            ("shannon_entropy", "average_privacy"),
        ),
        Also("For a table: how often an adversary is correct, over all people", AUDIT, ("attacks[].success.value",)),
        Also(
            "To make a release in which every class keeps some entropy",
            "dalenius publish TABLE --entropy-l 3 -o RELEASE",
        ),
        Also("To design the system", DESIGN.format("hamming", "average")),
    ),
    reference=PAPER + "sections V-A and V-B2; equation 6",
)

L_DIVERSITY = Recommendation(
    measure="distinct ℓ-diversity (Hartley entropy of the attribute)",
    why="The attacker counts the values that occur in the class: at least ℓ. The logarithm of that count is the Hartley entropy. "
    "It is a best case, because no value is considered more likely than another.",
    assumes=(KNOWS_CLASS, "The attacker assumes that every value in the class is equally likely.", RIGHT_OR_WRONG),
    limits=(
        "Shares are ignored: 99 people with one value and one person with another are 2-diverse.",
        "Values with nearly the same meaning count as different.",
        "Several releases of the same people can leave fewer than ℓ values together: see `dalenius compose`.",
    ),
    bounds="In a class with ℓ values, P(y) ≤ 1 − 1/ℓ = 1 − 2^(−Hartley entropy in bits), with equality if all ℓ are equally "
    f"common. This is an upper limit, not a guarantee. {ORDER}.",
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
    why="The attacker names the most likely sequence. For independent values, that is the most likely value each time, and the "
    "min-entropies of the observations add up.",
    assumes=(KNOWS_CHANNEL, INDEPENDENT, "The attacker must guess the whole sequence correctly."),
    limits=(
        "An attacker who needs only part of the sequence is correct more often. Each single guess is no harder than before.",
        "Values that depend on each other, such as the locations along a route, are easier to guess than this number says.",
        ONE_SECRET,
    ),
    bounds="Probability that all m values are correct ≤ 2^(−m · min-entropy in bits), with that of the worst observation. They "
    "are equal if every observation is as bad.",
    command=HAMMING,
    keys=("worst_min_entropy", "worst_case_privacy"),
    reference=PAPER + "section V-A2, last paragraph",
)

SHANNON_SEQUENCE = Recommendation(
    measure="Shannon entropy of a sequence (size of the typical set)",
    why="A long sequence is almost certainly one of about 2^(m · H) sequences, all about equally likely, where m is the length and "
    "H the Shannon entropy that an observation leaves. That is the number of candidates among which the attacker must search.",
    assumes=(KNOWS_CHANNEL, INDEPENDENT, "The sequence is long. For a short one, the count is only approximate."),
    limits=(
        "The most likely sequence may not be among those, so the entropy does not bound one best guess. The min-entropy does.",
        "For values that depend on each other, the entropy per step (the entropy rate) replaces H, and is smaller.",
        ONE_SECRET,
    ),
    bounds="A list of about 2^(m · H) sequences, H in bits, almost certainly contains the true one, and no much shorter list does.",
    command=HAMMING,
    keys=("shannon_entropy",),
    also=(
        Also(
            "To design the system: low mutual information leaves high entropy",
            DESIGN.format("hamming", "mutual-information"),
        ),
    ),
    reference=PAPER + "section V-A2",
)  # fmt: skip

HARTLEY_SEQUENCE = Recommendation(
    measure="Hartley entropy of a sequence",
    why="The attacker counts the possible sequences. The numbers of possible values multiply, and their logarithms add up. It is a "
    "best case, because no sequence is considered more likely than another.",
    assumes=("The attacker only rules out what is impossible.", INDEPENDENT),
    limits=(
        "Noise that makes everything possible gives the largest possible number, however small the noise.",
        "The count grows with the length in any case. Compare it with the count without any observation.",
        ONE_SECRET,
    ),
    bounds="Probability that all m values are correct ≥ 2^(−sum of the Hartley entropies in bits). This is an upper limit of "
    "privacy, not a guarantee.",
    command=HAMMING,
    keys=("hartley_entropy",),
    reference=PAPER + "sections V-A1 and V-A2; extended to sequences here",
)
