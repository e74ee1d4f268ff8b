"""Measures: what a release is still good for."""
