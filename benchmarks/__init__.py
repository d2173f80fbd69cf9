"""Measurements, run by ``make bench``. They print ratios from a single run; no test asserts a
time.
"""
