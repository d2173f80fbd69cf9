"""Drivers and links: bytes in, readings out. Imports no other package of the project."""
