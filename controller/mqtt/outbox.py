"""The journal's events on their way to the broker: in order, and none is left behind.

An event is sent by the thread that has committed it, or, in special cases, in the same turn of the
event loop in which its commit is reported. The cursor moves only past events that the broker has
acknowledged. Others are sent again, and consumers drop duplicates by (table, boot, seq).
"""

from __future__ import annotations

import contextlib
from collections import deque
from collections.abc import Callable, Iterable
from datetime import datetime
from functools import partial

import msgspec

from common import clock
from common.chain.schema import Entry, JournalUnusableError
from common.contract.node import BrokerConnection, OutboxHealth
from common.contract.notation import mark_historical
from common.log import structlog
from controller.journal.journal import PUBLISHER_CURSOR, Journal
from controller.mqtt.connection import PublisherConnection
from controller.mqtt.direct_events import DirectEvents
from controller.mqtt.outgoing import OutgoingMessage
from controller.mqtt.posting import MessagePoster
from controller.mqtt.tables_api import TablesApi
from controller.tables.stages import Stages

MAX_UNACKNOWLEDGED_EVENTS = 64
"""Maximum unacknowledged events. After an outage thousands may be due; retained topics are sent in
between, so that displays do not wait for the backlog.
"""
MAX_COUNTED_EVENTS = 1000
"""Maximum count of unsent events in the health."""


class _SentEvent(msgspec.Struct):
    """An event that awaits its acknowledgement."""

    position: int
    mono_ns: int
    acknowledged: bool = False
    """Or not to be published at all."""


