"""The schema: which columns a table has, what role each plays, and which values it may hold.

A schema is declared (in `privacy.toml` or in Python) and then *bound*: columns without a declared domain take
the values that occur, and recipes for hierarchies (intervals, masks, suppress) are worked out on the domain.
"""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

import numpy as np

from dalenius import hierarchy as _hierarchy
from dalenius.arrays import Floats, Longs, read_only
from dalenius.bands import order_by_number
from dalenius.errors import InputError, ParameterError, counted, listing, nearest
from dalenius.hierarchy import MISSING, Hierarchy
from dalenius.reprs import named, short_repr

__all__ = [
    "COARSENINGS",
    "MAX_RANGE",
    "ROLES",
    "TYPES",
    "WHOLE",
    "Column",
    "Domain",
    "Prior",
    "Role",
    "Schema",
    "Type",
    "WrongType",
]

Role = Literal["identifier", "quasi", "sensitive", "other"]
Type = Literal["category", "integer"]
ROLES: tuple[Role, ...] = ("identifier", "quasi", "sensitive", "other")
TYPES: tuple[Type, ...] = ("category", "integer")
WHOLE = re.compile(r"\s*([+-]?[0-9]{1,18})(?:\.0*)?\s*")
COARSENINGS = frozenset(("hierarchy", "intervals", "mask", "suppress"))
MAX_RANGE = 5_000_000  # leaves that a {min, max} domain may spell out


class WrongType(ValueError):
    """A text that the column's declared type cannot read. The caller knows the row and says it."""


@dataclass(frozen=True, slots=True, eq=False)
class Domain:
    """The leaves of a column: integers by value, categories as declared or by code point.

    `declared` says whether this order of the leaves means something, or is just how they were found.
    """

    leaves: tuple[str, ...]
    declared: bool = True
    _index: dict[str, int] = field(init=False, repr=False)
    _values: list[Floats] = field(init=False, repr=False)  # filled when first asked for
    _order: list[Longs | None] = field(init=False, repr=False)  # the same

    def __post_init__(self) -> None:
        object.__setattr__(self, "_index", {leaf: i for i, leaf in enumerate(self.leaves)})
        object.__setattr__(self, "_values", [])
        object.__setattr__(self, "_order", [])
        if len(self._index) != len(self.leaves):
            twice = next(leaf for i, leaf in enumerate(self.leaves) if self._index[leaf] != i)
            raise InputError(f"The domain names {twice!r} twice.")

    def __len__(self) -> int:
        return len(self.leaves)

    def __repr__(self) -> str:
        return short_repr(f"Domain of {counted(len(self), 'value', 'values')}")

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Domain) and self.leaves == other.leaves

    def __hash__(self) -> int:
        return hash(self.leaves)

    def __contains__(self, leaf: object) -> bool:
        return leaf in self._index

    def code(self, leaf: str) -> int:
        """The leaf's code, or −1."""
        return self._index.get(leaf, -1)

    def values(self) -> Floats:
        """The leaves as numbers (integer columns); a missing value is nan."""
        if not self._values:
            numbers = np.array([np.nan if leaf == MISSING else float(leaf) for leaf in self.leaves])
            self._values.append(read_only(numbers))
        return self._values[0]

    def order(self) -> Longs | None:
        """The codes in the order of the leaves: as declared, else of the numbers in them, a missing value last.

        None where neither says it. Of two leaves the order does not matter: distances are the same either way.
        """
        if not self._order:
            self._order.append(self._find_order())
        return self._order[0]

    def _find_order(self) -> Longs | None:
        if self.declared or len(self.leaves) <= 2:
            return read_only(np.arange(len(self.leaves)))
        present = [code for code, leaf in enumerate(self.leaves) if leaf != MISSING]
        ranks = order_by_number([self.leaves[code] for code in present])
        if ranks is None:
            return None
        missing = [code for code, leaf in enumerate(self.leaves) if leaf == MISSING]
        return read_only(np.array([present[rank] for rank in ranks] + missing, dtype=np.int64))


