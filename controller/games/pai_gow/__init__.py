"""Pai gow."""
