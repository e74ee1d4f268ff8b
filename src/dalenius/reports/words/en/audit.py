"""The audit, on the terminal and as a page."""

from __future__ import annotations

from dalenius.reports.words.en import classes, people, plural, rows, sentence

# Terminal --------------------------------------------------------------------------------------------------------------------

COLUMNS = "Columns"
SINGLING_OUT = "Singling out"
LINKABILITY = "Linkability"
SUPPRESSED = "Suppressed"
COST = "Cost"
CHANGED = "Changed"
MOST_AT_RISK = "Most at risk"
NOT_TESTED = "Not tested"
NO_NOISE = "no noise"
INFERENCE = "Inference: correct guesses of each adversary, with 95 % confidence intervals"
NO_ADVERSARY = "Inference: no adversary could be tried"
NO_CONTROL = "no held-out people"
EPSILON = "ε, the largest factor by which being in the release changes a belief"


def extent(people_in: int, classes_in: int, kind: str, suppressed: int) -> str:
    return f"{people(people_in)} in {classes(classes_in)} ({kind}), {rows(suppressed)} suppressed"


def extent_of_counts(kind: str, mechanism: str, budget: str) -> str:
    return f"counts ({kind}), {mechanism}, {budget}"


def titled(name: str, extent: str) -> str:
    return f"{name}: {extent}"


def singled_out(share: str) -> str:
    return f"{share} of people match only one row"


def linkability(average: str, highest: str, at_risk: str) -> str:
    return f"{average} on average, {highest} at most; above 20% for {at_risk} of people"


def suppressed(n: int, levels: str) -> str:
    return f"{rows(n)}, counted above and here {levels}"


def most_common(column: str, rate: str) -> str:
    return f"most common {column}: {rate}"


def attack(adversary: str, column: str) -> str:
    return f"{adversary} on {column}"


def attack_rates(success: str, control: str) -> str:
    return f"in the release {success}, {control}"


def control(rate: str) -> str:
    return f"held out {rate}"


def gain(gain: str, conclusion: str) -> str:
    return f"gain {gain}: {conclusion}"


def confidence(mean: str, above_80: str, certain: str) -> str:
    return (
        f"correctness unknown; {mean} confident on average, more than 80% confident for {above_80} and certain for "
        f"{certain} of people"
    )


def learner(column: str, method: str, learner: str, more: str, ratio: str) -> str:
    return (
        f"learner on {column} ({method}): {learner}; being in the release adds {more}, and makes the attacker up to {ratio} "
        "times as confident"
    )


EXACT, SAMPLED = "exact", "sampled"


def class_error(column: str, average: str, before: str, worst: str) -> str:
    return f"best guess of {column} by class: wrong for {average} ({before} without the release, {worst} in the worst class)"


def known(adversary: str, records: int) -> str:
    return f"{adversary} (b = {records:,})"


def worst_class(number: int, size: int) -> str:
    return f"class {number}, {people(size)}"


def row_numbers(numbers: str) -> str:
    return f"row {numbers}"


def alike(n: int) -> str:
    return people(n)


def most_at_risk(who: str, place: str, attribute: str) -> str:
    return f"{who} (class {place}); exposed most by {attribute}"


def faithfulness_for(column: str) -> str:
    return f"faithfulness for {column}"


def more_limits(n: int) -> str:
    are = plural(n, "more limit is", "more limits are")
    return f"{are} listed in the report that -o FILE or --json FILE writes."


# Page ------------------------------------------------------------------------------------------------------------------------

ABOUT = (
    "What an attacker learns from this release about the people in it, how much of that is general knowledge about the "
    "population, and how useful the release is."
)
THRESHOLD_COLUMNS = ("Threshold", "Required", "Measured", "Result")
RELEASE = "The release and the assumptions"
SIZES_CAPTION = "Number of people by the size of their class."
TRUTH = "The original table was available."
NO_TRUTH = "The original table was not available."
NO_CLASSES = "There are no classes."
SUPPRESSED_PUBLISHED = "; their sensitive and other columns are published"
CLASS = "A <em>class</em> is a group of people whom the release does not distinguish."


