"""The documentation site: it builds without a warning, loads nothing from elsewhere, fits the screen, and can be searched as files.

Screenshots go to the folder that DALENIUS_SCREENSHOTS names, or to a temporary one. The test prints which.
"""

from __future__ import annotations

import os
import re
import runpy
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import LONG, ROOT, lacking

pytestmark = pytest.mark.slow

sys.path.insert(0, str(ROOT / "scripts"))  # the hooks import their neighbours, as in a build

pytestmark = pytest.mark.slow

PAGES = ["index.html", "adversaries/index.html", "api/functions.html", "quickstart.html"]
WIDTHS = [390, 1280]
# What a browser loads by itself. Links that a reader may click are no concern here.
LOADED = (
    re.compile(r"<(?:script|link|img|iframe|source)\b[^>]*?\b(?:src|href|srcset)\s*=\s*[\"']?\s*((?:https?:)?//[^\"'\s>]+)", re.I),
    re.compile(r"(?:url\(|@import)\s*[\"']?\s*((?:https?:)?//[^\"')\s]+)", re.I),
)  # fmt: skip


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("site") / "site"
    environment = {**os.environ, "NO_MKDOCS_2_WARNING": "1"}
    command = [sys.executable, "-m", "mkdocs", "build", "--strict", "--quiet", "--site-dir", str(folder)]
    done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, timeout=LONG)
    assert done.returncode == 0, done.stdout + done.stderr
    return folder


