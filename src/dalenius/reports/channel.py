"""A channel's measures on a screen; the trade-off of a design as CSV and as a page."""

from __future__ import annotations

import textwrap
from collections.abc import Mapping, Sequence
from html import escape
from typing import Any

from dalenius import __version__
from dalenius.auditing.channel import Design, MeasuredChannel
from dalenius.output import csv_text
from dalenius.releases.models import MODELS
from dalenius.reports import charts, words
from dalenius.reports.frame import figure, frame, shown, table

VALUES = {
    "mutual-information": "least mutual information (bits)",
    "average": "most average privacy",
    "worst-case": "most worst-case privacy",
}
# What the bits of a document are called, each with a word of what it is.
ENTROPIES = {
    "min_entropy": ("min-entropy", "how unlikely one best guess is right"),
    "shannon_entropy": ("Shannon entropy H(X|Y)", "what many observations leave"),
    "hartley_entropy": ("Hartley entropy", "how many values stay possible"),
    "mutual_information": ("mutual information", "what is told on average"),
    "t_kl": ("t, largest divergence", "what the worst observation tells"),
    "delta_disclosure": ("δ-disclosure", "largest change of one value"),
}


DEGREES = {
    "reiter_rubin_worst": "Reiter and Rubin, 1 − p, worst",
    "berthold": "Berthold, log2 n (bits)",
    "serjantov_danezis_average": "Serjantov and Danezis, mean (bits)",
    "diaz_average": "Diaz, mean (0 to 1)",
    "toth_theta": "Tóth, largest probability Θ",
    "edman": "Edman, of the whole mix (0 to 1)",
}


def lines(result: MeasuredChannel) -> list[str]:
    """What `dalenius channel` prints."""
    text: list[str] = []
    if result.measures is not None:
        text += _measures(result)
    if result.design is not None:
        text += ["", *_design(result.design.to_document())]
    if result.estimated is not None:
        text += ["", *_estimated(result.estimated)]
    if result.curve:
        text += ["", f"  {'distortion':>12}  {VALUES[result.curve[0].objective]:>32}  {'gap':>9}"]
        text += [f"  {point.distortion:>12.6g}  {point.value:>32.6g}  {point.gap:>9.1e}" for point in result.curve]
    return text


def model_lines() -> list[str]:
    """What `dalenius channel --model list` prints."""
    text = []
    for model in MODELS.values():
        text.append(f"{model.example:<40} {model.sentence}")
        text += [f"    {p.name:<10} {p.sentence} ({p.allowed})" for p in model.parameters]
    return text


def _measures(result: MeasuredChannel) -> list[str]:
    document = result.to_document()
    text = [*_errors(document), "", *_bits(document, with_orders=result.request.orders is not None)]
    if result.request.confidence is not None:
        text += ["", _confidence_sets(document["confidence_sets"])]
    text += ["", *_distances(document)]
    if result.is_about_senders:
        text += ["", *_senders(document["anonymity"])]
    text += ["", *_bounds(document["bounds"])]
    if "mistaken" in document:
        text += ["", _mistaken(document)]
    return text


def _errors(document: Mapping[str, Any]) -> list[str]:
    """The head, and how far off the attacker's best estimate is."""
    number, spent = words.number, document["distortion"]
    inputs = f"{document['inputs']:,} inputs, {document['outputs']:,} outputs"
    distortion = (
        "" if spent is None else f"    distortion           {number(spent):>10}   loss {document['system_loss']}"
    )
    return [
        f"{inputs}; prior {document['prior']}; loss {document['loss']}, best estimate: a {document['estimate']}",
        "",
        "  The attacker's error",
        f"    average privacy      {number(document['average_privacy']):>10}   without any observation "
        f"{number(document['prior_privacy'])}",
        f"    worst-case privacy   {number(document['worst_case_privacy']):>10}   after {document['worst_observation']!r}",
        *([distortion] if distortion else []),
    ]


def _bits(document: Mapping[str, Any], *, with_orders: bool) -> list[str]:
    text = ["  In bits"]
    text += [f"    {name:<24} {words.number(document[key]):>10}   {what}" for key, (name, what) in ENTROPIES.items()]
    if with_orders:
        text += [
            f"    {f'Rényi, order {a}':<24} {words.number(h):>10}   mean of H_α(X|y)"
            for a, h in document["renyi_entropy"].items()
        ]
    return text


def _confidence_sets(sets: Mapping[str, Any]) -> str:
    return (
        f"  Sets of {sets['confidence']:.0%} confidence  {words.number(sets['average_size']):>12}   values on average, "
        f"{sets['smallest']:,} to {sets['largest']:,}"
    )


