"""The start of the controller: checks the program and the ledger, then opens the books."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from pathlib import Path

import msgspec
from nacl.signing import SigningKey

from common import clock
from common.contract.jackpot import JackpotAlert
from common.contract.times import format_utc
from common.contract.version import SOFTWARE
from common.log import structlog
from common.people.seen import SeenCommands
from common.people.signed_command import seen_before
from subscribers.carrousel.alerting import AlertReporter
from subscribers.carrousel.books import Books
from subscribers.carrousel.checkpoints import signing_key
from subscribers.carrousel.fact_applier import FactApplier
from subscribers.carrousel.facts import ControllerStarted, TermsGiven
from subscribers.carrousel.ledger_check import LedgerCheck
from subscribers.carrousel.linked_tables import LinkedTables
from subscribers.carrousel.runtime import JackpotRuntime
from subscribers.carrousel.schema import LedgerError
from subscribers.carrousel.self_check import NotVerifiedError, configuration_digest
from subscribers.carrousel.settings import CarrouselSettings
from subscribers.carrousel.status import ControllerStatus
from subscribers.carrousel.store import LedgerStore, LedgerUnavailableError
from subscribers.carrousel.table_feed import TableFeed
from subscribers.carrousel.tenure import LedgerTenure

LEDGER_RETRY_SECONDS = 5.0
"""Interval between two attempts to open a ledger that the disk does not let be read or written."""


class Startup:
    """``boot``: id of this run; ``open_ledger`` opens its ledger; ``check_program`` returns the
    program's digest; ``tenure``: set in a pair.
    """

    def __init__(
        self,
        *,
        settings: CarrouselSettings,
        boot: str,
        status: ControllerStatus,
        jackpots: Mapping[str, JackpotRuntime],
        tables: LinkedTables,
        feed: TableFeed,
        applier: FactApplier,
        alerts: AlertReporter,
        seen_orders: SeenCommands,
        check: LedgerCheck,
        open_ledger: Callable[[Path], LedgerStore],
        check_program: Callable[[], str],
        tenure: LedgerTenure | None,
    ) -> None:
        self._settings, self._boot, self._status = settings, boot, status
        self._jackpots, self._tables, self._feed = jackpots, tables, feed
        self._applier, self._alerts, self._seen_orders = applier, alerts, seen_orders
        self._check, self._open_ledger, self._check_program = check, open_ledger, check_program
        self._tenure = tenure
        self._log = structlog.get_logger()

    async def run(self) -> None:
        """Check the program and the ledger, which may take long; then open the books. Until then,
        or if a check fails, everything is out of play. If the disk does not let the ledger be read
        or written, try again until it does.
        """
        while not await self._try():
            self._status.is_checking = False
            self._status.work.set()
            await clock.sleep(LEDGER_RETRY_SECONDS)
        self._status.is_checking = False
        self._status.work.set()

    async def _try(self) -> bool:
        """Return False if the disk prevented the checks; else True, whether or not they passed."""
        status = self._status
        try:
            program, store, key = await asyncio.to_thread(self._verify)
            if not status.is_ending:
                await self._open_books(program, store, key)
        except LedgerUnavailableError as error:
            await self._give_up(error)
            status.why = "store"
            self._applier.forget_uncommitted()
            self._alerts.report_store_once(str(error))
            return status.is_ending
        except (NotVerifiedError, LedgerError, msgspec.DecodeError) as error:
            if status.is_ending:
                self._log.info("ended while the ledger was verified; it is as it was")
            else:
                await self._give_up(error)
                self._log.error("the check of itself failed: not in play", evidence=str(error))
                for jackpot in self._jackpots.values():
                    self._alerts.report(
                        jackpot, "not-verified", "not_verified", str(error), fault=True
                    )
            status.why = "not_verified"
        return True

    async def _give_up(self, error: Exception) -> None:
        """In a pair, leave the ledger to the other controller. The process ends."""
        if self._tenure is not None and not self._status.is_ending:
            await self._tenure.give_up(str(error))

    def _verify(self) -> tuple[str, LedgerStore, SigningKey]:
        """Return the program's digest, the ledger and its key. Runs in a separate thread."""
        program = self._check_program()
        store = self._open_ledger(Path(self._settings.ledger))
        try:
            store.check_balances()
            key_file = self._settings.key
            key = signing_key(store.path, None if key_file is None else Path(key_file))
            self._check.verify(store, key)
        except BaseException:
            store.close()
            raise
        return program, store, key

    async def _open_books(self, program: str, store: LedgerStore, key: SigningKey) -> None:
        """Open the ledger and start accepting stakes."""
        status = self._status
        try:
            former = store.started()
            status.books = books = Books(store, self._jackpots)
            self._tables.link(self._jackpots)
            self._tables.restore(books.reload())
            self._seen_orders.restore(seen_before(store.tokens()), clock.wall())
            started = ControllerStarted(
                time=format_utc(clock.wall()),
                boot=self._boot,
                program=program,
                configuration=configuration_digest(self._settings),
                software=SOFTWARE,
                instance="" if self._tenure is None else self._tenure.instance,
                term=0 if self._tenure is None else self._tenure.term,
            )
            self._record_start(books, started, former)
            if self._tenure is not None:
                await self._tenure.ship(books)
            books.commit()
            self._applier.on_committed()
        except BaseException:
            status.books = None
            store.close()
            raise
        self._tables.link(self._jackpots)
        self._log.info(
            "carrousel up",
            boot=self._boot,
            program=program,
            configuration=started.configuration,
            entries=books.position,
        )
        status.key, status.why = key, None
        self._feed.subscribe()
        self._alerts.clear_store()
        for jackpot in self._jackpots.values():
            jackpot.publish_soon()
        status.check_tables_soon()

    def _record_start(self, books: Books, started: ControllerStarted, former: bytes | None) -> None:
        """Record the start, terms that changed, and alerts. ``former``: the start before."""
        for jackpot in self._jackpots.values():
            self._applier.apply(jackpot.id, started.time, started)
            self._apply_terms(books, jackpot, started.time)
            jackpot.alerts.sync(books.states[jackpot.id].alerts)
            jackpot.alerts.changed |= jackpot.former_alerts
        if former is not None:
            self._report_changes(msgspec.json.decode(former, type=ControllerStarted), started)
        self._applier.store_alerts(started.time)

    def _apply_terms(self, books: Books, jackpot: JackpotRuntime, now: str) -> None:
        state, terms = books.states[jackpot.id], jackpot.settings.terms
        if terms != (state.waiting or state.terms):
            fact = TermsGiven(time=now, terms=msgspec.to_builtins(terms))
            self._applier.apply(jackpot.id, now, fact)

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
                for jackpot in self._jackpots.values():
                    self._alerts.report(jackpot, f"{name}-changed", kind, detail)
