"""Take the pictures in docs/pictures from the demo's reports, in Chromium. Run this by hand after a change of the reports.

Usage: python scripts/take_pictures.py [FOLDER], with a folder in which `dalenius demo` has run already.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

PICTURES = Path(__file__).resolve().parent.parent / "docs" / "pictures"
LARGEST = 300_000  # bytes, all pictures together
FRONTIER = "--method mondrian --method microaggregation"
POLICY = "--truth demo/patients.csv --holdout demo/others.csv --schema demo/policy.toml"
COMMANDS = {
    "report.html": f"audit demo/release.csv {POLICY} -o report.html",
    "careful.html": f"audit demo/careful.csv {POLICY} -o careful.html",
    "frontier.html": f"frontier demo/patients.csv --schema demo/privacy.toml {FRONTIER} -o frontier.html",
    "lattice.html": "lattice demo/patients.csv --schema demo/privacy.toml --adversary I:table:1e3 -o lattice.html",
}
# Each picture: the page it shows, and which of its charts; without a chart the top of the page.
SHOWN = {
    "report": ("report.html", None),
    "passed": ("careful.html", None),
    "adversaries": ("report.html", 1),
    "frontier": ("frontier.html", 0),
    "lattice": ("lattice.html", 0),
}


def make_pages(folder: Path) -> None:
    """Write the reports that are not there yet."""
    wanted = {"demo/report.html": "demo", **COMMANDS}
    for name, command in wanted.items():
        if not (folder / name).is_file():
            call = [sys.executable, "-m", "dalenius", *command.split()]
            done = subprocess.run(call, cwd=folder, capture_output=True, text=True)
            if done.returncode not in (0, 1):  # 1: the policy is violated, as the picture shows
                sys.exit(done.stderr)


def take(browser: Any, folder: Path, name: str) -> None:
    """Save one picture."""
    page_name, chart = SHOWN[name]
    page = browser.new_page(viewport={"width": 860, "height": 730})
    page.goto((folder / page_name).as_uri())
    path = PICTURES / f"{name}.png"
    if chart is None:
        page.screenshot(path=path)
    else:
        page.locator("figure svg").nth(chart).screenshot(path=path)
    page.close()


def main(folder: Path) -> None:
    from playwright.sync_api import sync_playwright

    make_pages(folder)
    PICTURES.mkdir(exist_ok=True)
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=shutil.which("chromium"), args=["--no-sandbox"])
        for name in SHOWN:
            take(browser, folder, name)
        browser.close()
    size = sum(path.stat().st_size for path in PICTURES.iterdir())
    print(f"{len(SHOWN)} pictures, {size / 1000:.0f} kB")
    if size > LARGEST:
        sys.exit(f"The pictures take more than {LARGEST / 1000:.0f} kB.")


if __name__ == "__main__":
    if len(sys.argv) > 1:
        main(Path(sys.argv[1]).resolve())
    else:
        with tempfile.TemporaryDirectory() as name:
            main(Path(name))
