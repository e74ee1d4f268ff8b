"""Hooks of the documentation site (mkdocs.yml names this file).

The pages in docs/ are written for a reader of the repository. On the site
- README, CHANGELOG, CONTRIBUTING and SECURITY are pages under project/;
- a link from a page to such a file leads to that page, and a link to any other file of the repository to a copy of it;
- headings have the anchors that GitHub gives them;
- commands.md shows the help text of every command, and the pages under api/ the docstrings.
"""

from __future__ import annotations

import os
import posixpath
import re
import sys
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent))  # the scripts beside this one

from check_docs import CODE, FENCE, LINK, slug
from mkdocs.structure.files import File
from site_api import PAGES

ROOT = Path(__file__).resolve().parent.parent
PROJECT = {
    "README.md": "project/readme.md",
    "CHANGELOG.md": "project/changelog.md",
    "CONTRIBUTING.md": "project/contributing.md",
    "SECURITY.md": "project/security.md",
}
COPIES = "files"  # the folder of the site with copies of other files that pages link to
SKIPPED = re.compile(f"{FENCE.pattern}|{CODE.pattern}", re.MULTILINE | re.DOTALL)
SCHEME = re.compile(r"[a-z]+:|#")
LIST_ITEM = re.compile(r"(?:[-*] |\d+\. )")


def on_config(config: Any) -> Any:
    """Give headings the anchors that GitHub gives them."""
    config.mdx_configs.setdefault("toc", {})["slugify"] = lambda text, _separator: slug(text)
    return config


def on_files(files: Any, config: Any) -> Any:
    """Add the pages that are not in docs/, and the files that pages link to."""
    sources = {f"docs/{page.src_uri}": page.content_string for page in files.documentation_pages()}
    for source, place in PROJECT.items():
        sources[source] = (ROOT / source).read_text(encoding="utf-8")
        files.append(File.generated(config, place, content=sources[source]))
    files.append(File.generated(config, "commands.md", content=commands()))
    for place, page in PAGES.items():
        files.append(File.generated(config, place, content=page.markdown()))
    for name in sorted({name for source, text in sources.items() for name in copied(source, text)}):
        files.append(File.generated(config, f"{COPIES}/{name}", abs_src_path=str(ROOT / name)))
    return files


def on_page_markdown(markdown: str, page: Any, **_: Any) -> str:
    """Rewrite the links of a page, and separate lists from the paragraph before them."""
    place = page.file.src_uri
    source = next((name for name, at in PROJECT.items() if at == place), f"docs/{place}")
    return separate_lists(rewrite_links(markdown, source))


def rewrite_links(text: str, source: str) -> str:
    """Return the text of a file of the repository with its links as they must be on the site."""
    here = posixpath.dirname(site_place(source))

    def rewrite(match: re.Match[str]) -> str:
        whole, link = match.group(0), match.group(1)
        name, anchor = repository_name(source, link)
        if name is None:
            return whole
        place = site_place(name)
        target = posixpath.relpath(place, here or ".") + anchor
        return f"{whole[: match.start(1) - match.start(0)]}{target}{whole[match.end(1) - match.start(0) :]}"

    parts, end = [], 0
    for code in SKIPPED.finditer(text):  # examples stay as they are
        parts += [LINK.sub(rewrite, text[end : code.start()]), code.group(0)]
        end = code.end()
    return "".join([*parts, LINK.sub(rewrite, text[end:])])


def repository_name(source: str, link: str) -> tuple[str | None, str]:
    """Return the file of the repository that a link in a source leads to, if it is one, and the link's anchor."""
    if SCHEME.match(link):
        return None, ""
    name, mark, anchor = link.partition("#")
    target = posixpath.normpath(posixpath.join(posixpath.dirname(source), name))
    if (ROOT / target).is_dir():
        target = f"{target}/README.md"
    return (target if (ROOT / target).is_file() else None), mark + anchor


def site_place(name: str) -> str:
    """Return where a file of the repository is on the site, as a path below docs/."""
    if name in PROJECT:
        return PROJECT[name]
    return name.removeprefix("docs/") if name.startswith("docs/") else f"{COPIES}/{name}"


def copied(source: str, text: str) -> list[str]:
    """Return the files outside docs/ that a text links to and that are no pages of their own."""
    names = [repository_name(source, link)[0] for link in LINK.findall(SKIPPED.sub("", text))]
    return [name for name in names if name is not None and site_place(name).startswith(f"{COPIES}/")]


def separate_lists(text: str) -> str:
    """Return the text with a blank line before each list that follows a paragraph at once, which GitHub does not need."""
    lines: list[str] = []
    fenced = False
    for line in text.split("\n"):
        if line.lstrip().startswith("```"):
            fenced = not fenced
        before = lines[-1] if lines else ""
        follows = bool(before.strip()) and not before.startswith((" ", "#", ">", "|")) and not LIST_ITEM.match(before)
        if not fenced and follows and LIST_ITEM.match(line):
            lines.append("")
        lines.append(line)
    return "\n".join(lines)


def commands() -> str:
    """Return the page of all commands with their help texts."""
    os.environ["COLUMNS"] = "100"
    import typer
    from typer.testing import CliRunner

    from dalenius.cli.app import app

    runner = CliRunner()
    names = list(typer.main.get_command(app).commands)  # type: ignore[attr-defined]
    parts = ["# Command line", "", "What `dalenius COMMAND --help` prints, for every command.", ""]
    parts += ["```text", runner.invoke(app, ["--help"], prog_name="dalenius").output.strip(), "```", ""]
    for name in names:
        help_text = runner.invoke(app, [name, "--help"], prog_name="dalenius").output.strip()
        parts += [f"## dalenius {name}", "", "```text", help_text, "```", ""]
    return "\n".join(parts)
