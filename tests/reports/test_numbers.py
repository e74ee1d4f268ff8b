"""Every number in the HTML page and on the terminal is the document's, rounded; charts carry the same data."""

from __future__ import annotations

import re
from typing import Any

import pytest

from dalenius.reports import numbers as formatted
from tests.reports.conftest import COMMANDS, Report
from tests.reports.page import Page, numbers

HEADINGS = [
    "Singling out, linkability, inference",
    "The release and the assumptions",
    "The adversaries",
    "Individuals or population",
    "The people most at risk",
    "How much a belief can change",
    "Privacy models",
    "Privacy models as the attacker's error",
    "Utility",
    "Reliability of the beliefs",
    "What was not tested",
    "How to repeat this",
]


@pytest.fixture(scope="module")
def pages(reports: dict[str, Report]) -> dict[str, Page]:
    return {name: Page(found.html) for name, found in reports.items()}


def rate(found: dict[str, Any]) -> list[float]:
    """value, low and high in per cent, as they are shown; nothing where there is no such rate."""
    return [] if found["n"] == 0 else [round(100 * found[key], 1) for key in ("value", "low", "high")]


def close(shown: list[float], expected: list[float], step: float = 0.1) -> None:
    assert shown == pytest.approx(expected, abs=0.5 * step + 1e-9)


def said(attack: dict[str, Any]) -> str:
    """The conclusion beside the gain: without a control it is no lack of data."""
    if attack["control"]["kind"] == "none":
        return "no held-out people given"
    return {
        "leaks about persons": "leaks information about individuals",
        "only about the population": "reveals population patterns only",
        "not enough data to say": "not enough data to tell",
    }[attack["verdict"]]


def entry(terminal: str, text: str) -> str:
    """The line that begins with a text, and those that continue it, as one line."""
    lines = terminal.splitlines()
    start = next(i for i, line in enumerate(lines) if line.strip().startswith(text))
    indent = len(lines[start]) - len(lines[start].lstrip())
    end = start + 1
    while end < len(lines) and lines[end].startswith(" " * (indent + 1)):
        end += 1
    return " ".join(" ".join(lines[start:end]).split())


@pytest.mark.parametrize("name", COMMANDS)
def test_the_page_has_its_parts(name: str, reports: dict[str, Report], pages: dict[str, Page]) -> None:
    document, page = reports[name].document, pages[name]
    absent = set()
    if not document["at_risk"]:
        absent.add("The people most at risk")
    if not any(attack["success"]["n"] for attack in document["attacks"]):
        absent.add("Reliability of the beliefs")
    if not document["relative_threats"]:
        absent.add("Individuals or population")
    assert page.headings[1:] == [heading for heading in HEADINGS if heading not in absent]
    assert page.headings[0].startswith("Audit of ")
    for limit in document["limits"]:
        assert limit in page.text


@pytest.mark.parametrize("name", COMMANDS)
def test_the_release(name: str, reports: dict[str, Report], pages: dict[str, Page]) -> None:
    document, page = reports[name].document, pages[name]
    release = document["release"]
    classes = "1 class" if release["classes"] == 1 else f"{release['classes']:,} classes"
    said = f"{release['people']:,} people in {classes} ({release['kind']})"
    for text in (page.text, reports[name].terminal):
        assert said in text
        assert f"{release['suppressed']:,} rows" in text
    for column in (*release["quasi"], *release["sensitive"]):
        assert column in page.text
    if document["held_out"]:
        assert f"{document['held_out']:,} held-out people" in page.text


@pytest.mark.parametrize("name", ["full", "truth", "two", "anatomy", "raw", "method"])
def test_rates(name: str, reports: dict[str, Report], pages: dict[str, Page]) -> None:
    document = reports[name].document
    rows = pages[name].table("The adversaries")
    assert len(rows) == len(document["attacks"])
    terminal = reports[name].terminal
    for row, attack in zip(rows, document["attacks"], strict=True):
        name, _, lost = row[0].partition("match no class: ")
        assert name == f"{attack['adversary']} on {attack['sensitive']}"
        fits_not = (attack["unmatched"], attack["success"]["n"], attack["control"]["unmatched"], attack["control"]["n"])
        close(numbers(lost), [n for pair in (fits_not[:2], fits_not[2:]) if pair[0] for n in pair])
        for cell, key in zip(row[1:4], ("success", "naive", "control"), strict=True):
            close(numbers(cell), rate(attack[key]))
        close(numbers(row[4]), rate(attack["gain"]))
        assert row[5] == said(attack)
        told = entry(terminal, name)
        rates, _, rest = told.partition(" gain ")
        close(numbers(rates.removeprefix(name)), rate(attack["success"]) + rate(attack["control"]))
        gain, _, rest = rest.partition(": ")
        close(numbers(gain), rate(attack["gain"]))
        assert rest.startswith(said(attack))
        certain = re.search(r"certain and correct for (\S+)", rest)
        close(
            numbers(certain[1] if certain else ""),
            [] if attack["method"] == "sampled" else [100 * attack["perfect_breach"]],
        )
        commonest = entry(terminal, f"most common {attack['sensitive']}: ")
        close(numbers(commonest), rate(attack["naive"]))


