"""Validity of certificates, of those in files and those that servers present."""

from __future__ import annotations

import socket
import ssl
from datetime import UTC, datetime
from pathlib import Path
from typing import NamedTuple
from urllib.parse import urlsplit

WARNING_DAYS = 30
"""A certificate is reported when fewer days of validity remain."""
TIMEOUT_SECONDS = 5.0
"""Maximum time for a server to present its certificate."""


class Validity(NamedTuple):
    """A period of validity, in seconds since 1970."""

    begins: float
    ends: float


def read_validity(path: Path, *, authorities: bool = False) -> Validity:
    """Return the validity of the certificates in a file. A chain is valid while all of them are; a
    file of trusted ``authorities`` while any of them is.

    Raises ``OSError`` and ``ValueError``.
    """
    # imported here because it takes a tenth of the daemon's start, and few sites need it
    from cryptography import x509

    certificates = x509.load_pem_x509_certificates(path.read_bytes())
    begins = [certificate.not_valid_before_utc.timestamp() for certificate in certificates]
    ends = [certificate.not_valid_after_utc.timestamp() for certificate in certificates]
    return Validity(min(begins), max(ends)) if authorities else Validity(max(begins), min(ends))


def presented_expiry(url: str, context: ssl.SSLContext) -> float:
    """Return when the certificate that a server presents expires, in seconds since 1970.

    A URL whose scheme is not ``mqtts`` is that of a NATS server, which sends a greeting in clear
    before the handshake. Raises ``OSError``, also if the certificate is not trusted, and
    ``ValueError``.
    """
    address = urlsplit(url)
    host, port = address.hostname or "", address.port or (8883 if _is_mqtts(url) else 4222)
    with socket.create_connection((host, port), timeout=TIMEOUT_SECONDS) as plain:
        if not _is_mqtts(url):
            _read_greeting(plain)
        with context.wrap_socket(plain, server_hostname=host) as secured:
            certificate = secured.getpeercert() or {}
    if not isinstance(end := certificate.get("notAfter"), str):
        raise ValueError(f"{url} presents no certificate")
    return float(ssl.cert_time_to_seconds(end))


def _is_mqtts(url: str) -> bool:
    return url.startswith("mqtts://")


def _read_greeting(plain: socket.socket) -> None:
    greeting = b""
    while not greeting.endswith(b"\r\n"):
        part = plain.recv(1)
        greeting += part
        if not part or len(greeting) > 65_536:
            raise ValueError("not a NATS server: it sends no NATS greeting")


def expiry_warning(ends: float, now: float) -> str | None:
    """Return a warning if a certificate has expired or will soon, else None. Both times are seconds
    since 1970.
    """
    day = f"{datetime.fromtimestamp(ends, UTC):%Y-%m-%d}"
    if now > ends:
        return f"it has expired on {day}"
    days = int((ends - now) // 86_400)
    if days >= WARNING_DAYS:
        return None
    when = "today" if days == 0 else "in 1 day" if days == 1 else f"in {days} days"
    return f"it ends {when}, on {day}"


def file_expiry_warning(file: str | None, now: float) -> str | None:
    """Return the :func:`expiry_warning` of a certificate file. None if there is no file, or it
    cannot be read.
    """
    if file is None:
        return None
    try:
        return expiry_warning(read_validity(Path(file)).ends, now)
    except (OSError, ValueError):  # reported where the file is used
        return None
