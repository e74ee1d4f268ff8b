"""Compiled loops: arrays in, arrays out, no types of ours. Each has a plain NumPy twin in the tests."""
