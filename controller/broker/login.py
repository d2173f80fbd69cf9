"""What a client needs to connect to a broker: its password, its certificates, and the words for a
person when the broker cannot be reached or refuses it.
"""

from __future__ import annotations

import os
import ssl
import time
from datetime import UTC, datetime
from pathlib import Path
from typing import Protocol
from urllib.parse import urlsplit

import aiomqtt
from paho.mqtt.reasoncodes import ReasonCode

from controller.broker.address import addresses
from devices.errors import NovamasError

Disconnected = aiomqtt.MqttError
"""The broker is gone, refuses us, or does not answer."""

_REFUSALS = frozenset(
    {0x86, 0x87, 0x8A, 0x8C}
)  # bad user name or password, not authorized, banned, bad method (MQTT 5, 3.2.2.2)
LONGEST_PASSWORD = 65_535  # bytes (MQTT 5, 3.1.3.6)
_WRONG_PROTOCOL = 0x84
_TAKEN_OVER = 0x8E
_EXPIRED, _NOT_YET = 10, 9  # X509_V_ERR_CERT_HAS_EXPIRED, X509_V_ERR_CERT_NOT_YET_VALID
_UNTRUSTED = frozenset({2, 18, 19, 20, 21})  # no issuer, or one that is not trusted
_ALERTS = {
    "CERTIFICATE_REQUIRED": "it asks for a certificate; set cert_file and key_file",
    "CERTIFICATE_EXPIRED": "our certificate has expired; renew it",
    "UNKNOWN_CA": "it does not trust the CA of our certificate",
    "CERTIFICATE_REVOKED": "our certificate is revoked",
}
"""What the broker says in TLS: part of the alert's name -> what it means."""
_OTHER_NAME = frozenset({62, 64})  # X509_V_ERR_HOSTNAME_MISMATCH, X509_V_ERR_IP_ADDRESS_MISMATCH


class BrokerUnusableError(NovamasError):
    """A file that the connection needs cannot be read; the message names it."""


class SilentError(Disconnected):
    """We ended the connection: the broker did not acknowledge what it was told."""


class EndedEarlyError(Disconnected):
    """The broker ended the connection before it answered, because of ``cause`` if that is known."""

    def __init__(self, cause: Exception | None) -> None:
        super().__init__("the broker ended the connection before it answered")
        self.cause = cause


class Login(Protocol):
    """How to connect, as ``[broker]`` of the configuration has it."""

    @property
    def url(self) -> str:
        """``mqtt://host:port`` or ``mqtts://host:port``; of several nodes the first one is
        meant (:func:`controller.broker.address.addresses`).
        """

    @property
    def username(self) -> str | None:
        """The user name."""

    @property
    def password_file(self) -> str | None:
        """The file with the password."""

    @property
    def password_credential(self) -> str | None:
        """The credential of systemd with the password."""

    @property
    def ca_file(self) -> str | None:
        """Whom to trust; None: those that the system trusts."""

    @property
    def cert_file(self) -> str | None:
        """Our own certificate."""

    @property
    def key_file(self) -> str | None:
        """Its private key."""


def password_path(login: Login) -> Path | None:
    """The file with the password; None if there is no password. Raises
    :class:`BrokerUnusableError` if systemd does not pass the credential.
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
    """The password, read anew for each connection so that it can change while the daemon runs.

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
    if len(text.encode()) > LONGEST_PASSWORD:
        raise BrokerUnusableError(
            f"the broker's password in {path} is longer than MQTT allows: is it the right file?"
        )
    return text


def tls(login: Login) -> ssl.SSLContext | None:
    """The TLS context for ``mqtts://``; None for ``mqtt://``.

    Raises :class:`BrokerUnusableError` if a certificate or key cannot be read.
    """
    if urlsplit(login.url).scheme != "mqtts":
        return None
    return tls_context("broker", login.ca_file, login.cert_file, login.key_file)


def tls_context(
    section: str, ca_file: str | None, cert_file: str | None, key_file: str | None
) -> ssl.SSLContext:
    """With these files of a section of the configuration. Raises :class:`BrokerUnusableError` if
    one cannot be read.
    """
    try:
        context = ssl.create_default_context(cafile=ca_file)
    except (OSError, ValueError) as error:
        raise BrokerUnusableError(f"{section}.ca_file {ca_file}: {_reason(error)}") from None
    if cert_file is not None:
        try:
            # without a passphrase: the library would ask for one on the terminal, and wait
            context.load_cert_chain(cert_file, key_file, password=lambda: b"")
        except (OSError, ValueError) as error:
            raise BrokerUnusableError(
                f"{section}.cert_file {cert_file}, key_file {key_file}: {_reason(error)}"
            ) from None
    return context


