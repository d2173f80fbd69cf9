"""Finds connections to other machines that are not encrypted."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from urllib.parse import parse_qs, urlsplit

from common.broker.address import addresses
from controller.configuration.listening import is_loopback
from controller.configuration.settings import Configuration

REMEDIES = {
    "mqtt": "write mqtts://, with `ca_file` if the broker's certificate is your own",
    "nats": "write tls://, with `ca_file` if the cluster's certificates are your own",
    "http": "write https://",
    "postgresql": "add sslmode=verify-full to the address",
    "web": "set `cert_file` and `key_file`, or let a reverse proxy end TLS and set `tls`",
    "device": "let no other machine into the network of the device and this machine",
    "post": "write https:// with `cert_file` and `key_file`, if the device speaks it; or let no "
    "other machine into its network",
}
"""What to do, by the kind of the connection."""
ENCRYPTED_SSL_MODES = {"require", "verify-ca", "verify-full"}
"""Values of PostgreSQL's ``sslmode`` with which nothing is sent in clear."""


def unencrypted(configuration: Configuration) -> Iterator[str]:
    """Yield a warning for each connection of a valid configuration that another machine on its way
    can read and change.
    """
    for place, urls, kind in _clear(configuration):
        others = [url for url in urls if _is_remote(url)]
        if others:
            yield (
                f"{place}: {others[0]} is not encrypted: any machine on its way can read what is "
                "sent, passwords and tokens too, and change it; "
                f"{REMEDIES[kind]}"
            )


def _clear(configuration: Configuration) -> Iterator[tuple[str, Iterable[str], str]]:
    """Yield the addresses that are used without encryption: place, addresses, kind."""
    brokers = [("broker", configuration.broker.url)]
    brokers += [
        (f"archive.site[{number}]", site.url)
        for number, site in enumerate(configuration.archive.site)
    ]
    for section, url in brokers:
        if url.startswith("mqtt://"):
            yield f"{section}.url", addresses(url), "mqtt"
    standby = configuration.standby
    if standby is not None and not standby.ca_file and not standby.cert_file:
        yield "standby.servers", (url for url in standby.servers if url.startswith("nats:")), "nats"
    receivers = {
        f"{name}[{number}].address": receiver.address
        for name in ("webhook", "bookmark")
        for number, receiver in enumerate(getattr(configuration, name))
    }
    for place, url in receivers.items():
        if url is not None and url.startswith("http://"):
            yield place, [_without_path(url)], "http"
    if database := configuration.archive.database:
        modes = parse_qs(urlsplit(database).query).get("sslmode", [])
        if ENCRYPTED_SSL_MODES.isdisjoint(modes):
            yield "archive.database", [_without_path(database)], "postgresql"
    web = configuration.web
    if configuration.api.tokens is not None and web.cert_file is None and web.tls is None:
        yield "web.listen", [f"http://{web.listen}"], "web"
    yield from _devices(configuration)


def _devices(configuration: Configuration) -> Iterator[tuple[str, Iterable[str], str]]:
    for t, table in enumerate(configuration.table):
        for d, device in enumerate(table.device):
            kind = {"mqtt": "device", "http": "post"}.get(device.link.partition("://")[0])
            if kind is not None:
                yield f"table[{t}].device[{d}].link", [_without_path(device.link)], kind


def _is_remote(url: str) -> bool:
    """Return whether the host of an address is another machine, or any. An address without a host
    is that of a Unix socket.
    """
    host = urlsplit(url).hostname
    return bool(host) and not is_loopback(str(host))


def _without_path(url: str) -> str:
    """Return scheme, host and port of an address: the rest may contain a secret."""
    parts = urlsplit(url)
    return f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}"
