"""Addresses that count as one where requests are limited."""

from __future__ import annotations

from ipaddress import ip_address, ip_network


def network(address: str) -> str:
    """Return the network that counts as one address: with IPv6 a /64, which one host can own."""
    try:
        found = ip_address(address)
    except ValueError:
        return address
    return str(ip_network((found, 64), strict=False)) if found.version == 6 else address
