"""Trijoker."""