def title(name: str) -> str:
    return f"Audit of {name}"


def held_out(n: int) -> str:
    return f"{plural(n, 'held-out person serves', 'held-out people serve')} as a control."


def assumptions(quasi: str, sensitive: str, truth: str, control: str) -> str:
    known = f"The attacker is assumed to know a person's {quasi}. The attacker must not learn: {sensitive}."
    return " ".join(part for part in (known, truth, control) if part)


def counted(coarser: str, mechanism: str, promise: str, neighbours: str, sensitivity: str) -> str:
    noise = f"{mechanism} noise" + (f", which gives differential privacy with {promise}" if promise else "")
    return (
        f"The release counts every value{coarser} of each quasi-identifier with every sensitive value, with {noise} "
        f"(neighbours: {neighbours}, sensitivity {sensitivity})."
    )


def coarser(names: str) -> str:
    return f" (every label of {names})"


def moments(names: str) -> str:
    return f"For {names}, it gives the number of people, the sum and the sum of squares instead of counts."


def in_classes(people_in: int, classes_in: int, kind: str, suppressed: int) -> str:
    published = SUPPRESSED_PUBLISHED if suppressed else ""
    return (
        f"The release contains {people(people_in)} in {classes(classes_in)} ({kind}). "
        f"{plural(suppressed, 'row is', 'rows are')} suppressed{published}. {CLASS}"
    )


def suppressed_rows(levels: str) -> str:
    return (
        f"Anyone who matches no class is among the suppressed rows. These have {levels}. Thresholds on classes apply to them "
        "as well, and singling out and linkability count people who match no class there."
    )


def columns_left(summary: str) -> str:
    return f"Detail left in each column: {summary}."


LEVELS = "Privacy models"
LEVEL_COLUMNS = ("Level", "Meaning")


def undefined(reason: str) -> str:
    return f"not defined: {reason}"


ERRORS = "Privacy models as the attacker's error"
ERRORS_TEXT = (
    "How often the attacker's best guess is wrong, given the person's class. A model that treats values as equally likely "
    "describes a <em>best case</em>: the error is at most what the model says. A model that compares classes with the table "
    "describes a <em>worst case</em>: the error is at least what the model says, which is often little."
)
ERROR_COLUMNS = ("Error by the model", "Actual error", "Case", "Attacker wants", "Level", "Formula and assumption")
NO_BOUND = "nothing"
WHICH_ROW, THE_VALUE = "which row", "the value"


def error_formula(formula: str, assumption: str) -> str:
    return f"{formula}. {sentence(assumption)}"


def error_summary(before: str, average: str, worst: str, hidden: str) -> str:
    return (
        f"Without the release, the best guess is wrong for {before} of people. With the release, it is wrong for {average} on "
        f"average and for {worst} in the worst class.{hidden} The average includes everybody; having no published class is "
        "also an observation."
    )


def error_of_hidden(share: str) -> str:
    return f" For people without a published class, it is wrong for {share}."


UTILITY = "Utility"
UTILITY_COLUMNS = ("Measure", "Value", "Meaning")
UTILITIES = {
    "loss": "detail lost in the labels: 0 for the original table, 1 if nothing is left",
    "discernibility": "sum of squared class sizes, plus N for each suppressed row",
    "average_class_size": "people in a class on average; suppressed rows count as one class",
    "suppressed": "share of rows without quasi-identifiers; their sensitive and other columns are published",
    "ncp": "average width of the labels: 0 for single values, 1 for the whole domain",
    "precision": "how specific the labels are in their hierarchies: 1 for the value itself, 0 for the top; larger is better",
    "kl_divergence": "distance between the table and what a reader would reconstruct, with people spread evenly over each "
    "class "
    "(nats)",
    "faithfulness": "1 − total variation distance between what can be learned about the population from the release and from "
    "the "
    "table; larger is better",
    "relative_error": "mean error of 1,000 random count queries answered from the release, relative to the true count",
    "relative_error_median": "median error of the same queries; a few queries that match hardly anybody can dominate the mean",
}
LIMITS = "What was not tested"


def checksum(name: str) -> str:
    return f"SHA-256 of the {name}"
