"""Addresses of a broker, which may have several nodes."""

from __future__ import annotations


def addresses(url: str) -> list[str]:
    """Split a URL into one URL per node: ``mqtt://one:1883,two:1883`` has two."""
    scheme, _, nodes = url.partition("://")
    return [f"{scheme}://{node}" for node in nodes.split(",")]
