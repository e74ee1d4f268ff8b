"""The exhibits of Rebollo-Monedero, Parra-Arnau, Diaz and Forné, "On the Measurement of Privacy as an Attacker's Estimation
Error" (International Journal of Information Security 12, 2013): Figures 1, 3, 4, 6, 7, 10, section VI-A and Table IV.

The tables behind Figures 6 and 7 are pictures of which only the captions can be read; those here have what the captions say.
"""

from __future__ import annotations

import math
from functools import partial
from pathlib import Path

import numpy as np

from dalenius import datasets
from dalenius.auditing.channel import beliefs, measured
from dalenius.measures import entropy, guide
from dalenius.measures.error import privacy, reduction
from dalenius.measures.loss import hamming, squared
from dalenius.measures.observed import Observed
from dalenius.measures.sampled import from_samples
from dalenius.papers.base import Compared, Exhibit, Paper
from dalenius.publishers.error_design import most_average_error
from dalenius.releases import Channel
from dalenius.releases.models import build as model
from dalenius.releases.models import simulate_crowds
from dalenius.reports import charts
from dalenius.reports.charts import Curve

__all__ = ["BLUE", "CITATION", "DATA", "DIRECT", "GREEN", "MESSAGES", "RED", "USERS", "build"]

CITATION = (
    "D. Rebollo-Monedero, J. Parra-Arnau, C. Diaz and J. Forné, On the Measurement of Privacy as an Attacker's Estimation "
    "Error, International Journal of Information Security 12 (2013)"
)
DATA = (
    "No data are needed. The tables behind Figures 6 and 7 are pictures of which only the captions can be read: those here have "
    "what the captions say. Section VI-A and Figure 10 have formulas and no numbers; n, p and the grid are our choice."
)
USERS, DIRECT = 10, 0.3  # of Figure 10, which has no numbers in the text
MESSAGES = 400_000
RED, BLUE, GREEN = "#b3261e", "#1f5fa8", "#1b7a3d"


def build(path: str | Path | None = None, *, quick: bool = False) -> Paper:  # noqa: ARG001 - needs no data, as others do
    """Every exhibit. `quick` has fewer messages and points."""
    messages = MESSAGES // 10 if quick else MESSAGES
    return Paper(
        "error",
        CITATION,
        (
            _figure1(),
            _figure3(6 if quick else 11),
            _figure4(),
            _figure6(),
            _figure7(),
            _location(5 if quick else 8),
            _figure10(messages),
            _table4(),
        ),
        DATA,
    )


def _figure1() -> Exhibit:
    release = datasets.paper("error-fig1b").classes()
    assert release is not None
    grouping = release.grouping()
    seen = Observed.of_grouping(grouping)
    found = privacy(seen, hamming(seen.values))
    sizes = grouping.sizes
    rows = [
        [name, str(size), f"{1 - 1 / size:.3f}", f"{error:.3f}"]
        for name, size, error in zip(seen.observations, sizes.tolist(), found.conditional.tolist(), strict=True)
    ]
    least = 1 - 1 / int(sizes.min())
    return Exhibit(
        "Figure 1",
        "Three people in each class, and what that hides",
        "k-anonymity is about which row is a person's: the error is 1 − 1/k = 2/3 in both classes. What a person suffers from "
        "is another unknown: where two of three have heart disease, the best guess is wrong for a third of them. That all of "
        "the other class have hepatitis does not show in a loss that counts mistakes; one along a hierarchy of diseases is 0 "
        "for whoever only asks for the kind.",
        ("class", "people", "error, which row", "error, condition"),
        rows,
        (
            Compared("k of the release", "3", float(sizes.min())),
            Compared("P(y) = 1 − 1/k", "1 − 1/k", least, "with k = 3"),
        ),
    )


def _flip(p: float) -> Channel:
    return model("flip", p=p)


