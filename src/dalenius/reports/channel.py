"""A channel's measures on the terminal; the trade-off of a design as CSV and as a page."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from html import escape
from typing import Any

from dalenius.auditing.channel import Design, MeasuredChannel
from dalenius.output import csv_text
from dalenius.releases.models import MODELS
from dalenius.reports import charts
from dalenius.reports.frame import figure, frame, paragraph, repeat, table
from dalenius.reports.layout import grid, wrapped
from dalenius.reports.numbers import number
from dalenius.reports.words import channel as say

__all__ = ["curve_csv", "lines", "model_lines", "page"]


def lines(result: MeasuredChannel) -> list[str]:
    """Return what `dalenius channel` prints."""
    text: list[str] = []
    if result.measures is not None:
        text += _measures(result)
    if result.design is not None:
        text += ["", *_design(result.design.to_document())]
    if result.estimated is not None:
        text += ["", *_estimated(result.estimated)]
    if result.curve:
        distortion, gap = say.SAMPLE_COLUMNS
        header = [distortion, say.VALUES[result.curve[0].objective], gap]
        rows = [[f"{point.distortion:.6g}", f"{point.value:.6g}", f"{point.gap:.1e}"] for point in result.curve]
        text += ["", *grid(header, rows, right={0, 1, 2})]
    return text


def model_lines() -> list[str]:
    """Return what `dalenius channel --model list` prints."""
    text: list[str] = []
    for model in MODELS.values():
        text += [model.example, *wrapped(model.sentence, indent=4)]
        for parameter in model.parameters:
            text += wrapped(f"{parameter.sentence} ({parameter.allowed})", indent=4, lead=f"{parameter.name:<10} ")
    return text


def _measures(result: MeasuredChannel) -> list[str]:
    document = result.to_document()
    text = [*_errors(document), "", *_bits(document, with_orders=result.request.orders is not None)]
    if result.request.confidence is not None:
        text += ["", *_confidence_sets(document["confidence_sets"])]
    text += ["", *_distances(document)]
    if result.is_about_senders:
        text += ["", *_senders(document["anonymity"])]
    text += ["", *_bounds(document["bounds"])]
    if "mistaken" in document:
        text += ["", *_mistaken(document)]
    return text


def _errors(document: Mapping[str, Any]) -> list[str]:
    """Return the head, and how far off the attacker's best estimate is."""
    inputs, outputs = document["inputs"], document["outputs"]
    head = say.head(inputs, outputs, document["prior"], document["loss"], document["estimate"])
    average, worst = document["average_privacy"], document["worst_case_privacy"]
    rows = [
        [say.AVERAGE, number(average), say.without_observation(number(document["prior_privacy"]))],
        [say.WORST, number(worst), say.after(repr(document["worst_observation"]))],
    ]
    if document["distortion"] is not None:
        rows.append([say.DISTORTION, number(document["distortion"]), say.loss(document["system_loss"])])
    return [*wrapped(head, indent=0, hanging=2), "", f"  {say.ERROR}", *grid(None, rows, right={1}, indent=4)]


def _bits(document: Mapping[str, Any], *, with_orders: bool) -> list[str]:
    """Return the measures in bits."""
    rows = [[name, number(document[key]), meaning] for key, (name, meaning) in say.ENTROPIES.items()]
    if with_orders:
        entropies = document["renyi_entropy"].items()
        rows += [[say.renyi(order), number(entropy), say.RENYI_MEANING] for order, entropy in entropies]
    return [f"  {say.BITS}", *grid(None, rows, right={1}, indent=4)]


def _confidence_sets(sizes: Mapping[str, Any]) -> list[str]:
    """Return how many values the attacker's confidence sets contain."""
    name = say.confidence_sets(f"{sizes['confidence']:.0%}")
    return grid(None, [[name, number(sizes["average_size"]), say.set_sizes(sizes["smallest"], sizes["largest"])]])


