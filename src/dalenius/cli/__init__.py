"""The command line. Nothing heavy is imported before a command needs it."""

from __future__ import annotations

import os
import sys


def main() -> None:
    """Entry point of the `dalenius` command."""
    if sys.argv[1:] == ["--version"]:
        from dalenius import __version__

        print(f"dalenius {__version__}")
        return
    _end_quietly()
    # Matrices here are small: threads that wait for each other cost ten times what they save on a busy machine.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    from dalenius.errors import DaleniusError

    try:
        from dalenius.cli.app import end_as_interrupted, run
    except DaleniusError as error:  # a plug-in that cannot be loaded: its options are missing from every command
        print(f"dalenius: {error}", file=sys.stderr)
        sys.exit(error.exit_code)
    except Exception as error:
        if os.environ.get("DALENIUS_DEBUG"):
            raise
        print(
            f"dalenius: The commands cannot be loaded ({type(error).__name__}: {error}). A plug-in may be broken. "
            "Set DALENIUS_DEBUG=1 to see where it comes from.",
            file=sys.stderr,
        )
        sys.exit(70)
    end_as_interrupted()
    sys.exit(run(sys.argv[1:]))


def _end_quietly() -> None:
    """Let ctrl-C and SIGTERM end the program at once while it imports: an exception there would be a traceback of a library.

    Nothing has been written by then, and nothing needs tidying up.
    """
    import signal

    def end(number: int, _frame: object) -> None:
        os.write(2, b"dalenius: Interrupted. Nothing was written.\n")
        os._exit(128 + number)

    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        if signal.getsignal(number) != signal.SIG_IGN:  # whoever started us in the background has ctrl-C ignored
            signal.signal(number, end)
