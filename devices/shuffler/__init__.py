"""Codecs of shufflers."""