def _distances(document: Mapping[str, Any]) -> list[str]:
    """Return how far an observation moves a belief, and how well two inputs can be distinguished."""
    moved, epsilon = document["t_emd"], document["epsilon"]
    note = f" ({document['t_emd_note']})" if document["t_emd_note"] else ""
    rows = [
        [say.EARTH_MOVER, say.NONE if moved is None else number(moved), say.ground(document["t_emd_ground"], note)],
        [say.LOCAL_EPSILON, number(epsilon["local"]), say.LOCAL_MEANING],
    ]
    rows += [[title, number(epsilon[key]), ""] for key, title in say.EPSILONS.items() if epsilon[key] is not None]
    return grid(None, rows, right={1})


def _senders(degrees: Mapping[str, Any]) -> list[str]:
    """Return the degrees of anonymity of the literature."""
    rows = [[title, number(degrees[key])] for key, title in say.DEGREES.items() if degrees[key] is not None]
    return [f"  {say.SENDERS}", *grid(None, rows, right={1}, indent=4)]


def _bounds(bounds: Sequence[Mapping[str, Any]]) -> list[str]:
    """Return each bound beside what it bounds."""
    rows = []
    for bound in bounds:
        sign = "≤" if bound["direction"] == "at most" else "≥"
        rows.append([bound["what"], number(bound["exact"]), f"{sign} {number(bound['bound'])}", bound["formula"]])
    return [f"  {say.BOUNDS}", *grid(None, rows, right={1}, indent=4)]


def _mistaken(document: Mapping[str, Any]) -> list[str]:
    """Return what a wrong prior costs the attacker."""
    wrong = document["mistaken"]
    figures = (wrong["error"], document["average_privacy"], wrong["inaccuracy"])
    return wrapped(say.mistaken(*map(number, figures)))


def _design(design: Mapping[str, Any]) -> list[str]:
    """Return the value of a design, and how far it can be from the optimum."""
    against = say.AGAINST_LABELS if _answers_with_labels(design) else ""
    value, distortion, asked = map(number, (design["value"], design["distortion"], design["asked_distortion"]))
    return [
        *wrapped(say.designed(say.VALUES[design["objective"]], value, against, distortion, asked), hanging=4),
        *wrapped(say.proven(against, number(design["bound"]), f"{design['gap']:.1e}"), hanging=4),
    ]


def _answers_with_labels(design: Mapping[str, Any]) -> bool:
    return bool(design["attacker"] == "answers with labels")


def _estimated(estimate: Mapping[str, Any]) -> list[str]:
    """Return what was estimated from samples, and its limits."""
    error = estimate["information_error_asymptotic"]
    deviation = f" ± {number(error)}" if error else ""
    privacy, low, high = map(number, (estimate["privacy"], estimate["low"], estimate["high"]))
    corrected, raw = map(number, (estimate["information_corrected"], estimate["information"]))
    return [
        *wrapped(say.estimated(estimate["samples"], privacy, f"{estimate['confidence']:.0%}", low, high), hanging=4),
        *wrapped(say.information(corrected, deviation, raw), indent=4),
        *wrapped(estimate["limits"], indent=4),
    ]


def curve_csv(curve: Sequence[Design]) -> str:
    """Return distortion,value,bound,gap: the value is in bits, or in units of the attacker's loss."""
    rows = [[repr(point.distortion), repr(point.value), repr(point.bound), repr(point.gap)] for point in curve]
    return csv_text(["distortion", "value", "bound", "gap"], rows)


def page(curve: Sequence[Design], run: Mapping[str, Any]) -> str:
    """Return the trade-off as a chart and a table."""
    objective = say.VALUES[curve[0].objective]
    note = say.LABELS_NOTE if _answers_with_labels(curve[0].to_document()) else ""
    points = [(point.distortion, point.value) for point in curve]
    rows = [[*map(number, (point.distortion, point.value, point.bound)), f"{point.gap:.1e}"] for point in curve]
    body = [
        f"<h1>{escape(say.TITLE)}</h1>",
        paragraph(escape(say.about(objective, note)), soft=True),
        figure(charts.trade_off(points, (say.DISTORTION, objective)), say.CAPTION),
        table(say.COLUMNS, rows, numeric={0, 1, 2, 3}),
        repeat(run),
    ]
    return frame(say.TITLE, "\n".join(body))
