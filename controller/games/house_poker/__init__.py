"""Poker against the dealer: without discards, with discards, of three cards."""
