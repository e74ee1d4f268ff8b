"""The part of an audit's page that is about adversaries and the people whom they attack."""

from __future__ import annotations

from dalenius.reports.words.en import people as counted_people

ADVERSARIES = "The adversaries"
NO_ADVERSARY = "No adversary could be tried. The end of this report lists what was not tested."
COLUMNS = ("Attack", "In the release", "Most common value", "Held-out people", "Gain", "Conclusion")
RATES_CAPTION = (
    "How often the adversary guesses a person's value correctly, with 95 % confidence intervals: for people in the release; "
    "for held-out people, about whom only general knowledge helps; and by always guessing the most common value."
)
CONFIDENCE_COLUMNS = ("Attack", "Average confidence", "More than 80 % confident", "Certain")
CONFIDENCE_TEXT = (
    "Without the original table, nobody can tell how often an adversary is <em>correct</em>. The table shows how confident "
    "each adversary is, for people drawn from what the release says about each class."
)


def knows(name: str, knows: str, does: str) -> str:
    return f"<strong>{name}</strong> knows {knows}; it {does}."


def method(gain: str, residual: str, margin: str) -> str:
    return (
        f"{gain}; {residual}. Intervals of rates are exact (Clopper and Pearson), those of gains are Newcombe's. A gain whose "
        "interval lies above 0 leaks information about individuals. A gain whose interval lies below "
        f"{margin} points reveals population patterns only. Otherwise there are not enough data to tell. Without held-out "
        "people there is no gain."
    )


def of_people(share: str) -> str:
    return f"{share} of people"


RISKS = "Singling out, linkability, inference"
RISK_COLUMNS = ("Risk", "Result")
SINGLING_OUT, LINKABILITY, INFERENCE = "Singling out", "Linkability", "Inference"
NOT_MEASURED = "not measured, because the original table was not available"
GROUP, QUASI_IDENTIFIERS = "group", "quasi-identifiers"


def singled_out(share: str) -> str:
    return f"{share} of people match only one row"


def linkability(known: str, average: str, highest: str, at_risk: str, bound: str) -> str:
    return (
        f"somebody who knows a person's {known} picks the correct row with probability {average} on average and {highest} at "
        "most; "
        f"the probability is above 20 % for {at_risk} of people" + (f". {bound}" if bound else "")
    )


def inference(right: str, naive: str, certain: str, conclusion: str) -> str:
    return (
        f"the best adversary is correct for {right} of people, and always guessing the most common value for {naive}; an "
        f"adversary knows the true value for certain for {certain} of people; {conclusion}"
    )


DISCLOSURES = "How much a belief can change"
DISCLOSURE_TEXT = (
    "A realistic adversary has seen other people elsewhere, as many as its stubbornness σ. The smallest ε is the largest "
    "factor by which the adversary's belief about a person rises (or its doubt shrinks) because that person is in the release "
    "rather than left out. A factor of 1 means no change; infinite means certainty. Adversary <em>I</em> has a prior and σ, "
    "<em>II</em> has σ and any prior, <em>III</em> never gives up its prior. It knows b records of the release. "
    "<em>uniform</em> treats all values as equally likely; <em>table</em> uses the shares in the release."
)
DISCLOSURE_COLUMNS = ("Adversary", "Sensitive column", "Smallest ε", "Worst class", "People in it")

THREATS = "Individuals or population"
THREATS_TEXT = (
    "The learner uses the release as a study: what it knows about a person it would know about anyone like that person. The "
    "attacker also knows that the person is in the release. What the attacker knows beyond the learner is information about "
    "the individual."
)
THREAT_COLUMNS = ("Result", "Meaning")
EXACT = "Exact: the probabilities are computed, not sampled."
NOT_RELIABLE = "Not converged: do not rely on these numbers."


def sampled(sampler: str, chains: str, sweeps: str, rhat: str) -> str:
    return f"Sampled ({sampler}, {chains} chains of {sweeps} sweeps, R-hat {rhat}); ± is the Monte Carlo error."


PEOPLE = "The people most at risk"
PEOPLE_COLUMNS = ("Rows of the table", "Class", "People in it", "Exposed most by", "Confidence of the adversary")
PEOPLE_TEXT = (
    "These are the people about whom an adversary who knows their quasi-identifiers is most confident, rightly or not. The "
    "attribute is the one without which the adversary would be least confident. Rows and classes are numbered from 0."
)
HIDDEN = " Confidence is shown in words, because the number could reveal the value. --reveal shows value and number."
NOT_NUMBERED = "not numbered"


def revealed(belief: str, value: str, baseline: str, right: int, alike: int) -> str:
    return f"{belief} for {value} ({baseline} in the table); correct for {right} of {alike}"


DIAGNOSTICS = "Reliability of the beliefs"
CALIBRATION_CAPTION = (
    "Confidence of the adversary against how often it is correct. On the dashed line, confidence and correctness agree."
)


def beliefs(adversary: str, column: str, method: str) -> str:
    return f"{adversary} on {column}: {method} beliefs"


def confident(n: int, rate: str) -> str:
    return f"more than 80 % confident about {counted_people(n)}, and correct for {rate} of them"


CONFIDENT_OF_NOBODY = "more than 80 % confident about nobody"
