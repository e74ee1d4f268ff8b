"""The command line. Nothing heavy is imported before a command needs it."""

from __future__ import annotations

import sys


def main() -> None:
    """Entry point of the `dalenius` command."""
    if sys.argv[1:] == ["--version"]:
        from dalenius import __version__

        print(f"dalenius {__version__}")
        return
    from dalenius.cli.app import end_as_interrupted, run

    end_as_interrupted()
    sys.exit(run(sys.argv[1:]))
