"""Reading `privacy.toml`: the file's own names, each checked, unknown ones refused with a hint."""

from __future__ import annotations

import math
import re
import tomllib
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, StrictInt, StrictStr, ValidationError
from pydantic_core import PydanticCustomError

from dalenius.errors import DaleniusError, InputError, file_error, listing, nearest
from dalenius.hierarchy import MISSING, Hierarchy, read_hierarchy
from dalenius.schema import MAX_RANGE, ROLES, Column, Domain, Prior, Role, Schema, Type, WrongType

Positive = Annotated[float, Field(gt=0, allow_inf_nan=False)]
Share = Annotated[float, Field(ge=0, le=1)]
SLACK = 1e-9  # what the verdict grants to rounding (see `audit.policy`)
NonNegative = Annotated[float, Field(ge=0, allow_inf_nan=False)]


class _Strict(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)


class _Range(_Strict):
    min: int
    max: int


class _Column(_Strict):
    role: Role
    type: Type = "category"
    hierarchy: str | None = None
    intervals: list[StrictInt] | None = None
    mask: Literal["right", "left"] | None = None
    domain: list[StrictStr | StrictInt] | _Range | None = None


class _Prior(_Strict):
    alpha: Positive | dict[str, Positive] = 1.0
    beta: Positive | dict[str, Positive | dict[str, Positive]] = 1.0


class RelativeThreat(_Strict):
    """`max_relative_threat`: this quantile of Ti over the people may be at most this value."""

    quantile: Share
    value: Positive


def _below_one(share: float) -> float:
    if share * (1 + SLACK) >= 1:
        raise PydanticCustomError("demands_nothing", "It must be below 1, or it demands nothing")
    return share


def _above_one(number: float) -> float:
    if number * (1 - SLACK) <= 1:
        raise PydanticCustomError("demands_nothing", "It must be above 1, or it demands nothing")
    return number


def _some(texts: list[str]) -> list[str]:
    if not texts:
        raise PydanticCustomError("demands_nothing", "The list is empty and demands nothing. Leave the key out")
    return texts


AtLeastTwo = Annotated[int, Field(ge=2)]
LargestShare = Annotated[float, Field(ge=0, allow_inf_nan=False), AfterValidator(_below_one)]


class Policy(_Strict):
    """Thresholds of the verdict. Each is optional; what cannot be measured is reported as not tested.

    A threshold that no release could miss is refused.
    """

    min_k: AtLeastTwo | None = None
    min_l: AtLeastTwo | None = None
    min_entropy_l: Annotated[float, Field(allow_inf_nan=False), AfterValidator(_above_one)] | None = None
    max_t: LargestShare | None = None
    max_attacker_accuracy: LargestShare | None = None
    max_attacker_gain: LargestShare | None = None
    max_relative_threat: RelativeThreat | None = None
    min_faithfulness: Annotated[float, Field(gt=0, le=1)] | None = None
    epsilon_privacy: Annotated[list[str], AfterValidator(_some)] | None = None
    max_perfect_breach: LargestShare | None = None
    max_loss: LargestShare | None = None
    max_suppressed: LargestShare | None = None


class _File(_Strict):
    sensitive: str | list[str] | None = None
    missing: list[str] = [""]
    suppressed: list[str] = ["*"]
    missing_is_secret: bool = False
    hierarchies: str | None = None
    columns: dict[str, _Column]
    prior: _Prior = _Prior()
    policy: Policy = Policy()


def load(path: Path) -> Schema:
    """The schema that the file declares, with its hierarchies read and checked."""
    try:
        raw = tomllib.loads(path.read_bytes().decode("utf-8-sig"))
    except OSError as error:
        refused = file_error(error, path, "read the schema")
        raise InputError(f"{refused} Make one with: dalenius init TABLE -o {path.name}") from None
    except UnicodeDecodeError:
        raise InputError(f"{path.name}: the schema is not a UTF-8 text file.") from None
    except tomllib.TOMLDecodeError as error:
        raise InputError(f"{path.name}: not valid TOML: {error}.") from None
    except RecursionError:
        raise InputError(f"{path.name}: not a schema: its tables are nested too deeply.") from None
    return parse(raw, folder=path.parent, source=path.name)


