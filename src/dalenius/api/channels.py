"""`dl.channel`: privacy as an attacker's estimation error, for a matrix, a model, a release or samples."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from dalenius.api import arguments, support
from dalenius.api.arguments import several
from dalenius.api.support import NO_CONTEXT, Context, public
from dalenius.options import Option

if TYPE_CHECKING:
    from dalenius.auditing.channel import MeasuredChannel

_OTHER = "Other parts of the model"
_DESIGN = "Design"
MATRIX = Option(
    "matrix",
    "A CSV with a row for each input and a column for each output: p(output | input).",
    Path,
    metavar="MATRIX",
    is_argument=True,
)
MODEL = Option(
    "model", "A model instead of a matrix, such as crowds:n=10,p=0.3. --model list explains all of them.", str
)
RELEASE = Option(
    "release", "The classes of a release instead of a matrix: what a person's class says about the value.", str
)
SAMPLES = Option(
    "samples", "A file with input, output and perhaps count instead of a matrix. Figures get an error.", Path
)
PRIOR = Option("prior", "A CSV of value,probability for the inputs. Default: equally likely.", Path, panel=_OTHER)
JOINT = Option(
    "joint",
    "If the secret is not the input: a CSV with a row per input and a column per value, p(both).",
    Path,
    panel=_OTHER,
)
OBSERVATION = Option(
    "observation", "If the attacker does not see the output itself: a CSV, p(seen | output).", Path, panel=_OTHER
)
BACKGROUND = Option(
    "background",
    "What the attacker knows besides: a CSV with a row per value, p(known | value).",
    Path,
    panel=_OTHER,
)
ASSUMED_PRIOR = Option("assumed-prior", "The prior of an attacker who is mistaken.", Path, panel=_OTHER)
LOSS = Option("loss", "The attacker's loss: hamming, absolute, squared, hierarchy, or a CSV.", str, metavar="NAME|FILE")
SYSTEM_LOSS = Option("system-loss", "The loss that measures distortion (default: --loss).", str, metavar="NAME|FILE")
HIERARCHY = Option("hierarchy", "The hierarchy of the values, for --loss hierarchy.", Path)
ORDER = Option(
    "order",
    "Orders of Rényi's entropy (0, 0.5, 1, 2, inf). Repeatable.",
    float,
    is_repeatable=True,
    shows_default=False,
    allowed="a number ≥ 0, or inf",
    is_allowed=lambda order: order >= 0,
)
CONFIDENCE = Option("confidence", "Level of confidence sets and intervals (0.95).", float, shows_default=False)
DESIGN = Option("design", "Find the best channel: mutual-information, average or worst-case.", str, panel=_DESIGN)
DISTORTION = Option("distortion", "With --design: the largest distortion allowed.", float, panel=_DESIGN)
CURVE = Option("curve", "With --design: the best channel at every distortion.", bool, panel=_DESIGN)
POINTS = Option("points", "Points of the curve (25 or 11).", int, minimum=2, maximum=1000, panel=_DESIGN)
OUTPUT = arguments.OUTPUT.but(
    help="Write the designed channel to this file; with --curve NAME.csv and NAME.html.", panel=_DESIGN
)


@public()
def channel(
    matrix: Annotated[Path | None, MATRIX] = None,
    *,
    model: Annotated[str | None, MODEL] = None,
    release: Annotated[str | None, RELEASE] = None,
    samples: Annotated[Path | None, SAMPLES] = None,
    prior: Annotated[Path | None, PRIOR] = None,
    joint: Annotated[Path | None, JOINT] = None,
    observation: Annotated[Path | None, OBSERVATION] = None,
    background: Annotated[Path | None, BACKGROUND] = None,
    assumed_prior: Annotated[Path | None, ASSUMED_PRIOR] = None,
    loss: Annotated[str, LOSS] = "hamming",
    system_loss: Annotated[str | None, SYSTEM_LOSS] = None,
    hierarchy: Annotated[Path | None, HIERARCHY] = None,
    order: Annotated[float | Sequence[float] | None, ORDER] = None,
    confidence: Annotated[float | None, CONFIDENCE] = None,
    design: Annotated[str | None, DESIGN] = None,
    distortion: Annotated[float | None, DISTORTION] = None,
    curve: Annotated[bool, CURVE] = False,
    points: Annotated[int | None, POINTS] = None,
    output: Annotated[Path | None, OUTPUT] = None,
    schema: Annotated[arguments.AnySchema | str | Path | None, arguments.SCHEMA] = arguments.SCHEMA_FILE,
    sensitive: arguments.Sensitive = None,
    kind: arguments.Kind = None,
    seed: arguments.Seed = 0,
    engine: arguments.Engine = None,
    context: Context = NO_CONTEXT,
) -> MeasuredChannel:
    """Measure what a channel leaves to an attacker who sees its output: estimation error, entropies, t, δ and ε with bounds.

    Exactly one of `matrix`, `model`, `release` and `samples` is given. With `design` the result is the channel that leaves most to
    guess at a distortion that is allowed. `schema` is used with `release` only.

    >>> import dalenius as dl
    >>> measured = dl.channel(model="crowds:n=10,p=0.3")
    >>> "min_entropy" in str(sorted(measured.to_document()))
    True
    """
    from dalenius.auditing.channel import ChannelRequest, channel

    is_named = release is not None or str(schema) != arguments.SCHEMA_FILE
    named = None if not is_named else Path(schema) if isinstance(schema, str) else schema
    request = ChannelRequest(
        matrix=_path(matrix), model=model, release=release, samples=_path(samples), prior=_path(prior), joint=_path(joint),
        observation=_path(observation), background=_path(background), assumed_prior=_path(assumed_prior), loss=loss,
        system_loss=system_loss, hierarchy=_path(hierarchy), orders=None if order is None else tuple(several(order)),
        confidence=confidence, design=design, distortion=distortion, curve=curve, points=points, output=_path(output),
        sensitive=sensitive, kind=kind, schema=named,
    )  # fmt: skip
    connected = context.engine(engine)
    files = [*request.files, *connected.own_files]
    if release is not None:
        files += [named if isinstance(named, Path) else None, *support.release_files(release)]
    Context(writes=(*request.outputs.values(), *context.writes), same_file=context.same_file).check_outputs(files)
    return channel(request, seed=seed, engine=connected, tell=context.say, progress=context.stage)


def _path(value: str | Path | None) -> Path | None:
    return None if value is None else Path(value)
