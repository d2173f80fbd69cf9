"""Measurements. They print ratios; no test asserts a time."""
