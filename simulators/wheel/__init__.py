"""Simulated wheels: one file per device family."""
