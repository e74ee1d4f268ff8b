"""`dalenius guide`: five questions that lead to a measure, why it fits, what it does not tell, and the command to run."""

from __future__ import annotations

import sys
import textwrap
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from dalenius.cli.common import JsonOption, QuietOption, say, write_json

if TYPE_CHECKING:
    from dalenius.measure.guide import Question
    from dalenius.measure.guide_texts import Recommendation

WIDTH = 100
TRIES = 3


def register(app: typer.Typer) -> None:
    app.command("guide")(command)


def command(
    about: Annotated[
        str | None, typer.Option("--about", metavar="identity|attribute", help="What must nobody find out?")
    ] = None,
    loss: Annotated[
        str | None, typer.Option("--loss", metavar="hamming|graded", help="Does a near miss help the attacker?")
    ] = None,
    loss_known: Annotated[
        str | None,
        typer.Option("--loss-known", metavar="yes|no", help="Do you know what a near miss is worth to the attacker?"),
    ] = None,
    observations: Annotated[
        str | None,
        typer.Option(
            "--observations", metavar="single|repeated", help="Does it guess one value or a sequence of them?"
        ),
    ] = None,
    case: Annotated[
        str | None, typer.Option("--case", metavar="worst|average|best", help="Which case must the number describe?")
    ] = None,
    everything: Annotated[bool, typer.Option("--all", help="Ask nothing and print the whole table.")] = False,
    json: JsonOption = None,
    quiet: QuietOption = False,
) -> None:
    """Find the measure that fits your case, what it does not tell, and the command to run.

    On a terminal it asks what no option answers and what still matters; in a script name the answers.
    """
    from dalenius.errors import InputError
    from dalenius.measure.guide import QUESTIONS, check, needed_answers, open_questions, recommend
    from dalenius.output import check_writable

    named = {"about": about, "loss": loss, "loss_known": loss_known, "observations": observations, "case": case}
    words = {question.key: question.words for question in QUESTIONS}
    answers = {key: _begun(answer, words[key]) or answer for key, answer in named.items() if answer is not None}
    check(answers)
    if json not in (None, "-"):
        check_writable(Path(json), inputs=[])
    if everything:
        if answers:
            raise InputError("--all prints the whole table: leave the answers out.")
        if json is not None:
            write_json(json, _whole())
        if json != "-":
            for line in _table():
                say(quiet, line)
        return
    missing = open_questions(answers)
    if missing and not (sys.stdin and sys.stdin.isatty() and sys.stderr.isatty()):
        flags = ", ".join(f"{question.flag} {'|'.join(question.words)}" for question in missing)
        raise InputError(f"There is no terminal to ask on. Answer with options, or see all with --all: {flags}.")
    while missing:
        answers[missing[0].key] = _ask(missing[0])
        missing = open_questions(answers)
    found = recommend(answers)
    if json is not None:
        write_json(json, {"answers": {one.key: answers.get(one.key) for one in QUESTIONS}, **_document(found)})
    if json == "-":
        return
    needed = needed_answers(answers)
    given = " ".join(f"{one.flag} {needed[one.key]}" for one in QUESTIONS if one.key in needed)
    for line in [f"dalenius guide {given}", "", *_shown(found)]:
        say(quiet, line)


def _ask(question: Question) -> str:
    """An answer by its number, its word or the beginning of that; asked on standard error, so that results stay apart."""
    from dalenius.errors import InputError

    typer.echo(question.text, err=True)
    for number, answer in enumerate(question.answers, 1):
        lead = f"  {number}  {answer.key:<10} "
        typer.echo(_wrapped(answer.text, lead), err=True)
    for _ in range(TRIES):
        try:
            typer.echo("> ", nl=False, err=True)
            line = sys.stdin.readline()
        except KeyboardInterrupt:
            typer.echo(err=True)
            raise
        if not line:  # the end of the input, ctrl-D
            typer.echo(err=True)
            raise typer.Abort
        word = _understood(line, question.words)
        if word is not None:
            typer.echo(err=True)
            return word
        typer.echo(f"Please answer with a number from 1 to {len(question.words)}, or {question.choice}.", err=True)
    raise InputError(
        f"No answer was understood. It can be given as an option: {question.flag} {'|'.join(question.words)}."
    )


def _understood(line: str, words: tuple[str, ...]) -> str | None:
    text = line.strip().lower()
    if text.isdecimal():
        return words[int(text) - 1] if len(text) < 3 and 1 <= int(text) <= len(words) else None
    return _begun(text, words)


def _begun(text: str, words: tuple[str, ...]) -> str | None:
    """The one word that begins so."""
    found = [word for word in words if text.strip() and word.startswith(text.strip().lower())]
    return found[0] if len(found) == 1 else None


def _document(found: Recommendation) -> dict[str, Any]:
    also = [{"purpose": one.purpose, "command": one.command, "keys": one.keys} for one in found.also]
    return {
        "measure": found.measure,
        "why": found.why,
        "assumes": found.assumes,
        "limits": found.limits,
        "bounds": found.bounds,
        "notation": found.notation,
        "command": found.command,
        "keys": found.keys,
        "also": also,
        "reference": found.reference,
    }


def _whole() -> dict[str, Any]:
    from dalenius.measure.guide import QUESTIONS, RULES

    questions = [
        {
            "key": one.key,
            "flag": one.flag,
            "question": one.text,
            "answers": {answer.key: answer.text for answer in one.answers},
        }
        for one in QUESTIONS
    ]
    rules = [{"answers": {one.key: rule.wants(one.key) for one in QUESTIONS}, **_document(rule.then)} for rule in RULES]
    return {"questions": questions, "rules": rules}


def _shown(found: Recommendation) -> Iterable[str]:
    """A recommendation as text."""
    yield _wrapped(found.measure, "Measure  ")
    yield "\nWhy it fits"
    yield _wrapped(found.why, "  ")
    for head, sentences in (("What it assumes", found.assumes), ("What it does not tell", found.limits)):
        yield f"\n{head}"
        for sentence in sentences:
            yield _wrapped(sentence, "  - ")
    yield "\nWhat it says about the attacker's error"
    yield _wrapped(found.bounds, "  ")
    for sign, meaning in found.notation.items():
        yield _wrapped(meaning, f"    {sign:<5}  ")
    yield "\nRun"
    yield from _run(found.command, found.keys)
    for other in found.also:
        yield _wrapped(f"{other.purpose}:", "  ")
        yield from _run(other.command, other.keys)
    yield "\nSource"
    yield _wrapped(found.reference, "  ")


def _run(line: str, keys: tuple[str, ...]) -> Iterable[str]:
    yield f"    {line}"  # never broken: it is there to be copied
    if keys:
        yield _wrapped(f"read {', '.join(keys)}", "      ")


def _table() -> Iterable[str]:
    """The whole table: the questions, then every rule with its measure and command."""
    from dalenius.measure.guide import QUESTIONS, RULES

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


def _wrapped(text: str, lead: str) -> str:
    """A sentence after its lead, its further lines below its first."""
    return textwrap.fill(
        text, WIDTH, initial_indent=lead, subsequent_indent=" " * len(lead), break_long_words=False,
        break_on_hyphens=False,
    )  # fmt: skip
