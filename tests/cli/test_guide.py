"""`dalenius guide`: asked on a terminal, told by options, refused without either; and every command that it names."""

from __future__ import annotations

import json
import os
import pty
import select
import shlex
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import typer

from dalenius.cli import app
from dalenius.measures.guide import QUESTIONS, RULES, combinations, recommend
from tests.conftest import LONG, Run

Cli = Callable[..., tuple[int, str, str]]
IDENTITY = ("--about", "identity", "--loss", "hamming", "--observations", "single", "--case", "best")
COMMANDS = sorted({line for rule in RULES for line in (rule.then.command, *(one.command for one in rule.then.also))})
REGISTERED: dict[str, Any] = typer.main.get_command(app.app).commands  # type: ignore[attr-defined]
NOT_YET: set[str] = set()


@pytest.fixture
def cli(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Cli:
    monkeypatch.chdir(tmp_path)

    def call(*arguments: str) -> tuple[int, str, str]:
        code = app.run(["guide", *arguments])
        found = capsys.readouterr()
        return code, found.out, found.err

    return call


# ---------------------------------------------------------------------------- the commands that it names


def test_only_commands_to_come_are_missing() -> None:
    """Empty NOT_YET once they are registered."""
    assert {line.split()[1] for line in COMMANDS} - set(REGISTERED) == NOT_YET - set(REGISTERED)


@pytest.mark.parametrize("line", COMMANDS)
def test_commands_parse(line: str) -> None:
    """With the options and types that the command line has; nothing is run."""
    program, name, *words = shlex.split(line)
    assert program == "dalenius"
    if name in REGISTERED:
        REGISTERED[name].make_context(name, words)
    else:
        assert name in NOT_YET


def test_options_that_do_not_exist_are_found() -> None:
    """The control of the test above."""
    with pytest.raises(Exception, match="--kk"):
        REGISTERED["publish"].make_context("publish", ["TABLE", "--kk", "5", "-o", "RELEASE"])


@pytest.mark.slow
def test_keys_are_those_of_the_documents(cli: Cli, capsys: pytest.CaptureFixture[str]) -> None:
    """Commands are run and their documents looked into; `publish` makes the release with the guide's own words."""
    assert cli("-q", *IDENTITY)[0] == 0
    assert app.run(["demo", "--people", "300"]) == 0
    Path("demo/patients.csv").rename("TABLE")
    schema = ["--schema", "demo/privacy.toml"]
    assert app.run(["publish", "TABLE", "--k", "5", "-o", "RELEASE", "--suppression", "0.1", *schema]) == 0
    capsys.readouterr()
    assert app.run(["check", "RELEASE", "--json", "check.json", *schema]) == 0
    assert app.run(["audit", "RELEASE", "--truth", "TABLE", "-o", "r.html", "--json", "audit.json", *schema]) == 0
    assert app.run(["channel", "--release", "RELEASE", "--json", "channel.json", *schema]) == 0
    names = ("check", "audit", "channel")
    documents = {name: json.loads(Path(f"{name}.json").read_text(encoding="utf-8")) for name in names}
    named = [
        (one.command.split()[1], key)
        for rule in RULES
        for one in (rule.then, *rule.then.also)
        for key in one.keys
    ]  # fmt: skip
    assert {name for name, _ in named} == {"check", "audit", "channel"}
    for name, key in named:
        found = documents[name]
        for piece in key.split("."):
            found = found[piece.removesuffix("[]")]
            if piece.endswith("[]"):
                found = found[0]
        assert isinstance(found, int | float | str) or (name, key) == ("channel", "distortion"), key


# ---------------------------------------------------------------------------- told by options


@pytest.mark.parametrize("answers", list(combinations()), ids=lambda answers: "-".join(answers.values()))
def test_all_answers_as_options(cli: Cli, answers: dict[str, str]) -> None:
    options = [word for question in QUESTIONS for word in (question.flag, answers[question.key])]
    code, out, err = cli(*options)
    assert (code, err) == (0, "")
    found = recommend(answers)
    together = " ".join(out.split())
    for text in (found.measure, found.why, *found.assumes, *found.limits, found.bounds, found.reference, *found.keys):
        assert text in together
    assert f"\n    {found.command}\n" in out
    assert max(len(line) for line in out.splitlines() if not line.strip().startswith("dalenius ")) <= 80
    code, out, _ = cli(*options, "--json", "-")
    document = json.loads(out)
    assert document["answers"] == answers
    assert [document[key] for key in ("measure", "why", "command", "bounds", "reference")] == [
        found.measure, found.why, found.command, found.bounds, found.reference,
    ]  # fmt: skip
    assert [document[key] for key in ("assumes", "limits", "keys")] == [
        [*found.assumes], [*found.limits], [*found.keys],
    ]  # fmt: skip


def test_answers_that_change_nothing_may_be_left_out(cli: Cli) -> None:
    code, out, _ = cli("--loss", "graded", "--loss-known", "no", "--case", "average", "--json", "measure.json")
    assert code == 0
    assert "mutual information" in out
    document = json.loads(Path("measure.json").read_text(encoding="utf-8"))
    assert document["answers"] == {
        "about": None, "loss": "graded", "loss_known": "no", "observations": None, "case": "average",
    }  # fmt: skip
    assert cli(*IDENTITY, "--json", "measure.json", "-q") == (0, "", "")


def test_the_whole_table(cli: Cli) -> None:
    code, out, err = cli("--all")
    assert (code, err) == (0, "")
    together = " ".join(out.split())
    assert all(question.text in together and question.flag in together for question in QUESTIONS)
    assert together.count(" any ") >= 17
    assert max(map(len, out.splitlines())) <= 80
    code, out, _ = cli("--all", "--json", "-")
    document = json.loads(out)
    assert [rule["measure"] for rule in document["rules"]] == [rule.then.measure for rule in RULES]
    assert [question["flag"] for question in document["questions"]] == [question.flag for question in QUESTIONS]
    assert document["rules"][-1]["answers"]["observations"] is None


# ---------------------------------------------------------------------------- refused


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (
            ("--about", "person"),
            "The '--about' parameter of guide must be identity or attribute. Got 'person' instead.",
        ),
        (("--loss", ""), "The '--loss' parameter of guide must be hamming or graded. Got '' instead."),
        (("--loss-known", "maybe"), "must be yes or no"),
        (("--observations", "1"), "must be single or repeated"),
        (("--case", "BESTE"), "must be worst, average or best. Got 'BESTE' instead."),
        (("--all", "--case", "best"), "--all prints the whole table: leave the answers out."),
        ((*IDENTITY, "--json", "no/x.json"), "the folder 'no' does not exist"),
        (("--abuot", "identity"), "--abuot"),
        (("--loss", "graded"), "--about identity|attribute, --loss-known yes|no, --case worst|average|best."),
        ((), "no terminal to ask on"),
    ],
)
def test_refused(cli: Cli, arguments: tuple[str, ...], message: str) -> None:
    code, out, err = cli(*arguments)
    assert (code, out) == (2, "")
    assert message in err
    assert "bug" not in err


