"""Check the documentation as a whole: links and anchors lead somewhere, every page can be reached, every command is named.

Reachable is what links lead to from README.md or docs/README.md. A command of `dalenius --help` is named if a page has it.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
LINK = re.compile(r"!?\[[^\]]*\]\(([^)\s]+)\)")
FENCE = re.compile(r"^```.*?^```$", re.MULTILINE | re.DOTALL)
CODE = re.compile(r"`[^`\n]+`")
HEADING = re.compile(r"^#+ +(.+?)\s*$", re.MULTILINE)
STARTS = ("README.md", "docs/README.md")


def pages(root: Path) -> list[Path]:
    return [root / "README.md", *sorted((root / "docs").rglob("*.md"))]


def anchors(text: str) -> set[str]:
    """The anchors of a page's headings, as GitHub makes them; of equal headings the later ones are numbered."""
    found: dict[str, int] = {}
    for heading in HEADING.findall(FENCE.sub("", text)):
        anchor = slug(re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading))
        found[anchor] = found.get(anchor, -1) + 1
        if found[anchor]:
            found[f"{anchor}-{found[anchor]}"] = 0
    return set(found)


def slug(heading: str) -> str:
    """Return the anchor that GitHub gives a heading."""
    return re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-")


def links(text: str) -> list[str]:
    """Where a page's links lead, those in examples left out."""
    return LINK.findall(CODE.sub("", FENCE.sub("", text)))


def check_links(root: Path) -> tuple[list[str], dict[Path, set[Path]]]:
    """What is wrong with the links, and which pages each page leads to."""
    wrong: list[str] = []
    leads: dict[Path, set[Path]] = {}
    for page in pages(root):
        text = page.read_text(encoding="utf-8")
        leads[page] = set()
        for link in links(text):
            if re.match(r"[a-z]+:", link):
                continue  # elsewhere: nothing is asked of a network
            name, _, anchor = link.partition("#")
            target = (page.parent / name).resolve() if name else page
            if not target.exists():
                wrong.append(f"{page.relative_to(root)}: {link} leads nowhere")
                continue
            if anchor and anchor not in anchors(target.read_text(encoding="utf-8")):
                wrong.append(f"{page.relative_to(root)}: {link}: there is no such heading")
            leads[page].add(target)
    return wrong, leads


def unreached(root: Path, leads: dict[Path, set[Path]]) -> list[str]:
    """Pages that no way of links leads to."""
    seen: set[Path] = set()
    todo = [root / start for start in STARTS]
    while todo:
        page = todo.pop()
        if page not in seen:
            seen.add(page)
            todo += [target for target in leads.get(page, ()) if target in leads]
    return [f"{page.relative_to(root)}: no link leads here" for page in leads if page not in seen]


def unnamed(root: Path) -> list[str]:
    """Commands of the program that no page has."""
    from dalenius.cli.app import app

    everything = "\n".join(page.read_text(encoding="utf-8") for page in pages(root))
    names = [command.name for command in app.registered_commands]
    return [f"dalenius {name}: no page has this command" for name in names if f"dalenius {name}" not in everything]


def check(root: Path = ROOT) -> list[str]:
    wrong, leads = check_links(root)
    return wrong + unreached(root, leads) + unnamed(root)


if __name__ == "__main__":
    problems = check()
    print("\n".join(problems) or f"{len(pages(ROOT))} pages: links, anchors and commands are in order")
    sys.exit(1 if problems else 0)
