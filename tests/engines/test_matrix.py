"""What docs/engines.md says of commands, kinds and methods in each place: every cell is tried, and runs or is refused."""

from __future__ import annotations

import csv
import json
import runpy
import uuid
from collections.abc import Callable
from pathlib import Path
from typing import Any

import duckdb
import pyarrow.csv as arrow_csv
import pytest
from tests.conftest import ROOT
from tests.engines.conftest import CLUSTER
from tests.engines.test_engines import load_postgres

import dalenius as dl
from dalenius import datasets
from dalenius import releases as release
from dalenius.cli import app
from dalenius.criteria import KAnonymity
from dalenius.engines import Engine, Place, connect
from dalenius.engines import places as all_places
from dalenius.publishers.lattice import Lattice
from dalenius.publishers.mondrian import Mondrian
from dalenius.publishers.registry import PUBLISHERS, from_options
from dalenius.releases.opening import find_files
from dalenius.releases.registry import KINDS

pytestmark = pytest.mark.slow

WRITER = runpy.run_path(str(ROOT / "scripts" / "write_engines.py"))
PEOPLE = 300
Engines = Callable[[str], Engine]
PLACES = all_places()
HERE = PLACES[0]

# What a refusal says, by the reason that the page gives.
SAYS = {
    "needs an order of rows": "no order of rows",
    "is read from files": "A table of an engine can be a release of kind",
    "has several files": "cannot be one table",
}


