"""Risk against utility of many releases, on the terminal and as a page."""

from __future__ import annotations

from dalenius.reports.words.en import plural, releases

FRONT = "no other release that was tried is at least as good in both respects and better in one"
CHOSEN = (
    "The release was chosen with the help of the held-out people, so its gain over them may be small by chance. Audit it with "
    "people who were not used for the choice."
)
VERDICTS = {"passed": "passed", "violated": "violated", "incomplete": "not tested", "none": "–"}
SHORT = {"average_class_size": "class size", "kl_divergence": "KL divergence"}
LARGER, SMALLER = "larger is better", "smaller is better"
NOBODY_HELD_OUT = "no held-out people"
NO_FIGURE = "–"

# Terminal --------------------------------------------------------------------------------------------------------------------

RISK, UTILITY, RELEASE, POLICY = "risk", "utility", "release", "policy"


def titled(name: str, summary: str) -> str:
    return f"{name}: {summary}"


def risk(name: str, meaning: str) -> str:
    return f"{name}: {meaning}"


def utility(name: str, meaning: str, better: str) -> str:
    return f"{name}: {meaning} ({better})"


def summary(count: int, methods: int, failed: int, held_out: str, seed: int) -> str:
    lost = f", {failed} could not be published" if failed else ""
    return f"{releases(count)} by {plural(methods, 'method', 'methods')}{lost}, {held_out}, seed {seed}"


def on_front(mark: str, count: int) -> str:
    return f"{mark} {plural(count, 'release is', 'releases are')} on the front: {FRONT}."


def shown_once(titles: str) -> str:
    return f"Shown once, because their figures are equal: {titles}."


def most_common(share: str) -> str:
    return f"Without any release, always guessing the most common value is correct for {share} of people."


def strongest(counts: str) -> str:
    return f"The risk is that of the strongest adversary: {counts}."


def adversary_of(name: str, count: int) -> str:
    return f"{name} for {releases(count)}"


def not_played(count: int) -> str:
    return (
        f"Learner and attacker were not tried on {releases(count)}, because they have no exact answer there. Sample them with "
        "--mcse 0.02 or with max_attacker_accuracy in the policy, or use --risk random-worlds to compare all releases by one "
        "adversary."
    )


def not_converged(count: int) -> str:
    return f"On {releases(count)}, the attacker has not converged and does not count."


def lower_bounds(count: int) -> str:
    return f"On {releases(count)}, people in the table match no class, so the risk of attacks is a lower bound."


def lacking(count: int, name: str, reason: str) -> str:
    return f"{plural(count, 'release has', 'releases have')} no {name}, because {reason}. Such a release is not on the front."


def gone(column: str, titles: str) -> str:
    return f"Nothing is left of {column} in {titles}."


def best(title: str, utility: str, value: str, risk: str) -> str:
    return f"Most useful release that satisfies the policy: {title}, {utility} {value}, risk {risk}."


def without_utility(titles: str, utility: str) -> str:
    return f"{titles}: satisfies the policy but has no {utility}. Choose another --utility."


NONE_PASSES = "No release that was tried satisfies the policy. The nearest are:"


def missed(title: str, thresholds: str) -> str:
    return f"{title}: {thresholds}"


def leaves(summary: str) -> str:
    return f"Columns: {summary}."


def written(files: str) -> str:
    return f"Wrote {files}"


def not_written(title: str, misses: str) -> str:
    return f"Nothing was published: a new draw of {title} violates the policy: {misses}."


def not_tested(key: str, required: str, reason: str) -> str:
    return f"{key} {required} was not tested: {reason}"


def not_reached(key: str, value: str, required: str) -> str:
    return f"{key} is {value}, {required} is required"


def not_published(titles: str, reason: str) -> str:
    return f"{titles}: not published. {reason}"


# Page ------------------------------------------------------------------------------------------------------------------------

COLUMNS = ("Release", "Risk")
POLICY_COLUMN, BY_COLUMN = "Policy", "By"
ALL = "All releases"
FRONT_HEADING = "The front"
EVERY = "Every release"
NOT_PUBLISHED = "Not published"
NOT_PUBLISHED_COLUMNS = ("Release", "Reason")
MISSED = "Thresholds that are not met"
MISSED_COLUMNS = ("Release", "Thresholds")
READING = "How to read this report"
NOTHING_TO_DRAW = "No release has both the risk and the utility, so there is nothing to draw."
CHART_CAPTION = (
    "Each mark is a release: risk upwards, cost to the right. Lower and further left is better. The line is the front; its "
    "releases are named where there is room."
)
FILLED = " Filled marks satisfy the policy, hollow ones do not."
LEVELS = (
    "<b>k, ℓ, t</b> are reached by the worst class: the number of people in it, the number of different values in it, and the "
    "distance of its values from those of the table. A release without classes has none."
)
CAUTION = (
    "A release that is safe by one measure may not be safe by another, and adversaries that were not tried may do better. "
    "Audit the release that you choose: <code>dalenius audit</code>."
)
POLICY_DECIDES = "The policy decides how much risk is acceptable."
SET_POLICY = "Thresholds under <code>[policy]</code> in the schema decide how much risk is acceptable."


def title(name: str) -> str:
    return f"Risk against utility: {name}"


def about(summary: str) -> str:
    return (
        f"{summary}. Every release was published and audited as <code>dalenius publish</code> and <code>dalenius audit</code> "
        "do. The figures come from the table itself: they are for those who hold it and not for publication."
    )


def front_text(decision: str) -> str:
    return f"For each of these releases, {FRONT}. {decision}"


def order(mark: str) -> str:
    return f"The most useful releases come first; {mark} marks those on the front."


def risk_text(name: str, meaning: str) -> str:
    return f"<b>Risk</b>, {name}: {meaning}. Smaller is safer."


def utility_text(name: str, meaning: str, better: str) -> str:
    return f"<b>Utility</b>, {name}: {meaning} ({better})."
