"""What the paper on estimation error prints, and what it says of its figures."""

from __future__ import annotations

import math

import pytest

from dalenius.measure.guide import RULES
from dalenius.papers import error
from dalenius.papers.base import Paper


@pytest.fixture(scope="module")
def paper() -> Paper:
    return error.build()


def test_every_exhibit_is_there_and_its_charts_are_drawn(paper: Paper) -> None:
    names = [exhibit.name for exhibit in paper.exhibits]
    assert names == [
        "Figure 1",
        "Figure 3",
        "Figure 4",
        "Figure 6",
        "Figure 7",
        "Section VI-A",
        "Figure 10",
        "Table IV",
    ]
    charts = [chart() for exhibit in paper.exhibits for chart, _ in exhibit.charts]
    assert len(charts) == 3
    assert all(chart.startswith("<svg") for chart in charts)


def ours(paper: Paper, name: str) -> dict[str, float | str]:
    return {row.what: row.ours for row in paper[name].compared}


def test_figure_1_hides_the_row_and_not_the_disease(paper: Paper) -> None:
    found = ours(paper, "Figure 1")
    assert found["k of the release"] == 3
    assert found["P(y) = 1 − 1/k"] == pytest.approx(2 / 3)
    assert sorted(row[3] for row in paper["Figure 1"].rows) == ["0.333", "0.667"]


def test_figure_3_is_a_straight_line(paper: Paper) -> None:
    """P = D = p, and 1 − u0 is the most that any channel has."""
    assert ours(paper, "Figure 3")["largest |P − (1 − u0)| over the curve"] == pytest.approx(0, abs=1e-7)
    for utility, best, flip in paper["Figure 3"].rows:
        assert float(best) == pytest.approx(1 - float(utility), abs=1e-4)
        assert float(flip) == pytest.approx(float(best), abs=1e-4)


def test_figure_6_and_7(paper: Paper) -> None:
    assert ours(paper, "Figure 6")["P(y) = 1 − 1/ℓ = 1 − 2^−H0"] == 0.5
    found = ours(paper, "Figure 7")
    assert (found["belief before"], found["belief after the last four"]) == (0.5, 0.75)
    rows = {row[0]: float(row[1]) for row in paper["Figure 7"].rows}
    assert rows["largest ΔP"] == pytest.approx(0.5)  # wrong for 3/4 by the prior's guess, for 1/4 by the best
    assert rows["2 d_max TV"] == pytest.approx(0.5)
    divergence = 0.75 * math.log(1.5) + 0.25 * math.log(0.5)
    assert rows["√2 d_max √t"] == pytest.approx(math.sqrt(2 * divergence), abs=1e-4)
    chain = [float(part) for part in str(found["R ≤ t ≤ δ (bits)"]).split(" ≤ ")]
    assert chain == sorted(chain)


def test_location_more_noise_more_privacy_below_the_distortion(paper: Paper) -> None:
    rows = [[float(cell) for cell in row] for row in paper["Section VI-A"].rows]
    errors = [row[2] for row in rows]
    assert errors == sorted(errors)
    assert all(error <= distortion + 1e-3 for _, distortion, error, _ in rows)
    assert all(error <= prior + 1e-3 for _, _, error, prior in rows)


def test_figure_10_closed_form_and_simulation(paper: Paper) -> None:
    """(1 − p)(1 − 1/n); the simulation of 400,000 messages within 4.5 deviations of it (plug-in bias is far smaller)."""
    found = ours(paper, "Figure 10")
    exact = (1 - error.DIRECT) * (1 - 1 / error.USERS)
    assert found["P = (1 − p)(1 − 1/n)"] == pytest.approx(exact)
    deviation = math.sqrt(exact * (1 - exact) / error.MESSAGES)
    assert found["the same, simulated"] == pytest.approx(exact, abs=4.5 * deviation)
    bits = [float(row[1]) for row in paper["Figure 10"].rows]
    assert bits == sorted(bits)
    assert bits[2] == pytest.approx(math.log2(error.USERS), abs=1e-4)


def test_the_axis_has_whole_numbers(paper: Paper) -> None:
    drawn = paper["Figure 10"].charts[0][0]()
    assert ">10<" in drawn
    assert "1e+1" not in drawn


def test_the_guide_has_the_papers_classes(paper: Paper) -> None:
    rows = {row[0]: row[1:] for row in paper["Table IV"].rows}
    assert "k-anonymity" in rows["identity"][2]
    assert "ℓ-diversity" in rows["attribute"][2]
    assert "t-closeness" in rows["attribute"][0]
    assert "mutual information" in rows["either"][1]
    assert len(paper["Figure 4"].rows) == len(RULES)


def test_quick_is_the_same_with_less(paper: Paper) -> None:
    quick = error.build(quick=True)
    assert [one.name for one in quick.exhibits] == [one.name for one in paper.exhibits]
    assert len(quick["Figure 3"].rows) < len(paper["Figure 3"].rows)