@pytest.mark.slow
@pytest.mark.parametrize("given", [subprocess.DEVNULL, None])
def test_without_a_terminal_it_does_not_wait(run: Run, given: int | None) -> None:
    options: dict[str, Any] = {"input": "1\n1\n1\n"} if given is None else {"stdin": given}
    done = run("guide", "--about", "identity", **options)
    assert (done.returncode, done.stdout) == (2, "")
    assert "--loss hamming|graded" in done.stderr
    assert "--about" not in done.stderr


def test_a_closed_input(tmp_path: Path) -> None:
    program = f"{shlex.quote(sys.executable)} -c 'from dalenius.cli import main; main()' guide <&-"
    done = subprocess.run(["bash", "-c", program], cwd=tmp_path, capture_output=True, text=True, timeout=LONG)
    assert done.returncode == 2
    assert "no terminal" in done.stderr


# ---------------------------------------------------------------------------- asked on a terminal


class Terminal:
    """A process on a pseudo-terminal: what it says is read, what is typed is sent."""

    def __init__(self, folder: Path, *arguments: str) -> None:
        self.said = ""
        self.pid, self.channel = pty.fork()
        if self.pid == 0:  # the child
            os.chdir(folder)
            code = "from dalenius.cli import main; main()"
            os.execv(sys.executable, [sys.executable, "-c", code, "guide", *arguments])

    def wait_for(self, text: str, *, times: int = 1) -> None:
        ends = time.monotonic() + LONG
        while self.said.count(text) < times:
            assert time.monotonic() < ends, self.said
            if not self._read():
                raise AssertionError(f"ended before {text!r}: {self.said}")

    def type(self, text: str) -> None:
        os.write(self.channel, text.encode())

    def end(self) -> int:
        while self._read():
            pass
        _, status = os.waitpid(self.pid, 0)
        os.close(self.channel)
        return os.waitstatus_to_exitcode(status)

    def _read(self) -> bool:
        if not select.select([self.channel], [], [], LONG)[0]:
            os.kill(self.pid, signal.SIGKILL)
            raise AssertionError(f"silent: {self.said}")
        try:
            piece = os.read(self.channel, 65536)
        except OSError:  # Linux: the other end is closed
            return False
        self.said += piece.decode(errors="replace").replace("\r\n", "\n")
        return bool(piece)


