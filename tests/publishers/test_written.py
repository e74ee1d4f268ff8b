"""What publish wrote, read back from disk: it satisfies what was asked, and nothing that should stay is lost."""

from __future__ import annotations

import csv
import hashlib
import json
from fractions import Fraction
from pathlib import Path

import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import dalenius as dl
from dalenius.errors import InputError
from dalenius.publishers.lattice import Lattice, PublishedLattice
from dalenius.releases import GroupedRelease
from tests import oracle
from tests.criteria.models import theirs
from tests.oracle import Model
from tests.publishers.small import TABLES, Small, make


def rows_of(path: Path) -> list[dict[str, str]]:
    """The file as texts, by readers other than ours; null is empty."""
    if path.suffix == ".parquet":
        return [{name: value or "" for name, value in row.items()} for row in pq.read_table(path).to_pylist()]
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def hidden_of(rows: list[dict[str, str]], quasi: list[str], marks: tuple[str, ...]) -> set[int]:
    """The suppressed rows: every quasi cell is a mark, unless that holds for all of them."""
    hidden = {i for i, row in enumerate(rows) if all(row[name] in marks for name in quasi)}
    return set() if len(hidden) == len(rows) else hidden


def check(published: PublishedLattice, path: Path, models: list[Model], naive: oracle.Lattice) -> None:
    """Read the file twice, as a release and as plain text, and hold both against what was asked and reported."""
    table, said = published.table, published.describe()
    schema = table.declared
    quasi = [column.name for column in schema.quasi]
    release = dl.read_release(path, schema)
    assert isinstance(release, GroupedRelease)
    assert (release.people, release.groups, release.suppressed) == (
        len(naive.rows),
        said["classes"],
        said["suppressed"],
    )
    for model in models:
        for column in schema.sensitive:
            assert theirs(model).passes(release.grouping(column.name)).all(), model
    # As plain text: classes are rows with equal labels.
    rows = rows_of(path)
    assert len(rows) == len(naive.rows)
    hidden = hidden_of(rows, quasi, schema.suppressed)
    assert len(hidden) == said["suppressed"]
    groups: dict[tuple[str, ...], list[int]] = {}
    for i, row in enumerate(rows):
        if i not in hidden:
            groups.setdefault(tuple(row[name] for name in quasi), []).append(i)
    assert len(groups) == said["classes"]
    assert all(naive.good(members, models) for members in groups.values())
    node = tuple(said["node"][name] for name in quasi)
    classes = oracle.classes(naive.rows, naive.trees, node).values()
    assert sorted(groups.values()) == sorted(members for members in classes if not hidden >= set(members))
    assert said["loss"] == pytest.approx(oracle.loss(naive.rows, naive.trees, node, hidden), rel=1e-9, abs=1e-9)
    # In the table's order, sensitive values as they were, also those of suppressed rows.
    for column, values in zip(schema.sensitive, naive.values, strict=True):
        assert [row[column.name] for row in rows] == values


ASKED = st.sampled_from(
    [
        [Model("k", Fraction(2))],
        [Model("k", Fraction(3)), Model("distinct", Fraction(2))],
        [Model("entropy", Fraction("1.5"))],
        [Model("equal", Fraction("0.3"))],
        [Model("k", Fraction(2)), Model("hierarchical", Fraction("0.3"))],
        [Model("delta", Fraction("1.5"))],
        [Model("enhanced_beta", Fraction(2)), Model("alpha", Fraction("0.8"))],
        [Model("recursive", Fraction(3)), Model("ordered", Fraction("0.5"))],
    ]
)