@dataclass(frozen=True, slots=True)
class Column:
    """A column as declared. At most one of `hierarchy`, `intervals`, `mask` and `suppress` says how it is coarsened."""

    name: str
    role: Role
    type: Type = "category"
    domain: Domain | None = None
    hierarchy: Hierarchy | None = None
    intervals: tuple[int, ...] | None = None
    mask: Literal["right", "left"] | None = None
    suppress: bool = False

    def __post_init__(self) -> None:
        owner = f"column {self.name!r}"
        if self.role not in ROLES:
            raise ParameterError("role", owner, f"one of {listing(ROLES)}", self.role)
        if self.type not in TYPES:
            raise ParameterError("type", owner, f"one of {listing(TYPES)}", self.type)
        coarsenings = [self.hierarchy, self.intervals, self.mask, self.suppress or None]
        if sum(coarsening is not None for coarsening in coarsenings) > 1:
            raise InputError(f"Column {self.name!r} has several of hierarchy, intervals and mask; keep one.")
        if self.intervals is not None and self.type != "integer":
            raise InputError(f'Column {self.name!r} has intervals; these need type = "integer".')
        if self.intervals is not None:
            _hierarchy.check_widths(self.intervals, source=owner)

    def __repr__(self) -> str:
        domain = "" if self.domain is None else f", {counted(len(self.domain), 'value', 'values')}"
        return short_repr(f"Column {self.name}: {self.role}, {self.type}{domain}{self._coarsening()}")

    def _coarsening(self) -> str:
        """Return how the column is coarsened, in words."""
        if self.hierarchy is not None:
            return f", hierarchy with {counted(self.hierarchy.height + 1, 'level', 'levels')}"
        if self.intervals is not None:
            return f", intervals of {listing(map(str, self.intervals))}"
        if self.mask is not None:
            return f", masked from the {self.mask}"
        return ", published or suppressed" if self.suppress else ""

    @property
    def leaves(self) -> tuple[str, ...]:
        """The leaves; only a bound column has them."""
        if self.domain is None:
            raise InputError(f"Column {self.name!r} has no domain yet: bind the schema to a table first.")
        return self.domain.leaves

    def order(self) -> Longs | None:
        """The codes of the leaves in the column's order, integers by value; None where nothing says which order it is."""
        if self.domain is None:
            raise InputError(f"Column {self.name!r} has no domain yet: bind the schema to a table first.")
        return np.argsort(self.domain.values(), kind="stable") if self.type == "integer" else self.domain.order()

    def canonical(self, text: str, missing: Collection[str]) -> str:
        """The leaf that a cell's text names: integers by value (`039` is 39), every missing mark as one value."""
        if text == MISSING or text in missing:
            return MISSING
        if self.type == "category":
            return text
        whole = WHOLE.fullmatch(text)
        if whole is None:
            raise WrongType(text)
        value = int(whole[1])
        for mark in missing:  # a mark such as -9 also comes as -9.0, from pandas
            number = WHOLE.fullmatch(mark)
            if number is not None and int(number[1]) == value:
                return MISSING
        return str(value)

    def leaf_of(self, text: str, missing: Collection[str]) -> str:
        """Return the leaf that a hierarchy's row is about, so that `07` in the file and 7 in the data meet."""
        try:
            return self.canonical(text, missing)
        except WrongType:
            raise InputError(
                f'{text!r} is not a whole number, but column {self.name!r} has type = "integer".'
            ) from None

    def bound(self, observed: Iterable[str]) -> Column:
        """Fix the domain (declared leaves, else the hierarchy's, else the observed ones) and the hierarchy on it.

        A missing value that occurs joins as the last leaf; an observed value outside a declared domain is left to
        the caller to report, who knows in which row it stands.
        """
        seen = set(observed)
        declared = False
        if self.domain is not None:
            leaves, declared = list(self.domain.leaves), self.domain.declared
        elif self.hierarchy is not None:
            leaves = list(self.hierarchy.leaves)
            # The rows of a file of bands are often sorted as text: then the numbers tell, and not the rows.
            declared = order_by_number([leaf for leaf in leaves if leaf != MISSING]) is None
            if self.type == "integer":
                leaves.sort(key=lambda leaf: (leaf == MISSING, int(leaf or 0)))
        else:
            present = seen - {MISSING}
            leaves = sorted(present, key=int) if self.type == "integer" else sorted(present)
        if MISSING in seen and MISSING not in leaves:
            leaves.append(MISSING)
        source = f"column {self.name!r}"
        tree: Hierarchy | None = None
        if self.hierarchy is not None:
            tree = self.hierarchy.arranged(leaves)
        elif leaves and self.intervals is not None:
            tree = _hierarchy.intervals(leaves, self.intervals, source=source)
        elif leaves and self.mask is not None:
            tree = _hierarchy.mask(leaves, self.mask, source=source)
        elif leaves and self.suppress:
            tree = _hierarchy.suppress(leaves, source=source)
        return dataclasses.replace(
            self, domain=Domain(tuple(leaves), declared), hierarchy=tree, intervals=None, mask=None, suppress=False
        )

    @property
    def fixed(self) -> bool:
        """Whether the leaves are declared (by a domain or by a hierarchy's file) and not taken from the data."""
        return self.domain is not None or self.hierarchy is not None


