"""Signatures of Standard Webhooks 1.0: HMAC-SHA256 over ``id.timestamp.body``, in the headers
``webhook-id``, ``webhook-timestamp`` and ``webhook-signature``.

Source: github.com/standard-webhooks/standard-webhooks, spec/standard-webhooks.md.
"""

from __future__ import annotations

import base64
import hashlib
import hmac
from pathlib import Path

from common.webhook_keys import WebhookKeyError, parse_webhook_keys
from subscribers.webhooks.errors import ReceiverAwayError


def signature_headers(
    keys: tuple[bytes, ...], name: str, now: float, payload: bytes
) -> dict[str, str]:
    """Return the headers of a request, without a signature if there is no key."""
    headers = {"webhook-id": name}
    if keys:
        timestamp = str(int(now))
        headers["webhook-timestamp"] = timestamp
        headers["webhook-signature"] = " ".join(
            signature(key, name, timestamp, payload) for key in keys
        )
    return headers


def signature(key: bytes, name: str, timestamp: str, payload: bytes) -> str:
    """Return one signature of ``webhook-signature``."""
    signed = b".".join([name.encode(), timestamp.encode(), payload])
    digest = hmac.digest(key, signed, hashlib.sha256)
    return f"v1,{base64.b64encode(digest).decode()}"


def read_keys(path: str | None) -> tuple[bytes, ...]:
    """Read the keys, each time, so that they can be changed. Raises :class:`ReceiverAwayError`."""
    if path is None:
        return ()
    try:
        return parse_webhook_keys(read_secret(path))
    except WebhookKeyError as error:
        raise ReceiverAwayError(f"{path}: {error}") from None


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
