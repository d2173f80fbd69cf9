"""Two daemons with the same tables: which of them serves, and what ends the other one."""
