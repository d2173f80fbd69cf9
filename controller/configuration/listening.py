"""Where services answer: ``host:port`` in a configuration."""

from __future__ import annotations

from collections.abc import Iterator
from ipaddress import ip_address

from controller.configuration.settings import Configuration
from devices.places import Path


def address(text: str) -> tuple[str, int]:
    """Host and port; an IPv6 address stands in brackets. Raises ``ValueError``."""
    host, colon, port = text.rpartition(":")
    if not colon or not host or not port.isdecimal() or int(port) > 65535:
        raise ValueError("write host:port, as 127.0.0.1:9463")
    return host.removeprefix("[").removesuffix("]"), int(port)


def told_at(configuration: Configuration) -> dict[Path, str]:
    """Where metrics can be asked, by the place in the configuration."""
    found = {
        "metrics": configuration.metrics.listen,
        "carrousel": configuration.carrousel.listen,
        "archive": configuration.archive.listen,
    }
    return {(name, "listen"): where for name, where in found.items() if where is not None}


def listening(configuration: Configuration) -> Iterator[tuple[Path, str]]:
    """Every mistake."""
    taken: dict[tuple[str, int], str] = {}
    for at, text in told_at(configuration).items():
        try:
            found = address(text)
        except ValueError as error:
            yield at, str(error)
            continue
        if found[1] and found in taken:
            yield at, f"{text} is where {taken[found]} listens; choose another port"
        taken.setdefault(found, ".".join(map(str, at)))


def is_loopback(host: str) -> bool:
    """Whether only this machine reaches it."""
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"
