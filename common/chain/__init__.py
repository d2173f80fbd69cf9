"""Hash chains in SQLite files, for the journal, the ledger and the archive."""
