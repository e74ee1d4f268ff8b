"""`dalenius reproduce`: the page and the JSON of papers that are quick to build, what is left out, and what is refused."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from html import unescape
from pathlib import Path
from typing import Any

import pytest

from dalenius.cli import app
from dalenius.papers import error, registry
from dalenius.papers.base import Compared, Exhibit, Paper
from dalenius.papers.errata import ERRATA
from dalenius.reports import reproduce as report

Run = Callable[..., tuple[int, str, str]]


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Run:
    """In an empty folder, without data and without a network."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("DALENIUS_DATA", str(tmp_path / "nothing"))

    def call(*arguments: str) -> tuple[int, str, str]:
        code = app.run(["reproduce", *arguments])
        found = capsys.readouterr()
        return code, found.out, found.err

    return call


@pytest.fixture(scope="module")
def paper() -> Paper:
    """The paper that needs no data, built once."""
    return registry.build("error", quick=True)


@pytest.fixture
def once(paper: Paper, monkeypatch: pytest.MonkeyPatch) -> None:
    """The command takes the paper that is built already; what is asked of it is checked."""

    def build(key: str, path: Path | None = None, *, quick: bool = False) -> Paper:
        assert (key, quick) == ("error", True)
        assert path is None or isinstance(path, Path)
        return paper

    monkeypatch.setattr(registry, "build", build)


def document(name: str = "out.json") -> dict[str, Any]:
    found: dict[str, Any] = json.loads(Path(name).read_text(encoding="utf-8"))
    return found


def read(html: str) -> str:
    """What a reader sees."""
    return " ".join(unescape(re.sub(r"<(style|svg)\b.*?</\1>|<[^>]*>", " ", html, flags=re.DOTALL)).split())


def words(text: str) -> str:
    return " ".join(text.split())


@pytest.mark.usefixtures("once")
def test_page_and_json(run: Run, paper: Paper) -> None:
    code, out, err = run("error", "--quick", "--json", "out.json")
    assert (code, err) == (0, "")
    assert "8 exhibits, 10 numbers compared, 3 errata" in out
    assert "Page: reproduce.html" in out
    html = Path("reproduce.html").read_text(encoding="utf-8")
    text = read(html)
    found = document()
    assert list(found["papers"]) == ["error"]
    assert found["left_out"] == {}
    assert found["quick"] is True
    assert "--quick" in text
    assert set(found["run"]["papers"]) == {"error"}
    assert words(paper.citation) in text
    assert words(paper.data) in text
    mine = found["papers"]["error"]
    assert [one["name"] for one in mine["exhibits"]] == [exhibit.name for exhibit in paper.exhibits]
    for exhibit, plain in zip(paper.exhibits, mine["exhibits"], strict=True):
        assert f"{exhibit.name}. {words(exhibit.title)}" in text
        assert words(exhibit.text) in text
        assert [one["what"] for one in plain["compared"]] == [one.what for one in exhibit.compared]
        for one, same in zip(exhibit.compared, plain["compared"], strict=True):
            assert same == {"what": one.what, "printed": one.printed, "ours": one.ours, "note": one.note}
            assert words(f"{one.what} {one.printed} {report.value(one)} {one.note}") in text
        for row in exhibit.rows:
            assert words(" ".join(row)) in text
        for _, caption in exhibit.charts:
            assert words(caption) in text
    assert html.count("<svg") == sum(len(exhibit.charts) for exhibit in paper.exhibits) == 3
    assert [one["where"] for one in mine["errata"]] == [one.where for one in ERRATA["error"]]
    for erratum in ERRATA["error"]:
        for part in (erratum.where, erratum.printed, erratum.right, erratum.why, erratum.shown_by):
            assert words(part) in text


@pytest.mark.usefixtures("once")
def test_nothing_is_asked_of_a_network(run: Run) -> None:
    assert run("error", "--quick")[0] == 0
    html = Path("reproduce.html").read_text(encoding="utf-8")
    assert "<script" not in html
    assert "<link" not in html
    assert "@import" not in html
    addresses = set(re.findall(r"(?:https?:)?//[\w.]+[^\s\"'<)]*", html))
    assert addresses == {"http://www.w3.org/1999/xlink", "http://www.w3.org/2000/svg"}  # names of SVG, asked of nobody
    assert all(target.startswith("#") for target in re.findall(r'(?:href|src)="([^"]*)"', html))
    names = re.findall(r'\bid="([^"]+)"', html)
    assert len(names) == len(set(names))
    for target in re.findall(r'href="#([^"]+)"|url\(#([^)]+)\)', html):
        assert "".join(target) in names


