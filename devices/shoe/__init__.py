"""Codecs of card shoes. None is written yet."""
