"""The guide as terminal text and as a page of the documentation."""

from __future__ import annotations

from collections.abc import Iterator

from dalenius.measures.guide import NOTATION, QUESTIONS, RULES, Guidance, Question, Recommendation
from dalenius.reports.layout import wrapped
from dalenius.reports.words import guide as say

__all__ = ["lines", "markdown", "question_lines", "table_lines"]


def lines(guidance: Guidance) -> list[str]:
    """Return what `dalenius guide` prints once every question is answered."""
    return [guidance.command, "", *_recommended(guidance.recommendation)]


def question_lines(question: Question) -> list[str]:
    """Return a question, and its answers by number and word."""
    text = [question.text]
    for i, answer in enumerate(question.answers, 1):
        text += wrapped(answer.text, lead=f"{i}  {answer.key:<10} ")
    return text


def _recommended(advice: Recommendation) -> Iterator[str]:
    """Return a recommendation as text."""
    yield from wrapped(advice.measure, indent=0, lead=f"{say.MEASURE}  ")
    yield f"\n{say.WHY}"
    yield from wrapped(advice.why)
    for title, sentences in ((say.ASSUMES, advice.assumes), (say.LIMITS, advice.limits)):
        yield f"\n{title}"
        for sentence in sentences:
            yield from wrapped(sentence, lead="- ")
    yield f"\n{say.BOUNDS}"
    yield from wrapped(advice.bounds)
    for sign, meaning in advice.notation.items():
        yield from wrapped(meaning, indent=4, lead=f"{sign:<5}  ")
    yield f"\n{say.RUN}"
    yield from _run(advice.command, advice.keys)
    for other in advice.also:
        yield from wrapped(say.purpose(other.purpose))
        yield from _run(other.command, other.keys)
    yield f"\n{say.SOURCE}"
    yield from wrapped(advice.reference)


def _run(command: str, keys: tuple[str, ...]) -> Iterator[str]:
    yield f"    {command}"  # never wrapped: readers copy it
    if keys:
        yield from wrapped(say.read(", ".join(keys)), indent=6)


def table_lines() -> Iterator[str]:
    """Return the whole table: the questions, then every rule with its measure."""
    for question in QUESTIONS:
        yield from wrapped(f"{question.text}  {question.flag}", indent=0)
        for answer in question.answers:
            yield from wrapped(answer.text, lead=f"{answer.key:<10} ")
    heads = [say.HEADS.get(question.key, question.key) for question in QUESTIONS]
    widths = [max(map(len, (*question.words, head))) for question, head in zip(QUESTIONS, heads, strict=True)]
    yield (
        "\n  "
        + "  ".join(f"{head:<{width}}" for head, width in zip(heads, widths, strict=True))
        + f"  {say.MEASURE_COLUMN}"
    )
    for rule in RULES:
        wanted = [rule.wants(question.key) or say.ANY for question in QUESTIONS]
        lead = "  ".join(f"{word:<{width}}" for word, width in zip(wanted, widths, strict=True)) + "  "
        yield from wrapped(rule.then.measure, lead=lead)
    yield ""
    yield from wrapped(say.ANY_MEANS, indent=0)


def markdown() -> str:
    """Return the whole table for the documentation: questions, rules, and a section for each recommendation."""
    text = [f"| {' | '.join(say.QUESTION_COLUMNS)} |", "|---|---|---|"]
    for question in QUESTIONS:
        answers = "<br>".join(f"`{answer.key}`: {answer.text}" for answer in question.answers)
        text.append(f"| {question.text} | `{question.flag}` | {answers} |")
    heads = " | ".join(question.key.replace("_", " ") for question in QUESTIONS)
    text += ["", f"| {heads} | {say.MEASURE_COLUMN} |", "|---" * (len(QUESTIONS) + 1) + "|"]
    for rule in RULES:
        wanted = " | ".join(rule.wants(question.key) or say.ANY for question in QUESTIONS)
        text.append(f"| {wanted} | {rule.then.measure} |")
    text += ["", say.SIGNS, ""]
    text += [f"- {sign}: {meaning}" for sign, meaning in NOTATION.items()]
    for rule in RULES:
        text += _section(rule.then)
    return "\n".join(text) + "\n"


def _section(advice: Recommendation) -> list[str]:
    """Return the section of a recommendation."""
    item = {name: f"- *{title}*" for name, title in say.ITEMS.items()}
    return [
        "",
        f"### {advice.measure}",
        "",
        advice.why,
        "",
        *(f"{item['assumes']} {sentence}" for sentence in advice.assumes),
        *(f"{item['limit']} {sentence}" for sentence in advice.limits),
        f"{item['bound']} {advice.bounds}",
        f"{item['run']} `{advice.command}`{_read(advice.keys)}",
        *(f"- *{other.purpose}.* `{other.command}`{_read(other.keys)}" for other in advice.also),
        f"{item['source']} {advice.reference}",
    ]


def _read(keys: tuple[str, ...]) -> str:
    return f"; {say.read(', '.join(f'`{key}`' for key in keys))}" if keys else ""
