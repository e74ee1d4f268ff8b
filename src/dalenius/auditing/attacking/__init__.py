"""One attack on a release: the request, the attack itself, and the result."""

from __future__ import annotations

from dalenius.auditing.attacking.attack import attack, files_of_prior
from dalenius.auditing.attacking.request import AttackRequest, error_rates
from dalenius.auditing.attacking.result import Rated, ReleaseAttack

__all__ = ["AttackRequest", "Rated", "ReleaseAttack", "attack", "error_rates", "files_of_prior"]