def _figure3(points: int) -> Exhibit:
    binary = _flip(0.0)
    loss = hamming(binary.inputs)
    curve = [
        most_average_error(binary, loss, loss.matrix, float(d), closed_form=False)
        for d in np.linspace(0.0, 0.5, points)
    ]
    rows = []
    for one in curve:
        flip = measured(_flip(min(one.distortion, 0.5)), loss, loss)
        rows.append([f"{1 - one.distortion:.2f}", f"{one.value:.4f}", f"{flip['average_privacy']:.4f}"])
    worst = max(abs(one.value - one.distortion) for one in curve)
    chart = partial(
        charts.trade_off, [(1 - one.distortion, one.value) for one in curve], ("utility 1 − D", "average privacy")
    )
    return Exhibit(
        "Figure 3",
        "Privacy against utility of a bit that is flipped with probability p",
        "The best of all channels, by linear programme, and the flip: P = D = p, so that the flip is optimal and the best "
        "privacy at utility u0 is 1 − u0.",
        ("utility u0", "best privacy", "of the flip"),
        rows,
        (Compared("largest |P − (1 − u0)| over the curve", "0", worst, "by a linear programme that knows no flips"),),
        ((chart, "What any channel can have."),),
    )


def _figure4() -> Exhibit:
    """The tree of arguments, from the table that `dalenius guide` asks by."""
    rows = [
        [rule.wants(key) or "any" for key in ("loss", "loss_known", "observations", "about", "case")]
        + [rule.then.measure]
        for rule in guide.RULES
    ]
    return Exhibit(
        "Figure 4",
        "How the assumptions lead to a measure",
        "The figure's branches: does a near miss count (loss), does the system know how much (loss known), is one value "
        "guessed or a sequence (observations). The last two questions are those of section VII.",
        ("loss", "loss known", "observations", "about", "case", "measure"),
        rows,
    )


def _figure6() -> Exhibit:
    """Two classes with two equally frequent values each: what the caption asks for."""
    joint = np.array([[2, 0], [2, 0], [0, 2], [0, 2]]) / 8
    seen = Observed.of_joint(joint, ("a", "b", "c", "d"), ("class 0", "class 1"))
    found = privacy(seen, hamming(seen.values))
    hartley = entropy.renyi(seen.posterior, 0.0)
    return Exhibit(
        "Figure 6",
        "2-diversity: two values, equally likely",
        "With equally likely values Hartley's, Shannon's and min-entropy are one, and the error is 1 − 1/ℓ = 1 − 2^−H0.",
        ("class", "H0", "H1", "H∞", "error"),
        [
            [name, *(f"{entropy.renyi(seen.posterior[[i]], a)[0]:.1f}" for a in (0.0, 1.0, math.inf)), f"{error:.2f}"]
            for i, (name, error) in enumerate(zip(seen.observations, found.conditional.tolist(), strict=True))
        ],
        (Compared("P(y) = 1 − 1/ℓ = 1 − 2^−H0", "1/2", float((1 - 2.0**-hartley).max())),),
    )


def _figure7() -> Exhibit:
    """Eight people, half of whom have AIDS: one of the first four and three of the last."""
    joint = np.array([[1, 3], [3, 1]]) / 8
    seen = Observed.of_joint(joint, ("AIDS", "other"), ("first four", "last four"))
    loss = hamming(seen.values)
    lost, found = reduction(seen, loss), beliefs(seen, loss)
    nats = float(found["t_kl"]) * math.log(2)
    rows = [
        [
            "largest ΔP",
            f"{lost.largest:.4f}",
            "of both guesses, equally good beforehand, the one that is worse afterwards",
        ],
        ["2 d_max TV", f"{lost.sharp_tv:.4f}", "sharp"],
        ["4 d_max TV", f"{lost.printed_tv:.4f}", "equation 8"],
        ["√2 d_max √t", f"{lost.sharp_kl:.4f}", f"t = {nats:.4f} nats"],
        ["2√2 d_max √t", f"{lost.printed_kl:.4f}", "equation 8"],
    ]
    return Exhibit(
        "Figure 7",
        "From one in two to three in four",
        "What seeing the class saves the attacker, and the bounds on it. The printed ones hold; half of each holds as well, "
        "for the difference of two losses that lie between 0 and d_max is worth at most 2 d_max of total variation. The proof "
        "needs Bayes estimators: with a graded loss the likeliest value, which the paper takes, need not be the best estimate.",
        ("quantity", "value", ""),
        rows,
        (
            Compared("belief before", "1/2", float(seen.prior[0, 0])),
            Compared("belief after the last four", "3/4", float(seen.posterior[1, 0])),
            Compared(
                "R ≤ t ≤ δ (bits)",
                "holds",
                _chain(found["mutual_information"], found["t_kl"], found["delta_disclosure"]),
            ),
        ),
    )


def _chain(*figures: float) -> str:
    return " ≤ ".join(f"{figure:.4f}" for figure in figures)


