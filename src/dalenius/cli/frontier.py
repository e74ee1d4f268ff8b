"""`dalenius frontier`: ways to publish a table and their parameters, risk against utility; for noisy counts, what ε means."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from dalenius import api
from dalenius.api.arguments import OUTPUT
from dalenius.cli import build, common

if TYPE_CHECKING:
    from dalenius.auditing.exploring import Frontier


def register(app: typer.Typer) -> None:
    """Add the command."""
    output = OUTPUT.but(help="Write an HTML page with the chart and the table.")
    build.add(app, api.frontier, run, own={"output": (output, None), **common.REPORTING})


def run(call: build.Call) -> int:
    """Try methods and parameters: risk against utility.

    Publishes and audits the table in many ways. With noisy counts alone (--method noisy-counts, or --epsilons and nothing else
    to try) it says what each ε means for the table, over several draws of noise. Exit code 1 if --best finds no release that
    satisfies the policy.
    """
    from dalenius.auditing.exploring import Frontier

    with common.running(call, *_outputs(call)) as context:
        result = call(context=context)
    if isinstance(result, Frontier):
        return _report_releases(result, call)
    _report_curve(result, call)
    return 0


def _outputs(call: build.Call) -> list[Path | None]:
    return [call["output"]]


def _report_curve(result: Any, call: build.Call) -> None:
    """Write the page and the JSON of noisy counts alone, and print the result."""
    from dalenius.output import write_texts
    from dalenius.reports import epsilon_curve as report

    table, output = call.options["table"], call["output"]
    written = [] if output is None else [f"\n  Page: {output}"]
    if output is not None:
        write_texts({output: report.page(table.name, result, common.run_details())})
    common.present(result.to_document(), lambda: [*report.lines(str(table), result), *written], call)


def _report_releases(result: Frontier, call: build.Call) -> int:
    """Write the page and the JSON, and print the result; return the exit code."""
    from dalenius.measures.remaining import from_document, warnings
    from dalenius.output import write_texts
    from dalenius.reports import frontier as report

    best, output, json = result.tradeoff.best(), call["output"], call["json"]
    if best is not None and result.best is not None and result.best.is_written:
        common.warn(*warnings(from_document(best.columns_left or {})))
    if output is not None:
        page = report.page(Path(result.table).name, result.tradeoff, result.publish_command, common.run_details())
        write_texts({output: page})
    if json is not None:
        common.write_json(json, result.to_document(), run=report.run_of(result))
    if json != "-":
        for line in [*report.all_lines(result), *([f"\n  Page: {output}"] if output else [])]:
            common.say(call["quiet"], line)
    return 0 if result.best is None or result.best.is_written else 1
