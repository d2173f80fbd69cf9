"""Chemin de fer, and baccarat at two cloths."""
