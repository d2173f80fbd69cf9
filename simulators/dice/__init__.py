"""Readers of dice."""
