"""Which tests assert what is found in each exhibit: paper, exhibit, tests. docs/reproduce.md says what, and how closely.

The keys are the exhibits of `dalenius reproduce`, in its order; each paper's own tests compare them. To be there and to be drawn is
no finding, so that `test_the_exhibits` is not named here.
"""

from __future__ import annotations

_ERRATA = "test_errata.py::test_"
_RELATIVE = "test_relative.py::test_"
_REALISTIC = "test_realistic.py::test_"
_COMPOSITION = "test_composition.py::test_"
_ERROR = "test_error.py::test_"
_POPULATION = "test_population.py::test_"

FINDINGS: dict[str, dict[str, tuple[str, ...]]] = {
    "relative": {
        "Table I": (
            f"{_RELATIVE}table_1",
            f"{_RELATIVE}table_1_shows_the_beliefs",
            f"{_RELATIVE}table_1c_by_enumeration",
            f"{_RELATIVE}the_ideal_belief_is_that_of_equation_20",
        ),
        "Table II": (),
        "Table III": (f"{_RELATIVE}table_3_is_what_enumeration_gives", f"{_ERRATA}equation_6_is_another_number"),
        "Table IV": (
            f"{_RELATIVE}the_attacker_is_right_more_often_than_the_learner",
            f"{_RELATIVE}k_anonymity_the_attacker_is_near_random_worlds",
            f"{_RELATIVE}without_suppression_the_attacker_is_random_worlds",
            f"{_RELATIVE}small_changes_of_k_do_little",
            f"{_RELATIVE}groups_of_k_anonymity_are_well_above_k",
            f"{_RELATIVE}how_many_the_attacker_is_twice_as_sure_of",
            f"{_RELATIVE}how_much_depends_on_suppression_is_shown",
            f"{_RELATIVE}ideal_accuracy_of_tables_of_the_papers_size",
            f"{_RELATIVE}tables_4_and_5_show_what_was_measured",
            f"{_RELATIVE}the_print_against_itself",
        ),
        "Table V": (
            f"{_RELATIVE}the_attacker_is_right_more_often_than_the_learner",
            f"{_RELATIVE}anatomy_the_attacker_beats_random_worlds",
            f"{_RELATIVE}anatomy_threat_and_faithfulness_fall_with_l",
            f"{_RELATIVE}anatomy_is_more_faithful_and_more_of_a_threat",
            f"{_RELATIVE}how_many_the_attacker_is_twice_as_sure_of",
            f"{_RELATIVE}chains_that_do_not_agree_are_told",
            f"{_RELATIVE}tables_4_and_5_show_what_was_measured",
            f"{_RELATIVE}the_print_against_itself",
            f"{_ERRATA}random_worlds_of_anatomy",
        ),
        "Figure 1": (),
        "Figure 2": (
            f"{_RELATIVE}the_figures_and_the_tables_are_of_the_same_people",
            f"{_RELATIVE}where_k_anonymity_threatens_the_attacker_has_no_majority",
            f"{_RELATIVE}where_the_attacker_is_less_sure_it_is_so_by_little",
            f"{_RELATIVE}what_does_not_hold_is_told",
            f"{_RELATIVE}the_charts_show_everybody",
        ),
        "Figure 3": (
            f"{_RELATIVE}the_figures_and_the_tables_are_of_the_same_people",
            f"{_RELATIVE}anatomy_is_more_faithful_and_more_of_a_threat",
            f"{_RELATIVE}where_the_learner_threatens_anatomy_helps_the_attacker_more",
            f"{_RELATIVE}what_does_not_hold_is_told",
            f"{_RELATIVE}the_charts_show_everybody",
        ),
    },
    "realistic": {
        "Table 1": (f"{_REALISTIC}table_1",),
        "Table 2": (),
        "Table 3": (f"{_REALISTIC}table_3", f"{_ERRATA}nine_tenths_have_flu"),
        "Table 4": (f"{_REALISTIC}table_4",),
        "Table 5": (
            f"{_REALISTIC}every_epsilon_by_a_recount",
            f"{_REALISTIC}table_5",
            f"{_REALISTIC}epsilon_falls_with_every_step_of_generalization",
            f"{_REALISTIC}how_many_nodes_the_paper_counts",
            f"{_REALISTIC}the_print_has_what_the_paper_lists",
            f"{_REALISTIC}the_impossible_cells_break_monotonicity_and_no_other_does",
            f"{_REALISTIC}class_II_of_the_print_is_weaker_than_class_I_in_the_impossible_cell_alone",
            f"{_REALISTIC}the_shapes_of_the_print_are_too_far_apart_in_the_impossible_cell_alone",
            f"{_REALISTIC}that_property_holds_of_our_own_numbers",
        ),
        "Figure 1": (
            f"{_REALISTIC}class_II_is_never_weaker_than_class_I",
            f"{_REALISTIC}class_III_is_never_weaker_than_class_I_but_where_nobody_is_surprised",
        ),
        "Figure 2": (
            f"{_REALISTIC}epsilon_and_cost_rise_with_stubbornness",
            f"{_REALISTIC}class_II_costs_no_more_than_class_I_while_few_people_are_seen",
            f"{_REALISTIC}least_costs_by_a_recount",
            f"{_REALISTIC}figure_2",
            f"{_REALISTIC}the_charts_of_figure_2_show_every_point",
        ),
        "Figure 3": (
            f"{_REALISTIC}c_2_diversity_is_class_III_with_a_uniform_prior",
            f"{_REALISTIC}figure_3",
            f"{_REALISTIC}lemma_1_on_every_node",
            f"{_REALISTIC}the_chart_of_figure_3_shows_every_node_and_every_dot",
        ),
    },
    "composition": {
        "Table 1": (f"{_COMPOSITION}table_1_leaves_alice_one_condition",),
        "Figure 1": (
            f"{_COMPOSITION}mondrian_is_deterministic",
            f"{_COMPOSITION}breaches",
            f"{_COMPOSITION}a_little_less_certainty_affects_far_more_people",
        ),
        "Figure 2": (
            f"{_COMPOSITION}classes_are_larger_than_k_and_hide_fewer_values",
            f"{_COMPOSITION}a_centroid_is_found_mostly",
            f"{_ERRATA}no_class_needs_2k_people",
        ),
        "Figure 3": (f"{_COMPOSITION}anonymity_drops", f"{_COMPOSITION}mondrian_is_deterministic"),
        "Figure 4": (f"{_COMPOSITION}stronger_criteria_help_and_cost",),
        "Beside differential privacy": (
            f"{_COMPOSITION}differential_privacy_beside_it",
            f"{_COMPOSITION}two_noisy_releases_share_the_budget",
        ),
    },
    "error": {
        "Figure 1": (f"{_ERROR}figure_1_hides_the_row_and_not_the_disease",),
        "Figure 3": (f"{_ERROR}figure_3_is_a_straight_line",),
        "Figure 4": (f"{_ERROR}figure_4_leads_from_the_loss_to_the_measure",),
        "Figure 6": (f"{_ERROR}figure_6_has_one_entropy",),
        "Figure 7": (f"{_ERROR}figure_7", f"{_ERRATA}the_likeliest_value_breaks_the_bound"),
        "Section VI-A": (f"{_ERROR}location_more_noise_more_privacy_below_the_distortion",),
        "Figure 10": (
            f"{_ERROR}figure_10_closed_form_and_simulation",
            f"{_ERROR}figure_10_is_highest_where_the_last_sender_is_the_first",
        ),
        "Table IV": (f"{_ERROR}the_guide_has_the_papers_classes",),
    },
    "population": {
        "Figure 1": (
            f"{_POPULATION}the_people",
            f"{_POPULATION}accuracy_is_flat_to_epsilon_1_and_falls_below",
            f"{_POPULATION}it_is_far_better_than_the_commonest_value",
            f"{_POPULATION}even_at_epsilon_001_it_is_better_than_the_commonest_value",
            f"{_POPULATION}people_who_were_not_counted_are_guessed_about_as_well",
        ),
        "Figure 2": (),
        "Figure 3": (f"{_POPULATION}where_it_is_sure", f"{_ERRATA}noise_makes_the_classifier_surer_than_right"),
        "Figure 4": (
            f"{_POPULATION}accuracy_is_above_one_in_l",
            f"{_POPULATION}larger_groups_are_harder",
            f"{_POPULATION}open_is_never_better_than_the_classifier_without_noise",
            f"{_POPULATION}to_locate_somebody_matters_in_small_groups_alone",
            f"{_POPULATION}seven_people_to_a_group",
            f"{_POPULATION}doubled_groups_fall_below_the_classifier_without_noise",
            f"{_POPULATION}tripled_groups_leave_permutation_with_chance",
        ),
        "Figure 5": (),
        "Comparison": (f"{_POPULATION}the_comparison",),
    },
}

NOTHING_TO_ASSERT: dict[tuple[str, str], str] = {
    ("relative", "Table II"): "The notation.",
    ("relative", "Figure 1"): "A drawing of the sampler.",
    ("realistic", "Table 2"): "The notation.",
    ("population", "Figure 2"): "The Internet usage survey is not at hand.",
    ("population", "Figure 5"): "The Internet usage survey is not at hand.",
}