@pytest.mark.slow
@pytest.mark.parametrize("ending", ["csv", "parquet"])
@settings(max_examples=20)
@given(
    table=TABLES,
    models=ASKED,
    suppression=st.sampled_from([0.0, 0.2, 0.6, 1.0]),
    utility=st.sampled_from(["loss", "discernibility", "entropy"]),
)
def test_random_tables(
    ending: str,
    table: Small,
    models: list[Model],
    suppression: float,
    utility: str,
    tmp_path_factory: pytest.TempPathFactory,
) -> None:
    publisher = Lattice(
        [theirs(model) for model in models], suppression=suppression, utility=utility, suppressed_rows="as-is"
    )
    naive = table.oracle()
    feasible = naive.feasible(naive.failing(models), str(suppression))
    whole = dl.Table(table.columns(), table.schema())
    assert whole.cells() == table.cells()
    if not feasible:
        with pytest.raises(InputError):
            publisher.publish(whole)
        return
    published = publisher.publish(whole)
    path = tmp_path_factory.mktemp("written") / f"out.{ending}"
    published.write(path)
    check(published, path, models, naive)
    # The release in memory is the one on disk, wherever the domains are the same.
    back = dl.read_release(path, published.table.schema)
    assert isinstance(back, GroupedRelease)
    memory = published.release
    assert sorted(back.sizes.tolist()) == sorted(memory.sizes.tolist())
    assert (back.groups, back.suppressed, back.people) == (memory.groups, memory.suppressed, memory.people)


PEOPLE = [
    # id, city, age, note, disease
    ("1", "a,b", "21", "*", "Flu"),
    ("2", "a,b", "22", 'say "no"', "Flu, bad"),
    ("3", "*", "23", "NA", 'the "pox"'),
    ("4", "*", "24", "", "Flu"),
    ("5", '"q"', "31", "x;y\tz", ""),
    ("6", '"q"', "33", "line\nbreak", "Flu"),
    ("7", "{c}", "", " spaced ", "?"),
    ("8", "{c}", "", "null", "Flu"),
    ("9", "", "41", "None", "*"),
    ("10", "", "42", "0007", "NA"),
    ("11", "lonely", "58", "the only one", "Flu"),
]
HEADER = ("id", "city", "age", "note", "disease")
CITIES = {
    "a,b": ("a,b", "north, really", "ALL"),
    "*": ("*", "north, really", "ALL"),
    '"q"': ('"q"', "NA", "ALL"),
    "{c}": ("{c}", "NA", "ALL"),
    "lonely": ("lonely", "lonely", "ALL"),
}


def nasty(folder: Path, suppressed: str, ending: str = "csv") -> dl.Table:
    with (folder / "cities.csv").open("w", encoding="utf-8", newline="") as file:
        csv.writer(file, delimiter=";").writerows(CITIES.values())
    (folder / "privacy.toml").write_text(
        f"""sensitive = "disease"
missing = ["", "?"]
suppressed = {suppressed}
[columns.id]
role = "identifier"
[columns.city]
role = "quasi"
hierarchy = "cities.csv"
[columns.age]
role = "quasi"
type = "integer"
domain = {{ min = 20, max = 59 }}
intervals = [5, 10]
[columns.note]
role = "other"
""",
        encoding="utf-8",
    )
    with (folder / "people.csv").open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(HEADER)
        writer.writerows(PEOPLE)
    if ending == "parquet":
        from pyarrow import csv as pa_csv

        text = pa_csv.ConvertOptions(column_types=dict.fromkeys(HEADER, "string"), strings_can_be_null=False)
        newlines = pa_csv.ParseOptions(newlines_in_values=True)
        pq.write_table(
            pa_csv.read_csv(folder / "people.csv", parse_options=newlines, convert_options=text),
            folder / "people.parquet",
        )
    return dl.Table(folder / f"people.{ending}", folder / "privacy.toml")


