"""The papers' tables and figures, built anew: one file a paper."""
