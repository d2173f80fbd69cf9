"""Jackpot controller: turns table events into ledger entries and publishes the meter.

Each message goes to the intake of its table, which converts it to facts (``table_feed.py``). All
pending facts are applied together and committed by a thread (``ledger_writer.py``); only committed
facts are published (``announcer.py``). If the disk refuses them, the jackpots go out of play and
everything returns to the committed state; the tables' events are recalled once the disk accepts
writes again (``recovery.py``).
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from contextlib import suppress
from pathlib import Path
from typing import Any

import msgspec

from common import randomness
from common.contract.jackpot import JackpotState
from common.contract.node import NodeStatus
from common.contract.topics import Topics
from common.metrics.endpoint import HttpResponse, serve
from common.metrics.text import TEXT_CONTENT_TYPE, exposition
from subscribers.carrousel import wiring
from subscribers.carrousel.ledger_proof import LedgerProof
from subscribers.carrousel.metrics import FAMILIES, ControllerHealth, metric_values
from subscribers.carrousel.periodic import PeriodicWork
from subscribers.carrousel.self_check import check_program
from subscribers.carrousel.settings import CarrouselSettings
from subscribers.carrousel.store import LedgerStore
from subscribers.carrousel.tenure import LedgerTenure
from subscribers.essential import essential

FLUSH_TIMEOUT_SECONDS = 3.0
"""Maximum time to publish the last statements."""


class JackpotController:
    """The controller of all jackpots: creates its parts, runs them, and ends them in order. Raises
    ``PrivateKeyError`` and ``OSError`` for the reader's key. ``open_ledger`` opens its ledger;
    ``check_program`` returns the program's digest; ``tenure``: set in a pair.
    """

    def __init__(
        self,
        settings: CarrouselSettings,
        *,
        open_ledger: Callable[[Path], LedgerStore] = LedgerStore,
        check_program: Callable[[], str] = check_program,
        tenure: LedgerTenure | None = None,
    ) -> None:
        self._settings, self._tenure = settings, tenure
        boot = randomness.token_hex(4)
        topics = Topics(settings.site, all(jackpot.simulated for jackpot in settings.jackpots))
        self._status_topic = topics.node(settings.node, "status")
        self._online, self._offline = (
            msgspec.json.encode(NodeStatus(word, boot)) for word in ("online", "offline")
        )
        shared = wiring.shared_parts(
            settings,
            boot=boot,
            will=(self._status_topic, self._offline),
            on_message=lambda topic, body, retained: self._router.on_message(topic, body, retained),
            on_link=self._on_link,
            tenure=tenure,
        )
        self.status, self.jackpots = shared.status, shared.jackpots
        self._tables, self._counts = shared.tables, shared.counts
        self.alerts = shared.alerts
        self._connection = shared.connection
        self.announcer = wiring.announcer(shared)
        self._proof = LedgerProof(
            status=shared.status,
            connection=shared.connection,
            topic=topics.node(settings.node, "checkpoint"),
            boot=boot,
        )
        self._writer = wiring.ledger_writer(shared, self.announcer, self._proof, tenure)
        self._startup = wiring.startup(shared, open_ledger, check_program, tenure)
        self._desks = wiring.order_desks(shared)
        self._router = wiring.message_router(shared, self._desks, self.announcer)
        self._periodic = PeriodicWork(
            status=shared.status,
            jackpots=shared.jackpots,
            desks=self._desks,
            people=shared.people,
            recalls=shared.recalls,
            announcer=self.announcer,
            proof=self._proof,
        )

    async def run(self, ending: asyncio.Event) -> None:
        """Run until ``ending`` is set."""
        self._tables.link(self.jackpots)
        connection = self._connection
        async with asyncio.TaskGroup() as group:

            def start(name: str, work: Coroutine[Any, Any, object]) -> asyncio.Task[None]:
                return group.create_task(essential(name, work, ending), name=name)

            tasks = [
                start("connection", connection.run()),
                writer := start("ledger", self._writer.run()),
                start("clock", self._periodic.run()),
                *(start(f"jackpot {name}", desk.run()) for name, desk in self._desks.items()),
                group.create_task(self._startup.run()),
            ]
            if self._settings.listen is not None:
                pages = {b"/metrics": self._metrics}
                tasks.append(start("metrics", serve(self._settings.listen, pages)))
            await ending.wait()
            self.status.is_ending = True
            self.status.work.set()
            await writer
            final_messages = {
                **self.announcer.last_statements(),
                self._status_topic: self._offline,
            }
            with suppress(Exception):  # without a broker the statements expire by themselves
                async with asyncio.timeout(FLUSH_TIMEOUT_SECONDS):
                    await connection.flush(final_messages)
            connection.end()
            for task in tasks:
                task.cancel()
        if self.status.books is not None:
            self.status.books.store.close()

    @property
    def is_connected(self) -> bool:
        """Whether the broker is connected."""
        return self._connection.up

    def health(self) -> ControllerHealth:
        """Return the health of the controller."""
        books = self.status.books
        return ControllerHealth(
            states={
                name: msgspec.json.decode(jackpot.last_statement, type=JackpotState)
                for name, jackpot in self.jackpots.items()
                if jackpot.last_statement
            },
            open_alerts={name: len(jackpot.alerts.open) for name, jackpot in self.jackpots.items()},
            entries=0 if books is None else books.store.committed.position,
            connected=self.is_connected,
        )

    async def _metrics(self) -> HttpResponse:
        health = self.health()
        samples = metric_values(
            self._counts,
            health.states,
            health.open_alerts,
            entries=health.entries,
            connected=health.connected,
            standby=None if self._tenure is None else self._tenure.status,
        )
        return HttpResponse(await exposition(FAMILIES, samples), TEXT_CONTENT_TYPE)

    def _on_link(self, up: bool) -> None:
        """Handle the start or loss of the connection."""
        self._tables.on_disconnect()
        for jackpot in self.jackpots.values():
            jackpot.publish_soon()
            jackpot.alerts.changed |= jackpot.alerts.open.keys()
        if up:
            self._connection.retain(self._status_topic, self._online)
            self._proof.checkpoint_at = 0.0
        self.status.check_tables_soon()
