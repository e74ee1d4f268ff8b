"""Every result of a public function: short text, notebook view, dictionary, data frames and files."""

from __future__ import annotations

import csv
import importlib
import json
import math
import pkgutil
from collections.abc import Callable
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest

import dalenius as dl
from dalenius import output
from dalenius.auditing.epsilon_curve import epsilon_curve_of
from dalenius.cli import app
from dalenius.measures.guide import guide
from dalenius.reports.results import REPORTS
from dalenius.reports.short import MAX_COLUMNS, MAX_LINES
from dalenius.result import Result

ANSWERS = {"about": "identity", "loss": "hamming", "observations": "single", "case": "best"}
# What each result is made of, and the command that makes the same.
MAKERS: dict[str, tuple[Callable[[], Result], list[str] | None]] = {
    "split": (lambda: dl.split("patients.csv", "again.csv", "others.csv", share=0.5, seed=1), None),
    "publish": (
        lambda: dl.publish("half.csv", method="mondrian", k=5, output="p.csv"),
        ["publish", "half.csv", "--method", "mondrian", "--k", "5", "-o", "p.csv"],
    ),
    "check": (
        lambda: dl.check("r.csv", k=5, l=3),
        ["check", "r.csv", "--k", "5", "--l", "3"],
    ),
    "audit": (
        lambda: dl.audit("r.csv", "policy.toml", truth="half.csv", holdout="rest.csv"),
        ["audit", "r.csv", "--schema", "policy.toml", "--truth", "half.csv", "--holdout", "rest.csv"],
    ),
    "audit alone": (lambda: dl.audit("r.csv"), ["audit", "r.csv"]),
    "attack": (
        lambda: dl.attack("r.csv", targets=Path("half.csv"), truth=Path("half.csv"), adversary="random-worlds"),
        [
            *("attack", "r.csv", "--targets", "half.csv", "--truth", "half.csv", "--adversary", "random-worlds"),
            *("-o", "beliefs.csv"),
        ],
    ),
    "compose": (
        lambda: dl.compose(["r.csv", "s.csv"], "half.csv"),
        ["compose", "r.csv", "s.csv", "--targets", "half.csv", "-o", "left.csv"],
    ),
    "compare": (lambda: dl.compare(["s.csv"], "patients.csv"), ["compare", "s.csv", "--truth", "patients.csv"]),
    "lattice": (lambda: dl.lattice("patients.csv", k=5), ["lattice", "patients.csv", "--k", "5"]),
    "lattice swept": (
        lambda: dl.lattice("patients.csv", k=5, epsilon=2.5),
        ["lattice", "patients.csv", "--k", "5", "-o", "l.html"],
    ),
    "channel": (lambda: dl.channel(model="crowds:n=5,p=0.3"), ["channel", "--model", "crowds:n=5,p=0.3"]),
    "channel curve": (
        lambda: dl.channel(model="flip:p=0.1", design="average", curve=True, points=3),
        ["channel", "--model", "flip:p=0.1", "--design", "average", "--curve", "--points", "3"],
    ),
    "frontier": (
        lambda: dl.frontier(
            "patients.csv", "policy.toml", method="mondrian", k=[5, 10, 999], risk="random-worlds", jobs=1
        ),
        [
            *("frontier", "patients.csv", "--schema", "policy.toml", "--method", "mondrian", "--k", "5,10,999"),
            *("--risk", "random-worlds", "--jobs", "1"),
        ],
    ),
    "epsilon curve": (
        lambda: epsilon_curve_of(Path("patients.csv"), Path("privacy.toml"), [0.5, 1.0], draws=2),
        ["frontier", "patients.csv", "--method", "noisy-counts", "--epsilons", "0.5,1", "--draws", "2"],
    ),
    "guide": (lambda: guide(ANSWERS), ["guide", *(word for key, text in ANSWERS.items() for word in (f"--{key}", text))]),
}  # fmt: skip
HAVE_PAGES = {"audit", "audit alone", "lattice swept", "channel curve", "frontier", "epsilon curve"}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("results")
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(path)
        dl.datasets.save_hospital(path, 300, 1)
        text = Path("privacy.toml").read_text(encoding="utf-8")
        Path("policy.toml").write_text(text + "\n[policy]\nmin_k = 5\nmin_l = 9\n", encoding="utf-8")
        dl.split("patients.csv", "half.csv", "rest.csv", share=0.5, seed=1)
        dl.publish("half.csv", method="mondrian", k=5, output="r.csv")
        dl.publish("patients.csv", method="mondrian", k=4, output="s.csv")
    return path


