"""Codecs of wheels: one file per device family."""
