"""Devices that a site describes in TOML, from its vendor's document, without code."""
