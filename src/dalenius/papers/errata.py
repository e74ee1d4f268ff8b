"""Errors in the five papers, and statements that can be sharpened: what is printed, the correction, the reason, and a test.

The page of `dalenius reproduce` and docs/errata.md are generated from this module. `shown_by` names the test that proves it.
"""

from __future__ import annotations

from dalenius.papers.base import Erratum

__all__ = ["COMPOSITION", "ERRATA", "ERROR", "POPULATION", "REALISTIC", "RELATIVE", "markdown"]

_REALISTIC = "tests/criteria/test_realistic.py::test_"

RELATIVE = (
    Erratum(
        "Equation (6)",
        "The mean of f(s | r, π) is presented as an equivalent way to compute p_L(s | r).",
        "They are two different numbers. p_L(s | r) is the joint probability (5), divided by its sum over s.",
        "A mean of ratios is not the ratio of the means. Table III has the ratio of the means, up to its simulation error.",
        "tests/papers/test_errata.py::test_equation_6_is_another_number",
    ),
    Erratum(
        "Table III, Example 1",
        "p_A = 0.580, 0.420 and p_L = 0.343, 0.317, 0.113, 0.114, 0.113; computing them exactly is called daunting.",
        "p_A = 7/12, 5/12 and p_L = 0.32979, 0.32893, and 0.11376 three times.",
        "The printed numbers are simulated. The exact ones take a few terms, one attribute and one disease at a time. Enumerating "
        "all 640,000 tables gives the same numbers.",
        "tests/papers/test_relative.py::test_table_3_is_what_enumeration_gives",
    ),
    Erratum(
        "Equation (15)",
        "p_A(s | r_v, t*) on the left.",
        "p_A(s | y_v, t*).",
        "The equation is about an attacker who knows only y_v = g(r_v). An attacker who knows r_v uses (8).",
        "tests/adversaries/test_relative_exact.py::test_every_world",
    ),
    Erratum(
        "Definition 1 and Section VI-B",
        "Anyone whose value is a most likely one is threatened, even if several are equally likely; Table V breaks ties at random.",
        "If c values tie, a person counts as 1/c.",
        "The definition and the table are different measures. The second is the probability of a correct guess, and 1/c is the "
        "mean over all ways to break the tie. GT_A_def1 follows the definition as printed.",
        "tests/measures/test_threat.py::test_every_figure_by_loops",
    ),
    Erratum(
        "Equation (21), RF in Tables IV and V",
        "1 − ETV, from draws of p_I.",
        "1 − TV.",
        "ETV has the correct mean, but one draw can be as large as p_L/p_I, so 1 − ETV can be far below 0. We sum TV exactly where "
        "possible, and otherwise draw from (p_I + p_L)/2, where no draw exceeds 1.",
        "tests/papers/test_errata.py::test_etv_has_no_upper_end",
    ),
    Erratum(
        "Section VI-A, ideal accuracy",
        "The share of people threatened under p_L.",
        "Under p_I.",
        "Under p_L it would be GT_L, another row of the same table. Under p_I, random subsets of Adult have about the printed "
        "0.3534.",
        "tests/papers/test_relative.py::test_ideal_accuracy_of_tables_of_the_papers_size",
    ),
    Erratum(
        "Table IV, RGT_A at 6",
        "0.0232",
        "0.0238, if GT_A and GT_L are correct.",
        "By (18) it is 0.2994 − 0.2756. In the other three columns, the printed number is the difference.",
        "tests/papers/test_relative.py::test_the_print_against_itself",
    ),
    Erratum(
        "Section VI-A, log2 Ti ≥ 1",
        "6 % of those threatened, which is 0.6 % of the table.",
        "6 % of those threatened would be 1.8 %.",
        "0.06 × 0.2930. One of the three numbers is wrong. In Section VI-B, 26 %, 8 % and 483 people are consistent.",
        "tests/papers/test_relative.py::test_the_print_against_itself",
    ),
    Erratum(
        "Table V, GT_RW at ℓ = 4",
        "0.1669",
        "Probably about 1/4.",
        "In a group of four different values, random worlds gives each 1/4, and a guess is correct for a quarter of the people. "
        "Shared quasi-identifiers change this slightly, to 0.249 in our table. 0.1669 is the value for ℓ = 6.",
        "tests/papers/test_errata.py::test_random_worlds_of_anatomy",
    ),
)

