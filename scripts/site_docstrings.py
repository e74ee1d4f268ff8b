"""Prepare the API reference for the site.

Examples with prompts (`>>>`) go into code blocks, because Markdown would take them for quotations. Signatures lose what only the
command line uses: what `Annotated` adds to a type, and the parameter `context`.

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


def plain_type(annotation: Any) -> Any:
    """Return the type in `Annotated[type, …]`, and any other annotation as it is."""
    is_annotated = isinstance(annotation, griffe.ExprSubscript) and annotation.canonical_name == "Annotated"
    if is_annotated and isinstance(annotation.slice, griffe.ExprTuple):
        return annotation.slice.elements[0]
    return annotation


class Reference(griffe.Extension):
    """Simplify signatures, and put the examples of every docstring into code blocks."""

    def on_function(self, *, func: griffe.Function, **_: Any) -> None:
        if "context" in func.parameters:
            del func.parameters["context"]
        for parameter in func.parameters:
            parameter.annotation = plain_type(parameter.annotation)

    def on_object(self, *, obj: griffe.Object, **_: Any) -> None:
        if obj.docstring is not None and PROMPTS[0] in obj.docstring.value:
            obj.docstring.value = fence_examples(obj.docstring.value)
