"""Reading releases: groups, weights, suppressed rows, files in pairs, and errors that show nobody's sensitive value."""

from __future__ import annotations

import json
from pathlib import Path

import pyarrow as pa
import pytest

from dalenius import Column, DaleniusError, InputError, Schema, read_release
from dalenius import engines as engine
from dalenius.releases import Anatomized, Centroids, Channel, Generalized, NoisyCounts, Release
from dalenius.schema import Domain

SECRET = "Planted-Disease-XYZ"
AGE = Column("age", "quasi", type="integer", domain=Domain(tuple(map(str, range(10)))))
SEX = Column("sex", "quasi", domain=Domain(("M", "F")))
DISEASE = Column("disease", "sensitive", domain=Domain(("Flu", "HIV")))
SCHEMA = Schema((Column("id", "identifier"), AGE, SEX, DISEASE, Column("note", "other")), source="privacy.toml")


def read(folder: Path, text: str, schema: Schema = SCHEMA) -> Generalized:
    (folder / "r.csv").write_text(text)
    release = read_release(folder / "r.csv", schema)
    assert isinstance(release, Generalized)
    return release


def refused(folder: Path, text: str, schema: Schema = SCHEMA) -> str:
    with pytest.raises(InputError) as caught:
        read(folder, text, schema)
    assert SECRET not in str(caught.value)
    return str(caught.value)


def classes(release: Generalized) -> list[tuple[list[set[str]], dict[str, int]]]:
    """Each group's sets of leaves and its sensitive values with counts."""
    found = []
    for q, codes in enumerate(release.codes.tolist()):
        sets = [
            {column.leaves[code] for code in labels[i].members.tolist()}
            for column, labels, i in zip(release.schema.quasi, release.labels, codes, strict=True)
        ]
        mine = release.sensitive.group == q
        values = [release.schema.sensitive[0].leaves[code] for code in release.sensitive.codes[mine, 0]]
        found.append((sets, dict(zip(values, release.sensitive.counts[mine].tolist(), strict=True))))
    return found


# Classes


def test_equal_sets_are_one_class_however_they_are_spelled(tmp_path: Path) -> None:
    rows = ['"[3, 5]",M', '"{3, 4, 05}",{M}', '"(2, 6)",M', '3-5,"{""M""}"', "3~5,M"]
    release = read(tmp_path, "age,sex,disease\n" + "".join(f"{row},Flu\n" for row in rows) + "3,M,HIV\n")
    assert classes(release) == [([{"3", "4", "5"}, {"M"}], {"Flu": 5}), ([{"3"}, {"M"}], {"HIV": 1})]
    assert release.sizes.tolist() == [5, 1]


def test_a_group_column_tells_equal_labels_apart(tmp_path: Path) -> None:
    text = "group,age,sex,disease\n10,3,M,Flu\n9,3,M,HIV\n9,3,M,HIV\n8,4,M,Flu\n"
    assert classes(read(tmp_path, text)) == [
        ([{"3"}, {"M"}], {"HIV": 2}),  # 9 before 10: ids are numbers here
        ([{"3"}, {"M"}], {"Flu": 1}),
        ([{"4"}, {"M"}], {"Flu": 1}),
    ]
    negative = text.replace("\n10", "\n-2").replace("\n9", "\n-9")
    assert [values for _, values in classes(read(tmp_path, negative))] == [{"HIV": 2}, {"Flu": 1}, {"Flu": 1}]
    texts = text.replace("\n10", "\nb10").replace("\n9", "\nb9")
    assert [values for _, values in classes(read(tmp_path, texts))] == [{"Flu": 1}, {"HIV": 2}, {"Flu": 1}]


def test_rows_of_a_group_share_their_labels(tmp_path: Path) -> None:
    spelled = 'group,age,sex,disease\n1,"[3, 4]",M,Flu\n1,3-4,M,HIV\n'
    assert classes(read(tmp_path, spelled)) == [([{"3", "4"}, {"M"}], {"Flu": 1, "HIV": 1})]
    assert "different labels" in refused(tmp_path, "group,age,sex,disease\n1,3,M,Flu\n1,4,M,HIV\n")
    assert "row 1: the group is empty" in refused(tmp_path, "group,age,sex,disease\n1,3,M,Flu\n,4,M,HIV\n")
    hidden = read(tmp_path, "group,age,sex,disease\n1,3,M,Flu\n,*,*,HIV\n")  # a suppressed row is in no group
    assert (hidden.groups, hidden.suppressed) == (1, 1)


