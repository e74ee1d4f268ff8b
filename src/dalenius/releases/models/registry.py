"""The channel models by name: `model("crowds:n=10,p=0.3")` is the channel that a text names, `build("crowds", n=10, p=0.3)`
the same from numbers. All inputs are equally likely (a uniform prior).
"""

from __future__ import annotations

from dalenius.errors import InputError, listing, nearest
from dalenius.plugins import Registry
from dalenius.releases.models.base import Channel, Model
from dalenius.releases.models.messages import crowds, pool_mix, threshold_mix
from dalenius.releases.models.places import gaussian, planar_laplace
from dalenius.releases.models.values import flip, geometric, randomized_response

__all__ = ["MODELS", "build", "described", "find", "model", "table"]

# A new model is one function and one line here, or a plug-in's entry point in the group `dalenius.channels`.
MODELS: Registry[Model] = Registry(
    "dalenius.channels",
    (
        flip,
        randomized_response,
        geometric,
        gaussian,
        planar_laplace,
        crowds,
        threshold_mix,
        pool_mix,
    ),
    lambda model: model.name,
)


def model(text: str) -> Channel:
    """The channel that `name:key=value,key=value` describes, such as `crowds:n=10,p=0.3`."""
    text = text.strip()
    chosen = find(text)
    return chosen.build(**chosen.read(text))


def build(name: str, **parameters: object) -> Channel:
    """The channel of a model from its parameters as numbers; a grid is a side or a pair of sides."""
    return find(name).build(**parameters)


def find(text: str) -> Model:
    """The model that a text names, with or without its parameters."""
    name = text.partition(":")[0].strip()
    if name not in MODELS:
        raise InputError(f"There is no model {name!r}.{nearest(name, MODELS)} Known: {listing(MODELS)}.")
    return MODELS[name]


def described() -> dict[str, dict[str, object]]:
    """Every model with its sentence, an example, and its parameters with what each may be."""
    return {
        model.name: {
            "what": model.sentence,
            "example": model.example,
            "parameters": {p.name: {"what": p.sentence, "allowed": p.allowed} for p in model.parameters},
        }
        for model in MODELS.values()
    }


def table() -> str:
    """The models as a table for the documentation."""
    lines = ["| model | parameters | what it is |", "|---|---|---|"]
    for model in MODELS.values():
        remark = f": {model.remark}" if model.remark else ""
        lines.append(f"| `{model.example}` | {model.needs} | {model.sentence}{remark} |")
    return "\n".join(lines) + "\n"
