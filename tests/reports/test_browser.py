"""The report in a real browser, without a network: no script error, no request, charts, phone width, paper."""

from __future__ import annotations

import re
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from dalenius.papers import error
from dalenius.papers.errata import ERRATA
from dalenius.papers.registry import TITLES
from dalenius.reports import reproduce
from dalenius.reports.exhibits import Compared, Exhibit, Paper
from tests.conftest import LONG, lacking
from tests.reports.conftest import Report

pytestmark = pytest.mark.slow

ARGUMENTS = ["--no-sandbox", "--disable-gpu", "--disable-background-networking"]
FLAVOURS = ["full", "two", "blind", "anatomy", "revealed"]


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    path = shutil.which("chromium")
    if path is None:
        lacking("chromium")
    try:
        from playwright.sync_api import sync_playwright
    except ModuleNotFoundError:
        lacking("playwright")
    with sync_playwright() as playwright:
        started = playwright.chromium.launch(executable_path=path, args=ARGUMENTS, timeout=1000 * LONG)
        yield started
        started.close()


class Visit:
    """A page opened offline, with what it asked for and what it complained of."""

    def __init__(self, browser: Any, report: Report, width: int) -> None:
        self.context = browser.new_context(viewport={"width": width, "height": 800}, offline=True)
        self.context.set_default_timeout(1000 * LONG)
        self.requests: list[str] = []
        self.complaints: list[str] = []
        self.page = self.context.new_page()
        self.page.on("console", lambda message: self.complaints.append(f"{message.type}: {message.text}"))
        self.page.on("pageerror", lambda error: self.complaints.append(str(error)))
        self.page.on("requestfailed", lambda request: self.complaints.append(f"failed: {request.url}"))
        address = report.path.as_uri()

        def route(asked: Any) -> None:
            self.requests.append(asked.request.url)
            if asked.request.url == address:
                asked.continue_()
            else:
                asked.abort()

        self.context.route("**/*", route)
        self.page.goto(address, wait_until="networkidle")
        assert self.requests[0] == address

    def __enter__(self) -> Visit:
        return self

    def __exit__(self, *_: object) -> None:
        self.context.close()


@pytest.mark.parametrize("width", [390, 1000])
@pytest.mark.parametrize("name", FLAVOURS)
def test_it_opens_offline_and_stays_inside_the_screen(
    name: str, width: int, browser: Any, reports: dict[str, Report]
) -> None:
    with Visit(browser, reports[name], width) as visit:
        assert visit.complaints == []
        assert visit.requests == [reports[name].path.as_uri()]  # one file, and nothing else asked for
        inner = visit.page.evaluate(
            "[document.documentElement.scrollWidth, document.body.scrollWidth, window.innerWidth]"
        )
        assert inner[0] <= width
        assert inner[1] <= width
        assert inner[2] == width
        # What is wider than the screen scrolls in a frame of its own: nothing else sticks out.
        outside = visit.page.evaluate(
            """() => [...document.querySelectorAll('main *')]
                .filter(e => e.getBoundingClientRect().right > window.innerWidth + 1 && !e.closest('.scroll') && !e.closest('svg'))
                .map(e => e.tagName)"""
        )
        assert outside == []


@pytest.mark.parametrize("width", [390, 1000])
def test_three_charts_that_show_something(width: int, browser: Any, full: Report) -> None:
    with Visit(browser, full, width) as visit:
        charts = visit.page.locator("figure svg")
        assert charts.count() == 3
        for i in range(3):
            box = charts.nth(i).bounding_box()
            assert box["width"] > 200
            assert box["height"] > 60
            assert box["x"] + box["width"] <= width
            marks = charts.nth(i).locator("[role=graphics-symbol]")
            assert marks.count() >= 3
            sizes = [marks.nth(m).bounding_box() for m in range(marks.count())]
            assert any(size and size["width"] > 1 and size["height"] > 1 for size in sizes)
            assert visit.page.locator("figure").nth(i).locator("figcaption").inner_text().strip()
        assert len({charts.nth(i).inner_html() for i in range(3)}) == 3


def test_without_truth_one_chart_is_left(browser: Any, reports: dict[str, Report]) -> None:
    with Visit(browser, reports["blind"], 1000) as visit:
        assert visit.page.locator("figure svg").count() == 1


def test_no_word_of_a_chart_is_cut_off(browser: Any, full: Report) -> None:
    with Visit(browser, full, 1000) as visit:
        cut = visit.page.evaluate(
            """() => [...document.querySelectorAll("figure svg text")].filter(text => {
                const own = text.getBoundingClientRect(), all = text.closest("svg").getBoundingClientRect();
                return own.width && (own.left < all.left - 0.5 || own.right > all.right + 0.5);
            }).map(text => text.textContent)"""
        )
        assert cut == []


