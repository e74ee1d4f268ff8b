"""Registries: parts by name, our own and those that installed packages add with an entry point."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, Generic, TypeVar

from dalenius.errors import InputError

__all__ = ["Part", "Registry"]

Part = TypeVar("Part")


class Registry(Mapping[str, Part], Generic[Part]):
    """Parts by name, in a fixed order: our own first, then those of plug-ins.

    A plug-in is an installed package with an entry point in `group`, such as `dalenius.criteria`. It is loaded when somebody first
    looks into the registry.
    """

    def __init__(
        self,
        group: str,
        parts: Iterable[Part],
        name: Callable[[Part], str],
        *,
        base: type | None = None,
        required: Sequence[str] = (),
    ) -> None:
        """`base` is the class that every part inherits from, and `required` are the attributes that it must have."""
        self.group = group
        self._base, self._required = base, tuple(required)
        self._name = name
        self._parts: dict[str, Part] = {}
        self._plugins_loaded = False
        for part in parts:
            self._insert(part, "")

    def add(self, part: Part) -> Part:
        """Register a part, as a plug-in does, and return it. A name that is taken is refused."""
        self._load_plugins()
        self._insert(part, "")
        return part

    def remove(self, name: str) -> None:
        """Remove a part. Tests use this to clean up."""
        del self._parts[name]

    def __getitem__(self, name: str) -> Part:
        self._load_plugins()
        return self._parts[name]

    def __iter__(self) -> Iterator[str]:
        self._load_plugins()
        return iter(self._parts)

    def __len__(self) -> int:
        self._load_plugins()
        return len(self._parts)

    def _insert(self, part: Part, source: str) -> None:
        name = self._name(part)
        if name in self._parts:
            raise InputError(f"{source or self.group}: the name {name!r} is taken by {_described(self._parts[name])}.")
        self._parts[name] = part

    def _load_plugins(self) -> None:
        if self._plugins_loaded:
            return
        self._plugins_loaded = True
        from importlib.metadata import entry_points

        before = dict(self._parts)
        try:
            for entry in entry_points(group=self.group):
                source = f"The plug-in {entry.name!r} ({entry.value})"
                part = _loaded(entry, source)
                self._check(part, source)
                self._insert(part, source)
        except InputError:  # the next caller gets the same error, not half a registry
            self._plugins_loaded, self._parts = False, before
            raise

    def _check(self, part: Any, source: str) -> None:
        """Refuse a part of a plug-in that does not belong in this registry, or lacks something."""
        if self._base is not None and not (isinstance(part, type) and issubclass(part, self._base)):
            raise InputError(f"{source} must be a class derived from {_described(self._base)}. Fix or uninstall it.")
        missing = [name for name in self._required if getattr(part, name, None) in (None, "")]
        missing += sorted(getattr(part, "__abstractmethods__", ()))
        if missing:
            raise InputError(f"{source} lacks {', '.join(missing)}. Fix or uninstall it.")


def _loaded(entry: Any, source: str) -> Any:
    try:
        return entry.load()
    except (Exception, SystemExit) as error:  # an exit code of 0 would say that a policy is satisfied
        raise InputError(f"{source} cannot be loaded: {type(error).__name__}: {error}. Fix or uninstall it.") from error


def _described(part: object) -> str:
    kind = part if isinstance(part, type) else type(part)
    return f"{kind.__module__}.{kind.__qualname__}"
