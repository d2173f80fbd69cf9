"""A plain webhook: each bookmark as a JSON object, signed, with a key that is the same when it is
sent again.

Headers and signature are those of Standard Webhooks 1.0: ``webhook-id``, ``webhook-timestamp`` and
``webhook-signature``, HMAC-SHA256 over ``id.timestamp.body``. A key that begins with ``whsec_`` is
base64 after that, any other is taken as it is. The id is also in ``Idempotency-Key``.

Source: github.com/standard-webhooks/standard-webhooks, spec/standard-webhooks.md.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import hmac

import msgspec

from subscribers.video.bookmarks import Bookmark, body
from subscribers.video.errors import AwayError
from subscribers.video.posting import post, secret
from subscribers.video.settings import BookmarkSettings

PREFIX = "whsec_"


class Webhook:
    """One address."""

    def __init__(self, settings: BookmarkSettings) -> None:
        self._settings = settings

    def send(self, mark: Bookmark, *, late: bool, now: float) -> None:
        """Raises :class:`AwayError` and :class:`RefusedError`."""
        camera = self._settings.cameras.get(mark.table)
        told = msgspec.json.encode(body(mark, camera, late=late))
        headers = {"webhook-id": mark.id, "Idempotency-Key": mark.id}
        held = secret(self._settings.secret_file)
        if held is not None:
            at = str(int(now))
            headers["webhook-timestamp"] = at
            headers["webhook-signature"] = signature(held, mark.id, at, told)
        post(self._settings.address, told, headers, self._settings.ca_file)

    def close(self) -> None:
        """End: nothing is held between two bookmarks."""


def signature(held: str, name: str, at: str, told: bytes) -> str:
    """The value of ``webhook-signature``. Raises :class:`AwayError` for a key that is not one."""
    try:
        key = (
            base64.b64decode(held.removeprefix(PREFIX), validate=True)
            if held.startswith(PREFIX)
            else held.encode()
        )
    except binascii.Error:
        raise AwayError(f"the key of the webhook begins with {PREFIX} and is no base64") from None
    digest = hmac.digest(key, b".".join([name.encode(), at.encode(), told]), hashlib.sha256)
    return f"v1,{base64.b64encode(digest).decode()}"
