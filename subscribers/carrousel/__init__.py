"""The carrousel: the meter of a jackpot over linked tables, kept as a ledger."""
