"""Face-down cards: sealed for surveillance, locked for the daemon itself."""
