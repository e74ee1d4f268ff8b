"""What a paper's exhibits are made of. A page shows them, so that they are defined where pages are made."""

from __future__ import annotations

from dalenius.reports.exhibits import Compared, Erratum, Exhibit, Paper

__all__ = ["Compared", "Erratum", "Exhibit", "Paper"]
