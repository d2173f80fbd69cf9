"""The values of hands of poker."""