@pytest.fixture(scope="module")
def screenshots(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = Path(os.environ.get("DALENIUS_SCREENSHOTS") or tmp_path_factory.mktemp("screenshots"))
    folder.mkdir(parents=True, exist_ok=True)
    print(f"screenshots: {folder}")
    return folder


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    path = shutil.which("chromium")
    if path is None:
        lacking("chromium")
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        arguments = ["--no-sandbox", "--disable-gpu", "--disable-background-networking"]
        started = playwright.chromium.launch(executable_path=path, args=arguments, timeout=1000 * LONG)
        yield started
        started.close()


@pytest.fixture
def visit(browser: Any) -> Iterator[Any]:
    """Open a page without a network; return it with a list of what went wrong, requests to elsewhere among it."""
    contexts = []

    def open_page(address: str, width: int) -> tuple[Any, list[str]]:
        context = browser.new_context(viewport={"width": width, "height": 900}, offline=True)
        context.set_default_timeout(1000 * LONG)
        contexts.append(context)
        page, problems = context.new_page(), []
        page.on("pageerror", lambda error: problems.append(str(error)))
        page.on("requestfailed", lambda request: problems.append(f"failed: {request.url}"))
        page.on(
            "request",
            lambda request: (
                None if request.url.startswith(("file:", "data:", "blob:")) else problems.append(request.url)
            ),
        )
        page.goto(address, wait_until="load")
        return page, problems

    yield open_page
    for context in contexts:
        context.close()


def loaded_from_elsewhere(folder: Path) -> list[str]:
    return [
        f"{path.relative_to(folder)}: {address}"
        for path in sorted(folder.rglob("*"))
        if path.suffix in (".html", ".css", ".svg")
        for pattern in LOADED
        for address in pattern.findall(path.read_text(encoding="utf-8"))
    ]


def test_nothing_is_loaded_from_elsewhere(site: Path) -> None:
    assert len(list(site.rglob("*.html"))) > 40
    assert loaded_from_elsewhere(site) == []


@pytest.mark.parametrize(
    "text",
    [
        '<script src="https://cdn.example/x.js"></script>',
        "<link rel=stylesheet href=//fonts.example/css>",
        "<img alt='a' src='http://example.org/x.png'>",
        "<style>@import 'https://example.org/x.css'; a { background: url(https://example.org/y.png) }</style>",
    ],
)
def test_what_comes_from_elsewhere_is_noticed(text: str, tmp_path: Path) -> None:
    (tmp_path / "page.html").write_text(text + '<a href="https://example.org">a link</a>', encoding="utf-8")
    assert loaded_from_elsewhere(tmp_path)


@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("name", PAGES)
def test_a_page_fits_the_screen(name: str, width: int, site: Path, visit: Any, screenshots: Path) -> None:
    page, problems = visit((site / name).as_uri(), width)
    page.screenshot(path=screenshots / f"{name.removesuffix('.html').replace('/', '-')}-{width}.png")
    assert problems == []
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    # What is wider than the screen scrolls in a frame of its own: nothing else sticks out.
    outside = page.evaluate(
        """() => [...document.querySelectorAll('.md-content *')].filter(e => {
            if (e.getBoundingClientRect().right <= window.innerWidth + 1) return false;
            for (let p = e.parentElement; p && !p.matches('.md-content'); p = p.parentElement)
                if (getComputedStyle(p).overflowX !== 'visible') return false;
            return !e.closest('svg');
        }).map(e => e.tagName + ' ' + e.textContent.slice(0, 40))"""
    )
    assert outside == []


def search(page: Any, word: str) -> None:
    """Type a word into the search field once the index is loaded, and wait for the answer."""
    page.locator("input.md-search__input").click()
    answer = "document.querySelector('.md-search-result__meta').textContent"
    page.wait_for_function(f"{answer}.includes('Type to start')")
    page.locator("input.md-search__input").press_sequentially(word)
    page.wait_for_function(f"{answer}.includes('matching document')")


def test_search_works_on_files(site: Path, visit: Any, screenshots: Path) -> None:
    page, problems = visit((site / "index.html").as_uri(), 1280)
    search(page, "anatomy")
    page.screenshot(path=screenshots / "search-1280.png")
    results = page.locator(".md-search-result__item").all_inner_texts()
    assert any("Anatomy" in result for result in results)
    page.locator(".md-search-result__item a").first.click()
    page.wait_for_load_state()
    assert "anatomy" in page.locator(".md-content").inner_text().lower()
    assert problems == []


def test_search_finds_nothing_that_is_not_there(site: Path, visit: Any) -> None:
    page, _ = visit((site / "index.html").as_uri(), 1280)
    search(page, "xylophone")
    assert page.locator(".md-search-result__item").count() == 0


def test_links_out_of_the_pages_lead_somewhere(site: Path) -> None:
    """Every relative link of the built site leads to a file, those to README and to source files included."""
    wrong = []
    for path in site.rglob("*.html"):
        if path.name == "404.html":
            continue  # its links are meant for a server's root
        for link in re.findall(r'<a [^>]*?href="([^"#?]+)', path.read_text(encoding="utf-8")):
            if not re.match(r"[a-z]+:", link) and not (path.parent / link).exists():
                wrong.append(f"{path.relative_to(site)}: {link}")
    assert wrong == []
    assert (site / "project" / "readme.html").is_file()


def test_signatures_show_types_and_nothing_of_the_command_line(site: Path) -> None:
    text = re.sub(r"<[^>]+>", "", (site / "api" / "functions.html").read_text(encoding="utf-8"))
    assert "publish(" in text
    assert "Annotated" not in text
    assert "context:" not in text


HOOKS = runpy.run_path(str(ROOT / "scripts" / "site_hooks.py"))


@pytest.mark.parametrize(
    ("source", "text", "expected"),
    [
        ("docs/quickstart.md", "[a](../README.md#x)", "[a](project/readme.md#x)"),
        ("docs/adversaries/attacker.md", "[a](../../CHANGELOG.md)", "[a](../project/changelog.md)"),
        ("docs/adversaries/attacker.md", "[a](../threats.md#b)", "[a](../threats.md#b)"),
        ("docs/extending.md", "[a](../examples/my_criterion.py)", "[a](files/examples/my_criterion.py)"),
        ("README.md", "![a](docs/demo.svg) [b](docs/adversaries/)", "![a](../demo.svg) [b](../adversaries/README.md)"),
        ("README.md", "[a](https://x.org) [b](#here) `[c](docs/api.md)`", "[a](https://x.org) [b](#here) `[c](docs/api.md)`"),
        ("README.md", "```\n[a](docs/api.md)\n```\n[a](docs/api.md)", "```\n[a](docs/api.md)\n```\n[a](../api.md)"),
    ],
)  # fmt: skip
def test_links_are_rewritten(source: str, text: str, expected: str) -> None:
    assert HOOKS["rewrite_links"](text, source) == expected


def test_lists_are_separated_from_the_paragraph_before() -> None:
    text = "Three:\n- a\n- b\n\n```\nx\n- y\n```\n"
    assert HOOKS["separate_lists"](text) == "Three:\n\n- a\n- b\n\n```\nx\n- y\n```\n"


def test_examples_in_docstrings_become_code() -> None:
    fence = runpy.run_path(str(ROOT / "scripts" / "site_docstrings.py"))["fence_examples"]
    assert fence("Say so.\n>>> 1 + 1\n2\n\nThen.") == "Say so.\n\n```pycon\n>>> 1 + 1\n2\n```\n\nThen."
    assert fence("Say so.\n\n>>> 1") == "Say so.\n\n```pycon\n>>> 1\n```"
    assert fence("```\n>>> 1\n```") == "```\n>>> 1\n```"
