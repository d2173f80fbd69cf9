"""Recalls to the tables of one site: what the archive lacks, what it compares, and the replies."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

import msgspec

from common import clock, randomness
from common.contract.times import parse_utc
from common.log import structlog
from common.plain_errors import describe
from subscribers.feed.connection import ServiceConnection
from subscribers.feed.pending_recall import RECALL_TIMEOUT_SECONDS, PendingRecall, record_attempt
from subscribers.feed.recall_key import RecallKey, send_recall
from subscribers.surveillance import proofs, recalls
from subscribers.surveillance.archive import ArchiveRecord, Query, RecordArchive
from subscribers.surveillance.findings import RecorderFinding
from subscribers.surveillance.records import BadMessageError, event_record
from subscribers.surveillance.site_proofs import ChainQuery, SiteProofs, SuspectPeriod

GAP_DELAY_SECONDS = 0.5
"""Delay before a gap is recalled: a message that was overtaken arrives by itself."""
COMPARE_PAGE_EVENTS = 100
"""Events of a table that one recall compares."""
SWEEP_TABLES = 16
"""Tables of a daemon of which a page is compared after each checkpoint, in turn."""
MAX_COMPARED_EVENTS = 2000
"""Maximum number of events of a table compared after a journal was changed."""


class RecalledEvents(msgspec.Struct, frozen=True):
    """The events of a reply. ``on_stored``: called once they are stored."""

    records: list[ArchiveRecord]
    on_stored: Callable[[], None] | None = None


class _SurveillanceReply(msgspec.Struct, frozen=True):
    id: object
    ok: bool
    error: str | None = None
    events: tuple[msgspec.Raw, ...] = ()
    chain: tuple[proofs.JournalHash, ...] | None = None


class RecordedTable:
    """A table. ``topic``: the root of its topics, which is the audience of its commands."""

    def __init__(self, table: str, topic: str) -> None:
        self.id, self.topic = table, topic
        self.state: recalls.TablePosition | None = None
        self.wants: deque[recalls.WantedEvents] = deque()
        self.question: PendingRecall[recalls.RecallQuestion] | None = None
        """The pending recall."""
        self.reached: dict[str, int] = {}
        """The last event of each run, as far as received since the start."""
        self.followed: ArchiveRecord | None = None
        """The event up to which nothing is missing, not even a whole run; recalls continue from
        here. Its body may be empty.
        """
        self.comparisons: list[recalls.WantedEvents] = []
        """Events to compare, because another run has started."""
        self.sweep_position: tuple[str, int] | None = None
        """Where the regular comparison has arrived: run and next event."""
        self.sweep_count = 0
        """Number of pages compared."""
        self.restored: set[str] = set()
        """The runs that began with another journal's events before them, as far as received."""


_state = msgspec.json.Decoder(recalls.TablePosition)
_answer = msgspec.json.Decoder(_SurveillanceReply)


