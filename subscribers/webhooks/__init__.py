"""Webhooks: the events of the tables as signed HTTP requests, with an outbox on the disk."""
