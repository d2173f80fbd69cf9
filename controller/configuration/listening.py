"""Addresses on which services listen: ``host:port`` in a configuration."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from ipaddress import ip_address

from common.places import KeyPath
from controller.configuration.secrets import CREDENTIALS_FOLDER
from controller.configuration.settings import Configuration
from devices.links import LinkFailedError, driver_scheme, link_mistakes
from devices.links.link import Address, parse_address
from devices.links.tokens import read_tokens


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
    yield from _posts(configuration, users)


def post_addresses(configuration: Configuration) -> list[tuple[KeyPath, Address]]:
    """Return the valid addresses at which the daemon listens for devices that post."""
    found: list[tuple[KeyPath, Address]] = []
    for t, table in enumerate(configuration.table):
        for d, device in enumerate(table.device):
            if driver_scheme(device.link) == "http" and not link_mistakes(device.link):
                found.append((("table", t, "device", d, "link"), parse_address(device.link)))
    return found


def _posts(
    configuration: Configuration, users: Mapping[tuple[str, int], str]
) -> Iterator[tuple[KeyPath, str]]:
    """Check the addresses of devices that post: one listener at each port, and readable tokens."""
    tls: dict[int, tuple[str, str | None]] = {}
    for at, each in post_addresses(configuration):
        assert each.port is not None
        if (each.host, each.port) in users:
            user = users[each.host, each.port]
            yield at, f"{each.host}:{each.port} is where {user} listens; choose another port"
        own = (each.host, each.options.get("cert_file"))
        if own != tls.setdefault(each.port, own):
            yield at, f"another device that posts to port {each.port} has another host or cert_file"
        if not each.options["secret_file"].startswith(CREDENTIALS_FOLDER):
            try:
                read_tokens(each.options["secret_file"])
            except LinkFailedError as error:
                yield at, str(error)


def is_loopback(host: str) -> bool:
    """True if the host is reachable only from this machine."""
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"
