"""A channel's measures, and the trade-off of a design."""

from __future__ import annotations

VALUES = {
    "mutual-information": "least mutual information (bits)",
    "average": "largest average privacy",
    "worst-case": "largest worst-case privacy",
}
# Measures in bits, by their keys in the JSON report: the name, and the meaning.
ENTROPIES = {
    "min_entropy": ("min-entropy", "uncertainty of a single best guess"),
    "shannon_entropy": ("Shannon entropy H(X|Y)", "uncertainty after many observations"),
    "hartley_entropy": ("Hartley entropy", "how many values remain possible"),
    "mutual_information": ("mutual information", "what an observation reveals on average"),
    "t_kl": ("t, largest divergence", "what the worst observation reveals"),
    "delta_disclosure": ("δ-disclosure", "largest change of a single value"),
}
DEGREES = {
    "reiter_rubin_worst": "Reiter and Rubin, 1 − p, worst",
    "berthold": "Berthold, log2 n (bits)",
    "serjantov_danezis_average": "Serjantov and Danezis, mean (bits)",
    "diaz_average": "Diaz, mean (0 to 1)",
    "toth_theta": "Tóth, largest probability Θ",
    "edman": "Edman, of the whole mix (0 to 1)",
}
ERROR = "The attacker's error"
AVERAGE, WORST, DISTORTION = "average privacy", "worst-case privacy", "distortion"
BITS = "In bits"
SENDERS = "Anonymity of a sender"
BOUNDS = "Bounds, beside what they bound"
EPSILONS = {"adjacent": "ε, neighbours in order", "per_distance": "ε, per unit of distance"}
EARTH_MOVER = "t, earth mover's"
LOCAL_EPSILON = "ε, any two inputs"
LOCAL_MEANING = "differential privacy, nats"
RENYI_MEANING = "mean of H_α(X|y)"
SAMPLE_COLUMNS = ("distortion", "gap")
NONE = "–"


def head(inputs: int, outputs: int, prior: str, loss: str, estimate: str) -> str:
    return f"{inputs:,} inputs, {outputs:,} outputs; prior {prior}; loss {loss}, best estimate: a {estimate}"


def without_observation(value: str) -> str:
    return f"without an observation {value}"


def after(observation: str) -> str:
    return f"after {observation}"


def loss(name: str) -> str:
    return f"loss {name}"


def renyi(order: str) -> str:
    return f"Rényi, order {order}"


def confidence_sets(confidence: str) -> str:
    return f"Sets of {confidence} confidence"


def set_sizes(smallest: int, largest: int) -> str:
    return f"values on average, {smallest:,} to {largest:,}"


def ground(name: str, note: str) -> str:
    return f"ground {name}{note}"


def mistaken(error: str, best: str, inaccuracy: str) -> str:
    error_text = f"An attacker with the assumed prior has an error of {error} (the smallest possible is {best})"
    return f"{error_text}; its belief is {inaccuracy} off."


AGAINST_LABELS = " against an attacker who answers with labels"


def designed(objective: str, value: str, against: str, distortion: str, asked: str) -> str:
    return f"Design: {objective} {value}{against}, at distortion {distortion} ({asked} requested)."


def proven(against: str, bound: str, gap: str) -> str:
    return f"Proven: no channel of that distortion leaves more than {bound}{against}; gap {gap}."


def estimated(samples: int, privacy: str, confidence: str, low: str, high: str) -> str:
    return f"From {samples:,} samples: average privacy {privacy} ({confidence} confidence interval: {low} to {high})."


def information(corrected: str, deviation: str, raw: str) -> str:
    return f"Mutual information is about {corrected}{deviation} bits ({raw} before correction)."


# Page ------------------------------------------------------------------------------------------------------------------------

TITLE = "Privacy against distortion"
CAPTION = "Each point is a channel that was designed for that distortion."
COLUMNS = ("Distortion", "Value", "Proven bound", "Gap")
LABELS_NOTE = " The attacker answers with labels; less privacy is left against one who answers with the mean."


def about(objective: str, note: str) -> str:
    return (
        f"The {objective} of any channel whose mean distortion is at most the value below, with a proven bound.{note}"
    )
