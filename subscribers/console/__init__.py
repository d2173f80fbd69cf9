"""The pit console: staff sign in with a PIN, see what needs a decision, and act with
their own key.
"""
