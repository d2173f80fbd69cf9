"""Until when certificates are valid: those in files, and those that servers present."""

from __future__ import annotations

import socket
import ssl
from datetime import UTC, datetime
from pathlib import Path
from typing import NamedTuple
from urllib.parse import urlsplit

WARNING_DAYS = 30
"""Days before its end from which a certificate is reported."""
TIMEOUT_SECONDS = 5.0
"""For a server to present its certificate."""


class Validity(NamedTuple):
    """Seconds since 1970."""

    begins: float
    ends: float


def read_validity(path: Path, *, authorities: bool = False) -> Validity:
    """Of the certificates in a file: a chain holds as long as all of them; ``authorities``, of
    which one suffices, as long as any. Raises ``OSError`` and ``ValueError``.
    """
    from cryptography import x509  # costs a tenth of the daemon's start, and few have a certificate

    found = x509.load_pem_x509_certificates(path.read_bytes())
    begins = [each.not_valid_before_utc.timestamp() for each in found]
    ends = [each.not_valid_after_utc.timestamp() for each in found]
    return Validity(min(begins), max(ends)) if authorities else Validity(max(begins), min(ends))


def presented_end(url: str, context: ssl.SSLContext) -> float:
    """The end of the certificate that a server presents, in seconds since 1970; of a server of
    NATS, which begins in clear, where the scheme is not ``mqtts``. Raises ``OSError``, also where
    it is not trusted, and ``ValueError``.
    """
    address = urlsplit(url)
    host, port = address.hostname or "", address.port or (8883 if _is_mqtt(url) else 4222)
    with socket.create_connection((host, port), timeout=TIMEOUT_SECONDS) as plain:
        if not _is_mqtt(url):
            _read_greeting(plain)
        with context.wrap_socket(plain, server_hostname=host) as secured:
            presented = secured.getpeercert() or {}
    if not isinstance(end := presented.get("notAfter"), str):
        raise ValueError(f"{url} presents no certificate")
    return float(ssl.cert_time_to_seconds(end))


def _is_mqtt(url: str) -> bool:
    return url.startswith("mqtts://")


def _read_greeting(plain: socket.socket) -> None:
    greeting = b""
    while not greeting.endswith(b"\r\n"):
        part = plain.recv(1)
        greeting += part
        if not part or len(greeting) > 65_536:
            raise ValueError("it does not greet as a server of NATS")


def left(ends: float, now: float) -> str | None:
    """What to report of a certificate that ends soon or has ended, or None. ``now``: seconds since
    1970.
    """
    day = f"{datetime.fromtimestamp(ends, UTC):%Y-%m-%d}"
    if now > ends:
        return f"it has expired on {day}"
    days = int((ends - now) // 86_400)
    if days >= WARNING_DAYS:
        return None
    when = "today" if days == 0 else "in 1 day" if days == 1 else f"in {days} days"
    return f"it ends {when}, on {day}"


def notice(file: str | None, now: float) -> str | None:
    """What to report of a certificate in a file, if there is one and it can be read."""
    if file is None:
        return None
    try:
        return left(read_validity(Path(file)).ends, now)
    except (OSError, ValueError):  # who uses it says so
        return None
