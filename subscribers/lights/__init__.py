"""Scenes of light, and relays, on a jackpot's hit or a number of a wheel."""
