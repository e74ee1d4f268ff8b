"""What several adversaries share: models of a population, links within groups, sampling, and where a target fits."""
