"""The configuration of a daemon: its types, its file, and checks that involve several values."""
