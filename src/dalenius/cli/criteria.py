"""The options that name criteria, shared by every command that publishes or searches."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from dalenius.criterion import Criterion, Predicate
    from dalenius.release.prior import Priors

_GROUP = "Criteria"
K = Annotated[int | None, typer.Option("--k", help="At least k people in every class.", rich_help_panel=_GROUP)]
L = Annotated[int | None, typer.Option("--l", help="Distinct ℓ-diversity.", rich_help_panel=_GROUP)]
EntropyL = Annotated[float | None, typer.Option("--entropy-l", help="Entropy ℓ-diversity.", rich_help_panel=_GROUP)]
RecursiveL = Annotated[
    str | None, typer.Option("--recursive-l", metavar="C,L", help="Recursive (c,ℓ)-diversity.", rich_help_panel=_GROUP)
]
T = Annotated[
    list[str] | None,
    typer.Option(
        "--t", metavar="T[:GROUND]", help="t-closeness; ground distance equal, ordered or hierarchical.",
        rich_help_panel=_GROUP,
    ),
]  # fmt: skip
Delta = Annotated[float | None, typer.Option("--delta", help="δ-disclosure privacy (nats).", rich_help_panel=_GROUP)]
Beta = Annotated[float | None, typer.Option("--beta", help="Basic β-likeness.", rich_help_panel=_GROUP)]
EnhancedBeta = Annotated[
    float | None, typer.Option("--enhanced-beta", help="Enhanced β-likeness.", rich_help_panel=_GROUP)
]
Alpha = Annotated[
    float | None, typer.Option("--alpha", help="Largest share of a value in a class.", rich_help_panel=_GROUP)
]
EpsilonPrivacy = Annotated[
    list[str] | None,
    typer.Option(
        "--epsilon-privacy", metavar="ADVERSARY:ε", rich_help_panel=_GROUP,
        help="ε-privacy against a realistic adversary, such as I:table:1e6:2.5 or II:1e3:2.5.",
    ),
]  # fmt: skip


def criteria(
    *,
    k: int | None,
    l: int | None,  # noqa: E741 - the option's name
    entropy_l: float | None,
    recursive_l: str | None,
    t: list[str] | None,
    delta: float | None,
    beta: float | None,
    enhanced_beta: float | None,
    alpha: float | None,
    epsilon_privacy: list[str] | None,
    priors: Priors,
    known: int = 0,
    at_most: bool = False,
    predicates: Sequence[Predicate] = (),
) -> list[Criterion]:
    """The criteria that the options ask for, in a fixed order."""
    from dalenius import criterion as c
    from dalenius.criterion import written
    from dalenius.errors import ParameterError

    found: list[Criterion] = []
    if k is not None and k < 2:
        raise ParameterError("--k", "k-anonymity", "an int ≥ 2 (1 demands nothing)", k)
    if k is not None:
        found.append(c.KAnonymity(k))
    if alpha is not None:
        found.append(c.AlphaAnonymity(alpha))
    if l is not None:
        found.append(c.DistinctDiversity(l))
    if entropy_l is not None:
        found.append(c.EntropyDiversity(entropy_l))
    if recursive_l is not None:
        found.append(_recursive(recursive_l))
    found += [written.closeness(text) for text in t or []]
    if delta is not None:
        found.append(c.DeltaDisclosure(delta))
    if beta is not None:
        found.append(c.BasicBetaLikeness(beta))
    if enhanced_beta is not None:
        found.append(c.EnhancedBetaLikeness(enhanced_beta))
    found += [
        written.epsilon_privacy(text, priors, known=known, at_most=at_most, predicates=predicates)
        for text in epsilon_privacy or []
    ]
    return found


def _recursive(text: str) -> Criterion:
    from dalenius.criterion import RecursiveDiversity
    from dalenius.errors import ParameterError

    first, comma, second = text.partition(",")
    try:
        return RecursiveDiversity(float(first), int(second)) if comma else RecursiveDiversity(float(first))
    except ParameterError:
        raise
    except ValueError:
        raise ParameterError("--recursive-l", "publish", "c,ℓ such as 3,2", text) from None