@dataclass(frozen=True, slots=True)
class Prior:
    """Dirichlet parameters of the Bayesian adversaries: one number, or one for each value (column) by name."""

    alpha: float | Mapping[str, float] = 1.0
    beta: float | Mapping[str, float | Mapping[str, float]] = 1.0

    def __repr__(self) -> str:
        parts = {"alpha": self.alpha, "beta": self.beta}
        texts = [f"{name} {'by name' if isinstance(part, Mapping) else part}" for name, part in parts.items()]
        return short_repr(f"Prior: {', '.join(texts)}")


@dataclass(frozen=True, slots=True)
class Schema:
    """Columns in their order, the marks of missing and suppressed cells, the adversaries' prior, the policy."""

    columns: tuple[Column, ...]
    missing: tuple[str, ...] = ("",)
    suppressed: tuple[str, ...] = ("*",)
    missing_is_secret: bool = False  # that a sensitive value is missing must not be learned, either
    prior: Prior = Prior()
    policy: Mapping[str, object] = field(default_factory=dict)
    source: str = "the schema"
    folder: Path = Path()  # what paths in the policy are relative to
    files: tuple[Path, ...] = ()  # hierarchies that were read: no output may replace them

    def __post_init__(self) -> None:
        object.__setattr__(self, "columns", tuple(self.columns))
        names = [column.name for column in self.columns]
        for name in names:
            if names.count(name) > 1:
                raise InputError(f"{self.source}: column {name!r} is declared twice.")
        if not self.sensitive:
            raise InputError(
                f'{self.source}: no sensitive column. Name it with sensitive = "COLUMN" (columns: {listing(names)}).'
            )
        if not self.quasi:
            raise InputError(
                f'{self.source}: no quasi-identifier. Give at least one column role = "quasi": '
                "what an attacker may know about a person."
            )

    def __repr__(self) -> str:
        roles = [named(role, [column.name for column in self.columns if column.role == role]) for role in ROLES]
        title = f"Schema from {self.source}: {counted(len(self.columns), 'column', 'columns')}"
        return short_repr(title, *roles, named("policy", self.policy))

    @classmethod
    def load(cls, path: str | Path) -> Schema:
        """Read a `privacy.toml`; hierarchy paths in it are relative to the file itself."""
        from dalenius.config import load

        return load(Path(path))

    def save(self, path: str | Path) -> None:
        """Write the schema as a `privacy.toml`, so that `load` returns an equal one. A file that is there is replaced."""
        from dalenius.schema_text import save

        save(self, Path(path))

    def with_roles(self, roles: Mapping[str, Role] | None = None, /, **more: Role) -> Schema:
        """Return the schema with other roles of some columns.

        >>> import dalenius as dl
        >>> schema = dl.Schema([dl.Column("age", "other"), dl.Column("zip", "quasi"), dl.Column("ill", "sensitive")])
        >>> schema.with_roles(age="quasi", zip="identifier")
        <Schema from the schema: 3 columns
          identifier: zip
          quasi: age
          sensitive: ill>
        """
        changed = {**(roles or {}), **more}
        new = {name: dataclasses.replace(self[name], role=role) for name, role in changed.items()}
        return dataclasses.replace(self, columns=tuple(new.get(column.name, column) for column in self.columns))

    def with_column(self, name: str, **changes: Any) -> Schema:
        """Return the schema with a column changed or, if it has none of that name, added.

        `changes` are fields of `Column`. A `domain` may be a list of values, and a `hierarchy` the path of its file. Only one of
        `hierarchy`, `intervals`, `mask` and `suppress` can hold, so a new one replaces the old one.

        >>> import dalenius as dl
        >>> schema = dl.Schema([dl.Column("zip", "quasi", mask="right"), dl.Column("ill", "sensitive")])
        >>> schema.with_column("zip", suppress=True).with_column("age", role="quasi", type="integer")["age"]
        <Column age: quasi, integer>
        """
        old = next((column for column in self.columns if column.name == name), None)
        if COARSENINGS & changes.keys():
            changes = {"hierarchy": None, "intervals": None, "mask": None, "suppress": False} | changes
        if isinstance(changes.get("domain"), list | tuple):
            changes["domain"] = Domain(tuple(map(str, changes["domain"])))
        if isinstance(changes.get("intervals"), list):
            changes["intervals"] = tuple(changes["intervals"])
        if isinstance(changes.get("hierarchy"), str | Path):
            kind = changes.get("type", "category" if old is None else old.type)
            plain = Column(name, "quasi", kind)
            changes["hierarchy"] = _hierarchy.read_hierarchy(
                Path(changes["hierarchy"]), leaf=lambda text: plain.leaf_of(text, self.missing)
            )
        if unknown := sorted(changes.keys() - {field.name for field in dataclasses.fields(Column)}):
            known = [field.name for field in dataclasses.fields(Column)]
            raise InputError(f"A column has no {unknown[0]!r}.{nearest(unknown[0], known)} Known: {listing(known)}.")
        if old is None and "role" not in changes:
            raise InputError(f"The schema has no column {name!r} yet. Give the new column a role: {listing(ROLES)}.")
        new = Column(name, **changes) if old is None else dataclasses.replace(old, **changes)
        columns = [new if column.name == name else column for column in self.columns]
        return dataclasses.replace(self, columns=tuple(columns if old is not None else [*columns, new]))

    def without_column(self, name: str) -> Schema:
        """Return the schema without a column."""
        gone = self[name]
        return dataclasses.replace(self, columns=tuple(column for column in self.columns if column is not gone))

    @property
    def quasi(self) -> tuple[Column, ...]:
        return tuple(column for column in self.columns if column.role == "quasi")

    @property
    def sensitive(self) -> tuple[Column, ...]:
        return tuple(column for column in self.columns if column.role == "sensitive")

    @property
    def coded(self) -> tuple[Column, ...]:
        """The columns of a cell: quasi-identifiers first, then sensitive columns, each in the schema's order."""
        return self.quasi + self.sensitive

    def __getitem__(self, name: str) -> Column:
        for column in self.columns:
            if column.name == name:
                return column
        raise InputError(f"{self.source} has no column {name!r}.{nearest(name, [c.name for c in self.columns])}")

    def check_columns(self, names: Sequence[str], *, where: str, also: Collection[str] = ()) -> None:
        """Every column of a file must be declared, every quasi-identifier and sensitive column must be in it."""
        declared = {column.name for column in self.columns}
        for name in names:
            if name not in declared and name not in also:
                raise InputError(
                    f"{where}: column {name!r} is not declared in {self.source}."
                    f"{nearest(name, declared - set(names))} "
                    f'Declare it as [columns.{_toml_key(name)}] with role = "quasi", "other" …'
                )
        for column in self.coded:
            if column.name not in names:
                raise InputError(
                    f"{where}: the {column.role} column {column.name!r} declared in {self.source} is missing."
                    f"{nearest(column.name, names)} The file has: {listing(names)}."
                )

    def bind(self, observed: Mapping[str, Iterable[str]]) -> Schema:
        """The schema with the domain of every coded column fixed; `observed` holds the leaves that occur."""
        columns = tuple(
            column.bound(observed.get(column.name, ())) if column.role in ("quasi", "sensitive") else column
            for column in self.columns
        )
        return dataclasses.replace(self, columns=columns)


def _toml_key(name: str) -> str:
    return name if re.fullmatch(r"[A-Za-z0-9_-]+", name) else '"' + name.replace('"', '\\"') + '"'
