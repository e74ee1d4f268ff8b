"""`dalenius attack`: what an adversary believes of each target, and with the truth how threatened people are."""

from __future__ import annotations

import contextlib
import dataclasses
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from dalenius import engine as _engine
from dalenius.cli.common import (
    DEFAULT_SCHEMA,
    NOT_CONVERGED,
    EngineOption,
    JsonOption,
    KindOption,
    QuietOption,
    SchemaOption,
    SeedOption,
    SensitiveOption,
    connect_engine,
    release_files,
    say,
    stage_line,
    write_json,
)
from dalenius.cli.options import NamesAdversaries
from dalenius.errors import counted

if TYPE_CHECKING:
    from dalenius.adversary.sampling import Method


def register(app: typer.Typer) -> None:
    app.command("attack", cls=NamesAdversaries)(command)


def command(
    release: Annotated[str, typer.Argument(metavar="RELEASE", help="A release, ours or another tool's.")],
    adversary: Annotated[
        str | None,
        typer.Option(
            "--adversary",
            help="attacker (default), learner, ideal, random-worlds, a realistic one such as I:table:1e6; on centroids "
            "nearest-centroid (default there); on noisy counts naive-bayes, naive-bayes-greedy and naive-bayes-drawn; on "
            "anatomized releases definetti-permutation, -majority, -group and -open.",
        ),
    ] = None,
    targets: Annotated[
        Path | None,
        typer.Option(
            "--targets",
            help="A file with quasi-identifiers, a row a target; an empty cell is not known. For deFinetti attacks a "
            "column group says in which group the target is.",
        ),
    ] = None,
    output: Annotated[Path | None, typer.Option("-o", "--output", help="The beliefs, as CSV.")] = None,
    truth: Annotated[Path | None, typer.Option("--truth", help="The table that the release was made of.")] = None,
    holdout: Annotated[
        Path | None, typer.Option("--holdout", help="People like those in the table who are not in it: the control.")
    ] = None,
    knows: Annotated[
        str | None,
        typer.Option("--knows", metavar="A,B", help="Quasi-identifiers the attacker knows of everybody (all)."),
    ] = None,
    error: Annotated[
        list[str] | None,
        typer.Option("--error", metavar="A=RATE", help="How often what it knows of a column is wrong. Repeatable."),
    ] = None,
    skip_unmatched: Annotated[
        bool, typer.Option("--skip-unmatched", help="Give targets who fit nowhere an empty belief.")
    ] = False,
    deleted: Annotated[
        int, typer.Option("--deleted", min=0, help="Rows of the table that the release leaves out altogether.")
    ] = 0,
    mcse: Annotated[
        float | None,
        typer.Option(
            "--mcse", help="Where beliefs are sampled: stop when no error of theirs is larger than this (0.005)."
        ),
    ] = None,
    method: Annotated[
        str | None,
        typer.Option(
            "--method",
            help="How the link of an anatomized release is drawn: block (default), swaps or metropolis; for deFinetti attacks "
            "also printed-swaps and printed-permutations, the heuristic as published.",
        ),
    ] = None,
    most_sweeps: Annotated[
        int | None,
        typer.Option(
            "--most-sweeps",
            min=1,
            help="Where beliefs are sampled: give up after so many sweeps of each chain (50,000, of a printed method 1,000); "
            "a round that was begun is ended.",
        ),
    ] = None,
    sensitive: SensitiveOption = None,
    schema: SchemaOption = DEFAULT_SCHEMA,
    kind: KindOption = None,
    json: JsonOption = None,
    seed: SeedOption = 0,
    engine: EngineOption = _engine.DEFAULT,
    quiet: QuietOption = False,
) -> None:
    """Attack a release: beliefs about targets (-o), and with --truth how many people are threatened, and by how much."""
    import numpy as np

    from dalenius.adversary import RandomWorlds, needing
    from dalenius.adversary.learning import Learning, Memory
    from dalenius.adversary.sampling import PRINTED, PRINTED_SWEEPS, Effort
    from dalenius.audit.attacks import attack, rates
    from dalenius.audit.groups import located, own_groups
    from dalenius.audit.people import check_others, check_same_people, open_together
    from dalenius.audit.targets import beliefs_text, check_knows, check_matched, read_targets
    from dalenius.audit.threat import relative_threats
    from dalenius.errors import InputError
    from dalenius.measure.fidelity import Truth
    from dalenius.output import check_writable, write_texts
    from dalenius.release import Anatomized, Centroids, Generalized, GroupedRelease, NoisyCounts, Release
    from dalenius.release.prior import Priors
    from dalenius.schema import Schema

    if targets is None and truth is None:
        raise InputError("Whom to attack? Name --targets FILE, or --truth TABLE for everybody in the table.")
    if (targets is None) != (output is None):
        raise InputError("--targets and -o go together: beliefs are written about targets.")
    if holdout is not None and truth is None:
        raise InputError("Held-out people are compared with the people of the table: --holdout needs --truth.")
    if adversary == "ideal" and holdout is not None:
        raise InputError("The ideal learner is no attack on the release: leave --holdout out.")
    if adversary == "ideal" and targets is None:
        raise InputError("The ideal learner has the table itself: what it believes is asked of --targets.")
    idle = {"--error": error, "--skip-unmatched": skip_unmatched or None}
    for option, given in idle.items():
        if targets is None and given is not None:
            raise InputError(f"{option} is about targets, and none are named: add --targets FILE, or leave it out.")
    if truth is not None and adversary != "ideal" and (error or deleted):
        raise InputError(
            f"{'--error' if error else '--deleted'} changes what is believed of targets, and the figures about the people of "
            "the table (--truth) would not follow it. Leave --truth out."
        )
    known_columns = None if knows is None else _names(knows)
    adversary = adversary or _usual(release, kind)
    rated = truth is not None and adversary != "ideal" and (adversary is not None or holdout is not None)
    counting, links, locates = needing("counts"), adversary in needing("links"), adversary in needing("centres")
    learns = adversary in (None, "attacker", "learner", "ideal") or (targets is not None and not links and not locates)
    adversary = adversary or "attacker"
    samples = (
        links or adversary in ("attacker", "learner") or (learns and truth is not None and adversary not in counting)
    )
    sampling: dict[str, Any] = {"--mcse": mcse, "--method": method, "--most-sweeps": most_sweeps}
    for option, wanted in sampling.items():
        if wanted is not None and not samples:
            raise InputError(f"{option} is about sampling, and {adversary} has nothing to sample: leave it out.")
    if deleted and (targets is None or adversary != "attacker"):
        raise InputError("--deleted is for what an attacker believes of targets: add --targets, or leave it out.")
    if adversary == "ideal" and truth is None:
        raise InputError("The ideal learner learns from the table itself: name --truth TABLE.")
    declared, connected = Schema.load(schema), connect_engine(engine, quiet=quiet)
    priors = Priors(declared, connected)
    way = _method(method or "block")
    usual = Effort()
    most = most_sweeps or (PRINTED_SWEEPS if way in PRINTED else usual.most_sweeps)
    effort, memory = Effort(mcse=usual.mcse if mcse is None else mcse, method=way, most_sweeps=most), Memory()
    outputs = [path for path in (output, None if json in (None, "-") else Path(json)) if path is not None]
    read = [*release_files(release), *declared.files, *priors.files]
    for path in outputs:
        check_writable(path, inputs=[release, schema, targets, truth, holdout, *read, *connected.own_files])
    if len({path.resolve() for path in outputs}) < len(outputs):
        raise InputError(f"The beliefs and the JSON cannot both be written to {str(output)!r}. Name another file.")
    with stage_line(quiet) as stage:

        def progress(sweeps: int, worst: float, rhat: float) -> None:
            stage(f"sampling: {sweeps:,} sweeps, largest error {worst:.4f} of {effort.mcse:g}, R-hat {rhat:.3f}")

        how: dict[str, Any] = {"effort": effort, "memory": memory, "progress": progress}
        own = {"attacker": {**how, "deleted": deleted}, "ideal": {}}.get(
            adversary, how
        )  # the ideal has nothing to sample
        made = _adversary(adversary, priors, error, own)
        stage("reading")
        opened, people, control = open_together(release, truth, holdout, declared, kind=kind, engine=connected)
        if not isinstance(opened, GroupedRelease | NoisyCounts):
            raise InputError(f"{release}: a release of kind {opened.kind!r} has no groups to attack.")
        counts = isinstance(opened, NoisyCounts)
        if counts and adversary not in counting:
            raise InputError(
                f"{release}: noisy counts have no groups; attack them with --adversary {next(iter(counting))}."
            )
        if isinstance(opened, Centroids) and not locates and adversary != "ideal":
            raise InputError(f"{adversary} cannot attack this release: {made.refusal(opened)}.")
        if isinstance(opened, GroupedRelease) and people is not None:
            check_same_people(opened, people)
        check_others(truth, holdout, connected)
        check_knows(known_columns, opened.schema)
        if people is not None:  # whoever is measured is known as well as the targets are
            people = people.known_by(known_columns)
        if control is not None:
            control = dataclasses.replace(control, people=control.people.known_by(known_columns))
        names = [opened.sensitive] if isinstance(opened, NoisyCounts) else [c.name for c in opened.schema.sensitive]
        if sensitive is None and len(names) > 1:
            raise InputError(f"There are several sensitive columns; name one with --sensitive: {', '.join(names)}.")
        column = sensitive or names[0]
        document: dict[str, Any] = {"sensitive": column}
        warnings: list[str] = []
        texts: dict[Path, str] = {}
        if targets is not None and output is not None:
            stage("attacking")
            groups = opened.named() if made.knows_group and isinstance(opened, Anatomized) else None
            known = read_targets(targets, opened.schema, connected, known_columns, groups)
            seen: Release = opened
            if adversary == "ideal":
                assert people is not None
                seen = Truth.of(people.table.cells()).identity
            # Before anything is sampled; with doubts, or rows left out, who fits nowhere may still be there.
            if made.assumes_presence and isinstance(made, Learning) and not error and not deleted:
                quick = RandomWorlds().attack(seen, known, column=column)
                check_matched(quick, known, adversary, targets.name, skip=skip_unmatched)
            belief = made.attack(seen, known, column=column, rng=np.random.default_rng(seed))
            if made.assumes_presence:
                check_matched(belief, known, adversary, targets.name, skip=skip_unmatched)
            texts[output] = beliefs_text(belief)
            warnings += _warnings("about targets", belief.diagnostics)
            document |= {
                "diagnostics": dict(belief.diagnostics),
                "adversary": adversary, "targets": len(belief), "unmatched": int((~belief.matched).sum()), "method": belief.method,
                "largest_stderr": float(np.nanmax(belief.stderr, initial=0.0)),
            }  # fmt: skip
        if people is not None and learns and not error and isinstance(opened, Generalized | Anatomized):
            stage("measuring threats")
            threats = relative_threats(
                opened, people, column, np.random.default_rng(seed), effort=effort, memory=memory, progress=progress
            ).to_document()
            warnings += _warnings("about the people of the table", threats["diagnostics"], threats)
            threats["unmatched_people"] = threats.pop("unmatched")  # those of the targets have this name already
            threats["missing"] = people.count - threats["people"]
            document = {**threats, **document}
        if people is not None and rated:  # after the threats: what they sampled is as sharp as rates need it
            stage(f"{adversary} on {column}")
            if links and made.knows_group and isinstance(opened, Anatomized):
                placed = located(people, opened, release, connected)
                document["group_known"] = not isinstance(placed, str)
                if isinstance(placed, str):
                    document["group_unknown_because"] = placed
                else:
                    people = placed.known_by(known_columns)
            theirs = None  # the people with their groups
            if locates and isinstance(opened, Centroids):
                placed = own_groups(people, opened, release, connected)
                document["group_known"] = not isinstance(placed, str)
                if isinstance(placed, str):
                    document["group_unknown_because"] = placed
                else:
                    theirs = placed.known_by(known_columns)
            found = attack(made, opened, column, people, control, np.random.default_rng(seed), located=theirs)
            if not learns or counts:
                warnings += _warnings("about the people of the table", found.belief.diagnostics)
            warnings += _warnings("about the held-out people", found.control_diagnostics)
            document |= {"adversary": adversary, "method": found.belief.method, **rates(found, opened, people)}
            document["people_diagnostics"] = dict(found.belief.diagnostics)
            document["holdout_diagnostics"] = dict(found.control_diagnostics)
        document["converged"] = not warnings
    if texts:
        write_texts(texts)
    if json is not None:
        write_json(json, document)
    if json != "-":
        for line in _lines(document, output):
            say(quiet, line)
    for warning in warnings:
        typer.echo(warning, err=True)  # never left out, however quiet it should be
    if warnings:
        raise typer.Exit(NOT_CONVERGED)


