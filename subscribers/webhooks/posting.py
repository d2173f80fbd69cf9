"""An HTTP POST request within limited time, and what its response means."""

from __future__ import annotations

import http.client
import socket
import ssl
import threading
from collections.abc import Mapping
from contextlib import suppress
from email.utils import parsedate_to_datetime
from urllib.parse import SplitResult, urlsplit

from common import clock
from subscribers.webhooks.errors import ReceiverAwayError, RequestRefusedError

REQUEST_TIMEOUT_SECONDS = 10.0
"""Timeout for connecting, and of each step of a request."""
RESPONSE_TIMEOUT_SECONDS = 20.0
"""Time for a whole request on its connection: a receiver that sends a byte now and then must not
hold it for longer.
"""
MAX_REPLY_BYTES = 200
"""Maximum number of bytes read from the body of a response."""
MAX_WAIT_SECONDS = 3600.0
"""Maximum time that a receiver may ask us to wait."""
PERMANENT_STATUSES = (400, 413, 415, 422)
"""Status codes after which the same request will be refused again."""
WHOLE_STATUSES = (401, 403, 404, 429, 502, 503, 504)
"""Status codes whose reason applies to every request."""
ADVICE = {
    401: "; check the secret",
    403: "; check the secret and what it allows",
    404: "; check the address",
}
REDIRECTED = "; redirects are not followed: set the address to which it leads"


def origin(address: str) -> str:
    """Return scheme, host and port of an address, without what may be a secret."""
    url = urlsplit(address)
    return f"{url.scheme}://{url.netloc.rpartition('@')[2]}"


def post(address: str, body: bytes, headers: Mapping[str, str], ca_file: str | None = None) -> None:
    """Send a request. Raises :class:`ReceiverAwayError`, and :class:`RequestRefusedError` if the
    same request would be refused again.
    """
    place = origin(address)
    try:
        status, asked, reply = _post(urlsplit(address), body, headers, ca_file)
    except (OSError, ValueError, http.client.HTTPException) as error:
        raise ReceiverAwayError(
            f"{place}: {_reason(error)}; check that it is running and listening"
        ) from None
    if 200 <= status < 300:
        return
    message = f"{place}: replied {status} {reply}".rstrip()
    if status in PERMANENT_STATUSES:
        raise RequestRefusedError(message)
    advice = REDIRECTED if 300 <= status < 400 else ADVICE.get(status, "")
    wait = None if asked is None else _wait_seconds(asked)
    everything = wait is not None or status in WHOLE_STATUSES or 300 <= status < 400
    raise ReceiverAwayError(message + advice, wait=wait, everything=everything)


def _post(
    url: SplitResult, body: bytes, headers: Mapping[str, str], ca_file: str | None
) -> tuple[int, str | None, str]:
    """Return the status, ``Retry-After`` and the beginning of the body."""
    host = str(url.hostname)
    connection: http.client.HTTPConnection
    if url.scheme == "https":
        context = ssl.create_default_context(cafile=ca_file)
        connection = http.client.HTTPSConnection(
            host, url.port, timeout=REQUEST_TIMEOUT_SECONDS, context=context
        )
    else:
        connection = http.client.HTTPConnection(host, url.port, timeout=REQUEST_TIMEOUT_SECONDS)
    path = f"{url.path or '/'}?{url.query}" if url.query else url.path or "/"
    late = threading.Event()
    timer = threading.Timer(RESPONSE_TIMEOUT_SECONDS, _end, (connection, late))
    timer.daemon = True
    try:
        connection.connect()
        timer.start()
        all_headers = {"Content-Type": "application/json", "Connection": "close", **headers}
        connection.request("POST", path, body, all_headers)
        response = connection.getresponse()
        text = _printable(response.read(MAX_REPLY_BYTES))
        if late.is_set():  # the end of the connection was taken for that of the response
            raise TimeoutError
        return response.status, response.getheader("Retry-After"), text
    except (OSError, http.client.HTTPException):
        if late.is_set():
            raise TimeoutError from None
        raise
    finally:
        timer.cancel()
        connection.close()


def _end(connection: http.client.HTTPConnection, late: threading.Event) -> None:
    late.set()
    with suppress(OSError):
        if connection.sock is not None:
            connection.sock.shutdown(socket.SHUT_RDWR)


def _reason(error: Exception) -> str:
    """Return a reason in our words: a library's text may quote the request."""
    match error:
        case TimeoutError():
            return "did not reply in time"
        case ssl.SSLCertVerificationError():
            return f"its certificate is not trusted: {error.verify_message}; set `ca_file`"
        case ssl.SSLError():
            return "TLS failed"
        case socket.gaierror():
            return "no such host"
        case OSError() if error.strerror:
            return error.strerror
        case http.client.RemoteDisconnected():
            return "closed the connection without a reply"
        case http.client.HTTPException():
            return "its reply is not HTTP"
        case ValueError():
            return "the address or a header cannot be sent"
    return type(error).__name__


def _wait_seconds(asked: str) -> float | None:
    """Return the seconds of a ``Retry-After``: a number, or a date."""
    try:
        seconds = float(asked) if asked.isdecimal() else _seconds_until(asked)
    except (ValueError, OverflowError):
        return None
    return min(max(seconds, 0.0), MAX_WAIT_SECONDS)


def _seconds_until(date: str) -> float:
    return parsedate_to_datetime(date).timestamp() - clock.wall()


def _printable(body: bytes) -> str:
    text = body.decode(errors="replace")
    return "".join(character if character.isprintable() else " " for character in text).strip()