def test_a_declared_group_or_count_is_a_column_like_any_other(tmp_path: Path) -> None:
    quasi = Schema((Column("group", "quasi"), Column("count", "sensitive")))
    release = read(tmp_path, "group,count\na,x\na,y\nb,y\n", quasi)
    assert classes(release) == [([{"a"}], {"x": 1, "y": 1}), ([{"b"}], {"y": 1})]
    sensitive = Schema((Column("count", "quasi"), Column("group", "sensitive")))
    assert classes(read(tmp_path, "group,count\n1,7\n2,7\n", sensitive)) == [([{"7"}], {"1": 1, "2": 1})]
    other = Schema((SEX, DISEASE, Column("group", "other"), Column("count", "identifier")))
    assert classes(read(tmp_path, "sex,disease,group,count\nM,Flu,1,7\nM,Flu,2,x\n", other)) == [([{"M"}], {"Flu": 2})]


def test_counts_weigh_rows(tmp_path: Path) -> None:
    text = "age,sex,disease,count\n3,M,Flu,2\n3,M,Flu,3\n3,M,Flu,3\n4,F,HIV,0\n3,M,HIV,1.0\n3,M,HIV, 1\n"
    release = read(tmp_path, text)
    assert classes(release) == [([{"3"}, {"M"}], {"Flu": 8, "HIV": 2})]
    assert release.people == 10


@pytest.mark.parametrize("count", ["-1", "two", "", "1.5", "1e3", "1_0", "nan"])
def test_counts_that_are_none(tmp_path: Path, count: str) -> None:
    message = refused(tmp_path, f"age,sex,disease,count\n3,M,Flu,2\n3,M,{SECRET},{count}\n".replace(SECRET, "HIV"))
    assert f"r.csv, row 1, column 'count': {count!r} is not a whole number ≥ 0" in message


def test_nobody_in_a_release(tmp_path: Path) -> None:
    assert "nobody" in refused(tmp_path, "age,sex,disease,count\n3,M,Flu,0\n4,M,Flu,0\n")
    assert "no rows" in refused(tmp_path, "age,sex,disease\n")


# Suppressed and missing cells


def test_suppressed_rows_are_apart_unless_all_rows_are(tmp_path: Path) -> None:
    release = read(tmp_path, "age,sex,disease\n*,*,Flu\n3,*,Flu\n*,*,HIV\n*,*,HIV\n")
    assert classes(release) == [([{"3"}, {"M", "F"}], {"Flu": 1})]
    assert (release.groups, release.people, release.suppressed) == (1, 4, 3)
    grouping = release.grouping()
    assert (grouping.table.tolist(), grouping.suppressed, grouping.sizes.tolist()) == ([2, 2], 3, [1])
    everybody = read(tmp_path, "age,sex,disease\n*,*,Flu\n*,*,HIV\n")
    assert (everybody.groups, everybody.suppressed, everybody.sizes.tolist()) == (1, 0, [2])


def test_other_suppressed_marks(tmp_path: Path) -> None:
    sdc = Schema((AGE, SEX, DISEASE), suppressed=("NA", ""))
    release = read(tmp_path, 'age,sex,disease\nNA,,Flu\n,NA,HIV\n3,NA,Flu\n3,"",HIV\n', sdc)
    assert (release.groups, release.suppressed, release.sizes.tolist()) == (1, 2, [2])
    assert "" not in release.schema["sex"].leaves
    assert "'**' matches nothing" in refused(tmp_path, "age,sex,disease\n**,M,Flu\n", sdc)


