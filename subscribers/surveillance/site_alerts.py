"""The recorder's own retained alerts at one site: its unsettled findings, and that the archive
stores nothing.
"""

from __future__ import annotations

from collections.abc import Iterable

import msgspec

from common import clock
from common.contract.times import format_utc
from common.log import structlog
from subscribers.feed.alerts import OpenAlerts
from subscribers.feed.connection import ServiceConnection
from subscribers.surveillance.archive import ArchiveRecord, Query, RecordArchive
from subscribers.surveillance.findings import (
    KEY_CHANGED,
    SETTLED,
    STALLED_ALERT_ID,
    STATISTICS_FINDINGS,
    alert_id,
    changed_key,
    finding_alert,
    open_findings,
    stalled_alert,
)

MAX_RESTORED_ALERTS = 100
"""Maximum number of earlier findings that are shown again after a start."""


class SiteAlerts:
    """``topic``: of this recorder's node, with a slash at its end; ``connections``: the second one
    publishes only that the archive stores nothing, before anything may be received.
    """

    def __init__(
        self, site: str, topic: str, connections: tuple[ServiceConnection, ServiceConnection]
    ) -> None:
        self._site, self._node_topic = site, topic
        self._connection, self._alert_connection = connections
        self.finding_count = 0
        """Findings since the start."""
        self.vouched: list[tuple[str, str]] = []
        """Nodes and keys that a person has vouched for."""
        self._alerts = OpenAlerts()
        """Those that are shown."""
        self._open_findings: set[str] = set()
        """Alert ids of all unsettled findings, including those that are not shown again."""
        self._to_clear: list[str] = []
        """Ids whose topic must be cleared."""
        self._settled_number = 0
        """The archive number up to which settlements were read."""
        self._start_number = 0
        """The last archive number at the start; findings up to it are already shown."""
        self._new_statistics: list[ArchiveRecord] = []
        """Findings of the statistics that are not shown yet."""
        self._log = structlog.get_logger().bind(site=site)

    def publish_all(self) -> None:
        """Publish all alerts again, on a new connection."""
        for name in self._alerts.open:
            self._publish(name)

    def send_due(self) -> None:
        """Publish new findings of the statistics, and clear settled alerts."""
        while self._new_statistics:
            self.report_finding(self._new_statistics.pop(0))
        while self._to_clear:
            name = self._to_clear.pop()
            if name not in self._alerts.open:
                self._publish(name)

    def on_retained(self, name: str, body: bytes) -> None:
        """Clear an alert left over from a previous run. ``name``: its id."""
        if body and name not in self._alerts.open and name not in self._open_findings:
            self._to_clear.append(name)

    def check_settled(self, archive: RecordArchive) -> None:
        """Clear the alerts of findings that a person has settled, and queue new findings of the
        statistics. Runs in a thread.
        """
        rows = archive.find(
            Query(
                sites=(self._site,),
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
                self.vouched.append(changed_key(settlement["finding"]))
            name = alert_id(settlement["what"], settlement["finding"])
            self._open_findings.discard(name)
            self._new_statistics = [
                record
                for record in self._new_statistics
                if alert_id(record.type, record.key) != name
            ]
            if self._alerts.clear(name):
                self._to_clear.append(name)

    def restore(self, archive: RecordArchive) -> None:
        """Show the open findings of previous runs."""
        self._start_number = archive.newest_number()
        findings = open_findings(archive, (self._site,))
        self._open_findings = {alert_id(record.type, record.key) for _, record in findings}
        for _, record in findings[-MAX_RESTORED_ALERTS:]:
            self.raise_alert(record)

    @property
    def shown(self) -> int:
        """Return the number of findings shown as alerts."""
        return len(self._alerts.open.keys() - {STALLED_ALERT_ID})

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

    def restore_findings(self, findings: Iterable[ArchiveRecord], number: int) -> None:
        """Show the findings that were open when the archive had ``number`` records; settlements are
        read from there on.
        """
        for record in findings:
            self.raise_alert(record)
        self._settled_number = min(self._settled_number, number)

    def _is_shown(self, record: ArchiveRecord) -> bool:
        return alert_id(record.type, record.key) in self._alerts.open

    def raise_alert(self, record: ArchiveRecord) -> str | None:
        """Publish the alert of a finding. Return its detail."""
        alert = finding_alert(record)
        self._alerts.put(alert)
        self._publish(alert.alert)
        self._open_findings.add(alert.alert)
        return alert.detail

    def set_stalled(self, reason: str | None) -> None:
        """Raise the alert that the archive cannot store records; clear it if ``reason`` is None."""
        if reason is None:
            if self._alerts.clear(STALLED_ALERT_ID):
                self._publish(STALLED_ALERT_ID)
            return
        current = self._alerts.open.get(STALLED_ALERT_ID)
        raised = format_utc(clock.wall()) if current is None else current.raised
        self._alerts.put(stalled_alert(reason, raised))
        for connection in (self._connection, self._alert_connection):
            connection.retain(self._topic(STALLED_ALERT_ID), self._alerts.body(STALLED_ALERT_ID))

    def _publish(self, name: str) -> None:
        self._alerts.changed.discard(name)
        self._connection.retain(self._topic(name), self._alerts.body(name))

    def _topic(self, name: str) -> str:
        return f"{self._node_topic}alert/{name}"
