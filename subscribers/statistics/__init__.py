"""Statistics of wheels and shoes, from the archive of surveillance: advice, never a result."""
