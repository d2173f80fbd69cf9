"""What is proved of a journal afterwards: signed, sealed, verified, derived again, shown."""
