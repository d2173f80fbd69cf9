"""Punto y banca."""
