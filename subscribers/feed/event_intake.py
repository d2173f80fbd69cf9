"""The events of all tables of a site, in order, as they come and by recalls. Without I/O but the
connection that the caller gives.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Mapping
from typing import NamedTuple

import msgspec

from common import clock, randomness
from common.contract.times import format_utc
from common.contract.topics import Topics
from common.log import structlog
from subscribers.feed.cloud_events import CloudEventNames, cloud_event_headers, event_id
from subscribers.feed.connection import ServiceConnection
from subscribers.feed.following import (
    EventGap,
    EventRecall,
    Followed,
    FollowedEvent,
    FollowedRuns,
    RunPosition,
    TableFollower,
)
from subscribers.feed.pending_recall import PendingRecall, record_attempt
from subscribers.feed.recall_key import RecallKey, send_recall

GAP_DELAY_SECONDS = 0.5
"""Delay before a recall: a message that was overtaken arrives by itself."""
MAX_FRUITLESS_DELAY_SECONDS = 60.0
"""Maximum delay before the next recall if the last one returned nothing."""
UNHEARD_SECONDS = 30.0
"""Time without an answer after which a table is reported."""
MAX_TABLES = 10_000
MAX_PENDING = 20_000
"""Maximum number of events that wait for the disk; later ones are recalled."""
BAD_MESSAGE_LOG_INTERVAL_SECONDS = 60.0


class PendingItem(NamedTuple):
    """Something to store: an event or gap (None: only how far its table was followed).
    ``noticed``: when a gap was noticed: UTC, ISO 8601.
    """

    place: str
    item: Followed | None
    runs: FollowedRuns
    names: CloudEventNames | None = None
    noticed: str = ""


class _EventNames(msgspec.Struct, frozen=True):
    """The fields of an event that are used here."""

    site: str
    table: str
    boot: str
    seq: int
    type: str
    time: str


class _Newest(msgspec.Struct, frozen=True):
    boot: str
    seq: int


class _IntakeReply(msgspec.Struct, frozen=True):
    id: object
    ok: bool
    error: str | None = None
    events: tuple[msgspec.Raw, ...] = ()


_event = msgspec.json.Decoder(_EventNames)
_newest = msgspec.json.Decoder(_Newest)
_reply = msgspec.json.Decoder(_IntakeReply)


class FollowedTable:
    """A table. ``place``: the root of its topics."""

    def __init__(self, table: str, place: str, runs: FollowedRuns | None) -> None:
        self.id, self.place = table, place
        self.follower = TableFollower(runs)
        self.stored = runs
        """How far it was followed, as far as handed over for storing."""
        self.recall: PendingRecall[EventRecall] | None = None
        self.due: float | None = None
        """When to recall, on the monotonic clock; None: nothing is missing."""
        self.fruitless = 0
        """Recalls in a row that returned nothing."""
        self.missing_since: float | None = None
        self.trouble: str | None = None
        """Why the last recall was refused."""


class BadEventError(Exception):
    """A message is not what the contract says. The message says why."""


class EventIntake:
    """``followed``: how far tables were followed before, by the root of their topics; ``client``:
    under whose name recalls are answered; ``signer``: who signs them, or None.
    """

    def __init__(
        self,
        site: str,
        connection: ServiceConnection,
        *,
        followed: Mapping[str, bytes],
        client: str,
        signer: tuple[RecallKey, str] | None,
    ) -> None:
        self._site, self._connection = site, connection
        self._client, self._signer = client, signer
        self._roots = tuple(Topics(site, simulated).root for simulated in (False, True))
        self._followed = dict(followed)
        self.tables: dict[str, FollowedTable] = {}
        self.pending: deque[PendingItem] = deque()
        self.gaps = self.bad = 0
        self._bad_logged_at = -BAD_MESSAGE_LOG_INTERVAL_SECONDS
        self._log = structlog.get_logger()

    def topics(self) -> Iterable[str]:
        """Return the topics to subscribe to."""
        leaves = ("event", "state", f"reply/{self._client}")
        return (f"{root}/+/{leaf}" for root in self._roots for leaf in leaves)

    def on_link(self) -> None:
        """Handle a change of the connection: recalls of before get no reply."""
        for table in self.tables.values():
            table.recall = None

    def on_message(self, topic: str, body: bytes, retained: bool) -> None:
        """Handle a message."""
        root = next((each for each in self._roots if topic.startswith(f"{each}/")), "")
        name, _, leaf = topic[len(root) + 1 :].partition("/")
        if not body or not root:
            return  # the topic was cleared
        try:
            table = self._table(name, f"{root}/{name}")
            self._dispatch(table, leaf, body, retained)
        except (ValueError, RecursionError, BadEventError) as error:
            why = str(error) if isinstance(error, BadEventError) else "not what the contract says"
            self._on_bad(topic, why)

    def _table(self, name: str, place: str) -> FollowedTable:
        table = self.tables.get(place)
        if table is None:
            if len(self.tables) >= MAX_TABLES:
                raise BadEventError(f"more than {MAX_TABLES} tables")
            stored = self._followed.get(place)
            runs = None if stored is None else msgspec.json.decode(stored, type=FollowedRuns)
            table = self.tables[place] = FollowedTable(name, place, runs)
        return table

    def _dispatch(self, table: FollowedTable, leaf: str, body: bytes, retained: bool) -> None:
        if leaf == "state":
            newest = _newest.decode(body)
            if newest.seq < 0:
                raise BadEventError("seq is negative")
            table.follower.on_state(newest.boot, newest.seq)
        elif leaf == "event":
            if retained:
                raise BadEventError("an event is never retained")
            if len(self.pending) < MAX_PENDING:  # else recalled once there is room
                self._put(table, table.follower.on_event(self._read(table, body)))
        else:
            self._on_reply(table, body)
        self._note(table)

    def _read(self, table: FollowedTable, body: bytes) -> FollowedEvent:
        names = _event.decode(body)
        if (names.site, names.table) != (self._site, table.id) or names.seq < 1:
            raise BadEventError("it is not an event of its topic's table")
        self._names(table, names)
        return FollowedEvent(RunPosition(names.boot, names.seq), body)

    def _names(self, table: FollowedTable, event: _EventNames) -> CloudEventNames:
        names = CloudEventNames(
            event_id(event.site, event.table, event.boot, event.seq),
            table.place,
            event.type,
            event.time,
        )
        cloud_event_headers(names)
        return names

    def _on_reply(self, table: FollowedTable, body: bytes) -> None:
        reply = _reply.decode(body)
        recall = None if table.recall is None else table.recall.subject_of(reply.id)
        if recall is None:
            return
        table.recall = None
        table.fruitless += 1
        delay = min(MAX_FRUITLESS_DELAY_SECONDS, 2.0 ** min(table.fruitless, 10) / 2)
        table.due = clock.monotonic() + delay
        table.trouble = "the reply to the recall cannot be read"
        if not reply.ok:
            table.trouble = reply.error or "it refuses the recall and does not say why"
            return
        events = [self._read(table, bytes(event)) for event in reply.events]
        table.trouble = None
        if self._put(table, table.follower.on_reply(recall, events)):
            table.fruitless, table.due = 0, clock.monotonic()

    def _put(self, table: FollowedTable, followed: Iterable[Followed]) -> int:
        """Queue what comes next for the disk. Return how much."""
        count = 0
        for item in followed:
            runs = table.follower.runs
            assert runs is not None
            count += 1
            table.stored = runs
            if isinstance(item, EventGap):
                self.gaps += 1
                self._log.warning(
                    "events may be missing",
                    table=table.id,
                    after=f"{item.after.boot}/{item.after.seq}",
                    before=f"{item.before.boot}/{item.before.seq}",
                )
                noticed = format_utc(clock.wall())
                self.pending.append(PendingItem(table.place, item, runs, noticed=noticed))
            else:
                names = self._names(table, _event.decode(item.body))
                self.pending.append(PendingItem(table.place, item, runs, names))
        return count

    def _note(self, table: FollowedTable) -> None:
        """Note whether something is missing, and since when; store where a table begins."""
        runs = table.follower.runs
        if runs is not None and table.stored is None:
            table.stored = runs
            self.pending.append(PendingItem(table.place, None, runs))
        now = clock.monotonic()
        if not table.follower.is_missing:
            table.due = table.missing_since = None
            table.fruitless, table.trouble = 0, None
        else:
            if table.due is None:
                table.due = now + GAP_DELAY_SECONDS
            if table.missing_since is None:
                table.missing_since = now

    def send_due(self, now: float) -> None:
        """Send the recalls that are due. ``now``: monotonic time."""
        if not self._connection.up or len(self.pending) >= MAX_PENDING:
            return
        for table in self.tables.values():
            if table.due is None or table.due > now:
                continue
            if table.recall is not None and table.recall.is_waiting(now):
                continue
            recall = table.follower.recall()
            if recall is None:
                table.due = None
                continue
            number = randomness.token_hex(12)
            table.recall = record_attempt(table.recall, number, recall, now)
            send_recall(
                self._connection,
                table.place,
                recall.fields,
                client=self._client,
                number=number,
                signer=self._signer,
            )

    def give_up(self, refused_before: float, unanswered_before: float) -> None:
        """Pass on what waits for events that have been missing since before these moments, on the
        monotonic clock: of tables that refuse a recall, and of those that do not answer it.
        """
        for table in self.tables.values():
            before = unanswered_before if table.trouble is None else refused_before
            if table.missing_since is not None and table.missing_since < before:
                self._put(table, table.follower.give_up())
                self._note(table)

    def unheard(self, now: float) -> dict[str, str]:
        """Return the tables whose missing events do not come, and why."""
        return {
            table.id: table.trouble or "no answer to the recall; is its daemon running?"
            for table in self.tables.values()
            if table.missing_since is not None and now - table.missing_since >= UNHEARD_SECONDS
        }

    def _on_bad(self, topic: str, why: str) -> None:
        self.bad += 1
        now = clock.monotonic()
        if now - self._bad_logged_at >= BAD_MESSAGE_LOG_INTERVAL_SECONDS:
            self._bad_logged_at = now
            self._log.warning(
                "a message cannot be read", topic=ascii(topic[:200]), reason=why, bad=self.bad
            )
