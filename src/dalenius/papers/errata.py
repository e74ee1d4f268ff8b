"""Where the five papers' print is wrong, or says less than it could: what it says, what is right, why, and what shows it.

The page of `dalenius reproduce` and docs/errata.md are made of this. `shown_by` names a test; none of these is taken on trust.
"""

from __future__ import annotations

from dalenius.papers.base import Erratum

__all__ = ["COMPOSITION", "ERRATA", "ERROR", "POPULATION", "REALISTIC", "RELATIVE", "markdown"]

_REALISTIC = "tests/criteria/test_realistic.py::test_"

RELATIVE = (
    Erratum(
        "Equation (6)",
        "The mean of f(s | r, π) is put forward as an equivalent way to compute p_L(s | r).",
        "They are two numbers. p_L(s | r) is the joint probability (5), divided by its sum over s.",
        "A mean of ratios is not the ratio of the means. Table III has the ratio of the means, up to its simulation error.",
        "tests/papers/test_errata.py::test_equation_6_is_another_number",
    ),
    Erratum(
        "Table III, Example 1",
        "p_A = 0.580, 0.420 and p_L = 0.343, 0.317, 0.113, 0.114, 0.113; to compute them exactly is called daunting.",
        "p_A = 7/12, 5/12 and p_L = 0.32979, 0.32893, and 0.11376 three times.",
        "The printed numbers are simulated. One attribute and one disease after the other, the exact ones take a few terms; all "
        "640,000 tables, counted one by one, give the same.",
        "tests/papers/test_relative.py::test_table_3_is_what_enumeration_gives",
    ),
    Erratum(
        "Equation (15)",
        "p_A(s | r_v, t*) on the left.",
        "p_A(s | y_v, t*).",
        "It is about somebody who knows only y_v = g(r_v); whoever knows r_v has (8).",
        "tests/adversaries/test_relative_exact.py::test_every_world",
    ),
    Erratum(
        "Definition 1 and Section VI-B",
        "Whoever has a most likely value is threatened, also where several are equally likely; Table V breaks ties at random.",
        "Where c values tie, a person counts as 1/c.",
        "The definition and the table are two measures. The second is the chance that a guess is right, and 1/c is the mean over "
        "all ways to break the tie. The definition as it reads is kept as GT_A_def1.",
        "tests/measures/test_threat.py::test_every_figure_by_loops",
    ),
    Erratum(
        "Equation (21), RF in Tables IV and V",
        "1 − ETV, from draws of p_I.",
        "1 − TV.",
        "ETV has the right mean, but one draw can be as large as p_L/p_I is: 1 − ETV may be far below 0. TV is summed up where "
        "that can be done, and else drawn from (p_I + p_L)/2, of which no draw is above 1.",
        "tests/papers/test_errata.py::test_etv_has_no_upper_end",
    ),
    Erratum(
        "Section VI-A, ideal accuracy",
        "The share of people threatened under p_L.",
        "Under p_I.",
        "Under p_L it would be GT_L, another line of the same table. Under p_I random subsets of Adult come to about the printed "
        "0.3534.",
        "tests/papers/test_relative.py::test_ideal_accuracy_of_tables_of_the_papers_size",
    ),
    Erratum(
        "Table IV, RGT_A at 6",
        "0.0232",
        "0.0238, if GT_A and GT_L are right.",
        "By (18) it is 0.2994 − 0.2756. In the other three columns the difference is what is printed.",
        "tests/papers/test_relative.py::test_the_print_against_itself",
    ),
    Erratum(
        "Section VI-A, log2 Ti ≥ 1",
        "6 % of those threatened, which is 0.6 % of the table.",
        "6 % of those threatened would be 1.8 %.",
        "0.06 × 0.2930. One of the three numbers is wrong; in Section VI-B 26 %, 8 % and 483 people agree.",
        "tests/papers/test_relative.py::test_the_print_against_itself",
    ),
    Erratum(
        "Table V, GT_RW at ℓ = 4",
        "0.1669",
        "Probably about 1/4.",
        "In a group of four different values random worlds give each 1/4, and a guess is right for a quarter of the people. Where "
        "people share their quasi-identifiers it moves, in ours to 0.249. 0.1669 is what ℓ = 6 gives.",
        "tests/papers/test_errata.py::test_random_worlds_of_anatomy",
    ),
)

