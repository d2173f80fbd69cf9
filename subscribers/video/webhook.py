"""A plain webhook: each bookmark as a signed JSON object, with an idempotency key: its id, which is
also in ``Idempotency-Key``.
"""

from __future__ import annotations

import msgspec

from subscribers.video.bookmarks import Bookmark, json_body
from subscribers.video.settings import BookmarkSettings
from subscribers.webhooks.posting import post
from subscribers.webhooks.signature import read_keys, signature_headers


class Webhook:
    """One address."""

    def __init__(self, settings: BookmarkSettings) -> None:
        self._settings = settings

    def send(self, mark: Bookmark, *, late: bool, now: float) -> None:
        """Send a bookmark. Raises :class:`ReceiverAwayError` and :class:`RequestRefusedError`."""
        camera = self._settings.cameras.get(mark.table)
        payload = msgspec.json.encode(json_body(mark, camera, late=late))
        keys = read_keys(self._settings.secret_file)
        headers = {
            "Idempotency-Key": mark.id,
            **signature_headers(keys, mark.id, now, payload),
        }
        post(self._settings.address, payload, headers, self._settings.ca_file)

    def close(self) -> None:
        """Do nothing: no connection is kept open."""
