"""Realistic adversaries: bad input gets one sentence, names nobody's value and changes no file."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from tests.cli.realistic_cases import DISEASES, TOWN, TOWNSPEOPLE, Cli, write

FILES = {
    "prior.csv": "value,probability\nZitterpox,0.4\nYawnfever,0.3\nXanthitis,0.2\nWobbles,0.1\n",
    "header.csv": "value,share\nZitterpox,1\n",
    "more.csv": "value,probability,note\nZitterpox,1,x\n",
    "missing.csv": "value,probability\nZitterpox,0.5\nYawnfever,0.5\n",
    "twice.csv": "value,probability\nZitterpox,0.4\nYawnfever,0.3\nXanthitis,0.2\nWobbles,0.05\nWobbles,0.05\n",
    "nine.csv": "value,probability\nZitterpox,0.4\nYawnfever,0.3\nXanthitis,0.1\nWobbles,0.1\n",
    "negative.csv": "value,probability\nZitterpox,1.4\nYawnfever,-0.4\nXanthitis,0\nWobbles,0\n",
    "words.csv": "value,probability\nZitterpox,most\nYawnfever,some\nXanthitis,few\nWobbles,none\n",
    "nan.csv": "value,probability\nZitterpox,nan\nYawnfever,1\nXanthitis,0\nWobbles,0\n",
    "unknown.csv": "value,probability\nZitterpox,0.4\nYawnfever,0.3\nXanthitis,0.2\nVertigo,0.1\n",
    "rows.csv": "value,probability\n",
    "nothing.csv": "",
    "other.csv": "age,sex,ill\n21,F,Zitterpox\n",
    "no-ill.csv": "age,sex\n21,F\n",
    "same.csv": "name,age,sex,ill\n" + "Person0,21,F,Zitterpox\n" * 5,
    "abroad.csv": "age,sex,ill\n81,F,Zitterpox\n",
    "no-age.csv": "sex,ill\nF,Zitterpox\n",
    "stranger.csv": "age,sex,ill\n21,F,Vertigo\n",
    "counts.csv": "ill,count\nZitterpox,few\n",
    "zero.csv": "ill,count\nZitterpox,0\n",
    "latin.csv": "",
    "column.csv": "column,value,probability\nsex,F,0.5\n",
}
VALUES_BAD = (*DISEASES, "Vertigo")
ADVERSARIES: dict[str, tuple[str, str]] = {
    "no class": ("V:table:1e6", "'V:table:1e6' is not a realistic adversary"),
    "a small letter": ("i:table:1e6", "is not a realistic adversary"),
    "nothing": ("", "is not a realistic adversary"),
    "no sigma, I": ("I", "lacks its stubbornness σ"),
    "no sigma, II": ("II", "lacks its stubbornness σ"),
    "no sigma after a shape": ("I:table", "stubbornness σ is not a number"),
    "no sigma after a file": ("I:prior.csv", "stubbornness σ is not a number"),
    "no shape, I": ("I:1e6", "lacks its shape"),
    "no shape, III": ("III", "lacks its shape"),
    "sigma for class III": ("III:1e6", "1e6"),
    "sigma in words": ("I:table:many", "stubbornness σ is not a number"),
    "sigma of nothing": ("II:nan", "The 'sigma' parameter of a realistic adversary must be"),
    "infinite sigma": ("II:inf", "The 'sigma' parameter of a realistic adversary must be"),
    "negative sigma": ("I:table:-5", "The 'sigma' parameter of a realistic adversary must be"),
    "sigma of 0": ("I:table:0", "The 'sigma' parameter of a realistic adversary must be"),
    "sigma + b below 1": ("I:uniform:0.5", "at least 1, together with the known records"),
    "class II, sigma below the number of values": ("II:3", "σ ≥ 4"),
    "a shape for class II": ("II:uniform:30", "a part too many"),
    "a part for class IV": ("IV:3", "a part too many"),
    "data for class IV": ("IV:data:other.csv", "a part too many"),
    "negative known": ("II:30:known=-1", "stubbornness σ is not a number"),
    "known in words": ("II:30:known=all", "stubbornness σ is not a number"),
    "at most for class III": ("III:uniform:at-most", "no stubbornness"),
    "at most less than can be": ("I:uniform:3:at-most", "nobody who has seen at most σ = 3"),
    "no such prior": ("I:none.csv:30", "none.csv"),
    "no such data": ("I:data:none.csv", "none.csv"),
    "a folder": ("III:.", "that is a folder"),
    "another header": ("I:header.csv:30", "header.csv: a prior of ill has the columns probability, value"),
    "a column too many": ("I:more.csv:30", "more.csv: a prior of ill has the columns"),
    "values missing": ("I:missing.csv:30", "2 are missing"),
    "a value twice": ("I:twice.csv:30", "twice.csv, row 4: the value stands there for the second time"),
    "nine tenths": ("I:nine.csv:30", "nine.csv: the probabilities of 'ill' sum to 0.9, not to 1"),
    "a negative share": ("I:negative.csv:30", "negative.csv: a probability of 'ill' is below 0"),
    "words for numbers": ("III:words.csv", "words.csv, row 0, column 'probability': a number is needed there"),
    "no number": ("III:nan.csv", "nan.csv, row 0, column 'probability': a number is needed there"),
    "an unknown value": ("I:unknown.csv:30", "1 are unknown"),
    "no rows": ("III:rows.csv", "rows.csv"),
    "an empty file": ("III:nothing.csv", "nothing.csv: the file is empty"),
    "not text": ("III:latin.csv", "latin.csv"),
    "a column that is not sensitive": ("III:column.csv", "column.csv, row 0: 'sex' is not a sensitive column"),
    "data without the sensitive column": ("I:data:no-ill.csv", "no-ill.csv"),
    "data with an unknown value": ("I:data:stranger.csv", "1 are unknown"),
    "data with counts in words": ("I:data:counts.csv", "counts.csv, row 0, column 'count'"),
    "data of nobody": ("I:data:zero.csv", "zero.csv: every row has count 0"),
}


@pytest.fixture
def bad(town: Cli, tmp_path: Path) -> Callable[..., str]:
    """Run a command that must fail: one message, code 2, nobody's value in it, older files as they were."""
    for name, text in FILES.items():
        write(tmp_path, name, text)
    (tmp_path / "latin.csv").write_bytes("value,probability\nfièvre,1\n".encode("latin-1"))
    lines = [f'"[{int(age) // 10 * 10}, {int(age) // 10 * 10 + 9}]",{sex},{ill}' for age, sex, ill in TOWNSPEOPLE]
    write(tmp_path, "r.csv", "age,sex,ill\n" + "\n".join(lines) + "\n")
    for name in ("out.csv", "out.json", "page.html"):
        write(tmp_path, name, "old\n")

    def call(*arguments: str) -> str:
        before = {path.name: path.read_bytes() for path in tmp_path.iterdir() if path.is_file()}
        code, out, err = town(*arguments)
        assert (code, out) == (2, ""), err
        assert err.startswith("dalenius: ")
        assert err.count("\n") == 1
        assert "Traceback" not in err
        typed = " ".join(arguments)
        assert not [value for value in VALUES_BAD if value in err and value not in typed]
        assert not [word for word in ("Person", "fièvre", "vre") if word in err]
        assert {path.name: path.read_bytes() for path in tmp_path.iterdir() if path.is_file()} == before
        return err

    return call