def nasty_oracle() -> oracle.Lattice:
    ages = {str(i): (str(i), f"[{i // 5 * 5}]", f"[{i // 10 * 10}]", "*") for i in range(20, 60)}
    trees = [{**CITIES, "": ("", "", "ALL")}, {**ages, "": ("", "", "", "*")}]
    diseases = ["" if row[4] == "?" else row[4] for row in PEOPLE]
    return oracle.Lattice(
        [(row[1], row[2]) for row in PEOPLE], trees, [diseases], [oracle.Sensitive((*sorted(set(diseases) - {""}), ""))]
    )


@pytest.mark.parametrize("ending", ["csv", "parquet"])
@pytest.mark.parametrize("suppressed", ['["*"]', '["NA", ""]', '["NA", "*", "lonely"]', '["ALL"]'])
@pytest.mark.parametrize("suppression", [0.0, 0.1, 0.3])
def test_nasty_values(tmp_path: Path, suppressed: str, suppression: float, ending: str) -> None:
    """Leaves that look like marks, labels that are marks, missing values, commas, quotes, line ends."""
    published = Lattice([theirs(Model("k", Fraction(2)))], suppression=suppression, suppressed_rows="as-is").publish(
        nasty(tmp_path, suppressed, ending)
    )
    path = tmp_path / f"out.{ending}"
    published.write(path)
    naive = nasty_oracle()
    assert list(rows_of(path)[0]) == ["city", "age", "note", "disease"]
    assert [row["note"] for row in rows_of(path)] == [row[3] for row in PEOPLE]
    assert [row["disease"] for row in rows_of(path)] == [row[4] for row in PEOPLE]
    # The oracle's sensitive values have one missing value; the file keeps the texts.
    release = dl.read_release(path, tmp_path / "privacy.toml")
    assert isinstance(release, GroupedRelease)
    said = published.describe()
    assert (release.groups, release.suppressed, release.people) == (said["classes"], said["suppressed"], len(PEOPLE))
    assert release.sizes.min() >= 2
    best = min(
        naive.cost("loss", node, hidden)
        for node, hidden in naive.feasible(naive.failing([Model("k", Fraction(2))]), str(suppression)).items()
    )
    assert said["loss"] == pytest.approx(best, rel=1e-9)
    # Every cell, resolved, holds the leaf that stood there.
    declared = dl.read_release(path, tmp_path / "privacy.toml").schema  # type: ignore[attr-defined]
    from dalenius.releases.label import Resolver

    for row, person in zip(rows_of(path), PEOPLE, strict=True):
        for name, leaf in (("city", person[1]), ("age", person[2])):
            column = declared[name]
            members = Resolver(column, declared).resolve(row[name]).members.tolist()
            if leaf in column.leaves:
                assert leaf in [column.leaves[code] for code in members]


def test_sidecar(tmp_path: Path) -> None:
    table = nasty(tmp_path, '["*"]')
    criteria = [theirs(Model("k", Fraction(2))), theirs(Model("equal", Fraction("0.6")))]
    published = Lattice(criteria, suppression=0.1, minimal=True).publish(table)
    path = tmp_path / "out.csv"
    published.write(path, extra={"seed": 7})
    document = json.loads((tmp_path / "out.csv.meta.json").read_text(encoding="utf-8"))
    assert document["kind"] == "generalized"
    assert document["method"] == "lattice"
    assert document["criteria"] == ["k = 2", "t = 0.6 (equal)"]
    assert (document["suppression"], document["utility"], document["seed"]) == (0.1, "loss", 7)
    # Of the release alone: a checksum of the table would let anybody try guesses about it.
    assert document["sha256"] == {"release": hashlib.sha256(path.read_bytes()).hexdigest()}
    assert set(document["versions"]) == {"dalenius", "python", "numpy"}
    for key, value in published.describe().items():
        assert document[key] == value
    assert document["node"] in document["minimal"] or document["suppressed"] > 0
    assert list(tmp_path.glob(".*")) == []


