"""One site as the recorder sees it: received messages that are not stored yet, and to whom each is
handed. The recorder stores the pending records and calls back.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from functools import partial

import msgspec

from common import clock, randomness
from common.contract.node import NodeStatus
from common.contract.times import format_utc
from common.contract.topics import Topics
from common.log import structlog
from subscribers.feed.connection import ServiceConnection
from subscribers.feed.recall_key import RecallKey
from subscribers.surveillance import proofs
from subscribers.surveillance.archive import ArchiveRecord, RecordArchive
from subscribers.surveillance.findings import RecorderFinding, body_text, finding_record
from subscribers.surveillance.records import (
    TOPIC_FILTERS,
    BadMessageError,
    TopicPlace,
    alert_key,
    parse_topic,
    records,
)
from subscribers.surveillance.settings import SiteSettings
from subscribers.surveillance.site_alerts import SiteAlerts
from subscribers.surveillance.site_proofs import SiteProofs
from subscribers.surveillance.site_recalls import SiteRecalls

BAD_MESSAGE_LOG_INTERVAL_SECONDS = 60.0
"""Minimum interval between two log lines about bad messages."""
MAX_BATCH_RECORDS = 1000
"""Messages stored in one batch."""


class PendingMessage(msgspec.Struct):
    """The records of one message. ``link``: number of the connection on which it arrived; None:
    none.
    """

    records: list[ArchiveRecord]
    link: int | None = None
    on_stored: Callable[[], None] | None = None
    """Called once the records are stored."""


class _SavedProofs(msgspec.Struct):
    """The part of a site's state that the archive stores."""

    proofs: dict[str, proofs.JournalProof] = {}
    followed: dict[str, ArchiveRecord] = {}


class RecordedSite:
    """``wake`` is called when there is something to store. ``recalls``, ``proofs`` and ``alerts``
    have what is requested from its tables, proved of its daemons' journals, and found.
    """

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
        self.alerts = SiteAlerts(
            settings.id, self._topic(""), (self.connection, self.alert_connection)
        )
        self.proofs = SiteProofs(
            settings.id,
            settings.keys,
            record=self._record_findings,
            compare=lambda period: self.recalls.compare(period),
        )
        self.recalls = SiteRecalls(
            settings.id,
            self.connection,
            self.proofs,
            self._record_findings,
            client=self._client,
            key=key,
            person=person,
        )
        self.pending: deque[PendingMessage] = deque()
        self.bad_count = 0
        self.saved: bytes | None = None
        """The saved state, encoded."""
        self._alert_keys: dict[str, str] = {}
        """The key of the current alert, by topic."""
        self._link_number = 0
        self._bad_logged_at = -BAD_MESSAGE_LOG_INTERVAL_SECONDS
        self._log = structlog.get_logger().bind(site=settings.id)

    # Received messages

    def on_link(self, up: bool) -> None:
        """Handle the connection being made or lost."""
        self._link_number += 1
        if up:
            self._log.info("connected")
            self.connection.retain(self._topic("status"), self.status_body("online"))
            self.alerts.publish_all()
        self.recalls.on_link(up)

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
            if retained and root == self.roots[0] and place.leaf.startswith("alert/"):
                self.alerts.on_retained(place.leaf.removeprefix("alert/"), body)
            return
        if place.leaf == "state" and place.kind == "table":
            self.recalls.on_state(self.recalls.table(root, place.owner), body)
            return
        if place.kind == "table" and place.leaf == f"reply/{self._client}":
            reply = self.recalls.on_reply(self.recalls.table(root, place.owner), body, now)
            message.records, message.on_stored = reply.records, reply.on_stored
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
                table = self.recalls.table(root, record.table)
                self.recalls.on_event(table, record)
                if place.leaf == "event":
                    message.on_stored = partial(self.recalls.on_stored, table, record)

    def _previous_alert_key(self, path: str, place: TopicPlace, body: bytes) -> str:
        """Return the key of the alert that this message clears."""
        if body:
            self._alert_keys[path] = alert_key(place, body)
            return ""
        return self._alert_keys.pop(path, "")

    def _on_checkpoint(self, node: str, body: bytes) -> None:
        boot = self.proofs.on_checkpoint(node, body)
        if boot is not None:
            self.recalls.sweep(boot)

    # Requests, and what is saved

    def send_due(self, now: float) -> None:
        """Send what is due. ``now``: monotonic time."""
        if not self.connection.up:
            return
        self.alerts.send_due()
        self.recalls.send_due(now)
        while self.alerts.vouched:
            self.proofs.trust(*self.alerts.vouched.pop(0))
        for query in self.proofs.due_queries():
            if self.recalls.send_chain_query(query, now):
                self.proofs.on_queried(query)

    def restore(self, archive: RecordArchive) -> None:
        """Restore the saved state and the open findings of previous runs."""
        self.alerts.restore(archive)
        saved = archive.load_value(f"proofs:{self.id}")
        if saved is not None:
            state = msgspec.json.decode(saved, type=_SavedProofs)
            self.proofs.by_name = state.proofs
            self.recalls.restore(state.followed)

    def snapshot(self) -> tuple[str, bytes]:
        """Return the name and the value of the state to save."""
        body = _SavedProofs(proofs=self.proofs.by_name, followed=self.recalls.positions())
        return f"proofs:{self.id}", msgspec.json.encode(body)

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
                f"received at {stored.received}. The journal was edited, or another client "
                "publishes for the table: keep the journal, and run `novamas verify` on it"
                if is_event
                else f"{stored.kind} {stored.key} differs from the one received at "
                f"{stored.received}"
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
                self.recalls.unrecoverable.add(record.key)
        if findings:
            self._wake()

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
