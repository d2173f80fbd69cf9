"""Boule: a ball, eighteen holes, nine numbers, one of which has no simple chance.

It is a game of a wheel that reports places (see ``cells``). Its own: the chances
(``boule.chances``), and that the minimum of a cloth is the authorised one or twice as much.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from itertools import chain

from common.contract.commands import BetsClose, LimitAnnounce, SessionOpen
from common.contract.events import BouleOutcome, Settled
from common.contract.refusals import RejectedError
from common.contract.shown import BouleShown
from common.readings import Number
from controller.games import stakes
from controller.games.boule.chances import bets, chances, faults, settled
from controller.games.boule.settings import BREACHES, BouleSettings
from controller.games.cells import game as cells
from controller.games.cells.state import CellsState
from controller.games.cells.turn import CellsTurn, cells_course
from controller.games.guards import FieldCheck
from controller.games.machine import Kind, Machine
from controller.games.stakes import Bounds, Stake, bounds
from controller.games.wheels import commands as wheel_commands
from controller.games.wheels import game as wheels
from controller.games.wheels import readings as wheel_readings
from controller.games.wheels.state import WheelEntry
from controller.rulebooks.wheels import Boule


class BouleState(CellsState, frozen=True, kw_only=True, omit_defaults=True):
    """A boule table between two inputs. ``thrower``: the croupier who last closed the bets, who
    also throws the ball. ``throws``: how many consecutive rounds that was.
    """

    thrower: str | None = None
    throws: int = 0


def offered(turn: BouleTurn) -> Mapping[str, Bounds]:
    """The numbers and the simple chances. The highest stakes are multiples of the authorised
    minimum, and hold for each player separately.
    """
    authorised = turn.settings.authorised_minimum or turn.state.minimum
    kinds = {
        name: bounds(authorised, bet.limits, turn.settings.highest.get(name))._replace(
            least=turn.state.minimum
        )
        for name, bet in turn.book.bets.items()
    }
    return {bet: kinds["number" if bet.isdecimal() else "simple"] for bet in bets(turn.book)}


def allow_highest(turn: BouleTurn, minimum: int) -> None:
    """Reject a minimum unless the highest stakes lie between two multiples of the authorised
    one.
    """
    authorised = turn.settings.authorised_minimum or minimum
    law = turn.book.laws.get("bet_limit")
    stakes.require_lawful(turn.settings.highest, limits(turn.book), authorised, law)


def forget(turn: BouleTurn) -> None:
    """Drop a report of before the session, and forget who threw last."""
    turn.change(held=None, thrower=None, throws=0)


def outcome(turn: BouleTurn, entry: WheelEntry) -> BouleOutcome:
    """The number and its simple chances."""
    assert entry.number is not None
    number = int(entry.number)
    own = chances(number, turn.book)
    return BouleOutcome(
        number=number,
        colour=own.colour,
        parity=own.parity,
        half=own.half,
        last_of_session=entry.last,
    )


def pay(turn: BouleTurn, number: Number, bets: tuple[Stake, ...]) -> tuple[Settled, ...]:
    """The outcome of each bet that was placed."""
    return settled(int(number), bets, turn.book)


def symbols_of(turn: BouleTurn) -> Iterable[Number]:
    """The number of each hole, row by row."""
    return chain(*turn.settings.holes)


class BouleTurn(CellsTurn):
    """One step of a boule table."""

    book: Boule
    settings: BouleSettings
    state: BouleState
    course = cells_course(BREACHES, outcome, offered, allow_highest, pay)._replace(forget=forget)
    symbols_of = symbols_of


def close_bets(turn: BouleTurn, command: BetsClose) -> None:
    """No more bets, called by the croupier who threw the ball. Croupiers must take turns; none may
    throw always.
    """
    wheel_commands.close_bets(turn, command)
    running = turn.state.throws + 1 if command.by == turn.state.thrower else 1
    turn.change(thrower=command.by, throws=running)


def _authorised(turn: BouleTurn, command: SessionOpen | LimitAnnounce) -> None:
    """Reject a minimum that is neither the authorised one nor one of its allowed multiples, where
    that is stated.
    """
    authorised, minimum = turn.settings.authorised_minimum, command.minimum
    if minimum is None or authorised is None:
        return
    allowed = [authorised * factor for factor in turn.book.minimum_factors]
    if minimum not in allowed:
        law = turn.book.laws["minimum"]
        raise RejectedError(
            "minimum_not_authorised",
            minimum=minimum,
            allowed=tuple(map(str, allowed)),
            law=law.cited,
        )


INPUTS = cells.INPUTS.also(
    commands={
        SessionOpen: wheel_commands.COMMANDS[SessionOpen].after(FieldCheck(_authorised)),
        LimitAnnounce: wheel_commands.COMMANDS[LimitAnnounce].after(FieldCheck(_authorised)),
        BetsClose: wheel_commands.COMMANDS[BetsClose]._replace(apply=close_bets),
    },
)


def prepare(book: Boule, settings: BouleSettings) -> Boule:
    """Return the page. Raise ``ValueError`` for settings that the decree does not allow."""
    wrong = faults(settings.holes, book)
    if wrong:
        raise ValueError(f"holes: {'; '.join(wrong[:3])}")
    stakes.refuse_unlawful(settings.highest, limits(book))
    return book


def show(game: BouleGame, state: BouleState) -> BouleShown:
    """The retained state."""
    tally = state.tally()
    last = tally.number
    return BouleShown(
        **wheels.common(game, state),
        last_number=last,
        last_colour=None if last is None else chances(int(last), game.book).colour,
        thrower=state.thrower,
        throws=state.throws,
        counts=tally.counts,
    )


def limits(book: Boule) -> dict[str, stakes.Band]:
    """The highest stakes that the decree allows each kind of bet."""
    return {name: stakes.Band(bet.limits, span=True) for name, bet in book.bets.items()}


class BouleGame(Machine[Boule, BouleSettings, BouleState, BouleTurn]):
    """Boule under one decree with one table's settings. Raises ``ValueError`` for settings that the
    decree does not allow.
    """

    kind = Kind(
        state_type=BouleState,
        turn_type=BouleTurn,
        inputs=INPUTS,
        show=show,
        history=wheels.history,
        prepare=prepare,
        choices=wheels.choices,
        read_witness_report=wheels.read_witness_report,
        face_down=False,
        confidential=wheels.hide_nothing,
        hears=wheel_readings.hears,
    )
