"""Text insertion for points of sale, as recorders and encoders take it: lines over TCP.

A recorder in its listening mode takes lines, shows each for a while over the picture of its
camera, keeps them with the recording and searches them. It knows the beginning and the end of a
text by a line of its own, and wraps lines, often at forty characters. There is no answer: what its
machine has acknowledged counts as taken. The text stands over the picture of the moment in which
it comes, so it says the true time.

Source: the chapters on point of sale in the manuals of Hikvision (universal protocol), Dahua, AVer
and Dedicated Micros, which agree in this.
"""

from __future__ import annotations

import textwrap
from urllib.parse import urlsplit

from subscribers.video.bookmarks import Bookmark, clean, encoded
from subscribers.video.settings import BookmarkSettings
from subscribers.video.stream import Stream

WIDTH = 40
"""Characters of a line that every recorder shows."""


class PointOfSale:
    """One recorder."""

    def __init__(self, settings: BookmarkSettings) -> None:
        address = urlsplit(settings.address)
        self._settings = settings
        self._stream = Stream(settings.address, str(address.hostname), int(address.port or 0))

    def send(self, mark: Bookmark, *, late: bool, now: float) -> None:  # noqa: ARG002
        """Raises :class:`AwayError`."""
        self._stream.send(written(mark, self._settings, late=late))

    def close(self) -> None:
        """End."""
        self._stream.close()


def written(mark: Bookmark, settings: BookmarkSettings, *, late: bool) -> bytes:
    """The lines of a bookmark."""
    lines = [
        *([settings.begin] if settings.begin else []),
        f"{mark.table} {mark.session}/{mark.round} {mark.type}",
        f"{mark.time}{' late' if late else ''}",
        *textwrap.wrap(clean(mark.text), WIDTH),
        *([settings.end] if settings.end else []),
    ]
    return b"".join(encoded(each + settings.newline, settings.encoding) for each in lines)
