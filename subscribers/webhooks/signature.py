"""Signatures of Standard Webhooks 1.0: HMAC-SHA256 over ``id.timestamp.body``, in the headers
``webhook-id``, ``webhook-timestamp`` and ``webhook-signature``.

A key that begins with ``whsec_`` is base64 after the prefix, any other is used as it is. A file has
one key a line, at most two: while keys are changed, each request is signed with both.

Source: github.com/standard-webhooks/standard-webhooks, spec/standard-webhooks.md.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import hmac
from pathlib import Path

from subscribers.webhooks.errors import ReceiverAwayError

BASE64_KEY_PREFIX = "whsec_"
MAX_KEYS = 2
"""Keys that are valid at the same time."""


def signature_headers(
    keys: tuple[str, ...], name: str, now: float, payload: bytes
) -> dict[str, str]:
    """Return the headers of a request, or none without a key. Raises :class:`ReceiverAwayError` if
    a key is not valid.
    """
    headers = {"webhook-id": name}
    if keys:
        timestamp = str(int(now))
        headers["webhook-timestamp"] = timestamp
        headers["webhook-signature"] = " ".join(
            signature(key, name, timestamp, payload) for key in keys
        )
    return headers


def signature(key: str, name: str, timestamp: str, payload: bytes) -> str:
    """Return one signature of ``webhook-signature``. Raises :class:`ReceiverAwayError` if the key
    is not valid.
    """
    try:
        secret = (
            base64.b64decode(key.removeprefix(BASE64_KEY_PREFIX), validate=True)
            if key.startswith(BASE64_KEY_PREFIX)
            else key.encode()
        )
    except binascii.Error:
        raise ReceiverAwayError(
            f"the key of the webhook begins with {BASE64_KEY_PREFIX} and is not base64"
        ) from None
    signed = b".".join([name.encode(), timestamp.encode(), payload])
    digest = hmac.digest(secret, signed, hashlib.sha256)
    return f"v1,{base64.b64encode(digest).decode()}"


def read_keys(path: str | None) -> tuple[str, ...]:
    """Read the keys, each time, so that they can be changed. Raises :class:`ReceiverAwayError`."""
    if path is None:
        return ()
    keys = tuple(filter(None, map(str.strip, read_secret(path).splitlines())))
    if not keys or len(keys) > MAX_KEYS:
        raise ReceiverAwayError(
            f"{path}: has {len(keys)} keys; write one a line, at most {MAX_KEYS}, the newest first"
        )
    return keys


def read_secret(path: str) -> str:
    """Read a secret from its file, each time, so that it can be changed. Raises
    :class:`ReceiverAwayError`.
    """
    try:
        return Path(path).read_text(encoding="utf-8").strip()
    except UnicodeError:
        raise ReceiverAwayError(f"{path}: the secret is not UTF-8 text") from None
    except OSError as error:
        reason = error.strerror or type(error).__name__
        raise ReceiverAwayError(f"{path}: the secret cannot be read: {reason}") from None
