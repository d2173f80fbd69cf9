"""Jackpot controller: turns table events into ledger entries and publishes the meter.

Each message goes to the intake of its table, which converts it to facts (``table_feed.py``). All
pending facts are applied together and committed by a thread (``ledger_writer.py``); only committed
facts are published (``announcer.py``). If the disk refuses them, the jackpots go out of play and
everything returns to the committed state; the tables' events are recalled once the disk accepts
writes again (``recovery.py``).
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Callable, Coroutine, Iterable
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any

import msgspec

from common import randomness
from common.contract.jackpot import JackpotState
from common.contract.node import NodeStatus
from common.contract.topics import Topics
from common.metrics.endpoint import HttpResponse, serve
from common.metrics.text import TEXT_CONTENT_TYPE, exposition
from common.people.seen import SeenCommands
from subscribers.carrousel.alerting import AlertReporter
from subscribers.carrousel.announcer import Announcer
from subscribers.carrousel.fact_applier import FactApplier
from subscribers.carrousel.fact_queue import FactQueue
from subscribers.carrousel.ledger_check import LedgerCheck
from subscribers.carrousel.ledger_proof import LedgerProof
from subscribers.carrousel.ledger_writer import LedgerWriter
from subscribers.carrousel.linked_tables import LinkedTables
from subscribers.carrousel.metrics import FAMILIES, ControllerHealth, JackpotCounts, metric_values
from subscribers.carrousel.order_desk import OrderDesk
from subscribers.carrousel.orders import OrderPeople, Orders
from subscribers.carrousel.periodic import PeriodicWork
from subscribers.carrousel.recalls import TableRecalls
from subscribers.carrousel.recovery import LedgerRecovery
from subscribers.carrousel.routing import MessageRouter
from subscribers.carrousel.runtime import JackpotRuntime
from subscribers.carrousel.self_check import check_program
from subscribers.carrousel.settings import CarrouselSettings
from subscribers.carrousel.startup import Startup
from subscribers.carrousel.statement_of_state import ControllerRun
from subscribers.carrousel.status import ControllerStatus
from subscribers.carrousel.store import LedgerStore
from subscribers.carrousel.table_check import TableCheck
from subscribers.carrousel.table_feed import Routes, TableFeed
from subscribers.carrousel.unlinked_tables import UnlinkedTables
from subscribers.essential import essential
from subscribers.feed.connection import ServiceConnection
from subscribers.feed.recall_key import RecallKey

FLUSH_TIMEOUT_SECONDS = 3.0
"""Maximum time to publish the last statements."""
_CLIENT = re.compile(r"[A-Za-z0-9_-]{1,64}")


class JackpotController:
    """The controller of all jackpots: creates its parts, runs them, and ends them in order. Raises
    ``PrivateKeyError`` and ``OSError`` for the reader's key. ``open_ledger`` opens its ledger;
    ``check_program`` returns the program's digest.
    """

    def __init__(
        self,
        settings: CarrouselSettings,
        *,
        open_ledger: Callable[[Path], LedgerStore] = LedgerStore,
        check_program: Callable[[], str] = check_program,
    ) -> None:
        self._settings = settings
        boot = randomness.token_hex(4)
        self.status = status = ControllerStatus()
        self._tables = tables = LinkedTables(status=status, clock_bound=settings.clock_bound)
        people = OrderPeople(
            settings.people_file, settings.people_key, settings.site, Path(settings.ledger)
        )
        key = _recall_key(settings)
        seen_orders = SeenCommands()
        self.jackpots = jackpots = _jackpots(settings, status, tables, people, seen_orders)
        client = _client_id(settings)
        roots = {
            simulated: Topics(settings.site, simulated).root
            for simulated in sorted({jackpot.simulated for jackpot in settings.jackpots})
        }
        own_topics = Topics(settings.site, all(jackpot.simulated for jackpot in settings.jackpots))
        self._online, self._offline = (
            msgspec.json.encode(NodeStatus(word, boot)) for word in ("online", "offline")
        )
        self._status_topic = own_topics.node(settings.node, "status")
        self._connection = connection = ServiceConnection(
            settings.broker,
            _subscriptions(roots.values(), jackpots.values()),
            (self._status_topic, self._offline),
            lambda topic, body, retained: self._router.on_message(topic, body, retained),
            self._on_link,
        )
        self._counts = counts = JackpotCounts()
        alerts = AlertReporter(jackpots=jackpots, counts=counts)
        recalls = TableRecalls(
            connection=connection, tables=tables, people=people, key=key, client=client
        )
        queue = FactQueue(status=status)
        applier = FactApplier(
            status=status, jackpots=jackpots, tables=tables, alerts=alerts, counts=counts
        )
        check = LedgerCheck(status=status)
        self.announcer = announcer = Announcer(
            run=ControllerRun(site=settings.site, boot=boot, keepalive=settings.keepalive),
            status=status,
            jackpots=jackpots,
            alerts=alerts,
            connection=connection,
        )
        self._proof = proof = LedgerProof(
            status=status,
            connection=connection,
            topic=own_topics.node(settings.node, "checkpoint"),
            boot=boot,
        )
        self._writer = LedgerWriter(
            status=status,
            queue=queue,
            applier=applier,
            check=TableCheck(
                status=status,
                jackpots=jackpots,
                tables=tables,
                applier=applier,
                alerts=alerts,
                clock_bound=settings.clock_bound,
            ),
            tables=tables,
            recalls=recalls,
            alerts=alerts,
            announcer=announcer,
            proof=proof,
            recovery=LedgerRecovery(
                status=status,
                jackpots=jackpots,
                tables=tables,
                recalls=recalls,
                applier=applier,
                alerts=alerts,
                check=check,
            ),
        )
        routes: Routes = {}
        self._startup = Startup(
            settings=settings,
            boot=boot,
            status=status,
            jackpots=jackpots,
            tables=tables,
            feed=TableFeed(
                status=status,
                tables=tables,
                recalls=recalls,
                queue=queue,
                alerts=alerts,
                connection=connection,
                routes=routes,
                roots=roots.values(),
                client=client,
                clock_bound=settings.clock_bound,
            ),
            applier=applier,
            alerts=alerts,
            seen_orders=seen_orders,
            check=check,
            open_ledger=open_ledger,
            check_program=check_program,
        )
        self._desks = desks = {
            name: OrderDesk(
                jackpot=jackpot,
                status=status,
                tables=tables,
                queue=queue,
                alerts=alerts,
                counts=counts,
                connection=connection,
            )
            for name, jackpot in jackpots.items()
        }
        self._router = MessageRouter(
            routes=routes,
            roots=roots,
            status=status,
            jackpots=jackpots,
            desks=desks,
            tables=tables,
            unlinked=UnlinkedTables(
                site=settings.site,
                status=status,
                jackpots=jackpots,
                alerts=alerts,
                connection=connection,
                routes=routes,
            ),
            announcer=announcer,
        )
        self._periodic = PeriodicWork(
            status=status,
            jackpots=jackpots,
            desks=desks,
            people=people,
            recalls=recalls,
            announcer=announcer,
            proof=proof,
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
            connected=self._connection.up,
        )

    async def _metrics(self) -> HttpResponse:
        health = self.health()
        samples = metric_values(
            self._counts,
            health.states,
            health.open_alerts,
            entries=health.entries,
            connected=health.connected,
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


def _jackpots(
    settings: CarrouselSettings,
    status: ControllerStatus,
    tables: LinkedTables,
    people: OrderPeople,
    seen_orders: SeenCommands,
) -> dict[str, JackpotRuntime]:
    """Return the jackpots by their ids."""
    jackpots = {}
    for jackpot in settings.jackpots:
        name, topics = jackpot.terms.jackpot, Topics(settings.site, jackpot.simulated)
        orders = Orders(
            jackpot=name,
            audience=f"{topics.root}/jackpot/{name}",
            tables=partial(tables.names_of, name),
            state=partial(status.state_of, name),
            people=people,
            seen=seen_orders,
        )
        jackpots[name] = JackpotRuntime(settings=jackpot, topics=topics, orders=orders)
    return jackpots


def _recall_key(settings: CarrouselSettings) -> RecallKey | None:
    """Return the key that signs recalls; None if they are not signed."""
    if settings.recall_key is None or settings.recall_passphrase is None:
        return None
    return RecallKey(Path(settings.recall_key), Path(settings.recall_passphrase))


def _client_id(settings: CarrouselSettings) -> str:
    """Return the client id of recalls: the user name at the broker if it can be one."""
    user = settings.broker.username or ""
    return user if _CLIENT.fullmatch(user) else f"carrousel-{randomness.token_urlsafe(9)}"


def _subscriptions(roots: Iterable[str], jackpots: Iterable[JackpotRuntime]) -> list[str]:
    """Return the topics of all nodes and of the jackpots."""
    nodes = [f"{root}/node/+/{leaf}" for root in roots for leaf in ("status", "health")]
    leaves = ("state", "command/+", "alert/+")
    return [*nodes, *(jackpot.topic(leaf) for jackpot in jackpots for leaf in leaves)]
