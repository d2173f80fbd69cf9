"""Measurements, run by ``make bench``. They print ratios of what was measured in one run; no test
asserts a time.
"""