def test_missing_marks_are_one_value_of_their_own(tmp_path: Path) -> None:
    schema = Schema((AGE, SEX, DISEASE), missing=("?", "n/a"))
    release = read(tmp_path, 'age,sex,disease\n3,?,Flu\n3,,?\n3,"",n/a\n3,n/a,HIV\n3,"{M, ?}",Flu\n', schema)
    assert release.schema["sex"].leaves == ("M", "F", "")
    assert classes(release) == [
        ([{"3"}, {"M", ""}], {"Flu": 1}),
        ([{"3"}, {""}], {"Flu": 1, "": 2, "HIV": 1}),
    ]


# Columns


def test_identifier_and_other_columns_may_be_there_or_not(tmp_path: Path) -> None:
    bare = read(tmp_path, "age,sex,disease\n3,M,Flu\n3,M,HIV\n")
    full = read(tmp_path, "note,id,disease,sex,age\na,1,HIV,M,3\nb,2,Flu,M,3\n")
    assert bare == full
    assert full.row_numbers(0, limit=5) == [0, 1]


@pytest.mark.parametrize(
    ("header", "words"),
    [
        ("age,sex,disease,nota", ["'nota' is not declared in privacy.toml", "Did you mean 'note'?"]),
        ("agee,sex,disease,note", ["'agee' is not declared", "Did you mean 'age'?"]),
        ("note,sex,disease,id", ["quasi column 'age'", "is missing"]),
        ("age,sex,note,id", ["sensitive column 'disease'", "is missing"]),
    ],
)
def test_undeclared_and_missing_columns(tmp_path: Path, header: str, words: list[str]) -> None:
    message = refused(tmp_path, f"{header}\n3,M,{SECRET},1\n")
    for word in ["r.csv", *words]:
        assert word in message


def test_several_sensitive_columns(tmp_path: Path) -> None:
    schema = Schema((SEX, DISEASE, Column("salary", "sensitive", type="integer")))
    release = read(tmp_path, "sex,salary,disease\nM,010,Flu\nM,9,Flu\nF,9,HIV\n", schema)
    assert release.grouping("salary").column.leaves == ("9", "10")
    assert release.grouping("salary").table.tolist() == [2, 1]
    assert release.grouping("disease").table.tolist() == [2, 1]
    with pytest.raises(InputError, match="several sensitive columns; name one of disease, salary"):
        release.grouping()
    with pytest.raises(InputError, match=r"'salry' is not a sensitive column\. Did you mean 'salary'\?"):
        release.grouping("salry")


# Sensitive values stay out of messages


@pytest.mark.parametrize(
    ("text", "column"),
    [
        (f"age,sex,disease\n3,M,Flu\n3,M,{SECRET}\n", DISEASE),
        (f"age,sex,disease\n3,M,7\n3,M,{SECRET}\n", Column("disease", "sensitive", type="integer")),
        (f"age,sex,disease\n3,X,{SECRET}\n3,M,Flu\n", Column("disease", "sensitive")),
        (f"age,sex,disease,count\n3,M,{SECRET},x\n", Column("disease", "sensitive")),
        (f"group,age,sex,disease\n1,3,M,{SECRET}\n1,4,M,{SECRET}\n", Column("disease", "sensitive")),
        (f"age,sex,disease\n3,M,{SECRET},extra\n", Column("disease", "sensitive")),
        (f'age,sex,disease\n3,M,"{SECRET}\n', Column("disease", "sensitive")),
    ],
)
def test_a_sensitive_value_is_never_shown(tmp_path: Path, text: str, column: Column) -> None:
    message = refused(tmp_path, text, Schema((AGE, SEX, column)))
    assert "r.csv" in message
    if column is DISEASE:
        assert "row 1, column 'disease': the value there (not shown) is not in the declared domain" in message


def test_a_hidden_sensitive_value_asks_for_the_roles(tmp_path: Path) -> None:
    """Whoever takes a column for sensitive that another tool generalized finds it hidden in suppressed rows."""
    message = refused(tmp_path, "age,sex,disease\n3,M,Flu\n*,*,*\n", Schema((AGE, SEX, DISEASE)))
    assert "row 1, column 'disease': '*' hides the value of a column that is declared sensitive" in message
    assert "declare it quasi" in message


