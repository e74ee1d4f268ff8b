# %% [markdown]
# # A steward's first release
#
# You have a table of patients, and somebody asks for it. May you publish it, and if not, which version may you?
# The patients here are made up. Replace the first cell with your own data frame.

# %%
import pandas as pd

import dalenius as dl

patients = pd.read_csv(dl.datasets.save_hospital(".", 1500, seed=0), dtype={"zip": str})
others = pd.read_csv(dl.datasets.save_hospital(".", 1500, seed=2, name="others.csv"), dtype={"zip": str})
patients.shape

# %% [markdown]
# ## 1. Say what each column is
#
# `dl.init` proposes a role for each column. Check every guess: all numbers depend on it.

# %%
proposal = dl.init(patients)
proposal

# %%
schema = proposal.schema

# %% [markdown]
# ## 2. Make a release
#
# Mondrian groups people into classes of at least five who look the same.

# %%
dl.publish(patients, schema, method="mondrian", k=5, output="release.csv")

# %%
dl.check("release.csv", schema, k=5)

# %% [markdown]
# ## 3. Attack it
#
# The other patients are not in the release. They are the control: what an adversary learns about them, it learns about anybody.

# %%
audit = dl.audit("release.csv", schema, truth=patients, holdout=others)
audit

# %% [markdown]
# The gain is the difference between people in the release and people who are not in it. As a table:

# %%
audit.to_pandas()

# %% [markdown]
# ## 4. Make a safer release
#
# Larger classes leak less, and keep less detail.

# %%
dl.publish(patients, schema, method="mondrian", k=50, output="careful.csv")
careful = dl.audit("careful.csv", schema, truth=patients, holdout=others)
careful.to_pandas()

# %% [markdown]
# Save the report for the review board. It is one file without scripts.

# %%
careful.save("report.html")
