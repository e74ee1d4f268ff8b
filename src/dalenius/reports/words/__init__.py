"""The catalogue: every word that reports print, in one package per language.

`from dalenius.reports.words import audit` gives the words of the audit in the chosen language. A translation is a package beside
`en` with the same modules and names; reports only choose entries and fill in numbers.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:  # English is the reference: the type checker compares every use with it
    from types import ModuleType

    from dalenius.reports.words.en import (
        attack as attack,
    )
    from dalenius.reports.words.en import (
        attacks as attacks,
    )
    from dalenius.reports.words.en import (
        audit as audit,
    )
    from dalenius.reports.words.en import (
        channel as channel,
    )
    from dalenius.reports.words.en import (
        charts as charts,
    )
    from dalenius.reports.words.en import (
        check as check,
    )
    from dalenius.reports.words.en import (
        common as common,
    )
    from dalenius.reports.words.en import (
        compare as compare,
    )
    from dalenius.reports.words.en import (
        compose as compose,
    )
    from dalenius.reports.words.en import (
        demo as demo,
    )
    from dalenius.reports.words.en import (
        epsilons as epsilons,
    )
    from dalenius.reports.words.en import (
        frontier as frontier,
    )
    from dalenius.reports.words.en import (
        guide as guide,
    )
    from dalenius.reports.words.en import (
        init as init,
    )
    from dalenius.reports.words.en import (
        lattice as lattice,
    )
    from dalenius.reports.words.en import (
        numbers as numbers,
    )
    from dalenius.reports.words.en import (
        publish as publish,
    )
    from dalenius.reports.words.en import (
        reproduce as reproduce,
    )
    from dalenius.reports.words.en import (
        split as split,
    )

LANGUAGE = "en"


def load(report: str, language: str = LANGUAGE) -> ModuleType:
    """Return the words of one report in a language."""
    return import_module(f"{__name__}.{language}.{report}")


def __getattr__(name: str) -> ModuleType:
    """Load the words of a report when it asks for them."""
    if name.startswith("_"):
        raise AttributeError(name)
    try:
        return load(name)
    except ModuleNotFoundError as error:
        raise AttributeError(f"the catalogue has no words for {name!r}") from error
