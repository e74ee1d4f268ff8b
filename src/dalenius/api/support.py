"""What the public functions share: their declaration, the caller's context, and how texts become objects."""

from __future__ import annotations

import functools
import inspect
import typing
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, TypeVar, cast

from dalenius.api.arguments import SCHEMA_FILE, several
from dalenius.errors import InputError, ParameterError, nearest
from dalenius.options import Option, chosen_of
from dalenius.output import check_writable

if TYPE_CHECKING:
    from dalenius.criteria import Criterion, Predicate, Realistic
    from dalenius.engines import Engine
    from dalenius.releases.prior import Priors
    from dalenius.schema import Schema

Function = TypeVar("Function", bound=Callable[..., Any])
Parts = Literal["criteria", "methods", "audited methods", "grids", "suppressed rows"]


@dataclass(frozen=True, slots=True)
class Context:
    """What a caller adds to the options: how it hears of progress, and which files it will write.

    The command line and the studio have one. Nobody else needs it.
    """

    connect: Callable[[str], Engine] | None = None
    stage: Callable[[str], None] | None = None  # gets the name of each stage
    progress: Callable[[int, int, float], None] | None = None  # gets nodes done, nodes in all, and the best so far
    tell: Callable[[str], None] | None = None  # gets sentences that a person should read at once
    writes: tuple[Path, ...] = ()  # files that the caller will write: checked before the work begins
    same_file: str = "Two outputs cannot be written to one file. Name another file."

    def engine(self, engine: Engine | str | None) -> Engine:
        """Return the engine itself, or the one at this URL, or the default."""
        from dalenius import engines

        if engine is None:
            return engines.default()
        if not isinstance(engine, str):
            return engine
        return engines.connect(engine) if self.connect is None else self.connect(engine)

    def check_outputs(self, inputs: Iterable[object]) -> None:
        """Refuse files to write that cannot be written, are read as well, or are named twice."""
        read = list(inputs)
        for path in self.writes:
            check_writable(path, inputs=read)
        if len({path.resolve() for path in self.writes}) < len(self.writes):
            raise InputError(self.same_file)

    def show(self, stage: str) -> None:
        """Tell the caller what is being done."""
        if self.stage is not None:
            self.stage(stage)

    def say(self, sentence: str) -> None:
        """Tell the caller's reader something at once."""
        if self.tell is not None:
            self.tell(sentence)


NO_CONTEXT = Context()


@dataclass(frozen=True, slots=True)
class Declaration:
    """The options of a public function: those of its signature, and those of the registered parts that it takes."""

    name: str
    own: Mapping[
        str, tuple[Option, Any]
    ]  # by parameter, the option and its default (`inspect.Parameter.empty`: required)
    parts: tuple[Parts, ...]
    overrides: frozenset[str]  # options of parts that the function has itself

    def part_options(self) -> tuple[Option, ...]:
        """Return the options of criteria and methods, each once. One that hides an option of the function is refused."""
        found: dict[str, Option] = {}
        for part in self.parts:
            for option in _part_options(part):
                if option.parameter in self.overrides:
                    continue
                if option.parameter in self.own or option.name in ("json", "quiet", "output", "help"):
                    raise InputError(
                        f"A plug-in declares {option.flag}, which is an option of {self.name} itself. "
                        "Rename the plug-in's option, or uninstall it."
                    )
                found.setdefault(option.parameter, option)
        return tuple(found.values())

    def check(self, arguments: Mapping[str, Any]) -> None:
        """Refuse unknown options, and values of the wrong type or out of range."""
        known = {name: option for name, (option, _) in self.own.items()}
        if unknown := [name for name in arguments if name not in known]:
            known |= {option.parameter: option for option in self.part_options()}
            for name in unknown:
                if name not in known:
                    raise TypeError(f"{self.name}() has no option {name!r}.{nearest(name, known)}")
        for name, value in arguments.items():
            is_default = name in self.own and value is self.own[name][1]
            if not is_default and value is not None and name in known:
                known[name].check(value, self.name)


def public(*parts: Parts, overrides: Sequence[str] = ()) -> Callable[[Function], Function]:
    """Make a function public: its options are checked by their declarations before it runs.

    `parts` says which options of registered parts its `**options` are, and `overrides` which of these it declares itself.
    """

    def declare(function: Function) -> Function:
        declaration = Declaration(function.__name__, _declared(function), parts, frozenset(overrides))
        signature = inspect.signature(function)
        rest = next((p.name for p in signature.parameters.values() if p.kind is p.VAR_KEYWORD), None)

        @functools.wraps(function)
        def checked(*arguments: Any, **keywords: Any) -> Any:
            try:
                bound = signature.bind(*arguments, **keywords).arguments
            except TypeError as error:
                unknown = [name for name in keywords if name not in signature.parameters]
                hint = nearest(unknown[0], declaration.own) if unknown else ""
                raise TypeError(f"{function.__name__}(): {error}.{hint}") from None
            given = {**{name: value for name, value in bound.items() if name != rest}, **bound.get(rest or "", {})}
            given.pop("context", None)
            declaration.check(given)
            return function(*arguments, **keywords)

        checked.declaration = declaration  # type: ignore[attr-defined]
        return cast(Function, checked)

    return declare


def declaration_of(function: Callable[..., Any]) -> Declaration:
    """Return the options of a public function."""
    found: Declaration = function.declaration  # type: ignore[attr-defined]
    return found