def _usual(release: str, kind: str | None) -> str | None:
    """Who attacks a release if nobody is named: centroids have an adversary of their own. None: as for any other."""
    from dalenius.adversary import needing
    from dalenius.errors import InputError
    from dalenius.release import Centroids, find_files

    if kind is None:
        # A table of the engine has no kind but --kind; what is not there is told later.
        with contextlib.suppress(InputError):
            kind = find_files(release)[0]
    return next(iter(needing("centres"))) if kind == Centroids.kind else None


def _method(text: str) -> Method:
    from dalenius.adversary.sampling import METHODS
    from dalenius.errors import InputError

    for method in METHODS:
        if method == text:
            return method
    raise InputError(f"--method {text!r}: {', '.join(METHODS)} are known.")


def _names(text: str) -> list[str]:
    return [name.strip() for name in text.split(",")]


def _adversary(text: str, priors: Any, error: list[str] | None, how: dict[str, Any]) -> Any:
    """The adversary by name; only those that learn from the release can be wrong about what they know."""
    from dalenius.adversary import named, needing
    from dalenius.adversary.attacker import Attacker
    from dalenius.adversary.learner import Learner
    from dalenius.errors import InputError

    rates = {}
    for item in error or []:
        name, equals, number = item.partition("=")
        try:
            rates[name.strip()] = float(number)
        except ValueError:
            equals = ""
        if not equals:
            raise InputError(f"--error {item!r}: write COLUMN=RATE, for example age=0.1.")
    learning: dict[str, Any] = {"learner": Learner, "attacker": Attacker, "ideal": Learner, **needing("links")}
    if text in learning:
        return learning[text](rates, **how)
    if rates:
        raise InputError(f"{text} takes what it knows for right: leave --error out, or use attacker or learner.")
    return named(text, priors)


