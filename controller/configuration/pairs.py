"""Checks of a pair of daemons: both must reach every device, the broker and the lease store."""

from __future__ import annotations

import os
from collections.abc import Iterator
from urllib.parse import urlsplit

from common.places import KeyPath
from controller.configuration.secrets import CREDENTIALS_FOLDER
from controller.configuration.settings import Configuration
from devices.links import NETWORK_SCHEMES


def standby(configuration: Configuration) -> Iterator[tuple[KeyPath, str]]:
    """Yield all errors."""
    settings = configuration.standby
    if settings is None:
        return
    for index, server in enumerate(settings.servers):
        if why := _server_error(server):
            yield ("standby", "servers", index), why
    if configuration.broker.url.startswith("embedded:"):
        yield (
            ("broker", "url"),
            (
                "the broker is part of this daemon, so the other one of the pair cannot reach it; "
                "give both the url of a separate broker, or remove [standby]"
            ),
        )
    for t, table in enumerate(configuration.table):
        for d, device in enumerate(table.device):
            scheme = device.link.partition("://")[0]
            if scheme and scheme not in NETWORK_SCHEMES:
                yield (
                    ("table", t, "device", d, "link"),
                    (
                        f"{device.id} is plugged into one machine, so the other one of the pair "
                        "cannot read it; connect it to a device server and write "
                        f"{' or '.join(f'{name}://' for name in NETWORK_SCHEMES)}, "
                        "or remove [standby]"
                    ),
                )
    if settings.creds_file and settings.creds_credential:
        yield ("standby", "creds_credential"), "`creds_file` is set too; remove one of them"
    if (settings.cert_file is None) != (settings.key_file is None):
        has, lacks = ("key_file", "cert_file") if settings.key_file else ("cert_file", "key_file")
        yield ("standby", has), f"`{lacks}` is required too"
    for key in ("creds_file", "ca_file", "cert_file", "key_file"):
        name = getattr(settings, key)
        if name and not name.startswith(CREDENTIALS_FOLDER) and not os.access(name, os.R_OK):
            yield ("standby", key), f"cannot be read: {name}"


def _server_error(server: str) -> str | None:
    try:
        address = urlsplit(server)
        sound = address.scheme in ("nats", "tls") and address.hostname and address.port != 0
    except ValueError as error:
        return f"is not an address: {error}"
    if not sound:
        return "expected nats://host:port or tls://host:port"
    if address.username is not None or address.password is not None:
        return "contains a user name or password; use `creds_file` or `creds_credential`"
    return None
