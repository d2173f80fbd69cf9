"""Outputs that speak as a wheel does, for the displays that a house already has."""
