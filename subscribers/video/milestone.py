"""Milestone XProtect: generic events, one text each, over TCP or UDP.

A data source of the event server listens at a port (by default 1234 ``Compatible``, 1235
``International``) and matches the expressions of generic events against the received text. Events
are stamped on arrival, so the text contains the true time. The source may echo all bytes
(``Compatible``) or ``request,characters,matches,names`` (``International``), where texts are
separated by CR LF; without a separator each text needs its own connection. Over UDP there is no
confirmation of receipt.

Source: doc.developer.milestonesys.com, Generic Events; the properties of a data source in the
Management Client.
"""

from __future__ import annotations

import socket
from urllib.parse import urlsplit

from subscribers.video.bookmarks import Bookmark, encode_text, text_line
from subscribers.video.settings import BookmarkSettings
from subscribers.video.stream import TextConnection
from subscribers.webhooks.errors import ReceiverAwayError, RequestRefusedError


class Milestone:
    """One data source."""

    def __init__(self, settings: BookmarkSettings) -> None:
        address = urlsplit(settings.address)
        host, port = str(address.hostname), int(address.port or 0)
        self._settings, self._address = settings, (host, port)
        self._stream = (
            None if address.scheme == "udp" else TextConnection(settings.address, host, port)
        )

    def send(self, mark: Bookmark, *, late: bool, now: float) -> None:  # noqa: ARG002
        """Send a bookmark. Raises :class:`ReceiverAwayError` and :class:`RequestRefusedError`."""
        text = encode_text(text_line(mark, late=late), self._settings.encoding)
        if self._stream is None:
            self._datagram(text)
            return
        if self._settings.echo == "statistics":
            end = self._settings.newline.encode()
            self._stream.send(text + end)
            self._check_matches(self._stream.read_reply(end), text)
            return
        # without a separator the end of the connection ends a text
        self._stream.send(text)
        if self._settings.echo == "all":
            self._stream.read_reply(text)
        self._stream.close()

    def _datagram(self, text: bytes) -> None:
        try:
            family, kind, protocol, _, address = socket.getaddrinfo(
                *self._address, type=socket.SOCK_DGRAM
            )[0]
            with socket.socket(family, kind, protocol) as sender:
                sender.sendto(text, address)
        except OSError as error:
            raise ReceiverAwayError(
                f"{self._settings.address}: {error.strerror or error}; check that the name "
                "resolves and the network is up"
            ) from None

    def _check_matches(self, reply: bytes, text: bytes) -> None:
        """Check the reply: its third number is how many generic events matched."""
        fields = reply.decode(errors="replace").strip().split(",")
        if len(fields) < 3 or not fields[2].strip().isdigit():
            raise ReceiverAwayError(
                f"{self._settings.address}: replied {reply[:80]!r}; set the echo type of the "
                "data source to statistics, or change `echo`"
            )
        if int(fields[2]) == 0:
            raise RequestRefusedError(
                f"{self._settings.address}: no generic event matches {text[:60]!r}; define one "
                "there whose expression matches"
            )

    def close(self) -> None:
        """Close the connection."""
        if self._stream is not None:
            self._stream.close()
