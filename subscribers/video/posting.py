"""One request of HTTP, and what its answer means for a bookmark."""

from __future__ import annotations

import http.client
import ssl
from collections.abc import Mapping
from pathlib import Path
from urllib.parse import urlsplit

from subscribers.video.errors import AwayError, RefusedError

PATIENCE = 10.0
"""Seconds for each step of a request."""
MOST = 200
"""Bytes of an answer that are read."""
NEVER = (400, 413, 415, 422)
"""Answers after which the same request will not be taken either."""
ADVICE = {
    401: "; check the secret",
    403: "; check the secret and what it allows",
    404: "; check the address and the camera",
}


def post(address: str, body: bytes, headers: Mapping[str, str], ca_file: str | None = None) -> None:
    """Raises :class:`AwayError`, and :class:`RefusedError` where the same request would be refused
    again.
    """
    try:
        status, said = _post(address, body, headers, ca_file)
    except (OSError, http.client.HTTPException) as error:
        why = getattr(error, "strerror", None) or str(error) or type(error).__name__
        raise AwayError(f"{address}: {why}; see that it runs and listens") from None
    if 200 <= status < 300:
        return
    told = f"{address}: answered {status} {said}".rstrip()
    if status in NEVER:
        raise RefusedError(told)
    raise AwayError(told + ADVICE.get(status, ""))


def _post(
    address: str, body: bytes, headers: Mapping[str, str], ca_file: str | None
) -> tuple[int, str]:
    at = urlsplit(address)
    host = str(at.hostname)
    connection: http.client.HTTPConnection
    if at.scheme == "https":
        context = ssl.create_default_context(cafile=ca_file)
        connection = http.client.HTTPSConnection(host, at.port, timeout=PATIENCE, context=context)
    else:
        connection = http.client.HTTPConnection(host, at.port, timeout=PATIENCE)
    path = at.path or "/"
    try:
        given = {"Content-Type": "application/json", "Connection": "close", **headers}
        connection.request("POST", f"{path}?{at.query}" if at.query else path, body, given)
        response = connection.getresponse()
        return response.status, _plain(response.read(MOST))
    finally:
        connection.close()


def _plain(said: bytes) -> str:
    told = said.decode(errors="replace")
    return "".join(each if each.isprintable() else " " for each in told).strip()


def secret(path: str | None) -> str | None:
    """What a file of a secret holds, read anew each time so that it may be changed. Raises
    :class:`AwayError`.
    """
    if path is None:
        return None
    try:
        return Path(path).read_text(encoding="utf-8").strip()
    except (OSError, UnicodeError) as error:
        why = getattr(error, "strerror", None) or str(error)
        raise AwayError(f"{path}: the secret cannot be read: {why}") from None