def _distances(document: Mapping[str, Any]) -> list[str]:
    """How far an observation moves a belief, and how far apart two inputs are told."""
    number, moved, epsilon = words.number, document["t_emd"], document["epsilon"]
    note = f" ({document['t_emd_note']})" if document["t_emd_note"] else ""
    text = [
        f"  t, earth mover's         {'–' if moved is None else number(moved):>12}   ground {document['t_emd_ground']}{note}",
        f"  ε, any two inputs        {number(epsilon['local']):>12}   differential privacy, nats",
    ]
    for key, what in (("adjacent", "neighbours in order"), ("per_distance", "for each unit of distance")):
        if epsilon[key] is not None:
            text.append(f"  ε, {what:<26}{number(epsilon[key]):>8}")
    return text


def _senders(degrees: Mapping[str, Any]) -> list[str]:
    text = ["  Anonymity of a sender"]
    return text + [
        f"    {what:<36} {words.number(degrees[key]):>10}" for key, what in DEGREES.items() if degrees[key] is not None
    ]


def _bounds(bounds: Sequence[Mapping[str, Any]]) -> list[str]:
    text, number = ["  Bounds, beside what they bound"], words.number
    for bound in bounds:
        sign = "≤" if bound["direction"] == "at most" else "≥"
        text.append(
            f"    {bound['what']:<28} {number(bound['exact']):>10} {sign} {number(bound['bound']):<10} {bound['formula']}"
        )
    return text


def _mistaken(document: Mapping[str, Any]) -> str:
    wrong, number = document["mistaken"], words.number
    return (
        f"  An attacker with the assumed prior errs by {number(wrong['error'])} (it could by "
        f"{number(document['average_privacy'])}); its belief is {number(wrong['inaccuracy'])} off"
    )


def _design(found: Mapping[str, Any]) -> list[str]:
    number = words.number
    against = ", against an attacker who answers with labels" if found["attacker"] == "answers with labels" else ""
    return [
        f"  Designed: {VALUES[found['objective']]} {number(found['value'])}{against},",
        f"    at distortion {number(found['distortion'])} (asked {number(found['asked_distortion'])})",
        f"    proven: no channel of that distortion is better{against} than {number(found['bound'])}; gap {found['gap']:.1e}",
    ]


def _estimated(found: Mapping[str, Any]) -> list[str]:
    number = words.number
    error = found["information_error_asymptotic"]
    deviation = f" ± {number(error)}" if error else ""
    return [
        f"  From {found['samples']:,} samples: average privacy {number(found['privacy'])}, surely ({found['confidence']:.0%}) "
        f"between {number(found['low'])} and {number(found['high'])}",
        f"    mutual information about {number(found['information_corrected'])}{deviation} bits "
        f"({number(found['information'])} before correction)",
        *textwrap.wrap(found["limits"], 96, initial_indent="    ", subsequent_indent="    "),
    ]


def curve_csv(curve: Sequence[Design]) -> str:
    """distortion,value,bound,gap: the value is in bits, or in units of the attacker's loss."""
    rows = [[repr(one.distortion), repr(one.value), repr(one.bound), repr(one.gap)] for one in curve]
    return csv_text(["distortion", "value", "bound", "gap"], rows)


def page(curve: Sequence[Design], run: Mapping[str, Any]) -> str:
    """The trade-off as a chart and a table."""
    title = VALUES[curve[0].objective]
    labels = curve[0].to_document()["attacker"] == "answers with labels"
    against = ", against an attacker who answers with labels: one who takes the mean is left less" if labels else ""
    points = [(one.distortion, one.value) for one in curve]
    rows = [[words.number(x) for x in (one.distortion, one.value, one.bound)] + [f"{one.gap:.1e}"] for one in curve]
    details = [["dalenius", __version__]]
    details += [[escape(str(key)), f"<code>{escape(shown(value))}</code>"] for key, value in run.items()]
    body = (
        f"<h1>Privacy against distortion</h1>\n"
        f'<p class="soft">The {escape(title)} that any channel has whose mean distortion is at most what stands below, with '
        f"what is proven of it{against}.</p>\n"
        + figure(charts.trade_off(points, ("distortion", title)), "Each point is a channel that was designed for it.")
        + table(["distortion", "value", "proven bound", "gap"], rows, numeric={0, 1, 2, 3})
        + "\n<h2>How to repeat this</h2>\n"
        + table(["what", "value"], details)
    )
    return frame("Privacy against distortion", body)
