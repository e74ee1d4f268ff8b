"""`dl.frontier`: ways to publish a table and their parameters, risk against utility; or, for noisy counts, what ε means."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from dalenius.api import arguments, support
from dalenius.api.arguments import several
from dalenius.api.support import NO_CONTEXT, Context, public
from dalenius.errors import InputError
from dalenius.options import Option, chosen_of

if TYPE_CHECKING:
    from dalenius.auditing.epsilon_curve import EpsilonCurve
    from dalenius.auditing.exploring import Frontier
    from dalenius.publishers.base import Publisher

_TRIED = "What is tried"
_COMPARED = "What is compared"
_COUNTS = "Noisy counts"
METHOD = arguments.METHOD.but(
    help="A way to publish: {methods}. Repeatable. Default: all.", is_repeatable=True, panel=_TRIED
)
RISK = Option(
    "risk",
    "The risk to compare by: attacker (default), gain, random-worlds, perfect-breach, worst-case, linkability, singled-out, "
    "closeness or relative-threat.",
    str,
    panel=_COMPARED,
)
UTILITY = Option(
    "utility",
    "The utility to compare by: relative_error (default), loss, ncp, discernibility, average_class_size, suppressed, "
    "kl_divergence, precision or faithfulness.",
    str,
    panel=_COMPARED,
)
MCSE = arguments.MCSE.but(help="Sample learner and attacker up to this standard error.", panel=_COMPARED)
BEST = Option("best", "Publish the most useful release that satisfies [policy] to OUT.", Path, metavar="OUT")
RESUME = Option("resume", "Where measured releases are kept (TABLE.frontier).", Path, metavar="FOLDER")
FRESH = Option("fresh", "Measure again what was measured before.", bool)
JOBS = Option("jobs", "Number of processes (one per core).", int, minimum=1)
DRAWS = Option("draws", "Draws of noise at each ε (9).", int, minimum=1, panel=_COUNTS)
SHARE = arguments.SHARE.but(
    help="Without --holdout: the share of the people to hold out, drawn by --seed (for noisy counts alone 0.3)."
)


@public("grids", overrides=["utility"])
def frontier(
    table: arguments.Table,
    schema: Annotated[str | Path, arguments.SCHEMA] = arguments.SCHEMA_FILE,
    *,
    method: Annotated[str | Sequence[str] | None, METHOD] = None,
    risk: Annotated[str | None, RISK] = None,
    utility: Annotated[str | None, UTILITY] = None,
    mcse: Annotated[float | None, MCSE] = None,
    best: Annotated[str | Path | None, BEST] = None,
    resume: Annotated[str | Path | None, RESUME] = None,
    fresh: Annotated[bool, FRESH] = False,
    jobs: Annotated[int | None, JOBS] = None,
    draws: Annotated[int | None, DRAWS] = None,
    holdout: arguments.Holdout = None,
    share: Annotated[float | None, SHARE] = None,
    seed: arguments.Seed = 0,
    engine: Annotated[str | None, arguments.ENGINE] = None,
    context: Context = NO_CONTEXT,
    **grid: Any,
) -> Frontier | EpsilonCurve:
    """Publish and audit a table by several methods and parameters: the risk and the utility of each release.

    `table` and `holdout` are paths or data frames. `grid` has the values to try, as on the command line or as a list: `k="2,5,10"`
    or `k=[2, 5, 10]`. With noisy counts alone the result says what each ε means for the table, over several draws of noise.

    >>> import tempfile, dalenius as dl
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     table = dl.datasets.save_hospital(folder, 300, seed=1)
    ...     schema = f"{folder}/privacy.toml"
    ...     tried = dl.frontier(table, schema, method="mondrian", k=[3, 9], utility="loss", jobs=1)
    >>> len(tried.tradeoff.points)
    2
    """
    from dalenius.publishers.registry import named

    methods = several(method)
    for name in methods:
        named(name, "frontier")
    if holdout is not None and share is not None:
        raise InputError(
            "--holdout names the people to hold out, and --share draws them from the table. Use one of them."
        )
    chosen = chosen_of(grid)
    people: dict[str, Any] = {"holdout": support.as_source(holdout), "share": share, "seed": seed}
    comparing: dict[str, Any] = {
        "risk": risk,
        "utility": utility,
        "mcse": mcse,
        "best": _path(best),
        "resume": _path(resume),
        "jobs": jobs,
    }
    is_comparing = fresh or any(value is not None for value in comparing.values())
    if not is_comparing and _is_curve_alone(methods, chosen, draws):
        return _curve(
            support.as_source(table), Path(schema), chosen, draws=draws, engine=engine, context=context, **people
        )
    if draws is not None:
        raise InputError("--draws is for noisy counts alone: every other release is made once. Leave it out.")
    from dalenius import engines
    from dalenius.auditing.exploring import frontier

    values, shared = _split(chosen)
    page, json = _outputs(context)
    return frontier(
        support.as_source(table), Path(schema), methods=methods or None, values=values, options=shared, fresh=fresh,
        page=page, json=json, url=engine or engines.DEFAULT, connect=context.engine, stage=context.stage, **comparing, **people,
    )  # fmt: skip


def _outputs(context: Context) -> tuple[Path | None, Path | None]:
    """Return the page and the JSON file that the caller will write."""
    page, json = (*context.writes, None, None)[:2]
    return page, json


def _path(value: str | Path | None) -> Path | None:
    return None if value is None else Path(value)


def _text(value: Any) -> str:
    """Return values to try as the command line has them: with commas between them."""
    return ",".join(map(str, value)) if isinstance(value, list | tuple | range) else str(value)


def _curved() -> type[Publisher]:
    """Return the method whose parameter is explained by a curve."""
    from dalenius.publishers.registry import PUBLISHERS

    return next(publisher for publisher in PUBLISHERS.values() if publisher.has_curve)


def _is_curve_alone(methods: Sequence[str], chosen: dict[str, Any], draws: int | None) -> bool:
    """Return whether only noisy counts are asked for: by --method, or by their options alone."""
    from dalenius.auditing.candidates import own_options

    method = _curved()
    if not chosen.keys() <= own_options(method):
        return False
    return set(methods) == {method.name} if methods else bool(chosen or draws is not None)


def _curve(
    table: Any, schema: Path, chosen: dict[str, Any], *, engine: str | None, context: Context, **people: Any
) -> EpsilonCurve:
    """Try budgets on a table: how often an attack on the counts would be right, and how far off the counts are."""
    from dalenius.auditing.epsilon_curve import epsilon_curve_of

    axis = _curved().grid.axes[0]
    options = dict(chosen)
    text = options.pop(axis.option.parameter, None)
    page, json = _outputs(context)
    return epsilon_curve_of(
        table, schema, None if text is None else axis.parse(_text(text)), options=options, page=page, json=json,
        engine=context.engine(engine), progress=context.stage, **people,
    )  # fmt: skip


def _split(chosen: dict[str, Any]) -> tuple[dict[str, tuple[Any, ...]], dict[str, Any]]:
    """Return the values of each axis, each once and in their order, and the options that all candidates share."""
    from dalenius.publishers.registry import axes

    by_option = {axis.option.parameter: axis for axis in axes()}
    values = {
        by_option[name].name: tuple(dict.fromkeys(by_option[name].parse(_text(text))))
        for name, text in chosen.items()
        if name in by_option
    }
    return values, {name: value for name, value in chosen.items() if name not in by_option}
