"""The archivist: what keeps the journal provable. Stores bytes that led to nothing, begins and seals days, signs checkpoints.

It works beside the tables, which never wait for it. What it cannot do is an alert, and is tried again.
"""

from __future__ import annotations

import asyncio
import sqlite3
import time
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Literal

import structlog

from controller.boot import boot
from controller.configuration import Configuration
from controller.journal.journal import Journal
from controller.journal.schema import JournalUnusable, Record
from controller.proof.checkpoint import Checkpoint
from controller.proof.notary import Notary
from controller.proof.sealing import seal
from controller.proof.segment import Broken
from controller.retained import Alert
from controller.station import Station
from controller.times import utc
from controller.wire import PERIOD


class Archivist:
    """Works for one daemon. ``alerts``: where it says what is wrong; ``changed`` is called when it has."""

    def __init__(
        self, configuration: Configuration, run: str, journal: Journal, alerts: dict[str, Alert], changed: Callable[[], None]
    ) -> None:
        self._journal = journal
        self._run = run
        self._keep_days = configuration.journal.keep_days
        self._alerts = alerts
        self._changed = changed
        self._notary = Notary(Path(configuration.journal.path), run, configuration.journal.key_credential)
        self._sealing: str | None = None
        self._today = ""
        self._log = structlog.get_logger()
        self._notary.look_for_cut(journal.id, journal.checkpoint(), journal.hash_at)
        self._configuration = configuration
        self._append_boot(continues=False)
        self._say()

    def checkpoint(self) -> Checkpoint:
        """The end of the journal's chain, now, signed."""
        made = self._notary.checkpoint(self._journal.id, self._journal.checkpoint())
        self._say()
        return made

    def flush(self, stations: Iterable[Station]) -> None:
        """Store what the devices sent and nobody has stored."""
        for station in stations:
            station.flush()

    async def run(self, stations: Iterable[Station], acknowledged: Callable[[], int]) -> None:
        """Once a minute, until cancelled. ``acknowledged``: up to which position the journal is published."""
        stations = list(stations)
        self._today = utc(time.time())[:10]
        while True:
            await self._seal(acknowledged())
            await asyncio.sleep(PERIOD)
            self.flush(stations)
            if (today := utc(time.time())[:10]) != self._today:
                self._today = today
                self._append_boot(continues=True)
                for station in stations:
                    station.new_day()

    async def _seal(self, acknowledged: int) -> None:
        key = self._notary.signer
        if key is None or self._journal.failed is not None:
            return  # said elsewhere
        try:
            done = await asyncio.to_thread(
                seal, self._journal.path, key, self._run, utc(time.time()), acknowledged, self._keep_days
            )
        except (OSError, sqlite3.Error, JournalUnusable, Broken) as error:
            self._sealing = f"a day of the journal cannot be sealed, and nothing is removed until it can: {error}"
        else:
            self._sealing = None
            if done.cut:
                self._journal.cut(done.cut)
        self._say()

    def _append_boot(self, *, continues: bool) -> None:
        now = utc(time.time())
        body = boot(self._configuration, self._notary.key, continues=continues)
        record = Record(table="", boot=self._run, seq=0, time=now, mono_ns=time.monotonic_ns(), before=(("boot", body),))
        self._journal.append(record).add_done_callback(lambda stored: stored.cancelled() or stored.exception())

    def _say(self) -> None:
        """Raise and clear the alerts."""
        notary = self._notary
        unsigned = notary.trouble and f"checkpoints are not signed, and no day is sealed: {notary.trouble}"
        stands: dict[str, tuple[str, Literal["warning", "fault"], str | None]] = {
            "journal-key": ("journal.key", "fault", unsigned),
            "journal-key-changed": ("journal.key_changed", "warning", notary.changed),
            "journal-cut": ("journal.cut", "fault", notary.cut),
            "journal-seal": ("journal.seal", "warning", self._sealing),
            "journal-checkpoint": ("journal.checkpoint", "warning", notary.not_kept),
        }
        was = {name: alert.detail for name in stands if (alert := self._alerts.get(name))}
        for name, (what, severity, detail) in stands.items():
            if detail is None:
                self._alerts.pop(name, None)
            elif was.get(name) != detail:
                self._log.error("alert", alert=name, reason=detail)
                self._alerts[name] = Alert(alert=name, what=what, severity=severity, raised=utc(time.time()), detail=detail)
        if was != {name: alert.detail for name in stands if (alert := self._alerts.get(name))}:
            self._changed()