def test_without_truth_confidences_stand_instead(reports: dict[str, Report], pages: dict[str, Page]) -> None:
    confidence = reports["blind"].document["attacks"][0]["confidence"]
    row = pages["blind"].table("The adversaries")[0]
    expected = [100 * confidence[key] for key in ("mean", "above_80", "certain")]
    close([numbers(cell)[0] for cell in row[1:]], expected)
    name = f"{reports['blind'].document['attacks'][0]['adversary']} on"
    shown = [float(part) for part in re.findall(r"([\d.]+)%", entry(reports["blind"].terminal, name)) if part != "80"]
    close(shown, expected)


@pytest.mark.parametrize("name", COMMANDS)
def test_risks(name: str, reports: dict[str, Report], pages: dict[str, Page]) -> None:
    risks = reports[name].document["risks"]
    rows = pages[name].table("Singling out, linkability, inference")
    linkage = [100 * risks["average"], 100 * risks["highest"], 20, 100 * risks["at_risk"]]
    close(numbers(rows[0][1]), [100 * risks["singled_out"]])
    close(numbers(rows[1][1]), linkage)
    terminal = reports[name].terminal
    close(numbers(entry(terminal, "Singling out")), [100 * risks["singled_out"]])
    close(numbers(entry(terminal, "Linkability")), linkage)


@pytest.mark.parametrize("name", ["full", "two", "centroids"])
def test_levels_and_utility(name: str, reports: dict[str, Report], pages: dict[str, Page]) -> None:
    document, page = reports[name].document, pages[name]
    for index, levels in enumerate(document["levels"]["sensitive"].values()):
        found = [row[1] for row in page.table("Privacy models", index)]
        expected = [value for model in levels for key, value in levels[model].items() if (model, key) != SKIPPED]
        same(found, expected)
    rows = page.table("Utility")
    costs = {name: value for name, value in document["utility"].items() if name != "misfit" or value}
    same([row[1] for row in rows], list(costs.values()))
    assert [row[0] for row in rows] == [name.replace("_", " ") for name in costs]
    terminal = reports[name].terminal
    cost = re.search(r"^  Cost .*(?:\n {17}.*)*", terminal, re.MULTILINE)
    assert cost is not None
    assert numbers(cost[0]) == pytest.approx([value for name, value in costs.items() if name != "misfit"], rel=1e-3)


@pytest.mark.parametrize("name", COMMANDS)
def test_models_as_errors(name: str, reports: dict[str, Report], pages: dict[str, Page]) -> None:
    document, page, terminal = reports[name].document, pages[name], reports[name].terminal
    assert list(document["estimation_error"]) == document["release"]["sensitive"]
    for index, (column, found) in enumerate(document["estimation_error"].items()):
        rows = page.table("Privacy models as the attacker's error", index)
        assert [row[0] for row in rows] == [model["model"] for model in found["models"]]
        same([row[5] for row in rows], [model["level"] for model in found["models"]])
        for row, model in zip(rows, found["models"], strict=True):
            assert row[3] == model["case"]
            if model["direction"] == "at least" and model["error"] == 0:
                assert row[1] == "nothing"
            else:
                assert row[1].startswith(model["direction"])
                close(numbers(row[1]), [100 * model["error"]])
            close(numbers(row[2]), [100 * model["exact"]])
        line = entry(terminal, f"best guess of {column} by class")
        keys = ("average_privacy", "prior_privacy", "worst_case_privacy")
        close(numbers(line.partition(":")[2]), [100 * found[key] for key in keys])


SKIPPED = ("recursive_c_l_diversity", "l")  # a parameter, not a level


def same(shown: list[str], expected: list[Any]) -> None:
    """Numbers with four digits, infinite and undefined in words."""
    assert len(shown) == len(expected)
    for text, value in zip(shown, expected, strict=True):
        if isinstance(value, str) or value is None:
            assert text == {"inf": "infinite", None: "undefined"}[value]
        else:
            assert numbers(text) == pytest.approx([value], rel=1e-3)


@pytest.mark.parametrize("name", ["full", "blind"])
def test_thresholds(name: str, reports: dict[str, Report], pages: dict[str, Page]) -> None:
    document = reports[name].document
    rows = pages[name].table(pages[name].headings[0])
    assert len(rows) == len(document["policy"]) > 5
    assert {threshold["outcome"] for threshold in document["policy"]} >= {"passed", "violated"}
    terminal = reports[name].terminal.splitlines()
    for row, threshold in zip(rows, document["policy"], strict=True):
        assert row[0] == threshold["key"]
        assert row[1] == threshold["asked"]
        assert row[3].startswith(threshold["outcome"])
        assert threshold["reason"] in row[3]
        line = next(line for line in terminal if threshold["key"] in line)
        assert line.split("  ")[2].startswith(threshold["outcome"])
        if threshold["outcome"] == "not tested":
            assert threshold["reason"]
            assert row[2] == "–"
            assert threshold["reason"] in " ".join(reports[name].terminal.split())
        else:
            same([row[2]], [threshold["measured"]])
            assert numbers(line)[-1] == pytest.approx(threshold["measured"], rel=1e-3)


