"""Values that look like a set, a mask or a mark: what is written is read back as it was meant, or it is refused."""

from __future__ import annotations

from pathlib import Path

import pytest

import dalenius as dl
from dalenius.criteria import KAnonymity
from dalenius.errors import InputError
from dalenius.publishers.anatomy import Anatomy
from dalenius.publishers.lattice import Lattice
from dalenius.publishers.microaggregation import Microaggregation
from dalenius.publishers.mondrian import Mondrian

pytestmark = pytest.mark.slow

ODD = ("*", "**", "4550*", "{a, b}", "{x}", "{}", "a~b")  # wrong unless the values are declared
PLAIN = ("NA", '"q"', "~", "a~", "{", "}", "{a", "[1, 2]", "a, b", " x", "?")
PUBLISHERS = {
    "mondrian, values": Mondrian([KAnonymity(1)]),
    "mondrian, boxes": Mondrian([KAnonymity(7)]),
    "ranges": Microaggregation(3, shown="ranges"),
    "centroids": Microaggregation(3),
    "anatomy": Anatomy(3),
    "lattice, values": Lattice([KAnonymity(1)]),
}


def publish(name: str, odd: str, folder: Path, *, domain: bool, sensitive: bool = False) -> bool:
    """Publish a table in which three people have an odd value; whether it is read back as it was meant."""
    values = [value for value in (odd, "m", "n", "a") for _ in range(3)]
    others = ["u", "v", "w"] * 4
    quasi, secret = (others, values) if sensitive else (values, others)

    def declared(texts: list[str]) -> dl.Domain | None:
        return dl.Domain(tuple(dict.fromkeys(texts))) if domain else None

    coarse = name.startswith("lattice")
    columns = (
        dl.Column("q", "quasi", domain=declared(quasi), suppress=coarse),
        dl.Column("s", "sensitive", domain=declared(secret)),
    )
    schema = dl.Schema(columns, suppressed=("<any>", "*", "NA"))
    published = PUBLISHERS[name].publish(dl.Table({"q": quasi, "s": secret}, schema))  # type: ignore[attr-defined]
    published.write(folder / "out")
    return bool(dl.read_release(folder / "out", schema) == published.release)


# Which publishers write an odd value by itself; one in a box is quoted there, and only a mask is still a mask.
ALONE = ("mondrian, values", "ranges", "lattice, values")


@pytest.mark.parametrize("name", PUBLISHERS)
@pytest.mark.parametrize("odd", [*ODD, *PLAIN])
def test_read_back_or_refused(name: str, odd: str, tmp_path: Path) -> None:
    wrong = odd in ODD and (name in ALONE or (name == "mondrian, boxes" and "*" in odd))
    if not wrong:
        assert publish(name, odd, tmp_path, domain=False)
        return
    with pytest.raises(InputError) as refused:
        publish(name, odd, tmp_path, domain=False)
    assert list(tmp_path.iterdir()) == []
    if (name, odd) == ("lattice, values", "*"):
        assert "Rename one of them" in str(refused.value)  # the hierarchy has that name already
        return
    assert f"Column 'q' has the value {odd!r}" in str(refused.value)
    assert "Declare domain = […] in the schema, or rename the value." in str(refused.value)


@pytest.mark.parametrize("name", [name for name in PUBLISHERS if not name.startswith("lattice")])
@pytest.mark.parametrize("odd", [*ODD, *PLAIN])
def test_a_declared_domain_says_what_is_a_value(name: str, odd: str, tmp_path: Path) -> None:
    assert publish(name, odd, tmp_path, domain=True)


@pytest.mark.parametrize("name", PUBLISHERS)
@pytest.mark.parametrize("odd", ODD)
def test_sensitive_values_are_written_as_they_are(name: str, odd: str, tmp_path: Path) -> None:
    assert publish(name, odd, tmp_path, domain=False, sensitive=True)


def test_masks_without_a_domain(tmp_path: Path) -> None:
    schema = dl.Schema((dl.Column("q", "quasi", mask="right"), dl.Column("s", "sensitive")))
    table = dl.Table({"q": ["11", "12", "21", "22"], "s": list("xyxy")}, schema)
    with pytest.raises(InputError, match="labels that do not name the values they cover"):
        Mondrian([KAnonymity(2)], cuts="hierarchy").publish(table).write(tmp_path / "out")
