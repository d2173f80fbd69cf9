"""Texas against the house."""
