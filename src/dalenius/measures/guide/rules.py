"""Which measure of privacy fits a case: five questions and one table of answers (Rebollo-Monedero et al. 2013, section VII).

The paper's figure 4 and table IV as data. `RULES` are disjoint and cover every combination of answers, so there is one
recommendation for each. The command line, the documentation and the tests read the same table. Where the paper says nothing, the
recommendation says so. The texts are in `alike` and `graded`.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from dalenius.errors import InputError, ParameterError
from dalenius.measures.guide import alike, graded
from dalenius.measures.guide.recommendation import Recommendation
from dalenius.result import Result


@dataclass(frozen=True, slots=True)
class Answer:
    """A keyword for an answer, and its meaning."""

    key: str
    text: str


@dataclass(frozen=True, slots=True)
class Question:
    key: str
    text: str
    answers: tuple[Answer, ...]

    @property
    def flag(self) -> str:
        return "--" + self.key.replace("_", "-")

    @property
    def words(self) -> tuple[str, ...]:
        return tuple(answer.key for answer in self.answers)

    @property
    def choice(self) -> str:
        """Return the answers as a phrase: `worst, average or best`."""
        return f"{', '.join(self.words[:-1])} or {self.words[-1]}"

    def understand(self, text: str) -> str | None:
        """Return the answer that a text means: its number, its keyword or the start of the keyword. None if there is none."""
        text = text.strip().lower()
        if text.isdecimal():
            return self.words[int(text) - 1] if len(text) < 3 and 1 <= int(text) <= len(self.words) else None
        return self.complete(text)

    def complete(self, text: str) -> str | None:
        """Return the only answer that starts with the text, or None."""
        begun = [word for word in self.words if text.strip() and word.startswith(text.strip().lower())]
        return begun[0] if len(begun) == 1 else None


@dataclass(frozen=True, slots=True)
class Rule:
    """The recommendation for some answers; None means any answer."""

    then: Recommendation
    about: str | None = None
    loss: str | None = None
    loss_known: str | None = None
    observations: str | None = None
    case: str | None = None

    def fits(self, answers: Mapping[str, str]) -> bool:
        """Return whether the rule is compatible with all answers so far."""
        return all(self.wants(key) in (None, answer) for key, answer in answers.items())

    def wants(self, key: str) -> str | None:
        wanted: str | None = getattr(self, key)
        return wanted


QUESTIONS = (
    Question(
        "about",
        "What must an attacker not find out?",
        (
            Answer("identity", "Who a person is: whose row this is, or who sent this message."),
            Answer("attribute", "Something about a person: a diagnosis, a location, or what they searched for."),
        ),
    ),
    Question(
        "loss",
        "Does a near miss help the attacker?",
        (
            Answer("hamming", "No: a guess is correct or wrong, and all wrong guesses are equally bad (Hamming loss)."),
            Answer(
                "graded",
                "Yes: the closer to the truth, the better. The next street is worth more than another city.",
            ),
        ),
    ),
    Question(
        "loss_known",
        "Do you know what a near miss is worth to the attacker?",
        (
            Answer("yes", "I can state the cost of each guess for each true value, for example as a distance."),
            Answer("no", "I cannot state it. At most I know the cost of the worst guess."),
        ),
    ),
    Question(
        "observations",
        "Does the attacker guess one value or a sequence of them?",
        (
            Answer("single", "One value, from everything that the attacker observes about it."),
            Answer("repeated", "A sequence: each observation is of a new value, such as a person's location each day."),
        ),
    ),
    Question(
        "case",
        "Which case must the number describe, seen from the person to be protected?",
        (
            Answer(
                "worst", "The worst: the observation that reveals most, to an attacker who makes the best use of it."
            ),
            Answer("average", "The average over all observations, weighted by how often they occur."),
            Answer("best", "The best: the attacker only counts what is possible and ignores how likely it is."),
        ),
    ),
)

_HAMMING_SINGLE = {"loss": "hamming", "observations": "single"}
_HAMMING_REPEATED = {"loss": "hamming", "observations": "repeated"}
_KNOWN = {"loss": "graded", "loss_known": "yes"}
_UNKNOWN = {"loss": "graded", "loss_known": "no"}

RULES = (
    Rule(alike.MIN_ENTROPY_IDENTITY, about="identity", case="worst", **_HAMMING_SINGLE),
    Rule(alike.SHANNON_IDENTITY, about="identity", case="average", **_HAMMING_SINGLE),
    Rule(alike.K_ANONYMITY, about="identity", case="best", **_HAMMING_SINGLE),
    Rule(alike.MIN_ENTROPY_ATTRIBUTE, about="attribute", case="worst", **_HAMMING_SINGLE),
    Rule(alike.SHANNON_ATTRIBUTE, about="attribute", case="average", **_HAMMING_SINGLE),
    Rule(alike.L_DIVERSITY, about="attribute", case="best", **_HAMMING_SINGLE),
    Rule(alike.MIN_ENTROPY_SEQUENCE, case="worst", **_HAMMING_REPEATED),
    Rule(alike.SHANNON_SEQUENCE, case="average", **_HAMMING_REPEATED),
    Rule(alike.HARTLEY_SEQUENCE, case="best", **_HAMMING_REPEATED),
    Rule(graded.WORST_ERROR, case="worst", **_KNOWN),
    Rule(graded.AVERAGE_ERROR, case="average", **_KNOWN),
    Rule(graded.NO_BEST_ERROR, case="best", **_KNOWN),
    Rule(graded.T_IDENTITY, about="identity", case="worst", **_UNKNOWN),
    Rule(graded.T_CLOSENESS, about="attribute", case="worst", **_UNKNOWN),
    Rule(graded.MUTUAL_INFORMATION, case="average", **_UNKNOWN),
    Rule(graded.COUNT_IDENTITY, about="identity", case="best", **_UNKNOWN),
    Rule(graded.COUNT_ATTRIBUTE, about="attribute", case="best", **_UNKNOWN),
)


def check(answers: Mapping[str, str]) -> None:
    """Raise an error for an unknown question or an unknown answer."""
    known = {question.key: question for question in QUESTIONS}
    for key, answer in answers.items():
        if key not in known:
            raise InputError(f"The guide does not ask for {key!r}. It asks for {', '.join(known)}.")
        if answer not in known[key].words:
            raise ParameterError(known[key].flag, "guide", known[key].choice, answer)


def combinations(answers: Mapping[str, str] | None = None) -> Iterator[dict[str, str]]:
    """Yield all ways to answer the five questions that agree with the given answers."""
    known = answers or {}
    choices = [(known[question.key],) if question.key in known else question.words for question in QUESTIONS]
    for words in itertools.product(*choices):
        yield dict(zip((question.key for question in QUESTIONS), words, strict=True))


def open_questions(answers: Mapping[str, str]) -> list[Question]:
    """Return the questions that can still change the recommendation, for some answers to the others."""
    check(answers)
    undecided = []
    for question in QUESTIONS:
        if question.key in answers:
            continue
        for whole in combinations({**answers, question.key: question.words[0]}):
            if len({_rule({**whole, question.key: word}) for word in question.words}) > 1:
                undecided.append(question)
                break
    return undecided


def needed_answers(answers: Mapping[str, str]) -> dict[str, str]:
    """Return complete answers without those that change nothing."""
    needed = dict(answers)
    for question in QUESTIONS:
        rest = {key: answer for key, answer in needed.items() if key != question.key}
        if not open_questions(rest):
            needed = rest
    return needed


@dataclass(frozen=True, slots=True, repr=False)
class Guidance(Result):
    """Answers, and the measure that they lead to.

    `to_pandas` has one row: the answers by their questions, `measure`, `command` (what to run) and `reference`.
    """

    answers: dict[str, str]
    recommendation: Recommendation

    @property
    def command(self) -> str:
        """Return the command that gives the same answers, without those that change nothing."""
        needed = needed_answers(self.answers)
        flags = " ".join(f"{question.flag} {needed[question.key]}" for question in QUESTIONS if question.key in needed)
        return f"dalenius guide {flags}"

    def to_document(self) -> dict[str, Any]:
        """Return the guidance as a JSON document."""
        return {
            "answers": {question.key: self.answers.get(question.key) for question in QUESTIONS},
            **self.recommendation.to_document(),
        }


def guide(answers: Mapping[str, str]) -> Guidance:
    """Return the answers and the measure for them."""
    return Guidance(dict(answers), recommend(answers))


def complete(answers: Mapping[str, str | None]) -> dict[str, str]:
    """Return the given answers, each as a whole keyword. Raise an error for an unknown answer."""
    known = {question.key: question for question in QUESTIONS}
    whole = {key: known[key].complete(text) or text for key, text in answers.items() if text is not None}
    check(whole)
    return whole


def recommend(answers: Mapping[str, str]) -> Recommendation:
    """Return the measure for these answers. Answers that change nothing may be left out.

    >>> recommend({"about": "identity", "loss": "hamming", "observations": "single", "case": "best"}).keys
    ('k_anonymity.k',)
    """
    missing = open_questions(answers)
    if missing:
        raise InputError(f"The guide needs an answer to {', '.join(question.key for question in missing)}.")
    return _rule(next(combinations(answers))).then


def _rule(answers: Mapping[str, str]) -> Rule:
    (rule,) = (rule for rule in RULES if rule.fits(answers))  # one for every combination: tests count them all
    return rule


def to_document() -> dict[str, Any]:
    """Return the whole table as a JSON document: the questions, and every rule with its recommendation."""
    questions = [
        {
            "key": question.key,
            "flag": question.flag,
            "question": question.text,
            "answers": {answer.key: answer.text for answer in question.answers},
        }
        for question in QUESTIONS
    ]
    rules = [
        {"answers": {question.key: rule.wants(question.key) for question in QUESTIONS}, **rule.then.to_document()}
        for rule in RULES
    ]
    return {"questions": questions, "rules": rules}
