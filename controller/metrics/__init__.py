"""What a service counts, as numbers with a name and a meaning, for Prometheus to ask."""
