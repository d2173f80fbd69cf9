"""Simulated shoes: one file per device family."""
