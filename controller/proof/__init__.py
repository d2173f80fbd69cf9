"""Proof of a journal after the fact: signed, sealed, verified, derived again, exported."""
