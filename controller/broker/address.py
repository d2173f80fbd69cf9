"""Where a broker is: each of its nodes, where it has several."""

from __future__ import annotations


def addresses(url: str) -> list[str]:
    """The address of each node, in order: ``mqtt://one:1883,two:1883`` has two."""
    scheme, _, nodes = url.partition("://")
    return [f"{scheme}://{node}" for node in nodes.split(",")]
