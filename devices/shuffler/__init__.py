"""Codecs of shufflers. None is written yet."""