_WORDS = {
    "GT_A": "guessed right by the attacker",
    "GT_L": "guessed right by the learner, from the release but as if not in it",
    "RGT_A": "what being in the release adds",
    "GT_RW": "guessed right by random worlds",
    "baseline_accuracy": "guessed right by the commonest value",
    "ideal_accuracy": "guessed right by a learner who has the table itself",
    "log2_Ti_above_1": "attacker at least twice as sure as the learner, and right",
}


_RATES = {
    "success": "guessed right among the people of the release",
    "holdout_success": "guessed right among people who are not in it",
    "gain": "what being in it adds",
    "naive": "guessed right by the commonest value",
    "random_worlds": "guessed right by random worlds",
    "high_confidence": "guessed right where it is surer than 0.8",
    "right_group": "the nearest centroid is that of their own group",
}


def _rate(found: dict[str, Any]) -> str:
    return f"{found['value']:8.4f} ({found['low']:.4f} to {found['high']:.4f}, n = {found['n']:,})"


def _lines(document: dict[str, Any], output: Path | None) -> list[str]:
    lines = []
    if output is not None:
        lost = f", {document['unmatched']:,} of whom fit nowhere" if document["unmatched"] else ""
        lines.append(
            f"Wrote {output}: beliefs of {document['adversary']} about {counted(document['targets'], 'target', 'targets')}{lost} "
            f"({document['method']})"
        )
    if "success" in document:
        lines.append(
            f"{document['adversary']} on {document['sensitive']} ({document['method']}): {document['verdict']}"
        )
        if not document.get("group_known", True) and document["adversary"] == "nearest-centroid":
            lines.append(
                f"  How often the nearest centroid is the right one is not known ({document['group_unknown_because']})."
            )
        elif not document.get("group_known", True):
            lines.append(
                f"  Who is in which group is not known ({document['group_unknown_because']}): every row like a person's counts."
            )
        if document["holdout_unmatched"]:
            lines.append(
                f"  {document['holdout_unmatched']:,} of the {document['holdout_success']['n']:,} held-out people are like "
                "nobody in the release, and are guessed by what it teaches about anybody."
            )
        lines += _notes(document)
        bound = {"success", "random_worlds"} if document["lower_bound"] else set()
        bound |= {"gain"} if document["gain_lower_bound"] else set()
        lines += [
            f"  {key:<18} {_rate(document[key])}   {words}{', a lower bound' if key in bound else ''}"
            for key, words in _RATES.items()
            if document[key]["n"]
        ]
    if "GT_A" in document:
        lost = document["unmatched_people"]
        told = f" ({lost:,} fit no class: those of the attacker are lower bounds)" if lost else ""
        lines.append(f"Threats to {document['sensitive']}, shares of the people{told}:")
        if document["missing"] and "success" not in document:
            lines.append(f"  Not counted: {counted(document['missing'], 'person', 'people')} without a value.")
        errors = document["stderr"]
        lines += [
            f"  {key:<18} {document[key]:8.4f}{_plus_minus(errors.get(key))}   {words}" for key, words in _WORDS.items()
        ]
        most, faithful = _plus_minus(errors.get("max_Ti")), _plus_minus(document["RF_stderr"])
        lines += [
            f"  {'max_Ti':<18} {document['max_Ti']:8.4g}{most}   how many times as sure, for the person most given away",
            f"  {'RF':<18} {document['RF']:8.4f}{faithful}   how faithful the release is to the table (1: as good to learn from)",
        ]
    return lines


