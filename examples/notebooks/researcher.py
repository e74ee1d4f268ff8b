# %% [markdown]
# # A researcher's comparison of methods
#
# Three ways to publish the same table: which one reveals least for what it keeps?
# Other people from the same population are the control.

# %%
import pandas as pd

import dalenius as dl

patients = dl.datasets.save_hospital(".", 1500, seed=0)
others = dl.datasets.save_hospital(".", 1500, seed=2, name="others.csv")

# %%
dl.publish(patients, method="lattice", k=5, suppression=0.05, output="lattice.csv")
dl.publish(patients, method="mondrian", k=5, output="mondrian.csv")
dl.publish(patients, method="anatomy", l=3, output="anatomy")
releases = ["lattice.csv", "mondrian.csv", "anatomy"]

# %% [markdown]
# ## What each is still good for

# %%
dl.compare(releases, patients)

# %% [markdown]
# ## What each reveals
#
# Every adversary that applies attacks each release. One row per release and adversary:

# %%
audits = {name: dl.audit(name, truth=patients, holdout=others) for name in releases}
pd.concat({name: audit.to_pandas() for name, audit in audits.items()}, names=["release"])

# %% [markdown]
# ## Risk against utility
#
# `dl.frontier` tries several values of k, attacks each release, and marks those that no other beats.

# %%
dl.frontier(patients, method="mondrian", k=[2, 5, 20, 50], jobs=1)
