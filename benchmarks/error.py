"""Designed channels: the least mutual information on 200 labels against Blahut–Arimoto, and programmes of a 10 × 10 grid."""

from __future__ import annotations

import os

from harness import heading, line, once

_LABELS = """
import sys
import numpy as np
from dalenius.measures import loss as losses
from dalenius.releases import Channel
def line_of(n, seed=0):
    names = tuple(map(str, range(n)))
    prior = np.random.default_rng(seed).dirichlet(np.ones(n))
    return Channel(names, names, np.eye(n), prior)
"""

# Ours: information at a distortion, with its proven gap.
_RATE = (
    _LABELS
    + """
from dalenius.publishers.rate_distortion import least_information
channel = line_of(200)
d = losses.make_loss(sys.argv[1], channel.inputs, channel.inputs).matrix
most = 0.1 * float((channel.prior @ d).min())
least_information(line_of(5), losses.make_loss(sys.argv[1], line_of(5).inputs, line_of(5).inputs).matrix, 0.1)
start = time.perf_counter()
found = least_information(channel, d, most)
_report(time.perf_counter() - start, gap=found.gap, information=found.information, slope=found.slope)
"""
)

# Plain Blahut–Arimoto in NumPy at our slope, fifty times as long as ours took: the gap it has by then.
_PLAIN = (
    _LABELS
    + """
channel = line_of(200)
d = losses.make_loss(sys.argv[1], channel.inputs, channel.inputs).matrix
slope, limit = float(sys.argv[2]), float(sys.argv[3])
p = channel.prior
kernel = np.exp(-slope * (d - d.min(axis=1, keepdims=True)))
q = np.full(200, 1 / 200)
start, rounds = time.perf_counter(), 0
while time.perf_counter() - start < limit:
    for _ in range(20):
        c = kernel.T @ (p / (kernel @ q))
        q = q * c
        rounds += 1
_report(time.perf_counter() - start, gap=float(np.log(c.max())), rounds=rounds)
"""
)

_DIT = (
    _LABELS
    + """
from dit.rate_distortion.blahut_arimoto import blahut_arimoto
channel = line_of(200)
d = losses.make_loss(sys.argv[1], channel.inputs, channel.inputs).matrix
start = time.perf_counter()
result, joint = blahut_arimoto(channel.prior, float(sys.argv[2]) / np.log(2), lambda p, q: d, restarts=1)
seconds = time.perf_counter() - start
q = joint.sum(axis=0)
kernel = np.exp(-float(sys.argv[2]) * (d - d.min(axis=1, keepdims=True)))
c = kernel.T @ (channel.prior / np.maximum(kernel @ q, 1e-300))
_report(seconds, gap=float(np.log(c.max())))
"""
)

_GRID = """
import sys
import numpy as np
from dalenius.measures import loss as losses
from dalenius.publishers.error_design import most_average_error, most_worst_case_error
from dalenius.releases.models import build
from dataclasses import replace
channel = build("gaussian", grid=int(sys.argv[1]), sigma=1.0)
channel = replace(channel, prior=np.random.default_rng(0).dirichlet(np.ones(len(channel.inputs))))
system = losses.absolute(channel.inputs, channel.outputs)
loss = losses.make_loss(sys.argv[2], channel.inputs)
most = 0.5 * float((channel.prior @ system.matrix).min())
design = most_average_error if sys.argv[3] == "average" else most_worst_case_error
start = time.perf_counter()
found = design(channel, loss, system.matrix, most)
_report(time.perf_counter() - start, gap=found.bound - found.value, value=found.value)
"""


def run() -> None:
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    heading("estimation error: designed channels")
    for loss in ("hamming", "absolute", "squared"):
        ours = once(_RATE, arguments=(loss,))
        limit = max(1.0, min(30.0, 50 * ours.seconds))
        plain = once(_PLAIN, arguments=(loss, str(ours.extra["slope"]), str(limit)))
        dit = once(_DIT, arguments=(loss, str(ours.extra["slope"])))
        asked = 1e-9 if loss == "hamming" else 1e-6
        detail = (
            f"{ours.seconds:.2f} s; Blahut–Arimoto has {plain.extra['gap']:.0e} after {plain.seconds / ours.seconds:.0f} times "
            f"as long, dit {dit.extra['gap']:.0e} after {dit.seconds / ours.seconds:.1f} times"
        )
        line(f"least information, 200 labels, {loss}: gap (nats)", f"{ours.extra['gap']:.0e}", f"≤ {asked:.0e}", detail)
    for loss, objective in (
        ("squared", "average"),
        ("hamming", "average"),
        ("squared", "worst-case"),
        ("hamming", "worst-case"),
    ):
        found = once(_GRID, arguments=("10", loss, objective), timeout=600)
        line(f"10 × 10 grid, {loss}, {objective}: seconds", f"{found.seconds:.1f}", "", f"gap {found.extra['gap']:.0e}")
