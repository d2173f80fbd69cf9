"""The journal: everything that happened at the tables, stored on disk as a hash chain."""
