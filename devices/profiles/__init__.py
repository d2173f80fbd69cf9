"""Profiles: devices that a site describes in TOML, from the vendor's document, without code."""
