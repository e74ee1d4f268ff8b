"""Parse realistic adversaries and ε-privacy: `I:table:1e6`, `II:1e3:known=10`, `I:prior.csv:30000:2.5`."""

from __future__ import annotations

import re
from collections.abc import Sequence

from dalenius.criteria.epsilon_privacy import EpsilonPrivacy
from dalenius.criteria.predicate import Predicate
from dalenius.criteria.realistic import KINDS, Realistic, Shape
from dalenius.errors import InputError
from dalenius.releases.prior import Priors

__all__ = ["FORMS", "adversary", "epsilon_privacy", "is_realistic"]

FORMS = "I:SHAPE:σ, II:σ, III:SHAPE or IV, where SHAPE is uniform, table or a FILE of value,probability; or I:data:FILE"
_KNOWN = re.compile(r"known=([0-9]{1,15})")
_AT_MOST = "at-most"


def is_realistic(text: str) -> bool:
    """Return whether a text is meant as a realistic adversary, correct or not."""
    return text.partition(":")[0] in KINDS


def adversary(text: str, priors: Priors | None = None, *, known: int = 0, at_most: bool = False) -> Realistic:
    """Return the adversary that a text names. `known=b` and `at-most` may follow it, each after a colon.

    `data:FILE` in place of a shape and σ is a data set that the adversary has seen: its counts + 1 are the prior; for
    class II only its size counts, for class III only its shape.
    """
    kind, _, rest = text.partition(":")
    if kind not in KINDS:
        raise InputError(f"{text!r} is not a realistic adversary. Write {FORMS}.")
    parts = rest.split(":") if rest else []
    while parts and (parts[-1] == _AT_MOST or _KNOWN.fullmatch(parts[-1])):
        option = parts.pop()
        if option == _AT_MOST:
            at_most = True
        else:
            known = int(option.removeprefix("known="))
    if parts == ["data"]:
        raise InputError(f"{text!r} lacks the file of its data set: {kind}:data:FILE.")
    sigma = None
    if kind in ("I", "II") and parts[:1] != ["data"]:
        if not parts:
            raise InputError(f"{text!r} lacks its stubbornness σ. Write {FORMS}.")
        sigma = _number(parts.pop(), text, "its stubbornness σ")
    shape = ":".join(parts)
    wants_shape = kind in ("I", "III")
    if shape.startswith("data:") and kind != "IV":
        counts = _reader(priors, text).counts(shape.removeprefix("data:"))
        return Realistic(kind, shape=counts, counts=True, known=known, at_most=at_most, text=text, shape_text=shape)
    if wants_shape != bool(shape):
        raise InputError(f"{text!r} {'lacks its shape' if wants_shape else 'has a part too many'}. Write {FORMS}.")
    shares: Shape | None = shape or None
    if shape and shape not in ("uniform", "table"):
        shares = _reader(priors, text).probabilities(shape)
    return Realistic(kind, shape=shares, sigma=sigma, known=known, at_most=at_most, text=text, shape_text=shape)


def epsilon_privacy(
    text: str,
    priors: Priors | None = None,
    *,
    known: int = 0,
    at_most: bool = False,
    predicates: Sequence[Predicate] = (),
) -> EpsilonPrivacy:
    """Parse an adversary and, after the last colon, ε."""
    who, colon, number = text.rpartition(":")
    example = "Write an adversary and, after the last colon, ε: I:table:1e6:2.5, II:1e3:known=10:4 or III:uniform:2.5."
    if not colon:
        raise InputError(f"{text!r} is not an adversary with an ε. {example}")
    try:
        epsilon = float(number)
    except ValueError:
        raise InputError(f"{text!r}: the last part is ε, and {number!r} is not a number. {example}") from None
    try:
        realistic = adversary(who, priors, known=known, at_most=at_most and who.partition(":")[0] in ("I", "II"))
    except InputError as error:
        raise InputError(f"{text!r} is {who!r} with ε = {epsilon:g}. {error}") from None
    return EpsilonPrivacy(realistic, epsilon, tuple(predicates))


def _reader(priors: Priors | None, text: str) -> Priors:
    if priors is None:
        raise InputError(f"{text!r} names a file, and no schema says which column it is about. Write {FORMS}.")
    return priors


def _number(text: str, whole: str, what: str) -> float:
    try:
        return float(text)
    except ValueError:
        raise InputError(f"{whole!r}: {what} is not a number but {text!r}. Write {FORMS}.") from None
