"""Guessing a schema from a table, for `dalenius init`: every guess is marked as one, for a person to confirm."""

from __future__ import annotations

import json
import os
import re
from dataclasses import dataclass
from pathlib import Path

from dalenius.engine import Engine, Rows, Summary
from dalenius.errors import InputError

# Words in a column's name, most telling first.
_IDENTIFIER = frozenset(
    [
        "id",
        "identifier",
        "name",
        "firstname",
        "lastname",
        "surname",
        "forename",
        "email",
        "mail",
        "phone",
        "telephone",
        "mobile",
        "ssn",
        "passport",
        "mrn",
        "iban",
        "account",
        "address",
        "street",
        "username",
        "user",
        "nhs",
        "bsn",
        "key",
        "uuid",
    ]
)
_SENSITIVE = (
    "hiv",
    "disease",
    "diagnosis",
    "condition",
    "illness",
    "icd",
    "disorder",
    "treatment",
    "medication",
    "drug",
    "religion",
    "orientation",
    "vote",
    "party",
    "crime",
    "offence",
    "salary",
    "income",
    "wage",
    "debt",
    "credit",
    "occupation",
    "cause",
    "outcome",
    "result",
)
_CODES = frozenset(["zip", "zipcode", "postcode", "postal", "plz", "code", "ward", "tract"])
MAX_LISTED = 400  # values of a domain that are written out
WIDTHS = (5, 10, 20, 40)


@dataclass(frozen=True, slots=True)
class _Guess:
    role: str
    why: str
    lines: tuple[str, ...] = ()


def guess_schema(path: Path, *, engine: Engine, beside: Path) -> str:
    """The text of a commented `privacy.toml` for a table; `beside` is the folder that the file will stand in."""
    rows = engine.open(path)
    summaries = {name: rows.summary(name, limit=MAX_LISTED + 1) for name in rows.columns}
    folder, hierarchies = _hierarchies(path, rows)
    identifiers = {name: why for name, s in summaries.items() if (why := _identifier(name, s))}
    free = [name for name in rows.columns if name not in identifiers]
    if not free:
        raise InputError(f"{rows.name}: every column looks like an identifier; there is nothing to publish.")
    sensitive, why = _sensitive(free, summaries)
    text = [
        f"# The schema of {path.name}, guessed by `dalenius init`. Check every line marked GUESS:",
        "# the numbers are only as good as the roles. Roles:",
        "#   identifier  names a person by itself; never published",
        "#   quasi       an attacker may know it about a person; it is generalized",
        "#   sensitive   what must not be learned about a person",
        "#   other       neither; published as it is",
        "",
        f"sensitive = {_string(sensitive)}    # GUESS: {why}",
        'missing = [""]          # texts that mean "no value", besides empty ones',
        'suppressed = ["*"]      # texts that mean "anything" in a release (sdcMicro: ["NA", ""])',
    ]
    if folder is not None:
        relative = os.path.relpath(folder, beside)
        text.append(f"hierarchies = {_string(relative)}    # found beside the table: *_hierarchy_<column>.csv")
    for name in rows.columns:
        found = _column(name, summaries[name], identifiers.get(name), name == sensitive, name in hierarchies)
        text += [
            "",
            f"[columns.{_key(name)}]",
            f'role = "{found.role}"    # GUESS: {found.why}',
            *found.lines,
        ]
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


def _identifier(name: str, summary: Summary) -> str | None:
    share = summary.distinct / max(summary.rows, 1)
    if summary.rows >= 20 and summary.distinct == summary.rows and summary.missing == 0:
        return "every row has another value"
    if set(_words(name)) & _IDENTIFIER and share > 0.5:
        return "its name, and most rows have a value of their own"
    return None


def _sensitive(names: list[str], summaries: dict[str, Summary]) -> tuple[str, str]:
    for word in _SENSITIVE:
        for name in names:
            if word in _words(name):
                return name, "its name"
    several = [name for name in names if 2 <= summaries[name].distinct <= 200]
    return (several or names)[-1], "no name says it; the last column with few values"


def _column(name: str, summary: Summary, identifier: str | None, sensitive: bool, has_file: bool) -> _Guess:
    integer = summary.not_integer == 0 and summary.missing < summary.rows
    kind = ('type = "integer"',) if integer and not identifier else ()
    if identifier:
        return _Guess("identifier", identifier)
    if sensitive:
        note = () if has_file else ("# domain = […]         # every possible value; noisy counts need it",)
        return _Guess("sensitive", "see above", kind + note)
    if not integer and not has_file and summary.rows >= 20 and summary.distinct > 0.5 * summary.rows:
        return _Guess("other", "most rows have a value of their own; if an attacker may know it, say quasi")
    also = "could be sensitive, too" if set(_words(name)) & set(_SENSITIVE) else "an attacker may know it"
    if has_file:
        return _Guess("quasi", also, kind)
    listed = len(summary.commonest) <= MAX_LISTED
    if integer and summary.distinct > 10:
        values = [int(text) for text in summary.commonest]
        domain = (
            (f"domain = {{ min = {min(values)}, max = {max(values)} }}    # GUESS: the range of the data",)
            if listed
            else ()
        )
        return _Guess("quasi", also, (*kind, f"intervals = {list(WIDTHS)}    # GUESS", *domain))
    if _looks_like_code(name, summary):
        domain = (f"domain = {_array(summary.commonest)}    # GUESS: the values of the data",) if listed else ()
        return _Guess("quasi", also, ('mask = "right"    # GUESS: codes of one length', *domain))
    return _Guess("quasi", also, (*kind, 'hierarchy = "suppress"    # GUESS: published as it is, or not at all'))


def _looks_like_code(name: str, summary: Summary) -> bool:
    digits = all(re.fullmatch(r"[0-9A-Za-z]+", text) for text in summary.commonest)
    named = bool(set(_words(name)) & _CODES)
    numeric = all(text.isdigit() for text in summary.commonest)
    one_length = summary.shortest == summary.longest > 2
    return digits and one_length and summary.distinct >= 3 and (named or numeric)


def _hierarchies(path: Path, rows: Rows) -> tuple[Path | None, set[str]]:
    """The folder beside the table with the most hierarchy files named after its columns."""
    best: tuple[Path | None, set[str]] = (None, set())
    parent = path.parent
    for folder in [parent, *sorted(child for child in parent.iterdir() if child.is_dir())]:
        try:
            files = [file.stem for file in folder.glob("*_hierarchy_*.csv")]
        except OSError:
            continue
        found = {name for name in rows.columns if sum(stem.endswith(f"_hierarchy_{name}") for stem in files) == 1}
        if len(found) > len(best[1]):
            best = (folder, found)
    return best


def _words(name: str) -> list[str]:
    return [word.lower() for word in re.findall(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[0-9]+", name)]


def _string(text: str) -> str:
    return json.dumps(text, ensure_ascii=False)


def _key(name: str) -> str:
    return name if re.fullmatch(r"[A-Za-z0-9_-]+", name) else _string(name)


def _array(texts: tuple[str, ...]) -> str:
    return "[" + ", ".join(_string(text) for text in sorted(texts)) + "]"