# Kinds and names


def test_kinds(tmp_path: Path) -> None:
    frame = pa.table({"age": [3, 4], "sex": ["M", "M"], "disease": ["Flu", "HIV"]})
    assert isinstance(read_release(frame, SCHEMA), Generalized)
    assert isinstance(read_release(frame, SCHEMA, kind="centroids"), Centroids)
    for kind in ("anatomized", "noisy-counts", "channel"):
        with pytest.raises(InputError, match=f"Kind '{kind}' is read from files"):
            read_release(frame, SCHEMA, kind=kind)
    with pytest.raises(InputError, match=r"no kind of release 'centroid'\. Did you mean 'centroids'\?"):
        read_release(frame, SCHEMA, kind="centroid")
    text = "age,sex,disease\n3.5,M,Flu\n3.5,M,HIV\n"
    assert "'3.5' matches nothing" in refused(tmp_path, text)
    with pytest.raises(InputError, match="kind 'anatomized' has two files; give its NAME"):
        read_release(tmp_path / "r.csv", SCHEMA, kind="anatomized")
    (tmp_path / "r.csv.meta.json").write_text(json.dumps({"kind": "centroids", "seed": 1}))
    release = read_release(tmp_path / "r.csv", SCHEMA)
    assert isinstance(release, Centroids)
    assert release.points.tolist() == [[3.5, 0.0]]
    (tmp_path / "r.csv.meta.json").write_text("{")
    with pytest.raises(InputError, match=r"r\.csv\.meta\.json: not valid JSON"):
        read_release(tmp_path / "r.csv", SCHEMA)


def test_centroids(tmp_path: Path) -> None:
    def points(text: str, schema: Schema = SCHEMA) -> list[list[float]]:
        (tmp_path / "r.csv").write_text(text)
        release = read_release(tmp_path / "r.csv", schema, kind="centroids")
        assert isinstance(release, Centroids)
        return release.points.tolist()

    assert points("age,sex,disease\n1e1,F,Flu\n3.50,M,Flu\n3.5,M,HIV\n") == [[3.5, 0.0], [10.0, 1.0]]
    assert points("group,age,sex,disease\n2,3,M,Flu\n10,3,M,HIV\n1,7,M,HIV\n") == [[7.0, 0], [3.0, 0], [3.0, 0]]
    assert str(points("age,sex,disease\n,F,Flu\n")) == "[[nan, 1.0]]"
    for text in ("*", "nan", "inf", "1_0", "x"):
        with pytest.raises(InputError, match=r"row 1, column 'age': .* is not a number"):
            points(f"age,sex,disease\n3,M,Flu\n{text},M,Flu\n")
    with pytest.raises(InputError, match="different labels"):
        points("group,age,sex,disease\n1,3,M,Flu\n1,4,M,Flu\n")
    with pytest.raises(InputError, match=r"'age' cannot be told from centroids.*domain = \{ min"):
        points("age,sex,disease\n3,M,Flu\n", Schema((Column("age", "quasi", type="integer"), SEX, DISEASE)))


QUASI = "group,age,sex\n1,3,M\n1,4,F\n2,5,M\n"
SENSITIVE = "group,disease,count\n1,Flu,1\n1,HIV,1\n2,Flu,1\n"


def pair(folder: Path, quasi: str = QUASI, sensitive: str = SENSITIVE) -> Anatomized:
    (folder / "n.quasi.csv").write_text(quasi)
    (folder / "n.sensitive.csv").write_text(sensitive)
    release = read_release(folder / "n", SCHEMA)
    assert isinstance(release, Anatomized)
    return release


def test_anatomized_files_by_every_name(tmp_path: Path) -> None:
    release = pair(tmp_path)
    assert (release.groups, release.sizes.tolist(), release.people) == (2, [2, 1], 3)
    assert pair(tmp_path, sensitive="group,disease\n2,Flu\n1,Flu\n1,HIV\n") == release
    for name in ("n.quasi.csv", "n.sensitive.csv"):
        assert read_release(tmp_path / name, SCHEMA) == release
    (tmp_path / "A+.csv").write_text(QUASI)
    (tmp_path / "B.csv").write_text(SENSITIVE)
    assert read_release(f"{tmp_path}/A+.csv+{tmp_path}/B.csv", SCHEMA) == release
    with pytest.raises(InputError, match="of kind 'anatomized', not 'noisy-counts'"):
        read_release(tmp_path / "n", SCHEMA, kind="noisy-counts")


