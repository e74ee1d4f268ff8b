"""`dalenius channel`: privacy as an attacker's estimation error, for a matrix, a model, a release or samples."""

from __future__ import annotations

from typing import TYPE_CHECKING

import typer

from dalenius import api
from dalenius.cli import build, common

if TYPE_CHECKING:
    from dalenius.auditing.channel import MeasuredChannel

LIST = "list"


def register(app: typer.Typer) -> None:
    """Add the command."""
    from dalenius.releases.models import MODELS

    models = f"Models: {', '.join(MODELS)}. --model list explains them and their parameters."
    build.add(app, api.channel, run, own=common.REPORTING, epilog=models)


def run(call: build.Call) -> None:
    """Measure what a channel reveals to an attacker.

    Estimation error, entropies, t, δ and ε, with their bounds. With --design it finds the channel that leaves most to guess at a
    distortion that is allowed.
    """
    from dalenius.auditing.channel import source_of

    sources = {name: call.options[name] for name in ("matrix", "model", "release", "samples")}
    source_of(**sources)
    if call.options["model"] == LIST:
        _list_models(call)
        return
    same_file = f"Two results cannot both be written to {str(call['json'])!r}. Name another file."
    with common.running(call, same_file=same_file) as context:
        result = call(context=context)
    _write(result, call)


def _write(result: MeasuredChannel, call: build.Call) -> None:
    from dalenius.output import write_texts
    from dalenius.reports.channel import curve_csv, lines, page

    outputs = result.request.outputs
    if "csv" in outputs:
        write_texts(
            {outputs["csv"]: curve_csv(result.curve), outputs["page"]: page(result.curve, common.run_details())}
        )
    if "matrix" in outputs:
        result.channel.write(outputs["matrix"])
    common.present(
        result.to_document(), lambda: [*lines(result), *(f"  Wrote {path}" for path in outputs.values())], call
    )


def _list_models(call: build.Call) -> None:
    from dalenius.releases.models import described
    from dalenius.reports.channel import model_lines

    common.present({"models": described()}, model_lines, call)
