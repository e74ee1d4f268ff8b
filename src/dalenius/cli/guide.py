"""`dalenius guide`: five questions that lead to a measure, why it fits, what it does not tell, and the command to run."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from dalenius import api
from dalenius.cli import build, common
from dalenius.options import Option

if TYPE_CHECKING:
    from dalenius.measures.guide import Question

TRIES = 3

NO_ENGINE = "asks questions and reads no rows"  # why it takes no --engine


def register(app: typer.Typer) -> None:
    """Add the command."""
    everything = Option("all", "Ask nothing and print the whole table.", bool)
    build.add(app, api.guide, run, own={"all": (everything, False), **common.REPORTING})


def run(call: build.Call) -> None:
    """Find the measure that fits your case.

    Says what the measure does not tell, and which command to run. On a terminal it asks the questions that matter and that no
    option answers. In a script, give the answers as options.
    """
    from dalenius.errors import InputError
    from dalenius.measures.guide import complete
    from dalenius.output import check_writable
    from dalenius.reports.guide import lines

    answers = complete(call.options)
    if call["json"] not in (None, "-"):
        check_writable(Path(call["json"]), inputs=[])
    if call["all"]:
        if answers:
            raise InputError("--all prints the whole table: leave the answers out.")
        _print_all(call)
        return
    guidance = call(**_ask_rest(answers))
    common.present(guidance.to_document(), lambda: lines(guidance), call)


def _print_all(call: build.Call) -> None:
    """Print the whole table."""
    from dalenius.measures.guide import to_document
    from dalenius.reports.guide import table_lines

    common.present(to_document(), table_lines, call)


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
