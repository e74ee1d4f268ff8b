"""What the paper on estimation error prints, and what it says of its figures."""

from __future__ import annotations

import math
import re

import pytest

from dalenius.measures.guide import RULES
from dalenius.papers import error
from dalenius.papers.base import Paper
from tests.papers.findings import FINDINGS

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def paper() -> Paper:
    return error.build()


def test_the_exhibits(paper: Paper) -> None:
    assert [exhibit.name for exhibit in paper.exhibits] == list(FINDINGS["error"])
    charts = [chart() for exhibit in paper.exhibits for chart, _ in exhibit.charts]
    assert len(charts) == 3
    assert all(chart.startswith("<svg") for chart in charts)


def ours(paper: Paper, name: str) -> dict[str, float | str]:
    return {row.what: row.ours for row in paper[name].compared}


def test_figure_1_hides_the_row_and_not_the_disease(paper: Paper) -> None:
    """1 − 1/k of the row in both classes; of the disease a third where two of three share it. Exact: cells show three digits."""
    found = ours(paper, "Figure 1")
    assert found["k of the release"] == 3
    assert {row[2] for row in paper["Figure 1"].rows} == {"0.667"}
    assert found["P(y) = 1 − 1/k"] == pytest.approx(2 / 3)
    assert sorted(row[3] for row in paper["Figure 1"].rows) == ["0.333", "0.667"]


def test_figure_3_is_a_straight_line(paper: Paper) -> None:
    """P = D = p, and 1 − u0 is the most that any channel has.

    The linear programme is solved to 1e-7; the cells have four digits.
    """
    assert ours(paper, "Figure 3")["largest |P − (1 − u0)| over the curve"] == pytest.approx(0, abs=1e-7)
    for utility, best, flip in paper["Figure 3"].rows:
        assert float(best) == pytest.approx(1 - float(utility), abs=1e-4)
        assert float(flip) == pytest.approx(float(best), abs=1e-4)


def test_figure_6_has_one_entropy(paper: Paper) -> None:
    """Two equally likely values: Hartley's, Shannon's and min-entropy are one bit each, and half of the guesses are wrong."""
    assert ours(paper, "Figure 6")["P(y) = 1 − 1/ℓ = 1 − 2^−H0"] == 0.5
    assert [row[1:] for row in paper["Figure 6"].rows] == [["1.0", "1.0", "1.0", "0.50"]] * 2


def test_figure_7(paper: Paper) -> None:
    """By hand; 1e-4 is the last digit of the cells."""
    found = ours(paper, "Figure 7")
    assert (found["belief before"], found["belief after the last four"]) == (0.5, 0.75)
    rows = {row[0]: float(row[1]) for row in paper["Figure 7"].rows}
    assert rows["largest ΔP"] == pytest.approx(0.5)  # wrong for 3/4 by the prior's guess, for 1/4 by the best
    assert rows["2 d_max TV"] == pytest.approx(0.5)
    divergence = 0.75 * math.log(1.5) + 0.25 * math.log(0.5)
    assert rows["√2 d_max √t"] == pytest.approx(math.sqrt(2 * divergence), abs=1e-4)
    # The print's bounds are twice as large, and hold.
    assert rows["4 d_max TV"] == pytest.approx(2 * rows["2 d_max TV"], abs=1e-4)
    assert rows["2√2 d_max √t"] == pytest.approx(2 * rows["√2 d_max √t"], abs=2e-4)
    # Both classes are as far from the prior: the average R is the largest, t. δ is log2 of ½ against ¼.
    chain = [float(part) for part in str(found["R ≤ t ≤ δ (bits)"]).split(" ≤ ")]
    assert chain == pytest.approx([divergence / math.log(2)] * 2 + [1], abs=1e-4)
    assert chain == sorted(chain)


def test_location_more_noise_more_privacy_below_the_distortion(paper: Paper) -> None:
    """Cells have three digits: 1e-3 is one of the last. At σ = 3 the attacker corrects a fifth of the distortion: 8.3 of 10.8."""
    rows = [[float(cell) for cell in row] for row in paper["Section VI-A"].rows]
    errors = [row[2] for row in rows]
    assert errors == sorted(set(errors))
    assert rows[-1][2] < 0.8 * rows[-1][1]
    # Without any observation: the variance of a place on a grid of eight by eight, twice (8² − 1)/12.
    assert {row[3] for row in rows} == {2 * (8**2 - 1) / 12}
    assert all(error <= distortion + 1e-3 for _, distortion, error, _ in rows)
    assert all(error <= prior + 1e-3 for _, _, error, prior in rows)