ELSEWHERE = (  # seen when the text is read, when a file is, and when it meets the column's values
    "no class",
    "negative sigma",
    "no such prior",
    "nine tenths",
    "class II, sigma below the number of values",
    "at most less than can be",
    "values missing",
    "data with an unknown value",
)


@pytest.mark.parametrize("case", ADVERSARIES)
def test_bad_adversaries(bad: Callable[..., str], case: str) -> None:
    text, message = ADVERSARIES[case]
    for command in (("check", "r.csv"), ("lattice", "t.csv"), ("audit", "r.csv")):
        if command[0] == "check" or case in ELSEWHERE:
            assert message in bad(*command, "--adversary", "III:uniform", "--adversary", text, "--json", "out.json")


@pytest.mark.parametrize("case", [*ELSEWHERE, "no sigma, I", "no shape, I", "sigma + b below 1", "a value twice"])
def test_bad_adversaries_of_a_publisher(bad: Callable[..., str], case: str) -> None:
    """With an ε after it, each is as bad."""
    text, message = ADVERSARIES[case]
    err = bad("publish", "t.csv", "-o", "out.csv", "--epsilon-privacy", f"{text}:2.5", "--json", "out.json")
    assert message in err
    if case in ELSEWHERE:
        assert message in bad("lattice", "t.csv", "--epsilon-privacy", f"{text}:2.5", "-o", "page.html")


