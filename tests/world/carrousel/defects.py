"""Defects that are put into the controller of the jackpots, and the faults that reveal them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from msgspec.structs import replace

from controller.games.house_poker import pays
from subscribers.carrousel import jackpot, order_of_hits
from subscribers.carrousel.books import Books
from subscribers.carrousel.entry import EntryBuilder
from subscribers.carrousel.intake_memory import IntakeMemory
from subscribers.carrousel.ledger_state import BEGINNING_OF_TIME
from subscribers.carrousel.ledger_writer import LedgerWriter
from subscribers.carrousel.startup import Startup
from subscribers.carrousel.tables import TrackedTable
from subscribers.feed.pending_recall import PendingRecall

if TYPE_CHECKING:
    import pytest


def _meter_with_all(books: Books, jackpot: str) -> int:
    return books.store.balance(jackpot)


def stake_counted_again(patch: pytest.MonkeyPatch) -> None:
    """A controller that starts does not know what its boxes had staked: their next coin, which
    states the whole stake, counts in full.
    """
    reload = Books.reload

    def forgetful(books: Books) -> dict[str, bytes]:
        memories = reload(books)
        for name, state in books.states.items():
            tables = {table: replace(each, rounds=()) for table, each in state.tables.items()}
            books.states[name] = replace(state, tables=tables)
        return memories

    patch.setattr(Books, "reload", forgetful)


def stakes_lost_at_a_reconnect(patch: pytest.MonkeyPatch) -> None:
    """After a reconnect a table is linked anew, with what it shows then."""
    disconnect = TrackedTable.on_disconnect

    def forgetful(table: TrackedTable) -> None:
        disconnect(table)
        table.intake.memory = IntakeMemory()

    patch.setattr(TrackedTable, "on_disconnect", forgetful)


def meter_before_its_commit(patch: pytest.MonkeyPatch) -> None:
    """A statement has what is applied, and is published before the commit."""
    apply_all = LedgerWriter._apply_all

    def eager(writer: LedgerWriter, books: Books, facts: Sequence[Any]) -> Any:
        done = apply_all(writer, books, facts)
        writer._announcer.publish()
        return done

    patch.setattr(Books, "meter", _meter_with_all)
    patch.setattr(LedgerWriter, "_apply_all", eager)


def meter_of_a_refused_commit(patch: pytest.MonkeyPatch) -> None:
    """What the disk has refused stays in the books."""
    patch.setattr(Books, "meter", _meter_with_all)
    patch.setattr(Books, "drop_uncommitted", lambda _: None)


def recall_given_up(patch: pytest.MonkeyPatch) -> None:
    """A recall without an answer is not repeated."""
    patch.setattr(PendingRecall, "is_waiting", lambda *_: True)


def start_given_up(patch: pytest.MonkeyPatch) -> None:
    """A controller that cannot read its ledger at its start does not try again."""
    try_start = Startup._try

    async def once(startup: Startup) -> bool:
        await try_start(startup)
        return True

    patch.setattr(Startup, "_try", once)


def clock_decides_alone(patch: pytest.MonkeyPatch) -> None:
    """An event counts at its own time, although its table has reported later ones before."""
    apply_event = jackpot._apply_event

    def at_its_time(entry: EntryBuilder, fact: Any) -> None:
        table = fact.cause.table
        entry.set_table(table, replace(entry.table(table), last=BEGINNING_OF_TIME))
        apply_event(entry, fact)

    patch.setattr(jackpot, "_apply_event", at_its_time)


def final_before_the_others(patch: pytest.MonkeyPatch) -> None:
    """A value is final before the other tables have reported what came before the hit."""
    patch.setattr(order_of_hits, "all_tables_caught_up", lambda *_: True)


def discard_is_forgotten(patch: pytest.MonkeyPatch) -> None:
    """A hand that was made by discarding wins as one that was dealt (EUS96)."""
    prizes = pays.prizes
    patch.setattr(pays, "prizes", lambda rules, hands, _, **more: prizes(rules, hands, (), **more))


def next_prize_of_the_whole(patch: pytest.MonkeyPatch) -> None:
    """The next hand has its part of the whole meter, not of what the higher ones leave (EUS96)."""
    prizes = pays.prizes

    def of_whole(*of: Any, **_more: Any) -> list[pays.HousePokerWinner]:
        return prizes(*of, of_whole=True)

    patch.setattr(pays, "prizes", of_whole)


KILLS = ("controller killed", "controller killed at a commit")
DEFECTS: dict[Callable[[pytest.MonkeyPatch], None], tuple[str, ...]] = {
    stake_counted_again: KILLS,
    stakes_lost_at_a_reconnect: ("controller cut off", "broker down, keeps all"),
    meter_before_its_commit: KILLS,
    meter_of_a_refused_commit: ("ledger's disk full",),
    recall_given_up: ("broker loses QoS 0", "daemon killed", "controller disconnected"),
    clock_decides_alone: ("wall clock set",),
    final_before_the_others: ("wall clock set", "controller cut off", "recalls answered late"),
    start_given_up: ("ledger's disk dead", "controller killed"),
}
EUS96_DEFECTS: dict[Callable[[pytest.MonkeyPatch], None], tuple[str, ...]] = {
    discard_is_forgotten: KILLS,
    next_prize_of_the_whole: KILLS,
    meter_of_a_refused_commit: ("ledger's disk full",),
}
"""Those that the jackpot of EUS96 shows."""
