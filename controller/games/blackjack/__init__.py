"""Black jack, and the triple game."""
