"""The wheel of fortune: a wheel at rest, and the symbol under the tongue.

It is a game of a wheel that reports places (see ``cells``). Its own: the order of the cells
(``fortune.wheel``), and what every bet wins and pays at each result.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from msgspec.structs import replace

from common.contract.events import FortuneOutcome, Settled
from common.contract.shown import FortuneShown
from common.readings import Number
from controller.games import stakes
from controller.games.cells import game as cells
from controller.games.cells.state import CellsState
from controller.games.cells.turn import CellsTurn, cells_course
from controller.games.fortune.settings import BREACHES, DOUBTED_SETTINGS, FortuneSettings
from controller.games.fortune.wheel import faults, symbol, usual
from controller.games.machine import Kind, Machine
from controller.games.stakes import Bounds, Stake, bounds
from controller.games.wheels import game as wheels
from controller.games.wheels import readings as wheel_readings
from controller.games.wheels.state import WheelEntry
from controller.rulebooks.wheels import FortuneWheelBook

PAYS = {"24": "pays_24", "15": "pays_15"}
"""The bets whose payout a setting states, where the decree is in doubt."""


def symbols_of(turn: FortuneTurn) -> Iterable[Number]:
    """The symbol of each cell, clockwise."""
    return turn.settings.cells or usual(turn.book)


def offered(turn: FortuneTurn) -> Mapping[str, Bounds]:
    """The symbols with their limits."""
    multiples = () if turn.book.highest is None else (turn.book.highest,)
    return {
        name: bounds(turn.state.minimum, multiples, turn.settings.highest.get(name))
        for name in turn.book.bets
    }


def allow_highest(turn: FortuneTurn, minimum: int) -> None:
    """The highest stake is a multiple of the minimum, where the decree fixes it."""
    law = turn.book.laws.get("bet_limit")
    stakes.require_lawful(turn.settings.highest, bands(turn.book), minimum, law)


def outcome(turn: FortuneTurn, entry: WheelEntry) -> FortuneOutcome:  # noqa: ARG001 - no rule of the table
    """The symbol, and its cell if reported."""
    assert entry.number is not None
    return FortuneOutcome(number=entry.number, cell=entry.cell, last_of_session=entry.last)


def pay(turn: FortuneTurn, number: Number, bets: tuple[Stake, ...]) -> tuple[Settled, ...]:
    """What each bet does: that on each symbol, then those that were placed."""
    outcomes = {bet.bet: bet for bet in settled(number, turn.book, turn.settings)}
    return (*outcomes.values(), *(replace(outcomes[bet.bet], who=bet.who) for bet in bets))


class FortuneTurn(CellsTurn):
    """One step of a table of the wheel of fortune."""

    book: FortuneWheelBook
    settings: FortuneSettings
    course = cells_course(BREACHES, outcome, offered, allow_highest, pay)
    symbols_of = symbols_of


def settled(
    number: Number, book: FortuneWheelBook, settings: FortuneSettings
) -> tuple[Settled, ...]:
    """The outcome of each bet when this symbol is under the tongue: it wins and pays, or it
    loses.
    """
    return tuple(
        Settled(bet=name, outcome="win", pays=pays(name, book, settings))
        if symbol(name) == number
        else Settled(bet=name, outcome="lose")
        for name in book.bets
    )


def pays(bet: str, book: FortuneWheelBook, settings: FortuneSettings) -> tuple[int, int]:
    """The odds of a bet to 1: as the decree prints them, or by the table's setting if the print is
    in doubt.
    """
    stated = getattr(settings, PAYS[bet]) if bet in PAYS else "decree"
    return book.bets[bet].pays if stated == "decree" else (int(stated.split()[0]), 1)


def two_jokers(book: FortuneWheelBook) -> FortuneWheelBook:
    """The rulebook with two bets on jokers, of one cell each, instead of one."""
    joker = replace(book.bets["joker"], cells=1)
    others = {name: bet for name, bet in book.bets.items() if name != "joker"}
    return replace(book, bets={**others, "joker_red": joker, "joker_black": joker})


def prepare(book: FortuneWheelBook, settings: FortuneSettings) -> FortuneWheelBook:
    """Return the page. Raise ``ValueError`` for settings that the decree does not allow."""
    for name in DOUBTED_SETTINGS:
        if getattr(settings, name) != "decree" and name not in book.doubts:
            raise ValueError(f"{name}: {book.article.split(',')[0]} leaves no choice here")
    if settings.jokers == "two":
        book = two_jokers(book)
    wrong = faults(settings.cells, book) if settings.cells else []
    if wrong:
        raise ValueError(f"cells: {'; '.join(wrong[:3])}")
    stakes.refuse_unlawful(settings.highest, bands(book))
    return book


def show(game: FortuneGame, state: CellsState) -> FortuneShown:
    """The last result's cell, and the symbols around the wheel."""
    last = max(
        (entry for entry in state.entries if entry.number is not None),
        key=lambda entry: entry.round,
        default=None,
    )
    cells, tally = game.settings.cells or usual(game.book), state.tally()
    return FortuneShown(
        **wheels.common(game, state),
        last_number=tally.number,
        last_cell=last.cell if last else None,
        cells=tuple(cells),
        counts=tally.counts,
    )


def bands(book: FortuneWheelBook) -> dict[str, stakes.Band]:
    """The highest stakes that the decree allows on each symbol."""
    return dict.fromkeys(book.bets, stakes.Band(() if book.highest is None else (book.highest,)))


class FortuneGame(Machine[FortuneWheelBook, FortuneSettings, CellsState, FortuneTurn]):
    """The wheel of fortune under one decree with one table's settings. Raises ``ValueError`` for
    settings that the decree does not allow.
    """

    kind = Kind(
        state_type=CellsState,
        turn_type=FortuneTurn,
        inputs=cells.INPUTS,
        show=show,
        history=wheels.history,
        prepare=prepare,
        choices=wheels.choices,
        read_witness_report=wheels.read_witness_report,
        face_down=False,
        confidential=wheels.hide_nothing,
        hears=wheel_readings.hears,
    )
