"""Milestone XProtect: generic events, one text each, over TCP or UDP.

A data source of the event server listens at a port (by default 1234 ``Compatible``, 1235
``International``), and the expressions of generic events are looked for in what comes. Events get
the time at which they come: the text has the true one. The source may answer all bytes
(``Compatible``) or ``request,characters,matches,names`` (``International``), where texts are
separated by CR LF; without a separator each has a connection of its own. Over UDP nothing says that
a text came.

Source: doc.developer.milestonesys.com, Generic Events; the properties of a data source in the
Management Client.
"""

from __future__ import annotations

import socket
from urllib.parse import urlsplit

from subscribers.video.bookmarks import Bookmark, encoded, line
from subscribers.video.errors import AwayError, RefusedError
from subscribers.video.settings import BookmarkSettings
from subscribers.video.stream import Stream


class Milestone:
    """One data source."""

    def __init__(self, settings: BookmarkSettings) -> None:
        address = urlsplit(settings.address)
        host, port = str(address.hostname), int(address.port or 0)
        self._settings, self._to = settings, (host, port)
        self._stream = None if address.scheme == "udp" else Stream(settings.address, host, port)

    def send(self, mark: Bookmark, *, late: bool, now: float) -> None:  # noqa: ARG002
        """Raises :class:`AwayError` and :class:`RefusedError`."""
        told = encoded(line(mark, late=late), self._settings.encoding)
        if self._stream is None:
            self._datagram(told)
            return
        if self._settings.echo == "statistics":
            end = self._settings.newline.encode()
            self._stream.send(told + end)
            self._judge(self._stream.answer(end), told)
            return
        # without a separator a text ends with its connection
        self._stream.send(told)
        if self._settings.echo == "all":
            self._stream.answer(told)
        self._stream.close()

    def _datagram(self, told: bytes) -> None:
        try:
            family, kind, protocol, _, to = socket.getaddrinfo(*self._to, type=socket.SOCK_DGRAM)[0]
            with socket.socket(family, kind, protocol) as sender:
                sender.sendto(told, to)
        except OSError as error:
            raise AwayError(
                f"{self._settings.address}: {error.strerror or error}; see that the name is known "
                "and the network is there"
            ) from None

    def _judge(self, answer: bytes, told: bytes) -> None:
        """The third number is how many generic events matched."""
        words = answer.decode(errors="replace").strip().split(",")
        if len(words) < 3 or not words[2].strip().isdigit():
            raise AwayError(
                f"{self._settings.address}: answered {answer[:80]!r}; set the echo type of the "
                "data source to statistics, or change `echo`"
            )
        if int(words[2]) == 0:
            raise RefusedError(
                f"{self._settings.address}: no generic event matches {told[:60]!r}; define one "
                "there whose expression does"
            )

    def close(self) -> None:
        """End."""
        if self._stream is not None:
            self._stream.close()
