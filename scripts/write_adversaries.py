"""Write the table of adversaries into docs/adversaries/README.md, between its marks. A test fails when they differ."""

from __future__ import annotations

from pathlib import Path

from marked_pages import rewrite

from dalenius.adversaries import Learner, RealisticAdversary, needing

FOLDER = Path(__file__).resolve().parent.parent / "docs" / "adversaries"
PAGE = FOLDER / "README.md"
GROUPED = "generalized, anatomized"


def rows() -> list[tuple[str, str, str, str, str]]:
    """Page, name, releases, what it knows, what it does. Three stand in no registry: they are asked for in other ways."""
    found = [(name, name, GROUPED, one.knows, one.does) for name, one in needing("rows", "links").items()]
    table = Learner.knows.replace("the release and", "the table itself and")
    found.append(("ideal", "ideal", "the table", table, Learner.does.replace("from the release", "from the table")))
    real = RealisticAdversary
    found.append(("realistic", "I:SHAPE:σ, II:σ, III:SHAPE, IV", GROUPED, real.knows, real.does))
    found += [(name, name, "centroids", one.knows, one.does) for name, one in needing("centres").items()]
    found += [(name, name, "anatomized", one.knows, one.does) for name, one in needing("links").items()]
    found += [(name, name, "noisy counts", one.knows, one.does) for name, one in needing("counts").items()]
    knows = "several releases, that the target is in each of them, and the target's quasi-identifiers"
    does = "finds the target's group in every release, and keeps the values that all of these groups have"
    found.append(("intersection", "intersection (`compose`)", "several, of any grouped kind", knows, does))
    return found


def markdown() -> str:
    lines = ["| adversary | attacks | knows | does |", "|---|---|---|---|"]
    lines += [f"| [{name}]({page}.md) | {kinds} | {knows} | {does} |" for page, name, kinds, knows, does in rows()]
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    rewrite(PAGE, "write_adversaries.py", markdown())
