"""Addresses on which services listen: ``host:port`` in a configuration."""

from __future__ import annotations

from collections.abc import Iterator
from ipaddress import ip_address

from common.places import KeyPath
from controller.configuration.settings import Configuration


def address(text: str) -> tuple[str, int]:
    """Parse host and port; an IPv6 address is in brackets. Raises ``ValueError``."""
    host, colon, port = text.rpartition(":")
    if not colon or not host or not port.isdecimal() or int(port) > 65535:
        raise ValueError("write host:port, as 127.0.0.1:9463")
    return host.removeprefix("[").removesuffix("]"), int(port)


def reachable(host: str) -> str:
    """Return a host at which a program of this machine reaches one that listens at ``host``."""
    try:
        listening = ip_address(host)
    except ValueError:
        return host
    loopback = "127.0.0.1" if listening.version == 4 else "::1"
    return loopback if listening.is_unspecified else host


def local_authority(text: str) -> str:
    """Return host and port as in an address (IPv6 in brackets), at which a program of this machine
    reaches one that listens at ``text``. Raises ``ValueError``.
    """
    host, port = address(text)
    name = reachable(host)
    return f"[{name}]:{port}" if ":" in name else f"{name}:{port}"


def metrics_addresses(configuration: Configuration) -> dict[KeyPath, str]:
    """Return the addresses of metrics and health, by place in the configuration."""
    addresses = {
        "metrics": configuration.metrics.listen,
        "carrousel": configuration.carrousel.listen,
        "archive": configuration.archive.listen,
        "webhooks": configuration.webhooks.listen,
    }
    return {(name, "listen"): listen for name, listen in addresses.items() if listen is not None}


def listening(configuration: Configuration) -> Iterator[tuple[KeyPath, str]]:
    """Yield all errors."""
    users: dict[tuple[str, int], str] = {}
    for at, text in metrics_addresses(configuration).items():
        try:
            parsed = address(text)
        except ValueError as error:
            yield at, str(error)
            continue
        if parsed[1] and parsed in users:
            yield at, f"{text} is where {users[parsed]} listens; choose another port"
        users.setdefault(parsed, ".".join(map(str, at)))


def is_loopback(host: str) -> bool:
    """True if the host is reachable only from this machine."""
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"