@pytest.fixture(autouse=True)
def inside(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(folder)


@pytest.fixture(scope="module")
def results(folder: Path) -> dict[str, Result]:
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        return {name: make() for name, (make, _) in MAKERS.items()}


each = pytest.mark.parametrize("name", MAKERS)


def values_and_labels() -> set[str]:
    """Every sensitive value of the table, and every label of a published class."""
    with Path("patients.csv").open(encoding="utf-8") as file:
        diseases = {row["disease"] for row in csv.DictReader(file)}
    with Path("r.csv").open(encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    labels = {row[name] for row in rows for name in ("age", "zip", "nationality")}
    return {text for text in diseases | labels if len(text) > 2}


def test_every_class_of_results_is_tried_here(results: dict[str, Result]) -> None:
    import dalenius.auditing
    import dalenius.measures

    for package in (dalenius.auditing, dalenius.measures):
        for part in pkgutil.walk_packages(package.__path__, f"{package.__name__}."):
            importlib.import_module(part.name)
    classes = {
        kind for kind in Result.__subclasses__() if "repr" in vars(kind) or vars(kind).get("__dataclass_fields__")
    }
    public = {kind for kind in classes if kind.__module__.startswith("dalenius.") and is_current(kind)}
    assert public == set(REPORTS) == {type(result) for result in results.values()}


def is_current(kind: type) -> bool:
    """Whether the class is the one that its module has: a dataclass with slots replaces the class that was written."""
    return getattr(importlib.import_module(kind.__module__), kind.__name__) is kind


@each
def test_the_short_text_fits_a_screen_and_tells_nothing_about_a_person(results: dict[str, Result], name: str) -> None:
    text = repr(results[name])
    lines = text.splitlines()
    assert 1 < len(lines) <= MAX_LINES <= 20
    assert max(map(len, lines)) <= MAX_COLUMNS <= 100
    assert lines[0].startswith(type(results[name]).__name__)
    assert "object at 0x" not in text
    told = sorted(word for word in values_and_labels() if word in text)
    assert not told


def test_long_names_are_cut(results: dict[str, Result]) -> None:
    import dataclasses

    long: Any = dataclasses.replace(results["check"], name="x" * 300)  # type: ignore[type-var]
    assert max(map(len, repr(long).splitlines())) == MAX_COLUMNS


VOID = {"br", "meta", "img", "hr"}


class Tags(HTMLParser):
    """The tags of a fragment, each of which must be closed."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.seen: set[str] = set()
        self.attributes: set[str] = set()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.seen.add(tag)
        self.attributes |= {name for name, _ in attrs}
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.handle_starttag(tag, attrs)
        if tag not in VOID:
            self.open.pop()

    def handle_endtag(self, tag: str) -> None:
        # A paragraph may be left open: the next block ends it.
        while self.open and self.open[-1] == "p" and tag != "p":
            self.open.pop()
        assert self.open.pop() == tag


@each
def test_the_notebook_view_is_a_safe_fragment(results: dict[str, Result], name: str) -> None:
    html = results[name]._repr_html_()  # type: ignore[attr-defined]
    tags = Tags()
    tags.feed(html)
    tags.close()
    assert tags.open == []
    assert not tags.seen & {"script", "link", "iframe", "img", "object", "html", "head", "body", "main", "form"}
    assert not {attribute for attribute in tags.attributes if attribute.startswith("on")} | (
        tags.attributes & {"src", "href", "xlink:href"}
    )
    assert "http" not in html
    assert "url(" not in html
    assert html.startswith('<div class="dalenius-result">')
    style = html.partition("<style>")[2].partition("</style>")[0].strip()
    for rule in style.splitlines():
        assert all(part.strip().startswith(".dalenius-result") for part in rule.partition("{")[0].split(",")), rule
    assert ("<svg" in html) == (name in HAVE_PAGES)
    assert "<table" in html or "<pre" in html


@each
def test_the_dictionary_is_what_the_command_writes(results: dict[str, Result], name: str) -> None:
    command = MAKERS[name][1]
    document = results[name].to_dict()
    assert json.loads(json.dumps(document, allow_nan=False)) == document
    if command is None:  # split has no --json
        assert {key: document[key] for key in ("rows_published", "rows_others")} == {
            "rows_published": 150,
            "rows_others": 150,
        }
        return
    assert app.run([*command, "-q", "--json", "said.json"]) in (0, 1)
    said = json.loads(Path("said.json").read_text(encoding="utf-8"))
    del said["run"]
    assert document == said


def test_an_audit_reveals_only_on_request(results: dict[str, Result]) -> None:
    hidden, revealed = (results["audit"].to_dict(reveal=reveal)["at_risk"] for reveal in (False, True))
    assert hidden
    assert all("value" not in person for person in hidden)
    assert all("value" in person for person in revealed)


@each
def test_pandas_and_polars_agree_with_the_csv_file(results: dict[str, Result], name: str) -> None:
    frame, polars = results[name].to_pandas(), results[name].to_polars()
    assert list(frame.columns) == polars.columns
    assert len(frame) == len(polars) > 0
    results[name].save("table.csv")
    with Path("table.csv").open(encoding="utf-8", newline="") as file:
        lines = list(csv.reader(file))
    assert lines[0] == polars.columns
    assert len(lines) == len(frame) + 1
    for one, other, line in zip(frame.to_dict("records"), polars.to_dicts(), lines[1:], strict=True):
        for key, text in zip(lines[0], line, strict=True):
            assert same(one[key], other[key]), (key, one[key], other[key])
            assert (
                text == ""
                if is_missing(other[key])
                else same(other[key], type(other[key])(text)) or text == str(other[key])
            )


def is_missing(value: Any) -> bool:
    return value is None or value != value


def same(one: Any, other: Any) -> bool:
    if is_missing(one) or is_missing(other):
        return is_missing(one) and is_missing(other)
    return bool(one == other)


def test_tables_have_the_rows_that_their_classes_promise(results: dict[str, Result]) -> None:
    def rows(name: str) -> list[dict[str, Any]]:
        records: list[dict[str, Any]] = results[name].to_polars().to_dicts()
        return records

    audit: Any = results["audit"]
    assert [(row["adversary"], row["sensitive"], row["gain"]) for row in rows("audit")] == [
        (attack.adversary, attack.column, attack.gain.value) for attack in audit.attacks
    ]
    assert {row["model"]: row["level"] for row in rows("check")}["k_anonymity"] == 5
    assert [row["published"] for row in rows("frontier")] == [True, True, False]
    assert [row["epsilon"] for row in rows("epsilon curve")] == [0.5, 1.0, math.inf]
    assert len(rows("lattice")) == len(results["lattice"].to_dict()["nodes"])
    assert "average_privacy" in {row["measure"] for row in rows("channel")}
    assert len(rows("channel curve")) == 3
    assert len(rows("split")) == len(rows("publish")) == len(rows("guide")) == 1


@pytest.mark.parametrize(("name", "file"), [("attack", "beliefs.csv"), ("compose", "left.csv")])
def test_the_table_about_targets_is_what_the_command_writes(results: dict[str, Result], name: str, file: str) -> None:
    command = MAKERS[name][1]
    assert command is not None
    assert app.run([*command, "-q"]) == 0
    results[name].save("saved.csv")
    assert Path("saved.csv").read_bytes() == Path(file).read_bytes()


def test_an_attack_without_targets_has_no_table() -> None:
    attack = dl.attack("r.csv", truth=Path("half.csv"), adversary="random-worlds")
    assert "Right for" in repr(attack)
    with pytest.raises(dl.InputError, match="no targets"):
        attack.to_pandas()


@each
def test_saved_files(results: dict[str, Result], name: str) -> None:
    result = results[name]
    result.save("saved.json")
    written = json.loads(Path("saved.json").read_text(encoding="utf-8"))
    assert {"started", "seconds", "command", "python", "system"} <= written.pop("run").keys()
    assert written == result.to_dict()
    result.save(Path("saved.TXT"))
    assert len(Path("saved.TXT").read_text(encoding="utf-8").splitlines()) >= 1
    Path("saved.html").unlink(missing_ok=True)
    if name in HAVE_PAGES:
        result.save("saved.html")
        assert Path("saved.html").read_text(encoding="utf-8").startswith("<!doctype html>")
    else:
        with pytest.raises(dl.InputError, match=r"no HTML page.*\.json, \.csv or \.txt"):
            result.save("saved.html")
        assert not Path("saved.html").exists()


def test_a_file_does_not_record_the_arguments_of_another_program(
    results: dict[str, Result], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sys.argv", ["notebook", "--token", "secret"])
    for ending in ("json", "html"):
        results["audit"].save(f"argv.{ending}")
        assert "secret" not in Path(f"argv.{ending}").read_text(encoding="utf-8")


def test_only_reveal_writes_values_of_people(results: dict[str, Result]) -> None:
    for ending in ("html", "json"):
        results["audit"].save(f"hidden.{ending}")
        results["audit"].save(f"revealed.{ending}", reveal=True)
        hidden, revealed = (Path(f"{word}.{ending}").read_text(encoding="utf-8") for word in ("hidden", "revealed"))
        assert revealed.count("right") > hidden.count("right")
    results["check"].save("hidden.txt")
    results["check"].save("revealed.txt", reveal=True)
    labels = values_and_labels()
    assert not [word for word in labels if word in Path("hidden.txt").read_text(encoding="utf-8")]
    assert [word for word in labels if word in Path("revealed.txt").read_text(encoding="utf-8")]


@pytest.mark.parametrize("file", ["saved.pdf", "saved", "saved.html.gz"])
def test_other_endings_are_refused(results: dict[str, Result], file: str) -> None:
    with pytest.raises(dl.InputError, match=r"must end in \.html, \.json, \.csv or \.txt"):
        results["check"].save(file)
    assert not Path(file).exists()


def test_a_save_that_fails_leaves_what_was_there(results: dict[str, Result], monkeypatch: pytest.MonkeyPatch) -> None:
    folder = Path("failing")
    folder.mkdir()
    (folder / "old.json").write_text("before", encoding="utf-8")

    def fail(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(output, "_sync", fail)
    for file in ("old.json", "new.json"):
        with pytest.raises(dl.InputError):
            results["check"].save(folder / file)
    assert [(path.name, path.read_text(encoding="utf-8")) for path in folder.iterdir()] == [("old.json", "before")]


@pytest.mark.parametrize("library", ["pandas", "polars"])
def test_a_missing_library_is_named(results: dict[str, Result], library: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(__import__("sys").modules, library, None)
    with pytest.raises(dl.InputError, match=f"pip install {library}"):
        getattr(results["check"], f"to_{library}")()
    results["check"].save("without.csv")  # needs neither