class EventOutbox:
    """Sends the events after the cursor. ``wake`` is called when there is more to do than to send
    events.
    """

    def __init__(
        self,
        *,
        journal: Journal,
        api: TablesApi,
        poster: MessagePoster,
        health: BrokerConnection,
        stages: Stages,
        wake: Callable[[], None],
        url: str,
    ) -> None:
        self.position = journal.ask(lambda reader: reader.cursors().get(PUBLISHER_CURSOR, 0))
        """The position up to which every event is acknowledged, and none is known to have been
        dropped. The journal's cursor follows with a delay, which can only cause duplicates.
        """
        self.unreadable = False
        """True while the events cannot be read from the journal."""
        self._journal = journal
        self._api = api
        self._poster = poster
        self._health = health
        self._stages = stages
        self._wake = wake
        self._acknowledged = self.position
        """The position of the last acknowledged event."""
        self._last_acknowledged = 0.0
        """The monotonic time of the last acknowledgement, or since which events wait for one."""
        self._sent = self.position
        """The position of the last event sent on this connection."""
        self._unacknowledged: deque[_SentEvent] = deque()
        self._historical = 0
        """Events up to this position happened while there was no connection."""
        self._lost: dict[str, int] = {}
        """Former tables of this daemon, with the position of their last entry."""
        self._resuming: set[str] = set()
        """Topics whose events are sent again."""
        self._resent_through = 0
        """The position up to which only events of these topics are sent."""
        self._last_health = OutboxHealth(depth=0, oldest=None)
        """The last report, repeated while the journal cannot be read."""
        self.direct = DirectEvents(self._direct_message)
        """Sends events in the thread of the journal's writer."""
        self._log = structlog.get_logger().bind(broker=url)

    def health(self) -> OutboxHealth:
        """Return the outbox's part of the retained ``health``. Reads up to
        :data:`MAX_COUNTED_EVENTS` events.
        """
        try:
            unsent = self._journal.events_after(self.position, MAX_COUNTED_EVENTS)
        except JournalUnusableError:  # temporary, and reported elsewhere
            return self._last_health
        oldest = None if not unsent else round(max(0.0, self._age_seconds(unsent[0])), 3)
        self._last_health = OutboxHealth(depth=len(unsent), oldest=oldest)
        return self._last_health

    def _age_seconds(self, event: Entry) -> float:
        if event.boot == self._api.boot:
            return clock.mono_age_ns(event.mono_ns) / 1e9
        # mono_ns starts again with each run
        return clock.wall() - datetime.fromisoformat(event.time).timestamp()

    @property
    def unacknowledged_seconds(self) -> float:
        """Seconds for which the broker has acknowledged none of the pending events."""
        return clock.monotonic() - self._last_acknowledged if self._unacknowledged else 0.0

    def on_connected(self) -> None:
        """Forget what was to be sent again on the connection before."""
        self._resuming, self._resent_through = set(), 0

    def note_tables(self, *, gained: Iterable[str] = (), lost: Iterable[str] = ()) -> None:
        """Note the tables whose events another daemon publishes no longer, or from now on."""
        self.direct.close()
        for table in lost:
            self._lost[table] = self._journal.head()
        for table in gained:
            self._lost.pop(table, None)

    def begin(self, backlog: int) -> None:
        """Begin after the cursor. Events up to position ``backlog`` are marked historical."""
        self.direct.forget()
        self._historical = backlog
        self._sent = self._acknowledged = self.position
        self.unreadable = False
        self._unacknowledged.clear()

    def send(self) -> None:
        """Send the next events, as far as the window has room. Called after each commit and after
        acknowledgements.
        """
        connection = self._poster.connection
        if connection is None:
            return
        self.direct.close()
        is_all_sent = False
        try:
            limit = min(MAX_UNACKNOWLEDGED_EVENTS, connection.window)
            while (room := limit - len(self._unacknowledged)) > 0 and (
                events := self._next_events(room)
            ):
                for event in events:
                    self._send_event(connection, event)
                self._sent = events[-1].position
                self.advance()
            is_all_sent = room > 0
            self.unreadable = False
        except JournalUnusableError as error:
            # the journal checks the file for damage, and replaces it if necessary
            if not self.unreadable:
                self.unreadable = True
                self._log.error("events cannot be read", reason=str(error), position=self.position)
                self._wake()
        connection.flush()
        if is_all_sent:
            self.direct.open(connection, self._sent)

    def end(self) -> None:
        """Send nothing more on the present connection."""
        self.direct.forget()

    def _send_event(self, connection: PublisherConnection, event: Entry) -> None:
        sent = _SentEvent(event.position, event.mono_ns)
        if not self._unacknowledged:
            self._last_acknowledged = clock.monotonic()
        self._unacknowledged.append(sent)
        packet_id = self.direct.take(event.position)
        if packet_id is None and self._is_elsewhere(event):
            sent.acknowledged = True
            return
        message = self._message(event, historical=event.position <= self._historical)
        delivery = self._poster.delivery
        past = event.position <= self._resent_through and message.topic not in self._resuming
        if packet_id is None and (past or delivery.withholds(message.topic)):
            if not past:
                delivery.withhold(message.topic, event.position)
            sent.acknowledged = True
            return
        on_acknowledged = partial(self._note_event, message, sent)
        self._poster.post(connection, message, on_acknowledged, event.position, packet_id)

    def _direct_message(self, event: Entry) -> OutgoingMessage | None:
        """Return the message of an event that was just committed; None if it is a special case.
        Called in the thread of the journal's writer.
        """
        if event.kind != "event" or self._is_elsewhere(event):
            return None
        if event.position <= max(self._historical, self._resent_through):
            return None
        message = self._message(event, historical=False)
        return None if self._poster.delivery.withholds(message.topic) else message

    def resume(self, topic: str, first: int) -> None:
        """Send the events of a topic from the position ``first`` again: the broker delivers it."""
        self.direct.close()
        if self._sent >= self._resent_through:
            self._resuming.clear()
        self._resent_through = max(self._resent_through, self._sent)
        self._historical = max(self._historical, self._resent_through)
        self._resuming.add(topic)
        self._sent = min(self._sent, first - 1)
        self._log.info("delivery resumes", topic=topic, position=first)
        self._wake()

    def send_again(self, connection: PublisherConnection, position: int) -> None:
        """Post the event at this position again, to see whether the broker delivers it."""
        with contextlib.suppress(JournalUnusableError):  # the next retry will do
            for event in self._journal.events_after(position - 1, 1):
                message = self._message(event, historical=True)
                self._poster.post(connection, message, self._note_probe, event.position)

    def advance(self) -> None:
        """Move the cursor past all acknowledged events."""
        waiting, before = self._unacknowledged, self.position
        while waiting and waiting[0].acknowledged:
            self._acknowledged = max(self._acknowledged, waiting.popleft().position)
        self.position = max(before, self._poster.delivery.delivered_through(self._acknowledged))
        if self.position > before:
            self._journal.move_cursor(self.position)

    def _next_events(self, limit: int) -> list[Entry]:
        """Return the next events. If there are none, move past the inputs, so that they are not
        searched again.
        """
        head = self._journal.head()
        events = self._journal.events_after(self._sent, limit) if head > self._sent else []
        if not events:
            self._sent = max(self._sent, head)
            if not self._unacknowledged:
                self._acknowledged = max(self._acknowledged, head)
                self.position = max(
                    self.position, self._poster.delivery.delivered_through(self._acknowledged)
                )
        return events

    def _is_elsewhere(self, event: Entry) -> bool:
        """Return True if the event is from a time when another daemon had the table and published
        it.
        """
        if event.boot != self._api.boot or self._api.claims.has(event.table):
            return False
        return event.position > self._lost.get(event.table, 0)

    def _message(self, entry: Entry, *, historical: bool) -> OutgoingMessage:
        body = entry.body
        if entry.kind != "event":
            return OutgoingMessage(self._api.topic(entry.table, "sealed"), body)
        if historical:
            try:
                body = mark_historical(body)
            except ValueError as error:  # damaged: better published unmarked than not at all
                self._log.error(
                    "event not marked historical", position=entry.position, reason=str(error)
                )
        return OutgoingMessage(self._api.topic(entry.table, "event"), body)

    def _note_event(self, message: OutgoingMessage, sent: _SentEvent, refusal: str | None) -> None:
        """Handle the reply for an event."""
        self._poster.note_refusal(message, refusal)
        sent.acknowledged = True
        self._last_acknowledged = clock.monotonic()
        if sent.position > self._historical:
            self._stages.acknowledged.add(clock.mono_age_ns(sent.mono_ns))
        self._health.published += refusal is None
        self.advance()
        self._wake()

    def _note_probe(self, _refusal: str | None) -> None:
        self.advance()
        self._wake()
