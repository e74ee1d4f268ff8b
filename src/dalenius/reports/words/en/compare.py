"""A comparison of releases, on the terminal."""

from __future__ import annotations

RELEASE, KIND = "release", "kind"
LEVELS = {"l": "ℓ"}  # of levels that are not shown under their key
COSTS = {
    "loss": "loss",
    "ncp": "NCP",
    "precision": "precision",
    "discernibility": "discernibility",
    "average_class_size": "average class size",
    "suppressed": "suppressed rows",
    "kl_divergence": "KL divergence (nats)",
    "relative_error": "query error, mean",
    "relative_error_median": "query error, median",
    "faithfulness": "faithfulness",
}


def about(release: str, text: str) -> str:
    return f"{release}: {text}"


def reading(queries: int, seed: int) -> str:
    return (
        "Larger is better for k, ℓ, precision and faithfulness; smaller is better for the rest. – means that the measure is "
        f"not defined for the release. Query errors are relative, over {queries:,} count queries (seed {seed})."
    )
