"""Guessing a schema from a table, for `dalenius init`: every guess is marked as one, for a person to confirm.

A wrong guess must fail on the safe side: a column that nobody can place is one that an attacker may know.
"""

from __future__ import annotations

import os
import re
import tomllib
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from dalenius.config import parse
from dalenius.engines import Engine, Source, Summary, connect, default, source_name
from dalenius.errors import DaleniusError, InputError
from dalenius.hierarchy import Hierarchy, read_hierarchy
from dalenius.output import check_writable, write_texts
from dalenius.reprs import short_repr
from dalenius.schema import Schema
from dalenius.schema_text import toml_key, toml_string

__all__ = ["Proposal", "check_new", "guess_schema", "init"]

# Words in a column's name; of the sensitive ones the most telling stand first.
_NAMES_A_PERSON = """
    id identifier name firstname lastname surname forename email mail phone telephone mobile ssn passport mrn iban
    account address street username user nhs bsn key uuid person patient
"""
_ORDINARY = frozenset(("first", "last", "full", "family", "given", "middle"))
_CALLED = "name names firstname lastname surname forename vorname nachname nom prenom email mail"
_NAMES = _ORDINARY | frozenset(_CALLED.split())
_NUMBERS_A_PERSON = frozenset(("no", "nr", "num", "number", "nummer", "numero", "personnel"))
_IS_SENSITIVE = """
    hiv disease diagnosis condition illness icd disorder treatment medication drug religion orientation vote party crime
    offence salary income wage debt credit occupation cause outcome result
"""
_IDENTIFIER = frozenset(_NAMES_A_PERSON.split())
_SENSITIVE = tuple(_IS_SENSITIVE.split())
_CODES = frozenset(("zip", "zipcode", "postcode", "postal", "plz", "code", "ward", "tract"))
_NO_VALUE = frozenset(("NA", "N/A", "n/a", "NaN", "nan", "null", "NULL", "None", "?", "-", "."))
_DECIMAL = r"[+-]?\d+[.,]\d+|[+-]?\d+"
_DATE = r"\d{4}-\d{1,2}-\d{1,2}|\d{1,2}([./-])\d{1,2}\1(\d{2}|\d{4})"
MAX_LISTED = 400  # values of a domain that are written out
MAX_DOMAIN = 100_000  # values of a domain that { min, max } may stand for in a guess


@dataclass(frozen=True, slots=True)
class _Guess:
    role: str
    why: str
    lines: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, eq=False)
class _Look:
    """What a look at a table shows: a summary of each column, and the guess about it."""

    name: str
    summaries: dict[str, Summary]
    sensitive: str
    why_sensitive: str
    guesses: dict[str, _Guess]
    hierarchies: dict[str, Path]

    @classmethod
    def at(cls, source: Source, engine: Engine) -> _Look:
        rows = engine.open(source)
        summaries = rows.summaries(limit=MAX_LISTED)
        path = Path(source) if isinstance(source, str | Path) else None
        hierarchies = {} if path is None else _hierarchies(path, summaries)
        identifiers = {name: why for name, summary in summaries.items() if (why := _identifier(name, summary))}
        free = [name for name in rows.columns if name not in identifiers]
        if len(free) < 2:
            raise InputError(
                f"{rows.name}: besides identifiers there must be a sensitive column and one that an attacker may know; "
                f"found {len(free)}. Is the first line a header?"
            )
        sensitive, why = _sensitive(free, summaries)
        guesses = {
            name: _column(name, summaries[name], identifiers.get(name), name == sensitive, name in hierarchies)
            for name in rows.columns
        }
        return cls("a data frame" if path is None else path.name, summaries, sensitive, why, guesses, hierarchies)

    def text(self, folder: Path) -> str:
        """Return the text of a commented `privacy.toml` in this folder."""
        text = [
            f"# The schema of {_plain(self.name)}, guessed by `dalenius init`. Check every line marked GUESS:",
            "# the numbers are only as good as the roles. Roles:",
            "#   identifier  names a person by itself; never published",
            "#   quasi       an attacker may know it about a person; it is generalized",
            "#   sensitive   what must not be learned about a person",
            "#   other       neither; published as it is",
            "",
            f"sensitive = {toml_string(self.sensitive)}    # GUESS: {self.why_sensitive}",
            'missing = [""]          # texts that mean "no value", besides empty ones',
            *_marks(self.summaries),
            "missing_is_secret = false    # true: that a sensitive value is missing must not be learned, either",
            'suppressed = ["*"]      # texts that mean "anything" in a release (sdcMicro: ["NA", ""])',
        ]
        for name, guess in self.guesses.items():
            lines = list(guess.lines)
            if name in self.hierarchies and guess.role != "identifier":
                file = os.path.relpath(self.hierarchies[name], folder)
                lines.append(f"hierarchy = {toml_string(file)}    # GUESS: found beside the table")
            text += ["", f"[columns.{toml_key(name)}]", f'role = "{guess.role}"    # GUESS: {guess.why}', *lines]
        text += [
            "",
            "[prior]                 # Dirichlet parameters of the Bayesian adversaries",
            "alpha = 1.0",
            "beta = 1.0",
            "",
            "[policy]                # thresholds of the verdict, for example:",
            "# min_k = 5",
            "",
        ]
        return "\n".join(text)

    def schema(self, folder: Path) -> Schema:
        """Return the schema that the text declares, which shows that it can be read."""
        return parse(tomllib.loads(self.text(folder)), folder=folder, source="the guessed schema")