def test_headings_and_verdict_are_read(browser: Any, full: Report) -> None:
    with Visit(browser, full, 1000) as visit:
        assert visit.page.title() == "Audit of release.csv"
        assert visit.page.locator("h1").count() == 1
        headings = visit.page.locator("h2").all_inner_texts()
        assert len(headings) == len(set(headings)) == 12
        for expected in ("The adversaries", "The people most at risk", "What was not tested", "How to repeat this"):
            assert expected in headings
        verdict = visit.page.locator("div.verdict")
        assert verdict.inner_text().startswith("The release violates the policy.\n")
        assert "whether being in the release helps an attacker" in verdict.inner_text()
        assert verdict.is_visible()
        assert visit.page.locator("script").count() == 0
        assert visit.page.locator("html").get_attribute("lang") == "en"
        # Letters that can be read at arm's length.
        size = visit.page.evaluate("parseFloat(getComputedStyle(document.querySelector('p')).fontSize)")
        assert size >= 15


def test_it_prints_on_several_pages(browser: Any, full: Report) -> None:
    with Visit(browser, full, 1000) as visit:
        paper = visit.page.pdf(format="A4")
        assert paper.startswith(b"%PDF-")
        pages = len(re.findall(rb"/Type\s*/Page\b(?!s)", paper))
        assert 2 <= pages <= 15
        visit.page.emulate_media(media="print")
        visit.page.set_viewport_size({"width": 794, "height": 1123})  # A4 at 96 dots an inch
        assert visit.page.evaluate("document.documentElement.scrollWidth") <= 794
        # On paper nothing scrolls: whatever a table hides at the right is lost.
        hidden = visit.page.evaluate(
            "() => [...document.querySelectorAll('.scroll')].filter(e => e.scrollWidth > e.clientWidth + 1).length"
        )
        assert hidden == 0


def test_a_page_that_asks_for_something_is_caught(browser: Any, full: Report) -> None:
    """The control of these tests: a page with an image from elsewhere and a script that fails does not pass them."""
    spoiled = full.path.with_name("spoiled.html")
    spoiled.write_text(
        full.html.replace("</main>", "<img src='https://example.org/x.png'><script>undefinedThing()</script></main>"),
        encoding="utf-8",
    )
    with Visit(browser, Report(0, "", {}, "", spoiled), 1000) as visit:
        assert "https://example.org/x.png" in visit.requests
        assert any("undefinedThing" in complaint for complaint in visit.complaints)


@pytest.mark.parametrize("width", [390, 1000])
def test_the_papers_stay_inside_the_screen(width: int, browser: Any, tmp_path: Path) -> None:
    """Charts of every kind, wide tables and long words, from papers that need no data or none that is not here."""
    made = error.build(quick=True)
    wide = Exhibit(
        "Table 9", "wide", "text", ["head"] * 12, [["a long cell of words", *["0.123 ± 0.001"] * 10, "note " * 30]]
    )
    long = Exhibit("Figure 9", "long", compared=[Compared("word" * 20, "printed" * 12, "ours" * 15, "why " * 40)])
    paper = Paper(made.key, made.citation, (*made.exhibits, wide, long), made.data)
    path = tmp_path / "reproduce.html"
    path.write_text(reproduce.page([paper], ERRATA, TITLES, {"relative": "no data"}, {"seconds": 1}), encoding="utf-8")
    with Visit(browser, Report(0, "", {}, "", path), width) as visit:
        assert visit.complaints == []
        assert visit.requests == [path.as_uri()]
        assert visit.page.evaluate("document.documentElement.scrollWidth") <= width
        outside = visit.page.evaluate(
            """() => [...document.querySelectorAll('main *')]
                .filter(e => e.getBoundingClientRect().right > window.innerWidth + 1 && !e.closest('.scroll') && !e.closest('svg'))
                .map(e => e.tagName)"""
        )
        assert outside == []
        assert visit.page.locator("h1").count() == 1
        visit.page.locator("nav a", has_text="Figure 10").click()
        box = visit.page.locator("#error-figure-10").bounding_box()
        assert -1 <= box["y"] < 800  # the contents lead there
        # What is compared is read whole at any width: nothing of it scrolls.
        hidden = visit.page.evaluate(
            "() => [...document.querySelectorAll('.compared .scroll')].filter(e => e.scrollWidth > e.clientWidth + 1).length"
        )
        assert hidden == 0
