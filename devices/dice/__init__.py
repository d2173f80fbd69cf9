"""Readers and shakers of dice."""
