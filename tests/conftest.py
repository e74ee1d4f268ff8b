"""Fixtures for all tests. What a test needs from outside is asked for here: absent, it skips and says why, unless
DALENIUS_REQUIRE_ALL is set, as in CI, where absent is a failure."""

from __future__ import annotations

import functools
import os
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest
import typer
from hypothesis import HealthCheck, settings

from tests.processes import OURS, Starter

settings.register_profile(
    "default", deadline=None, max_examples=60, suppress_health_check=[HealthCheck.too_slow], derandomize=True
)
settings.load_profile("default")

ROOT = Path(__file__).resolve().parent.parent
LONG = 900  # seconds, for what must end some day: no test may depend on how busy the machine is


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Put files with slow tests first: a worker that ends early then finds short files to go on with, not one long one."""
    slow = {item.path for item in items if item.get_closest_marker("slow")}
    items.sort(key=lambda item: item.path not in slow)  # stable, so that each file keeps its order


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> object | None:
    """Distribute files as tests/scheduling.py says."""
    if config.getvalue("dist") != "loadfile":
        return None
    from tests.scheduling import Scheduling

    return Scheduling(config, log)


@pytest.fixture(scope="session", autouse=True)
def _one_command_tree() -> Iterator[None]:
    """Build the tree of commands once in a session. Typer builds it anew in each call, in 15 ms, and tests call thousands."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(typer.main, "get_command", functools.cache(typer.main.get_command))
        yield


def lacking(what: str) -> None:
    """Skip the test, or fail it where everything is required."""
    if os.environ.get("DALENIUS_REQUIRE_ALL"):
        pytest.fail(f"{what} is required here and is not there", pytrace=False)
    pytest.skip(what + " is not there")


@pytest.fixture(scope="session")
def data() -> Path:
    """The folder of real data: $DALENIUS_DATA."""
    folder = os.environ.get("DALENIUS_DATA")
    if not folder or not (Path(folder) / "adult" / "adult.csv").is_file():
        lacking("the data folder $DALENIUS_DATA with adult/adult.csv")
    assert folder
    return Path(folder).resolve()


@pytest.fixture(scope="session")
def adult_schema(data: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A privacy.toml for Adult with occupation sensitive and the other eight columns quasi-identifiers."""
    folder = tmp_path_factory.mktemp("adult")
    names = ["sex", "age", "race", "marital-status", "education", "native-country", "workclass", "salary-class"]
    text = [f'sensitive = "occupation"\nhierarchies = "{data / "adult"}"']
    text += [f'[columns.{name}]\nrole = "quasi"' + ('\ntype = "integer"' if name == "age" else "") for name in names]
    path = folder / "privacy.toml"
    path.write_text("\n".join(text), encoding="utf-8")
    return path


def unwarned(err: str) -> str:
    """What was said on standard error besides that nothing is left of some columns: small tables lose them easily."""
    return "".join(line for line in err.splitlines(True) if not line.startswith("WARNING: Nothing is left of "))


Run = Callable[..., "subprocess.CompletedProcess[str]"]
COMMAND_LINE = "from dalenius.cli import main; main()"


@pytest.fixture(scope="session")
def starter() -> Iterator[Starter]:
    """What starts Python programs, also with plug-ins, in processes of their own, quickly."""
    made = Starter()
    yield made
    made.close()


@pytest.fixture(scope="session")
def command_starter() -> Iterator[Starter]:
    """What starts the command line, without plug-ins, in processes of its own, quickly."""
    made = Starter(*OURS)
    yield made
    made.close()


@pytest.fixture
def run(command_starter: Starter, tmp_path: Path) -> Run:
    """Run the command line in a process of its own, in an empty folder."""

    def call(
        *arguments: str | Path, cwd: Path = tmp_path, env: Mapping[str, str] | None = None, **options: Any
    ) -> subprocess.CompletedProcess[str]:
        words = [str(argument) for argument in arguments]
        if options:  # an input of its own
            command = [sys.executable, "-c", COMMAND_LINE, *words]
            return subprocess.run(command, cwd=cwd, env=env, capture_output=True, text=True, timeout=LONG, **options)
        return command_starter.run(COMMAND_LINE, words, cwd=cwd, env=env, timeout=LONG)

    return call