def test_anatomized_files_that_do_not_fit(tmp_path: Path) -> None:
    for quasi, sensitive, message in [
        (QUASI, SENSITIVE.replace("2,Flu,1", "2,Flu,3"), "Group '2' has 1 people in n.quasi.csv and 3 sensitive"),
        (QUASI, SENSITIVE.replace("2,Flu,1", "3,Flu,1"), "Group '2' has 1 people in n.quasi.csv and 0 sensitive"),
        (QUASI + ",6,M\n", SENSITIVE + ",Flu,1\n", "row 3: the group is empty"),
        (QUASI.replace("group", "id"), SENSITIVE, "n.quasi.csv: the column 'group'"),
        (QUASI, SENSITIVE.replace("disease", "id"), "n.sensitive.csv: the column 'disease'"),
        (QUASI.replace("sex", "sex,nte"), SENSITIVE, "'nte' is not declared in privacy.toml. Did you mean 'note'?"),
        (
            QUASI,
            SENSITIVE.replace("HIV", SECRET),
            "n.sensitive.csv, row 1, column 'disease': the value there (not shown)",
        ),
        (QUASI.replace(",F", ",X"), SENSITIVE, "n.quasi.csv, row 1, column 'sex': 'X' is not in the declared domain"),
    ]:
        with pytest.raises(InputError) as caught:
            pair(tmp_path, quasi, sensitive)
        assert message in str(caught.value)
        assert SECRET not in str(caught.value)
    with pytest.raises(InputError, match="declares one"):
        read_release(tmp_path / "n", Schema((AGE, SEX, DISEASE, Column("group", "other"))))
    empty_group = pair(tmp_path, QUASI.replace("2,", "3,"), SENSITIVE.replace("2,", "3,") + "2,HIV,0\n")
    assert empty_group.sizes.tolist() == [2, 1]


def test_one_file_of_two_is_missing(tmp_path: Path) -> None:
    pair(tmp_path)
    (tmp_path / "n.sensitive.csv").unlink()
    with pytest.raises(InputError, match=r"needs 'n\.sensitive\.csv' beside"):
        read_release(tmp_path / "n", SCHEMA)
    noisy(tmp_path)
    (tmp_path / "c.json").unlink()
    with pytest.raises(InputError, match=r"needs 'c\.json' beside 'c\.counts\.csv'"):
        read_release(tmp_path / "c", SCHEMA)
    with pytest.raises(InputError, match=r"no file '.*/n\.quasi\.cvs'.* Did you mean 'n\.quasi\.csv'\?"):
        read_release(tmp_path / "n.quasi.cvs", SCHEMA)
    with pytest.raises(InputError, match="there is no folder"):
        read_release(tmp_path / "nowhere" / "x.csv", SCHEMA)
    with pytest.raises(InputError, match="that is a folder"):
        read_release(tmp_path, SCHEMA)


META = {"mechanism": "geometric", "scale": 2.0, "epsilon": 1.0, "sensitivity": 2, "neighbours": "replace"}
CELLS = ["sex,M,Flu,0", "sex,M,HIV,1", "sex,F,Flu,2", "sex,F,HIV,3"]
TINY = Schema((SEX, DISEASE), source="privacy.toml")


def noisy(folder: Path, cells: list[str] = CELLS, *, third: str = "disease", **meta: object) -> NoisyCounts:
    header = f"column,value,{third},count"
    (folder / "c.counts.csv").write_text("\n".join([header, *cells]) + "\n")
    (folder / "c.json").write_text(json.dumps({k: v for k, v in {**META, **meta}.items() if v != "absent"}))
    release = read_release(folder / "c", TINY)
    assert isinstance(release, NoisyCounts)
    return release