def parse(raw: dict[str, Any], *, folder: Path, source: str) -> Schema:
    """The schema that these tables declare; paths in it are relative to `folder`."""
    raw, added = _split_policy(raw, source)
    try:
        file = _File.model_validate(raw)
    except ValidationError as error:
        raise InputError(_explain(error, raw, source)) from None
    roles = _roles(file, source)
    if file.hierarchies is not None and not (folder / file.hierarchies).is_dir():
        raise InputError(
            f"{source}: hierarchies = {file.hierarchies!r} is not a folder (paths are relative to {source})."
        )
    read: list[Path] = []
    columns = tuple(
        _column(name, role, file.columns.get(name) or _Column(role=role), file, folder, source, read)
        for name, role in roles.items()
    )
    prior = Prior(alpha=file.prior.alpha, beta=file.prior.beta)
    if isinstance(file.prior.beta, dict):
        for name in file.prior.beta:
            if roles.get(name) != "quasi":
                quasi = [known for known, role in roles.items() if role == "quasi"]
                raise InputError(
                    f"{source}: [prior] beta names {name!r}, which is not a quasi-identifier.{nearest(name, quasi)}"
                )
    return Schema(
        columns=columns,
        missing=tuple(file.missing),
        suppressed=tuple(file.suppressed),
        missing_is_secret=file.missing_is_secret,
        prior=prior,
        policy={**file.policy.model_dump(exclude_none=True), **added},
        folder=folder,
        files=tuple(read),
        source=source,
    )


def _split_policy(raw: dict[str, Any], source: str) -> tuple[dict[str, Any], dict[str, float]]:
    """The file without the keys of [policy] that only registered criteria know, and their checked thresholds."""
    policy = raw.get("policy")
    if not isinstance(policy, dict) or policy.keys() <= Policy.model_fields.keys():
        return raw, {}
    from dalenius.criteria import check_threshold, policy_places

    added: dict[str, float] = {}
    for key in [key for key in policy if key not in Policy.model_fields and key in policy_places()]:
        value = policy[key]
        if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
            raise InputError(f"{source}: policy.{key} must be a finite number. Got {value!r}.")
        try:
            check_threshold(policy_places()[key], value)
        except DaleniusError as error:
            raise InputError(f"{source}: policy.{key}: {error}") from None
        added[key] = value
    return {**raw, "policy": {key: value for key, value in policy.items() if key not in added}}, added


def _roles(file: _File, source: str) -> dict[str, Role]:
    """Each column's role; `sensitive = …` declares a column as much as a [columns] table does."""
    roles: dict[str, Role] = {name: column.role for name, column in file.columns.items()}
    if file.sensitive is None:
        return roles
    names = [file.sensitive] if isinstance(file.sensitive, str) else file.sensitive
    for name in names:
        if roles.get(name, "sensitive") != "sensitive":
            raise InputError(
                f'{source}: {name!r} is named as sensitive but [columns.{name}] says role = "{roles[name]}".'
            )
        roles[name] = "sensitive"
    for name, role in roles.items():
        if role == "sensitive" and name not in names:
            raise InputError(
                f'{source}: [columns.{name}] says role = "sensitive" but sensitive = … does not name it. '
                "Add it there, or leave the line out."
            )
    return roles


def _column(
    name: str, role: Role, declared: _Column, file: _File, folder: Path, source: str, read: list[Path]
) -> Column:
    where = f"{source}, [columns.{name}]"
    tree: Hierarchy | None = None
    suppress = declared.hierarchy == "suppress"
    plain = Column(name=name, role=role, type=declared.type)
    if declared.hierarchy is not None and not suppress:
        candidates = [folder / declared.hierarchy]
        if file.hierarchies is not None:
            candidates.append(folder / file.hierarchies / declared.hierarchy)
        path_of_tree = next((path for path in candidates if path.is_file()), candidates[0])
        tree = _tree(path_of_tree, plain, file.missing)
        read.append(path_of_tree)
    elif file.hierarchies is not None and not suppress and declared.intervals is None and declared.mask is None:
        beside = sorted((folder / file.hierarchies).glob(f"*_hierarchy_{_glob_escape(name)}.csv"))
        if len(beside) > 1:
            raise InputError(
                f"{where}: several hierarchies fit: {listing(path.name for path in beside)}. "
                'Choose one with hierarchy = "FILE".'
            )
        if beside and role in ("quasi", "sensitive"):
            tree = _tree(beside[0], plain, file.missing)
            read.append(beside[0])
    domain = _domain(declared, plain, file.missing, where)
    if tree is not None and domain is not None:
        known = {MISSING, *tree.leaves}
        for leaf in domain.leaves:
            if leaf not in known:
                raise InputError(
                    f"{where}: the domain's value {leaf!r} has no path in {tree.source}.{nearest(leaf, tree.leaves)}"
                )
    try:
        return Column(
            name=name,
            role=role,
            type=declared.type,
            domain=domain,
            hierarchy=tree,
            intervals=None if declared.intervals is None else tuple(declared.intervals),
            mask=declared.mask,
            suppress=suppress,
        )
    except DaleniusError as error:
        raise InputError(f"{where}: {error}") from None


