"""The pit console: people sign in with a PIN, see what waits for them, and act with their own
key.
"""
