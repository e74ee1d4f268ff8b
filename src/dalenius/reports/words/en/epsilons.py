"""What ε means for a table: sentences, the terminal, and the page."""

from __future__ import annotations

from dalenius.reports.words.en import people, plural

# Meaning of the verdict of an attack; the keys are those of the JSON report.
JUDGED = {
    "only about the population": "being counted adds little or nothing to what an attacker can guess",
    "leaks about persons": "being counted exposes individuals",
    "not enough data to say": "there are too few people to tell what being counted adds",
}
# The same, short enough for a column.
CONCLUSIONS = {
    "only about the population": "population only",
    "leaks about persons": "leak",
    "not enough data to say": "unclear",
}
NOT_COMPARABLE = "the held-out people differ from those counted, so the effect of being counted is unknown"
NO_NOISE = "no noise"


def at(epsilon: str) -> str:
    return f"ε = {epsilon}"


def between(first: str, last: str) -> str:
    return f"ε from {first} to {last}"


def who_file(counted: int, held_out: int) -> str:
    return f"{people(counted)} counted, {held_out:,} held out"


def who_drawn(counted: int, held_out: int, share: str, seed: int) -> str:
    return f"{who_file(counted, held_out)} (a share of {share}, drawn with seed {seed})"


def meaning(
    epsilon: str, column: str, right: str, others: str, judged: str, gain: str, naive: str, error: str, against: str
) -> str:
    """What one ε means for the table."""
    return (
        f"At ε = {epsilon}, {judged}: somebody who reads the counts guesses {column} correctly for {right} of the people "
        f"counted and for {others} of held-out people. The gain is {gain}. Always guessing the most common value is correct "
        f"for {naive}. A count is off by {error} on average, {against} the average count."
    )


def share_of(percent: str) -> str:
    return f"{percent} of"


def times(factor: str) -> str:
    return f"{factor} times"


def judged(span: str, judged: str, gain: str, *, several: bool) -> str:
    return f"{span}: {judged}. The {'largest gain' if several else 'gain'} is {gain}."


def good_counts(epsilon: str) -> str:
    return f"From ε = {epsilon}, counts are off by less than a tenth of the average count."


def bad_counts(epsilon: str, against: str) -> str:
    return f"At every ε tried, counts are off by more than a tenth of the average count; at ε = {epsilon}, by {against} it."


def overconfident(epsilon: str, points: str) -> str:
    return (
        f"With strong noise, the attacker is more confident than correct: by {points} points at ε = {epsilon}. Its confidence "
        "then does not measure the risk."
    )


def population(column: str, free: str, naive: str) -> str:
    return f"Without noise, {column} is guessed correctly for {free}; the most common value alone gives {naive}"


def never_better(text: str) -> str:
    return f"{text}. At no ε tried do the counts reveal significantly more than the most common value."


def better(text: str, epsilon: str, near: str) -> str:
    close = f", and from ε = {near} nearly as much as without noise (within one point)" if near else ""
    return f"{text}. From ε = {epsilon}, the counts reveal more than the most common value{close}."


# Terminal --------------------------------------------------------------------------------------------------------------------

RATE_COLUMNS = ("ε", "counted (range)", "held out", "gain (points, 95 % CI)", "conclusion")
ERROR_COLUMNS = ("ε", "confident", "correct", "overconfident", "count error", "relative error")
NO_FIGURE = "–"


def titled(name: str, who: str) -> str:
    return f"{name}: {who}"


def setting(adversary: str, column: str, noise: str, neighbours: str, joint: str, draws: int) -> str:
    return f"{adversary} on {column}, {noise} noise, {neighbours} neighbours{joint}, {plural(draws, 'draw', 'draws')} for each ε"


def joint(names: str) -> str:
    return f", {names} jointly"


def reading(naive: str) -> str:
    return (
        f"Most common value: {naive}. Range: over the draws of noise. Confident: share of people about whom the attacker is more "
        "than 80 % confident. Correct: how often it is then correct. Overconfident: points by which average confidence exceeds "
        "correctness. Count error: in people, and relative to the average count."
    )


# Page ------------------------------------------------------------------------------------------------------------------------

COUNTED_WITHOUT_NOISE = "people counted, without noise"
MOST_COMMON = "most common value"
COLUMNS = (
    "ε",
    "Counted",
    "Held<br>out",
    "Gain,<br>points",
    "&gt; 80 % confident<br>(correct)",
    "Over-<br>confident",
    "Count<br>off by",
)
ATTACK = "How often the attack is correct"
ATTACK_CAPTION = (
    "Lines are means over the draws of noise; the band shows their range. If people counted and held-out people are guessed "
    "equally well, the counts reveal population patterns only."
)
ERRORS = "Error of the counts"
FIGURES = "Figures"
IN_WORDS = "Each ε in words"
READING = "How to read this report"
NOT_FOR_PUBLICATION = "No ε protects these figures. They are for those who hold the table and not for publication."
READING_SEED = "The noise is drawn from a seed for this experiment and was never published. The figures come from the table itself."


def title(name: str) -> str:
    return f"What ε means for {name}"


def about(adversary: str, column: str, noise: str, neighbours: str, more: str, who: str, draws: int) -> str:
    return (
        f"{adversary} on {column}, from noisy counts ({noise} noise, {neighbours} neighbours{more}). {who}. "
        f"{plural(draws, 'draw', 'draws')} of noise for each ε. {NOT_FOR_PUBLICATION}"
    )


def error_caption(average: str) -> str:
    return (
        "The line is the error that the noise promises, dots are the errors that were drawn, both in people. The dashed line "
        f"is the average count, {average}."
    )


def at_level(name: str, level: object) -> str:
    return f", {name} at level {level}"


def gaussian(name: str, low: object, high: object) -> str:
    return f", {name} as a Gaussian from {low} to {high}"


def reading_intervals(*, several: bool) -> str:
    noise = (
        "and over draws (Student's t)" if several else "only: a single draw does not show how much others would differ"
    )
    return (
        f"Intervals are 95 % confidence intervals over people (exact binomial) {noise}. All draws use the same people, so more "
        "draws narrow only the part that comes from the noise. A gain compares people counted with held-out people, draw by "
        "draw."
    )


def of_average(against: str) -> str:
    return f"{against} average"
