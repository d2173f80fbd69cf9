"""Backups of a daemon's journal, made while it runs, and their restoring."""
