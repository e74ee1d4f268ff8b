"""`dalenius guide`: five questions that lead to a measure, why it fits, what it does not tell, and the command to run."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from dalenius.cli import common, declared

if TYPE_CHECKING:
    from dalenius.measures.guide import Question

TRIES = 3

NO_ENGINE = "asks questions and reads no rows"  # why it takes no --engine


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
    json: declared.Json = None,
    quiet: declared.Quiet = False,
) -> None:
    """Find the measure that fits your case, what it does not tell, and the command to run.

    On a terminal it asks what no option answers and what still matters; in a script name the answers.
    """
    from dalenius.errors import InputError
    from dalenius.measures.guide import complete, guide
    from dalenius.output import check_writable
    from dalenius.reports.guide import lines

    named = {"about": about, "loss": loss, "loss_known": loss_known, "observations": observations, "case": case}
    answers = complete(named)
    if json not in (None, "-"):
        check_writable(Path(json), inputs=[])
    if everything:
        if answers:
            raise InputError("--all prints the whole table: leave the answers out.")
        _print_all(json, quiet)
        return
    guidance = guide(_ask_rest(answers))
    if json is not None:
        common.write_json(json, guidance.to_document())
    for line in lines(guidance) if json != "-" else ():
        common.say(quiet, line)


def _print_all(json: str | None, quiet: bool) -> None:
    """The whole table."""
    from dalenius.measures.guide import to_document
    from dalenius.reports.guide import table_lines

    if json is not None:
        common.write_json(json, to_document())
    for line in table_lines() if json != "-" else ():
        common.say(quiet, line)


def _ask_rest(answers: dict[str, str]) -> dict[str, str]:
    """The answers with those to the questions that are still open, asked on the terminal."""
    from dalenius.errors import InputError
    from dalenius.measures.guide import open_questions

    missing = open_questions(answers)
    if missing and not (sys.stdin and sys.stdin.isatty() and sys.stderr.isatty()):
        flags = ", ".join(f"{question.flag} {'|'.join(question.words)}" for question in missing)
        raise InputError(f"There is no terminal to ask on. Answer with options, or see all with --all: {flags}.")
    while missing:
        answers = {**answers, missing[0].key: _ask(missing[0])}
        missing = open_questions(answers)
    return answers


def _ask(question: Question) -> str:
    """An answer by its number, its word or the beginning of that; asked on standard error, so that results stay apart."""
    from dalenius.errors import InputError
    from dalenius.reports.guide import question_lines

    for text in question_lines(question):
        typer.echo(text, err=True)
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
        word = question.understand(line)
        if word is not None:
            typer.echo(err=True)
            return word
        typer.echo(f"Please answer with a number from 1 to {len(question.words)}, or {question.choice}.", err=True)
    raise InputError(
        f"No answer was understood. It can be given as an option: {question.flag} {'|'.join(question.words)}."
    )