@pytest.mark.slow
def test_two_runs_are_one(run: Run) -> None:
    assert run("error", "--quick", "--json", "one.json", "-o", "one.html")[0] == 0
    assert run("error", "--quick", "--json", "two.json", "-o", "two.html")[0] == 0
    one, two = document("one.json"), document("two.json")
    assert one.pop("run")["papers"]["error"] > 0
    assert two.pop("run") is not None
    assert one == two
    first, second = (
        Path(name).read_text(encoding="utf-8").partition("How to repeat")[0] for name in ("one.html", "two.html")
    )
    assert len(first) > 30_000
    assert first == second


@pytest.mark.parametrize(
    ("name", "hint"), [("eror", "Did you mean 'error'?"), ("Realistic!", "Did you mean 'realistic'?"), ("x", "")]
)
def test_a_paper_that_there_is_not(name: str, hint: str, run: Run) -> None:
    code, out, err = run("error", name)
    assert code == 2
    assert f"There is no paper {name!r}. {hint}".rstrip() in err
    assert "relative, realistic, composition, error, population" in err
    assert out == ""
    assert not Path("reproduce.html").exists()


NO_DATA = {  # tests/papers/parts.py compares these exhibits with those that are made with the data
    "relative": ["Table I", "Table II", "Table III", "Figure 1"],
    "realistic": ["Table 1", "Table 2", "Table 3"],
    "composition": ["Table 1"],
}


@pytest.mark.slow
@pytest.mark.parametrize("key", NO_DATA)
def test_a_paper_without_its_data_has_the_exhibits_that_need_none(key: str, run: Run) -> None:
    code, out, err = run(key, "--quick", "--json", "out.json")
    assert code == 0
    found = document()
    assert [one["name"] for one in found["papers"][key]["exhibits"]] == NO_DATA[key]
    left, reason = ", ".join(found["not_made"][key]), found["left_out"][key]
    assert "nothing" in reason  # the folder
    assert f"dalenius: left out {left} of {key!r}: {reason}" in err
    assert f"{key:<12} {len(NO_DATA[key])} exhibit" in out
    text = read(Path("reproduce.html").read_text(encoding="utf-8"))
    assert f"Left out of {registry.TITLES[key]}: {left}. {words(reason)}" in text
    for erratum in ERRATA[key]:
        assert words(erratum.right) in text


def test_a_paper_of_which_nothing_can_be_made(run: Run) -> None:
    """The page is there, with the reason, and the exit code says that nothing was made."""
    code, _, err = run("population", "--quick", "--json", "out.json")
    assert code == 2
    assert "dalenius: The paper 'population' cannot be reproduced." in err
    assert document()["papers"] == {}
    reason = document()["left_out"]["population"]
    text = read(Path("reproduce.html").read_text(encoding="utf-8"))
    assert f"Left out: {registry.TITLES['population']}. {words(reason)}" in text


