"""Backups of a daemon's journal, made while it runs, and restoring them."""
