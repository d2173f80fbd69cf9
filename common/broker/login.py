"""Address, password and certificates for a broker.

Imports no MQTT client, so that a program that only reads a configuration does not load one.
"""

from __future__ import annotations

import os
import ssl
from datetime import UTC, datetime
from pathlib import Path
from typing import Protocol
from urllib.parse import urlsplit

from common.broker.certificates import read_validity
from common.errors import NovamasError

MAX_PASSWORD_BYTES = 65_535  # bytes (MQTT 5, 3.1.3.6)


class BrokerUnusableError(NovamasError):
    """A file that the connection needs cannot be read; the message names it."""


class Login(Protocol):
    """How to connect: the keys of ``[broker]`` in a configuration."""

    @property
    def url(self) -> str:
        """``mqtt://host:port`` or ``mqtts://host:port``. With several nodes, a client connects to
        the first (:func:`common.broker.address.addresses`).
        """

    @property
    def username(self) -> str | None:
        """The user name."""

    @property
    def password_file(self) -> str | None:
        """The file with the password."""

    @property
    def password_credential(self) -> str | None:
        """The systemd credential with the password."""

    @property
    def ca_file(self) -> str | None:
        """The trusted CAs; None for the system's."""

    @property
    def cert_file(self) -> str | None:
        """The client certificate."""

    @property
    def key_file(self) -> str | None:
        """Its private key."""


def password_path(login: Login) -> Path | None:
    """Return the file with the password, or None if no password is set.

    Raises :class:`BrokerUnusableError` if systemd does not pass the credential.
    """
    if login.password_file is not None:
        return Path(login.password_file)
    if login.password_credential is None:
        return None
    directory = os.environ.get("CREDENTIALS_DIRECTORY")
    if directory is None:
        raise BrokerUnusableError(
            f"broker.password_credential {login.password_credential!r}: no LoadCredential= "
            "in the unit"
        )
    return Path(directory, login.password_credential)


def password(login: Login) -> str | None:
    """Return the password. It is read for each connection, so it can change while the daemon runs.

    Raises :class:`BrokerUnusableError` if it cannot be read.
    """
    if (path := password_path(login)) is None:
        return None
    try:
        text = path.read_text(encoding="utf-8").rstrip("\r\n")
    except (OSError, UnicodeDecodeError) as error:
        raise BrokerUnusableError(
            f"the broker's password cannot be read from {path}: {_reason(error)}"
        ) from None
    if len(text.encode()) > MAX_PASSWORD_BYTES:
        raise BrokerUnusableError(
            f"the broker's password in {path} is longer than MQTT allows: is it the right file?"
        )
    return text


def tls(login: Login) -> ssl.SSLContext | None:
    """Return the TLS context for ``mqtts://``, or None for ``mqtt://``.

    Raises :class:`BrokerUnusableError` if a certificate or key cannot be read.
    """
    if urlsplit(login.url).scheme != "mqtts":
        return None
    return tls_context("broker", login.ca_file, login.cert_file, login.key_file)


def tls_context(
    section: str, ca_file: str | None, cert_file: str | None, key_file: str | None
) -> ssl.SSLContext:
    """Return the TLS context for the files that are set in ``[section]`` of the configuration.

    Raises :class:`BrokerUnusableError` if one of them cannot be read.
    """
    try:
        context = ssl.create_default_context(cafile=ca_file)
    except (OSError, ValueError) as error:
        raise BrokerUnusableError(f"{section}.ca_file {ca_file}: {_reason(error)}") from None
    if cert_file is not None:
        try:
            # an empty passphrase: OpenSSL would prompt for one on the terminal
            context.load_cert_chain(cert_file, key_file, password=lambda: b"")
        except (OSError, ValueError) as error:
            raise BrokerUnusableError(
                f"{section}.cert_file {cert_file}, key_file {key_file}: {_reason(error)}"
            ) from None
    return context


def _reason(error: Exception) -> str:
    return (error.strerror if isinstance(error, OSError) else None) or str(error)


def certificate_date_problem(certificate: str, now: float) -> str | None:
    """Return why the certificate in this file is not valid at ``now`` (seconds since 1970).

    None if it is valid, or if it cannot be read, which the connection reports.
    """
    try:
        validity = read_validity(Path(certificate))
    except (OSError, ValueError):
        return None
    if now > validity.ends:
        return f"{certificate} has expired on {datetime.fromtimestamp(validity.ends, UTC):%Y-%m-%d}"
    if now < validity.begins:
        begins = datetime.fromtimestamp(validity.begins, UTC)
        return f"{certificate} is valid only from {begins:%Y-%m-%d}"
    return None