@pytest.mark.usefixtures("once")
def test_papers_without_data_are_left_out(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    few = Paper("realistic", "c", (Exhibit("Table 1", "t"),))
    monkeypatch.setattr(registry, "build_without_data", lambda key: few if key == "realistic" else Paper(key, "c", ()))
    code, out, err = run("--quick", "--json", "out.json")
    assert code == 0
    found = document()
    assert list(found["papers"]) == ["realistic", "error"]
    others = ["relative", "realistic", "composition", "population"]
    assert list(found["left_out"]) == others
    assert list(found["not_made"]) == ["realistic"]
    text = read(Path("reproduce.html").read_text(encoding="utf-8"))
    for key in others:
        reason = found["left_out"][key]
        assert "adult" in reason.lower()
        if key != "realistic":
            assert f"left out {key!r}: {reason}" in err
            assert f"Left out: {registry.TITLES[key]}. {words(reason)}" in text
    assert "relative" not in out
    assert run("--quick", "--quiet") == (0, "", "")


@pytest.mark.usefixtures("once")
def test_data_named_on_the_command_line(run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(registry, "build_without_data", lambda key: Paper(key, "c", ()))
    (tmp_path / "adult").mkdir()
    assert run("--quick", "--data", str(tmp_path), "--json", "out.json")[0] == 0
    assert all(str(tmp_path) in reason for reason in document()["left_out"].values())
    # UCI's two files are enough for the paper that reads them, and no longer left out.
    for name in ("adult.data", "adult.test"):
        (tmp_path / "adult" / name).write_text("", encoding="utf-8")
    assert registry.missing("population", tmp_path) == ""
    assert registry.missing("realistic", tmp_path) != ""


def test_with_data_nothing_is_missing(data: Path) -> None:
    assert [registry.missing(key, data) for key in registry.TITLES] == [""] * 5
    assert registry.check([]) == list(registry.TITLES)
    assert registry.check(["population", "relative", "population"]) == ["relative", "population"]


@pytest.mark.usefixtures("once")
def test_json_alone_on_standard_output(run: Run) -> None:
    code, out, _ = run("error", "--quick", "--json", "-")
    assert code == 0
    assert json.loads(out)["schema_version"] == 1
    assert Path("reproduce.html").is_file()


@pytest.mark.parametrize("arguments", [("-o", "."), ("-o", "no/such.html"), ("-o", "x", "--json", "x")])
def test_where_nothing_can_be_written(arguments: tuple[str, ...], run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(registry, "build", lambda *_, **__: pytest.fail("refused before the work is done"))
    code, _, err = run("error", *arguments)
    assert code == 2
    assert "write" in err or "written" in err


def test_interrupted_nothing_is_written(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(*_: object, **__: object) -> Paper:
        raise KeyboardInterrupt

    monkeypatch.setattr(registry, "build", interrupted)
    Path("reproduce.html").write_text("old", encoding="utf-8")
    code, _, err = run("error", "--json", "out.json")
    assert code == 130
    assert "Nothing was written" in err
    assert [path.name for path in Path().iterdir()] == ["reproduce.html"]
    assert Path("reproduce.html").read_text(encoding="utf-8") == "old"


def test_relative_is_not_built_of_patients(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Its own module goes on with made-up people where no folder was named; a page of these would compare nothing."""
    monkeypatch.delenv("DALENIUS_DATA", raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.setattr("urllib.request.urlopen", lambda *_, **__: (_ for _ in ()).throw(OSError("no network")))
    assert "Cannot download" in registry.missing("relative")
    with pytest.raises(Exception, match="Cannot download"):
        registry.build("relative", quick=True)


def test_every_paper_takes_what_the_command_gives(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    asked = []

    def module(name: str) -> Any:
        class Fake:
            @staticmethod
            def build(path: object, *, quick: bool) -> Paper:
                asked.append((name, path, quick))
                return Paper("x", "y", ())

        return Fake

    monkeypatch.setattr(registry, "missing", lambda *_: "")
    monkeypatch.setattr(registry.importlib, "import_module", module)
    for key in registry.TITLES:
        registry.build(key, tmp_path, quick=True)
    assert asked == [(f"dalenius.papers.{key}", tmp_path, True) for key in registry.TITLES]


# ---------------------------------------------------------------------------- the page, of odd papers


def test_odd_characters_and_numbers() -> None:
    exhibit = Exhibit(
        "Table <1>", "a & b", "x < y", ("a", "b<"), [["<b>", "1"]],
        (
            Compared("share <", "6 %", 0.05212, "n & m"),
            Compared("per cent already", "more than 60 %", 67.74),
            Compared("infinite", "none", float("inf")),
        ),
        legend=[("#123456", "blue & red")],
    )  # fmt: skip
    paper = Paper("odd", "c & d", (exhibit,), "e > f")
    html = report.page([paper], {}, {"odd": "g < h", "other": "i & j"}, {"other": "no <data>"}, {"seconds": 1})
    text = read(html)
    for expected in (
        "g < h", "c & d", "e > f", "Table <1>. a & b", "x < y", "<b>", "share < 6 % 5.2 % n & m", "more than 60 % 67.7 %",
        "infinite none infinite", "Left out: i & j. no <data>", "● blue & red",
    ):  # fmt: skip
        assert expected in text
    assert "<b>" not in html
    assert '<span style="color: #123456">' in html
    assert "Made with" not in text
    assert "Errata" not in text


def test_names_inside_drawings_are_made_unlike() -> None:
    drawing = (
        '<svg width="10"><clipPath id="clip0"/><g clip-path="url(#clip0)"/><use href="#clip0"/><g id="clip01"/></svg>'
    )
    exhibit = Exhibit("Figure 1", "t", charts=((lambda: drawing, "one"), (lambda: drawing, "two")))
    html = report.page([Paper("p", "c", (exhibit,))], {}, {"p": "t"}, {}, {})
    for i in range(2):
        name = f"p-figure-1-{i}-clip0"
        assert html.count(f'id="{name}"') == html.count(f'href="#{name}"') == html.count(f"url(#{name})") == 1
        assert html.count(f'id="{name}1"') == 1
    assert '"clip0"' not in html
    assert "#clip0" not in html


def test_error_needs_no_data_at_all() -> None:
    assert registry.missing("error", Path("/nowhere")) == ""
    assert error.DATA.startswith("No data are needed.")