class SiteRecalls:
    """``client``: the name under which replies come; ``record``: stores findings. Recalls are
    signed as ``person`` with ``key`` if both are given.
    """

    def __init__(
        self,
        site: str,
        connection: ServiceConnection,
        site_proofs: SiteProofs,
        record: Callable[[tuple[RecorderFinding, ...]], None],
        *,
        client: str,
        key: RecallKey | None,
        person: str | None,
    ) -> None:
        self._site, self._connection, self._proofs = site, connection, site_proofs
        self._record_findings = record
        self._client = client
        self._signer = None if key is None or person is None else (key, person)
        self.tables: dict[str, RecordedTable] = {}
        self.trouble: str | None = None
        """Why the last recall was refused."""
        self.unrecoverable: set[str] = set()
        """Findings of events that no daemon returns; they are recalled only once."""
        self._followed: dict[str, ArchiveRecord] = {}
        """Restored positions of tables."""
        self._suspect_periods: list[SuspectPeriod] = []
        """Periods to compare, because a journal was changed there."""
        self._gap_checks_due: dict[str, float] = {}
        """Tables that may miss events, and when to check, on the monotonic clock."""
        self._log = structlog.get_logger().bind(site=site)

    # What arrives

    def table(self, root: str, table: str) -> RecordedTable:
        """Return a table. ``root``: of the topics of its kind."""
        if table not in self.tables:
            created = self.tables[table] = RecordedTable(table, f"{root}/{table}")
            created.followed = self._followed.get(table)
            self.schedule_gap_checks()
        return self.tables[table]

    def on_link(self, up: bool) -> None:
        """Handle the connection being made or lost: requests of before get no reply."""
        for table in self.tables.values():
            table.question = None
            table.wants.clear()
        if up:
            self.schedule_gap_checks()

    def restore(self, followed: Mapping[str, ArchiveRecord]) -> None:
        """Continue from these positions."""
        self._followed = dict(followed)

    def positions(self) -> dict[str, ArchiveRecord]:
        """Return the event of each table from which recalls continue, without its body."""
        for table in self.tables.values():
            if (event := table.followed) is not None:
                self._followed[table.id] = msgspec.structs.replace(event, body=b"")
        return self._followed

    def on_event(self, table: RecordedTable, record: ArchiveRecord) -> None:
        """Check whether events are missing before a live event."""
        reached = table.reached.get(record.boot)
        self._note_restored(table, record)
        # does the new run know the events of the previous one?
        if reached is None and table.reached and record.boot not in table.restored:
            boot, last = list(table.reached.items())[-1]
            want = recalls.WantedEvents(
                table=table.id,
                boot=boot,
                first=max(1, last - COMPARE_PAGE_EVENTS + 1),
                last=last,
                compare=True,
            )
            table.comparisons.append(want)
            self._schedule_gap_check(table)
        if reached is None or record.seq > reached:
            table.reached[record.boot] = record.seq
        if record.seq != (reached or 0) + 1 and (reached is None or record.seq > reached):
            self._schedule_gap_check(table)

    def _note_restored(self, table: RecordedTable, record: ArchiveRecord) -> None:
        """If the table continues from a backup, or from the other daemon of a pair, it does not
        know its events before this run, so none of them is compared. This first event of the run
        may be overtaken by the next one, or come by a recall.
        """
        if record.type != recalls.RESTORED_EVENT or record.boot in table.restored:
            return
        table.restored.add(record.boot)
        table.comparisons.clear()
        table.wants = deque(want for want in table.wants if not want.compare)
        if table.question is not None and table.question.latest_subject.want not in table.wants:
            table.question = None
        try:
            if not recalls.is_handover(record):
                self._record_findings((recalls.restored_finding(record),))
        except (ValueError, RecursionError) as error:
            raise BadMessageError(describe(error)) from None

    def on_stored(self, table: RecordedTable, record: ArchiveRecord) -> None:
        """A live event is in the archive."""
        last = table.followed
        if last is not None and (record.boot, record.seq) == (last.boot, last.seq + 1):
            table.followed = record

    def on_state(self, table: RecordedTable, body: bytes) -> None:
        """Handle a table's retained state. Raise :class:`BadMessageError`."""
        if not body:
            return
        previous = table.state
        try:
            table.state = state = _state.decode(body)
            parse_utc(state.time)
        except (ValueError, RecursionError) as error:
            table.state = None
            raise BadMessageError(describe(error)) from None
        if previous is not None and previous.boot != state.boot:
            table.question = None  # the daemon that was asked is gone
        if state.seq > table.reached.get(state.boot, 0):
            self._schedule_gap_check(table)

    def schedule_gap_checks(self) -> None:
        """Schedule a gap check of every table."""
        for table in self.tables.values():
            self._schedule_gap_check(table)

    def _schedule_gap_check(self, table: RecordedTable, after: float = GAP_DELAY_SECONDS) -> None:
        """Schedule a gap check, after a delay in which late messages may fill the gap."""
        self._gap_checks_due.setdefault(table.id, clock.monotonic() + after)

    def compare(self, period: SuspectPeriod) -> None:
        """Compare the events of a period once the archive was queried for them."""
        self._suspect_periods.append(period)
        self.schedule_gap_checks()

    # Requests

    def send_due(self, now: float) -> None:
        """Request missing events where no reply is awaited. ``now``: monotonic time."""
        for table in self.tables.values():
            pending = table.question
            if pending is not None and pending.is_waiting(now):
                continue
            table.question = None
            if table.wants:
                question = recalls.RecallQuestion(want=table.wants[0])
                repeated = (
                    pending if pending is not None and pending.latest_subject == question else None
                )
                self._send_recall(table, table.wants[0].body_fields(), now, question, repeated)

    def send_chain_query(self, query: ChainQuery, now: float) -> bool:
        """Request a daemon's hashes, through a table of it that is not waiting for a reply. Return
        False if there is none.
        """
        free = next(
            (
                table
                for table in self.tables.values()
                if table.question is None
                and table.state is not None
                and table.state.boot == query.boot
            ),
            None,
        )
        if free is None:
            return False
        limits = {"from": 1, "to": 1, "limit": 1}
        fields = {"boot": query.boot, **limits, "positions": list(query.positions)}
        question = recalls.RecallQuestion(node=query.name, marks=query.marks)
        self._send_recall(free, fields, now, question)
        return True

    def _send_recall(
        self,
        table: RecordedTable,
        fields: dict[str, Any],
        now: float,
        question: recalls.RecallQuestion,
        repeated: PendingRecall[recalls.RecallQuestion] | None = None,
    ) -> None:
        """Send a recall to a table. ``repeated``: the recall that this one repeats."""
        request_id = randomness.token_hex(12)
        table.question = record_attempt(repeated, request_id, question, now)
        send_recall(
            self._connection,
            table.topic,
            fields,
            client=self._client,
            number=request_id,
            signer=self._signer,
        )

    def has_due_gap_check(self, now: float) -> bool:
        """Return whether :meth:`query_missing` has something to query. ``now``: monotonic time."""
        return any(due <= now for due in self._gap_checks_due.values())

    def query_missing(self, archive: RecordArchive, now: float) -> None:
        """Query the archive for missing events where that is due. Runs in a thread."""
        due = [table_id for table_id, when in list(self._gap_checks_due.items()) if when <= now]
        if not due:
            return
        for table_id in due:
            del self._gap_checks_due[table_id]
        gaps = archive.gaps(self._site)
        doubtful, self._suspect_periods = self._suspect_periods, []
        for period in doubtful:
            self._queue_comparison(archive, period)
        for table in [self.tables[table_id] for table_id in due]:
            last = table.followed or self._first_event(archive, table.id)
            table_gaps = [
                gap
                for gap in gaps
                if gap.table == table.id
                and recalls.missing_finding_key(gap) not in self.unrecoverable
            ]
            comparisons, table.comparisons = table.comparisons, []
            comparisons += [want for want in tuple(table.wants) if want.compare]
            table.wants = deque(
                [*recalls.wanted_events(table.id, table_gaps, last, table.state), *comparisons]
            )

    def _queue_comparison(self, archive: RecordArchive, period: SuspectPeriod) -> None:
        """Recall the events of this period, so that changed ones are identified."""
        for table in list(self.tables.values()):
            if table.state is None or table.state.boot != period.boot:
                continue
            query = Query(
                sites=(self._site,),
                tables=(table.id,),
                kinds=("event",),
                since=period.since,
                until=period.until,
                order="latest",
                limit=MAX_COMPARED_EVENTS,
            )
            events = [row.record for row in archive.find(query)]
            table.comparisons += recalls.recompare(table.id, events, COMPARE_PAGE_EVENTS)

    def _first_event(self, archive: RecordArchive, table: str) -> ArchiveRecord | None:
        """Return the first archived event of a table: the start if no position is saved. Events
        received again are not stored again.
        """
        query = Query(sites=(self._site,), tables=(table,), kinds=("event",), limit=1)
        return next((row.record for row in archive.find(query)), None)

    def sweep(self, boot: str) -> None:
        """Compare some events of a daemon after each checkpoint, cyclically."""
        idle = [
            candidate
            for candidate in self.tables.values()
            if candidate.state is not None
            and candidate.state.boot == boot
            and boot in candidate.reached
            and not candidate.wants
            and candidate.question is None
        ]
        for table in sorted(idle, key=lambda candidate: candidate.sweep_count)[:SWEEP_TABLES]:
            run, first = table.sweep_position or (boot, 1)
            reached = table.reached[boot]
            if run != boot or first > reached:
                first = 1
            last = min(first + COMPARE_PAGE_EVENTS - 1, reached)
            table.sweep_position = (boot, last + 1)
            table.sweep_count += 1
            want = recalls.WantedEvents(
                table=table.id, boot=boot, first=first, last=last, compare=True
            )
            table.wants.append(want)

    # Replies

    def on_reply(self, table: RecordedTable, body: bytes, now: str) -> RecalledEvents:
        """Handle a reply; return its events, which are stored in any case. Raise
        :class:`BadMessageError`.
        """
        try:
            reply = _answer.decode(body)
            events = [
                event_record(self._site, bytes(event_), now, table.id) for event_ in reply.events
            ]
        except (ValueError, RecursionError) as error:
            raise BadMessageError(describe(error)) from None
        question = None if table.question is None else table.question.subject_of(reply.id)
        if question is None:
            return RecalledEvents(events)
        table.question = None
        if not reply.ok:
            self._on_refusal(table, question, reply.error)
            return RecalledEvents(events)
        self.trouble = None
        if question.want is None:
            if reply.chain is not None:
                boot = table.state.boot if table.state else ""
                self._proofs.check_chain(question.node, question.marks, reply.chain, boot)
            return RecalledEvents(events)
        if table.wants and table.wants[0] == question.want:
            table.wants.popleft()
        outcome = recalls.evaluate_reply(question.want, events, table.state, now)
        table.wants.extendleft(reversed(outcome.wants))
        self._record_findings(outcome.findings)
        for event_ in events:
            table.reached[event_.boot] = max(event_.seq, table.reached.get(event_.boot, 0))
            self._note_restored(table, event_)
        if question.want.last is None and events:
            return RecalledEvents(events, partial(setattr, table, "followed", events[-1]))
        return RecalledEvents(events)

    def _on_refusal(
        self, table: RecordedTable, question: recalls.RecallQuestion, error: str | None
    ) -> None:
        if self.trouble != error:
            self._log.warning("a recall is refused", table=table.id, reason=error)
        self.trouble = error
        if question.want is not None:
            table.wants.clear()
            self._schedule_gap_check(table, RECALL_TIMEOUT_SECONDS)
