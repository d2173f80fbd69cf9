"""Cards that are not face up: sealed for surveillance, locked for the daemon itself."""