REALISTIC = (
    Erratum(
        "Example 3",
        "p_in(flu) = 0.9 is called the share of those in the group who have cancer.",
        "The share of those who have flu.",
        "18,000 of 20,000 women have flu.",
        "tests/papers/test_errata.py::test_nine_tenths_have_flu",
    ),
    Erratum(
        "Section 3, after Theorem 1",
        "Table 3 is 2.5-private against D(12000, 18000).",
        "It is 4.00008-private, and not less.",
        "Condition R2 is said to hold for the women and does not. Example 3 has 4 for the same adversary.",
        f"{_REALISTIC}the_women_of_example_3",
    ),
    Erratum(
        "Theorems 1 and 2",
        "Conditions R1 and R2 are used as if they were what ε-privacy is.",
        "They are enough, and not needed: with small σ they ask for an ε up to half as large again.",
        "From p_in and p_out follow σ − 1 where R1 has σ, and σ − σ(s) where R2 has one more. Here ε is computed from p_in and "
        "p_out themselves; 3 against class II with σ = 1,000 is 2.998.",
        f"{_REALISTIC}the_conditions_of_theorems_1_and_2_are_not_necessary",
    ),
    Erratum(
        "Theorem 1",
        "Nothing is asked of σ(s).",
        "It needs σ(s) ≥ 1 for every value.",
        "With σ(s) below 1, R1(b) has a negative bound and R1(a) alone lets through what is not private: 3 in place of 100.5.",
        f"{_REALISTIC}theorem_1_needs_priors_that_counts_can_give",
    ),
    Erratum(
        "Equation (9), appendix",
        "−1 is taken from every value of a predicate.",
        "Once for the predicate.",
        "One person is left out, and has one value. The lines after (9) have it once.",
        f"{_REALISTIC}the_minus_one_counts_once_for_a_predicate",
    ),
    Erratum(
        "Section 2.5 and Theorem 1, class I",
        "Adversaries with a stubbornness of at most σ; the theorem tries σ.",
        "The worst is at one of both ends, and that may be the least stubborn one.",
        "p_out is monotone in σ, but rises where the prior is above the class's share and falls where it is below. Both are on "
        "offer: exactly σ, and at most σ.",
        f"{_REALISTIC}at_most_is_the_worst_of_all_that_are_no_more_stubborn",
    ),
    Erratum(
        "Section 3.1",
        "The check is monotone for classes I to III.",
        "It is where σ + b ≥ 1.",
        "With σ = 1/2, uniform on four values, two classes are 6-private apart and 7-private as one. Such σ are refused.",
        f"{_REALISTIC}below_one_merging_may_harm_and_is_refused",
    ),
    Erratum(
        "Section 4.1",
        "Every table needs a smaller ε against class I than against class III of the same shape.",
        "Not where a class has exactly the prior's shares.",
        "There class III is not surprised at all (ε = 1), and class I by the one person more or less.",
        "tests/papers/test_realistic.py::test_class_III_is_never_weaker_than_class_I_but_where_nobody_is_surprised",
    ),
    Erratum(
        "Table 5, [5,1,0,1], class I with the table's shares",
        "1.25",
        "At least 1.54.",
        "[5,2,0,1] is more general and has 1.54, and merging classes never raises the largest ε.",
        "tests/papers/test_realistic.py::test_the_impossible_cells_break_monotonicity_and_no_other_does",
    ),
    Erratum(
        "Table 5, [5,0,0,1], class II with σ = 10⁶",
        "14.6",
        "At least 21.7.",
        "Class II may have any prior, the uniform one as well, against which class I has 21.7.",
        "tests/papers/test_realistic.py::test_class_II_of_the_print_is_weaker_than_class_I_in_the_impossible_cell_alone",
    ),
    Erratum(
        "Section 4.2",
        "Every table that is ε_t-private against class III is t-close.",
        "The other way round, and that with conditions (Lemma 1).",
        "Shares of 1/3 and 2/3, t = 0.2: a class with 11 and 4 of 15 is 2.5-private, and 0.4 away.",
        f"{_REALISTIC}epsilon_t_does_not_give_closeness",
    ),
    Erratum(
        "Lemma 1",
        "t-close tables without a class of one value are ε_t-private.",
        "If every value's share is above t, too.",
        "Shares of 0.1 and 0.9, t = 0.2: ε_t would be 3, and a class with 1 and 99 has ε = 10.",
        f"{_REALISTIC}lemma_1_is_false_where_a_share_is_below_t",
    ),
    Erratum(
        "Equation (6), Section 5.1",
        "(c,2)-diversity is ε-privacy with ε the minimum of k·c/(c+1) and (c+1)(k−1)/k.",
        "The maximum. Both are (c+1)/2 at k = 2.",
        "With k = 3, c = 3 shares of 3/4 and 1/4 are (3,2)-diverse and have ε = 8/3, above the minimum 9/4.",
        f"{_REALISTIC}the_printed_minimum_is_too_small",
    ),
)