def test_figure_10_closed_form_and_simulation(paper: Paper) -> None:
    """(1 − p)(1 − 1/n); the simulation of 400,000 messages within 4.5 deviations of it (plug-in bias is far smaller)."""
    found = ours(paper, "Figure 10")
    exact = (1 - error.DIRECT) * (1 - 1 / error.USERS)
    assert found["P = (1 − p)(1 − 1/n)"] == pytest.approx(exact)
    deviation = math.sqrt(exact * (1 - exact) / error.MESSAGES)
    assert found["the same, simulated"] == pytest.approx(exact, abs=4.5 * deviation)
    # Equation 10: of the last sender p + (1 − p)/n, of every other (1 − p)/n. Entropies of that; cells have four digits.
    other = (1 - error.DIRECT) / error.USERS
    last = error.DIRECT + other
    assert found["p(1 | y = 1) = p + (1 − p)/n"] == pytest.approx(last)
    bits = [float(row[1]) for row in paper["Figure 10"].rows]
    shannon = -last * math.log2(last) - (error.USERS - 1) * other * math.log2(other)
    assert bits == pytest.approx([-math.log2(last), shannon, math.log2(error.USERS)], abs=1e-4)
    assert bits == sorted(bits)


def test_figure_10_is_highest_where_the_last_sender_is_the_first(paper: Paper) -> None:
    """ "The PMF attains its maximum" at y = 1: of the closed form and of the messages, by the marks of the chart.

    A belief from 40,000 messages a sender is within 4.5 deviations, 0.011, of the closed form.
    """
    [(chart, _)] = paper["Figure 10"].charts
    marked = (
        r'aria-label="last sender y: (\d+); [^;"]*: ([\d.]+)%; who: ([^"]+)" role="[^"]*" aria-roledescription="point"'
    )
    drawn: dict[str, dict[int, float]] = {"closed form": {}, "simulated": {}}
    for sender, percent, who in re.findall(marked, chart()):
        drawn[who][int(sender)] = float(percent) / 100
    other = (1 - error.DIRECT) / error.USERS
    exact = {y: other + (error.DIRECT if y == 1 else 0) for y in range(1, error.USERS + 1)}
    assert drawn["closed form"] == pytest.approx(exact, abs=1e-6)
    deviation = math.sqrt(exact[1] * (1 - exact[1]) / (error.MESSAGES / error.USERS))
    assert drawn["simulated"] == pytest.approx(exact, abs=4.5 * deviation)
    assert max(drawn["simulated"], key=drawn["simulated"].__getitem__) == 1


def test_the_axis_has_whole_numbers(paper: Paper) -> None:
    drawn = paper["Figure 10"].charts[0][0]()
    assert ">10<" in drawn
    assert "1e+1" not in drawn


def test_figure_4_leads_from_the_loss_to_the_measure(paper: Paper) -> None:
    """The branches of the figure: Hamming or not, and known or not. Words, and no tolerance."""
    asked = ("loss", "loss known", "observations", "about", "case")
    assert paper["Figure 4"].header == (*asked, "measure")
    assert len(paper["Figure 4"].rows) == len(RULES)

    def measures(**answers: str) -> list[str]:
        wanted = {key.replace("_", " "): answer for key, answer in answers.items()}
        return [row[5] for row in paper["Figure 4"].rows if all(row[asked.index(key)] == wanted[key] for key in wanted)]

    hamming = measures(loss="hamming")
    assert all(any(word in one for word in ("entropy", "k-anonymity", "ℓ-diversity")) for one in hamming)
    assert measures(loss="hamming", loss_known="any") == hamming  # nothing is left to know about it
    assert all("estimation error" in one for one in measures(loss="graded", loss_known="yes"))
    assert measures(loss="graded", loss_known="no", case="average") == ["mutual information"]
    [close] = measures(loss="graded", loss_known="no", case="worst", about="attribute")
    assert "t-closeness" in close
    assert "δ-disclosure" in close
    # A sequence is judged by its typical set, which has Shannon's entropy.
    [typical] = measures(loss="hamming", observations="repeated", case="average")
    assert "Shannon" in typical


def test_the_guide_has_the_papers_classes(paper: Paper) -> None:
    """Section VII: k-anonymity and ℓ-diversity are best cases, t-closeness is a worst one, mutual information its average.

    Of who sent a message min-entropy, Shannon's and Hartley's are the worst, the average and the best.
    """
    rows = {row[0]: row[1:] for row in paper["Table IV"].rows}
    assert "k-anonymity" in rows["identity"][2]
    assert "ℓ-diversity" in rows["attribute"][2]
    assert "t-closeness" in rows["attribute"][0]
    assert "mutual information" in rows["either"][1]
    for word, cell in zip(("min-entropy", "Shannon", "Hartley"), rows["identity"], strict=True):
        assert word in cell


def test_quick_is_the_same_with_less(paper: Paper) -> None:
    quick = error.build(quick=True)
    assert [one.name for one in quick.exhibits] == [one.name for one in paper.exhibits]
    assert len(quick["Figure 3"].rows) < len(paper["Figure 3"].rows)