def test_noisy_counts(tmp_path: Path) -> None:
    release = noisy(tmp_path, [*CELLS[:3], "sex,F,HIV,-2.5"])
    assert [table.tolist() for table in release.noisy] == [[[0.0, 1.0], [2.0, -2.5]]]
    assert (release.epsilon, release.mechanism, release.sensitive) == (1.0, "geometric", "disease")
    for name in ("c.counts.csv", "c.json"):
        assert read_release(tmp_path / name, TINY) == release
    exact = noisy(tmp_path, CELLS[2:], mechanism="none", epsilon=None, scale=0)
    assert [table.tolist() for table in exact.noisy] == [[[0.0, 0.0], [2.0, 3.0]]]  # absent means nobody


@pytest.mark.parametrize(
    ("cells", "meta", "message"),
    [
        (CELLS[1:], {}, "1 counts of column 'sex' are missing"),
        ([*CELLS, "sex,M,Flu,0"], {}, "a count is given twice"),
        ([*CELLS, "sex,M,Flu,9"], {}, "column 'sex', value 'M': a count is given twice"),
        ([*CELLS, "sx,M,Flu,9"], {}, "row 4: 'sx' is not a quasi-identifier. Did you mean 'sex'?"),
        ([*CELLS, "sex,X,Flu,9"], {}, "row 4: 'X' is not a value of column 'sex'"),
        ([*CELLS, f"sex,M,{SECRET},9"], {}, "row 4, column 'disease': the value there (not shown)"),
        ([*CELLS[:3], "sex,F,HIV,many"], {}, "row 3: the count 'many' is not a number"),
        ([*CELLS[:3], "sex,F,HIV,nan"], {}, "row 3: the count 'nan' is not a number"),
        (CELLS, {"epsilom": 1}, "unknown key 'epsilom'. Did you mean 'epsilon'?"),
        (CELLS, {"scale": "absent"}, "'scale' is missing"),
        (CELLS, {"epsilon": 0}, "'epsilon' parameter of noisy counts must be a number > 0. Got 0 "),
        (CELLS, {"epsilon": -1}, "Got -1 "),
        (CELLS, {"epsilon": None}, "Got None "),
        (CELLS, {"epsilon": True}, "Got True "),
        (CELLS, {"epsilon": float("inf")}, "Got inf "),
        (CELLS, {"epsilon": "1"}, "Got '1' "),
        (CELLS, {"scale": 0}, "'scale' parameter"),
        (CELLS, {"sensitivity": 0}, "'sensitivity' parameter"),
        (CELLS, {"mechanism": "gauss"}, "must be one of geometric, laplace, none. Got 'gauss'"),
        (CELLS, {"mechanism": "none"}, "'epsilon' parameter of noisy counts must be null, with scale 0"),
        (CELLS, {"neighbours": "add"}, "must be one of add-remove, replace. Got 'add'"),
    ],
)
def test_noisy_counts_that_are_wrong(tmp_path: Path, cells: list[str], meta: dict[str, object], message: str) -> None:
    with pytest.raises(DaleniusError) as caught:
        noisy(tmp_path, cells, **meta)
    assert message in str(caught.value)
    assert SECRET not in str(caught.value)


def test_headers_of_noisy_counts(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="column, value, the sensitive column and count"):
        noisy(tmp_path, [], third="disease,more\na,b,c,d,e\n#")
    with pytest.raises(InputError, match=r"'desease' is not a sensitive column\. Did you mean 'disease'\?"):
        noisy(tmp_path, third="desease")
    (tmp_path / "c.json").write_text("[1]")
    with pytest.raises(InputError, match=r"c\.json: a JSON object is needed"):
        read_release(tmp_path / "c", TINY)


@pytest.mark.parametrize("kind", [Anatomized, NoisyCounts, Channel])
def test_a_reader_of_files_refuses_frames(kind: type[Release]) -> None:
    frame = {"q": ["a"], "s": ["x"]}
    with pytest.raises(InputError, match="Name its files"):
        kind.open([frame, frame], Schema([Column("q", "quasi"), Column("s", "sensitive")]), engine=engine.default())
