"""The commands, and what becomes of an error: one message, an exit code, never a traceback for bad input."""

from __future__ import annotations

import math
import os
import sys
import time
import traceback
from typing import Any

import typer

from dalenius import __version__
from dalenius.cli import (
    attack,
    audit,
    channel,
    check,
    compare,
    compose,
    demo,
    frontier,
    guide,
    init,
    lattice,
    publish,
    reproduce,
    split,
)
from dalenius.errors import DaleniusError, Interrupted, file_error, listing
from dalenius.output import FINISHED

app = typer.Typer(
    name="dalenius",
    help="Attack your anonymized data before someone else does.",
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)


def _version(value: bool) -> None:
    if value:
        typer.echo(f"dalenius {__version__}")
        raise typer.Exit


@app.callback()
def _root(
    version: bool = typer.Option(False, "--version", callback=_version, is_eager=True, help="Print the version."),
) -> None:
    pass


for _command in (
    init,
    check,
    split,
    publish,
    lattice,
    attack,
    compose,
    audit,
    compare,
    frontier,
    channel,
    guide,
    reproduce,
    demo,
):
    _command.register(app)


BROKEN_PIPE = 141  # as the shell says it: whoever gates an export by the exit code must not take it for a verdict
GRACE = 5.0  # seconds for tidying up
_ended = 0  # the signal by which the system asked us to end
_last = -math.inf  # when it did


def end_as_interrupted() -> None:
    """Let SIGTERM and SIGHUP end the program as ctrl-C does: drafts and what was spilt to disk are removed on the way out."""
    import signal

    numbers = [n for n in (signal.SIGTERM, signal.SIGHUP) if signal.getsignal(n) != signal.SIG_IGN]

    def end(number: int, _frame: object) -> None:
        global _ended, _last
        # One that follows at once must not cut the tidying short. A later one counts: a library may have swallowed the first.
        again, _last, _ended = time.monotonic() - _last < GRACE, time.monotonic(), number
        if not again:
            raise KeyboardInterrupt

    if signal.getsignal(signal.SIGINT) != signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)
    for number in numbers:
        signal.signal(number, end)


def run(arguments: list[str]) -> int:
    """Run a command line and return its exit code: 0 done, 1 policy violated, 2 bad input, 3 not converged."""
    _ready_streams()
    FINISHED.clear()
    try:
        code = app(args=arguments or ["--help"], prog_name="dalenius", standalone_mode=False)
        sys.stdout.flush()
        if code == 130:  # Typer turns ctrl-C into this code
            raise KeyboardInterrupt
        return code if isinstance(code, int) else 0
    except (KeyboardInterrupt, typer.Abort):
        written = f"Already written: {listing(FINISHED)}." if FINISHED else "Nothing was written."
        _say(f"Interrupted. {written}")
        return 128 + _ended if _ended else 130
    except typer.Exit as leaving:
        return leaving.exit_code
    except SystemExit:  # Typer's own way out when the reader of a pipe has gone
        return BROKEN_PIPE
    except BrokenPipeError:  # the reader of a pipe has gone; keep the interpreter from complaining at exit
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return BROKEN_PIPE
    except Exception as error:  # noqa: BLE001 - whatever it is, the reader gets one message
        return _failed(error)


def _failed(error: Exception) -> int:
    """Say what went wrong, and return the exit code: bad input, a wrong option, or the last resort, a bug of ours."""
    if isinstance(error, DaleniusError):
        _say(str(error))
        return 128 + _ended if _ended and isinstance(error, Interrupted) else error.exit_code
    if isinstance(error, OSError):
        _say(str(file_error(error, error.filename or "a file", "use")))
        return 2
    if isinstance(error, MemoryError):
        _say("There is not enough memory for this. Close other programs or use a larger machine.")
        return 2
    if hasattr(error, "format_message"):  # Typer's usage errors, whichever parser it stands on
        return _usage(error)
    if os.environ.get("DALENIUS_DEBUG"):
        traceback.print_exception(error)
        return 70
    place = traceback.extract_tb(error.__traceback__)[-1]
    _say(  # without the error's own text, which may hold data
        f"This is a bug in dalenius: {type(error).__name__} in {os.path.basename(place.filename)}, line "
        f"{place.lineno}. Set DALENIUS_DEBUG=1 to see where it comes from (that may show data)."
    )
    return 70


def _ready_streams() -> None:
    """A name that the terminal's encoding lacks is shown escaped; a stream that is closed takes nothing."""
    for name in ("stdout", "stderr"):
        stream = getattr(sys, name)
        if stream is None:
            setattr(sys, name, open(os.devnull, "w", encoding="utf-8"))  # noqa: SIM115 - for as long as we run
        elif hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="backslashreplace")


def _usage(error: Any) -> int:
    message = error.format_message()
    context = getattr(error, "ctx", None)
    _say(message if context is None else f"{message}\nTry: {context.command_path} --help")
    return 2


def _say(message: str) -> None:
    print(f"dalenius: {message}", file=sys.stderr)
