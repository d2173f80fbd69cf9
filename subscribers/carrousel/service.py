"""The running controller: the way of a coin from the broker to the ledger and to the meter.

A message is taken by the intake of its table, which makes facts of it. All facts that wait are
taken together, then committed by a thread; only what is committed is told. If the disk does not
take them, the jackpots are out of play, and everything goes back to what is committed: the tables
are asked for the rest once there is room.
"""

from __future__ import annotations

import asyncio
import re
import secrets
import time
from collections import deque
from collections.abc import Callable, Coroutine, Sequence
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any

import msgspec
from nacl.signing import SigningKey

from controller.contract.jackpot import (
    GapSettle,
    JackpotAlert,
    JackpotReply,
    JackpotState,
    OutOfPlay,
)
from controller.contract.node import NodeStatus
from controller.contract.orders import RECALL
from controller.contract.refusals import RejectedError
from controller.contract.times import moment, utc
from controller.contract.topics import Topics
from controller.contract.version import SOFTWARE
from controller.metrics.endpoint import HttpResponse, serve
from controller.metrics.text import TEXT_CONTENT_TYPE, exposition
from controller.people.seen import Seen
from controller.people.signed_command import Signed, claims_of, taken_before
from devices.log import structlog
from subscribers.carrousel.books import Books
from subscribers.carrousel.checkpoints import sign_head, signing_key
from subscribers.carrousel.facts import (
    AlertRaised,
    CaughtUp,
    ControllerStarted,
    Fact,
    OrderGiven,
    OrderNotFollowed,
    PlayStatus,
    ServedBy,
    Staked,
    TermsGiven,
    Won,
)
from subscribers.carrousel.intake import IntakeResult, IntakeRules
from subscribers.carrousel.jackpot import initial_state
from subscribers.carrousel.ledger_state import FactOutcome, JackpotLedgerState, OrderRefusedError
from subscribers.carrousel.mark import VerificationMark, write_mark
from subscribers.carrousel.metrics import FAMILIES, JackpotCounts, metric_values
from subscribers.carrousel.orders import (
    PERMANENT_REFUSALS,
    Orders,
    PeopleInForce,
    order_not_followed,
)
from subscribers.carrousel.schema import LedgerError
from subscribers.carrousel.self_check import (
    NotVerifiedError,
    check_ledger,
    check_program,
    configuration_digest,
)
from subscribers.carrousel.settings import CarrouselSettings, JackpotSettings
from subscribers.carrousel.stakes import REMEMBERED_ROUNDS
from subscribers.carrousel.statement_of_state import (
    ControllerRun,
    JackpotAlerts,
    PendingEchoes,
    encode_state,
)
from subscribers.carrousel.store import LedgerNotStoredError, LedgerStore
from subscribers.carrousel.tables import LinkedTable, NodeDirectory
from subscribers.carrousel.terms import Terms
from subscribers.carrousel.unlinked import describe_stake_or_award, jackpot_in_info
from subscribers.connection import ServiceConnection
from subscribers.essential import essential
from subscribers.recall_key import RecallKey, unsigned_recall

MIN_STATEMENT_INTERVAL_SECONDS = 0.02
"""Seconds between two statements of a jackpot, at least."""
TICK_SECONDS = 0.25
"""Seconds between two looks at what is due."""
TABLE_CHECK_INTERVAL_SECONDS = 1.0
"""Seconds after which is judged anew whether bets may be taken at a table, though nothing changed.
"""
CHECKPOINT_INTERVAL_SECONDS = 30.0
"""Seconds between two checkpoints, and between two marks of what is verified."""
PROGRESS_LOG_INTERVAL_SECONDS = 5.0
"""Seconds between two lines of the log that say how far the verification is."""
CURSOR_SAVE_INTERVAL_SECONDS = 5.0
"""Seconds after which is kept how far a table was heard that told nothing of a jackpot."""
EAGER_RECALL_SECONDS, RECALL_INTERVAL_SECONDS = 10.0, 2.0
"""For so many seconds after a hit all tables are asked at every tick; after that, so many seconds
pass between.
"""
MAX_WAITING_ORDERS = 20
"""Orders that wait, at most, for each jackpot."""
ORDER_INTERVAL_SECONDS = 0.01
"""Seconds between two orders of a jackpot."""
FOREIGN_STATE_CLEAR_SECONDS = 60.0
"""Seconds without somebody else's statement after which that is over."""
FOREIGN_STATE_ALERT_ID = "state-foreign"
"""The id of that alert."""
MAX_STORED_ALERTS = 200
"""Alerts of a jackpot that the ledger keeps, at most; more of them are told, and forgotten at a
restart.
"""
_CLIENT = re.compile(r"[A-Za-z0-9_-]{1,64}")

OutcomeFuture = asyncio.Future[FactOutcome]
PendingFact = tuple[str, Fact, OutcomeFuture | None]
"""A fact with its jackpot, and whom to answer."""


class JackpotRuntime:
    """One jackpot: what is told of it, and when it was last."""

    def __init__(self, settings: JackpotSettings, topics: Topics, orders: Orders) -> None:
        self.id = settings.terms.jackpot
        self.settings, self.topics, self.orders = settings, topics, orders
        self.alerts = JackpotAlerts()
        self.former_alerts: set[str] = set()
        """Alerts of a run before, which stand at the broker until the ledger is open."""
        self.changed = True
        self.published_at = 0.0
        self.last_hit = 0.0
        """When something was won last, on the monotonic clock."""
        self.last_recall = 0.0
        self.echoes = PendingEchoes()
        self.last_statement = b""
        """The statement that was published last."""
        self.foreign_seen_at = self.corrected_at = 0.0
        """When somebody else's statement was heard last, and when one was put right last."""
        self.waiting_orders: deque[tuple[str, bytes]] = deque()
        """The orders that nobody has looked at."""
        self.order_arrived = asyncio.Event()
        self.unsigned = self.overflowed = 0
        """Orders that were discarded: without a signature, and because too many waited."""
        self.reported_discards = (0, 0)
        """The same as it was told last."""