def _location(side: int) -> Exhibit:
    """Section VI-A: noise on coordinates, squared error."""
    rows, points = [], []
    for sigma in (0.25, 0.5, 1.0, 1.5, 2.0, 3.0):
        channel = model("gaussian", grid=side, sigma=sigma)
        found = measured(channel, squared(channel.values), squared(channel.inputs, channel.outputs))
        points.append((float(found["distortion"]), float(found["average_privacy"])))
        rows.append(
            [
                f"{sigma:g}",
                f"{found['distortion']:.3f}",
                f"{found['average_privacy']:.3f}",
                f"{found['prior_privacy']:.3f}",
            ]
        )
    chart = partial(charts.trade_off, points, ("mean squared distortion", "mean squared error of the attacker"))
    return Exhibit(
        "Section VI-A",
        f"Gaussian noise on a place, {side} × {side} cells",
        "The attacker's mean squared error is below the user's distortion: it knows the map and corrects what the noise did. "
        "The paper has the formula and no numbers.",
        ("σ", "distortion", "attacker's error", "without any observation"),
        rows,
        charts=((chart, "More noise, more privacy, up to what is left without any observation."),),
    )


def _figure10(messages: int) -> Exhibit:
    crowds = model("crowds", n=USERS, p=DIRECT)
    found = measured(crowds, hamming(crowds.values), hamming(crowds.inputs))
    counts = simulate_crowds(USERS, DIRECT, messages, np.random.default_rng(2013))
    simulated = from_samples(counts, crowds.inputs, crowds.outputs)
    exact, run = Observed.of_channel(crowds), Observed.of_channel(simulated)
    first = [(float(y + 1), float(exact.posterior[y, 0])) for y in range(USERS)]
    drawn = [(float(y + 1), float(run.posterior[y, 0])) for y in range(USERS)]
    chart = partial(
        charts.bands,
        [Curve.line("closed form", first, BLUE), Curve.line("simulated", drawn, RED, (4, 3))],
        ("last sender y", "probability that user 1 sent it"),
        {},
    )
    error = privacy(run, hamming(crowds.values)).average
    deviation = math.sqrt(found["average_privacy"] * (1 - found["average_privacy"]) / messages)
    return Exhibit(
        "Figure 10",
        f"Crowds without a first hop, {USERS} users, p = {DIRECT:g}",
        "Who sent a message, once its last sender is known. The figure has no numbers in the text; these are for the n and p "
        "above. Min-entropy, Shannon's and Hartley's are the worst, average and best case of the same belief.",
        ("entropy", "bits", "senders it stands for"),
        [
            ["H∞", f"{found['min_entropy']:.4f}", f"{2 ** found['min_entropy']:.2f}"],
            ["H1", f"{found['shannon_entropy']:.4f}", f"{2 ** found['shannon_entropy']:.2f}"],
            ["H0", f"{found['hartley_entropy']:.4f}", f"{2 ** found['hartley_entropy']:.2f}"],
        ],
        (
            Compared("P = (1 − p)(1 − 1/n)", "(1 − p)(1 − 1/n)", float(found["average_privacy"]), "n and p are ours"),
            Compared(
                "the same, simulated",
                "(1 − p)(1 − 1/n)",
                error,
                f"± {deviation:.4f}, one deviation",
            ),
            Compared("p(1 | y = 1) = p + (1 − p)/n", "p + (1 − p)/n", first[0][1], "n and p are ours"),
        ),
        ((chart, "Closed form and messages that were truly forwarded."),),
    )


def _table4() -> Exhibit:
    """The designers' guide: which measures are worst, average and best case."""
    rows: dict[str, list[str]] = {}
    for rule in guide.RULES:
        for case in ("worst", "average", "best"):
            if rule.wants("case") == case:
                about = rule.wants("about") or "either"
                rows.setdefault(about, ["", "", ""])
                place = ("worst", "average", "best").index(case)
                names = [name for name in rows[about][place].split("; ") if name]
                if rule.then.measure not in names:
                    rows[about][place] = "; ".join([*names, rule.then.measure])
    return Exhibit(
        "Table IV",
        "Guide for designers",
        "From the same data as `dalenius guide`, seen from the person to be protected.",
        ("unknown", "worst case", "average case", "best case"),
        [[about, *mine] for about, mine in rows.items()],
    )
