"""The audit as one HTML page: self-contained, offline, without script, readable on a phone and on paper."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from html import escape
from typing import Any

from dalenius import __version__
from dalenius.adversary import REGISTRY
from dalenius.audit import Audit
from dalenius.audit.attacks import GAIN_FORMULA, RESIDUAL_FORMULA
from dalenius.measure.accuracy import MARGIN
from dalenius.report import charts, words

_STYLE = """
:root { --ink: #1c2430; --soft: #5b6770; --line: #d9dfe5; --bad: #b3261e; --good: #1b7a3d; --maybe: #8a5a00; }
* { box-sizing: border-box; }
body { font: 16px/1.55 system-ui, "Segoe UI", Helvetica, Arial, sans-serif; color: var(--ink); margin: 0; background: #fff; }
main { max-width: 46rem; margin: 0 auto; padding: 1.5rem 1rem 4rem; }
h1 { font-size: 1.7rem; line-height: 1.2; margin: 0 0 .3rem; }
h2 { font-size: 1.2rem; margin: 2.2rem 0 .5rem; border-bottom: 1px solid var(--line); padding-bottom: .2rem; }
p { margin: .5rem 0; }
.soft, small, caption { color: var(--soft); }
.verdict { border-left: .4rem solid var(--soft); padding: .7rem 1rem; margin: 1rem 0; font-size: 1.1rem; background: #f6f8fa; }
.verdict.violated { border-color: var(--bad); } .verdict.passed { border-color: var(--good); }
.verdict.incomplete { border-color: var(--maybe); }
.scroll { overflow-x: auto; }
table { border-collapse: collapse; width: 100%; margin: .6rem 0; font-size: .93rem; }
th, td { text-align: left; padding: .35rem .6rem .35rem 0; border-bottom: 1px solid var(--line); vertical-align: top; }
td.number, th.number { text-align: right; font-variant-numeric: tabular-nums; white-space: nowrap; }
.violated { color: var(--bad); font-weight: 600; } .passed { color: var(--good); } .untested { color: var(--maybe); }
div.verdict { color: var(--ink); font-weight: 400; }
td:first-child code { white-space: nowrap; }
figure { margin: 1rem 0; } figure svg { max-width: 100%; height: auto; }
figcaption { color: var(--soft); font-size: .9rem; }
code { font-size: .88em; overflow-wrap: anywhere; }
@media print { body { font-size: 10.5pt; } main { max-width: none; padding: 0; } h2 { break-after: avoid; }
  figure, table, .verdict { break-inside: avoid; } }
"""


def page(audit: Audit, run: Mapping[str, Any], *, reveal: bool = False) -> str:
    """The whole page. `run` holds what differs between two equal runs: command line, time, versions."""
    parts = [
        _head(audit),
        _verdict(audit),
        _release(audit),
        _attacks(audit),
        _three_risks(audit),
        _people(audit, reveal),
        _levels(audit),
        _utility(audit),
        _diagnostics(audit),
        _limits(audit),
        _repeat(audit, run),
    ]
    body = "\n".join(part for part in parts if part)
    return (
        '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>Audit of {escape(audit.name)}</title>\n<style>{_STYLE}</style>\n</head>\n"
        f"<body>\n<main>\n{body}\n</main>\n</body>\n</html>\n"
    )


def _head(audit: Audit) -> str:
    return (
        f"<h1>Audit of {escape(audit.name)}</h1>\n"
        '<p class="soft">What an attacker learns from this release about the people in it, how much of that is about '
        "everybody, and what the release is still good for.</p>"
    )


def _verdict(audit: Audit) -> str:
    text = f'<div class="verdict {audit.verdict}">{escape(words.VERDICTS[audit.verdict])}</div>'
    if not audit.thresholds:
        return text
    rows = [
        [
            f"<code>{escape(t.key)}</code>",
            escape(t.asked),
            escape(words.number(t.measured)) if t.outcome != "not tested" else "–",
            f'<span class="{t.outcome.replace("not tested", "untested")}">{t.outcome}</span>'
            + (f" <small>{escape(t.reason)}</small>" if t.outcome == "not tested" else ""),
        ]
        for t in audit.thresholds
    ]
    return text + _table(["threshold", "asked", "found", "outcome"], rows, numeric={1, 2})


def _release(audit: Audit) -> str:
    release = audit.release
    quasi = ", ".join(escape(column.name) for column in audit.schema.quasi)
    sensitive = ", ".join(escape(column.name) for column in audit.schema.sensitive)
    truth = "The original table was at hand." if audit.has_truth else "The original table was not at hand."
    control = f" {audit.held_out:,} held-out people serve as control." if audit.held_out else ""
    return (
        "<h2>The release and what is assumed</h2>\n"
        f"<p>{release.people:,} people in {release.groups:,} classes ({escape(release.kind)}); {release.suppressed:,} rows are "
        "suppressed: none of their quasi-identifiers is published. A <em>class</em> is a set of people whom the release does "
        "not tell apart.</p>\n"
        f"<p>An attacker is assumed to know of a person: {quasi}. What must not be learned: {sensitive}. {truth}{control}</p>\n"
        f"<figure>{charts.class_sizes(audit)}<figcaption>How many people are in classes of which size.</figcaption></figure>"
    )


def _attacks(audit: Audit) -> str:
    text = ["<h2>The adversaries</h2>"]
    for name in dict.fromkeys(found.adversary for found in audit.attacks):
        adversary = REGISTRY[name]
        text.append(
            f"<p><strong>{escape(name)}</strong> knows {escape(adversary.knows)}; it {escape(adversary.does)}.</p>"
        )
    if not audit.attacks:
        text.append("<p>No adversary could be tried; see below what was not tested.</p>")
        return "\n".join(text)
    if not any(found.success.n for found in audit.attacks):
        text.append(_confidences(audit))
        return "\n".join(text)
    rows = [
        [
            f"{escape(found.adversary)} on {escape(found.column)}",
            words.rate(found.success),
            words.rate(found.naive),
            words.rate(found.control),
            words.signed(found.gain),
            escape(found.verdict),
        ]
        for found in audit.attacks
    ]
    text += [
        f"<figure>{charts.rates(audit)}<figcaption>How often the adversary guesses a person's value right, with 95 % "
        "intervals: in the release; on people who are not in it (the control), where all it can know is about everybody; "
        "and by always guessing the commonest value.</figcaption></figure>",
        _table(["attack", "in the release", "commonest value", "control", "gain", "what follows"], rows),
        f"<p class='soft'>{escape(GAIN_FORMULA)}; {escape(RESIDUAL_FORMULA)}. Intervals of rates are Clopper and Pearson's "
        "exact ones, those of gains Newcombe's. A gain surely above 0 is a leak about persons; one surely below "
        f"{100 * MARGIN:g} points is "
        "about the population only; otherwise there are not enough data to say.</p>",
    ]
    return "\n".join(text)


def _confidences(audit: Audit) -> str:
    """Without the truth: how sure each adversary is."""
    header = ["attack", "sure on average", "more than 80 % sure of", "certain of"]
    rows = [
        [
            f"{escape(found.adversary)} on {escape(found.column)}",
            words.percent(found.confidence.mean),
            words.percent(found.confidence.above_80) + " of the people",
            words.percent(found.confidence.certain) + " of the people",
        ]
        for found in audit.attacks
    ]
    return _table(header, rows) + (
        "<p>How often an adversary is <em>right</em> can be known only beside the original table; here is how sure it is, of "
        "people drawn from what the release says about each class.</p>"
    )


def _three_risks(audit: Audit) -> str:
    risks = audit.risks
    judged = [found for found in audit.attacks if found.success.n]
    best = max(judged, key=lambda found: found.success.value, default=None)
    inference = (
        "not measured without the original table"
        if best is None
        else f"the best adversary is right for {words.percent(best.success.value)} of the people, always guessing the "
        f"commonest value for {words.percent(best.naive.value)}; it is certain of the true value of "
        f"{words.percent(max(found.perfect_breach for found in judged))} of the people; {escape(best.verdict)}"
    )
    rows = [
        ["Singling out", f"{words.percent(risks.singled_out)} of the people are alone in their class"],
        [
            "Linkability",
            f"somebody who knows a person's quasi-identifiers picks the right row with probability "
            f"{words.percent(risks.average)} on average and {words.percent(risks.highest)} at most; above 20 % for "
            f"{words.percent(risks.at_risk)} of the people",
        ],
        ["Inference", inference],
    ]
    return "<h2>Singling out, linkability, inference</h2>\n" + _table(["risk", "found"], rows)


def _people(audit: Audit, reveal: bool) -> str:
    if not audit.at_risk:
        return ""
    header = ["rows of the table", "class", "people in it", "given away most by", "how sure the adversary is"]
    rows = []
    for person in audit.at_risk:
        where = ", ".join(map(str, person.rows)) + (" …" if person.alike > len(person.rows) else "")
        belief = person.level
        if reveal:
            belief = (
                f"{person.belief:.1%} of {person.value} ({person.baseline:.2%} in the table); right for {person.right} of "
                f"{person.alike}"
            )
        rows.append([where, person.place, f"{person.group_size:,}", escape(person.attribute), escape(belief)])
    note = (
        ""
        if reveal
        else " Of which value, and whether it is right, is not shown; --reveal shows it to those who may see."
    )
    return (
        "<h2>The people most at risk</h2>\n"
        "<p>Those of whom an adversary who knows their quasi-identifiers is surest, rightly or not. The attribute named is the "
        "one without which it would be least sure. Rows and classes are numbered from 0."
        f"{note}</p>\n" + _table(header, rows, numeric={1, 2})
    )


def _levels(audit: Audit) -> str:
    text = ["<h2>Privacy models</h2>"]
    for column, levels in audit.levels.items():
        rows = [
            [escape(words.MODELS[place][0]), words.number(level.value), escape(words.MODELS[place][1])]
            for place, level in levels.items()
        ]
        text.append(_table([escape(column), "level", "meaning"], rows, numeric={1}))
    return "\n".join(text)


def _utility(audit: Audit) -> str:
    meanings = {
        "loss": "how much of the labels' detail is gone: 0 is the raw table, 1 everything",
        "discernibility": "sum of squared class sizes, N for each suppressed row",
        "average_class_size": "people in a class on average",
        "suppressed": "share of rows of which only the sensitive value is published",
    }
    rows = [
        [escape(name.replace("_", " ")), words.number(value), escape(meanings.get(name, ""))]
        for name, value in audit.utility.items()
    ]
    return "<h2>What the release is still good for</h2>\n" + _table(["cost", "value", "meaning"], rows, numeric={1})


def _diagnostics(audit: Audit) -> str:
    if not any(found.success.n for found in audit.attacks):
        return ""
    notes = [f"{escape(f.adversary)} on {escape(f.column)}: {f.belief.method} beliefs" for f in audit.attacks]
    sure = [
        f"of {f.high_confidence.n:,} people it is more than 80 % sure of, it is right for {words.rate(f.high_confidence)}"
        if f.high_confidence.n
        else "it is more than 80 % sure of nobody"
        for f in audit.attacks
    ]
    listed = "; ".join(f"{note}; {more}" for note, more in zip(notes, sure, strict=True))
    return (
        "<h2>Can the beliefs be trusted?</h2>\n"
        f"<p>{listed}.</p>\n<figure>{charts.calibration(audit)}<figcaption>How sure the adversary is against how often it is "
        "right. On the dashed line its beliefs can be taken at their word.</figcaption></figure>"
    )


def _limits(audit: Audit) -> str:
    items = "".join(f"<li>{escape(limit)}</li>" for limit in audit.limits)
    return f"<h2>What was not tested</h2>\n<ul>{items}</ul>"


def _repeat(audit: Audit, run: Mapping[str, Any]) -> str:
    rows = [["seed", str(audit.seed)], ["dalenius", __version__]]
    rows += [[escape(str(key)), f"<code>{escape(_shown(value))}</code>"] for key, value in run.items()]
    rows += [[f"SHA-256 of the {escape(key)}", f"<code>{digest}</code>"] for key, digest in audit.hashes.items()]
    return "<h2>How to repeat this</h2>\n" + _table(["what", "value"], rows)


def _shown(value: object) -> str:
    return " ".join(map(str, value)) if isinstance(value, list | tuple) else str(value)


def _table(header: Iterable[str], rows: Iterable[Iterable[str]], *, numeric: Iterable[int] = ()) -> str:
    """A table of cells that are HTML already."""
    right = set(numeric)

    def cells(tag: str, row: Iterable[str]) -> str:
        return "".join(
            f'<{tag} class="number">{cell}</{tag}>' if i in right else f"<{tag}>{cell}</{tag}>"
            for i, cell in enumerate(row)
        )

    body = "\n".join(f"<tr>{cells('td', row)}</tr>" for row in rows)
    return f'<div class="scroll"><table><thead><tr>{cells("th", header)}</tr></thead><tbody>\n{body}\n</tbody></table></div>'
