"""Write the table of adversaries into docs/adversaries/README.md, between its marks. A test fails when they differ."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from marked_pages import rewrite

from dalenius.adversaries import ADVERSARIES, Adversary, Learner, RealisticAdversary
from dalenius.releases.evidence import SHAPES, Shape

FOLDER = Path(__file__).resolve().parent.parent / "docs" / "adversaries"
PAGE = FOLDER / "README.md"
# The releases that offer each shape of evidence, as the table names them.
RELEASES: dict[Shape, str] = {
    "rows": "generalized",
    "links": "anatomized",
    "centres": "centroids",
    "counts": "noisy counts",
    "classes": "any grouped kind",
    "draws": "rows drawn from a model",
}


@dataclass(frozen=True, slots=True)
class Row:
    """A row of the table. `page` is empty if the adversary has no page."""

    page: str
    name: str
    releases: str
    knows: str
    does: str

    def markdown(self) -> str:
        name = f"[{self.name}]({self.page})" if self.page else self.name
        return f"| {name} | {self.releases} | {self.knows} | {self.does} |"


def row_of(adversary: type[Adversary], name: str) -> Row:
    """Make the row from what the adversary says about itself."""
    releases = ", ".join(RELEASES[need] for need in adversary.needs)
    return Row(adversary.page, name, releases, adversary.knows, adversary.does)


def rows() -> list[Row]:
    """Return the rows: our adversaries by the evidence that they need, then three that are not in the registry."""
    ours = [each for each in ADVERSARIES.values() if each.__module__.startswith("dalenius.")]
    ours.sort(key=lambda each: ([*RELEASES].index(each.needs[0]), -len(each.needs)))
    knows = Learner.knows.replace("the release and", "the table itself and")
    ideal = Row("ideal.md", "ideal", "the table", knows, Learner.does.replace("from the release", "from the table"))
    knows = "several releases, that the target is in each of them, and the target's quasi-identifiers"
    does = "finds the target's group in every release, and keeps the values that all of these groups have"
    several = Row("intersection.md", "intersection (`compose`)", "several, of any grouped kind", knows, does)
    realistic = row_of(RealisticAdversary, "I:SHAPE:σ, II:σ, III:SHAPE, IV")
    return [*(row_of(each, each.name) for each in ours), realistic, ideal, several]


def markdown() -> str:
    assert RELEASES.keys() == SHAPES.keys(), "every shape of evidence needs words for the table"
    lines = ["| adversary | attacks | knows | does |", "|---|---|---|---|", *(row.markdown() for row in rows())]
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    rewrite(PAGE, "write_adversaries.py", markdown())
