"""A surveyed lattice, on the terminal and as a page."""

from __future__ import annotations

from dalenius.reports.words.en import nodes, plural

# Terminal --------------------------------------------------------------------------------------------------------------------

COLUMNS = ("levels", "loss", "classes", "suppr.", "k", "ℓ", "t")
BEST = "Columns in the first node:"


def head(name: str, count: int, satisfying: int | None) -> str:
    return f"{name}: {nodes(count)}" + ("" if satisfying is None else f", {satisfying:,} satisfy the criteria")


def too_large(count: int, most: int) -> str:
    have, was = ("more node has", "was") if count == 1 else ("more nodes have", "were")
    return f"{count:,} {have} more than {plural(most, 'distinct row', 'distinct rows')} and {was} not examined (--most-cells)."


def hopeless(count: int, *, others: bool) -> str:
    rest = " The table lists the others by loss." if others else ""
    return f"{nodes(count)} {'has' if count == 1 else 'have'} an infinite ε against every adversary.{rest}"


def levels(columns: str) -> str:
    return f"Levels are in the order {columns}; 0 is the original value."


def more(count: int) -> str:
    return f"--json FILE lists {plural(count, 'more node', 'more nodes')}, with all measures."


def epsilon(number: int) -> str:
    return f"ε {number}"


def epsilon_of(number: int, adversary: str) -> str:
    return f"ε {number} is against {adversary}."


# Page ------------------------------------------------------------------------------------------------------------------------

NEEDS_SWEEP = "the page needs a lattice that was surveyed with sweep_epsilon"
CRITERIA = "the criteria"
WHICH = "Which nodes satisfy which conditions"
NO_ADVERSARY = "No adversary was given. Add one, for example --adversary I:table:1e6."
CAPTION = "Each dot is a condition that the node satisfies. Lines lead from a node to the next more general ones."
NOT_DRAWN = " Nodes that satisfy no condition are not drawn."
NEXT_ONLY = " Nodes that satisfy no condition are drawn only next to one that does."
NONE_SATISFIES = "no node satisfies a condition"
STUBBORNNESS = "The cost of stubbornness"
STUBBORNNESS_TEXT = (
    "An adversary of stubbornness σ has seen σ people elsewhere. The larger σ is, the more slowly the adversary gives up its "
    "prior; with σ = ∞ it never does. <em>I:uniform</em> treats all values as equally likely, <em>I:table</em> uses the shares "
    "in this table, and <em>II</em> may have any prior."
)
NOT_SUPPRESSED = " Nothing is suppressed in these charts."
SMALLEST_EPSILON = "smallest ε"
LEAST_DISCERNIBILITY = "least discernibility"
LEAST_CLASS_SIZE = "least average class size"
NODES = "Nodes by loss"
NODES_TEXT = "The most detailed nodes come first."
NODE_COLUMNS = ("Node", "Loss", "Classes", "k")


def title(name: str) -> str:
    return f"Generalizations of {name}"


def about(columns: str, count: int) -> str:
    return (
        f"Every way to publish {columns}, each at one level of its hierarchy: {nodes(count)}. A node is written as its levels "
        "in that order; 0 is the original value."
    )


def knows(adversary: str, records: int) -> str:
    return f"{adversary} knows {plural(records, 'record', 'records')}."


def at_most(adversary: str) -> str:
    return f"{adversary} stands for that σ or less."


def secrets(predicates: str) -> str:
    return f"The adversary must not learn: {predicates}."


def condition(epsilon: str, adversary: str) -> str:
    return f"ε ≤ {epsilon} against {adversary}"


def satisfied(condition: str, count: int, of: int) -> str:
    return f"{condition}: {count:,} of {nodes(of)}"


def too_many(count: int) -> str:
    return f"{count:,} nodes satisfy a condition, which is too many to draw"


def no_picture(counts: str, reason: str) -> str:
    return f"{counts}. There is no picture: {reason}."


def epsilon_caption(node: str) -> str:
    return f"ε of the node {node}."


def discernibility_caption(epsilon: str) -> str:
    return f"The least Σ n(q)² of a node that is {epsilon}-private. There is no point where no node is."


def class_size_caption(epsilon: str) -> str:
    return f"The least average class size of a node that is {epsilon}-private."


def bold(epsilon: str) -> str:
    return f" ε in bold is at most {epsilon}. Nodes with infinite ε against every adversary come last."


def against(adversary: str) -> str:
    return f"ε, {adversary}"


def more_in_json(count: int) -> str:
    return f"--json FILE lists {plural(count, 'more node', 'more nodes')}."
