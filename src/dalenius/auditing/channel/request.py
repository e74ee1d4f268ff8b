"""What is asked of a channel: where it comes from, what else is given, and whether a better one is to be designed."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from dalenius.auditing.channel.designs import objective
from dalenius.engines import Source
from dalenius.errors import InputError, ParameterError
from dalenius.releases import Release
from dalenius.schema import Schema


@dataclass(frozen=True, slots=True, kw_only=True)
class ChannelRequest:
    """The options of `dalenius channel`. A request that contradicts itself is refused at once.

    Of `matrix`, `model`, `release` and `samples` exactly one is given.
    """

    matrix: Path | None = None
    model: str | None = None
    release: Source | Release | None = field(default=None, repr=False)
    samples: Path | None = None
    prior: Path | None = None
    joint: Path | None = None
    observation: Path | None = None
    background: Path | None = None
    assumed_prior: Path | None = None
    loss: str = "hamming"
    system_loss: str | None = None
    hierarchy: Path | None = None
    orders: tuple[float, ...] | None = None
    confidence: float | None = None
    design: str | None = None
    distortion: float | None = None
    curve: bool = False
    points: int | None = None
    output: Path | None = None
    schema: Schema | Path | None = None  # of the release
    sensitive: str | None = None
    kind: str | None = None

    def __post_init__(self) -> None:
        source_of(matrix=self.matrix, model=self.model, release=self.release, samples=self.samples)
        self._check_design()
        self._check_numbers()
        self._check_source()

    @property
    def source(self) -> str:
        """Return where the channel comes from: matrix, model, release or samples."""
        return source_of(matrix=self.matrix, model=self.model, release=self.release, samples=self.samples)

    @property
    def has_people(self) -> bool:
        """Return whether the values belong to people, so that no message shows them."""
        return self.release is not None or self.samples is not None

    @property
    def files(self) -> list[str | Path | None]:
        """Return the files that are read, besides those of a release. A loss may be a name."""
        return [
            self.matrix, self.samples, self.prior, self.joint, self.observation, self.background, self.assumed_prior,
            self.loss, self.system_loss, self.hierarchy,
        ]  # fmt: skip

    @property
    def outputs(self) -> dict[str, Path]:
        """Return where results are written: the designed channel (`matrix`), the curve as CSV (`csv`) and as a page (`page`)."""
        if self.output is None:
            return {}
        if not self.curve:
            return {"matrix": self.output}
        name = self.output.with_suffix("") if self.output.suffix in (".csv", ".html") else self.output
        files = {"csv": name.with_name(name.name + ".csv"), "page": name.with_name(name.name + ".html")}
        return files if self.distortion is None else {**files, "matrix": name.with_name(name.name + ".channel.csv")}

    def _check_design(self) -> None:
        """Refuse options about a design if there is none, and options that a curve alone cannot use."""
        if self.design is None:
            about_designs = {"--distortion": self.distortion, "--curve": self.curve or None, "-o": self.output}
            for option, value in about_designs.items():
                if value is not None:
                    raise InputError(f"{option} is for a designed channel. Add --design, or leave it out.")
        else:
            self._check_designed()
        if self.points is not None and not self.curve:
            raise InputError("--points is for the curve. Add --curve, or leave it out.")
        if self.output is not None and str(self.output) == "-":
            raise InputError("-o needs a file. For standard output, use --json -.")

    def _check_designed(self) -> None:
        objective(self.design or "")
        if self.samples is not None:
            raise InputError(
                "--samples measures an existing channel. For --design, pass its labels with MATRIX or --model."
            )
        if self.distortion is None and not self.curve:
            raise InputError(
                "--design needs --distortion, the largest that is allowed, or --curve for all distortions."
            )
        if self.distortion is None:
            of_one = {"--assumed-prior": self.assumed_prior, "--order": self.orders, "--confidence": self.confidence}
            _refuse(of_one, "is for one channel, but a curve has many", "--distortion")

    def _check_numbers(self) -> None:
        if self.distortion is not None and not (math.isfinite(self.distortion) and self.distortion >= 0):
            raise ParameterError("--distortion", "channel", "a number ≥ 0", self.distortion)
        if self.confidence is not None and not 0 < self.confidence < 1:
            raise ParameterError("--confidence", "channel", "a number > 0 and < 1", self.confidence)
        for order in self.orders or ():
            if not order >= 0:
                raise ParameterError("--order", "channel", "a number ≥ 0, or inf", order)

    def _check_source(self) -> None:
        """Refuse options that belong to another source."""
        if self.release is None:
            of_releases = {"--sensitive": self.sensitive, "--kind": self.kind, "--schema": self.schema}
            _refuse(of_releases, "is for a release", "--release")
        elif self.schema is None:
            raise InputError("--release needs --schema, which says what its columns are.")
        if self.hierarchy is not None and "hierarchy" not in (self.loss, self.system_loss):
            raise InputError("--hierarchy is for --loss hierarchy. Add that, or leave --hierarchy out.")
        if self.has_people:
            priors = {"--prior": self.prior, "--joint": self.joint}
            _refuse(priors, "is not needed: a release and samples have the prior of their people")


def source_of(*, matrix: Path | None, model: str | None, release: object | None, samples: Path | None) -> str:
    """Return where the channel comes from. Refuse none, and several."""
    sources = {"MATRIX": matrix, "--model": model, "--release": release, "--samples": samples}
    named_sources = [name for name, value in sources.items() if value is not None]
    if len(named_sources) != 1:
        what = f"not {' and '.join(named_sources)}" if named_sources else "but none is given"
        raise InputError(f"Exactly one of MATRIX, --model, --release and --samples is needed, {what}.")
    return named_sources[0].lstrip("-").lower()


def _refuse(options: Mapping[str, object], why: str, add: str = "") -> None:
    for option, value in options.items():
        if value is not None:
            raise InputError(f"{option} {why}. {f'Add {add}, or leave it' if add else f'Leave {option}'} out.")
