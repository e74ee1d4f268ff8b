"""Channels of anonymous communication: which sender a message is of. Two protocols are also truly run, message by message."""

from __future__ import annotations

import numpy as np

from dalenius.arrays import Longs
from dalenius.errors import ParameterError
from dalenius.releases.models.base import LARGEST, Channel, Parameter, channel_model, count, numbered, uniform_channel

__all__ = ["CHUNK", "HOPS", "crowds", "pool_mix", "simulate_crowds", "simulate_pool", "threshold_mix"]

CHUNK = 1_000_000  # messages that a simulation holds at a time
HOPS = 2_000_000_000  # that messages of a simulation may be expected to make together


@channel_model(
    "crowds",
    "who of n users delivers a message, handed on at random until it is delivered",
    count("n", "the number of users", 1),
    Parameter("p", "the probability that who holds a message delivers it", above=True, high=1.0),
    example="crowds:n=10,p=0.3",
    remark="P = (1 − p)(1 − 1/n)",
    is_about_senders=True,
)
def crowds(n: int, p: float) -> Channel:
    """The paper's variant of Crowds (section VI-B, equation 10): who delivers the message, given who wrote it.

    Whoever holds the message delivers it with probability p, else hands it to any of the n, itself included. After a first
    handing on the holder is uniform and stays so: p(y|x) = p·[x = y] + (1 − p)/n.
    """
    matrix = np.full((n, n), (1 - p) / n)
    matrix[np.diag_indices(n)] += p
    return uniform_channel(numbered(1, n + 1), numbered(1, n + 1), matrix)


@channel_model(
    "threshold-mix",
    "which of n messages that came in together an outgoing one is",
    count("n", "the number of messages that the mix waits for", 1),
    example="threshold-mix:n=5",
    remark="P = 1 − 1/n",
    is_about_senders=True,
)
def threshold_mix(n: int) -> Channel:
    """A mix that waits for n messages and sends them out in random order (Chaum 1981): each may be each."""
    return uniform_channel(numbered(1, n + 1), numbered(1, n + 1), np.full((n, n), 1 / n))


@channel_model(
    "pool-mix",
    "in which round a message leaves a mix that keeps f messages and sends n",
    count("n", "the number of messages that come, and leave, in a round", 1),
    count("f", "the number of messages that stay in the pool", 0),
    count("rounds", "the number of rounds that are watched", 1, LARGEST - 1),
    example="pool-mix:n=5,f=3,rounds=20",
    remark="P = 1 − 1/(n + f)",
    is_about_senders=True,
)
def pool_mix(n: int, f: int, rounds: int) -> Channel:
    """A mix with a pool (Serjantov and Danezis 2002): in which round a message leaves, given when it came.

    f messages are inside at first and n come in each round; n of the n + f leave, at random, and f stay. Who is inside leaves
    in this round with q = n/(n + f), so who came in round j leaves in round j + k with q(1 − q)^k. Of round r, the messages
    that came k rounds before and those of the first pool weigh together
        n Σ_{k≤r} q(1 − q)^k + f q(1 − q)^r = n(1 − (1 − q)^{r+1}) + n(1 − q)^{r+1} = n,        for f q = n(1 − q),
    so the posterior of one that came k rounds before is (1/n)(n/(n + f))(f/(n + f))^k: at most 1/(n + f), and the attacker's
    error is 1 − 1/(n + f) in every round ("later", the f that are left at the end, comes to the same). The entropy grows
    with the rounds from log(n + f) to (1 + f/n)log(n + f) − (f/n)log f.
    """
    if f + n * rounds > LARGEST:
        allowed = f"such that f + n·rounds, the number of messages, is at most {LARGEST:,}"
        raise ParameterError("rounds", "pool-mix", allowed, rounds)
    came = np.concatenate([np.zeros(f, dtype=np.int64), np.repeat(np.arange(rounds), n)])
    since = np.arange(rounds)[None, :] - came[:, None]
    stay = f / (n + f)
    matrix = np.where(since >= 0, n / (n + f) * stay ** np.maximum(since, 0), 0.0)
    inputs = [f"pool {i + 1}" for i in range(f)]
    inputs += [f"round {j} message {i + 1}" for j in range(rounds) for i in range(n)]
    outputs = [*(f"round {r}" for r in range(rounds)), "later"]
    return uniform_channel(inputs, outputs, np.column_stack([matrix, stay ** (rounds - came)]))


def simulate_crowds(n: int, p: float, messages: int, rng: np.random.Generator) -> Longs:
    """How many of `messages`, each written by one of n users at random, went from x to y, handed on hop by hop."""
    for parameter, value in zip(crowds.parameters, (n, p), strict=True):
        parameter.check(value, "simulate_crowds")
    _check_int("messages", "simulate_crowds", messages, 1)
    if messages > HOPS * p:
        allowed = f"at most {HOPS:,}·p: a message makes 1/p hops"
        raise ParameterError("messages", "simulate_crowds", allowed, messages)
    counts = np.zeros(n * n, dtype=np.int64)
    for sent in range(0, messages, CHUNK):
        authors = rng.integers(n, size=min(CHUNK, messages - sent))
        holders = authors.copy()
        travelling = np.arange(len(authors))
        while len(travelling):
            travelling = travelling[rng.random(len(travelling)) >= p]  # the others are delivered
            holders[travelling] = rng.integers(n, size=len(travelling))
        counts += np.bincount(authors * n + holders, minlength=n * n)
    return counts.reshape(n, n)


def simulate_pool(n: int, f: int, rounds: int, repeats: int, rng: np.random.Generator) -> Longs:
    """How often each message left in each round (or later) of `repeats` pool mixes, rows and columns as in `pool-mix`."""
    channel = pool_mix.build(n=n, f=f, rounds=rounds)
    _check_int("repeats", "simulate_pool", repeats, 1)
    counts = np.zeros(channel.matrix.shape, dtype=np.int64)
    together = max(1, CHUNK // (n + f))
    for run in range(0, repeats, together):
        mixes = min(together, repeats - run)
        inside = np.tile(np.arange(f), (mixes, 1))
        for r in range(rounds):
            coming = np.tile(np.arange(f + n * r, f + n * (r + 1)), (mixes, 1))
            mixed = rng.permuted(np.hstack([inside, coming]), axis=1)
            counts[:, r] += np.bincount(mixed[:, :n].ravel(), minlength=len(counts))
            inside = mixed[:, n:]
        counts[:, rounds] += np.bincount(inside.ravel(), minlength=len(counts))
    return counts


def _check_int(name: str, owner: str, value: object, low: int) -> None:
    if isinstance(value, bool) or not isinstance(value, int | np.integer) or value < low:
        raise ParameterError(name, owner, f"an int ≥ {low}", value)
