"""Frigate: an event at its HTTP API; what comes late, as an export of the recording.

An event that is created there begins when the request comes, less the seconds that Frigate's own
configuration has for pictures before an event; it cannot be given another time. So a bookmark that
is late becomes an export of the recording around the true time, named with what happened.

Source: docs.frigate.video, HTTP API; ``POST /api/events/:camera/:label/create`` and ``POST
/api/export/:camera/start/:start/end/:end``.
"""

from __future__ import annotations

import math
from urllib.parse import quote

import msgspec

from controller.contract.times import moment
from subscribers.video.bookmarks import Bookmark, clean
from subscribers.video.errors import AwayError, RefusedError
from subscribers.video.posting import post, secret
from subscribers.video.settings import BookmarkSettings

SUB_LABEL, NAME = 100, 256
"""Characters that Frigate keeps of the label of an event, and of the name of an export."""
WRITTEN = 60.0
"""Seconds after which what a camera showed has been written. Before, it may answer that there is
no recording, and have one later.
"""


class Frigate:
    """One server of Frigate."""

    def __init__(self, settings: BookmarkSettings) -> None:
        self._settings = settings

    def send(self, mark: Bookmark, *, late: bool, now: float) -> None:
        """Raises :class:`AwayError` and :class:`RefusedError`."""
        path, told = request(mark, self._settings, late=late, now=now)
        token = secret(self._settings.secret_file)
        headers = {} if token is None else {"Authorization": f"Bearer {token}"}
        address = self._settings.address.rstrip("/") + path
        try:
            post(address, msgspec.json.encode(told), headers, self._settings.ca_file)
        except RefusedError as refused:
            if late and now < moment(mark.time) + self._settings.after + WRITTEN:
                raise AwayError(str(refused)) from None  # its recording is not written yet
            raise

    def close(self) -> None:
        """End: nothing is held between two bookmarks."""


def request(
    mark: Bookmark, settings: BookmarkSettings, *, late: bool, now: float
) -> tuple[str, dict[str, object]]:
    """The path and the body of the request for a bookmark that is sent at ``now``."""
    camera = quote(settings.cameras.get(mark.table, mark.table), safe="")
    told = clean(f"{mark.table} {mark.text}")
    if not late:
        label = mark.type.replace(".", "_")
        return f"/api/events/{camera}/{label}/create", {
            "sub_label": told[:SUB_LABEL],
            "duration": math.ceil(settings.after),
            "include_recording": True,
        }
    at = moment(mark.time)
    begin, end = math.floor(at - settings.before), math.ceil(at + settings.after)
    if begin < now < end:
        end = max(math.floor(now), begin + 1)  # what is not recorded yet cannot be exported
    return f"/api/export/{camera}/start/{begin}/end/{end}", {
        "playback": "realtime",
        "source": "recordings",
        "name": f"{mark.time} {mark.type} {told}"[:NAME],
    }