@pytest.mark.parametrize("name", ["full", "revealed", "two", "raw", "anatomy"])
def test_people(name: str, reports: dict[str, Report], pages: dict[str, Page]) -> None:
    document = reports[name].document
    rows = pages[name].table("The people most at risk")
    assert len(rows) == len(document["at_risk"]) > 0
    for row, person in zip(rows, document["at_risk"], strict=True):
        assert numbers(row[0].replace(",", " ")) == person["rows"]
        assert (" …" in row[0]) == (person["alike"] > len(person["rows"]))
        assert row[1] == str(person["class"]) or person["class"] < 0
        assert numbers(row[2]) == [person["class_size"]]
        assert row[3] == person["attribute"]
        if "value" in person:
            assert person["value"] in row[4]
            close(numbers(row[4])[:1], [100 * person["belief"]])
            close(numbers(row[4])[1:2], [100 * person["baseline"]], step=0.01)
            assert numbers(row[4])[-2:] == [person["right"], person["alike"]]
        else:
            assert row[4] == person["level"]
    first = document["at_risk"][0]
    line = next(line for line in reports[name].terminal.splitlines() if "Most at risk" in line)
    assert numbers(line.replace(",", " "))[: len(first["rows"])] == first["rows"]
    assert line.endswith(first["attribute"])


@pytest.mark.parametrize("name", ["full", "two", "anatomy"])
def test_charts_carry_the_same_data(name: str, reports: dict[str, Report], pages: dict[str, Page]) -> None:
    document, points = reports[name].document, pages[name].points
    for attack in document["attacks"]:
        for kind, key in (
            ("in the release", "success"),
            ("held-out people", "control"),
            ("most common value", "naive"),
        ):
            shown = [numbers(p)[0] for p in points if p.startswith("share of people") and p.endswith(f"kind: {kind}")]
            assert any(value == pytest.approx(100 * attack[key]["value"], abs=1e-5) for value in shown)
            limits = [numbers(p) for p in points if p.startswith("low") and f"kind: {kind};" in p]
            assert any(pair == pytest.approx([attack[key]["low"], attack[key]["high"]]) for pair in limits)
        mine = f"attack: {attack['adversary']} on {attack['sensitive']}"
        shown = [numbers(p)[:2] for p in points if "how often it is correct:" in p and p.endswith(mine)]
        expected = [[100 * b["confidence"], 100 * b["right"]["value"]] for b in attack["calibration"]]
        assert len(shown) == len(expected) > 0
        for pair, bin_ in zip(sorted(shown), sorted(expected), strict=True):
            assert pair == pytest.approx(bin_, abs=1e-5)
    people = [numbers(p.rpartition(":")[2])[0] for p in points if p.startswith("people in the class:")]
    assert sum(people) == document["release"]["people"] - document["release"]["suppressed"]


def test_how_to_repeat(full: Report, pages: dict[str, Page]) -> None:
    rows = dict(pages["full"].table("How to repeat this"))
    assert rows["seed"] == str(full.document["parameters"]["seed"])
    assert rows["dalenius"] == full.document["dalenius"]
    for name, digest in full.document["release"]["sha256"].items():
        assert rows[f"SHA-256 of the {name}"] == digest
    assert rows["python"] == full.document["run"]["python"]
    for formula in full.document["formulas"].values():
        assert formula in pages["full"].text


@pytest.mark.parametrize("name", COMMANDS)
def test_the_summary_fits_two_screens_of_80_columns(name: str, reports: dict[str, Report]) -> None:
    lines = reports[name].terminal.splitlines()
    assert len(lines) <= 80
    assert max(len(line) for line in lines if "Report: " not in line) <= 80
    assert "\x1b" not in reports[name].terminal  # no colours when piped
    assert "nan" not in reports[name].terminal.lower()
    assert "nan" not in re.sub(r"[A-Za-z]+nan|nan[a-z]+", "", Page(reports[name].html).text.lower())


def test_numbers_are_written_for_people() -> None:
    """Counts in full, never as 3.034e+04; small numbers with four digits; what is no number in a word."""
    shown = {
        12345: "12,345",
        30338.4: "30,338",
        5: "5",
        0.25: "0.25",
        2 / 3: "0.6667",
        123.456: "123.5",
        2e7: "20,000,000",
    }
    assert {value: formatted.number(value) for value in shown} == shown
    assert (formatted.number(float("inf")), formatted.number(float("nan"))) == ("infinite", "undefined")


def test_what_anatomy_was_not_tried_with_is_said(reports: dict[str, Report], pages: dict[str, Page]) -> None:
    """A release that passes has not been played the attack that is made for its kind."""
    for name, report in reports.items():
        cut = report.document["release"]["kind"] == "anatomized"
        assert any("definetti-majority" in limit for limit in report.document["limits"]) == cut
        assert ("definetti-majority" in " ".join(report.terminal.split())) == cut
        assert ("definetti-majority" in pages[name].text) == cut
