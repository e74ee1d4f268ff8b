# %% [markdown]
# # A privacy engineer's gate
#
# A nightly job exports a table. This notebook develops the step that stops an export which violates the policy.
# `docs/pipelines.md` shows the same step as a shell script, a GitHub Action, a DVC stage and an Airflow task.

# %%
from pathlib import Path

import dalenius as dl

patients = dl.datasets.save_hospital(".", 1500, seed=0)
others = dl.datasets.save_hospital(".", 1500, seed=2, name="others.csv")

# %% [markdown]
# ## The policy
#
# Thresholds are part of the schema: at least five people in every class, and at most 10 points of gain for any adversary.

# %%
text = Path("privacy.toml").read_text(encoding="utf-8")
Path("policy.toml").write_text(f"{text}\n[policy]\nmin_k = 5\nmax_attacker_gain = 0.1\n", encoding="utf-8")

# %% [markdown]
# ## Two candidates

# %%
dl.publish(patients, "policy.toml", method="mondrian", k=2, output="fine.csv")
dl.publish(patients, "policy.toml", method="mondrian", k=50, output="coarse.csv")

# %%
audits = {name: dl.audit(name, "policy.toml", truth=patients, holdout=others) for name in ("fine.csv", "coarse.csv")}
{name: audit.verdict for name, audit in audits.items()}

# %% [markdown]
# The report says which threshold is violated:

# %%
audits["fine.csv"]

# %% [markdown]
# ## The gate
#
# Only *passed* opens it. *Incomplete* means that a threshold could not be tested, and *none* that there is no policy.


# %%
def may_go_out(audit):
    """Return whether every threshold was tested and none is violated."""
    return audit.verdict == "passed"


assert not may_go_out(audits["fine.csv"])
assert may_go_out(audits["coarse.csv"])

# %% [markdown]
# Keep the evidence next to the export: a page for people, and JSON for machines.

# %%
audits["coarse.csv"].save("report.html")
audits["coarse.csv"].save("report.json")
sorted(audits["coarse.csv"].to_dict())
