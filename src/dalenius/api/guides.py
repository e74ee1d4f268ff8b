"""`dl.guide`: five questions that lead to a measure."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

from dalenius.api.support import public
from dalenius.options import Option

if TYPE_CHECKING:
    from dalenius.measures.guide import Guidance

ABOUT = Option("about", "What must an attacker not find out?", str, metavar="identity|attribute")
LOSS = Option("loss", "Does a near miss help the attacker?", str, metavar="hamming|graded")
LOSS_KNOWN = Option("loss-known", "Do you know what a near miss is worth to the attacker?", str, metavar="yes|no")
OBSERVATIONS = Option(
    "observations", "Does the attacker guess one value or a sequence of them?", str, metavar="single|repeated"
)
CASE = Option("case", "Which case must the number describe?", str, metavar="worst|average|best")


@public()
def guide(
    *,
    about: Annotated[str | None, ABOUT] = None,
    loss: Annotated[str | None, LOSS] = None,
    loss_known: Annotated[str | None, LOSS_KNOWN] = None,
    observations: Annotated[str | None, OBSERVATIONS] = None,
    case: Annotated[str | None, CASE] = None,
) -> Guidance:
    """Find the measure that fits your case, what it does not tell, and the command to run.

    An answer that does not change the recommendation may be left out.

    >>> import dalenius as dl
    >>> dl.guide(about="identity", loss="hamming", observations="single", case="best").recommendation.keys
    ('k_anonymity.k',)
    """
    from dalenius.measures.guide import complete, guide

    answers = {"about": about, "loss": loss, "loss_known": loss_known, "observations": observations, "case": case}
    return guide(complete(answers))
