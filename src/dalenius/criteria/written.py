"""The former name of `dalenius.criteria.parsing`, for callers that have not changed yet."""

from __future__ import annotations

from dalenius.criteria.parsing import FORMS, adversary, epsilon_privacy, is_realistic

__all__ = ["FORMS", "adversary", "epsilon_privacy", "is_realistic"]