class JackpotController:
    """The controller of all jackpots. Raises ``PrivateKeyError`` and ``OSError`` for the key of the
    reader.
    """

    def __init__(self, settings: CarrouselSettings) -> None:
        self.settings = settings
        self.boot = secrets.token_hex(4)
        self._log = structlog.get_logger()
        self._run = ControllerRun(site=settings.site, boot=self.boot, keepalive=settings.keepalive)
        self._people = PeopleInForce(
            settings.people_file, settings.people_key, settings.site, Path(settings.ledger)
        )
        self._people_trouble: str | None = None
        """What the log said last of the people file."""
        self._reader = (
            None
            if settings.recall_key is None or settings.recall_passphrase is None
            else RecallKey(Path(settings.recall_key), Path(settings.recall_passphrase))
        )
        self._seen_orders = Seen()
        self.jackpots: dict[str, JackpotRuntime] = {}
        for each in settings.jackpots:
            topics = Topics(settings.site, each.simulated)
            name = each.terms.jackpot
            audience = f"{topics.root}/jackpot/{name}"
            known = partial(self._tables_of, name), partial(self._state_of, name)
            orders = Orders(name, audience, *known, self._people, self._seen_orders)
            self.jackpots[name] = JackpotRuntime(each, topics, orders)
        user = settings.broker.username or ""
        self._client = user if _CLIENT.fullmatch(user) else f"carrousel-{secrets.token_urlsafe(9)}"
        self.why: OutOfPlay | None = "not_verified"
        """Why the controller itself keeps everything out of play."""
        self._checking = True
        """Whether the check of itself is under way."""
        self.books: Books | None = None
        self._key: SigningKey | None = None
        self.tables: dict[str, LinkedTable] = {}
        self.unlinked: dict[tuple[bool, str], JackpotRuntime | None] = {}
        """Tables that no authorisation names, and whether each is simulated: the jackpot that it
        says it plays for.
        """
        self._nodes = {each: NodeDirectory(settings.clock_bound) for each in (False, True)}
        self._pending_facts: list[PendingFact] = []
        self._work = asyncio.Event()
        self._checkpoint_at = self._cursors_saved_at = self._checked_at = (
            self._tables_checked_at
        ) = self._progress_logged_at = self._marked_at = 0.0
        self._routes: dict[str, Callable[[bytes], None]] = {}
        self._connection: ServiceConnection | None = None
        self._ending = False
        self._counts = JackpotCounts()
        self._uncommitted: list[tuple[str, Fact]] = []
        """Facts that were taken, and are not committed yet."""
        self._store_trouble = ""
        """Why the ledger cannot be written, as it was told last."""

    # From start to end

    async def run(self, ending: asyncio.Event) -> None:
        """Until ``ending`` is set."""
        self._link_tables()
        listened = [
            *(f"{root}/node/+/{leaf}" for root in self._roots for leaf in ("status", "health")),
            *(
                each.topics.jackpot(each.id, leaf)
                for each in self.jackpots.values()
                for leaf in ("state", "command/+", "alert/+")
            ),
        ]
        self._connection = connection = ServiceConnection(
            self.settings.broker,
            listened,
            (self._status_topic, self._status("offline")),
            self._on_message,
            self._on_link,
        )
        async with asyncio.TaskGroup() as group:

            def start(name: str, work: Coroutine[Any, Any, object]) -> asyncio.Task[None]:
                return group.create_task(essential(name, work, ending), name=name)

            tasks = [
                start("connection", connection.run()),
                start("ledger", self._write()),
                start("clock", self._tick()),
                *(
                    start(f"jackpot {each.id}", self._process_orders(each))
                    for each in self._all_jackpots
                ),
                group.create_task(self._start()),
            ]
            if self.settings.listen is not None:
                pages = {b"/metrics": self._metrics}
                tasks.append(start("metrics", serve(self.settings.listen, pages)))
            await ending.wait()
            self._ending = True
            self._work.set()
            await tasks[1]
            ends = {each.id: self._encode_statement(each) for each in self._all_jackpots}
            for jackpot in self._all_jackpots:
                jackpot.echoes.add(ends[jackpot.id])
            last = {
                **{self._state_topic(each): ends[each.id] for each in self._all_jackpots},
                self._status_topic: self._status("offline"),
            }
            with suppress(Exception):  # whatever is wrong with the broker: the statements expire
                async with asyncio.timeout(3):
                    await connection.flush(last)
            connection.end()
            for task in tasks:
                task.cancel()
        if self.books is not None:
            self.books.store.close()

    async def _metrics(self) -> HttpResponse:
        """The answer to ``/metrics``."""
        connection = self._connection
        told = metric_values(
            self._counts,
            {
                each.id: msgspec.json.decode(each.last_statement, type=JackpotState)
                for each in self._all_jackpots
                if each.last_statement
            },
            {each.id: len(each.alerts.open) for each in self._all_jackpots},
            entries=0 if self.books is None else self.books.store.committed.position,
            connected=connection is not None and connection.up,
        )
        return HttpResponse(await exposition(FAMILIES, told), TEXT_CONTENT_TYPE)

    async def _start(self) -> None:
        """Check the program and the ledger, which may take long; then begin. Meanwhile and where
        something does not hold, everything is out of play.
        """
        try:
            program, store, key = await asyncio.to_thread(self._check)
            if not self._ending:
                self._open_books(program, store, key)
        except (NotVerifiedError, LedgerError, msgspec.DecodeError) as error:
            if self._ending:
                self._log.info("ended while the ledger was verified; it is as it was")
            else:
                self._log.error("the check of itself failed: not in play", evidence=str(error))
                for jackpot in self._all_jackpots:
                    self._alert(jackpot, "not-verified", "not_verified", str(error), fault=True)
        self._checking = False
        self._work.set()

    def _check(self) -> tuple[str, LedgerStore, SigningKey]:
        """The digest of the program, the ledger and its key. In a thread of its own."""
        program = check_program()
        store = LedgerStore(Path(self.settings.ledger))
        try:
            store.check_balances()
            own = self.settings.key
            key = signing_key(store.path, None if own is None else Path(own))
            check_ledger(store, key, self._on_progress, self._log_full_verification)
        except BaseException:
            store.close()
            raise
        return program, store, key

    def _log_full_verification(self, why: str) -> None:
        self._log.warning("the whole ledger is verified: not in play until then", reason=why)

    def _on_progress(self, position: int, of: int) -> None:
        if self._ending:
            raise NotVerifiedError("the controller ends")
        if time.monotonic() - self._progress_logged_at >= PROGRESS_LOG_INTERVAL_SECONDS:
            self._progress_logged_at = time.monotonic()
            self._log.info("verifying the ledger", entry=position, of=of)

    def _open_books(self, program: str, store: LedgerStore, key: SigningKey) -> None:
        """Take part from now on."""
        try:
            former = store.started()
            self.books = books = Books(store, self.jackpots)
            self._link_tables()
            self._restore_tables(books.reload())
            self._seen_orders.restore(taken_before(store.tokens()), time.time())
            now = utc(time.time())
            told = ControllerStarted(
                time=now,
                boot=self.boot,
                program=program,
                configuration=configuration_digest(self.settings),
                software=SOFTWARE,
            )
            for jackpot in self._all_jackpots:
                self._apply(jackpot.id, now, told)
                self._apply_terms(jackpot, now)
                jackpot.alerts.sync(books.states[jackpot.id].alerts)
                jackpot.alerts.changed |= jackpot.former_alerts
            if former is not None:
                self._report_changes(msgspec.json.decode(former, type=ControllerStarted), told)
            self._store_alerts(books, now)
            books.commit()
            self._on_committed()
        except BaseException:
            self.books = None
            store.close()
            raise
        self._link_tables()
        self._log.info(
            "carrousel up",
            boot=self.boot,
            program=program,
            configuration=told.configuration,
            entries=books.position,
        )
        self._key, self.why = key, None
        self._subscribe_tables()
        for jackpot in self._all_jackpots:
            jackpot.changed, jackpot.published_at = True, 0.0
        self._check_tables_soon()

    def _report_changes(self, former: ControllerStarted, now: ControllerStarted) -> None:
        """Whether it runs of other files, or with another configuration, than the last time."""
        changes: tuple[tuple[str, JackpotAlert, str, str], ...] = (
            ("program", "program_changed", former.program, now.program),
            ("configuration", "configuration_changed", former.configuration, now.configuration),
        )
        for name, what, before, after in changes:
            if before != after:
                detail = (
                    f"the {name} is another one since {now.time}: SHA-256 {after}, and {before} "
                    f"when the controller started at {former.time}; ask who changed it"
                )
                for jackpot in self._all_jackpots:
                    self._alert(jackpot, f"{name}-changed", what, detail)

    def _subscribe_tables(self) -> None:
        """Hear the tables."""
        routes: dict[str, Callable[[bytes], None]] = {}
        for table in self.tables.values():
            topic = table.topic
            routes |= {
                f"{topic}/event": partial(self._on_event, table),
                f"{topic}/state": partial(self._on_table_state, table),
                f"{topic}/info": partial(self._on_table_info, table),
                f"{topic}/reply/{self._client}": partial(self._on_reply, table),
            }
        self._routes |= routes
        assert self._connection is not None
        for topic in (*routes, *(f"{root}/+/info" for root in self._roots)):
            if topic not in routes or not topic.endswith("/info"):
                self._connection.listen(topic)

    def _apply_terms(self, jackpot: JackpotRuntime, now: str) -> None:
        assert self.books is not None
        state, terms = self.books.states[jackpot.id], jackpot.settings.terms
        if terms != (state.waiting or state.terms):
            given = TermsGiven(time=now, terms=msgspec.to_builtins(terms))
            self._apply(jackpot.id, now, given)

    def _link_tables(self) -> None:
        """Know the tables of each jackpot, by the terms in force and by the configuration."""
        for jackpot in self._all_jackpots:
            rules = self._rules(jackpot)
            for table in (*rules.tables, *jackpot.settings.tables):
                if table not in self.tables:
                    topic = f"{jackpot.topics.root}/{table}"
                    self.tables[table] = LinkedTable(table, jackpot.id, topic, rules)
                if self.tables[table].jackpot == jackpot.id:
                    self.tables[table].intake.rules = rules

    def _rules(self, jackpot: JackpotRuntime) -> IntakeRules:
        """What the terms in force allow."""
        state = self._state_of(jackpot.id)
        terms: Terms = state.terms or jackpot.settings.terms
        given = terms.authorisation
        return IntakeRules(
            tables=() if given is None else given.tables,
            games=terms.games,
            decree=terms.decree,
            currency=terms.currency,
            simulated=jackpot.settings.simulated,
        )

    def _restore_tables(self, kept: dict[str, bytes]) -> None:
        for table in self.tables.values():
            table.restore(kept.get(table.table))

    # What is heard

    def _on_message(self, topic: str, body: bytes, retained: bool) -> None:
        route = self._routes.get(topic)
        if route is not None:
            route(body)
            return
        for simulated, root in self._roots_by_kind.items():
            if topic.startswith(f"{root}/node/"):
                node, _, leaf = topic.removeprefix(f"{root}/node/").partition("/")
                nodes = self._nodes[simulated]
                if nodes.on_message(node, leaf, body, time.time(), live=not retained):
                    self._check_tables_soon()
                return
            if topic.startswith(f"{root}/jackpot/"):
                name, _, leaf = topic.removeprefix(f"{root}/jackpot/").partition("/")
                jackpot = self.jackpots.get(name)
                if jackpot is not None and jackpot.settings.simulated == simulated:
                    self._on_jackpot_message(jackpot, topic, leaf, body, retained=retained)
                return
            if topic.startswith(f"{root}/") and topic.endswith("/info"):
                table = topic.removeprefix(f"{root}/").removesuffix("/info")
                self._on_unlinked_info(simulated, table, body)
                return

    def _on_jackpot_message(
        self, jackpot: JackpotRuntime, topic: str, leaf: str, body: bytes, *, retained: bool
    ) -> None:
        kind, _, name = leaf.partition("/")
        if leaf == "state":
            self._on_state(jackpot, body, retained=retained)
        elif kind == "command" and body:
            self._on_order(jackpot, name, body, retained=retained)
        elif kind == "alert" and retained and self.books is None:
            jackpot.former_alerts.add(name)
        elif kind == "alert" and body != jackpot.alerts.body(name):
            assert self._connection is not None  # of a run before, or of somebody else
            self._connection.retain(topic, jackpot.alerts.body(name))

    def _on_state(self, jackpot: JackpotRuntime, body: bytes, *, retained: bool) -> None:
        """A statement of a jackpot at the broker: ours, or one that is put right. What the broker
        kept of a run before is put right by ours that follows.
        """
        if retained or jackpot.echoes.remove(body):
            return
        now, first = time.monotonic(), FOREIGN_STATE_ALERT_ID not in jackpot.alerts.open
        if first:
            detail = (
                "another client of the broker publishes the statement of this jackpot; each is put "
                "right. See who may write on its topics"
            )
            self._alert(jackpot, FOREIGN_STATE_ALERT_ID, "state_foreign", detail, fault=True)
        jackpot.foreign_seen_at = now
        if now - jackpot.corrected_at >= 1.0:
            self._republish(jackpot)

    def _republish(self, jackpot: JackpotRuntime) -> None:
        """Say the statement anew."""
        jackpot.corrected_at, jackpot.changed, jackpot.published_at = time.monotonic(), True, 0.0
        self._work.set()

    def _on_unlinked_info(self, simulated: bool, name: str, body: bytes) -> None:
        """What a table that no authorisation names says of itself."""
        found = self.jackpots.get(jackpot_in_info(body) or "")
        if found is not None and found.settings.simulated != simulated:
            found = None
        before = self.unlinked.get((simulated, name))
        if before is found:
            return
        alert = f"{name}-not-authorised"
        if before is not None:
            before.alerts.clear(alert)
        self.unlinked[simulated, name] = found
        if found is None:
            self._routes.pop(f"{Topics(self.settings.site, simulated).root}/{name}/event", None)
        else:
            topic = found.topics.table(name, "event")
            self._routes[topic] = partial(self._on_unlinked_event, found, name)
            assert self._connection is not None
            self._connection.listen(topic)
            detail = (
                f"{name} plays for this jackpot, but no authorisation names it. Nothing of it is "
                "taken: give the stakes back, and put its configuration or this one right"
            )
            self._alert(found, alert, "not_authorised", detail)
        self._work.set()

    def _on_unlinked_event(self, jackpot: JackpotRuntime, name: str, body: bytes) -> None:
        told = describe_stake_or_award(body)
        if told is not None:
            detail = f"{name}: {told}: the table is not authorised"
            self._alert(jackpot, f"{name}-refused", "refused", detail)
            self._work.set()

    def _on_link(self, up: bool) -> None:
        """The connection was made or lost."""
        for nodes in self._nodes.values():
            nodes.on_disconnect()
        for table in self.tables.values():
            table.on_disconnect()
        for jackpot in self._all_jackpots:
            jackpot.changed, jackpot.published_at = True, 0.0
            jackpot.alerts.changed |= jackpot.alerts.open.keys()
        if up and self._connection is not None:
            self._connection.retain(self._status_topic, self._status("online"))
            self._checkpoint_at = 0.0
        self._check_tables_soon()

    def _on_event(self, table: LinkedTable, body: bytes) -> None:
        if self.why is None:
            self._apply_result(table, table.intake.on_event(body))

    def _on_table_state(self, table: LinkedTable, body: bytes) -> None:
        if self.why is None:
            if table.on_state(body):
                self._send_recall(table)
            self._check_tables_soon()

    def _on_table_info(self, table: LinkedTable, body: bytes) -> None:
        table.on_info(body)
        self._check_tables_soon()

    def _check_tables_soon(self) -> None:
        """Something changed that says whether bets may be taken at a table."""
        self._tables_checked_at = 0.0
        self._work.set()

    def _on_reply(self, table: LinkedTable, body: bytes) -> None:
        before = table.recall_error
        answer = table.on_reply(body)
        if table.recall_error is not None and table.recall_error != before:
            detail = f"{table.table} does not answer a recall: {table.recall_error}"
            self._alert_table(table, "unheard", "unheard", detail)
        if answer is None or self.why is not None:
            return
        asked, events = answer
        got = table.intake.on_reply(events, asked, self.settings.clock_bound)
        if not got.ask and not table.up_to_date:
            table.up_to_date = True
            self._clear_table_alert(table, "unheard")
            self._check_tables_soon()
        self._apply_result(table, got)
        if table.recall_again:
            self._send_recall(table)

    def _apply_result(self, table: LinkedTable, got: IntakeResult) -> None:
        """What a message led to."""
        table.memory_changed = True
        if got.facts:
            self._pending_facts += [(table.jackpot, fact, None) for fact in got.facts]
            self._work.set()
        for notice in got.notices:
            fault = notice.alert != "refused"
            detail = f"{table.table}: {notice.detail}"
            self._alert_table(table, notice.alert, notice.alert, detail, fault=fault)
            self._check_tables_soon()
        if got.ask:
            self._send_recall(table)

    def _send_recall(self, table: LinkedTable) -> None:
        """Ask a table what comes after the last event taken."""
        now = time.time()
        question = table.next_recall(time.monotonic(), utc(now))
        connection = self._connection
        if question is None or connection is None:
            return
        number, ask = question
        body = {"boot": ask.at.boot, "from": ask.first, "onward": True}
        sent = unsigned_recall(body, self._client, number)
        if self._reader is not None:
            people = self._people.people
            owner = None if people is None else people.owners.get(self._reader.kid)
            if owner is None:
                table.recall_error = "the people file does not name the owner of `recall_key`"
                return
            sent = self._reader.sign(owner[0].id, table.topic, body, self._client, number, int(now))
        connection.send(f"{table.topic}/command/{RECALL}", sent)

    # Orders

    def _on_order(self, jackpot: JackpotRuntime, name: str, body: bytes, *, retained: bool) -> None:
        """An order waits until it is looked at. Too many are discarded, and those without a
        signature at once, so that a flood of them delays nothing else.
        """
        if self._sender(body) == (None, None):
            jackpot.unsigned += 1
        elif len(jackpot.waiting_orders) >= MAX_WAITING_ORDERS:
            jackpot.overflowed += 1
        elif retained:
            self._handle_order(jackpot, name, body, retained=True)
        else:
            jackpot.waiting_orders.append((name, body))
            jackpot.order_arrived.set()

    async def _process_orders(self, jackpot: JackpotRuntime) -> None:
        """Look at one order after the other."""
        while True:
            await jackpot.order_arrived.wait()
            jackpot.order_arrived.clear()
            while jackpot.waiting_orders:
                self._handle_order(jackpot, *jackpot.waiting_orders.popleft(), retained=False)
                await asyncio.sleep(ORDER_INTERVAL_SECONDS)

    def _report_discards(self, jackpot: JackpotRuntime) -> None:
        """How many orders were discarded, and who must look."""
        unsigned, beyond = jackpot.unsigned, jackpot.overflowed
        if (unsigned, beyond) != jackpot.reported_discards:
            jackpot.reported_discards = unsigned, beyond
            detail = (
                f"discarded since the start: {unsigned} orders without a signature, and {beyond} "
                f"that came while {MAX_WAITING_ORDERS} were waiting. Give the intended orders "
                "again, and find out who publishes on the jackpot's topics"
            )
            self._alert(jackpot, "orders-discarded", "orders_discarded", detail)
            self._work.set()

    def _handle_order(
        self, jackpot: JackpotRuntime, name: str, body: bytes, *, retained: bool
    ) -> None:
        client, number = self._sender(body)
        signed, now = None, time.time()
        try:
            if retained:
                raise RejectedError("retained_command")
            signed = jackpot.orders.verify_signer(body, now)
            if self._checking:
                raise RejectedError("controller_verifies")
            if self.books is None or self.why is not None:
                raise RejectedError("controller_out", why=self.why or "store")
            ordered = jackpot.orders.accept(signed, name, body, now, utc(now))
            self._check_gap_order(jackpot, ordered)
        except RejectedError as no:
            self._refuse(jackpot, client, number, no, signed, body)
            return
        answered: OutcomeFuture = asyncio.get_running_loop().create_future()
        answered.add_done_callback(lambda done: self._on_order_done(jackpot, client, number, done))
        self._pending_facts.append((jackpot.id, ordered, answered))
        self._work.set()

    def _refuse(
        self,
        jackpot: JackpotRuntime,
        client: str | None,
        number: object,
        no: RejectedError,
        signed: Signed | None,
        body: bytes,
    ) -> None:
        """Refuse an order, and answer once the ledger has it, for it must not be followed later.
        What can never be followed is not stored, so that nobody fills the ledger with it.
        """
        key = no.refusal.key
        self._counts.refused[jackpot.id, key] += 1
        reply = JackpotReply(
            id=number,
            ok=False,
            error=str(no),
            refusal=no.refusal,
            judged=isinstance(no, OrderRefusedError),
        )

        def refused(stored: OutcomeFuture | None = None) -> None:
            if stored is not None and not stored.cancelled():
                stored.exception()  # the reason of the refusal is the same
            self._log.info("order refused", jackpot=jackpot.id, reason=str(no))
            self._reply(jackpot, client, reply)

        if signed is None or key in PERMANENT_REFUSALS or self.books is None or self.why:
            refused()
            return
        stored: OutcomeFuture = asyncio.get_running_loop().create_future()
        stored.add_done_callback(refused)
        told = order_not_followed(signed, body, utc(time.time()), no)
        self._pending_facts.append((jackpot.id, told, stored))
        self._work.set()

    def _check_gap_order(self, jackpot: JackpotRuntime, ordered: OrderGiven) -> None:
        """What only the running controller knows of an order."""
        if isinstance(ordered.order, GapSettle):
            table = self.tables.get(ordered.order.table)
            if table is None or table.jackpot != jackpot.id or table.intake.memory.gap is None:
                raise OrderRefusedError("gap_none", table=ordered.order.table)
            if table.state is None:
                raise OrderRefusedError("gap_unheard", table=table.table)

    def _on_order_done(
        self, jackpot: JackpotRuntime, client: str | None, number: object, done: OutcomeFuture
    ) -> None:
        error = None if done.cancelled() else done.exception()
        log = self._log.bind(jackpot=jackpot.id)
        if done.cancelled() or error is not None:
            known = RejectedError("controller_ended" if error is None else "ledger_not_written")
            refusal = error.refusal if isinstance(error, RejectedError) else known.refusal
            log.info("order refused", reason=str(error or known))
            self._counts.refused[jackpot.id, refusal.key] += 1
            reply = JackpotReply(
                id=number, ok=False, error=str(error or known), refusal=refusal, judged=True
            )
        else:
            log.info("order followed", receipt=done.result().receipt)
            reply = JackpotReply(id=number, ok=True, receipt=done.result().receipt)
        self._reply(jackpot, client, reply)

    def _sender(self, body: bytes) -> tuple[str | None, object]:
        """Whom to answer, though nobody has looked at the signature."""
        try:
            claims = claims_of(body)
        except RejectedError:
            return None, None
        return claims.client, claims.jti

    def _reply(self, jackpot: JackpotRuntime, client: str | None, reply: JackpotReply) -> None:
        if client is not None and self._connection is not None:
            topic = jackpot.topics.jackpot(jackpot.id, f"reply/{client}")
            self._connection.send(topic, msgspec.json.encode(reply))

    # The ledger

    async def _write(self) -> None:
        """Take what waits, commit it, and tell what came of it."""
        while True:
            with suppress(TimeoutError):
                async with asyncio.timeout(self._until_due()):
                    await self._work.wait()
            self._work.clear()
            if self.why == "store":
                await self._recover()
            done: list[tuple[OutcomeFuture, FactOutcome | OrderRefusedError]] = []
            if self.books is not None and self.why is None:
                facts, self._pending_facts = self._pending_facts, []
                try:
                    done = self._apply_all(self.books, facts)
                    if self.books.has_changes:
                        await asyncio.to_thread(self.books.commit)
                    self._on_committed()
                    if time.monotonic() - self._marked_at >= CHECKPOINT_INTERVAL_SECONDS:
                        await self._write_mark(self.books)
                except LedgerNotStoredError as error:
                    done = []
                    self._on_store_failure(error, facts)
            for answered, judged in done:
                if isinstance(judged, OrderRefusedError):
                    answered.set_exception(judged)
                else:
                    answered.set_result(judged)
            self._publish_statements()
            if self._ending and not self._pending_facts:
                self._publish_checkpoint()
                if self.books is not None and self.why is None:
                    await self._write_mark(self.books, ended=True)
                self.why = self.why or "unheard"
                return

    def _on_committed(self) -> None:
        """What was taken is committed."""
        taken, self._uncommitted = self._uncommitted, []
        self._counts.committed(taken)
        for name, fact in taken:
            alerts = self.jackpots[name].alerts
            if isinstance(fact, AlertRaised):
                alerts.unstored.pop(fact.alert, None)
            if self.books is not None:
                alerts.stored = self.books.states[name].alerts
        times = [fact.cause.time for _, fact in taken if isinstance(fact, Staked | Won)]
        if times:
            self._counts.lag = time.time() - moment(times[-1])

    def _apply_all(
        self, books: Books, facts: Sequence[PendingFact]
    ) -> list[tuple[OutcomeFuture, FactOutcome | OrderRefusedError]]:
        """Take these facts, with how far their tables were heard. Returns what became of the
        orders, to be answered after the commit.
        """
        now = utc(time.time())
        if time.monotonic() - self._tables_checked_at >= TABLE_CHECK_INTERVAL_SECONDS:
            self._tables_checked_at = time.monotonic()
            for table in self.tables.values():
                self._check_table(books, table, now)
        done: list[tuple[OutcomeFuture, FactOutcome | OrderRefusedError]] = []
        for jackpot, fact, answered in facts:
            if isinstance(fact, CaughtUp) and not _has_open_hit(books.states[jackpot]):
                continue
            try:
                taken = self._apply(jackpot, now, fact)
            except OrderRefusedError as no:
                if isinstance(fact, OrderGiven) and answered is not None:
                    done.append((answered, no))
                    told = OrderNotFollowed(
                        time=now, signed=fact.signed[-1:], refusal=no.refusal.key
                    )
                    self._apply(jackpot, now, told)
                continue
            if isinstance(fact, OrderGiven) and isinstance(fact.order, GapSettle):
                self._resume_table(fact.order.table)
            if answered is not None and taken is not None:
                done.append((answered, taken))
        self._store_alerts(books, now)
        save_cursors = (
            bool(facts)
            or time.monotonic() - self._cursors_saved_at > CURSOR_SAVE_INTERVAL_SECONDS
            or self._ending
        )
        for table in self.tables.values() if save_cursors else ():
            if table.memory_changed:
                books.save_cursor(table.table, msgspec.json.encode(table.intake.memory))
                table.memory_changed = False
        if save_cursors:
            self._cursors_saved_at = time.monotonic()
        return done

    def _store_alerts(self, books: Books, now: str) -> None:
        """Take in the alerts that stand until a person clears them, in the same commit as what they
        are about.
        """
        for jackpot in self._all_jackpots:
            for name, what in jackpot.alerts.unstored.items():
                alert, kept = jackpot.alerts.open[name], books.states[jackpot.id].alerts
                if name in kept or len(kept) < MAX_STORED_ALERTS:
                    told = AlertRaised(
                        time=alert.raised,
                        alert=name,
                        what=what,
                        fault=alert.severity == "fault",
                        detail=alert.detail or "",
                    )
                    self._apply(jackpot.id, now, told)

    def _apply(self, name: str, now: str, fact: Fact) -> FactOutcome | None:
        assert self.books is not None
        jackpot = self.jackpots[name]
        terms = self.books.states[name].terms
        taken = self.books.apply(name, now, fact)
        if taken is None:
            return None
        self._uncommitted.append((name, fact))
        for other in (name, *(each.jackpot for each in taken.onward)):
            if other in self.jackpots:
                self.jackpots[other].changed = True
                self.jackpots[other].orders.expire(time.time())
        for notice in taken.notices:
            what = notice.what.replace("_", "-")
            alert = f"{notice.table}-{what}" if notice.table else what
            self._alert(jackpot, alert, notice.what, notice.text)
        if isinstance(fact, OrderGiven):
            jackpot.alerts.sync(taken.state.alerts)
        if isinstance(fact, Won):
            jackpot.last_hit, jackpot.last_recall = time.monotonic(), 0.0
        if taken.state.terms is not terms and self.tables:
            self._link_tables()
        return taken

    def _check_table(self, books: Books, table: LinkedTable, now: str) -> None:
        """Take in whose clock a table has, and whether bets may be taken there."""
        jackpot = self.jackpots[table.jackpot]
        nodes, state = self._nodes[jackpot.settings.simulated], books.states[jackpot.id]
        known = state.tables.get(table.table)
        node = None if table.state is None else nodes.node_of(table.state.boot)
        bound = self.settings.clock_bound
        rounds = REMEMBERED_ROUNDS
        if node is not None and (
            known is None
            or (known.node, known.clock_bound) != (node, bound)
            or known.kept < rounds  # by an older release
        ):
            served = ServedBy(table=table.table, node=node, clock_bound=bound, rounds=rounds)
            self._apply(jackpot.id, now, served)
        why = table.out_of_play_reason(
            nodes, time.monotonic(), (state.terms or jackpot.settings.terms).currency
        )
        if known is None or known.why != why:
            self._apply(jackpot.id, now, PlayStatus(time=now, table=table.table, why=why))
        found: tuple[tuple[JackpotAlert, str | None], ...] = (
            ("foreign", table.find_mismatch(jackpot.settings.terms.currency)),
            ("clock", f"{nodes.clock_offsets.get(node or '', 0.0):+.1f} s"),
        )
        for name, detail in found:
            if why == name and detail is not None:
                if f"{table.table}-{name}" not in jackpot.alerts.open:
                    self._alert_table(table, name, name, f"{table.table}: {detail}")
            else:
                self._clear_table_alert(table, name)

    def _resume_table(self, name: str) -> None:
        """What was missing of a table is settled."""
        table = self.tables[name]
        if table.state is not None:
            table.intake.restart(table.state.boot, table.state.seq, table.state.time)
            table.memory_changed, table.up_to_date = True, False
            self._clear_table_alert(table, "gap")
            self._send_recall(table)
            self._check_tables_soon()

    def _on_store_failure(self, error: LedgerNotStoredError, facts: Sequence[PendingFact]) -> None:
        """The disk does not take these facts: out of play, and back to what is committed."""
        self._log.error("the ledger is not written", reason=str(error))
        self.why, self._store_trouble = "store", str(error)
        self._uncommitted = []
        for jackpot in self._all_jackpots:
            jackpot.changed, jackpot.published_at = True, 0.0
            jackpot.alerts.sync(jackpot.alerts.stored)
            self._alert(jackpot, "store", "store", str(error), fault=True)
        for _, _, answered in (*facts, *self._pending_facts):
            if answered is not None and not answered.done():
                answered.set_exception(error)
        self._pending_facts = []

    async def _recover(self) -> None:
        """Try again. What the file says that a jackpot remembers is verified, as at a start."""
        assert self.books is not None
        assert self._key is not None
        store = self.books.store
        try:
            store.reopen()
        except LedgerError:
            return  # the alert says what is wrong
        try:
            await asyncio.to_thread(
                check_ledger, store, self._key, self._on_progress, self._log_full_verification
            )
            kept = self.books.reload()
        except NotVerifiedError:
            return  # the controller ends
        except LedgerError as error:
            self._report_unusable(str(error))
            return
        self._store_trouble = ""
        self._log.info("the ledger is written again", entries=self.books.position)
        self.why = None
        self._restore_tables(kept)
        for jackpot in self._all_jackpots:
            jackpot.changed, jackpot.published_at = True, 0.0
            jackpot.alerts.clear("store")
            jackpot.alerts.stored = self.books.states[jackpot.id].alerts
            jackpot.alerts.sync(jackpot.alerts.stored)
        for table in self.tables.values():
            self._send_recall(table)
        self._check_tables_soon()

    def _report_unusable(self, why: str) -> None:
        """Why the ledger cannot be used yet, once for each reason."""
        if why != self._store_trouble:
            self._store_trouble = why
            for jackpot in self._all_jackpots:
                self._alert(jackpot, "store", "store", why, fault=True)

    # What is told

    def _until_due(self) -> float:
        """Seconds until something must be told though nothing comes. Without a broker, nothing
        must.
        """
        if self._connection is None or not self._connection.up:
            return TICK_SECONDS * 4
        now = time.monotonic()
        due = [
            each.published_at
            + (MIN_STATEMENT_INTERVAL_SECONDS if each.changed else self.settings.keepalive)
            for each in self.jackpots.values()
        ]
        return max(0.0, min([TICK_SECONDS * 4, *(each - now for each in due)]))

    def _publish_statements(self) -> None:
        """Publish the state of what changed, or has not been told for a keepalive."""
        connection, now = self._connection, time.monotonic()
        if connection is None or not connection.up:
            return
        for jackpot in self._all_jackpots:
            due = MIN_STATEMENT_INTERVAL_SECONDS if jackpot.changed else self.settings.keepalive
            if now - jackpot.published_at >= due:
                jackpot.changed, jackpot.published_at = False, now
                state = self._encode_statement(jackpot)
                jackpot.echoes.add(state)
                jackpot.last_statement = state
                # a statement is said anew by the keep-alive, and has come back but once
                connection.retain(self._state_topic(jackpot), state, republished=False)
            changed, jackpot.alerts.changed = jackpot.alerts.changed, set()
            for name in changed:
                topic = jackpot.topics.jackpot(jackpot.id, f"alert/{name}")
                connection.retain(topic, jackpot.alerts.body(name))

    def _encode_statement(self, jackpot: JackpotRuntime) -> bytes:
        meter, position = (
            (0, 0) if self.books is None else (self.books.meter(jackpot.id), self.books.position)
        )
        state = self._state_of(jackpot.id)
        return encode_state(
            self._run, jackpot.settings, state, meter, position, time.time(), self.why
        )

    async def _tick(self) -> None:
        """What is due by the clock."""
        while True:
            await asyncio.sleep(TICK_SECONDS)
            now = time.monotonic()
            if now - self._checked_at >= 1.0:
                self._checked_at = now
                self._refresh_people()
                self._expire_orders()
                for jackpot in self._all_jackpots:
                    self._report_discards(jackpot)
                    if jackpot.foreign_seen_at > jackpot.corrected_at:
                        self._republish(jackpot)
                    if now - jackpot.foreign_seen_at > FOREIGN_STATE_CLEAR_SECONDS:
                        jackpot.alerts.clear(FOREIGN_STATE_ALERT_ID)
                for table in self.tables.values():
                    state = table.state
                    if state is not None and (
                        not table.up_to_date or table.intake.is_behind(state.boot, state.seq)
                    ):
                        self._send_recall(table)
                if self.why == "store":
                    self._work.set()
            if self.books is not None and self.why is None:
                for jackpot in self._all_jackpots:
                    self._recall_tables(jackpot, self.books.states[jackpot.id], now)
                if now - self._checkpoint_at >= CHECKPOINT_INTERVAL_SECONDS:
                    self._publish_checkpoint()

    def _recall_tables(
        self, jackpot: JackpotRuntime, state: JackpotLedgerState, now: float
    ) -> None:
        """While the value of a hit is not final, the tables are asked what they did until then."""
        if not _has_open_hit(state):
            return
        pause = 0.0 if now - jackpot.last_hit < EAGER_RECALL_SECONDS else RECALL_INTERVAL_SECONDS
        if now - jackpot.last_recall >= pause:
            jackpot.last_recall = now
            for table in self.tables.values():
                if table.jackpot == jackpot.id and table.pending is None:
                    self._send_recall(table)

    def _refresh_people(self) -> None:
        self._people.refresh()
        trouble = self._people.trouble
        if trouble != self._people_trouble:
            self._people_trouble = trouble
            if trouble is not None:
                self._log.error("people file refused", reason=trouble)

    def _expire_orders(self) -> None:
        for jackpot in self._all_jackpots:
            for each in jackpot.orders.take_expired(time.time()):
                error = RejectedError(each.over)
                client, number = self._sender(each.first.token.encode())
                told = JackpotReply(id=number, ok=False, error=str(error), refusal=error.refusal)
                self._reply(jackpot, client, told)

    def _publish_checkpoint(self) -> None:
        """Sign the end of the ledger, keep that and publish it."""
        self._checkpoint_at = time.monotonic()
        if self.books is None or self.why is not None or self._key is None:
            return
        try:
            made = sign_head(self.books.store, self._key, self.boot, utc(time.time()))
        except LedgerError as error:
            self._log.error("no checkpoint", reason=str(error))
            return
        if self._connection is not None:
            root = Topics(self.settings.site, self._simulated)
            topic = root.node(self.settings.node, "checkpoint")
            self._connection.retain(topic, msgspec.json.encode(made))

    async def _write_mark(self, books: Books, *, ended: bool = False) -> None:
        """Keep beside the ledger what follows from it by now: it was verified at the start, and
        everything since was taken by the rules. Nothing is taken meanwhile.
        """
        self._marked_at = time.monotonic()
        store, key = books.store, self._key
        if key is None or store.head != store.committed:
            return
        try:
            heard = {name: each.heard.decode() for name, each in store.cursors().items()}
            made = VerificationMark(
                ledger=store.id,
                boot=self.boot,
                time=utc(time.time()),
                position=store.committed.position,
                hash=store.committed.hash.hex(),
                states=books.states,
                balances=tuple((*of, amount) for of, amount in sorted(store.sums.items())),
                heard=heard if ended else None,
            )
            await asyncio.to_thread(write_mark, made, key, store.path)
        except (LedgerError, OSError) as error:
            self._log.error("no mark of what is verified", reason=str(error))

    # Alerts

    def _alert_table(
        self, table: LinkedTable, name: str, what: JackpotAlert, detail: str, *, fault: bool = False
    ) -> None:
        jackpot = self.jackpots[table.jackpot]
        self._alert(jackpot, f"{table.table}-{name}", what, detail, fault=fault)

    def _clear_table_alert(self, table: LinkedTable, name: str) -> None:
        self.jackpots[table.jackpot].alerts.clear(f"{table.table}-{name}")

    def _alert(
        self,
        jackpot: JackpotRuntime,
        name: str,
        what: JackpotAlert,
        detail: str,
        *,
        fault: bool = False,
    ) -> None:
        self._log.warning("alert", jackpot=jackpot.id, alert=name, detail=detail)
        self._counts.alerts[jackpot.id, what] += 1
        jackpot.alerts.report(name, what, detail, utc(time.time()), fault=fault)

    # Names

    @property
    def _all_jackpots(self) -> list[JackpotRuntime]:
        return list(self.jackpots.values())

    @property
    def _simulated(self) -> bool:
        return all(each.settings.simulated for each in self.jackpots.values())

    @property
    def _roots_by_kind(self) -> dict[bool, str]:
        kinds = {each.settings.simulated for each in self.jackpots.values()}
        return {kind: Topics(self.settings.site, kind).root for kind in kinds}

    @property
    def _roots(self) -> list[str]:
        return list(self._roots_by_kind.values())

    @property
    def _status_topic(self) -> str:
        return Topics(self.settings.site, self._simulated).node(self.settings.node, "status")

    def _status(self, word: str) -> bytes:
        return msgspec.json.encode(NodeStatus(word, self.boot))

    def _state_topic(self, jackpot: JackpotRuntime) -> str:
        return jackpot.topics.jackpot(jackpot.id, "state")

    def _state_of(self, jackpot: str) -> JackpotLedgerState:
        return initial_state(jackpot) if self.books is None else self.books.states[jackpot]

    def _tables_of(self, jackpot: str) -> tuple[str, ...]:
        return tuple(each.table for each in self.tables.values() if each.jackpot == jackpot)


def _has_open_hit(state: JackpotLedgerState) -> bool:
    """Whether the value of a hit is not final."""
    return any(not hit.fixed for hit in state.hits)
