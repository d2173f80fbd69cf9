"""An HTTP POST request, and what its response means for a bookmark."""

from __future__ import annotations

import http.client
import ssl
from collections.abc import Mapping
from pathlib import Path
from urllib.parse import urlsplit

from subscribers.video.errors import BookmarkRefusedError, ReceiverAwayError

REQUEST_TIMEOUT_SECONDS = 10.0
"""Timeout of each step of a request."""
MAX_REPLY_BYTES = 200
"""Maximum number of bytes read from a response."""
PERMANENT_STATUSES = (400, 413, 415, 422)
"""Status codes after which the same request will be refused again."""
ADVICE = {
    401: "; check the secret",
    403: "; check the secret and what it allows",
    404: "; check the address and the camera",
}


def post(address: str, body: bytes, headers: Mapping[str, str], ca_file: str | None = None) -> None:
    """Send a request. Raises :class:`ReceiverAwayError`, and :class:`BookmarkRefusedError` if the
    same request would be refused again.
    """
    try:
        status, reply = _post(address, body, headers, ca_file)
    except (OSError, http.client.HTTPException) as error:
        reason = getattr(error, "strerror", None) or str(error) or type(error).__name__
        raise ReceiverAwayError(
            f"{address}: {reason}; check that it is running and listening"
        ) from None
    if 200 <= status < 300:
        return
    message = f"{address}: replied {status} {reply}".rstrip()
    if status in PERMANENT_STATUSES:
        raise BookmarkRefusedError(message)
    raise ReceiverAwayError(message + ADVICE.get(status, ""))


def _post(
    address: str, body: bytes, headers: Mapping[str, str], ca_file: str | None
) -> tuple[int, str]:
    url = urlsplit(address)
    host = str(url.hostname)
    connection: http.client.HTTPConnection
    if url.scheme == "https":
        context = ssl.create_default_context(cafile=ca_file)
        connection = http.client.HTTPSConnection(
            host, url.port, timeout=REQUEST_TIMEOUT_SECONDS, context=context
        )
    else:
        connection = http.client.HTTPConnection(host, url.port, timeout=REQUEST_TIMEOUT_SECONDS)
    path = url.path or "/"
    try:
        all_headers = {"Content-Type": "application/json", "Connection": "close", **headers}
        connection.request("POST", f"{path}?{url.query}" if url.query else path, body, all_headers)
        response = connection.getresponse()
        return response.status, _printable(response.read(MAX_REPLY_BYTES))
    finally:
        connection.close()


def _printable(body: bytes) -> str:
    text = body.decode(errors="replace")
    return "".join(character if character.isprintable() else " " for character in text).strip()


def read_secret(path: str | None) -> str | None:
    """Read a secret from its file, each time, so that it can be changed. Raises
    :class:`ReceiverAwayError`.
    """
    if path is None:
        return None
    try:
        return Path(path).read_text(encoding="utf-8").strip()
    except (OSError, UnicodeError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        raise ReceiverAwayError(f"{path}: the secret cannot be read: {reason}") from None
