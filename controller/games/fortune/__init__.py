"""The wheel of fortune."""
