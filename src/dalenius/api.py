"""The functions of `import dalenius as dl`: each is what the command of the same name calls.

They take a schema as a path or an object, an engine as a URL or an object, and criteria by the names of their options (`k=5`).
Everything is imported when a function is called.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from dalenius.auditing import Audit
    from dalenius.auditing.attacking import ReleaseAttack
    from dalenius.auditing.channel import MeasuredChannel
    from dalenius.auditing.checking import ReleaseCheck
    from dalenius.auditing.compare import Comparison
    from dalenius.auditing.compose import JointAttack
    from dalenius.auditing.exploring import Frontier
    from dalenius.auditing.publishing import Publication
    from dalenius.auditing.splitting import Split
    from dalenius.auditing.surveying import LatticeSurvey
    from dalenius.criteria import Criterion
    from dalenius.engines import Engine, Source
    from dalenius.releases import Release
    from dalenius.schema import Schema

SCHEMA = "privacy.toml"


def check(
    release: Source, schema: Schema | str | Path = SCHEMA, *, engine: Engine | str | None = None, **options: Any
) -> ReleaseCheck:
    """Measure every privacy model on a release, and test the criteria that are named, such as `k=5`."""
    from dalenius.auditing.checking import check

    roles, connected = _schema(schema), _engine(engine)
    wanted = _criteria(roles, connected, options, own={"recursive_l"})
    return check(release, roles, engine=connected, criteria=wanted, **options)


def publish(
    table: Source, schema: Schema | str | Path = SCHEMA, *, engine: Engine | str | None = None, **options: Any
) -> Publication:
    """Make a release that satisfies the criteria, such as `k=5`; `output` names the file to write."""
    from dalenius.auditing.publishing import publish

    roles, connected = _schema(schema), _engine(engine)
    return publish(table, roles, engine=connected, criteria=_criteria(roles, connected, options), **options)


def lattice(
    table: Source, schema: Schema | str | Path = SCHEMA, *, engine: Engine | str | None = None, **options: Any
) -> LatticeSurvey:
    """List every node of a table's lattice, with its levels and utilities, and whether it satisfies the criteria."""
    from dalenius.auditing.surveying import lattice

    roles, connected = _schema(schema), _engine(engine)
    return lattice(table, roles, engine=connected, criteria=_criteria(roles, connected, options), **options)


def attack(
    release: str, schema: Schema | str | Path = SCHEMA, *, engine: Engine | str | None = None, seed: int = 0, **options: Any
) -> ReleaseAttack:  # fmt: skip
    """Attack a release: beliefs about `targets`, and with the `truth` how often the adversary is right."""
    from dalenius.auditing.attacking import AttackRequest, attack

    return attack(AttackRequest(release=release, **options), _schema(schema), seed=seed, engine=_engine(engine))


def audit(
    release: Source | Release,
    schema: Schema | str | Path = SCHEMA,
    *,
    engine: Engine | str | None = None,
    **options: Any,
) -> Audit:
    """Attack a release with every adversary that applies, measure it, and compare the result with the schema's policy."""
    from dalenius.auditing import audit

    return audit(release, _schema(schema), engine=_engine(engine), **options)


def compose(
    releases: Sequence[Source],
    targets: Source,
    schema: Schema | str | Path | Sequence[Schema | str | Path] = SCHEMA,
    *,
    engine: Engine | str | None = None,
    **options: Any,
) -> JointAttack:
    """Intersect what several releases reveal about the same people; one schema for all of them, or one for each."""
    from dalenius.auditing.compose import compose

    several: Sequence[Any] = schema if isinstance(schema, list | tuple) else [schema] * len(releases)
    return compose(releases, [_schema(one) for one in several], targets, engine=_engine(engine), **options)


def compare(
    releases: Any,
    truth: Source,
    schema: Schema | str | Path = SCHEMA,
    *,
    engine: Engine | str | None = None,
    **options: Any,
) -> Comparison:
    """Compare releases of the same table: what each of them is still good for."""
    from dalenius.auditing.compare import compare

    return compare(releases, truth, _schema(schema), engine=_engine(engine), **options)


def frontier(table: str | Path, schema: str | Path = SCHEMA, **options: Any) -> Frontier:
    """Publish and audit a table by several methods and parameters: the risk and the utility of each release."""
    from dalenius.auditing.exploring import frontier

    return frontier(Path(table), Path(schema), **options)


def split(table: str | Path, published: str | Path, others: str | Path, **options: Any) -> Split:
    """Divide a file into the people to publish and a control group, drawn at random."""
    from dalenius.auditing.splitting import split

    return split(Path(table), Path(published), Path(others), **options)


def channel(*, engine: Engine | str | None = None, seed: int = 0, **options: Any) -> MeasuredChannel:
    """Measure what a channel leaves to an attacker: a `model`, a `matrix`, a `release` or `samples`."""
    from dalenius.auditing.channel import ChannelRequest, channel

    return channel(ChannelRequest(**options), seed=seed, engine=_engine(engine))


def _schema(schema: Schema | str | Path) -> Schema:
    from dalenius.schema import Schema

    return schema if isinstance(schema, Schema) else Schema.load(schema)


def _engine(engine: Engine | str | None) -> Engine:
    from dalenius import engines

    if engine is None:
        return engines.default()
    return engines.connect(engine) if isinstance(engine, str) else engine


def _criteria(
    schema: Schema, engine: Engine, options: dict[str, Any], own: Collection[str] = ()
) -> Sequence[Criterion]:
    """The criteria among the options, which are taken out; `own` are options of the function that only look like one."""
    from dalenius.criteria import Setting, from_options
    from dalenius.criteria import options as declared
    from dalenius.releases.prior import Priors

    names = [option.parameter for option in declared() if option.parameter in options and option.parameter not in own]
    chosen = {name: options.pop(name) for name in names}
    setting = Setting(Priors(schema, engine), options.get("known", 0), False, tuple(options.get("predicates", ())))
    return [*options.pop("criteria", ()), *from_options(chosen, setting)]