REALISTIC = (
    Erratum(
        "Example 3",
        "p_in(flu) = 0.9 is described as the share of the group who have cancer.",
        "The share who have flu.",
        "18,000 of 20,000 women have flu.",
        "tests/papers/test_errata.py::test_nine_tenths_have_flu",
    ),
    Erratum(
        "Section 3, after Theorem 1",
        "Table 3 is 2.5-private against D(12000, 18000).",
        "It is 4.00008-private, and no less.",
        "The paper says that condition R2 holds for the women, but it does not. Example 3 has 4 for the same adversary.",
        f"{_REALISTIC}the_women_of_example_3",
    ),
    Erratum(
        "Theorems 1 and 2",
        "Conditions R1 and R2 are used as if they were equivalent to ε-privacy.",
        "They are sufficient but not necessary: with small σ they require an ε up to half as large again.",
        "p_in and p_out give σ − 1 where R1 has σ, and σ − σ(s) where R2 has one more. We compute ε from p_in and p_out "
        "themselves: the paper's 3 against class II with σ = 1,000 is 2.998.",
        f"{_REALISTIC}the_conditions_of_theorems_1_and_2_are_not_necessary",
    ),
    Erratum(
        "Theorem 1",
        "The theorem has no condition on σ(s).",
        "It needs σ(s) ≥ 1 for every value.",
        "With σ(s) below 1, R1(b) has a negative bound, and R1(a) alone accepts releases that are not private: 3 instead of 100.5.",
        f"{_REALISTIC}theorem_1_needs_priors_that_counts_can_give",
    ),
    Erratum(
        "Equation (9), appendix",
        "1 is subtracted for every value of a predicate.",
        "1 is subtracted once for the predicate.",
        "One person is left out, and has one value. The lines after (9) subtract it once.",
        f"{_REALISTIC}the_minus_one_counts_once_for_a_predicate",
    ),
    Erratum(
        "Section 2.5 and Theorem 1, class I",
        "The adversaries have a stubbornness of at most σ; the theorem checks only σ.",
        "The worst adversary is at one of the two ends, which may be the least stubborn one.",
        "p_out is monotone in σ, but it rises where the prior is above the class's share and falls where it is below. Dalenius "
        "offers both: exactly σ, and at most σ.",
        f"{_REALISTIC}at_most_is_the_worst_of_all_that_are_no_more_stubborn",
    ),
    Erratum(
        "Section 3.1",
        "The check is monotone for classes I to III.",
        "It is monotone only if σ + b ≥ 1.",
        "With σ = 1/2, uniform on four values, two classes are 6-private separately and 7-private merged. Dalenius refuses such σ.",
        f"{_REALISTIC}below_one_merging_may_harm_and_is_refused",
    ),
    Erratum(
        "Section 4.1",
        "Every table needs a smaller ε against class I than against class III of the same shape.",
        "Not if a class has exactly the prior's shares.",
        "Class III is then not surprised at all (ε = 1), but class I is, by the one person more or less.",
        "tests/papers/test_realistic.py::test_class_III_is_never_weaker_than_class_I_but_where_nobody_is_surprised",
    ),
    Erratum(
        "Table 5, [5,1,0,1], class I with the table's shares",
        "1.25",
        "At least 1.54.",
        "[5,2,0,1] is more general and has 1.54, and merging classes never increases the largest ε.",
        "tests/papers/test_realistic.py::test_the_impossible_cells_break_monotonicity_and_no_other_does",
    ),
    Erratum(
        "Table 5, [5,0,0,1], class II with σ = 10⁶",
        "14.6",
        "At least 21.7.",
        "Class II may have any prior, including the uniform one, for which class I has 21.7.",
        "tests/papers/test_realistic.py::test_class_II_of_the_print_is_weaker_than_class_I_in_the_impossible_cell_alone",
    ),
    Erratum(
        "Section 4.2",
        "Every table that is ε_t-private against class III is t-close.",
        "The converse is true, under conditions (Lemma 1).",
        "Shares of 1/3 and 2/3, t = 0.2: a class with 11 and 4 of 15 is 2.5-private, but its distance is 0.4.",
        f"{_REALISTIC}epsilon_t_does_not_give_closeness",
    ),
    Erratum(
        "Lemma 1",
        "t-close tables without a class of a single value are ε_t-private.",
        "Only if every value's share is also above t.",
        "Shares of 0.1 and 0.9, t = 0.2: ε_t would be 3, but a class with 1 and 99 has ε = 10.",
        f"{_REALISTIC}lemma_1_is_false_where_a_share_is_below_t",
    ),
    Erratum(
        "Equation (6), Section 5.1",
        "(c,2)-diversity is ε-privacy with ε the minimum of k·c/(c+1) and (c+1)(k−1)/k.",
        "The maximum. Both are (c+1)/2 at k = 2.",
        "With k = 3 and c = 3, shares of 3/4 and 1/4 are (3,2)-diverse and have ε = 8/3, above the minimum 9/4.",
        f"{_REALISTIC}the_printed_minimum_is_too_small",
    ),
)

