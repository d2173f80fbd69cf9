"""The journal: what happened at the tables, on the disk."""