def _reason(error: Exception) -> str:
    return (error.strerror if isinstance(error, OSError) else None) or str(error)


def refuses_us(error: Exception) -> bool:
    """Whether a person must change something before another attempt can succeed."""
    return isinstance(error, BrokerUnusableError) or _code(error) in _REFUSALS or taken_over(error)


def taken_over(error: Exception) -> bool:
    """Whether the broker disconnected us because another client connected with our client id
    (MQTT 5, 3.14.2.1).
    """
    return _code(error) == _TAKEN_OVER


def told(error: Exception, login: Login) -> str:
    """A description of the error for a person. It names the user but never the password."""
    if _code(error) in _REFUSALS:
        return (
            f"{error}: the broker does not accept "
            f"{f'user {login.username!r}' if login.username else 'us without a user name'}"
        )
    if taken_over(error):
        return f"{error}: another client has our client id"
    if _code(error) == _WRONG_PROTOCOL:
        return f"{error}: set broker.protocol to 3.1.1"
    words = _of_tls(error, login) or str(error) or type(error).__name__
    dated = (
        None
        if login.cert_file is None or isinstance(error, BrokerUnusableError)
        else out_of_date(login.cert_file, time.time())
    )
    return words if dated is None else f"{words}; our own certificate {dated}"


def _of_tls(error: Exception, login: Login) -> str | None:
    """What is wrong with the broker's certificate, or with how the broker took ours."""
    if urlsplit(login.url).scheme != "mqtts":
        return None
    if isinstance(error, EndedEarlyError):
        return ended(error.cause, "the broker")
    # the library raises its own error in place of this one
    cause = error.__context__ if isinstance(error, Disconnected) else error
    host = urlsplit(addresses(login.url)[0]).hostname
    if words := of_certificate(cause, host, login.ca_file, "the broker", "url"):
        return words
    if isinstance(cause, ssl.SSLError | ConnectionResetError | BrokenPipeError):
        return f"no TLS connection to {host}: {cause}: does this port speak TLS?"
    return None


def ended(cause: BaseException | None, peer: str) -> str:
    """That the other side of a TLS connection ended it, and why: it may not take our
    certificate.
    """
    alert = getattr(cause, "reason", None) or ""
    means = [words for name, words in _ALERTS.items() if name in alert]
    why = means[0] if means else f"does it accept our certificate? {alert or ''}".rstrip()
    return f"{peer} ended the connection: {why}"


def of_certificate(
    cause: BaseException | None, host: str | None, ca_file: str | None, peer: str, key: str
) -> str | None:
    """What is wrong with the certificate of ``host``; None: nothing that we know. ``key``: has its
    address in the configuration.
    """
    if not isinstance(cause, ssl.SSLCertVerificationError):
        return None
    code = cause.verify_code
    if code == _EXPIRED:
        return f"the certificate of {host}, or of its CA, has expired: renew it at {peer}"
    if code == _NOT_YET:
        return f"the certificate of {host} is not valid yet: is the clock of this machine right?"
    if code in _UNTRUSTED:
        trusted = f"ca_file {ca_file}" if ca_file else "this system's CAs; set ca_file"
        return f"the certificate of {host} is not signed by a CA that we trust: {trusted}"
    if code in _OTHER_NAME:
        return f"the certificate is of another host than {host}: correct {key}, or the certificate"
    return None


def out_of_date(certificate: str, now: float) -> str | None:
    """Why the certificate in this file cannot be used at the time ``now`` (seconds since 1970), or
    None: it can, or it cannot be read, which the connection tells.
    """
    from cryptography import x509  # costs a tenth of the daemon's start, and few have a certificate

    try:
        found = x509.load_pem_x509_certificate(Path(certificate).read_bytes())
    except (OSError, ValueError):
        return None
    today = datetime.fromtimestamp(now, UTC)
    if today > found.not_valid_after_utc:
        return f"{certificate} has expired on {found.not_valid_after_utc:%Y-%m-%d}"
    if today < found.not_valid_before_utc:
        return f"{certificate} is valid only from {found.not_valid_before_utc:%Y-%m-%d}"
    return None


def _code(error: Exception) -> int | None:
    rc = getattr(error, "rc", None)
    return rc.value if isinstance(rc, ReasonCode) else None
