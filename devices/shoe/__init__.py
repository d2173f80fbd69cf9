"""Codecs of card shoes: one module per device family."""