@pytest.fixture(scope="module")
def hospital(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A table with releases of it, and a few targets."""
    folder = tmp_path_factory.mktemp("hospital")
    datasets.save_hospital(folder, PEOPLE, seed=3)
    table = dl.Table(folder / "patients.csv", dl.Schema.load(folder / "privacy.toml"))
    Lattice([KAnonymity(3)], suppression=0.05).publish(table).write(folder / "generalized.csv")
    Mondrian([KAnonymity(4)]).publish(table).write(folder / "second.csv")
    with (folder / "patients.csv").open(encoding="utf-8", newline="") as file:
        header, *rows = csv.reader(file)
    quasi = [header.index(column.name) for column in table.declared.quasi]
    targets = [[row[i] for i in quasi] for row in [header, *rows[:5]]]
    (folder / "targets.csv").write_text("\n".join(map(",".join, targets)) + "\n", encoding="utf-8")
    return folder


@pytest.fixture(scope="module")
def examples(hospital: Path) -> dict[str, str]:
    """A file of a release of each kind: made by a publisher's example, or else of generalized rows."""
    schema = dl.Schema.load(hospital / "privacy.toml")
    table = dl.Table(hospital / "patients.csv", schema)
    releases: dict[str, Any] = {}
    for method, publisher in PUBLISHERS.items():
        published = from_options(method, publisher.example.criteria, publisher.example.options).run(table)
        releases.setdefault(published.kind, published)
    rows = dl.read_release(hospital / "generalized.csv", schema).rows()
    assert rows is not None
    for kind in KINDS.keys() - releases.keys():
        releases[kind] = KINDS[kind].from_rows(rows)
    files = {}
    for kind, made in releases.items():
        name = hospital / (f"of {kind}" if KINDS[kind].file_names.count > 1 else f"of {kind}.csv")
        made.write(name)
        files[kind] = find_files(str(name))[1][0].name  # a release of several files is found by one of them
    return files


class Put:
    """Files of the hospital in a place: how they are named there, and the engine."""

    database: Path

    def __init__(self, hospital: Path, engines: Engines, request: pytest.FixtureRequest) -> None:
        self.hospital, self.engines, self.request = hospital, engines, request
        self.loaded: dict[tuple[str, str], str] = {}

    def url(self, place: Place) -> str:
        if place.engine == "postgres":
            return str(self.request.getfixturevalue("postgres_url"))
        if place.engine == "spark":
            self.engines("spark")
            return CLUSTER
        return f"duckdb://{self.database}" if place.is_table else "duckdb://"

    def engine(self, place: Place) -> Engine:
        return self.engines(place.engine) if place.engine != "duckdb" else connect(self.url(place))

    def source(self, file: str, place: Place) -> str:
        """A CSV file by its name there: the file itself, or a table that is made of it."""
        path = self.hospital / file
        if not place.is_table:
            return str(path)
        if (file, place.title) not in self.loaded:
            self.loaded[file, place.title] = self._load(path, place)
        return self.loaded[file, place.title]

    def _load(self, path: Path, place: Place) -> str:
        name = f"matrix_{path.name.partition('.')[0].replace('-', '_').replace(' ', '_')}"
        if place.engine == "postgres":
            with path.open(encoding="utf-8", newline="") as file:
                header, *rows = csv.reader(file)
            return load_postgres(self.url(place), name, dict.fromkeys(header, "text"), [tuple(row) for row in rows])
        if place.engine == "spark":
            spark: Any = self.engines("spark")
            with path.open(encoding="utf-8", newline="") as file:
                names = next(csv.reader(file))
            texts = arrow_csv.ConvertOptions(column_types=dict.fromkeys(names, "string"))
            spark._session.createDataFrame(arrow_csv.read_csv(path, convert_options=texts)).createOrReplaceTempView(
                name
            )
            return name
        with duckdb.connect(str(self.database)) as connection:
            connection.execute(f"CREATE TABLE {name} AS FROM read_csv('{path}', all_varchar = true, header = true)")
        return name


@pytest.fixture(scope="module")
def places(hospital: Path, engines: Engines, request: pytest.FixtureRequest) -> Put:
    return Put(hospital, engines, request)


@pytest.fixture
def put(places: Put, tmp_path: Path) -> Put:
    """The places, with a new database of DuckDB: as long as one connection has it open, no other may write."""
    places.database = tmp_path / "people.db"
    duckdb.connect(str(places.database)).close()
    places.loaded = {key: name for key, name in places.loaded.items() if not key[1].startswith("DuckDB")}
    return places


# How each command is tried: {file} is a file of the hospital in that place, ./file one that is read here.
COMMANDS = {
    "init": ["{patients.csv}", "-o", "new.toml"],
    "check": ["{generalized.csv}"],
    "split": ["{patients.csv}", "-o", "kept.csv", "--others", "others.csv"],
    "publish": ["{patients.csv}", "--k", "3", "--suppression", "0.05", "-o", "out.csv"],
    "lattice": ["{patients.csv}", "--k", "3"],
    "attack": ["{generalized.csv}", "--truth", "{patients.csv}", "--adversary", "random-worlds"],
    "compose": ["{generalized.csv}", "{second.csv}", "--targets", "./targets.csv"],
    "audit": ["{generalized.csv}", "--truth", "{patients.csv}"],
    "compare": ["{generalized.csv}", "{second.csv}", "--truth", "{patients.csv}", "--queries", "20"],
    "frontier": ["{patients.csv}", "--method", "mondrian", "--k", "3,5", "--jobs", "1", "--resume", "kept"],
    "channel": ["--release", "{generalized.csv}"],
    "guide": [],
    "reproduce": [],
    "demo": [],
}
NO_SCHEMA = {"init", "split", "guide", "reproduce", "demo"}
NO_JSON = {"init", "split", "demo"}
# Of a file: its name, and what is known of single rows of it.
OF_A_FILE = {"run", "release", "releases", "table", "source", "earlier", "later", "name", "rows", "right_group"}


def without(document: Any, keys: set[str]) -> Any:
    """A document without what differs between a file and a table."""
    if isinstance(document, dict):
        return {key: without(value, keys) for key, value in document.items() if key not in keys}
    return [without(one, keys) for one in document] if isinstance(document, list) else document


def tried(command: str, place: Place, put: Put, folder: Path, *, engine: bool = True) -> tuple[int, Path]:
    """Run a command with its rows in a place; its exit code, and where its JSON is."""
    folder.mkdir()
    words = [command]
    for word in COMMANDS[command]:
        if word.startswith("{"):
            word = put.source(word.strip("{}"), place)
        elif word.startswith("./"):
            word = str(put.hospital / word)
        words.append(word)
    words += [] if command in NO_SCHEMA else ["--schema", str(put.hospital / "privacy.toml")]
    words += [] if command in NO_JSON else ["--json", "found.json"]
    words += ["--engine", put.url(place)] if engine else []
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        return app.run(words), folder / "found.json"


def test_every_command_is_tried() -> None:
    assert set(COMMANDS) == set(WRITER["commands"]())


@pytest.mark.parametrize("place", PLACES, ids=lambda place: place.title)
@pytest.mark.parametrize("command", COMMANDS)
def test_commands(command: str, place: Place, put: Put, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Each runs with the same result as on files, or takes no --engine."""
    refused = WRITER["commands"]()[command]
    code, found = tried(command, place, put, tmp_path / "there")
    err = capsys.readouterr().err
    if refused:
        assert (code, "No such option" in err) == (2, True), err
        if not WRITER["refused_command"](command, place):
            assert tried(command, place, put, tmp_path / "without", engine=False)[0] == 0, capsys.readouterr().err
        return
    assert code == 0, err
    if command in NO_JSON:
        return
    code, expected = tried(command, HERE, put, tmp_path / "here")
    assert code == 0
    mine, theirs = (without(json.loads(file.read_text(encoding="utf-8")), OF_A_FILE) for file in (found, expected))
    assert mine == theirs


@pytest.mark.parametrize("place", PLACES, ids=lambda place: place.title)
@pytest.mark.parametrize("kind", KINDS)
def test_kinds(kind: str, place: Place, put: Put, examples: dict[str, str]) -> None:
    """A release of each kind is read there, or refused."""
    schema, refused = dl.Schema.load(put.hospital / "privacy.toml"), WRITER["refused_kind"](KINDS[kind], place)
    source = put.source(examples[kind], place)
    engine = put.engine(place)
    if refused:
        with pytest.raises(dl.InputError, match=SAYS[refused]):
            release.read(source, schema, kind=kind, engine=engine)
        return
    found, expected = (
        release.read(where, schema, kind=kind, engine=reader)
        for where, reader in ((source, engine), (put.source(examples[kind], HERE), put.engine(HERE)))
    )
    assert found.kind == kind
    for evidence in ("classes", "counts"):
        mine, theirs = getattr(found, evidence)(), getattr(expected, evidence)()
        assert (mine is None) == (theirs is None)
        if evidence == "classes" and mine is not None:
            assert (mine.people, mine.groups, mine.suppressed) == (theirs.people, theirs.groups, theirs.suppressed)


@pytest.mark.parametrize("place", PLACES, ids=lambda place: place.title)
@pytest.mark.parametrize("method", PUBLISHERS)
def test_methods(method: str, place: Place, put: Put, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each method publishes rows that are there, into a file and into a table, or is refused."""
    monkeypatch.chdir(tmp_path)  # the sidecar of a table is written into the current folder
    schema = dl.Schema.load(put.hospital / "privacy.toml")
    source = put.source("patients.csv", place)
    # A file, too, is published with a database at hand, so that the release can become a table.
    engine = put.engine(PLACES[1] if place is HERE else place)
    table = dl.Table(source, schema, engine=engine)
    assert table.rows.numbered == place.has_order
    example = PUBLISHERS[method].example
    publisher = from_options(method, example.criteria, example.options)
    refused = WRITER["refused_publisher"](PUBLISHERS[method], place)
    if refused:
        with pytest.raises(dl.InputError, match=SAYS[refused]):
            publisher.run(table)
        return
    published = publisher.run(table)
    published.write(tmp_path / "out.csv" if len(published.files(Path("x"))) == 1 else tmp_path / "out")
    assert (tmp_path / "out.csv").exists() or list(tmp_path.glob("out.*.csv"))
    made = f"made_{method.replace('-', '_')}_{uuid.uuid4().hex}"  # Spark's tables stay on disk after a run
    name = f"table:{made}"
    refused = WRITER["refused_table"](PUBLISHERS[method])
    if refused:
        with pytest.raises(dl.InputError, match=SAYS[refused]):
            published.write(name)
        return
    published.write(name)
    classes = release.read(name, schema, kind=published.kind, engine=engine).classes()
    assert classes is not None
    assert classes.people == PEOPLE
    if place.engine == "spark":
        spark: Any = engine
        spark._session.sql(f"DROP TABLE {made}")
