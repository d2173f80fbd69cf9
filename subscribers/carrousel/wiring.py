"""Builds the parts of the jackpot controller: what several of them share, then each of the rest."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from functools import partial
from pathlib import Path

import msgspec

from common import randomness
from common.contract.topics import Topics
from common.people.seen import SeenCommands
from subscribers.carrousel.alerting import AlertReporter
from subscribers.carrousel.announcer import Announcer
from subscribers.carrousel.fact_applier import FactApplier
from subscribers.carrousel.fact_queue import FactQueue
from subscribers.carrousel.ledger_check import LedgerCheck
from subscribers.carrousel.ledger_proof import LedgerProof
from subscribers.carrousel.ledger_writer import LedgerWriter
from subscribers.carrousel.linked_tables import LinkedTables
from subscribers.carrousel.metrics import JackpotCounts
from subscribers.carrousel.order_desk import OrderDesk
from subscribers.carrousel.orders import OrderPeople, Orders
from subscribers.carrousel.recalls import TableRecalls
from subscribers.carrousel.recovery import LedgerRecovery
from subscribers.carrousel.routing import MessageRouter
from subscribers.carrousel.runtime import JackpotRuntime
from subscribers.carrousel.settings import CarrouselSettings
from subscribers.carrousel.startup import Startup
from subscribers.carrousel.statement_of_state import ControllerRun
from subscribers.carrousel.status import ControllerStatus
from subscribers.carrousel.store import LedgerStore
from subscribers.carrousel.table_check import TableCheck
from subscribers.carrousel.table_feed import Routes, TableFeed
from subscribers.carrousel.tenure import LedgerTenure
from subscribers.carrousel.unlinked_tables import UnlinkedTables
from subscribers.feed.connection import KEEPALIVE_SECONDS, ServiceConnection
from subscribers.feed.recall_key import RecallKey

_CLIENT = re.compile(r"[A-Za-z0-9_-]{1,64}")


class SharedParts(msgspec.Struct, frozen=True, kw_only=True):
    """What several parts of one run work with."""

    settings: CarrouselSettings
    boot: str
    """The id of this run."""
    client: str
    """The client id of recalls."""
    roots: dict[bool, str]
    """The topic root of the tables, by whether they are simulated."""
    routes: Routes
    status: ControllerStatus
    tables: LinkedTables
    people: OrderPeople
    seen_orders: SeenCommands
    jackpots: dict[str, JackpotRuntime]
    counts: JackpotCounts
    connection: ServiceConnection
    alerts: AlertReporter
    queue: FactQueue
    applier: FactApplier
    recalls: TableRecalls
    ledger_check: LedgerCheck


def shared_parts(
    settings: CarrouselSettings,
    *,
    boot: str,
    will: tuple[str, bytes],
    on_message: Callable[[str, bytes, bool], None],
    on_link: Callable[[bool], None],
    tenure: LedgerTenure | None,
) -> SharedParts:
    """Build what several parts share. ``will``: topic and body that the broker publishes when the
    connection is lost; ``tenure``: set in a pair. Raises ``PrivateKeyError`` and ``OSError`` for
    the reader's key.
    """
    status, counts, seen_orders = ControllerStatus(), JackpotCounts(), SeenCommands()
    tables = LinkedTables(status=status, clock_bound=settings.clock_bound)
    people = order_people(settings) if tenure is None else tenure.people
    key, client = _recall_key(settings), _client_id(settings)
    jackpots = _jackpots(settings, status, tables, people, seen_orders)
    roots = {
        simulated: Topics(settings.site, simulated).root
        for simulated in sorted({jackpot.simulated for jackpot in settings.jackpots})
    }
    connection = ServiceConnection(
        settings.broker,
        _subscriptions(roots.values(), jackpots.values()),
        will,
        on_message,
        on_link,
        exclusive=tenure,
        keepalive=KEEPALIVE_SECONDS if tenure is None else tenure.keepalive,
    )
    alerts = AlertReporter(jackpots=jackpots, counts=counts)
    return SharedParts(
        settings=settings,
        boot=boot,
        client=client,
        roots=roots,
        routes={},
        status=status,
        tables=tables,
        people=people,
        seen_orders=seen_orders,
        jackpots=jackpots,
        counts=counts,
        connection=connection,
        alerts=alerts,
        queue=FactQueue(status=status),
        applier=FactApplier(
            status=status, jackpots=jackpots, tables=tables, alerts=alerts, counts=counts
        ),
        recalls=TableRecalls(
            connection=connection, tables=tables, people=people, key=key, client=client
        ),
        ledger_check=LedgerCheck(status=status),
    )


def order_people(settings: CarrouselSettings) -> OrderPeople:
    """Build what knows who may give orders."""
    return OrderPeople(
        settings.people_file, settings.people_key, settings.site, Path(settings.ledger)
    )


def announcer(shared: SharedParts) -> Announcer:
    """Build what publishes the jackpots and their alerts."""
    settings = shared.settings
    return Announcer(
        run=ControllerRun(site=settings.site, boot=shared.boot, keepalive=settings.keepalive),
        status=shared.status,
        jackpots=shared.jackpots,
        alerts=shared.alerts,
        connection=shared.connection,
    )


def ledger_writer(
    shared: SharedParts, announcer: Announcer, proof: LedgerProof, tenure: LedgerTenure | None
) -> LedgerWriter:
    """Build what commits facts, checks the tables, and recovers once the disk accepts writes."""
    return LedgerWriter(
        status=shared.status,
        queue=shared.queue,
        applier=shared.applier,
        check=TableCheck(
            status=shared.status,
            jackpots=shared.jackpots,
            tables=shared.tables,
            applier=shared.applier,
            alerts=shared.alerts,
            clock_bound=shared.settings.clock_bound,
        ),
        tables=shared.tables,
        recalls=shared.recalls,
        alerts=shared.alerts,
        announcer=announcer,
        proof=proof,
        recovery=LedgerRecovery(
            status=shared.status,
            jackpots=shared.jackpots,
            tables=shared.tables,
            recalls=shared.recalls,
            applier=shared.applier,
            alerts=shared.alerts,
            check=shared.ledger_check,
        ),
        tenure=tenure,
    )


def startup(
    shared: SharedParts,
    open_ledger: Callable[[Path], LedgerStore],
    check_program: Callable[[], str],
    tenure: LedgerTenure | None,
) -> Startup:
    """Build what opens and verifies the ledger, and then starts the feeds of the tables."""
    settings = shared.settings
    return Startup(
        settings=settings,
        boot=shared.boot,
        status=shared.status,
        jackpots=shared.jackpots,
        tables=shared.tables,
        feed=TableFeed(
            status=shared.status,
            tables=shared.tables,
            recalls=shared.recalls,
            queue=shared.queue,
            alerts=shared.alerts,
            connection=shared.connection,
            routes=shared.routes,
            roots=shared.roots.values(),
            client=shared.client,
            clock_bound=settings.clock_bound,
        ),
        applier=shared.applier,
        alerts=shared.alerts,
        seen_orders=shared.seen_orders,
        check=shared.ledger_check,
        open_ledger=open_ledger,
        check_program=check_program,
        tenure=tenure,
    )


def order_desks(shared: SharedParts) -> dict[str, OrderDesk]:
    """Build what executes the orders to each jackpot."""
    return {
        name: OrderDesk(
            jackpot=jackpot,
            status=shared.status,
            tables=shared.tables,
            queue=shared.queue,
            alerts=shared.alerts,
            counts=shared.counts,
            connection=shared.connection,
        )
        for name, jackpot in shared.jackpots.items()
    }


def message_router(
    shared: SharedParts, desks: Mapping[str, OrderDesk], announcer: Announcer
) -> MessageRouter:
    """Build what passes each message of the broker to its part."""
    return MessageRouter(
        routes=shared.routes,
        roots=shared.roots,
        status=shared.status,
        jackpots=shared.jackpots,
        desks=desks,
        tables=shared.tables,
        unlinked=UnlinkedTables(
            site=shared.settings.site,
            status=shared.status,
            jackpots=shared.jackpots,
            alerts=shared.alerts,
            connection=shared.connection,
            routes=shared.routes,
        ),
        announcer=announcer,
    )


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
