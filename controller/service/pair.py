"""The daemon's place in a pair: it waits for the lease of its tables, and serves while it has
it.
"""

from __future__ import annotations

import asyncio
import contextlib
import socket
import time
from collections.abc import AsyncIterator, Callable
from importlib import import_module
from pathlib import Path
from typing import Any

import msgspec
from msgspec.structs import replace

from controller.configuration.listening import address
from controller.configuration.settings import Configuration, Standby
from controller.contract.node import ReloadHealth, StandbyHealth
from controller.contract.times import utc
from controller.contract.version import VERSION
from controller.journal.journal import Journal
from controller.journal.schema import new_boot
from controller.journal.setup import Boot, Tenure
from controller.mqtt.publisher import Exclusive
from controller.service import logs
from controller.service.reload import Reload
from controller.service.reload_answer import Answer, write_answer
from controller.service.systemd_notify import notify
from controller.standby.fence import Fence
from controller.standby.lease import Own
from controller.standby.record import Record
from controller.standby.right import Candidate, Progress, Right, machine, patience
from controller.standby.store import Store
from devices.log import structlog


def instance(settings: Standby) -> str:
    """The name of this machine in the pair."""
    return settings.instance or socket.gethostname().partition(".")[0].lower()


class Pair:
    """One daemon of two. It opens its journal at once, and nothing else before it has the lease.
    Until then it reads its configuration again from ``file``. Raises ``JournalUnusableError``.
    """

    def __init__(self, configuration: Configuration, file: Path | None = None) -> None:
        settings = configuration.standby
        assert settings is not None
        self.boot = new_boot()
        self.journal = Journal(Path(configuration.journal.path))
        self._settings = settings
        self.reloaded: ReloadHealth | None = None
        """How the configuration was last taken over while we waited."""
        self._reload = Reload(configuration, file, self._tell_reload)
        self._store = Store(settings, configuration.site.node, patience(settings.lease))
        self._fence = Fence(logs.drain)
        self._own, self._before = _own(self.journal, instance(settings), self.boot)
        self._right: Right | None = None
        self._last: Progress | None = None
        self._status = ""
        self._log = structlog.get_logger()

    @property
    def configuration(self) -> Configuration:
        """By which the tables are to be served."""
        return self._reload.now

    async def wait(self, stop: asyncio.Event, again: asyncio.Event) -> bool:
        """Until the lease is ours: True; or until ``stop``. Meanwhile, whenever ``again`` is set,
        the configuration is read again.
        """
        self.journal.announce()
        self._log.info("daemon waits for the lease of its tables", instance=self._own.instance)
        self._say("waits for the lease of its tables", "READY=1")
        candidate = Candidate(
            *(self._own, self._settings.lease, self._store, self._fence),
            told=self._tell,
            alive=lambda: notify("WATCHDOG=1"),
        )
        taking, stopping = (
            asyncio.create_task(candidate.wait()),
            asyncio.create_task(stop.wait()),
        )
        reloading = asyncio.create_task(self._reload.run(again))
        tasks: list[asyncio.Task[Any]] = [taking, stopping, reloading]
        if listen := self.configuration.metrics.listen:
            tasks.append(asyncio.create_task(self._answer(listen)))
        try:
            await asyncio.wait((taking, stopping, reloading), return_when=asyncio.FIRST_COMPLETED)
            if reloading.done():
                reloading.result()  # a defect, which ends the daemon
            if not taking.done():
                return False
            self._right = taking.result()
        finally:
            for task in tasks:
                task.cancel()
            await asyncio.wait(tasks)
        record = self._held.record
        self._log.info(
            "lease taken", instance=record.instance, term=record.term, first=record.first
        )
        return True

    @contextlib.asynccontextmanager
    async def renewing(self) -> AsyncIterator[None]:
        """Renew the lease meanwhile."""
        keeping = asyncio.create_task(self._held.keep(), name="lease")
        keeping.add_done_callback(self._note_end)
        try:
            yield
        finally:
            keeping.cancel()
            await asyncio.wait([keeping])

    def _note_end(self, keeping: asyncio.Task[None]) -> None:
        """A defect: nothing renews the lease any more, and the process ends with it."""
        if not keeping.cancelled():
            self._log.error("the lease is renewed no longer", exc_info=keeping.exception())

    def begin(self) -> Tenure:
        """By which right the daemon serves, as its journal keeps it. A hand-over is told by every
        table whose state is older than it.
        """
        record = self._held.record
        tenure = self._held.tenure
        if self._before is not None and record.first <= self._own.term <= record.term:
            before = self._before.before
        elif (before := tenure.before) is not None:
            restored = self.journal.restored
            sessions = dict(before.sessions)
            for table, last in ({} if restored is None else restored.sessions).items():
                sessions[table] = max(last, sessions.get(table, 0))
            before = replace(
                before, at=record.since, through=self.journal.head(), sessions=sessions
            )
        self.journal.handed = before
        return replace(tenure, before=before)

    def health(self) -> StandbyHealth:
        """What the daemon says of it."""
        record = self._held.record
        return StandbyHealth(instance=record.instance, term=record.term, since=record.since)

    def exclusive(self) -> Exclusive:
        """What the publisher asks before it writes."""
        right = self._held
        return Exclusive(right.hold, right.confirm, taken_over=self.journal.handed is not None)

    def hold(self) -> None:
        """Return if we may write now; otherwise the process ends here."""
        self._held.hold()

    def tell(self, progress: Callable[[], Progress]) -> None:
        """What the store is told from now on with each renewal."""
        self._held.progress = progress

    def ended(self, last: Progress) -> None:
        """Nothing is published any more, and the journal ends so."""
        self._last = last

    async def release(self) -> None:
        """Give the lease back, once all has ended in order."""
        if self._last is not None:
            await self._held.release(self._last)

    async def close(self) -> None:
        """End the connection to the store, and close the journal."""
        self._fence.lift()
        await self._store.close()
        await asyncio.to_thread(self.journal.close)

    @property
    def _held(self) -> Right:
        assert self._right is not None
        return self._right

    def _tell(self, record: Record | None, trouble: str | None) -> None:
        if trouble is not None:
            self._log.warning("the store of the lease does not answer", reason=trouble)
            self._say(f"waits; the store of the lease does not answer: {trouble[:200]}")
        elif record is None:
            self._say("waits; nobody has had the lease yet")
        else:
            who = f"{record.instance} {'gave back' if record.released else 'has'} the tables"
            if self._seen != (who, record.term):
                self._seen = who, record.term
                self._log.info(
                    "another daemon has the lease",
                    instance=record.instance,
                    term=record.term,
                    released=record.released,
                )
            self._say(f"waits: {who}, term {record.term}")

    _seen: tuple[str, int] = "", 0

    def _say(self, status: str, *lines: str) -> None:
        """Tell the service manager, also of a configuration that was not taken over."""
        self._status = status
        trouble = None if self.reloaded is None else self.reloaded.trouble
        if trouble is not None:
            status += f"; configuration not taken over: {' '.join(trouble.split())[:200]}"
        notify(*lines, f"STATUS={status}")

    def _tell_reload(self, told: ReloadHealth, begun: int) -> None:
        """``begun``: when the file began to be read, by the monotonic clock in nanoseconds."""
        self.reloaded = told
        write_answer(self.journal.path, Answer(self.boot, begun, told, waits=True))
        self._say(self._status, "READY=1")

    async def _answer(self, listen: str) -> None:
        """Answer Prometheus while we wait."""
        from controller.metrics import endpoint
        from controller.service.metrics import waiting_page

        await asyncio.to_thread(import_module, "prometheus_client")
        site = self.configuration.site
        page = waiting_page(site.id, site.node, VERSION, lambda: self.reloaded)
        await endpoint.serve(address(listen), {b"/metrics": page})


def _own(journal: Journal, name: str, boot: str) -> tuple[Own, Tenure | None]:
    last, entry = journal.latest("boot"), journal.latest()
    tenure = None if last is None else msgspec.json.decode(last.body, type=Boot).standby
    own = Own(
        instance=name,
        boot=boot,
        journal=journal.id,
        machine=machine(),
        term=0 if tenure is None else tenure.term,
        until=utc(time.time()) if entry is None else entry.time,
    )
    return own, tenure
