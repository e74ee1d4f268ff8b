"""UCI Adult as the ARX project prepared it: 30,162 people, nine columns, with hierarchies.

Adult is CC BY 4.0 (Becker and Kohavi, 1996, doi:10.24432/C5XW20). It is not part of this package: it is looked for
in a folder that is named, in `$DALENIUS_DATA`, in the cache, and else downloaded into the cache and checked.
"""

from __future__ import annotations

import hashlib
import http.client
import os
import urllib.request
from pathlib import Path

from dalenius.config import parse
from dalenius.errors import InputError, file_error, listing
from dalenius.output import write_texts
from dalenius.schema import Schema
from dalenius.table import Table

URL = "https://raw.githubusercontent.com/arx-deidentifier/arx/master/data/"
# SHA-256 of each file with line ends made "\n" and blank ends stripped: checkouts differ in these, and only in these.
CHECKSUMS = {
    "adult.csv": "b54c6df09bc3b0f9b78458c47aa7c6bfb3da85e9c4f64bd8a7388796cd41003f",
    "adult_hierarchy_age.csv": "d3e9b9674ec288b84216542d225fc5fa612a7a58382264bad12478e7925364b9",
    "adult_hierarchy_education.csv": "2a57086787d9f7c22393ce2e4bbf7dabacf5c585d2d6c75e96c071e4e4cc4566",
    "adult_hierarchy_marital-status.csv": "28ba6d840d1e8b0f626a5a9d3a325d2bfa977199650839179d275246f6f71bd7",
    "adult_hierarchy_native-country.csv": "696d3b53973311c096b33f98bb56e526016910b1a1cd5a1e904cb799d1077023",
    "adult_hierarchy_occupation.csv": "3743da2f6f5bae2d597f10407a26b76d0d4e0b5efa28c76aac10f186df7a7610",
    "adult_hierarchy_race.csv": "0874d9045f3fbf44b600fd71c37c3b4a0ed4f1ffb54c066bec2e2c8dcacaad44",
    "adult_hierarchy_salary-class.csv": "cb6163c5dc6f3a5288c7a8f57ee3f84fc5614f2fd54b3868a765557c8e75ab48",
    "adult_hierarchy_sex.csv": "5a9b62883f9a7f2eafd05521bf8fc02061ea0057c912cacf1c56273f6825724d",
    "adult_hierarchy_workclass.csv": "5ea45c8b22ac675a9c247f8b18d0ad2a3ede8fff5d3d958262c69408920d35c8",
}
COLUMNS = (
    "sex",
    "age",
    "race",
    "marital-status",
    "education",
    "native-country",
    "workclass",
    "occupation",
    "salary-class",
)


def adult(path: str | Path | None = None, *, sensitive: str = "occupation") -> Table:
    """Adult with one sensitive column and the other eight as quasi-identifiers.

    `path` is a folder that holds `adult.csv` and the `adult_hierarchy_*.csv` files, or whose subfolder `adult` does.
    Without it: `$DALENIUS_DATA`, then the cache, then a download.
    """
    if sensitive not in COLUMNS:
        raise InputError(f"Adult has no column {sensitive!r}. It has {listing(COLUMNS)}.")
    folder = _folder(None if path is None else Path(path))
    return Table(folder / "adult.csv", schema(folder, sensitive))


def schema(folder: Path, sensitive: str) -> Schema:
    """Adult's schema with the hierarchies of a folder."""
    columns = {
        name: {
            "role": "sensitive" if name == sensitive else "quasi",
            "type": "integer" if name == "age" else "category",
        }
        for name in COLUMNS
    }
    return parse({"hierarchies": ".", "columns": columns}, folder=folder, source="the schema of Adult")


def _folder(path: Path | None) -> Path:
    chosen = path or (Path(os.environ["DALENIUS_DATA"]) if os.environ.get("DALENIUS_DATA") else None)
    if chosen is not None:
        for folder in (chosen, chosen / "adult"):
            if all((folder / name).is_file() for name in CHECKSUMS):
                return folder
        who = "path" if path is not None else "$DALENIUS_DATA"
        raise InputError(
            f"{who} is {str(chosen)!r}, and neither it nor its subfolder 'adult' holds {listing(CHECKSUMS)}."
        )
    folder = cache_folder() / "adult"
    if not all((folder / name).is_file() for name in CHECKSUMS):
        _download(folder)
    return folder


def cache_folder() -> Path:
    """`$XDG_CACHE_HOME/dalenius`, by default `~/.cache/dalenius`."""
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "dalenius"


def _download(folder: Path) -> None:
    """Fetch every file, check each, and only then keep them."""
    texts: dict[Path, str] = {}
    for name, checksum in CHECKSUMS.items():
        try:
            with urllib.request.urlopen(URL + name, timeout=60) as answer:
                text = answer.read().decode("utf-8")
        except (OSError, http.client.HTTPException, UnicodeDecodeError) as error:  # URLError is an OSError
            raise InputError(
                f"Cannot download {name} from {URL}: {error}. "
                "Set $DALENIUS_DATA to a folder that holds it, or pass path=…"
            ) from None
        if digest(text) != checksum:
            raise InputError(
                f"{name} from {URL} is not the file it should be (checksum differs). Nothing was kept; "
                "set $DALENIUS_DATA to a folder that holds Adult, or pass path=…"
            )
        texts[folder / name] = text
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise file_error(error, folder, "make the folder") from None
    write_texts(texts)


def digest(text: str) -> str:
    """The checksum of a text file, whatever its line ends."""
    return hashlib.sha256(text.replace("\r\n", "\n").strip().encode()).hexdigest()
