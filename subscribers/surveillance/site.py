"""One site as the recorder sees it: received messages that are not stored yet, recalls to its
tables, and proofs of its daemons' journals. The recorder stores the pending records and calls back.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable
from functools import partial

import msgspec

from common import clock, randomness
from common.chain.checkpoint import read_checkpoint
from common.contract.node import NodeStatus
from common.contract.orders import RECALL
from common.contract.retained import Alert
from common.contract.times import format_utc, parse_utc
from common.contract.topics import Topics
from common.log import structlog
from subscribers.feed.connection import ServiceConnection
from subscribers.feed.pending_recall import RECALL_TIMEOUT_SECONDS, PendingRecall, record_attempt
from subscribers.feed.recall_key import RecallKey, unsigned_recall
from subscribers.surveillance import proofs, recalls
from subscribers.surveillance.archive import ArchiveRecord, Query, RecordArchive
from subscribers.surveillance.findings import (
    KEY_CHANGED,
    SETTLED,
    STALLED_ALERT_ID,
    STATISTICS_FINDINGS,
    RecorderFinding,
    alert_id,
    body_text,
    changed_key,
    finding_alert,
    finding_record,
    open_findings,
    stalled_alert,
)
from subscribers.surveillance.records import (
    TOPIC_FILTERS,
    BadMessageError,
    TopicPlace,
    alert_key,
    event_record,
    parse_topic,
    records,
)
from subscribers.surveillance.settings import SiteSettings

BAD_MESSAGE_LOG_INTERVAL_SECONDS = 60.0
"""Minimum interval between two log lines about bad messages."""
GAP_DELAY_SECONDS = 0.5
"""Delay before a gap is recalled: a message that was overtaken arrives by itself."""
MAX_BATCH_RECORDS = 1000
"""Messages stored in one batch."""
COMPARE_PAGE_EVENTS = 100
"""Events of a table that one recall compares."""
SWEEP_TABLES = 16
"""Tables of a daemon of which a page is compared after each checkpoint, in turn."""

MAX_COMPARED_EVENTS = 2000
"""Maximum number of events of a table compared after a journal was changed."""
STORE_LAG_SECONDS = 60.0
"""Maximum lag between an event and its storage: events this much earlier are compared too."""
MAX_RESTORED_ALERTS = 100
"""Maximum number of earlier findings that are shown again after a start."""


class PendingMessage(msgspec.Struct):
    """The records of one message. ``link``: number of the connection on which it arrived; None:
    none.
    """

    records: list[ArchiveRecord]
    link: int | None = None
    on_stored: Callable[[], None] | None = None
    """Called once the records are stored."""


class _SurveillanceReply(msgspec.Struct, frozen=True):
    id: object
    ok: bool
    error: str | None = None
    events: tuple[msgspec.Raw, ...] = ()
    chain: tuple[proofs.JournalHash, ...] | None = None


class _SuspectPeriod(msgspec.Struct, frozen=True):
    """Events of a daemon, by its current run, between two times."""

    boot: str
    since: str | None
    until: str


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


class _SavedProofs(msgspec.Struct):
    """The part of a site's state that the archive stores."""

    proofs: dict[str, proofs.JournalProof] = {}
    followed: dict[str, ArchiveRecord] = {}


_state = msgspec.json.Decoder(recalls.TablePosition)
_answer = msgspec.json.Decoder(_SurveillanceReply)
_raised = msgspec.json.Decoder(Alert)