def _domain(declared: _Column, column: Column, missing: list[str], where: str) -> Domain | None:
    if declared.domain is None:
        return None
    if isinstance(declared.domain, _Range):
        low, high = declared.domain.min, declared.domain.max
        if declared.type != "integer":
            raise InputError(f'{where}: domain = {{ min, max }} needs type = "integer".')
        if not low <= high or high - low >= MAX_RANGE:
            raise InputError(f"{where}: the domain from {low} to {high} is empty or longer than {MAX_RANGE:,} values.")
        return Domain(tuple(str(value) for value in range(low, high + 1)))
    try:
        leaves = [column.canonical(str(leaf), missing) for leaf in declared.domain]
    except WrongType as error:
        raise InputError(f"{where}: {str(error)!r} in the domain is not a whole number.") from None
    if column.type == "integer":
        leaves.sort(key=lambda leaf: (leaf == MISSING, int(leaf or 0)))
    if not leaves:
        raise InputError(f"{where}: the domain is empty.")
    try:
        return Domain(tuple(leaves))
    except InputError as error:
        raise InputError(f"{where}: {error}") from None


def _tree(path: Path, column: Column, missing: list[str]) -> Hierarchy:
    """The hierarchy with its leaves in canonical text."""
    return read_hierarchy(path, leaf=lambda text: column.leaf_of(text, missing))


def _glob_escape(name: str) -> str:
    return "".join(f"[{char}]" if char in "*?[" else char for char in name)


def _known(place: list[str]) -> list[str]:
    """The keys of the table in which the key at this place stands."""
    table: type[BaseModel] = _File
    if place[0] == "columns":
        table = _Range if len(place) > 3 else _Column
    elif place[0] == "prior":
        table = _Prior
    elif place[0] == "policy":
        table = RelativeThreat if len(place) > 2 else Policy
    known = list((table if len(place) > 1 else _File).model_fields)
    if table is Policy and len(place) > 1:
        from dalenius.criteria import policy_places

        known += [key for key in policy_places() if key not in known]
    return known


def _explain(error: ValidationError, raw: dict[str, Any], source: str) -> str:
    """One complaint as a sentence with the key's place in the file and a hint.

    Unknown keys come first: a misspelt key is also a missing one. Then the deepest: where a value may be one of several
    things, it is about the one that was meant.
    """
    first = min(error.errors(), key=lambda e: (e["type"] != "extra_forbidden", -len(e["loc"])))
    place = _place(first["loc"], raw)
    if first["type"] == "extra_forbidden":
        table = ".".join(place[:-1])
        inside = f" in [{table}]" if table else ""
        known = _known(place)
        return (
            f"{source}: unknown key {place[-1]!r}{inside}.{nearest(place[-1], known)} Known keys: {', '.join(known)}."
        )
    if first["type"] == "missing" and first["loc"] == ("columns",):
        return f"{source}: there are no [columns.NAME] tables; declare each column of the table."
    if first["type"] == "missing":
        key = str(first["loc"][-1])
        return f"{source}: {'.'.join([*place, key])} is missing" + (
            f"; it must be one of {listing(ROLES)}." if key == "role" else "."
        )
    message = re.sub(r"a valid dictionary( or instance of \w+)?", "a table", first["msg"])
    got = first.get("input")
    shown = f" Got {got!r}." if isinstance(got, str | int | float | bool) else ""
    return f"{source}: {'.'.join(place)}: {message}.{shown}"


def _place(location: tuple[int | str, ...], raw: dict[str, Any]) -> list[str]:
    """The keys of a location that stand in the file; the others are names that pydantic gives to alternatives."""
    place: list[str] = []
    at: Any = raw
    for part in location:
        if part in (at if isinstance(at, dict) else range(len(at)) if isinstance(at, list) else ()):
            at = at[part]
            place.append(str(part))
    return place


__all__ = ["Policy", "RelativeThreat", "load", "parse"]
