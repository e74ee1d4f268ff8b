"""The guide as terminal text and as a page of the documentation."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator

from dalenius.measures.guide import NOTATION, QUESTIONS, RULES, Guidance, Question, Recommendation

WIDTH = 100


def lines(guidance: Guidance) -> list[str]:
    """What `dalenius guide` prints once all is answered."""
    return [guidance.command, "", *_recommended(guidance.recommendation)]


def question_lines(question: Question) -> list[str]:
    """A question, and the answers by number and word."""
    answers = [_wrapped(answer.text, f"  {i}  {answer.key:<10} ") for i, answer in enumerate(question.answers, 1)]
    return [question.text, *answers]


def _recommended(advice: Recommendation) -> Iterator[str]:
    """A recommendation as text."""
    yield _wrapped(advice.measure, "Measure  ")
    yield "\nWhy it fits"
    yield _wrapped(advice.why, "  ")
    for head, sentences in (("What it assumes", advice.assumes), ("What it does not tell", advice.limits)):
        yield f"\n{head}"
        for sentence in sentences:
            yield _wrapped(sentence, "  - ")
    yield "\nWhat it says about the attacker's error"
    yield _wrapped(advice.bounds, "  ")
    for sign, meaning in advice.notation.items():
        yield _wrapped(meaning, f"    {sign:<5}  ")
    yield "\nRun"
    yield from _run(advice.command, advice.keys)
    for other in advice.also:
        yield _wrapped(f"{other.purpose}:", "  ")
        yield from _run(other.command, other.keys)
    yield "\nSource"
    yield _wrapped(advice.reference, "  ")


def _run(line: str, keys: tuple[str, ...]) -> Iterator[str]:
    yield f"    {line}"  # never broken: it is there to be copied
    if keys:
        yield _wrapped(f"read {', '.join(keys)}", "      ")


def table_lines() -> Iterator[str]:
    """The whole table: the questions, then every rule with its measure and command."""
    for question in QUESTIONS:
        yield f"{question.text}  {question.flag}"
        for answer in question.answers:
            yield _wrapped(answer.text, f"  {answer.key:<10} ")
    widths = [max(map(len, (*question.words, question.key))) for question in QUESTIONS]
    heads = [question.key.replace("_", " ") for question in QUESTIONS]
    yield "\n  " + "  ".join(f"{head:<{width}}" for head, width in zip(heads, widths, strict=True)) + "  measure"
    for rule in RULES:
        wanted = [rule.wants(question.key) or "any" for question in QUESTIONS]
        lead = "  " + "  ".join(f"{word:<{width}}" for word, width in zip(wanted, widths, strict=True)) + "  "
        yield _wrapped(rule.then.measure, lead)
    yield "\nA question with `any` changes nothing there. Give the answers to see why a measure fits and what to run."


def markdown() -> str:
    """The whole table for the documentation: questions, rules, and a section for each recommendation."""
    lines = ["| question | flag | answers |", "|---|---|---|"]
    for question in QUESTIONS:
        answers = "<br>".join(f"`{answer.key}`: {answer.text}" for answer in question.answers)
        lines.append(f"| {question.text} | `{question.flag}` | {answers} |")
    lines += ["", f"| {' | '.join(question.key.replace('_', ' ') for question in QUESTIONS)} | measure |"]
    lines.append("|---" * (len(QUESTIONS) + 1) + "|")
    for rule in RULES:
        wanted = " | ".join(rule.wants(question.key) or "any" for question in QUESTIONS)
        lines.append(f"| {wanted} | {rule.then.measure} |")
    lines += ["", "Symbols in the bounds, where y is what the attacker observes:", ""]
    lines += [f"- {sign}: {meaning}" for sign, meaning in NOTATION.items()]
    for rule in RULES:
        one = rule.then
        lines += ["", f"### {one.measure}", "", one.why, ""]
        lines += [f"- *Assumes.* {sentence}" for sentence in one.assumes]
        lines += [f"- *Limit.* {sentence}" for sentence in one.limits]
        lines += [f"- *Bound.* {one.bounds}", f"- *Run.* `{one.command}`{_read(one.keys)}"]
        lines += [f"- *{other.purpose}.* `{other.command}`{_read(other.keys)}" for other in one.also]
        lines.append(f"- *Source.* {one.reference}")
    return "\n".join(lines) + "\n"


def _read(keys: tuple[str, ...]) -> str:
    return f"; read {', '.join(f'`{key}`' for key in keys)}" if keys else ""


def _wrapped(text: str, lead: str) -> str:
    """A sentence after its lead, its further lines below its first."""
    return textwrap.fill(
        text, WIDTH, initial_indent=lead, subsequent_indent=" " * len(lead), break_long_words=False,
        break_on_hyphens=False,
    )  # fmt: skip