def _declared(function: Callable[..., Any]) -> dict[str, tuple[Option, Any]]:
    """Return the options in a signature: parameters that are annotated with an `Option`."""
    found = {}
    for parameter in inspect.signature(function).parameters.values():
        if parameter.name == "context" or parameter.kind is parameter.VAR_KEYWORD:
            continue
        annotation = eval(parameter.annotation, function.__globals__)  # annotations are texts; all of them are ours
        (option,) = (one for one in typing.get_args(annotation)[1:] if isinstance(one, Option))
        found[parameter.name] = (option, parameter.default)
    return found


def _part_options(part: Parts) -> tuple[Option, ...]:
    from dalenius import criteria
    from dalenius.publishers import registry

    if part == "criteria":
        return criteria.options()
    if part == "methods":
        return registry.options()
    if part == "audited methods":
        return registry.audit_options()
    if part == "grids":
        return registry.grid_options()
    return tuple(option for option in registry.options() if option.name == "suppressed-rows")


def load_schema(schema: Schema | str | Path) -> Schema:
    """Return the schema, read from its file if it is a path."""
    from dalenius.schema import Schema

    return schema if isinstance(schema, Schema) else Schema.load(schema)


def as_source(source: Any) -> Any:
    """Return the source of one of our tables, and the release of a publication; anything else is returned as it is."""
    from dalenius.auditing.publishing import Publication
    from dalenius.table import Table

    if isinstance(source, Publication):
        return source.published.release
    return source.source if isinstance(source, Table) else source


def schema_for(schema: Schema | str | Path, *sources: Any) -> Schema:
    """Return the schema. If none is named, one of our tables or publications brings its own."""
    from dalenius.auditing.publishing import Publication
    from dalenius.table import Table

    if schema == SCHEMA_FILE:
        for source in sources:
            if isinstance(source, Publication):
                return source.published.table.declared
            if isinstance(source, Table):
                return source.declared
    return load_schema(schema)


def release_files(release: object) -> list[Path]:
    """Return the files of a release and its sidecar, which no output may replace; none if there are none."""
    from dalenius.errors import DaleniusError
    from dalenius.releases import find_files, sidecar

    if not isinstance(release, str | Path):
        return []
    try:
        return [*find_files(str(release))[1], sidecar.path_of(Path(release))]
    except DaleniusError:
        return []  # the reader says what is wrong


@dataclass(frozen=True, slots=True)
class Parsed:
    """Criteria, realistic adversaries, and the sets of values that these must not learn about."""

    priors: Priors
    criteria: tuple[Criterion, ...]
    adversaries: tuple[Realistic, ...]
    predicates: tuple[Predicate, ...]


def parse(
    schema: Schema,
    engine: Engine,
    options: dict[str, Any],
    *,
    adversary: Any = None,
    prior_data: Any = None,
    predicate: Any = None,
    known: int = 0,
    at_most: bool = False,
) -> Parsed:
    """Read the texts of criteria, adversaries and sets. The criteria's options are taken out of `options`."""
    from dalenius.criteria import Predicate, Setting, from_options
    from dalenius.criteria import options as criteria_options
    from dalenius.releases.prior import Priors

    names = [column.name for column in schema.sensitive]
    predicates = tuple(
        Predicate.parse(one, names) if isinstance(one, str) else cast("Predicate", one) for one in several(predicate)
    )
    priors = Priors(schema, engine)
    chosen = {option.parameter: options.pop(option.parameter, None) for option in criteria_options()}
    for option in criteria_options():
        value = chosen[option.parameter]
        if option.type is str and value is not None:  # t=0.2 is the text 0.2
            values = several(value) if option.is_repeatable else [value]
            texts = [str(one) if isinstance(one, int | float) else one for one in values]
            chosen[option.parameter] = texts if option.is_repeatable else texts[0]
    criteria = from_options(chosen_of(chosen), Setting(priors, known, at_most, predicates))
    adversaries = _adversaries(several(adversary), several(prior_data), priors, known=known, at_most=at_most)
    return Parsed(priors, tuple(criteria), adversaries, predicates)


def _adversaries(
    written: Sequence[Any], data: Sequence[Any], priors: Priors, *, known: int, at_most: bool
) -> tuple[Realistic, ...]:
    """Return the realistic adversaries that texts name, each once."""
    from dalenius.criteria.written import adversary

    named: list[Any] = [*written, *(f"I:data:{path}" for path in data)]
    found: list[Realistic] = []
    for one in named:
        if named.count(one) > 1:
            raise InputError(f"The adversary {str(one)!r} is named twice.")
        if not isinstance(one, str):
            found.append(one)
            continue
        try:
            # Classes III and IV have no stubbornness, so --at-most does not concern them.
            has_stubbornness = one.partition(":")[0] in ("I", "II")
            found.append(adversary(one, priors, known=known, at_most=at_most and has_stubbornness))
        except ParameterError as error:
            raise InputError(f"{one}: {error}") from None
    return tuple(found)


def refuse_idle(*, is_used: bool, known: int, at_most: bool, predicate: Any, remedy: str) -> None:
    """Refuse options that describe realistic adversaries if none is named: they would be ignored."""
    options = {"--known": known > 0, "--at-most": at_most, "--predicate": bool(several(predicate))}
    for option, is_given in options.items():
        if is_given and not is_used:
            raise InputError(f"{option} describes realistic adversaries, but none is named. {remedy}")
