"""Measures of beliefs and of releases: accuracy, threats, privacy, utility."""
