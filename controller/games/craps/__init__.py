"""Craps."""
