"""Simulated shufflers."""