def _notes(document: dict[str, Any]) -> list[str]:
    """What has to be known to read the rates."""
    told = []
    shift, most = 100 * document["shift"], 100 * document["shift_at_most"]
    differs = f"  The commonest value is {shift:.1f} to {most:.1f} points rarer or commoner among the held-out people"
    if not document["comparable"]:
        told.append(f"{differs}: they are another population, and nothing is concluded from them.")
    elif shift:
        told.append(f"{differs}; a gain up to that is not called a leak.")
    if document["missing"]:
        told.append(f"  Not counted: {counted(document['missing'], 'person', 'people')} without a value.")
    if document["lower_bound"]:
        bound = "success and gain are lower bounds" if document["gain_lower_bound"] else "success is a lower bound"
        told.append(f"  {counted(document['people_unmatched'], 'person fits', 'people fit')} no class: {bound}.")
    return told


def _warnings(what: str, told: Mapping[str, Any], threats: dict[str, Any] | None = None) -> list[str]:
    """What is to be said of beliefs that were sampled: nothing if they have converged, and what was made of them."""
    if not told.get("converged", True):
        cut = "interrupted" if told["interrupted"] else "stopped"
        why = "; ".join(told.get("not_converged_because", ()))
        return [
            f"NOT CONVERGED: beliefs {what} were {cut} after {told['sweeps']:,} sweeps of each of {told['chains']} chains with an "
            f"error up to {told['largest_mcse']:.4f} and R-hat {told['largest_rhat']:.3f}. These numbers are not to be relied on."
            + (f" Why: {why}." if why else "")
        ]
    if threats is None or threats["converged"]:
        return []
    error, name = max((threats["stderr"][name], name) for name in ("GT_A", "GT_L", "RGT_A"))
    return [
        f"NOT CONVERGED: after {told['sweeps']:,} sweeps {name} is known to ± {error:.4f} only: values tie, or nearly so, "
        "for the most believed one. The beliefs themselves have converged."
    ]


def _plus_minus(error: float | None) -> str:
    """A Monte-Carlo error, where there is one."""
    return f" ± {error:.4f}" if error else ""