@dataclass(frozen=True, slots=True, eq=False)
class Proposal:
    """A schema that was guessed from a table. A person must check every guess before the numbers mean anything.

    `schema` can be edited, as in `proposal.schema.with_roles(age="other")`. `save` writes the guesses as they are, with comments.
    """

    source: Source
    schema: Schema
    path: Path | None  # where it was saved
    _look: _Look

    def __repr__(self) -> str:
        title = f"Proposal of a schema for {self.name}. Check every guess:"
        return short_repr(title, *(f"{name}: {guess}" for name, guess in self.guesses.items()))

    @property
    def name(self) -> str:
        """The table: its path, or that it is a data frame."""
        return source_name(self.source)

    @property
    def guesses(self) -> dict[str, str]:
        """The role that was guessed for each column, and why."""
        why = {name: guess.why for name, guess in self._look.guesses.items()}
        why[self._look.sensitive] = self._look.why_sensitive
        return {name: f"{guess.role} ({why[name]})" for name, guess in self._look.guesses.items()}

    @property
    def text(self) -> str:
        """The text of a commented `privacy.toml`, in the folder where it was saved, else in the current one."""
        return self._look.text(Path() if self.path is None else self.path.parent)

    def save(self, path: str | Path) -> Proposal:
        """Write the commented `privacy.toml`, every guess marked. Never overwrites a file."""
        output = Path(path)
        check_new(output)
        schema = self._look.schema(output.parent)
        write_texts({output: self._look.text(output.parent)}, new=True)
        return Proposal(self.source, schema, output, self._look)

    def to_document(self) -> dict[str, Any]:
        """The guess as JSON has it."""
        path = None if self.path is None else str(self.path)
        return {"table": self.name, "schema": path, "text": self.text}


def check_new(output: Path) -> None:
    """Refuse a file that is there already, before the work is done."""
    if output.is_symlink() or output.exists():
        raise InputError(f"{output} already exists and is not overwritten. Name another file with -o, or remove it.")
    check_writable(output)


def init(source: Source, output: Path | None = None, *, engine: Engine | str | None = None) -> Proposal:
    """Guess the schema of a table, a file or a data frame, every guess marked. With `output`, write it to a new file.

    >>> import pyarrow as pa
    >>> frame = pa.table({"age": [34, 35, 34, 61], "disease": ["Flu", "Flu", "Pox", "Flu"]})
    >>> init(frame)
    <Proposal of a schema for the data frame. Check every guess:
      age: quasi (an attacker may know it)
      disease: sensitive (its name)>
    >>> init(frame).schema.with_column("age", intervals=[10, 20])["age"]
    <Column age: quasi, integer, intervals of 10, 20>
    """
    if output is not None:
        check_new(output)
    connected = default() if engine is None else connect(engine) if isinstance(engine, str) else engine
    look = _Look.at(source, connected)
    proposal = Proposal(source, look.schema(Path()), None, look)
    return proposal if output is None else proposal.save(output)


def guess_schema(path: Path, *, engine: Engine, beside: Path) -> str:
    """Return the text of a commented `privacy.toml` for a table; `beside` is the folder that the file will stand in."""
    look = _Look.at(path, engine)
    look.schema(beside)
    return look.text(beside)


def _identifier(name: str, summary: Summary) -> str | None:
    """By its name, or by values such as P00017: never a number, a date or a text, which an attacker may know."""
    share = summary.distinct / max(summary.rows, 1)
    if set(_words(name)) & _IDENTIFIER and share >= 0.5:
        return "its name, and most rows have a value of their own"
    if set(_words(name)) <= _NAMES and not set(_words(name)) <= _ORDINARY and summary.distinct >= 20:
        return "its name"
    words = set(_words(name))
    if words & _NUMBERS_A_PERSON and not words & set(_SENSITIVE) and summary.distinct == summary.rows >= 20:
        return "its name, and every row has a value of its own"
    counter = all(re.fullmatch(r"[A-Za-z]{1,4}[-_]?[0-9]{2,}", text) for text in summary.texts)
    if counter and summary.rows >= 20 and summary.distinct == summary.rows and not set(_words(name)) & _CODES:
        return "every row has another code"
    return None


def _sensitive(names: list[str], summaries: dict[str, Summary]) -> tuple[str, str]:
    for word in _SENSITIVE:
        for name in names:
            if word in _words(name):
                return name, "its name"
    several = [name for name in names if 2 <= summaries[name].distinct <= 200]
    return (several or names)[-1], "no name says it; the last column with few values"


