"""Metrics of a service, served to Prometheus."""
