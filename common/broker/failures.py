"""Explains to a person why the broker cannot be reached or refuses a client."""

from __future__ import annotations

import ssl
from urllib.parse import urlsplit

import aiomqtt
from paho.mqtt.reasoncodes import ReasonCode

from common import clock
from common.broker.address import addresses
from common.broker.login import BrokerUnusableError, Login, certificate_date_problem
from common.system_errors import describe_system_error

Disconnected = aiomqtt.MqttError
"""The broker is gone, refuses this client, or does not reply."""

_REFUSALS = frozenset(
    {0x86, 0x87, 0x8A, 0x8C}
)  # bad user name or password, not authorized, banned, bad method (MQTT 5, 3.2.2.2)
_WRONG_PROTOCOL = 0x84
_TAKEN_OVER = 0x8E
_EXPIRED, _NOT_YET_VALID = 10, 9  # X509_V_ERR_CERT_HAS_EXPIRED, X509_V_ERR_CERT_NOT_YET_VALID
_UNTRUSTED = frozenset({2, 18, 19, 20, 21})  # no issuer, or one that is not trusted
_TLS_ALERTS = {
    "CERTIFICATE_REQUIRED": "it requires a certificate; set cert_file and key_file",
    "CERTIFICATE_EXPIRED": "the client certificate has expired; renew it",
    "UNKNOWN_CA": "it does not trust the CA of the client certificate",
    "CERTIFICATE_REVOKED": "the client certificate is revoked",
}
"""Part of the name of a TLS alert -> its meaning."""
_WRONG_NAME = frozenset({62, 64})  # X509_V_ERR_HOSTNAME_MISMATCH, X509_V_ERR_IP_ADDRESS_MISMATCH


class SilentError(Disconnected):
    """The client ended the connection because the broker did not acknowledge a message."""


class EndedEarlyError(Disconnected):
    """The broker ended the connection before CONNACK; ``cause`` is the error, if known."""

    def __init__(self, cause: Exception | None) -> None:
        super().__init__("the broker ended the connection before it answered")
        self.cause = cause


def needs_operator(error: Exception) -> bool:
    """Return True if a person must change something before another attempt can succeed."""
    return (
        isinstance(error, BrokerUnusableError)
        or _reason_code(error) in _REFUSALS
        or is_taken_over(error)
    )


def is_taken_over(error: Exception) -> bool:
    """Return True if the broker ended the connection because another client connected with the same
    client id (MQTT 5, 3.14.2.1).
    """
    return _reason_code(error) == _TAKEN_OVER


def describe_error(error: Exception, login: Login) -> str:
    """Describe the error for a person. The text names the user but never the password."""
    if _reason_code(error) in _REFUSALS:
        return (
            f"{error}: the broker does not accept "
            f"{f'user {login.username!r}' if login.username else 'clients without a user name'}"
        )
    if is_taken_over(error):
        return f"{error}: another client uses this client id"
    if _reason_code(error) == _WRONG_PROTOCOL:
        return f"{error}: set broker.protocol to 3.1.1"
    description = _tls_problem(error, login) or describe_system_error(error) or type(error).__name__
    date_problem = (
        None
        if login.cert_file is None or isinstance(error, BrokerUnusableError)
        else certificate_date_problem(login.cert_file, clock.wall())
    )
    return (
        description
        if date_problem is None
        else f"{description}; the client certificate {date_problem}"
    )


def _tls_problem(error: Exception, login: Login) -> str | None:
    if urlsplit(login.url).scheme != "mqtts":
        return None
    if isinstance(error, EndedEarlyError):
        return describe_tls_end(error.cause, "the broker")
    # aiomqtt raises its own error in place of this one
    cause = error.__context__ if isinstance(error, Disconnected) else error
    host = urlsplit(addresses(login.url)[0]).hostname
    if problem := certificate_problem(cause, host, login.ca_file, "the broker", "url"):
        return problem
    if isinstance(cause, ssl.SSLError | ConnectionResetError | BrokenPipeError):
        return f"no TLS connection to {host}: {cause}: does this port speak TLS?"
    return None


def describe_tls_end(cause: BaseException | None, peer: str) -> str:
    """Describe why the other side ended a TLS connection; it may not accept this client's
    certificate.
    """
    alert = getattr(cause, "reason", None) or ""
    reasons = [reason for name, reason in _TLS_ALERTS.items() if name in alert]
    why = (
        reasons[0] if reasons else f"does it accept the client certificate? {alert or ''}".rstrip()
    )
    return f"{peer} ended the connection: {why}"


def certificate_problem(
    cause: BaseException | None, host: str | None, ca_file: str | None, peer: str, key: str
) -> str | None:
    """Describe what is wrong with the certificate of ``host``, or return None for another error.

    ``peer`` names the server in the text, ``key`` is the configuration key of its address.
    """
    if not isinstance(cause, ssl.SSLCertVerificationError):
        return None
    code = cause.verify_code
    if code == _EXPIRED:
        return f"the certificate of {host}, or of its CA, has expired: renew it at {peer}"
    if code == _NOT_YET_VALID:
        return f"the certificate of {host} is not valid yet: is the clock of this machine right?"
    if code in _UNTRUSTED:
        trusted = f"ca_file {ca_file}" if ca_file else "this system's CAs; set ca_file"
        return f"the certificate of {host} is not signed by a trusted CA: {trusted}"
    if code in _WRONG_NAME:
        return f"the certificate is of another host than {host}: correct {key}, or the certificate"
    return None


def _reason_code(error: Exception) -> int | None:
    rc = getattr(error, "rc", None)
    return rc.value if isinstance(rc, ReasonCode) else None
