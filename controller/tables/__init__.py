"""One gaming table at work: its game, its devices and the journal behind it."""
