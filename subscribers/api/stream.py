"""Server-Sent Events: the events of one table or of several, each once and in order.

A reader that connects again sends the last id that it has (``Last-Event-ID``) and gets what
followed it, marked historical, and then what happens. What the server no longer has is a gap that
it states.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Literal

import msgspec
from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from common import clock
from common.contract.http_bodies import (
    GAP_TYPE,
    EndReason,
    StreamEnd,
    StreamGap,
    StreamPosition,
)
from common.contract.times import format_utc
from common.contract.topics import Topics
from subscribers.api.event_log import LoggedEvent, StreamLog
from subscribers.api.frames import (
    RETRY,
    START,
    StreamFormat,
    frame,
    merged_id,
    parse_merged_id,
    parse_table_id,
)

BEAT_INTERVAL_SECONDS = 15.0
"""Time without a message after which a comment shows that the stream is alive. It is sent when the
streams are woken next.
"""
LATE_SECONDS = 5.0
"""Age from which an event that is sent counts as one that waited: it is marked historical, and a
reader that is so far behind is disconnected.
"""
STREAM_HEADERS = [
    (b"content-type", b"text/event-stream; charset=utf-8"),
    (b"cache-control", b"no-store"),
    (b"x-accel-buffering", b"no"),
]


class StreamFilter(msgspec.Struct, frozen=True):
    """What a stream has. ``topics``: those of every table that may be in it, by table; ``table``:
    the table of a stream of one; ``types``: types of events, empty for all.
    """

    topics: Mapping[str, Topics]
    table: str | None = None
    types: Collection[str] = ()

    def has(self, event: LoggedEvent) -> bool:
        """Return whether an event is in the stream. Gaps are, whatever the types."""
        return event.table in self.topics and (
            not self.types or event.type in self.types or event.type == GAP_TYPE
        )


class EventStream(Response):
    """One stream. ``last``: the id after which it begins; None: now. ``ended``: returns why it must
    end, or None. ``on_end`` is called at its end, with whether the reader was too slow.

    Someone must wake the streams of the log for their beats, and call :meth:`expire`: a timer for
    each message of each stream would cost as much as sending it.
    """

    def __init__(
        self,
        log: StreamLog,
        wanted: StreamFilter,
        form: StreamFormat,
        last: str | None,
        *,
        ended: Callable[[], EndReason | None],
        on_end: Callable[[EventStream, bool], None],
    ) -> None:
        super().__init__()
        self._log, self._wanted, self._form, self._last = log, wanted, form, last
        self._ended, self._on_end = ended, on_end
        self._began = log.head
        """The last event when the stream began: up to it, every event has waited."""
        self._passed: LoggedEvent | None = None
        """The last event, if the stream leaves it out: the next beat carries its id."""
        self._is_slow = False
        self._sending: asyncio.Task[None] | None = None
        self._blocked_since: float | None = None
        """Since when the reader has not taken what is sent, on the monotonic clock."""

    def expire(self, blocked_before: float) -> None:
        """End the stream if its reader has read nothing since then, on the monotonic clock."""
        if self._sending is not None and (self._blocked_since or blocked_before) < blocked_before:
            self._is_slow = True
            self._sending.cancel()

    async def __call__(self, _: Scope, receive: Receive, send: Send) -> None:
        """Send until the reader disconnects, or the stream must end."""
        leaving = asyncio.create_task(_until_disconnected(receive))
        sending = self._sending = asyncio.create_task(self._send(send))
        try:
            await asyncio.wait({leaving, sending}, return_when=asyncio.FIRST_COMPLETED)
        finally:
            for task in (leaving, sending):
                task.cancel()
            ended = await asyncio.gather(leaving, sending, return_exceptions=True)
            self._on_end(self, self._is_slow)
        if isinstance(ended[1], Exception) and not isinstance(ended[1], OSError):
            raise ended[1]

    async def _send(self, send: Send) -> None:
        await send({"type": "http.response.start", "status": 200, "headers": list(STREAM_HEADERS)})
        why = await self._follow(send, await self._begin(send))
        await self._body(send, b"event: end\ndata: %s\n\n" % msgspec.json.encode(StreamEnd(why)))
        await send({"type": "http.response.body", "body": b"", "more_body": False})

    async def _begin(self, send: Send) -> int:
        """Return the position after which to send. State a gap if the id is no longer known."""
        await self._body(send, RETRY)
        if self._last is None:
            return self._began
        if self._last == START:
            return 0
        position, gap = (
            await self._resume_table(self._wanted.table)
            if self._wanted.table is not None
            else await self._resume_merged()
        )
        if gap is not None:
            await self._body(send, b"event: gap\ndata: %s\n\n" % msgspec.json.encode(gap))
        return position

    async def _resume_merged(self) -> tuple[int, StreamGap | None]:
        position, after = parse_merged_id(self._last or "") or (0, None)
        if position == self._log.first - 1:
            return position, None
        if self._log.first <= position <= self._log.head and after is not None:
            if await self._log.is_at(position, after.boot, after.seq):
                return position, None
            return 0, await self._gap("unknown_id", after)
        return 0, await self._gap("expired" if position < self._log.first else "unknown_id", after)

    async def _resume_table(self, table: str) -> tuple[int, StreamGap | None]:
        after = parse_table_id(self._last or "")
        assert after is not None  # the route has checked it
        position = await self._log.position_of(table, after.boot, after.seq)
        if position is not None:
            return position, None
        first = await self._log.first_of(table)
        is_earlier = first is not None and first.boot == after.boot and first.seq > after.seq
        if is_earlier and first is not None and first.seq == after.seq + 1:
            return 0, None
        return 0, await self._gap("expired" if is_earlier else "unknown_id", after)

    async def _gap(
        self, why: Literal["expired", "unknown_id"], after: StreamPosition | None
    ) -> StreamGap:
        table, first = self._wanted.table, await self._log.first_of(self._wanted.table)
        return StreamGap(
            site=next(iter(self._wanted.topics.values())).site,
            table=table,
            time=format_utc(clock.wall()),
            why=why,
            after=after,
            before=None if first is None else StreamPosition(first.boot, first.seq),
        )

    async def _follow(self, send: Send, position: int) -> EndReason:
        """Send what follows a position, then what happens. Return why the stream must end."""
        is_live, sent = False, clock.monotonic()
        while (why := self._ended()) is None:
            head, events = self._log.head, self._log.latest(position)
            if events is None:
                events = await self._log.page(position, self._wanted.table)
                head = events[-1].position if events else head
            now = clock.monotonic()
            wanted = [event for event in events if self._wanted.has(event)]
            if is_live and wanted and self._is_late(wanted[0], now):
                self._is_slow = True
                return "slow"
            if wanted:
                await self._body(send, b"".join(self._frame(event, now) for event in wanted))
                self._passed, sent = None, now
            self._note_passed(events)
            position = head
            if position < self._log.head:
                continue
            is_live = True
            await self._log.wait(position, self._wanted.table)
            if clock.monotonic() >= sent + BEAT_INTERVAL_SECONDS:
                await self._body(send, self._beat())
                sent = clock.monotonic()
        return why

    def _is_late(self, event: LoggedEvent, now: float) -> bool:
        return event.arrived is None or now - event.arrived > LATE_SECONDS

    def _frame(self, event: LoggedEvent, now: float) -> bytes:
        return frame(
            event,
            self._wanted.topics[event.table],
            self._form,
            merged=self._wanted.table is None,
            late=event.position <= self._began or self._is_late(event, now),
        )

    def _note_passed(self, events: Sequence[LoggedEvent]) -> None:
        """Note the last event if the stream leaves it out, so that its id can be sent."""
        table = self._wanted.table
        own = [event for event in events if table in (None, event.table)]
        if own and not self._wanted.has(own[-1]):
            self._passed = own[-1]

    def _beat(self) -> bytes:
        passed, self._passed = self._passed, None
        if passed is None:
            return b": beat\n\n"
        merged = self._wanted.table is None
        number = merged_id(passed) if merged else f"{passed.boot}.{passed.seq}"
        return b": beat\nid: %s\n\n" % number.encode()

    async def _body(self, send: Send, data: bytes) -> None:
        self._blocked_since = clock.monotonic()
        await send({"type": "http.response.body", "body": data, "more_body": True})
        self._blocked_since = None


async def _until_disconnected(receive: Receive) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass
