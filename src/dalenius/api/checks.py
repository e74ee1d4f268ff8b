"""`dl.check`: every privacy model, measured on a release."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from dalenius.api import arguments, support
from dalenius.api.support import NO_CONTEXT, Context, public
from dalenius.errors import ParameterError
from dalenius.options import Option

if TYPE_CHECKING:
    from dalenius.auditing.checking import ReleaseCheck

RECURSIVE_L = Option("recursive-l", "The ℓ of recursive (c,ℓ)-diversity, or C,L as a threshold.", str, metavar="L|C,L")
PRIOR_CELLS = Option(
    "prior-cells",
    "An adversary who has seen this data set and looks at each combination of quasi-identifiers separately.",
    str,
    metavar="FILE",
    panel=arguments.REALISTIC_PANEL,
)
POPULATION = Option(
    "population",
    "For --prior-cells: the quasi-identifiers of the people in a generalized release, for example its table.",
    Path,
    metavar="FILE",
    panel=arguments.REALISTIC_PANEL,
)
EPSILON = arguments.EPSILON.but(
    help="Also say how stubborn an adversary of each class the release withstands at this ε.",
    panel=arguments.REALISTIC_PANEL,
)


@public("criteria", overrides=["recursive_l"])
def check(
    release: Annotated[arguments.AnySource, arguments.RELEASE.but(help="A release or a table.")],
    schema: arguments.Schema = arguments.SCHEMA_FILE,
    *,
    kind: arguments.Kind = None,
    recursive_l: Annotated[int | str, RECURSIVE_L] = "2",
    others_as_quasi: arguments.OthersAsQuasi = False,
    adversary: arguments.Adversaries = None,
    prior_data: arguments.PriorData = None,
    prior_cells: Annotated[str | None, PRIOR_CELLS] = None,
    population: Annotated[Path | None, POPULATION] = None,
    known: arguments.Known = 0,
    at_most: arguments.AtMost = False,
    predicate: arguments.Predicates = None,
    epsilon: Annotated[float | None, EPSILON] = None,
    engine: arguments.Engine = None,
    context: Context = NO_CONTEXT,
    **criteria: Any,
) -> ReleaseCheck:
    """Measure every privacy model on a release, and test the criteria that are named, such as `k=5`.

    `release` is a path, a data frame (pandas, Polars or Arrow) or a release that is already open. `criteria` are the options of
    criteria, spelt as on the command line: `k=5`, `l=2`, `t="0.2:ordered"`, `epsilon_privacy="I:table:1e3:2.5"`.

    >>> import dalenius as dl
    >>> published = dl.publish(dl.datasets.hospital(300, seed=1), k=5, suppression=0.02)
    >>> dl.check(published, k=5).holds
    True
    """
    from dalenius.auditing.checking import check, check_parameters

    roles, connected = support.schema_for(schema, release), context.engine(engine)
    text = str(recursive_l)
    depth, options = _depth(text), {**criteria, "recursive_l": text if "," in text else None}
    asked = support.parse(
        roles, connected, options, adversary=adversary, prior_data=prior_data, predicate=predicate, known=known, at_most=at_most
    )  # fmt: skip
    check_parameters(
        epsilon=epsilon, prior_cells=prior_cells, population=population, known=known, predicates=asked.predicates
    )
    support.refuse_idle(
        is_used=bool(asked.adversaries or criteria.get("epsilon_privacy")) or epsilon is not None,
        known=known, at_most=at_most, predicate=predicate,
        remedy="Name one: --adversary I:table:1e6, or ask with --epsilon what the release withstands.",
    )  # fmt: skip
    read = [*support.release_files(release), *roles.files, *asked.priors.files, *connected.own_files]
    context.check_outputs([release, schema, population, prior_cells, *read])
    return check(
        support.as_source(release), roles, criteria=asked.criteria, adversaries=asked.adversaries,
        predicates=asked.predicates, known=known, epsilon=epsilon, prior_cells=prior_cells, population=population,
        recursive_l=depth, others_as_quasi=others_as_quasi, kind=kind, engine=connected,
    )  # fmt: skip


def _depth(text: str) -> int:
    """Return the ℓ of recursive (c,ℓ)-diversity, which stands alone or after its c."""
    number = text.rpartition(",")[2].strip()
    if not (number.isascii() and number.isdigit() and 2 <= int(number) < 1e9):
        raise ParameterError("--recursive-l", "check", "an int ≥ 2, or c,ℓ such as 3,2", text)
    return int(number)
