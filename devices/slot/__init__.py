"""Coin slots."""