COMPOSITION = (
    Erratum(
        "Definition 9",
        "C_i = 1/EA_i, without the hat that marks the anonymity after the attack.",
        "One over the anonymity after the attack.",
        "The sentences before and after it are about the values that are left. Where none is left, releases contradict each other: "
        "that counts as no breach, and is told.",
        "tests/adversaries/test_intersection.py::test_figures_by_hand",
    ),
    Erratum(
        "Section 3.2, perfect breaches on Adult, k = 5",
        "Around 12 %, without the size of the subsets or which of the three scenarios it is.",
        "About 5 % for Mondrian on both, 16 % for microaggregation on both, 11 % for one of each: it fits the third alone.",
        "This is what follows from the setup that is stated; how large the subsets are and how columns are ordered is not stated. "
        "That Mondrian leaves four values at most for more than 60 % does follow.",
        "tests/papers/test_composition.py::test_breaches",
    ),
    Erratum(
        "Section 3.3",
        "No class need be larger than 2k + 1.",
        "2k − 1.",
        "2k people can be split into two classes of k.",
        "tests/papers/test_errata.py::test_no_class_needs_2k_people",
    ),
    Erratum(
        "Proposition 15",
        "ε-differential privacy gives (e^ε − 1)-semantic privacy.",
        "tanh(ε/2)-semantic privacy, with neighbours that differ in one record.",
        "The print holds and is not sharp. The worst prior weighs the two databases that are furthest apart; no search is needed.",
        "tests/measures/test_semantic.py::test_the_closed_form_is_the_best_of_all_priors",
    ),
    Erratum(
        "Theorem 16",
        "δ' = O(n√δ).",
        "δ' = n(√δ + 2δ/(ε e^ε)), by Lemma 19 and one bound for each person.",
        "The O hides ε: the smaller ε, the larger δ'. With 2,000 people, ε = 0.1 and δ = 10⁻⁶ nothing is promised any more.",
        "tests/measures/test_semantic.py::test_theorem_16_by_hand_and_where_it_is_vacuous",
    ),
)

ERROR = (
    Erratum(
        "Section V-B, before equation (8)",
        "The attacker takes the likeliest value, with any loss.",
        "The estimate of least expected loss.",
        "The proof needs that the prior's estimate is the best one under the prior. The likeliest value need not be: with places "
        "on a line and absolute loss it breaks the bound.",
        "tests/papers/test_errata.py::test_the_likeliest_value_breaks_the_bound",
    ),
    Erratum(
        "Equation (8)",
        "ΔP ≤ 4 d_max TV ≤ 2√2 d_max √D.",
        "ΔP ≤ 2 d_max TV ≤ √2 d_max √D, in nats.",
        "The print holds; half of it does. Losses lie between 0 and d_max, so that two distributions differ in their mean by "
        "d_max TV, not by twice as much. A bit that is told as it is reaches the bound.",
        "tests/measures/test_error.py::test_the_sharp_bound_is_reached",
    ),
    Erratum(
        "Section V-B, mutual information",
        "E[ΔP²] ≤ 8 d_max² I(X;Y).",
        "E[ΔP²] ≤ 2 d_max² I(X;Y), in nats.",
        "From the sharper form of (8).",
        "tests/measures/test_error.py::test_no_bound_is_ever_violated",
    ),
)

POPULATION = (
    Erratum(
        "Section 2.3, hours",
        "Ranges 41–60 and 60+.",
        "60 is in the first of them here.",
        "It is in both as printed, and 1,475 people work so long.",
        "tests/papers/test_errata.py::test_sixty_hours_are_in_one_range",
    ),
    Erratum(
        "Section 2.3, people",
        "30,718 people after those without a sensitive value are removed.",
        "30,718 where occupation is the target, 32,561 where marital status is.",
        "Everybody has a marital status. Over 8,000 being 25 % is of 32,561.",
        "tests/papers/test_population.py::test_the_people",
    ),
    Erratum(
        "Section 2.3, Figure 3",
        "Where the classifier is surer than 0.8 it is justly so.",
        "From about ε = 0.3 on.",
        "Below that noise makes it surer than it should be: at ε = 0.01 it is sure of ten times as many people where occupation is "
        "the target, and right about a quarter of them.",
        "tests/papers/test_errata.py::test_noise_makes_the_classifier_surer_than_right",
    ),
    Erratum(
        "Section 3.1, the deFinetti attack",
        "Iterated, the process is expected to converge to an accurate classifier.",
        "It converges, but not to what the release says: its chain is no sampler of the posterior.",
        "The classifier stays as it is during a sweep and contains the rows that it judges, so that it confirms itself. In a small "
        "case that can be enumerated it is 0.896 sure, with swaps 0.965, where 0.822 is right.",
        "tests/adversaries/test_definetti.py::test_the_printed_chain_is_surer_than_the_posterior",
    ),
    Erratum(
        "Section 3.2, ℓ = 7 and doubled ℓ = 5",
        "Accuracy falls below 30 %, and below that of the classifier without noise.",
        "At ℓ = 7 that of the permutation does, while group and the majority of states stay a little above 30 %. Doubled, group "
        "stays a point above the classifier.",
        "One state of the chain undersells what all states say together.",
        "tests/papers/test_population.py::test_seven_people_to_a_group",
    ),
)

ERRATA: dict[str, tuple[Erratum, ...]] = {
    "relative": RELATIVE,
    "realistic": REALISTIC,
    "composition": COMPOSITION,
    "error": ERROR,
    "population": POPULATION,
}


def markdown(titles: dict[str, str]) -> str:
    """All of them, for the documentation; a heading for each paper."""
    parts = []
    for key, found in ERRATA.items():
        parts.append(f"## {titles[key]}\n")
        parts += [
            f"**{one.where}**\n\n- Printed: {one.printed}\n- Right: {one.right}\n- {one.why} `{one.shown_by}`\n"
            for one in found
        ]
    return "\n".join(parts)
