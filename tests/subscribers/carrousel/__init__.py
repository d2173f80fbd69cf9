"""The carrousel."""
