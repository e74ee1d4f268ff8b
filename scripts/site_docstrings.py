"""Prepare docstrings for the site: put examples with prompts (`>>>`) into code blocks, which Markdown would take for quotations.

An extension of Griffe, the tool that reads the source for mkdocstrings. It is named in mkdocs.yml.
"""

from __future__ import annotations

from typing import Any

import griffe

PROMPTS = (">>>", "...")


def fence_examples(text: str) -> str:
    """Return the docstring with each example with prompts inside a fence, up to the next blank line."""
    lines: list[str] = []
    fenced = example = False
    for line in text.splitlines():
        bare = line.strip()
        if bare.startswith("```"):
            fenced = not fenced
        if not (fenced or example) and bare.startswith(PROMPTS[0]):
            indent = line[: len(line) - len(line.lstrip())]
            if lines and lines[-1].strip():
                lines.append("")
            lines.append(f"{indent}```pycon")
            example = True
        elif example and not bare:
            lines.append(f"{indent}```")
            example = False
        lines.append(line)
    if example:
        lines.append(f"{indent}```")
    return "\n".join(lines)


class Examples(griffe.Extension):
    """Put the examples of every docstring into code blocks."""

    def on_object(self, *, obj: griffe.Object, **_: Any) -> None:
        if obj.docstring is not None and PROMPTS[0] in obj.docstring.value:
            obj.docstring.value = fence_examples(obj.docstring.value)
