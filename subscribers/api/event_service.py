"""Receives the events of all tables, and stores them in order in the log that streams read."""

from __future__ import annotations

import asyncio
import re
import sqlite3
from collections.abc import Mapping
from pathlib import Path

import msgspec

from common import clock, randomness
from common.contract.http_bodies import GAP_TYPE, StreamGap, StreamPosition
from common.contract.notation import mark_historical
from common.contract.topics import Topics
from common.log import structlog
from subscribers.api.event_log import NewEvent, StreamLog
from subscribers.api.settings import ApiSettings
from subscribers.feed.connection import ServiceConnection
from subscribers.feed.event_intake import EventIntake, PendingItem
from subscribers.feed.following import EventGap, FollowedEvent
from subscribers.feed.recall_key import RecallKey
from subscribers.feed.tables import BrokerLogin

TICK_SECONDS = 0.5
"""Interval for sending recalls and for writing what could not be written."""
UPKEEP_INTERVAL_SECONDS = 10.0
"""Interval for removing expired events and for copying the write-ahead log into the file."""
REFUSED_SECONDS, UNANSWERED_SECONDS = 60.0, 300.0
"""Time after which missing events that a daemon refuses to return, or about which it does not
answer, count as lost: a gap is stated, and later events are sent.
"""
LOG_FILE = "events.sqlite3"
_CLIENT = re.compile(r"[A-Za-z0-9_-]{1,64}\Z")


class EventService:
    """``topics``: those of each table. ``folder``: where the log is.

    Raises ``sqlite3.Error``, ``OSError`` and ``PrivateKeyError``.
    """

    def __init__(
        self,
        settings: ApiSettings,
        broker: BrokerLogin,
        topics: Mapping[str, Topics],
        folder: Path,
    ) -> None:
        self.topics = dict(topics)
        self.log = StreamLog(folder / LOG_FILE, max_events=settings.events, days=settings.days)
        self.trouble: str | None = None
        """Why events cannot be stored; None if they can."""
        user = broker.username or ""
        client = user if _CLIENT.fullmatch(user) else f"api-{randomness.token_urlsafe(9)}"
        sites = {each.site for each in topics.values()}
        site = next(iter(sites), "")
        signer = None
        if settings.recall_key is not None and settings.recall_passphrase is not None:
            key = RecallKey(Path(settings.recall_key), Path(settings.recall_passphrase))
            signer = key, settings.recall_person
        self._places = {f"{each.root}/{table}": table for table, each in topics.items()}
        self._connection = ServiceConnection(
            broker, [], None, self._on_message, lambda _: self._intake.on_link()
        )
        self._intake = EventIntake(
            site, self._connection, followed=self.log.followed(), client=client, signer=signer
        )
        for topic in self._intake.topics():
            self._connection.listen(topic)
        self._logged_unheard: dict[str, str] = {}
        self._logger = structlog.get_logger()

    @property
    def gaps(self) -> int:
        """Number of gaps that were noticed."""
        return self._intake.gaps

    def end(self) -> None:
        """Stop reconnecting: cancelling :meth:`run` is not enough (see ``ServiceConnection``)."""
        self._connection.end()

    async def run(self) -> None:
        """Receive until cancelled."""
        try:
            async with asyncio.TaskGroup() as group:
                group.create_task(self._connection.run())
                group.create_task(self._tick())
                group.create_task(self._keep_up())
        finally:
            self._connection.end()
            self.log.close()

    def _on_message(self, topic: str, body: bytes, retained: bool) -> None:
        place, _, leaf = topic.rpartition("/")
        if leaf not in ("event", "state"):
            place = place.rpartition("/")[0]  # <place>/reply/<client>
        if place in self._places:
            self._intake.on_message(topic, body, retained)
            self._store(body if leaf == "event" else None)

    def _store(self, live: bytes | None) -> None:
        """Store what comes next. ``live``: the body that has just come; others have waited."""
        pending = self._intake.pending
        if not pending:
            return
        items = [*pending]
        followed = {item.place: item.runs for item in items}
        live = live if self.trouble is None else None
        events = [
            self._new_gap(item, item.item)
            if isinstance(item.item, EventGap)
            else self._new_event(item, item.item, live)
            for item in items
            if item.item is not None
        ]
        try:
            self.log.append(events, followed.items(), clock.wall(), clock.monotonic())
        except sqlite3.Error as error:
            if self.trouble is None:
                self._logger.error("no stream: events cannot be stored", reason=str(error))
            self.trouble = str(error)
            self.log.wake_all()
            return
        self.trouble = None
        pending.clear()

    def _new_event(self, item: PendingItem, event: FollowedEvent, live: bytes | None) -> NewEvent:
        assert item.names is not None
        body = event.body if event.body is live else mark_historical(event.body)
        table = self._places[item.place]
        return NewEvent(table, event.at.boot, event.at.seq, item.names.type, body)

    def _new_gap(self, item: PendingItem, gap: EventGap) -> NewEvent:
        table = self._places[item.place]
        body = StreamGap(
            site=self.topics[table].site,
            table=table,
            time=item.noticed,
            why="not_recalled",
            after=StreamPosition(gap.after.boot, gap.after.seq),
            before=StreamPosition(gap.before.boot, gap.before.seq),
        )
        return NewEvent(table, gap.before.boot, gap.before.seq, GAP_TYPE, msgspec.json.encode(body))

    async def _tick(self) -> None:
        while True:
            self.tick()
            await clock.sleep(TICK_SECONDS)

    def tick(self) -> None:
        """Send what is due, and store what waits for too long or could not be stored."""
        now = clock.monotonic()
        self._intake.send_due(now)
        self._intake.give_up(now - REFUSED_SECONDS, now - UNANSWERED_SECONDS)
        self._store(None)
        self._report(now)

    def _report(self, now: float) -> None:
        """Log the tables whose missing events do not come."""
        unheard = self._intake.unheard(now)
        for table, reason in unheard.items():
            if self._logged_unheard.get(table) != reason:
                self._logger.warning(
                    "missing events are not recalled",
                    table=table,
                    reason=reason,
                    advice="the server's user at the broker needs the rights of an integrator "
                    "(novamas acl); where commands are signed, `recall_key` of [api]",
                )
        self._logged_unheard = unheard

    async def _keep_up(self) -> None:
        """Remove expired events, and copy the write-ahead log into the file."""
        while True:
            try:
                while self.log.prune(clock.wall()):
                    await clock.sleep(0)
                await asyncio.to_thread(self.log.checkpoint)
            except sqlite3.Error as error:
                self._logger.warning("the log of events is not tidied", reason=str(error))
            await clock.sleep(UPKEEP_INTERVAL_SECONDS)