COMPOSITION = (
    Erratum(
        "Definition 9",
        "C_i = 1/EA_i, without the hat that marks the anonymity after the attack.",
        "1 divided by the anonymity after the attack.",
        "The sentences before and after it are about the values that are left. If none is left, the releases contradict each "
        "other. We do not count this as a breach, and report it.",
        "tests/adversaries/test_intersection.py::test_figures_by_hand",
    ),
    Erratum(
        "Section 3.2, perfect breaches on Adult, k = 5",
        "Around 12 %, without the size of the subsets or the scenario (there are three).",
        "About 5 % for Mondrian on both, 16 % for microaggregation on both, 11 % for one of each: 12 % fits only the third.",
        "Our numbers follow from the stated setup, which gives neither the size of the subsets nor the order of columns. The claim "
        "that Mondrian leaves at most four values for more than 60 % does follow.",
        "tests/papers/test_composition.py::test_breaches",
    ),
    Erratum(
        "Section 3.3",
        "No class needs to be larger than 2k + 1.",
        "2k − 1.",
        "2k people can be split into two classes of k.",
        "tests/papers/test_errata.py::test_no_class_needs_2k_people",
    ),
    Erratum(
        "Proposition 15",
        "ε-differential privacy gives (e^ε − 1)-semantic privacy.",
        "tanh(ε/2)-semantic privacy, with neighbours that differ in one record.",
        "The printed bound is true but not sharp. The worst prior puts its weight on the two databases that are furthest apart, so "
        "no search is needed.",
        "tests/measures/test_semantic.py::test_the_closed_form_is_the_best_of_all_priors",
    ),
    Erratum(
        "Theorem 16",
        "δ' = O(n√δ).",
        "δ' = n(√δ + 2δ/(ε e^ε)), by Lemma 19 and one bound per person.",
        "The O hides ε: the smaller ε, the larger δ'. With 2,000 people, ε = 0.1 and δ = 10⁻⁶, the theorem promises nothing.",
        "tests/measures/test_semantic.py::test_theorem_16_by_hand_and_where_it_is_vacuous",
    ),
)

ERROR = (
    Erratum(
        "Section V-B, before equation (8)",
        "The attacker chooses the most likely value, with any loss.",
        "The attacker chooses the estimate with the smallest expected loss.",
        "The proof needs the prior's estimate to be the best one under the prior. The most likely value need not be: with "
        "locations on a line and absolute loss, it breaks the bound.",
        "tests/papers/test_errata.py::test_the_likeliest_value_breaks_the_bound",
    ),
    Erratum(
        "Equation (8)",
        "ΔP ≤ 4 d_max TV ≤ 2√2 d_max √D.",
        "ΔP ≤ 2 d_max TV ≤ √2 d_max √D, in nats.",
        "The printed bound is true, but so is half of it. Losses lie between 0 and d_max, so the means of two distributions differ "
        "by at most d_max TV, not twice as much. A bit that is disclosed unchanged reaches the bound.",
        "tests/measures/test_error.py::test_the_sharp_bound_is_reached",
    ),
    Erratum(
        "Section V-B, mutual information",
        "E[ΔP²] ≤ 8 d_max² I(X;Y).",
        "E[ΔP²] ≤ 2 d_max² I(X;Y), in nats.",
        "It follows from the sharper form of (8).",
        "tests/measures/test_error.py::test_no_bound_is_ever_violated",
    ),
)

POPULATION = (
    Erratum(
        "Section 2.3, hours",
        "Ranges 41–60 and 60+.",
        "Here, 60 is in the first range.",
        "As printed, it is in both, and 1,475 people work 60 hours.",
        "tests/papers/test_errata.py::test_sixty_hours_are_in_one_range",
    ),
    Erratum(
        "Section 2.3, people",
        "30,718 people after those without a sensitive value are removed.",
        "30,718 where occupation is the target, 32,561 where marital status is.",
        "Everyone has a marital status. The 25 % that the paper gives for over 8,000 people refers to 32,561.",
        "tests/papers/test_population.py::test_the_people",
    ),
    Erratum(
        "Section 2.3, Figure 3",
        "Where the classifier's confidence exceeds 0.8, it is justified.",
        "Only from about ε = 0.3 on.",
        "Below that, noise makes it overconfident: at ε = 0.01, with occupation as the target, it is confident about ten times as "
        "many people, and correct about a quarter of them.",
        "tests/papers/test_errata.py::test_noise_makes_the_classifier_surer_than_right",
    ),
    Erratum(
        "Section 3.1, the deFinetti attack",
        "When iterated, the process is expected to converge to an accurate classifier.",
        "It converges, but not to the posterior given the release: its chain does not sample the posterior.",
        "The classifier is fixed during a sweep and contains the rows that it judges, so it confirms itself. In a small case that "
        "can be enumerated, its belief is 0.896, or 0.965 with swaps, where 0.822 is correct.",
        "tests/adversaries/test_definetti.py::test_the_printed_chain_is_surer_than_the_posterior",
    ),
    Erratum(
        "Section 3.2, ℓ = 7 and doubled ℓ = 5",
        "Accuracy falls below 30 %, and below that of the classifier without noise.",
        "At ℓ = 7 the accuracy of permutation does, while group and the majority of states stay a little above 30 %. With doubled "
        "groups, group stays one point above the classifier.",
        "One state of the chain understates what all states say together.",
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
    """Return all errata as Markdown, with a heading for each paper."""
    parts = []
    for key, found in ERRATA.items():
        parts.append(f"## {titles[key]}\n")
        parts += [
            f"**{one.where}**\n\n- Printed: {one.printed}\n- Correct: {one.right}\n- Why: {one.why}\n- Test: `{one.shown_by}`\n"
            for one in found
        ]
    return "\n".join(parts)
