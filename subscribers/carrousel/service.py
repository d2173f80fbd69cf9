"""Jackpot controller: turns table events into ledger entries and publishes the meter.

Each message goes to the intake of its table, which converts it to facts. All pending facts are
applied together and committed by a thread; only committed facts are published. If the disk refuses
them, the jackpots go out of play and everything returns to the committed state; the tables' events
are recalled once the disk accepts writes again.
"""

from __future__ import annotations

import asyncio
import re
from collections import deque
from collections.abc import Callable, Coroutine, Sequence
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any

import msgspec
from nacl.signing import SigningKey

from common import clock, randomness
from common.contract.jackpot import (
    GapSettle,
    JackpotAlert,
    JackpotReply,
    JackpotState,
    OutOfPlay,
)
from common.contract.node import NodeStatus
from common.contract.orders import RECALL
from common.contract.refusals import RejectedError
from common.contract.times import format_utc, parse_utc
from common.contract.topics import Topics
from common.contract.version import SOFTWARE
from common.log import structlog
from common.metrics.endpoint import HttpResponse, serve
from common.metrics.text import TEXT_CONTENT_TYPE, exposition
from common.people.seen import SeenCommands
from common.people.signed_command import VerifiedCommand, claims_of, seen_before
from subscribers.carrousel.books import Books
from subscribers.carrousel.checkpoints import sign_head, signing_key
from subscribers.carrousel.facts import (
    AlertRecorded,
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
    OrderPeople,
    Orders,
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
from subscribers.carrousel.store import LedgerNotStoredError, LedgerStore, LedgerUnavailableError
from subscribers.carrousel.tables import NodeDirectory, TrackedTable
from subscribers.carrousel.terms import Terms
from subscribers.carrousel.unlinked import describe_stake_or_award, jackpot_in_info
from subscribers.essential import essential
from subscribers.feed.connection import ServiceConnection
from subscribers.feed.recall_key import RecallKey, unsigned_recall

MIN_STATEMENT_INTERVAL_SECONDS = 0.02
"""Minimum interval between two statements of a jackpot."""
TICK_SECONDS = 0.25
"""Interval of the periodic work."""
TABLE_CHECK_INTERVAL_SECONDS = 1.0
"""Interval for re-evaluating whether tables may take bets, even if nothing changed."""
CHECKPOINT_INTERVAL_SECONDS = 30.0
"""Interval between two checkpoints, and between two verification marks."""
PROGRESS_LOG_INTERVAL_SECONDS = 5.0
"""Interval between two log lines about the progress of a verification."""
CURSOR_SAVE_INTERVAL_SECONDS = 5.0
"""Interval for saving the read position of tables without jackpot events."""
EAGER_RECALL_SECONDS, RECALL_INTERVAL_SECONDS = 10.0, 2.0
"""For the first of these times after a hit, all tables are recalled at every tick; after that, at
intervals of the second.
"""
RECOVERY_INTERVAL_SECONDS = 1.0
"""Time from a commit that the disk refused to the next attempt."""
LEDGER_RETRY_SECONDS = 5.0
"""Interval between two attempts to open a ledger that the disk does not let be read or written."""
MAX_WAITING_ORDERS = 20
"""Maximum number of waiting orders per jackpot."""
ORDER_INTERVAL_SECONDS = 0.01
"""Pause between two orders of a jackpot."""
FOREIGN_STATE_CLEAR_SECONDS = 60.0
"""Time without another client's statement after which its alert is cleared."""
FOREIGN_STATE_ALERT_ID = "state-foreign"
"""Id of the alert about another client's statement."""
MAX_STORED_ALERTS = 200
"""Maximum number of alerts per jackpot that the ledger stores; further alerts are published, but
forgotten at a restart.
"""
_CLIENT = re.compile(r"[A-Za-z0-9_-]{1,64}")

OutcomeFuture = asyncio.Future[FactOutcome]
PendingFact = tuple[str, Fact, OutcomeFuture | None]
"""A fact with its jackpot, and the future of its reply."""


class JackpotRuntime:
    """Runtime state of one jackpot: what is published of it, and when."""

    def __init__(self, settings: JackpotSettings, topics: Topics, orders: Orders) -> None:
        self.id = settings.terms.jackpot
        self.settings, self.topics, self.orders = settings, topics, orders
        self.alerts = JackpotAlerts()
        self.former_alerts: set[str] = set()
        """Retained alerts of a previous run, kept until the ledger is open."""
        self.changed = True
        self.published_at = 0.0
        self.last_hit = 0.0
        """Monotonic time of the last hit."""
        self.last_recall = 0.0
        self.echoes = PendingEchoes()
        self.last_statement = b""
        """The last published statement."""
        self.foreign_seen_at = self.corrected_at = 0.0
        """When another client's statement was last received, and when one was last replaced."""
        self.waiting_orders: deque[tuple[str, bytes]] = deque()
        """Received orders that were not handled yet."""
        self.order_arrived = asyncio.Event()
        self.unsigned = self.overflowed = 0
        """Numbers of discarded orders: without a signature, and because too many waited."""
        self.reported_discards = (0, 0)
        """The numbers that were last reported."""


class JackpotController:
    """The controller of all jackpots. Raises ``PrivateKeyError`` and ``OSError`` for the reader's
    key. ``open_ledger`` opens its ledger; ``check_program`` returns the program's digest.
    """

    def __init__(
        self,
        settings: CarrouselSettings,
        open_ledger: Callable[[Path], LedgerStore] = LedgerStore,
        check_program: Callable[[], str] = check_program,
    ) -> None:
        self.settings = settings
        self._open_ledger, self._check_program = open_ledger, check_program
        self.boot = randomness.token_hex(4)
        self._log = structlog.get_logger()
        self._run = ControllerRun(site=settings.site, boot=self.boot, keepalive=settings.keepalive)
        self._people = OrderPeople(
            settings.people_file, settings.people_key, settings.site, Path(settings.ledger)
        )
        self._people_trouble: str | None = None
        """Last logged problem of the people file."""
        self._reader = (
            None
            if settings.recall_key is None or settings.recall_passphrase is None
            else RecallKey(Path(settings.recall_key), Path(settings.recall_passphrase))
        )
        self._seen_orders = SeenCommands()
        self.jackpots: dict[str, JackpotRuntime] = {}
        for jackpot in settings.jackpots:
            topics = Topics(settings.site, jackpot.simulated)
            name = jackpot.terms.jackpot
            audience = f"{topics.root}/jackpot/{name}"
            known = partial(self._tables_of, name), partial(self._state_of, name)
            orders = Orders(name, audience, *known, self._people, self._seen_orders)
            self.jackpots[name] = JackpotRuntime(jackpot, topics, orders)
        user = settings.broker.username or ""
        self._client = (
            user if _CLIENT.fullmatch(user) else f"carrousel-{randomness.token_urlsafe(9)}"
        )
        self.why: OutOfPlay | None = "not_verified"
        """Why the controller itself keeps everything out of play."""
        self._checking = True
        """Whether the self-check is running."""
        self.books: Books | None = None
        self._key: SigningKey | None = None
        self.tables: dict[str, TrackedTable] = {}
        self.unlinked: dict[tuple[bool, str], JackpotRuntime | None] = {}
        """Tables that no authorisation names, by whether they are simulated, and the jackpot they
        claim to play for.
        """
        self._nodes = {jackpot: NodeDirectory(settings.clock_bound) for jackpot in (False, True)}
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
        """Facts that were applied and not committed yet."""
        self._recover_at = 0.0
        """Monotonic time from which on the ledger may be opened again after a refused commit."""
        self._store_trouble = ""
        """Last reported reason why the ledger cannot be written."""

    # Life cycle

    async def run(self, ending: asyncio.Event) -> None:
        """Run until ``ending`` is set."""
        self._link_tables()
        topics = [
            *(f"{root}/node/+/{leaf}" for root in self._roots for leaf in ("status", "health")),
            *(
                jackpot.topics.jackpot(jackpot.id, leaf)
                for jackpot in self.jackpots.values()
                for leaf in ("state", "command/+", "alert/+")
            ),
        ]
        self._connection = connection = ServiceConnection(
            self.settings.broker,
            topics,
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
                    start(f"jackpot {jackpot.id}", self._process_orders(jackpot))
                    for jackpot in self._all_jackpots
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
            last_statements = {
                jackpot.id: self._encode_statement(jackpot) for jackpot in self._all_jackpots
            }
            for jackpot in self._all_jackpots:
                jackpot.echoes.add(last_statements[jackpot.id])
            final_messages = {
                **{
                    self._state_topic(jackpot): last_statements[jackpot.id]
                    for jackpot in self._all_jackpots
                },
                self._status_topic: self._status("offline"),
            }
            with suppress(Exception):  # without a broker the statements expire by themselves
                async with asyncio.timeout(3):
                    await connection.flush(final_messages)
            connection.end()
            for task in tasks:
                task.cancel()
        if self.books is not None:
            self.books.store.close()

    async def _metrics(self) -> HttpResponse:
        connection = self._connection
        samples = metric_values(
            self._counts,
            {
                jackpot.id: msgspec.json.decode(jackpot.last_statement, type=JackpotState)
                for jackpot in self._all_jackpots
                if jackpot.last_statement
            },
            {jackpot.id: len(jackpot.alerts.open) for jackpot in self._all_jackpots},
            entries=0 if self.books is None else self.books.store.committed.position,
            connected=connection is not None and connection.up,
        )
        return HttpResponse(await exposition(FAMILIES, samples), TEXT_CONTENT_TYPE)

    async def _start(self) -> None:
        """Check the program and the ledger, which may take long; then open the books. Until then,
        or if a check fails, everything is out of play. If the disk does not let the ledger be read
        or written, try again until it does.
        """
        while not await self._try_start():
            self._checking = False
            self._work.set()
            await clock.sleep(LEDGER_RETRY_SECONDS)
        self._checking = False
        self._work.set()

    async def _try_start(self) -> bool:
        """Return whether the checks have come to an end, good or bad; False if the disk prevented
        them.
        """
        try:
            program, store, key = await asyncio.to_thread(self._check)
            if not self._ending:
                self._open_books(program, store, key)
        except LedgerUnavailableError as error:
            self.why, self._uncommitted = "store", []
            self._report_unusable(str(error))
            return self._ending
        except (NotVerifiedError, LedgerError, msgspec.DecodeError) as error:
            if self._ending:
                self._log.info("ended while the ledger was verified; it is as it was")
            else:
                self._log.error("the check of itself failed: not in play", evidence=str(error))
                for jackpot in self._all_jackpots:
                    self._alert(jackpot, "not-verified", "not_verified", str(error), fault=True)
            self.why = "not_verified"
        return True

    def _check(self) -> tuple[str, LedgerStore, SigningKey]:
        """Return the program's digest, the ledger and its key. Runs in a separate thread."""
        program = self._check_program()
        store = self._open_ledger(Path(self.settings.ledger))
        try:
            store.check_balances()
            key_file = self.settings.key
            key = signing_key(store.path, None if key_file is None else Path(key_file))
            check_ledger(store, key, self._on_progress, self._log_full_verification)
        except BaseException:
            store.close()
            raise
        return program, store, key

    def _log_full_verification(self, reason: str) -> None:
        self._log.warning("the whole ledger is verified: not in play until then", reason=reason)

    def _on_progress(self, position: int, total: int) -> None:
        if self._ending:
            raise NotVerifiedError("the controller is ending")
        if clock.monotonic() - self._progress_logged_at >= PROGRESS_LOG_INTERVAL_SECONDS:
            self._progress_logged_at = clock.monotonic()
            self._log.info("verifying the ledger", entry=position, of=total)

    def _open_books(self, program: str, store: LedgerStore, key: SigningKey) -> None:
        """Open the ledger and start accepting stakes."""
        try:
            former = store.started()
            self.books = books = Books(store, self.jackpots)
            self._link_tables()
            self._restore_tables(books.reload())
            self._seen_orders.restore(seen_before(store.tokens()), clock.wall())
            now = format_utc(clock.wall())
            started = ControllerStarted(
                time=now,
                boot=self.boot,
                program=program,
                configuration=configuration_digest(self.settings),
                software=SOFTWARE,
            )
            for jackpot in self._all_jackpots:
                self._apply(jackpot.id, now, started)
                self._apply_terms(jackpot, now)
                jackpot.alerts.sync(books.states[jackpot.id].alerts)
                jackpot.alerts.changed |= jackpot.former_alerts
            if former is not None:
                self._report_changes(msgspec.json.decode(former, type=ControllerStarted), started)
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
            configuration=started.configuration,
            entries=books.position,
        )
        self._key, self.why, self._store_trouble = key, None, ""
        self._subscribe_tables()
        for jackpot in self._all_jackpots:
            jackpot.alerts.clear("store")
            jackpot.changed, jackpot.published_at = True, 0.0
        self._check_tables_soon()

    def _report_changes(self, former: ControllerStarted, now: ControllerStarted) -> None:
        """Report that program or configuration changed since the last start."""
        changes: tuple[tuple[str, JackpotAlert, str, str], ...] = (
            ("program", "program_changed", former.program, now.program),
            ("configuration", "configuration_changed", former.configuration, now.configuration),
        )
        for name, kind, before, after in changes:
            if before != after:
                detail = (
                    f"the {name} has changed: SHA-256 {after} since {now.time}, {before} when the "
                    f"controller started at {former.time}; find out who changed it"
                )
                for jackpot in self._all_jackpots:
                    self._alert(jackpot, f"{name}-changed", kind, detail)

    def _subscribe_tables(self) -> None:
        """Subscribe to the topics of the linked tables."""
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
            fact = TermsGiven(time=now, terms=msgspec.to_builtins(terms))
            self._apply(jackpot.id, now, fact)

    def _link_tables(self) -> None:
        """Register the tables of each jackpot, from the terms in force and from the
        configuration.
        """
        for jackpot in self._all_jackpots:
            rules = self._rules(jackpot)
            for table in (*rules.tables, *jackpot.settings.tables):
                if table not in self.tables:
                    topic = f"{jackpot.topics.root}/{table}"
                    self.tables[table] = TrackedTable(table, jackpot.id, topic, rules)
                if self.tables[table].jackpot == jackpot.id:
                    self.tables[table].intake.rules = rules

    def _rules(self, jackpot: JackpotRuntime) -> IntakeRules:
        """Return what the terms in force allow."""
        state = self._state_of(jackpot.id)
        terms: Terms = state.terms or jackpot.settings.terms
        authorisation = terms.authorisation
        return IntakeRules(
            tables=() if authorisation is None else authorisation.tables,
            games=terms.games,
            decree=terms.decree,
            currency=terms.currency,
            simulated=jackpot.settings.simulated,
        )

    def _restore_tables(self, memories: dict[str, bytes]) -> None:
        for table in self.tables.values():
            table.restore(memories.get(table.table))

    # Incoming messages

    def _on_message(self, topic: str, body: bytes, retained: bool) -> None:
        route = self._routes.get(topic)
        if route is not None:
            route(body)
            return
        for simulated, root in self._roots_by_kind.items():
            if topic.startswith(f"{root}/node/"):
                node, _, leaf = topic.removeprefix(f"{root}/node/").partition("/")
                nodes = self._nodes[simulated]
                if nodes.on_message(node, leaf, body, clock.wall(), live=not retained):
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
            assert self._connection is not None  # from a previous run, or from another client
            self._connection.retain(topic, jackpot.alerts.body(name))

    def _on_state(self, jackpot: JackpotRuntime, body: bytes, *, retained: bool) -> None:
        """Handle a jackpot's statement delivered by the broker: one of this controller, or a
        foreign one, which is replaced. A retained one of a previous run is replaced by the next
        statement.
        """
        if retained or jackpot.echoes.remove(body):
            return
        now, first = clock.monotonic(), FOREIGN_STATE_ALERT_ID not in jackpot.alerts.open
        if first:
            detail = (
                "another client publishes statements of this jackpot; each is replaced. Check who "
                "may publish on its topics"
            )
            self._alert(jackpot, FOREIGN_STATE_ALERT_ID, "state_foreign", detail, fault=True)
        jackpot.foreign_seen_at = now
        if now - jackpot.corrected_at >= 1.0:
            self._republish(jackpot)

    def _republish(self, jackpot: JackpotRuntime) -> None:
        jackpot.corrected_at, jackpot.changed, jackpot.published_at = clock.monotonic(), True, 0.0
        self._work.set()

    def _on_unlinked_info(self, simulated: bool, name: str, body: bytes) -> None:
        """Handle the info of a table that no authorisation names."""
        jackpot = self.jackpots.get(jackpot_in_info(body) or "")
        if jackpot is not None and jackpot.settings.simulated != simulated:
            jackpot = None
        before = self.unlinked.get((simulated, name))
        if before is jackpot:
            return
        alert = f"{name}-not-authorised"
        if before is not None:
            before.alerts.clear(alert)
        self.unlinked[simulated, name] = jackpot
        if jackpot is None:
            self._routes.pop(f"{Topics(self.settings.site, simulated).root}/{name}/event", None)
        else:
            topic = jackpot.topics.table(name, "event")
            self._routes[topic] = partial(self._on_unlinked_event, jackpot, name)
            assert self._connection is not None
            self._connection.listen(topic)
            detail = (
                f"{name} plays for this jackpot, but no authorisation names it. Its stakes do not "
                "count: give them back, and correct its configuration or this one"
            )
            self._alert(jackpot, alert, "not_authorised", detail)
        self._work.set()

    def _on_unlinked_event(self, jackpot: JackpotRuntime, name: str, body: bytes) -> None:
        event = describe_stake_or_award(body)
        if event is not None:
            detail = f"{name}: {event}: the table is not authorised"
            self._alert(jackpot, f"{name}-refused", "refused", detail)
            self._work.set()

    def _on_link(self, up: bool) -> None:
        """Handle the start or loss of the connection."""
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

    def _on_event(self, table: TrackedTable, body: bytes) -> None:
        if self.why is None:
            self._apply_result(table, table.intake.on_event(body))

    def _on_table_state(self, table: TrackedTable, body: bytes) -> None:
        if self.why is None:
            if table.on_state(body):
                self._send_recall(table)
            self._check_tables_soon()

    def _on_table_info(self, table: TrackedTable, body: bytes) -> None:
        table.on_info(body)
        self._check_tables_soon()

    def _check_tables_soon(self) -> None:
        """Re-evaluate soon whether tables may take bets."""
        self._tables_checked_at = 0.0
        self._work.set()

    def _on_reply(self, table: TrackedTable, body: bytes) -> None:
        before = table.recall_error
        reply = table.on_reply(body)
        if table.recall_error is not None and table.recall_error != before:
            detail = f"{table.table} refuses a recall: {table.recall_error}"
            self._alert_table(table, "unheard", "unheard", detail)
        if reply is None or self.why is not None:
            return
        request, events = reply
        result = table.intake.on_reply(events, request, self.settings.clock_bound)
        if not result.ask and not table.up_to_date:
            table.up_to_date = True
            self._clear_table_alert(table, "unheard")
            self._check_tables_soon()
        self._apply_result(table, result)
        if table.recall_again:
            self._send_recall(table)

    def _apply_result(self, table: TrackedTable, result: IntakeResult) -> None:
        """Apply the result of a message."""
        table.memory_changed = True
        if result.facts:
            self._pending_facts += [(table.jackpot, fact, None) for fact in result.facts]
            self._work.set()
        for notice in result.notices:
            fault = notice.alert != "refused"
            detail = f"{table.table}: {notice.detail}"
            self._alert_table(table, notice.alert, notice.alert, detail, fault=fault)
            self._check_tables_soon()
        if result.ask:
            self._send_recall(table)

    def _send_recall(self, table: TrackedTable) -> None:
        """Ask a table for everything after the last accepted event."""
        now = clock.wall()
        next_recall = table.next_recall(clock.monotonic(), format_utc(now))
        connection = self._connection
        if next_recall is None or connection is None:
            return
        number, request = next_recall
        body = {"boot": request.at.boot, "from": request.first, "onward": True}
        message = unsigned_recall(body, self._client, number)
        if self._reader is not None:
            people = self._people.people
            owner = None if people is None else people.owners.get(self._reader.kid)
            if owner is None:
                table.recall_error = "the people file does not name the owner of `recall_key`"
                return
            message = self._reader.sign(
                owner[0].id, table.topic, body, self._client, number, int(now)
            )
        connection.send(f"{table.topic}/command/{RECALL}", message)

    # Orders

    def _on_order(self, jackpot: JackpotRuntime, name: str, body: bytes, *, retained: bool) -> None:
        """Queue an order. Excess orders are discarded, and unsigned ones at once, so that a flood
        delays nothing else.
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
        """Handle waiting orders, one after the other."""
        while True:
            await jackpot.order_arrived.wait()
            jackpot.order_arrived.clear()
            while jackpot.waiting_orders:
                self._handle_order(jackpot, *jackpot.waiting_orders.popleft(), retained=False)
                await clock.sleep(ORDER_INTERVAL_SECONDS)

    def _report_discards(self, jackpot: JackpotRuntime) -> None:
        """Report how many orders were discarded."""
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
        signed, now = None, clock.wall()
        try:
            if retained:
                raise RejectedError("retained_command")
            signed = jackpot.orders.verify_signer(body, now)
            if self._checking:
                raise RejectedError("controller_verifies")
            if self.books is None or self.why is not None:
                raise RejectedError("controller_out", why=self.why or "store")
            order = jackpot.orders.accept(signed, name, body, now, format_utc(now))
            self._check_gap_order(jackpot, order)
        except RejectedError as error:
            self._refuse(jackpot, client, number, error, signed, body)
            return
        outcome: OutcomeFuture = asyncio.get_running_loop().create_future()
        outcome.add_done_callback(lambda done: self._on_order_done(jackpot, client, number, done))
        self._pending_facts.append((jackpot.id, order, outcome))
        self._work.set()

    def _refuse(
        self,
        jackpot: JackpotRuntime,
        client: str | None,
        number: object,
        error: RejectedError,
        signed: VerifiedCommand | None,
        body: bytes,
    ) -> None:
        """Refuse an order, and reply once the refusal is in the ledger, so that the order is never
        followed later. Orders that can never be followed are not stored, so that they cannot fill
        the ledger.
        """
        key = error.refusal.key
        self._counts.refused[jackpot.id, key] += 1
        reply = JackpotReply(
            id=number,
            ok=False,
            error=str(error),
            refusal=error.refusal,
            judged=isinstance(error, OrderRefusedError),
        )

        def refused(stored: OutcomeFuture | None = None) -> None:
            if stored is not None and not stored.cancelled():
                stored.exception()  # retrieved; the order is refused anyway
            self._log.info("order refused", jackpot=jackpot.id, reason=str(error))
            self._reply(jackpot, client, reply)

        if signed is None or key in PERMANENT_REFUSALS or self.books is None or self.why:
            refused()
            return
        stored: OutcomeFuture = asyncio.get_running_loop().create_future()
        stored.add_done_callback(refused)
        fact = order_not_followed(signed, body, format_utc(clock.wall()), error)
        self._pending_facts.append((jackpot.id, fact, stored))
        self._work.set()

    def _check_gap_order(self, jackpot: JackpotRuntime, ordered: OrderGiven) -> None:
        """Check what only the running controller knows of an order."""
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
            default = RejectedError("controller_ended" if error is None else "ledger_not_written")
            refusal = error.refusal if isinstance(error, RejectedError) else default.refusal
            log.info("order refused", reason=str(error or default))
            self._counts.refused[jackpot.id, refusal.key] += 1
            reply = JackpotReply(
                id=number, ok=False, error=str(error or default), refusal=refusal, judged=True
            )
        else:
            log.info("order followed", receipt=done.result().receipt)
            reply = JackpotReply(id=number, ok=True, receipt=done.result().receipt)
        self._reply(jackpot, client, reply)

    def _sender(self, body: bytes) -> tuple[str | None, object]:
        """Return client and request id, read before the signature is verified."""
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
        """Apply and commit pending facts, then publish the result."""
        while True:
            with suppress(TimeoutError):
                async with asyncio.timeout(self._until_due()):
                    await self._work.wait()
            self._work.clear()
            if self.books is not None and self._may_recover():
                await self._recover()
            done: list[tuple[OutcomeFuture, FactOutcome | OrderRefusedError]] = []
            if self.books is not None and self.why is None:
                facts, self._pending_facts = self._pending_facts, []
                try:
                    done = self._apply_all(self.books, facts)
                    if self.books.has_changes:
                        await asyncio.to_thread(self.books.commit)
                    self._on_committed()
                    if clock.monotonic() - self._marked_at >= CHECKPOINT_INTERVAL_SECONDS:
                        await self._write_mark(self.books)
                except LedgerNotStoredError as error:
                    done = []
                    self._on_store_failure(error, facts)
            for reply, outcome in done:
                if isinstance(outcome, OrderRefusedError):
                    reply.set_exception(outcome)
                else:
                    reply.set_result(outcome)
            self._publish_statements()
            if self._ending and not self._pending_facts:
                self._publish_checkpoint()
                if self.books is not None and self.why is None:
                    await self._write_mark(self.books, ended=True)
                self.why = self.why or "unheard"
                return

    def _on_committed(self) -> None:
        """Count committed facts, and clear their alerts."""
        committed, self._uncommitted = self._uncommitted, []
        self._counts.committed(committed)
        for name, fact in committed:
            alerts = self.jackpots[name].alerts
            if isinstance(fact, AlertRecorded):
                alerts.unstored.pop(fact.alert, None)
            if self.books is not None:
                alerts.stored = self.books.states[name].alerts
        times = [fact.cause.time for _, fact in committed if isinstance(fact, Staked | Won)]
        if times:
            self._counts.lag = clock.wall() - parse_utc(times[-1])

    def _apply_all(
        self, books: Books, facts: Sequence[PendingFact]
    ) -> list[tuple[OutcomeFuture, FactOutcome | OrderRefusedError]]:
        """Apply these facts, and save the tables' memories. Return the outcomes of orders, to be
        set after the commit.
        """
        now = format_utc(clock.wall())
        if clock.monotonic() - self._tables_checked_at >= TABLE_CHECK_INTERVAL_SECONDS:
            self._tables_checked_at = clock.monotonic()
            for table in self.tables.values():
                self._check_table(books, table, now)
        done: list[tuple[OutcomeFuture, FactOutcome | OrderRefusedError]] = []
        for jackpot, fact, reply in facts:
            if isinstance(fact, CaughtUp) and not _has_open_hit(books.states[jackpot]):
                continue
            try:
                outcome = self._apply(jackpot, now, fact)
            except OrderRefusedError as error:
                if isinstance(fact, OrderGiven) and reply is not None:
                    done.append((reply, error))
                    refusal = OrderNotFollowed(
                        time=now, signed=fact.signed[-1:], refusal=error.refusal.key
                    )
                    self._apply(jackpot, now, refusal)
                continue
            if isinstance(fact, OrderGiven) and isinstance(fact.order, GapSettle):
                self._resume_table(fact.order.table)
            if reply is not None and outcome is not None:
                done.append((reply, outcome))
        self._store_alerts(books, now)
        save_cursors = (
            bool(facts)
            or clock.monotonic() - self._cursors_saved_at > CURSOR_SAVE_INTERVAL_SECONDS
            or self._ending
        )
        for table in self.tables.values() if save_cursors else ():
            if table.memory_changed:
                books.save_cursor(table.table, msgspec.json.encode(table.intake.memory))
                table.memory_changed = False
        if save_cursors:
            self._cursors_saved_at = clock.monotonic()
        return done

    def _store_alerts(self, books: Books, now: str) -> None:
        """Record alerts that stay until a person clears them, in the same commit as their cause."""
        for jackpot in self._all_jackpots:
            for name, kind in jackpot.alerts.unstored.items():
                alert, stored = jackpot.alerts.open[name], books.states[jackpot.id].alerts
                if name in stored or len(stored) < MAX_STORED_ALERTS:
                    fact = AlertRecorded(
                        time=alert.raised,
                        alert=name,
                        what=kind,
                        fault=alert.severity == "fault",
                        detail=alert.detail or "",
                    )
                    self._apply(jackpot.id, now, fact)

    def _apply(self, name: str, now: str, fact: Fact) -> FactOutcome | None:
        assert self.books is not None
        jackpot = self.jackpots[name]
        terms = self.books.states[name].terms
        outcome = self.books.apply(name, now, fact)
        if outcome is None:
            return None
        self._uncommitted.append((name, fact))
        for affected in (name, *(transfer.jackpot for transfer in outcome.onward)):
            if affected in self.jackpots:
                self.jackpots[affected].changed = True
                self.jackpots[affected].orders.expire(clock.wall())
        for notice in outcome.notices:
            kind = notice.what.replace("_", "-")
            alert = f"{notice.table}-{kind}" if notice.table else kind
            self._alert(jackpot, alert, notice.what, notice.text)
        if isinstance(fact, OrderGiven):
            jackpot.alerts.sync(outcome.state.alerts)
        if isinstance(fact, Won):
            jackpot.last_hit, jackpot.last_recall = clock.monotonic(), 0.0
        if outcome.state.terms is not terms and self.tables:
            self._link_tables()
        return outcome

    def _check_table(self, books: Books, table: TrackedTable, now: str) -> None:
        """Record which node's clock a table has, and whether bets may be taken there."""
        jackpot = self.jackpots[table.jackpot]
        nodes, state = self._nodes[jackpot.settings.simulated], books.states[jackpot.id]
        record = state.tables.get(table.table)
        node = None if table.state is None else nodes.node_of(table.state.boot)
        bound = self.settings.clock_bound
        rounds = REMEMBERED_ROUNDS
        if node is not None and (
            record is None
            or (record.node, record.clock_bound) != (node, bound)
            or record.kept < rounds  # recorded by an older release
        ):
            fact = ServedBy(table=table.table, node=node, clock_bound=bound, rounds=rounds)
            self._apply(jackpot.id, now, fact)
        why = table.out_of_play_reason(
            nodes, clock.monotonic(), (state.terms or jackpot.settings.terms).currency
        )
        if record is None or record.why != why:
            self._apply(jackpot.id, now, PlayStatus(time=now, table=table.table, why=why))
        conditions: tuple[tuple[JackpotAlert, str | None], ...] = (
            ("foreign", table.find_mismatch(jackpot.settings.terms.currency)),
            ("clock", f"{nodes.clock_offsets.get(node or '', 0.0):+.1f} s"),
        )
        for name, detail in conditions:
            if why == name and detail is not None:
                if f"{table.table}-{name}" not in jackpot.alerts.open:
                    self._alert_table(table, name, name, f"{table.table}: {detail}")
            else:
                self._clear_table_alert(table, name)

    def _resume_table(self, name: str) -> None:
        """Resume a table after its gap was settled."""
        table = self.tables[name]
        if table.state is not None:
            table.intake.restart(table.state.boot, table.state.seq, table.state.time)
            table.memory_changed, table.up_to_date = True, False
            self._clear_table_alert(table, "gap")
            self._send_recall(table)
            self._check_tables_soon()

    def _on_store_failure(self, error: LedgerNotStoredError, facts: Sequence[PendingFact]) -> None:
        """Go out of play and back to the committed state: the disk refused these facts."""
        self._log.error("the ledger is not written", reason=str(error))
        self.why, self._store_trouble = "store", str(error)
        self._recover_at = clock.monotonic() + RECOVERY_INTERVAL_SECONDS
        self._uncommitted = []
        if self.books is not None:
            self.books.drop_uncommitted()
        for jackpot in self._all_jackpots:
            jackpot.changed, jackpot.published_at = True, 0.0
            jackpot.alerts.sync(jackpot.alerts.stored)
            self._alert(jackpot, "store", "store", str(error), fault=True)
        for _, _, reply in (*facts, *self._pending_facts):
            if reply is not None and not reply.done():
                reply.set_exception(error)
        self._pending_facts = []

    def _may_recover(self) -> bool:
        """Return whether to try again. A full disk lets the ledger be opened and refuses the next
        commit: without a pause, that would be repeated as fast as the ledger is verified.
        """
        return self.why == "store" and clock.monotonic() >= self._recover_at

    async def _recover(self) -> None:
        """Try again. The states in the file are verified as at a start."""
        assert self.books is not None
        assert self._key is not None
        store = self.books.store
        try:
            store.reopen()
        except LedgerError:
            return  # the alert already says why
        try:
            await asyncio.to_thread(
                check_ledger, store, self._key, self._on_progress, self._log_full_verification
            )
            memories = self.books.reload()
        except NotVerifiedError:
            return  # the controller is ending
        except LedgerError as error:
            self._report_unusable(str(error))
            return
        self._store_trouble = ""
        self._log.info("the ledger is written again", entries=self.books.position)
        self.why = None
        self._restore_tables(memories)
        for jackpot in self._all_jackpots:
            jackpot.changed, jackpot.published_at = True, 0.0
            jackpot.alerts.clear("store")
            jackpot.alerts.stored = self.books.states[jackpot.id].alerts
            jackpot.alerts.sync(jackpot.alerts.stored)
        for table in self.tables.values():
            self._send_recall(table)
        self._check_tables_soon()

    def _report_unusable(self, reason: str) -> None:
        """Report why the ledger cannot be used yet, once per reason."""
        if reason != self._store_trouble:
            self._store_trouble = reason
            for jackpot in self._all_jackpots:
                self._alert(jackpot, "store", "store", reason, fault=True)

    # Publishing

    def _until_due(self) -> float:
        """Return the seconds until something must be published even without new events."""
        if self._connection is None or not self._connection.up:
            return TICK_SECONDS * 4
        now = clock.monotonic()
        due = min(map(self._statement_due, self._all_jackpots))
        return max(0.0, min(TICK_SECONDS * 4, due - now))

    def _statement_due(self, jackpot: JackpotRuntime) -> float:
        """Return the monotonic time at which the next statement of a jackpot is due."""
        changed = jackpot.changed
        interval = MIN_STATEMENT_INTERVAL_SECONDS if changed else self.settings.keepalive
        return jackpot.published_at + interval

    def _publish_statements(self) -> None:
        """Publish the state of jackpots that changed, or whose keepalive is due."""
        connection, now = self._connection, clock.monotonic()
        if connection is None or not connection.up:
            return
        for jackpot in self._all_jackpots:
            if now >= self._statement_due(jackpot):
                jackpot.changed, jackpot.published_at = False, now
                state = self._encode_statement(jackpot)
                jackpot.echoes.add(state)
                jackpot.last_statement = state
                # the keepalive republishes it; each statement is expected back once
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
            self._run, jackpot.settings, state, meter, position, clock.wall(), self.why
        )

    async def _tick(self) -> None:
        while True:
            await clock.sleep(TICK_SECONDS)
            now = clock.monotonic()
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
        """Recall the tables' events while the value of a hit is not final."""
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
            for order in jackpot.orders.take_expired(clock.wall()):
                error = RejectedError(order.over)
                client, number = self._sender(order.first.token.encode())
                reply = JackpotReply(id=number, ok=False, error=str(error), refusal=error.refusal)
                self._reply(jackpot, client, reply)

    def _publish_checkpoint(self) -> None:
        """Sign the head of the ledger, store and publish it."""
        self._checkpoint_at = clock.monotonic()
        if self.books is None or self.why is not None or self._key is None:
            return
        try:
            checkpoint = sign_head(self.books.store, self._key, self.boot, format_utc(clock.wall()))
        except LedgerError as error:
            self._log.error("no checkpoint", reason=str(error))
            return
        if self._connection is not None:
            root = Topics(self.settings.site, self._simulated)
            topic = root.node(self.settings.node, "checkpoint")
            self._connection.retain(topic, msgspec.json.encode(checkpoint))

    async def _write_mark(self, books: Books, *, ended: bool = False) -> None:
        """Store the verification mark beside the ledger: it was verified at the start, and
        everything since followed the rules. No fact may be applied meanwhile.
        """
        self._marked_at = clock.monotonic()
        store, key = books.store, self._key
        if key is None or store.head != store.committed:
            return
        try:
            memories = {name: cursor.memory.decode() for name, cursor in store.cursors().items()}
            mark = VerificationMark(
                ledger=store.id,
                boot=self.boot,
                time=format_utc(clock.wall()),
                position=store.committed.position,
                hash=store.committed.hash.hex(),
                states=books.states,
                balances=tuple(
                    (*account, amount) for account, amount in sorted(store.sums.items())
                ),
                heard=memories if ended else None,
            )
            await asyncio.to_thread(write_mark, mark, key, store.path)
        except (LedgerError, OSError) as error:
            self._log.error("no mark of what is verified", reason=str(error))

    # Alerts

    def _alert_table(
        self,
        table: TrackedTable,
        name: str,
        kind: JackpotAlert,
        detail: str,
        *,
        fault: bool = False,
    ) -> None:
        jackpot = self.jackpots[table.jackpot]
        self._alert(jackpot, f"{table.table}-{name}", kind, detail, fault=fault)

    def _clear_table_alert(self, table: TrackedTable, name: str) -> None:
        self.jackpots[table.jackpot].alerts.clear(f"{table.table}-{name}")

    def _alert(
        self,
        jackpot: JackpotRuntime,
        name: str,
        kind: JackpotAlert,
        detail: str,
        *,
        fault: bool = False,
    ) -> None:
        self._log.warning("alert", jackpot=jackpot.id, alert=name, detail=detail)
        self._counts.alerts[jackpot.id, kind] += 1
        jackpot.alerts.report(name, kind, detail, format_utc(clock.wall()), fault=fault)

    # Names

    @property
    def _all_jackpots(self) -> list[JackpotRuntime]:
        return list(self.jackpots.values())

    @property
    def _simulated(self) -> bool:
        return all(jackpot.settings.simulated for jackpot in self.jackpots.values())

    @property
    def _roots_by_kind(self) -> dict[bool, str]:
        kinds = {jackpot.settings.simulated for jackpot in self.jackpots.values()}
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
        return tuple(table.table for table in self.tables.values() if table.jackpot == jackpot)


def _has_open_hit(state: JackpotLedgerState) -> bool:
    """Return whether the value of a hit is not final."""
    return any(not hit.fixed for hit in state.hits)
