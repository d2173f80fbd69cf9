"""The words for a person when a broker cannot be reached or refuses a client."""

from __future__ import annotations

import ssl
import time
from urllib.parse import urlsplit

import aiomqtt
from paho.mqtt.reasoncodes import ReasonCode

from controller.broker.address import addresses
from controller.broker.login import BrokerUnusableError, Login, out_of_date

Disconnected = aiomqtt.MqttError
"""The broker is gone, refuses us, or does not answer."""

_REFUSALS = frozenset(
    {0x86, 0x87, 0x8A, 0x8C}
)  # bad user name or password, not authorized, banned, bad method (MQTT 5, 3.2.2.2)
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


class SilentError(Disconnected):
    """We ended the connection: the broker did not acknowledge what it was told."""


class EndedEarlyError(Disconnected):
    """The broker ended the connection before it answered, because of ``cause`` if that is known."""

    def __init__(self, cause: Exception | None) -> None:
        super().__init__("the broker ended the connection before it answered")
        self.cause = cause


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


def _code(error: Exception) -> int | None:
    rc = getattr(error, "rc", None)
    return rc.value if isinstance(rc, ReasonCode) else None