def _column(name: str, summary: Summary, identifier: str | None, sensitive: bool, has_file: bool) -> _Guess:
    if identifier:
        return _Guess("identifier", identifier)
    integer = summary.not_integer == 0 and summary.distinct > 0
    kind = ('type = "integer"',) if integer else ()
    if sensitive:
        note = () if has_file else ("# domain = […]         # every possible value; noisy counts need it",)
        return _Guess("sensitive", "see above", kind + note)
    also = "could be sensitive, too" if set(_words(name)) & set(_SENSITIVE) else "an attacker may know it"
    if integer and summary.rows >= 20 and summary.distinct == summary.rows:
        also += "; every row has another number: is it an identifier?"
    if has_file:
        return _Guess("quasi", also, kind)
    if _looks_like_code(name, summary, integer):
        return _Guess("quasi", also, _mask(summary))
    if integer and summary.distinct > 10:
        return _Guess("quasi", also, kind + _intervals(summary))
    return _Guess("quasi", also, (*kind, f'hierarchy = "suppress"    # GUESS: {_whole(summary, integer)}'))


def _is_listed(summary: Summary) -> bool:
    """Whether the summary names every value."""
    return 0 < summary.distinct <= MAX_LISTED


def _mask(summary: Summary) -> tuple[str, ...]:
    """The lines of a column of codes, whose last characters are masked."""
    listed = _is_listed(summary)
    domain = (f"domain = {_array(summary.texts)}    # GUESS: the values of the data",) if listed else ()
    return ('mask = "right"    # GUESS: codes of one length', *domain)


def _intervals(summary: Summary) -> tuple[str, ...]:
    """The lines of a column of numbers, which are published as ranges."""
    values = [int(float(text)) for text in summary.texts]
    low, high = min(values), max(values)
    lines = [f"intervals = {_widths(high - low)}    # GUESS"]
    if _is_listed(summary) and high - low < MAX_DOMAIN:
        lines.append(f"domain = {{ min = {low}, max = {high} }}    # GUESS: the range of the data")
    return tuple(lines)


def _whole(summary: Summary, integer: bool) -> str:
    """What is to be said of a column whose values are published as they are, or not at all."""
    whole = "published as it is, or not at all"
    texts = [text for text in summary.texts if text]
    if summary.texts and all(re.fullmatch(_DATE, text) for text in texts):
        return whole + "; of a date a hierarchy file (day, month, year) keeps more"
    if not integer and summary.texts and all(re.fullmatch(_DECIMAL, text) for text in texts):
        return whole + "; round decimals to whole numbers, or write a hierarchy file"
    return whole


def _widths(span: int) -> list[int]:
    """Four widths that nest, the first a small part of the range."""
    first = 5
    while span > 80 * first:
        first *= 10
    return [first, 2 * first, 4 * first, 8 * first]


def _looks_like_code(name: str, summary: Summary, integer: bool) -> bool:
    """Codes of one length: by the name, or by leading zeros that no number has."""
    plain = all(re.fullmatch(r"[0-9A-Za-z]+", text) for text in summary.texts)
    is_called_code = bool(set(_words(name)) & _CODES)
    digits = all(text.isdigit() for text in summary.texts)
    one_length = summary.shortest == summary.longest > 2
    return plain and one_length and summary.distinct >= 3 and (is_called_code or (digits and not integer))


def _marks(summaries: dict[str, Summary]) -> list[str]:
    """A reminder of texts that often mean that there is no value."""
    marks = sorted({text for summary in summaries.values() for text in summary.texts if text in _NO_VALUE})
    if not marks:
        return []
    return [
        f"# GUESS: do {', '.join(map(toml_string, marks))} mean that there is no value? Then list them under missing."
    ]


def _hierarchies(path: Path, summaries: dict[str, Summary]) -> dict[str, Path]:
    """Files `*_hierarchy_<column>.csv` in the table's folder, or in one below it, that cover the values."""
    for folder in [path.parent, *sorted(child for child in path.parent.iterdir() if child.is_dir())]:
        fitting = {}
        try:
            files = sorted(folder.glob("*_hierarchy_*.csv"))
        except OSError:
            continue
        for name, summary in summaries.items():
            matching = [file for file in files if file.stem.endswith(f"_hierarchy_{name}")]
            if len(matching) == 1 and _covers(matching[0], summary):
                fitting[name] = matching[0]
        if fitting:
            return fitting
    return {}


def _covers(file: Path, summary: Summary) -> bool:
    try:
        tree: Hierarchy = read_hierarchy(file)
    except DaleniusError:
        return False
    leaves = {leaf.lstrip("0") for leaf in tree.leaves}
    return all(text.lstrip("0").removesuffix(".0") in leaves or text in tree.leaves for text in summary.texts)


def _words(name: str) -> list[str]:
    return [word.lower() for word in re.findall(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[0-9]+", name)]


def _plain(text: str) -> str:
    """A text that cannot end the comment it stands in."""
    return "".join(char if char.isprintable() else "?" for char in text)


def _array(texts: tuple[str, ...]) -> str:
    return "[" + ", ".join(map(toml_string, texts)) + "]"
