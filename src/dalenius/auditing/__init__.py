"""The audit: the only place that holds the truth beside the beliefs."""

from __future__ import annotations

from dalenius.auditing.audit import Audit, audit

__all__ = ["Audit", "audit"]
