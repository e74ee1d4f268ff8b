"""The demo, on the terminal."""

from __future__ import annotations

from dalenius.reports.words.en import classes, rows

KNOWN = (
    "A neighbour may know a patient's age, sex, ZIP code and nationality. The disease must stay secret. Names have been "
    "removed."
)
RELEASES = {1: "One release of the table:", 3: "Three releases of the table:"}
COLUMNS = "columns:"
ATTACKED = (
    "An attacker who has a release and knows these four values guesses the disease. How often is the guess correct for "
    "patients in the release, and for similar people outside it? Only the difference reveals something about the patients:"
)
ATTACK_COLUMNS = ("", "adversary", "inside", "outside", "most common", "gain in points (95 % CI)")
CONCLUSIONS = "Conclusions:"
NOT_CONVERGED = "not converged"
POLICY = (
    "How useful is each release, and does it satisfy the hospital's policy (a gain of at most 5 points, and almost nobody "
    "known for certain)?"
)
POLICY_COLUMNS = ("", "error of counts", "publish?")
ANSWERS = {"passed": "yes", "violated": "no", "incomplete": "unclear", "none": "unclear"}
NONE = "None of these releases may be published."
NOT_THIS = "This release may not be published. The full demo has two others."
TRY = "Then try your own table:  dalenius init TABLE.csv"


def begin(people: int, table: object) -> str:
    return f"A hospital wants to publish {people:,} patients: {table}"


def alone(n: int, share: str) -> str:
    return f"But {n:,} of the patients ({share}) are the only ones with their combination of the four values."


def extent(classes_in: int, suppressed: int, path: object) -> str:
    return f"{classes(classes_in)}, {rows(suppressed)} suppressed: {path}"


def answer(answer: str, reasons: str) -> str:
    return f"{answer}: {reasons}" if reasons else answer


def conclusion(letter: str, adversary: str, conclusion: str) -> str:
    return f"{letter}  {adversary}: {conclusion}"


def choice(letter: str, file: str, short: str) -> str:
    return f"The hospital may publish {letter}: {file} ({short})."


def report(path: object, file: str) -> str:
    return f"Report   {path}  what a review board reads about {file}; open it in a browser"


def policy(path: object) -> str:
    return f"Policy   {path}  the thresholds, and which columns an attacker may know"


def again(command: str) -> str:
    return f"Repeat   {command}"