def test_a_frame_has_no_file_to_hash(tmp_path: Path) -> None:
    table = make(3)
    published = Lattice([theirs(Model("k", Fraction(2)))], suppression=1.0, suppressed_rows="as-is").publish(
        dl.Table(table.columns(), table.schema())
    )
    published.write(tmp_path / "out.csv")
    document = json.loads((tmp_path / "out.csv.meta.json").read_text(encoding="utf-8"))
    assert set(document["sha256"]) == {"release"}


def test_the_table_is_not_overwritten(tmp_path: Path) -> None:
    published = Lattice([theirs(Model("k", Fraction(2)))]).publish(nasty(tmp_path, '["*"]'))
    before = (tmp_path / "people.csv").read_bytes()
    (tmp_path / "link.csv").symlink_to(tmp_path / "people.csv")
    for name in ("people.csv", "link.csv"):
        with pytest.raises(InputError, match="Name another"):
            published.write(tmp_path / name)
    assert (tmp_path / "people.csv").read_bytes() == before
    assert not list(tmp_path.glob("*.meta.json"))


def test_rows_that_must_go_need_a_mark(tmp_path: Path) -> None:
    published = Lattice([theirs(Model("k", Fraction(2)))], suppression=0.1, suppressed_rows="as-is").publish(
        nasty(tmp_path, "[]")
    )
    assert published.describe()["suppressed"] == 1
    with pytest.raises(InputError, match=r'suppressed = \["\*"\]'):
        published.write(tmp_path / "out.csv")
    assert not (tmp_path / "out.csv").exists()


INTERVALS, SUPPRESS, MASKED = 'type = "integer"\nintervals = [5, 10]', 'hierarchy = "suppress"', 'mask = "right"'


@pytest.mark.parametrize(
    ("declared", "k"),
    [
        pytest.param(INTERVALS, 2, id="intervals"),
        pytest.param(INTERVALS, 4, id="intervals, all generalized"),
        pytest.param(SUPPRESS, 4, id="suppress, all generalized"),
        pytest.param(MASKED + '\ndomain = ["21", "22", "31", "38"]', 2, id="mask"),
    ],
)
def test_read_back_without_a_declared_domain(tmp_path: Path, declared: str, k: int) -> None:
    """The domain comes from the table when publishing, and from the release when reading."""
    (tmp_path / "privacy.toml").write_text(
        f'sensitive = "s"\n[columns.a]\nrole = "quasi"\n{declared}\n[columns.b]\nrole = "quasi"\ndomain = ["x", "y"]\n'
        'hierarchy = "suppress"\n',
        encoding="utf-8",
    )
    lines = [
        f"{value},x,v{i}" for i, value in enumerate(["21", "22", "31", "38"])
    ]  # k = 2 needs a middle level, k = 4 the top
    (tmp_path / "t.csv").write_text("\n".join(["a,b,s", *lines]) + "\n", encoding="utf-8")
    published = Lattice([theirs(Model("k", Fraction(k)))]).publish(
        dl.Table(tmp_path / "t.csv", tmp_path / "privacy.toml")
    )
    published.write(tmp_path / "out.csv")
    release = dl.read_release(tmp_path / "out.csv", tmp_path / "privacy.toml")
    assert isinstance(release, GroupedRelease)
    assert release.groups == published.describe()["classes"]
    assert release.sizes.min() >= k


