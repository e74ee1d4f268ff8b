"""A gate in Python: run `dalenius audit --strict` and turn its exit code into an exception. It needs no scheduler."""

from __future__ import annotations

import subprocess
import tomllib
from pathlib import Path

REASONS = {
    1: "the release violates the policy, or a threshold could not be tested",
    2: "bad input: fix the file or the option that the message names",
    3: "the sampling did not converge: run the audit with a larger --mcse",
    4: "not enough memory or time: use a larger machine",
}
FINAL = {1, 2, 3}  # a second try gives the same answer


class GateClosed(Exception):
    """The release must not go out. `retry` tells whether a second try can help."""

    def __init__(self, code: int, message: str) -> None:
        super().__init__(f"{REASONS.get(code, f'the audit did not finish (exit code {code})')}\n{message}".strip())
        self.code = code
        self.retry = code not in FINAL


def gate(release: str, truth: str, holdout: str, schema: str, report: str = "report.html") -> str:
    """Return the path of the report if the release satisfies the policy; otherwise raise GateClosed."""
    if Path(schema).is_file() and "policy" not in tomllib.loads(Path(schema).read_text(encoding="utf-8")):
        raise GateClosed(2, f"{schema} has no [policy], so nothing would be tested.")
    command = ["dalenius", "audit", release, "--truth", truth, "--holdout", holdout, "--schema", schema]
    done = subprocess.run([*command, "--strict", "-o", report], stderr=subprocess.PIPE, text=True)
    if done.returncode:
        raise GateClosed(done.returncode, done.stderr)
    return report
