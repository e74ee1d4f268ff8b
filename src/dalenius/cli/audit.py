"""`dalenius audit`: all adversaries, all measures and the verdict, in one report."""

from __future__ import annotations

from typing import TYPE_CHECKING

import typer

from dalenius import api
from dalenius.api.arguments import OUTPUT, REVEAL
from dalenius.cli import build, common
from dalenius.options import Option

if TYPE_CHECKING:
    from dalenius.auditing import Audit

STRICT = Option("strict", "Exit with 1 also if a threshold could not be tested.", bool)


def register(app: typer.Typer) -> None:
    """Add the command."""
    own = {"output": (OUTPUT.but(help="Write the report as HTML."), None), "strict": (STRICT, False)}
    build.add(app, api.audit, run, own={**own, **common.REPORTING, "reveal": (REVEAL, False)})


def run(call: build.Call) -> int:
    """Attack a release in every way, and judge it by the policy.

    Plays every adversary that applies, and measures privacy and utility. Exit code 1 if a threshold of [policy] is violated;
    with --strict also if one could not be tested. Exit code 3 if the result depends on sampling that did not converge.
    """
    from dalenius.output import write_texts
    from dalenius.reports import html, terminal

    output = call["output"]
    same_file = f"The report and the JSON cannot both be written to {str(output)!r}. Name another file."
    with common.running(call, output, same_file=same_file) as context:
        audit = call(context=context)
        if output is not None:
            write_texts({output: html.page(audit, common.run_details(), reveal=call["reveal"])})
    written = [] if output is None else [f"\n  Report: {output}"]
    common.present(audit.to_document(reveal=call["reveal"]), lambda: [*terminal.lines(audit), *written], call)
    return _exit_code(audit, is_strict=call["strict"], is_sampling_asked=call.options["mcse"] is not None)


def _exit_code(audit: Audit, *, is_strict: bool, is_sampling_asked: bool) -> int:
    """Return 1 if the policy is violated, 3 if the result depends on sampling that did not converge, else 0."""
    if audit.verdict == "violated" or (is_strict and audit.verdict == "incomplete"):
        return 1
    if audit.play.is_interrupted:
        return common.NOT_CONVERGED
    depends = is_sampling_asked or audit.verdict == "incomplete"
    return common.NOT_CONVERGED if depends and not audit.play.is_converged else 0
