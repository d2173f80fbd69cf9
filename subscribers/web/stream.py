"""Server-Sent Events: the pictures of some tables and jackpots, whenever one changes, and what
moves at the tables.

Simultaneous changes are sent together, and the last of them has an id. A browser that reconnects
sends the last id it received (``Last-Event-ID``) and gets only later changes. A beat every two
seconds shows that the server is alive, and carries its clock (``beat.py``); after six seconds
without one the browser draws nothing as current.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence

from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from common import clock
from subscribers.feed.floor import Floor, event_id
from subscribers.web.beat import beat
from subscribers.web.metrics import WebCounters
from subscribers.web.motion import Motions

BEAT_INTERVAL_SECONDS = 2.0
"""Interval between beats."""
RETRY_MILLISECONDS = 1000
"""Delay after which a browser reconnects."""
BATCH_DELAY_SECONDS = 0.02
"""Interval for checking for changes, so that simultaneous ones are sent together."""

STREAM_HEADERS = [
    (b"content-type", b"text/event-stream; charset=utf-8"),
    (b"cache-control", b"no-store"),
    (b"x-accel-buffering", b"no"),
]


class PictureStream:
    """The stream to one browser. ``picture``: returns the JSON of a table, as a line. ``after``:
    the last change that the browser has received. ``alive``: returns False once the server shuts
    down. ``send_timeout``: seconds for which the browser may read nothing before the stream ends.
    ``motions``: what moves at the tables; None for a page on which nothing does.
    """

    def __init__(
        self,
        floor: Floor,
        tables: Sequence[str],
        picture: Callable[[str], bytes],
        after: int,
        alive: Callable[[], bool],
        counts: WebCounters,
        send_timeout: float,
        motions: Motions | None = None,
    ) -> None:
        self._floor, self._tables, self._picture = floor, tables, picture
        self._after, self._alive, self._counts = after, alive, counts
        self._send_timeout = send_timeout
        self._motions = motions

    async def __call__(self, _: Scope, receive: Receive, send: Send) -> None:
        """Send until the browser disconnects or reads nothing for too long, or the server shuts
        down.
        """
        leaving = asyncio.create_task(_until_disconnected(receive))
        sending = asyncio.create_task(self._send(send))
        self._counts.streams += 1
        try:
            await asyncio.wait({leaving, sending}, return_when=asyncio.FIRST_COMPLETED)
        finally:
            self._counts.streams -= 1
            for task in (leaving, sending):
                task.cancel()
            ended = await asyncio.gather(leaving, sending, return_exceptions=True)
            if isinstance(ended[1], TimeoutError):
                self._counts.left_behind += 1
        if isinstance(ended[1], Exception) and not isinstance(ended[1], OSError):
            raise ended[1]

    async def _send(self, send: Send) -> None:
        await self._within(
            send({"type": "http.response.start", "status": 200, "headers": list(STREAM_HEADERS)})
        )
        await self._body(send, b"retry: %d\n\n" % RETRY_MILLISECONDS)
        now, beaten, moved = asyncio.get_running_loop().time, 0.0, clock.monotonic()
        while self._alive():
            reached = self._floor.change
            tables = self._floor.since(self._after, self._tables)
            for remaining, table in enumerate(tables, 1 - len(tables)):
                line = self._picture(table)
                kind = b"jackpot" if table in self._floor.meters else b"picture"
                number = b"" if remaining else b"id: %s\n" % event_id(self._floor, reached).encode()
                await self._body(send, b"event: %s\n%sdata: %s\n\n" % (kind, number, line))
                self._counts.pictures += 1
            self._after = reached
            if self._motions is not None and (lines := self._motions.since(moved, self._tables)):
                await self._body(
                    send, b"".join(b"event: motion\ndata: %s\n\n" % line for line in lines)
                )
                moved = clock.monotonic()
            if now() >= beaten + BEAT_INTERVAL_SECONDS:
                await self._body(send, b"event: beat\ndata: %s\n\n" % beat())
                beaten = now()
            await self._floor.wait(reached, beaten + BEAT_INTERVAL_SECONDS - now())
            await clock.sleep(BATCH_DELAY_SECONDS)
        await self._within(send({"type": "http.response.body", "body": b"", "more_body": False}))

    async def _body(self, send: Send, data: bytes) -> None:
        await self._within(send({"type": "http.response.body", "body": data, "more_body": True}))

    async def _within(self, sending: Awaitable[None]) -> None:
        async with asyncio.timeout(self._send_timeout):
            await sending


class StreamResponse(Response):
    """A response that is a stream of pictures."""

    def __init__(self, stream: PictureStream) -> None:
        super().__init__()
        self._stream = stream

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        await self._stream(scope, receive, send)


async def _until_disconnected(receive: Receive) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass
