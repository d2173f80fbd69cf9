"""A plain webhook: each bookmark as a signed JSON object, with an idempotency key.

Headers and signature are those of Standard Webhooks 1.0: ``webhook-id``, ``webhook-timestamp`` and
``webhook-signature``, HMAC-SHA256 over ``id.timestamp.body``. A key that begins with ``whsec_`` is
base64 after the prefix, any other is used as it is. The id is also in ``Idempotency-Key``.

Source: github.com/standard-webhooks/standard-webhooks, spec/standard-webhooks.md.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import hmac

import msgspec

from subscribers.video.bookmarks import Bookmark, json_body
from subscribers.video.errors import ReceiverAwayError
from subscribers.video.posting import post, read_secret
from subscribers.video.settings import BookmarkSettings

BASE64_KEY_PREFIX = "whsec_"


class Webhook:
    """One address."""

    def __init__(self, settings: BookmarkSettings) -> None:
        self._settings = settings

    def send(self, mark: Bookmark, *, late: bool, now: float) -> None:
        """Send a bookmark. Raises :class:`ReceiverAwayError` and :class:`BookmarkRefusedError`."""
        camera = self._settings.cameras.get(mark.table)
        payload = msgspec.json.encode(json_body(mark, camera, late=late))
        headers = {"webhook-id": mark.id, "Idempotency-Key": mark.id}
        secret = read_secret(self._settings.secret_file)
        if secret is not None:
            timestamp = str(int(now))
            headers["webhook-timestamp"] = timestamp
            headers["webhook-signature"] = signature(secret, mark.id, timestamp, payload)
        post(self._settings.address, payload, headers, self._settings.ca_file)

    def close(self) -> None:
        """Do nothing: no connection is kept open."""


def signature(secret: str, name: str, timestamp: str, payload: bytes) -> str:
    """Return the value of ``webhook-signature``. Raises :class:`ReceiverAwayError` if the secret is
    not valid.
    """
    try:
        key = (
            base64.b64decode(secret.removeprefix(BASE64_KEY_PREFIX), validate=True)
            if secret.startswith(BASE64_KEY_PREFIX)
            else secret.encode()
        )
    except binascii.Error:
        raise ReceiverAwayError(
            f"the key of the webhook begins with {BASE64_KEY_PREFIX} and is not base64"
        ) from None
    digest = hmac.digest(
        key, b".".join([name.encode(), timestamp.encode(), payload]), hashlib.sha256
    )
    return f"v1,{base64.b64encode(digest).decode()}"
