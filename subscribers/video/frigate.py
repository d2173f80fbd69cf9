"""Frigate: an event through its HTTP API, or an export of the recording if the bookmark is late.

An event created through the API begins when the request arrives, less the pre-capture seconds in
Frigate's own configuration; no other time can be given. So a late bookmark becomes an export of the
recording around its true time, with a descriptive name.

Source: docs.frigate.video, HTTP API; ``POST /api/events/:camera/:label/create`` and ``POST
/api/export/:camera/start/:start/end/:end``.
"""

from __future__ import annotations

import math
from urllib.parse import quote

import msgspec

from common.contract.times import parse_utc
from subscribers.video.bookmarks import Bookmark, clean
from subscribers.video.settings import BookmarkSettings
from subscribers.webhooks.errors import ReceiverAwayError, RequestRefusedError
from subscribers.webhooks.posting import post
from subscribers.webhooks.signature import read_secret

MAX_SUB_LABEL_CHARACTERS, MAX_EXPORT_NAME_CHARACTERS = 100, 256
"""Characters that Frigate stores of an event's sub-label and of an export's name."""
RECORDING_DELAY_SECONDS = 60.0
"""Time until a recording has been written. Before, the server may reply that there is
no recording.
"""


class Frigate:
    """One Frigate server."""

    def __init__(self, settings: BookmarkSettings) -> None:
        self._settings = settings

    def send(self, mark: Bookmark, *, late: bool, now: float) -> None:
        """Send a bookmark. Raises :class:`ReceiverAwayError` and :class:`RequestRefusedError`."""
        path, body = request(mark, self._settings, late=late, now=now)
        file = self._settings.secret_file
        headers = {} if file is None else {"Authorization": f"Bearer {read_secret(file)}"}
        address = self._settings.address.rstrip("/") + path
        try:
            post(address, msgspec.json.encode(body), headers, self._settings.ca_file)
        except RequestRefusedError as refused:
            if late and now < parse_utc(mark.time) + self._settings.after + RECORDING_DELAY_SECONDS:
                raise ReceiverAwayError(str(refused)) from None  # the recording is not written yet
            raise

    def close(self) -> None:
        """Do nothing: no connection is kept open."""


def request(
    mark: Bookmark, settings: BookmarkSettings, *, late: bool, now: float
) -> tuple[str, dict[str, object]]:
    """Return path and body of the request for a bookmark sent at ``now``."""
    camera = quote(settings.cameras.get(mark.table, mark.table), safe="")
    description = clean(f"{mark.table} {mark.text}")
    if not late:
        label = mark.type.replace(".", "_")
        return f"/api/events/{camera}/{label}/create", {
            "sub_label": description[:MAX_SUB_LABEL_CHARACTERS],
            "duration": math.ceil(settings.after),
            "include_recording": True,
        }
    at = parse_utc(mark.time)
    begin, end = math.floor(at - settings.before), math.ceil(at + settings.after)
    if begin < now < end:
        end = max(math.floor(now), begin + 1)  # future recordings cannot be exported
    return f"/api/export/{camera}/start/{begin}/end/{end}", {
        "playback": "realtime",
        "source": "recordings",
        "name": f"{mark.time} {mark.type} {description}"[:MAX_EXPORT_NAME_CHARACTERS],
    }
