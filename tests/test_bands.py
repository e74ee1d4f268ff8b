"""Labels as numbers and ranges: what is read, what is not, and when numbers decide an order."""

from __future__ import annotations

from decimal import Decimal
from itertools import permutations

import pytest

from dalenius.bands import Band, order_by_number, read_band
from dalenius.measures.loss import coordinates
from dalenius.releases.label import interval

INF = Decimal("Infinity")
READ = {
    "7": (7, True, 7, True, ""),
    " -1.5 ": ("-1.5", True, "-1.5", True, ""),
    "7.3e+07": ("7.3e7", True, "7.3e7", True, ""),
    ".5": ("0.5", True, "0.5", True, ""),
    "3k": (3, True, 3, True, "k"),
    "12.5 %": ("12.5", True, "12.5", True, "%"),
    "10-19": (10, True, 19, True, ""),
    "10 – 19 years": (10, True, 19, True, "years"),
    "-5--1": (-5, True, -1, True, ""),
    "-5-1": (-5, True, 1, True, ""),
    "1e3-2e3": (1000, True, 2000, True, ""),
    "10~19": (10, True, 19, True, ""),
    "[10, 20)": (10, True, 20, False, ""),
    "]10;20[": (10, False, 20, False, ""),
    "(10,20]": (10, False, 20, True, ""),
    "<5": (-INF, True, 5, False, ""),
    "≤ 5": (-INF, True, 5, True, ""),
    ">=90": (90, True, INF, True, ""),
    "> 90 kg": (90, False, INF, True, "kg"),
    "90+": (90, True, INF, True, ""),
}
NOT_READ = [
    "",
    "Flu",
    "a7",
    "1,000",
    "1-2-3",
    "2020-01-15",
    "[1, 2",
    "[1, 2, 3]",
    "<",
    "5 < 6",
    "nan",
    "inf",
    "3 k m",
    "--5",
]


@pytest.mark.parametrize("text", READ)
def test_a_label_is_read(text: str) -> None:
    low, has_low, high, has_high, unit = READ[text]
    band = read_band(text)
    assert band is not None
    assert band == Band(Decimal(low), has_low, Decimal(high), has_high, unit, is_number=band.is_number)
    assert band.is_number == (low == high)


@pytest.mark.parametrize("text", NOT_READ)
def test_a_label_without_numbers_is_not(text: str) -> None:
    assert read_band(text) is None


def test_a_number_is_no_interval_and_neither_is_one_with_a_unit() -> None:
    assert interval("39") is interval("39.5") is interval("3k") is interval("10-19 years") is None
    assert interval("[10, 20)") == (10, 19)
    assert interval("10~19") == interval("10-19") == interval("10–19") == (10, 19)
    assert interval("90+") == (90, float("inf"))


def test_points_have_the_same_numbers() -> None:
    assert coordinates(["-1.5 2e3", "(.5, +7)"], "A loss").tolist() == [[-1.5, 2000], [0.5, 7]]


def test_every_arrangement_of_labels_has_one_order() -> None:
    order = ["<5", "5-9", "10", "11.5", "12-19", ">=20"]
    for shuffled in permutations(order):
        ranks = order_by_number(shuffled)
        assert ranks is not None
        assert [shuffled[rank] for rank in ranks] == order


def test_ends_that_touch_and_ranges_that_move_on_are_in_order() -> None:
    for order in (["0-10", "10-20", "20-30"], ["<5", "<10", "<20"], ["<=5", ">5"], ["<5", "5", ">5"], ["0-10", "5-15"]):
        assert order_by_number(order[::-1]) == list(range(len(order)))[::-1]


def test_numbers_are_compared_as_decimals() -> None:
    assert order_by_number(["9007199254740993", "9007199254740992"]) == [1, 0]
    assert order_by_number(["1e400", "1e399"]) == [1, 0]


@pytest.mark.parametrize(
    "labels", [["1", "1.0"], ["0-99", "5-9"], ["5-9", "5 - 9"], ["9-5", "12"], ["3k", "4"], ["(5, 5]"]]
)
def test_where_nothing_decides_there_is_no_order(labels: list[str]) -> None:
    assert order_by_number(labels) is None


def test_a_long_label_is_read_at_once() -> None:
    """A pattern that tries every split of a run of spaces or digits would never end here."""
    for text in ("5" + " " * 20_000 + "!", "1" * 20_000 + "!", "[" + " " * 20_000 + "1", "1-" + "2" * 20_000 + " x y"):
        assert read_band(text) is None
