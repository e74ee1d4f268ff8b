"""The command line in this process. Several files have a `cli` of their own, with other files in its folder."""

from __future__ import annotations

from pathlib import Path

import pytest

from dalenius.cli import app
from tests.cli.realistic_cases import TOWN, TOWNSPEOPLE, Answer, Cli, write


@pytest.fixture
def cli(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Cli:
    """The command line in this process and in an empty folder."""
    monkeypatch.chdir(tmp_path)

    def call(*arguments: str) -> Answer:
        capsys.readouterr()
        code = app.run(list(arguments))
        said = capsys.readouterr()
        return code, said.out, said.err

    return call


@pytest.fixture
def town(cli: Cli, tmp_path: Path) -> Cli:
    write(tmp_path, "privacy.toml", TOWN)
    lines = [f"Person{i},{','.join(person)}" for i, person in enumerate(TOWNSPEOPLE)]
    write(tmp_path, "t.csv", "name,age,sex,ill\n" + "\n".join(lines) + "\n")
    return cli
