"""`dalenius compose`: what several releases give away together about people who are in all of them."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from dalenius import engine as _engine
from dalenius.cli.common import (
    DEFAULT_SCHEMA,
    NOT_CONVERGED,
    EngineOption,
    JsonOption,
    KindOption,
    QuietOption,
    SeedOption,
    SensitiveOption,
    connect_engine,
    moved_words,
    release_files,
    say,
    stage_line,
    write_json,
)
from dalenius.errors import counted


def register(app: typer.Typer) -> None:
    app.command("compose")(command)


def command(
    releases: Annotated[
        list[str], typer.Argument(metavar="RELEASE RELEASE…", help="Releases, ours or another tool's.")
    ],
    targets: Annotated[
        Path, typer.Option("--targets", help="People who are in all releases: their quasi-identifiers, a row each.")
    ],
    schema: Annotated[
        list[Path] | None,
        typer.Option("--schema", help="One for all releases (privacy.toml), or one for each, in their order."),
    ] = None,
    truth: Annotated[
        Path | None,
        typer.Option("--truth", help="The rows of the targets with their sensitive value, to see what holds."),
    ] = None,
    output: Annotated[Path | None, typer.Option("-o", "--output", help="What is left of each target, as CSV.")] = None,
    beliefs: Annotated[
        Path | None,
        typer.Option(
            "--beliefs", help="Attack with probabilities, too, and write what is believed of each target, as CSV."
        ),
    ] = None,
    presence: Annotated[
        str | None,
        typer.Option(
            "--presence",
            metavar="P,P,…",
            help="The probability that a target is in each release (1): with probabilities.",
        ),
    ] = None,
    mcse: Annotated[
        float | None,
        typer.Option("--mcse", help="Where beliefs are sampled: stop when no error is larger than this (0.01)."),
    ] = None,
    seed: SeedOption = 0,
    mapping: Annotated[
        Path | None,
        typer.Option("--map", help="A file with from and to: sensitive values that have another name elsewhere."),
    ] = None,
    sensitive: SensitiveOption = None,
    kind: KindOption = None,
    json: JsonOption = None,
    engine: EngineOption = _engine.DEFAULT,
    quiet: QuietOption = False,
) -> None:
    """Intersect what several releases say of the same people: how many values are left, and of whom only one."""
    import numpy as np

    from dalenius.adversary.composition import refusal
    from dalenius.adversary.sampling import Effort
    from dalenius.audit.compose import (
        belief_figures,
        checked,
        composition_text,
        figures,
        open_releases,
        own_groups,
        read_map,
        read_truth,
        rows_text,
    )
    from dalenius.errors import InputError
    from dalenius.output import check_writable, write_texts
    from dalenius.schema import Schema

    paths = schema or [DEFAULT_SCHEMA]
    declared = [Schema.load(path) for path in paths]
    connected = connect_engine(engine, quiet=quiet)
    shares = None if presence is None else _shares(presence, len(releases))
    if mcse is not None and beliefs is None and shares is None:
        raise InputError("--mcse is about probabilities: add --beliefs FILE or --presence, or leave it out.")
    outputs = [path for path in (output, beliefs, None if json in (None, "-") else Path(json)) if path is not None]
    read = [file for release in releases for file in release_files(release)]
    read += [file for one in declared for file in one.files]
    for path in outputs:
        check_writable(path, inputs=[*releases, *paths, targets, truth, mapping, *read, *connected.own_files])
    if len({path.resolve() for path in outputs}) < len(outputs):
        raise InputError("Two outputs cannot be written to one file. Name another file.")
    with stage_line(quiet) as stage:
        stage("reading")
        names = {} if mapping is None else read_map(mapping, connected)
        opened = open_releases(
            releases, declared, targets, engine=connected, kind=kind, sensitive=sensitive, mapping=names
        )
        weighed = beliefs is not None or shares is not None
        for name, release in zip(opened.names, opened.releases, strict=True):
            reason = refusal(release) if weighed else None
            if reason is not None:
                raise InputError(f"{name}: {reason} Leave --beliefs and --presence out.")
        stage("intersecting")
        found, share = opened.intersect(), opened.suppressed_share
        sure = opened.intersect(sure=True) if any(share) else found
        document: dict[str, Any] = {"releases": len(releases), **figures(found, sure, share, opened.secret)}
        stage("subtracting")
        document["differences"] = opened.subtract(_short(opened.names))
        if truth is not None:
            right = read_truth(truth, opened, declared[0], connected, names)
            groups = own_groups(opened, right, names, connected)
            document["truth"] = checked(found, sure, right, opened, groups).to_document()
        texts = {} if output is None else {output: rows_text(*opened.values_left(found, sure), opened.names)}
        warnings: list[str] = []
        if weighed:
            stage("weighing")
            effort = Effort(mcse=0.01 if mcse is None else mcse)
            believed = opened.compose(shares, effort, np.random.default_rng(seed))
            document["probabilistic"] = belief_figures(believed, right if truth is not None else None, opened.secret)
            if beliefs is not None:
                texts[beliefs] = composition_text(believed, opened.values)
            warnings += _warnings(document["probabilistic"])
        if texts:
            write_texts(texts)
    if json is not None:
        write_json(json, document)
    if json != "-":
        for line in _lines(document, _short(opened.names), output, beliefs):
            say(quiet, line)
    for warning in warnings:
        typer.echo(warning, err=True)
    if "probabilistic" in document and not document["probabilistic"]["converged"]:
        raise typer.Exit(NOT_CONVERGED)


def _shares(text: str, releases: int) -> list[float]:
    from dalenius.errors import InputError

    try:
        found = [float(part) for part in text.split(",")]
    except ValueError:
        found = []
    if len(found) != releases or not all(0 < share <= 1 for share in found):
        raise InputError(
            f"--presence {text!r}: write a number above 0, at most 1, for each of the {releases} releases, for example 1,0.9."
        )
    return found


def _warnings(told: dict[str, Any]) -> list[str]:
    found = []
    if not told["pooled"]:
        found.append(
            "Note: the releases cannot be taken together; what is learnt about everybody is learnt from the largest."
        )
    if not told["converged"]:
        found.append("NOT CONVERGED: beliefs are not as sharp as --mcse asks for. They are not to be relied on.")
    if told["shared_groups"]:
        found.append(
            f"WARNING: of {counted(told['shared_groups'], 'target', 'targets')} two releases publish one and the same group, which "
            "is counted twice."
        )
    found.append(
        "Note: beliefs are too sure wherever others in a target's groups are in several releases, too. With --truth see how sure "
        "they are against how often they are right (calibration)."
    )
    return found


def _suppressed_lines(document: dict[str, Any], names: tuple[str, ...]) -> list[str]:
    """What the attack assumes about suppressed rows, how often that is wrong, and what holds without it."""
    shares = document["suppressed_share"]
    if not any(shares):
        return []
    wrong = ", ".join(
        f"{share:.2g}% of the people in {name}" for name, share in zip(names, shares, strict=True) if share
    )
    left = document["PVP_sure"]
    return [
        f"  This assumes that nobody who fits a class was suppressed, which may be wrong for {wrong}.",
        f"  {left['100']:7.1f}%   have one value left in any case, {left['25']:.1f}% four values at most",
    ]


def _difference_lines(differences: list[dict[str, Any]]) -> list[str]:
    """What subtracting releases from each other tells about people who are in only one of them."""
    lines = []
    for told in differences:
        pair = f"Between {told['earlier']} and {told['later']}"
        if told["reason"] is not None:
            lines.append(f"  {pair}, differences were not tested: {told['reason']}.")
            continue
        if not told["joined"] and not told["left"]:
            continue
        lines.append(f"  {pair}, {moved_words(told)}.")
        exposed = told["joined_exposed"] + told["left_exposed"]
        if exposed:
            lines.append(
                f"  {exposed:8,}   of them {'has' if exposed == 1 else 'have'} only one possible value if one release is "
                "subtracted from the other, and no more people joined or left than that takes"
            )
        if not told["complete"]:
            lines.append("  Only sums over overlapping classes were subtracted; finer differences were not tested.")
    return lines


def _short(names: tuple[str, ...]) -> tuple[str, ...]:
    """Names of files without their folders, if that tells them apart."""
    short = tuple(Path(name).name for name in names)
    return short if len(set(short)) == len(short) else names


def _lines(document: dict[str, Any], names: tuple[str, ...], output: Path | None, beliefs: Path | None) -> list[str]:
    lines = [] if output is None else [f"Wrote {output}: what is left of each target"]
    lines += [] if beliefs is None else [f"Wrote {beliefs}: what is believed of each target"]
    lines.append(f"{counted(document['targets'], 'target', 'targets')} in {len(names)} releases")
    for name, mean in zip(names, document["mean_prior_anonymity"], strict=True):
        told = f"{mean:8.2f}   values on average are left by" if mean == mean else "          nobody is found in"
        lines.append(f"  {told} {name}" + (" alone" if mean == mean else ""))
    if document["mean_posterior_anonymity"] == document["mean_posterior_anonymity"]:
        lines.append(f"  {document['mean_posterior_anonymity']:8.2f}   values on average are left by all together")
    lines.append(f"  {document['VP']:7.1f}%   of the targets have fewer values left than any one release leaves (VP)")
    for confidence, share in document["PVP"].items():
        most = {"100": "one value", "50": "two values", "33": "three", "25": "four"}[confidence]
        words = f"have {most} left" + ("" if confidence == "100" else " at most")
        least = "" if confidence == "100" else "at least "
        lines.append(f"  {share:7.1f}%   {words}: the attacker is {least}{confidence} % sure")
    counts = {
        "already_certain": "were certain from one release alone",
        "empty_intersections": "have nothing left: the releases contradict each other, or one of them is not about the target",
        "certainly_missing": "certainly have no value, which is not taken for a secret",
        "unlocated": "fit no group of some release",
    }
    lines += [f"  {document[key]:8,}   {words}" for key, words in counts.items() if document[key]]
    lines += _suppressed_lines(document, names)
    lines += _difference_lines(document["differences"])
    if "truth" in document:
        told = document["truth"]
        lines.append(f"  {told['true_value_left']:7.1f}%   have their true value among those left")
        for name, share in zip(names, told["located_right"], strict=True):
            if share == share:
                lines.append(f"  {share:7.1f}%   are found in their own group of {name}")
    if "probabilistic" in document and document["probabilistic"]["success"]["n"]:
        told = document["probabilistic"]["success"]
        lines.append(
            f"  {100 * told['value']:7.1f}%   are guessed right with probabilities ({100 * told['low']:.1f} to "
            f"{100 * told['high']:.1f}); it believes {100 * document['probabilistic']['confidence']:.1f}% on average"
        )
        told = document["probabilistic"]["naive"]
        lines.append(f"  {100 * told['value']:7.1f}%   by what the releases teach about anybody")
    return lines
