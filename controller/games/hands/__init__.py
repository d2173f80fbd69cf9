"""What hands of poker are worth."""