@pytest.mark.parametrize("declared", [INTERVALS, SUPPRESS, 'type = "integer"\nhierarchy = "suppress"'], ids=str)
def test_the_top_is_a_mark_where_nobody_is_told_the_values(tmp_path: Path, declared: str) -> None:
    """`*` is then no mark and would be a mask of nothing known; what is written must be read."""
    schema = f'sensitive = "s"\nsuppressed = MARKS\n[columns.a]\nrole = "quasi"\n{declared}\n'
    schema += '[columns.b]\nrole = "quasi"\ndomain = ["x", "y"]\nhierarchy = "suppress"\n'
    (tmp_path / "t.csv").write_text("a,b,s\n21,x,u\n38,x,v\n55,y,u\n71,y,v\n", encoding="utf-8")

    def written(marks: str) -> list[str]:
        (tmp_path / "privacy.toml").write_text(schema.replace("MARKS", marks), encoding="utf-8")
        table = dl.Table(tmp_path / "t.csv", tmp_path / "privacy.toml")
        Lattice([theirs(Model("k", Fraction(2)))]).publish(table).write(tmp_path / "out.csv")
        release = dl.read_release(tmp_path / "out.csv", tmp_path / "privacy.toml")
        assert isinstance(release, GroupedRelease)
        assert (release.sizes.tolist(), release.suppressed) == ([2, 2], 0)
        return [row["a"] for row in rows_of(tmp_path / "out.csv")]

    assert written('["NA"]') == ["NA"] * 4
    assert written('["NA", "*"]') == ["*"] * 4
    (tmp_path / "out.csv").unlink()
    with pytest.raises(InputError, match=r"'a' has labels that do not name the values.*Declare domain"):
        written("[]")
    assert not (tmp_path / "out.csv").exists()


def test_a_mask_without_a_domain_is_refused_before_anything_is_written(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text("a,s\n21,x\n22,y\n", encoding="utf-8")
    schema = dl.Schema([dl.Column("a", "quasi", mask="right"), dl.Column("s", "sensitive")])
    with pytest.raises(dl.InputError, match="Declare domain"):
        Lattice([theirs(Model("k", Fraction(2)))]).publish(dl.Table(tmp_path / "t.csv", schema))


def test_no_level_is_given_away_for_nothing() -> None:
    """A column of one value costs nothing at any level; it is published as it is."""
    columns = [
        dl.Column("a", "quasi", suppress=True),
        dl.Column("b", "quasi", suppress=True),
        dl.Column("s", "sensitive"),
    ]
    table = dl.Table({"a": ["x"] * 4, "b": ["1", "2", "3", "4"], "s": ["u", "v", "u", "v"]}, dl.Schema(columns))
    for utility in ("loss", "entropy", "discernibility", "average_class_size", "precision"):
        published = Lattice([theirs(Model("k", Fraction(4)))], utility=utility).publish(table)
        assert published.node == (0, 1)
        assert published.outcome.optimal


@pytest.mark.parametrize(
    "names",
    [
        ("a", "b", "label_"),
        ("label_", "b", "label"),
        ("a", "b", "key0"),
        ("key0", "key1", "c"),
        ("text_", "b", "text"),
        ("row", "row_", "row__"),
        ("count", "group", "c"),
        ("a,b", 'say "c"', "*"),
    ],
    ids=" ".join,
)
def test_any_name_a_column_may_have(tmp_path: Path, names: tuple[str, str, str]) -> None:
    """Whatever the engine calls its helpers, a column of that name is written like any other."""
    schema = dl.Schema(
        [
            dl.Column(names[0], "quasi", suppress=True),
            dl.Column(names[1], "quasi", suppress=True, domain=dl.Domain(("x", "y", "z"))),
            dl.Column(names[2], "other"),
            dl.Column("s", "sensitive"),
        ]
    )
    rows = [(str(i // 3), "xyzxyzx"[i], f"other{i}", f"s{i}") for i in range(7)]
    columns = dict(zip([column.name for column in schema.columns], map(list, zip(*rows, strict=True)), strict=True))
    published = Lattice([theirs(Model("k", Fraction(3)))], suppression=0.2, suppressed_rows="as-is").publish(
        dl.Table(columns, schema)
    )
    assert (published.node, published.describe()["suppressed"]) == ((0, 1), 1)
    published.write(tmp_path / "out.csv")
    right = [(str(i // 3), "*", f"other{i}", f"s{i}") for i in range(6)] + [("*", "*", "other6", "s6")]
    assert [tuple(row.values()) for row in rows_of(tmp_path / "out.csv")] == right
