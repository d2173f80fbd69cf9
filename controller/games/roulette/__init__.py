"""Roulette, French and American."""