CASES: dict[str, tuple[tuple[str, ...], str]] = {
    "twice": (("check", "r.csv", "--adversary", "II:30", "--adversary", "II:30"), "'II:30' is named twice"),
    "twice as data": (
        ("check", "r.csv", "--adversary", "I:data:other.csv", "--prior-data", "other.csv"),
        "'I:data:other.csv' is named twice",
    ),
    "twice on the lattice": (("lattice", "t.csv", "--adversary", "IV", "--adversary", "IV"), "'IV' is named twice"),
    "epsilon below 1": (("check", "r.csv", "--epsilon", "0.9"), "a finite number ≥ 1"),
    "epsilon of nothing": (("check", "r.csv", "--epsilon", "nan"), "a finite number ≥ 1"),
    "population alone": (("check", "r.csv", "--population", "t.csv"), "only used by --prior-cells"),
    "cells without population": (("check", "r.csv", "--prior-cells", "other.csv"), "Pass --population"),
    "cells of no file": (("check", "r.csv", "--prior-cells", "none.csv", "--population", "t.csv"), "none.csv"),
    "population of no file": (("check", "r.csv", "--prior-cells", "other.csv", "--population", "none.csv"), "none.csv"),
    "cells without a quasi-identifier": (
        ("check", "r.csv", "--prior-cells", "no-age.csv", "--population", "t.csv"),
        "no-age.csv",
    ),
    "cells without the sensitive column": (
        ("check", "r.csv", "--prior-cells", "no-ill.csv", "--population", "t.csv"),
        "no-ill.csv",
    ),
    "cells with an unknown value": (
        ("check", "r.csv", "--prior-cells", "stranger.csv", "--population", "t.csv"),
        "stranger.csv: a value of 'ill' there is none of this table's",
    ),
    "population without a quasi-identifier": (
        ("check", "r.csv", "--prior-cells", "other.csv", "--population", "no-age.csv"),
        "no-age.csv: the population lacks the quasi-identifiers age",
    ),
    "population of other people": (
        ("check", "r.csv", "--prior-cells", "other.csv", "--population", "other.csv"),
        "The population must be the people of the release",
    ),
    "cells beside others as quasi": (
        ("check", "r.csv", "--prior-cells", "other.csv", "--population", "t.csv", "--schema", "two.toml",
         "--others-as-quasi"),
        "cannot be combined",
    ),
    "an unknown value": (
        ("check", "r.csv", "--adversary", "II:30", "--predicate", "Zitter"),
        "names 'Zitter', which column 'ill' does not have",
    ),
    "a set with an unknown value": (
        ("lattice", "t.csv", "--adversary", "II:30", "--predicate", "{Zitterpox, Zitter}"),
        "names 'Zitter', which column 'ill' does not have",
    ),
    "a set of everything": (
        ("check", "r.csv", "--adversary", "II:30", "--predicate", "{Zitterpox, Yawnfever, Xanthitis, Wobbles}"),
        "holds for every value of column 'ill'",
    ),
    "a set of nothing": (
        ("check", "r.csv", "--adversary", "II:30", "--predicate", "not {Zitterpox, Yawnfever, Xanthitis, Wobbles}"),
        "holds for no value of column 'ill'",
    ),
    "an empty set": (("check", "r.csv", "--adversary", "II:30", "--predicate", "{}"), "names no value"),
    "an empty predicate": (("audit", "r.csv", "--adversary", "II:30", "--predicate", ""), "names no value"),
    "a predicate for publishing": (
        ("publish", "t.csv", "-o", "out.csv", "--epsilon-privacy", "II:30:3", "--predicate", "Zitter"),
        "names 'Zitter'",
    ),
    "class IV cannot be published for": (
        ("publish", "t.csv", "-o", "out.csv", "--epsilon-privacy", "IV:2.5"),
        "Name an adversary of class I, II or III",
    ),
    "everybody is known": (
        ("publish", "t.csv", "-o", "out.csv", "--epsilon-privacy", "II:30:3", "--known", "70"),
        "nobody is left to protect",
    ),
    "more than everybody is known": (
        ("publish", "t.csv", "-o", "out.csv", "--epsilon-privacy", "II:30:known=71:3"),
        "nobody is left to protect",
    ),
    "no epsilon": (("publish", "t.csv", "-o", "out.csv", "--epsilon-privacy", "IV"), "not an adversary with an ε"),
    "epsilon in words": (("publish", "t.csv", "-o", "out.csv", "--epsilon-privacy", "III:table:low"), "is not a number"),
    "epsilon for publishing below 1": (
        ("publish", "t.csv", "-o", "out.csv", "--epsilon-privacy", "III:table:0.99"),
        "a finite number ≥ 1",
    ),
    "no solution": (
        ("publish", "t.csv", "-o", "out.csv", "--epsilon-privacy", "II:1e6:2"),
        "ε = 2 against II:1e6 fails: the level of 'ill' there is",
    ),
    "at most for class III, publishing": (
        ("publish", "t.csv", "-o", "out.csv", "--epsilon-privacy", "III:table:at-most:2"),
        "no stubbornness",
    ),
    "everybody has the same": (
        ("publish", "same.csv", "-o", "out.csv", "--epsilon-privacy", "I:uniform:30:3"),
        "a sensitive column has one value, and everybody has it",
    ),
    "a criterion for an audit": (("audit", "r.csv", "--epsilon-privacy", "III:table:2"), "Add --method"),
    "epsilon of the page below 1": (
        ("lattice", "t.csv", "--adversary", "II:30", "-o", "page.html", "--json", "out.json", "--epsilon", "0.5"),
        "a finite number ≥ 1",
    ),
    "epsilon of no page": (("lattice", "t.csv", "--adversary", "II:30", "--epsilon", "3"), "Add -o FILE, or leave it out"),
    "page and document in one file": (
        ("lattice", "t.csv", "--adversary", "II:30", "-o", "page.html", "--json", "page.html"),
        "page.html",
    ),
    "a document over a prior": (("check", "r.csv", "--adversary", "III:prior.csv", "--json", "prior.csv"), "Name another"),
    "a document over the data": (("check", "r.csv", "--prior-data", "other.csv", "--json", "other.csv"), "Name another"),
    "a document over the cells": (
        ("check", "r.csv", "--prior-cells", "other.csv", "--population", "t.csv", "--json", "other.csv"),
        "Name another",
    ),
    "a document over the population": (
        ("check", "r.csv", "--prior-cells", "other.csv", "--population", "t.csv", "--json", "t.csv"),
        "Name another",
    ),
    "a release over a prior": (
        ("publish", "t.csv", "--epsilon-privacy", "III:prior.csv:3", "-o", "prior.csv"),
        "Name another",
    ),
    "a page over a prior": (("lattice", "t.csv", "--adversary", "III:prior.csv", "-o", "prior.csv"), "Name another"),
    "a report over a prior": (("audit", "r.csv", "--adversary", "III:prior.csv", "-o", "prior.csv"), "Name another"),
    "known to nobody": (("check", "r.csv", "--known", "3"), "--known describes realistic adversaries, but none is named"),
    "at most of nobody": (("check", "r.csv", "--at-most"), "--at-most describes realistic adversaries"),
    "a set for nobody": (("check", "r.csv", "--predicate", "Zitterpox"), "--predicate describes realistic adversaries"),
    "known to nobody, publishing": (("publish", "t.csv", "-o", "out.csv", "--k", "2", "--known", "3"), "--known describes"),
    "known to nobody of the lattice": (("lattice", "t.csv", "--known", "3"), "--known describes"),
    "a prior without a name": (("check", "r.csv", "--adversary", "I:data:"), "lacks the name of its file"),
    "cells of strangers": (
        ("check", "r.csv", "--prior-cells", "abroad.csv", "--population", "t.csv"),
        "abroad.csv: nobody there has quasi-identifiers of this table's domains",
    ),
    "a page over the table": (("lattice", "t.csv", "--adversary", "II:30", "-o", "t.csv"), "Name another"),
}  # fmt: skip


@pytest.mark.parametrize("case", CASES)
def test_bad_input(bad: Callable[..., str], tmp_path: Path, case: str) -> None:
    two = TOWN.replace('sensitive = "ill"', 'sensitive = ["ill", "note"]')
    write(tmp_path, "two.toml", two + '[columns.note]\nrole = "sensitive"\n')
    if case == "cells beside others as quasi":
        lines = (tmp_path / "r.csv").read_text(encoding="utf-8").splitlines()
        write(tmp_path, "r.csv", "\n".join([lines[0] + ",note", *(line + ",n" for line in lines[1:])]) + "\n")
    arguments, message = CASES[case]
    assert message in bad(*arguments)


@pytest.mark.parametrize("arguments", [("--known", "-1"), ("--known", "few"), ("--epsilon", "low")], ids=" ".join)
def test_what_the_parser_refuses(bad: Callable[..., str], town: Cli, arguments: tuple[str, str]) -> None:
    del bad  # for its files
    code, out, err = town("check", "r.csv", "--adversary", "II:30", *arguments)
    assert (code, out) == (2, "")
    assert arguments[0] in err
    assert "Traceback" not in err
