"""Text insertion for points of sale, as recorders and encoders accept it: lines over TCP.

In its listening mode a recorder receives lines, shows each for a while over its camera's picture,
stores them with the recording and makes them searchable. It recognises the beginning and the end of
a text by separate lines, and wraps lines, often at forty characters. There is no reply: data
acknowledged by its TCP stack counts as received. The text appears over the picture at its arrival,
so it contains the true time.

Source: the chapters on point of sale in the manuals of Hikvision (universal protocol), Dahua, AVer
and Dedicated Micros, which agree on this.
"""

from __future__ import annotations

import textwrap
from urllib.parse import urlsplit

from subscribers.video.bookmarks import Bookmark, clean, encode_text
from subscribers.video.settings import BookmarkSettings
from subscribers.video.stream import TextConnection

LINE_WIDTH = 40
"""Number of characters of a line that every recorder shows."""


class PointOfSale:
    """One recorder."""

    def __init__(self, settings: BookmarkSettings) -> None:
        address = urlsplit(settings.address)
        self._settings = settings
        self._stream = TextConnection(
            settings.address, str(address.hostname), int(address.port or 0)
        )

    def send(self, mark: Bookmark, *, late: bool, now: float) -> None:  # noqa: ARG002
        """Send a bookmark. Raises :class:`ReceiverAwayError`."""
        self._stream.send(insertion_lines(mark, self._settings, late=late))

    def close(self) -> None:
        """Close the connection."""
        self._stream.close()


def insertion_lines(mark: Bookmark, settings: BookmarkSettings, *, late: bool) -> bytes:
    """Return the lines of a bookmark."""
    lines = [
        *([settings.begin] if settings.begin else []),
        f"{mark.table} {mark.session}/{mark.round} {mark.type}",
        f"{mark.time}{' late' if late else ''}",
        *textwrap.wrap(clean(mark.text), LINE_WIDTH),
        *([settings.end] if settings.end else []),
    ]
    return b"".join(encode_text(item + settings.newline, settings.encoding) for item in lines)
