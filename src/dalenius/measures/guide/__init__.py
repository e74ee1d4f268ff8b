"""Which measure of privacy fits a case: five questions, a table of rules, and the texts of the recommendations."""

from __future__ import annotations

from dalenius.measures.guide.recommendation import NOTATION, Also, Recommendation
from dalenius.measures.guide.rules import (
    QUESTIONS,
    RULES,
    Guidance,
    Question,
    Rule,
    check,
    combinations,
    complete,
    guide,
    needed_answers,
    open_questions,
    recommend,
    to_document,
)

__all__ = [
    "NOTATION",
    "QUESTIONS",
    "RULES",
    "Also",
    "Guidance",
    "Question",
    "Recommendation",
    "Rule",
    "check",
    "combinations",
    "complete",
    "guide",
    "needed_answers",
    "open_questions",
    "recommend",
    "to_document",
]
