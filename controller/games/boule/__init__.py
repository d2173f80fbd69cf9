"""Boule."""
