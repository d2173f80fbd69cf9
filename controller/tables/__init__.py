"""One gaming table: its game, its devices and the journal behind it."""