class RecordedSite:
    """``wake`` is called when there is something to store."""

    def __init__(
        self,
        settings: SiteSettings,
        node: str,
        boot: str,
        wake: Callable[[], None],
        key: RecallKey | None,
        person: str | None,
    ) -> None:
        self.id, self.node, self._boot, self._wake = settings.id, node, boot, wake
        self._configured_keys = settings.keys
        self._key, self._person = key, person
        self._client = f"{node}-{randomness.token_urlsafe(6)}"[:64]
        self.roots = tuple(Topics(settings.id, simulated).root for simulated in (False, True))
        self.connection = ServiceConnection(
            settings.broker,
            [f"{root}/{leaf}" for root in self.roots for leaf in TOPIC_FILTERS],
            (self._topic("status"), self.status_body("offline")),
            self.on_message,
            self.on_link,
            session=node,
        )
        self.alert_connection = ServiceConnection(
            settings.broker,
            [],
            (self._topic("status"), self.status_body("offline")),
            lambda *_: None,
            lambda *_: None,
        )
        """Publishes that the archive cannot store records, before anything may be received."""
        self.pending: deque[PendingMessage] = deque()
        self.tables: dict[str, RecordedTable] = {}
        self.bad_count = 0
        self.trouble: str | None = None
        self.finding_count = 0
        self.saved: bytes | None = None
        """The saved state, encoded."""
        self._followed: dict[str, ArchiveRecord] = {}
        self._proofs: dict[str, proofs.JournalProof] = {}
        """By node; for a pair of daemons by node and key, as each has its own journal."""
        self._vouched: list[tuple[str, str]] = []
        """Nodes and keys that a person has vouched for."""
        self._suspect_periods: list[_SuspectPeriod] = []
        """Periods to compare, because a journal was changed there."""
        self._unchecked: dict[str, str] = {}
        """Daemons whose file must be asked for its hashes, and their run."""
        self._alert_keys: dict[str, str] = {}
        """The key of the current alert, by topic."""
        self._unrecoverable: set[str] = set()
        """Findings of events that no daemon returns; they are recalled only once."""
        self._alerts: dict[str, bytes] = {}
        """The recorder's own alerts, by topic."""
        self._open_alerts: set[str] = set()
        """Alert ids of all unsettled findings, including those that are not shown again."""
        self._cleared_topics: list[str] = []
        """Topics of alerts to clear."""
        self._settled_number = 0
        """The archive number up to which settlements were read."""
        self._start_number = 0
        """The last archive number at the start; findings up to it are already shown."""
        self._new_statistics: list[ArchiveRecord] = []
        """Findings of the statistics that are not shown yet."""
        self._link_number = 0
        self._bad_logged_at = -BAD_MESSAGE_LOG_INTERVAL_SECONDS
        self._gap_checks_due: dict[str, float] = {}
        """Tables that may miss events, and when to check, on the monotonic clock."""
        self._log = structlog.get_logger().bind(site=settings.id)

    # Received messages

    def on_link(self, up: bool) -> None:
        """Handle the connection being made or lost."""
        self._link_number += 1
        for table in self.tables.values():
            table.question = None
            table.wants.clear()
        if up:
            self._log.info("connected")
            self.connection.retain(self._topic("status"), self.status_body("online"))
            for topic, body in self._alerts.items():
                self.connection.retain(topic, body)
            self.schedule_gap_checks()

    def on_message(self, topic: str, body: bytes, retained: bool) -> None:
        """Handle a message. It stays unacknowledged until it is stored."""
        root = next(
            (site_root for site_root in self.roots if topic.startswith(f"{site_root}/")), None
        )
        message = PendingMessage([], self._link_number)
        try:
            if root is None:
                raise BadMessageError("its topic is not of this site")
            self._dispatch(message, root, topic[len(root) + 1 :], body, retained)
        except BadMessageError as bad:
            self._log_bad_message(topic, str(bad))
        self.pending.append(message)
        self._wake()

    def _dispatch(
        self, message: PendingMessage, root: str, path: str, body: bytes, retained: bool
    ) -> None:
        place, now = parse_topic(path), format_utc(clock.wall())
        if place is None:
            raise BadMessageError("its topic has no table, node or jackpot")
        if place.kind == "node" and place.owner == self.node:
            self._on_own_message(f"{root}/{path}", place, body, retained)
            return
        if place.leaf == "state" and place.kind == "table":
            self._on_state(self._table(root, place.owner), body)
            return
        if place.kind == "table" and place.leaf == f"reply/{self._client}":
            self._on_reply(message, self._table(root, place.owner), body, now)
            return
        alert_key_ = ""
        if place.leaf.startswith("alert/"):
            alert_key_ = self._previous_alert_key(path, place, body)
        if not body and not alert_key_ and place.leaf != "event":
            return  # the topic was cleared
        message.records = records(self.id, path, body, now, alert_key_)
        if place.leaf == "checkpoint":
            message.on_stored = lambda: self._on_checkpoint(place.owner, body)
        for record in message.records:
            if record.kind == "event":
                table = self._table(root, record.table)
                self._on_event(table, record)
                if place.leaf == "event":
                    message.on_stored = partial(self._on_stored, table, record)

    def _on_own_message(self, topic: str, place: TopicPlace, body: bytes, retained: bool) -> None:
        """Clear an alert left over from a previous run."""
        name = place.leaf.removeprefix("alert/")
        is_own = retained and body and name != place.leaf and topic == self._topic(place.leaf)
        if is_own and topic not in self._alerts and name not in self._open_alerts:
            self._cleared_topics.append(topic)

    def _previous_alert_key(self, path: str, place: TopicPlace, body: bytes) -> str:
        """Return the key of the alert that this message clears."""
        if body:
            self._alert_keys[path] = alert_key(place, body)
            return ""
        return self._alert_keys.pop(path, "")

    def _on_event(self, table: RecordedTable, record: ArchiveRecord) -> None:
        """Check whether events are missing before a live event."""
        reached = table.reached.get(record.boot)
        if reached is None and record.type == recalls.RESTORED_EVENT:
            self._on_restored(table, record)
        # does the new run know the events of the previous one?
        elif reached is None and table.reached:
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

    def _on_restored(self, table: RecordedTable, record: ArchiveRecord) -> None:
        """The table continues from a backup, or from the other daemon of a pair: it does not know
        its events before this run, so none of them is compared.
        """
        table.comparisons.clear()
        table.wants = deque(want for want in table.wants if not want.compare)
        if table.question is not None and table.question.latest_subject.want not in table.wants:
            table.question = None
        try:
            if not recalls.is_handover(record):
                self._record_findings((recalls.restored_finding(record),))
        except (ValueError, RecursionError) as error:
            raise BadMessageError(str(error)) from None

    def _on_stored(self, table: RecordedTable, record: ArchiveRecord) -> None:
        last = table.followed
        if last is not None and (record.boot, record.seq) == (last.boot, last.seq + 1):
            table.followed = record

    def _on_state(self, table: RecordedTable, body: bytes) -> None:
        if not body:
            return
        previous = table.state
        try:
            table.state = state = _state.decode(body)
            parse_utc(state.time)
        except (ValueError, RecursionError) as error:
            table.state = None
            raise BadMessageError(str(error)) from None
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

    # Recalls

    def send_due(self, now: float) -> None:
        """Send what is due. ``now``: monotonic time."""
        if not self.connection.up:
            return
        while self._new_statistics:
            self.report_finding(self._new_statistics.pop(0))
        while self._cleared_topics:
            topic = self._cleared_topics.pop()
            if topic not in self._alerts:
                self.connection.retain(topic, b"")
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
        while self._vouched:
            node, key = self._vouched.pop(0)
            if node not in self._configured_keys:
                self._proofs[node] = proofs.trust_key(
                    self._proofs.get(node, proofs.JournalProof()), key
                )
        for node, boot in list(self._unchecked.items()):
            free = next(
                (
                    table
                    for table in self.tables.values()
                    if table.question is None
                    and table.state is not None
                    and table.state.boot == boot
                ),
                None,
            )
            positions = proofs.positions_to_query(self._proofs[node])
            if free is not None and positions:
                del self._unchecked[node]
                fields = {"boot": boot, "from": 1, "to": 1, "limit": 1, "positions": positions}
                question = recalls.RecallQuestion(node=node, marks=self._proofs[node].marks)
                self._send_recall(free, fields, now, question)

    def _send_recall(
        self,
        table: RecordedTable,
        fields: dict[str, object],
        now: float,
        question: recalls.RecallQuestion,
        repeated: PendingRecall[recalls.RecallQuestion] | None = None,
    ) -> None:
        """Send a recall to a table. ``repeated``: the recall that this one repeats."""
        request_id = randomness.token_hex(12)
        table.question = record_attempt(repeated, request_id, question, now)
        if self._key is None or self._person is None:
            body = unsigned_recall(fields, self._client, request_id)
        else:
            timestamp = int(clock.wall())
            body = self._key.sign(
                self._person, table.topic, fields, self._client, request_id, timestamp
            )
        self.connection.send(f"{table.topic}/command/{RECALL}", body)

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
        gaps = archive.gaps(self.id)
        doubtful, self._suspect_periods = self._suspect_periods, []
        for period in doubtful:
            self._queue_comparison(archive, period)
        for table in [self.tables[table_id] for table_id in due]:
            last = table.followed or self._first_event(archive, table.id)
            table_gaps = [
                gap
                for gap in gaps
                if gap.table == table.id
                and recalls.missing_finding_key(gap) not in self._unrecoverable
            ]
            comparisons, table.comparisons = table.comparisons, []
            comparisons += [want for want in tuple(table.wants) if want.compare]
            table.wants = deque(
                [*recalls.wanted_events(table.id, table_gaps, last, table.state), *comparisons]
            )

    def _queue_comparison(self, archive: RecordArchive, period: _SuspectPeriod) -> None:
        """Recall the events of this period, so that changed ones are identified."""
        for table in list(self.tables.values()):
            if table.state is None or table.state.boot != period.boot:
                continue
            query = Query(
                sites=(self.id,),
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
        query = Query(sites=(self.id,), tables=(table,), kinds=("event",), limit=1)
        return next((row.record for row in archive.find(query)), None)

    def _on_reply(
        self, message: PendingMessage, table: RecordedTable, body: bytes, now: str
    ) -> None:
        try:
            reply = _answer.decode(body)
            events = [
                event_record(self.id, bytes(event_), now, table.id) for event_ in reply.events
            ]
        except (ValueError, RecursionError) as error:
            raise BadMessageError(str(error)) from None
        message.records = events
        question = None if table.question is None else table.question.subject_of(reply.id)
        if question is None:
            return
        table.question = None
        if not reply.ok:
            if self.trouble != reply.error:
                self._log.warning("a recall is refused", table=table.id, reason=reply.error)
            self.trouble = reply.error
            if question.want is not None:
                table.wants.clear()
                self._schedule_gap_check(table, RECALL_TIMEOUT_SECONDS)
            return
        self.trouble = None
        if question.want is None:
            if reply.chain is not None:
                self._check_chain(question, reply.chain, table.state.boot if table.state else "")
            return
        if table.wants and table.wants[0] == question.want:
            table.wants.popleft()
        if question.want.last is None and events:
            message.on_stored = partial(setattr, table, "followed", events[-1])
        outcome = recalls.evaluate_reply(question.want, events, table.state, now)
        table.wants.extendleft(reversed(outcome.wants))
        self._record_findings(outcome.findings)
        for event_ in events:
            table.reached[event_.boot] = max(event_.seq, table.reached.get(event_.boot, 0))

    def check_settled(self, archive: RecordArchive) -> None:
        """Clear the alerts of findings that a person has settled, and queue new findings of the
        statistics. Runs in a thread.
        """
        rows = archive.find(
            Query(
                sites=(self.id,),
                kinds=("finding",),
                types=(SETTLED, *STATISTICS_FINDINGS),
                after=self._settled_number,
                order="number",
            )
        )
        for row in rows:
            self._settled_number = row.number
            if row.record.type != SETTLED:
                if row.number > self._start_number and not self._is_shown(row.record):
                    self._new_statistics.append(row.record)
                continue
            settlement = msgspec.json.decode(row.record.body)
            if settlement["what"] == KEY_CHANGED and settlement.get("person"):
                self._vouched.append(changed_key(settlement["finding"]))
            name = alert_id(settlement["what"], settlement["finding"])
            self._open_alerts.discard(name)
            self._new_statistics = [
                record
                for record in self._new_statistics
                if alert_id(record.type, record.key) != name
            ]
            topic = self._topic(f"alert/{name}")
            if self._alerts.pop(topic, None) is not None:
                self._cleared_topics.append(topic)

    # Proofs

    def restore(self, archive: RecordArchive) -> None:
        """Restore the saved state and the open findings of previous runs."""
        self._start_number = archive.newest_number()
        findings = open_findings(archive, (self.id,))
        self._open_alerts = {alert_id(record.type, record.key) for _, record in findings}
        for _, record in findings[-MAX_RESTORED_ALERTS:]:
            self.raise_alert(record)
        saved = archive.load_value(f"proofs:{self.id}")
        if saved is not None:
            state = msgspec.json.decode(saved, type=_SavedProofs)
            self._proofs, self._followed = state.proofs, state.followed

    def snapshot(self) -> tuple[str, bytes]:
        """Return the name and the value of the state to save."""
        for table in self.tables.values():
            if (event := table.followed) is not None:
                self._followed[table.id] = msgspec.structs.replace(event, body=b"")
        body = _SavedProofs(proofs=self._proofs, followed=self._followed)
        return f"proofs:{self.id}", msgspec.json.encode(body)

    def _on_checkpoint(self, node: str, body: bytes) -> None:
        checkpoint = read_checkpoint(body)
        if checkpoint is None:
            return
        keys = self._configured_keys.get(node, ())
        key = checkpoint.key if checkpoint.key in keys else next(iter(keys), None)
        name = node if len(keys) < 2 else f"{node}/{key}"
        previous = self._proofs.get(name, proofs.JournalProof())
        if key is not None:
            previous = proofs.trust_key(previous, key)
        proof, findings = proofs.check_checkpoint(previous, checkpoint, node)
        if proof.key != previous.key:
            self._log.warning(
                "a key is believed at first sight",
                node=node,
                key=proof.key,
                remedy="compare it with the machine of the daemon and name it in keys of [archive]",
            )
        self._proofs[name] = proof
        self._queue_suspect_period(previous, findings, checkpoint.boot)
        self._record_findings(findings)
        self._unchecked[name] = checkpoint.boot
        self._sweep(checkpoint.boot)

    def _sweep(self, boot: str) -> None:
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

    def _check_chain(
        self, question: recalls.RecallQuestion, links: tuple[proofs.JournalHash, ...], boot: str
    ) -> None:
        previous, node = self._proofs[question.node], question.node.partition("/")[0]
        self._proofs[question.node], findings = proofs.check_chain(
            previous, links, node, question.marks
        )
        self._queue_suspect_period(previous, findings, boot)
        self._record_findings(findings)

    def _queue_suspect_period(
        self, proof: proofs.JournalProof, findings: tuple[RecorderFinding, ...], boot: str
    ) -> None:
        """If a journal was changed, queue its events since the last good mark for comparison."""
        for finding in findings:
            if finding.what in ("journal_rewritten", "journal_cut", "journal_rolled_back"):
                changed = finding.evidence.get("signed") or finding.evidence["said"]
                good = proofs.last_good_mark(proof, changed["position"])
                since = (
                    None if good is None else format_utc(parse_utc(good.time) - STORE_LAG_SECONDS)
                )
                last = proof.marks[-1].time if proof.marks else changed["time"]
                self._suspect_periods.append(
                    _SuspectPeriod(boot, since, format_utc(parse_utc(last) + 1))
                )
                self.schedule_gap_checks()

    @property
    def unvouched(self) -> list[str]:
        """Return the nodes whose key is trusted only because it came first."""
        return sorted(
            node
            for node, proof in list(self._proofs.items())
            if proof.key is not None
            and not proof.vouched
            and node.partition("/")[0] not in self._configured_keys
        )

    # Findings

    def on_conflict(self, stored: ArchiveRecord, received: ArchiveRecord) -> None:
        """Record that two messages with the same key differ."""
        if stored.kind in ("checkpoint", "finding"):
            return  # the same position at another time, or the same finding again
        is_event = stored.kind == "event"
        finding = RecorderFinding(
            what="event_differs" if is_event else "record_differs",
            detail=(
                f"{stored.table}: event {stored.seq} of run {stored.boot} differs from the one "
                f"received at {stored.heard}. The journal was edited, or another client publishes "
                "for the table: keep the journal, and run `novamas verify` on it"
                if is_event
                else f"{stored.kind} {stored.key} differs from the one received at {stored.heard}"
            ),
            name=f"{stored.key}:{alert_key(TopicPlace('', '', ''), received.body)}",
            evidence={"archived": body_text(stored.body), "said": body_text(received.body)},
            table=stored.table,
            node=stored.node,
            boot=stored.boot,
            seq=stored.seq,
        )
        self._record_findings((finding,))

    def _record_findings(self, findings: tuple[RecorderFinding, ...]) -> None:
        now = format_utc(clock.wall())
        for finding in findings:
            record = finding_record(finding, self.id, now)
            self.pending.append(PendingMessage([record]))
            if finding.what == "events_missing":
                self._unrecoverable.add(record.key)
        if findings:
            self._wake()

    @property
    def shown_alerts(self) -> int:
        """Return the number of findings shown as alerts."""
        return len(self._alerts.keys() - {self._stalled_topic})

    def report_finding(self, record: ArchiveRecord) -> None:
        """Log and show a finding that was stored for the first time."""
        self.finding_count += 1
        self._log.error(
            "finding",
            what=record.type,
            detail=self.raise_alert(record),
            key=record.key,
            alert=alert_id(record.type, record.key),
        )

    def restore_alerts(self, findings: Iterable[ArchiveRecord], number: int) -> None:
        """Show the findings that were open when the archive had ``before`` records; settlements are
        read from there on.
        """
        for record in findings:
            self.raise_alert(record)
        self._settled_number = min(self._settled_number, number)

    def _is_shown(self, record: ArchiveRecord) -> bool:
        return self._topic(f"alert/{alert_id(record.type, record.key)}") in self._alerts

    def raise_alert(self, record: ArchiveRecord) -> str | None:
        """Publish the alert of a finding. Return its detail."""
        alert, topic = (
            finding_alert(record),
            self._topic(f"alert/{alert_id(record.type, record.key)}"),
        )
        self._alerts[topic] = msgspec.json.encode(alert)
        self.connection.retain(topic, self._alerts[topic])
        self._open_alerts.add(alert.alert)
        return alert.detail

    @property
    def _stalled_topic(self) -> str:
        return self._topic(f"alert/{STALLED_ALERT_ID}")

    def set_stalled(self, reason: str | None) -> None:
        """Raise the alert that the archive cannot store records; clear it if ``reason`` is None."""
        topic = self._stalled_topic
        if reason is None:
            if self._alerts.pop(topic, None) is not None:
                self.connection.retain(topic, b"")
            return
        current = self._alerts.get(topic)
        raised = format_utc(clock.wall()) if current is None else _raised.decode(current).raised
        self._alerts[topic] = msgspec.json.encode(stalled_alert(reason, raised))
        self.connection.retain(topic, self._alerts[topic])
        self.alert_connection.retain(topic, self._alerts[topic])

    def acknowledge(self, batch: list[PendingMessage]) -> None:
        """Acknowledge the stored messages that arrived on the current connection."""
        self.connection.acknowledge(sum(message.link == self._link_number for message in batch))

    def status_body(self, word: str) -> bytes:
        """Return the recorder's retained status."""
        return msgspec.json.encode(NodeStatus(word, self._boot))

    @property
    def last_messages(self) -> dict[str, bytes]:
        """Return the retained messages to publish at shutdown."""
        return {self._topic("status"): self.status_body("offline")}

    def _topic(self, leaf: str) -> str:
        return f"{self.roots[0]}/node/{self.node}/{leaf}"

    def _table(self, root: str, table: str) -> RecordedTable:
        if table not in self.tables:
            created = self.tables[table] = RecordedTable(table, f"{root}/{table}")
            created.followed = self._followed.get(table)
            self.schedule_gap_checks()
        return self.tables[table]

    def _log_bad_message(self, topic: str, reason: str) -> None:
        self.bad_count += 1
        if clock.monotonic() - self._bad_logged_at >= BAD_MESSAGE_LOG_INTERVAL_SECONDS:
            self._bad_logged_at = clock.monotonic()
            self._log.warning(
                "a message cannot be read",
                topic=ascii(topic[:200]),
                reason=reason,
                bad=self.bad_count,
            )
