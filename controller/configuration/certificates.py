"""The certificates that a configuration depends on: in files, and presented by servers."""

from __future__ import annotations

import ssl
from collections.abc import Iterator, Mapping
from pathlib import Path

from common import places
from common.broker.address import addresses
from common.broker.certificates import presented_expiry, read_validity
from common.broker.login import BrokerUnusableError, tls, tls_context
from controller.configuration.listening import post_addresses
from controller.configuration.secrets import sections
from controller.configuration.settings import (
    ArchiveConfig,
    ArchiveSite,
    BookmarkConfig,
    BrokerConfig,
    CarrouselConfig,
    Configuration,
    StandbyConfig,
    WebConfig,
    WebhookConfig,
    WebhooksConfig,
)

CERTIFICATE_FILES: Mapping[type, tuple[str, ...]] = {
    BrokerConfig: ("cert_file", "ca_file"),
    WebConfig: ("cert_file", "broker_cert_file"),
    CarrouselConfig: ("broker_cert_file",),
    ArchiveConfig: ("broker_cert_file",),
    ArchiveSite: ("cert_file", "ca_file"),
    BookmarkConfig: ("ca_file",),
    WebhooksConfig: ("broker_cert_file",),
    WebhookConfig: ("ca_file",),
    StandbyConfig: ("cert_file", "ca_file"),
}
"""Keys of each section that name a file with certificates."""


def certificate_files(configuration: Configuration) -> dict[str, Path]:
    """Return the files, by the place that names each."""
    files = {
        places.format_path((*at, key)): Path(value)
        for at, section in sections(configuration)
        for key in CERTIFICATE_FILES.get(type(section), ())
        if (value := getattr(section, key))
    }
    for at, address in post_addresses(configuration):
        if name := address.options.get("cert_file"):
            files[f"{places.format_path(at)}: cert_file"] = Path(name)
    return files


def read_end(place: str, path: Path) -> float:
    """Return the end of validity, in seconds since 1970. Raises ``OSError`` and ``ValueError``."""
    return read_validity(path, authorities=place.endswith("ca_file")).ends


def servers(configuration: Configuration) -> Iterator[tuple[str, str, ssl.SSLContext]]:
    """Yield the place and address of each server that must present a certificate, and the context
    that verifies it. Servers whose files cannot be read are omitted: connecting reports the reason.
    """
    broker, standby = configuration.broker, configuration.standby
    try:
        context = tls(broker)
    except BrokerUnusableError:
        context = None
    if context is not None:
        for url in addresses(broker.url):
            yield places.format_path(("broker", "url")), url, context
    if standby is None:
        return
    try:
        context = tls_context("standby", standby.ca_file, standby.cert_file, standby.key_file)
    except BrokerUnusableError:
        return
    for url in standby.servers:
        if url.startswith("tls://") or standby.ca_file or standby.cert_file:
            yield places.format_path(("standby", "servers")), url, context


def certificate_ends(configuration: Configuration) -> dict[str, float]:
    """Return when each certificate expires, in seconds since 1970, by its place and its file or
    server. Files that cannot be read and servers that cannot be reached are omitted. Connects to
    the servers, which takes seconds.
    """
    ends = {}
    for place, path in certificate_files(configuration).items():
        try:
            ends[f"{place} {path}"] = read_end(place, path)
        except (OSError, ValueError):
            continue
    for place, url, context in servers(configuration):
        try:
            ends[f"{place} {url}"] = presented_expiry(url, context)
        except (OSError, ValueError):
            continue
    return ends
