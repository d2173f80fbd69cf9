"""The alerts about the journal: it cannot be written, it was damaged, or it has a gap."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from common.chain.hand_over import HandOver
from common.contract.retained import Alert
from common.log import structlog
from controller.journal.journal import Journal
from controller.journal.setup import RestoredBackup
from controller.mqtt.node_alert import node_alert
from controller.mqtt.served_table import ServedTable

RESTORED_ALERT_ID = "journal-restored"
"""Id of the alert for a journal that continues a backup."""
TAKEN_OVER_ALERT_ID = "taken-over"
"""Id of the alert for tables that another daemon has served before."""
Unpublished = tuple[RestoredBackup | HandOver, ...]
"""Restores and hand-overs that a table has not yet published."""


class JournalAlerts:
    """Raises and clears the alerts about the journal. ``changed`` is called when one has changed,
    ``health_due`` when the health has.
    """

    def __init__(
        self,
        *,
        journal: Journal,
        places: Mapping[str, ServedTable],
        alerts: dict[str, Alert],
        changed: Callable[[], None],
        health_due: Callable[[], None],
    ) -> None:
        self._journal = journal
        self._places = places
        self._alerts = alerts
        self._changed = changed
        self._health_due = health_due
        self._log = structlog.get_logger()

    def on_start(self, unpublished: Mapping[str, Unpublished]) -> None:
        """Raise the alerts for a restore and a hand-over that some tables have not published."""
        self._alert_restored(unpublished)
        self._alert_taken_over(unpublished)

    def on_change(self, trouble: str | None) -> None:
        """Report that the journal has failed or recovered. The tables show it at once, because a
        failed journal cannot store it first.
        """
        if trouble is None:
            self._log.info("journal is written again")
            self._alerts.pop("journal", None)
        else:
            self._log.error("journal cannot be written", reason=trouble, alert="journal")
            message = (
                f"{trouble}. Nothing is published and every command is refused until the journal "
                "can be written: free some space, or replace the disk"
            )
            self._alerts["journal"] = node_alert("journal", "journal.failed", message)
        for place in self._places.values():
            place.runner.halt(
                None if trouble is None else f"the journal cannot be written: {trouble}"
            )
        self._changed()
        self._health_due()

    def on_aside(self) -> None:
        """Raise the alert for a damaged journal, found at the start or at run time; at run time the
        tables continue in a new file.
        """
        aside, lost = self._journal.set_aside, self._journal.lost
        self._log.error("journal set aside", file=str(aside), lost=lost, alert="journal-set-aside")
        sentences = []
        if aside is not None:
            sentences.append(
                f"the journal was damaged and was set aside as {aside}: keep that file, and "
                "confirm every round that is unresolved"
            )
        if lost is not None:
            sentences.append(
                f"entries that were not yet published could not be read and are lost: {lost}"
            )
        message = ". ".join(sentences)
        self._alerts["journal-set-aside"] = node_alert(
            "journal-set-aside", "journal.set_aside", message
        )
        self._changed()

    def _alert_restored(self, unpublished: Mapping[str, Unpublished]) -> None:
        """Raise the "restored from backup" alert at the first start after a restore."""
        point = self._journal.restored
        tables = [table for table, points in unpublished.items() if point in points]
        if point is None or not tables:
            return
        self._log.error(
            "journal restored",
            tables=tables,
            since=point.since,
            position=point.position,
            alert=RESTORED_ALERT_ID,
        )
        message = (
            f"a backup of {point.since} was restored at {point.at}. Later events exist only at "
            f"subscribers. Sessions are closed and begin with a higher number at "
            f"{', '.join(tables)}; the alert ends with the next start of the daemon"
        )
        self._alerts[RESTORED_ALERT_ID] = node_alert(
            RESTORED_ALERT_ID, "journal.restored", message, "warning"
        )

    def _alert_taken_over(self, unpublished: Mapping[str, Unpublished]) -> None:
        """Raise the alert for tables that the other daemon of the pair has served before."""
        point = self._journal.hand_over
        tables = [table for table, points in unpublished.items() if point in points]
        if point is None or not tables:
            return
        cause = (
            "what another daemon did is unknown, because the store of the pair had lost its record"
            if point.forgotten
            else f"{point.instance} had the tables, and last reported at {point.since}"
        )
        self._log.error(
            "tables taken over",
            tables=tables,
            of=point.instance,
            since=point.since,
            at=point.at,
            alert=TAKEN_OVER_ALERT_ID,
        )
        if point.since > point.at:
            cause += (
                " by its own clock, which is ahead of this one, so the length of the gap is unknown"
            )
        message = (
            f"{cause}; this daemon took them over at {point.at}. What happened in between is "
            f"unknown. Sessions are closed and begin with a higher number at {', '.join(tables)}; "
            "the alert ends with the next start of the daemon"
        )
        self._alerts[TAKEN_OVER_ALERT_ID] = node_alert(
            TAKEN_OVER_ALERT_ID, "table.taken_over", message, "warning"
        )