def test_a_conversation(tmp_path: Path) -> None:
    """A number, a word in capitals, a beginning; the loss is known by itself, so that is not asked."""
    terminal = Terminal(tmp_path, "--json", "measure.json")
    for number, typed in enumerate(("1", " HAMMING ", "si", "b"), 1):
        terminal.wait_for("> ", times=number)
        terminal.type(typed + "\n")
    assert terminal.end() == 0
    assert "Do you know what a near miss" not in terminal.said
    assert "Measure  k-anonymity" in terminal.said
    assert "dalenius guide --about identity --loss hamming --observations single --case best\n" in terminal.said
    assert json.loads((tmp_path / "measure.json").read_text(encoding="utf-8"))["keys"] == ["k_anonymity.k"]


def test_only_what_is_open_is_asked(tmp_path: Path) -> None:
    terminal = Terminal(tmp_path, "--loss", "graded", "--loss-known", "no", "--case", "worst")
    terminal.wait_for("> ")
    assert "What must an attacker not find out?" in terminal.said
    terminal.type("2\n")
    assert terminal.end() == 0
    assert terminal.said.count("> ") == 1
    assert "t_closeness.equal" in terminal.said


@pytest.mark.slow
def test_nonsense_is_asked_again_but_not_forever(tmp_path: Path) -> None:
    terminal = Terminal(tmp_path, "--loss", "hamming", "--observations", "repeated")
    for number, typed in enumerate(("", "4"), 1):
        terminal.wait_for("> ", times=number)
        terminal.type(typed + "\n")
    terminal.wait_for("> ", times=3)
    terminal.type("average\n")
    assert terminal.end() == 0
    assert terminal.said.count("Please answer with a number from 1 to 3, or worst, average or best.") == 2
    assert "typical set" in terminal.said
    terminal = Terminal(tmp_path, "--loss", "hamming", "--observations", "repeated")
    for number, typed in enumerate(("x", "0", "99999999999"), 1):
        terminal.wait_for("> ", times=number)
        terminal.type(typed + "\n")
    assert terminal.end() == 2
    assert "No answer was understood. It can be given as an option: --case worst|average|best." in terminal.said


@pytest.mark.parametrize("key", ["\x03", "\x04"], ids=["ctrl-C", "ctrl-D"])
def test_interrupted(tmp_path: Path, key: str) -> None:
    terminal = Terminal(tmp_path, "--json", "measure.json")
    terminal.wait_for("> ")
    terminal.type(key)
    assert terminal.end() == 130
    assert "\ndalenius: Interrupted. Nothing was written.\n" in terminal.said
    assert "Traceback" not in terminal.said
    assert not (tmp_path / "measure.json").exists()


def test_questions_stay_out_of_the_result(tmp_path: Path) -> None:
    """Standard output is a file: the questions are on the terminal, the document alone is in the file."""
    mine, theirs = pty.openpty()
    code = "from dalenius.cli import main; main()"
    with (tmp_path / "out.json").open("w") as out:
        child = subprocess.Popen(
            [sys.executable, "-c", code, "guide", "--loss", "graded", "--loss-known", "yes", "--json", "-"],
            stdin=theirs, stdout=out, stderr=theirs, cwd=tmp_path,
        )  # fmt: skip
        os.write(mine, b"worst\n")
        assert child.wait(LONG) == 0
    os.close(theirs)
    os.close(mine)
    assert json.loads((tmp_path / "out.json").read_text(encoding="utf-8"))["keys"] == ["worst_case_privacy"]


def test_options_take_the_beginning_of_a_word(cli: Cli) -> None:
    whole = cli("--about", "identity", "--loss", "hamming", "--observations", "single", "--case", "best", "--json", "-")
    short = cli("--about", "id", "--loss", "H", "--observations", "s", "--case", "Best", "--json", "-")
    assert short[0] == 0
    assert json.loads(short[1])["answers"] == json.loads(whole[1])["answers"]
