"""The course of roulette: what differs from other wheels."""

from __future__ import annotations

from collections.abc import Mapping

from common.contract.events import RouletteOutcome
from common.readings import LinkGap, LinkLate, Reading, WheelNumber, WheelPhase
from controller.games import stakes
from controller.games.roulette.chances import chances
from controller.games.roulette.settings import BREACHES, RouletteSettings
from controller.games.roulette.state import RouletteState, WheelEntry, WheelRound
from controller.games.stakes import Bounds, bounds
from controller.games.wheels.turn import WheelCourse, WheelTurn
from controller.rulebooks.wheels import Roulette


def outcome(turn: RouletteTurn, entry: WheelEntry) -> RouletteOutcome:
    """The number, its chances, and the zeros running up to it."""
    assert entry.number is not None
    number = int(entry.number)
    own = chances(number, turn.book)
    return RouletteOutcome(
        number=number,
        colour=own.colour,
        parity=own.parity,
        half=own.half,
        dozen=own.dozen,
        column=own.column,
        zeros=0 if number else turn.state.tally(upto=entry.round).zeros,
        last_of_session=entry.last,
    )


def offered(turn: RouletteTurn) -> Mapping[str, Bounds]:
    """Every kind of bet with its limits; simple ones by their chance."""
    minimum, highest = turn.state.minimum, turn.settings.highest
    kinds = {
        name: bounds(minimum, bet.limits, highest.get(name)) for name, bet in turn.book.bets.items()
    }
    simple = kinds.pop("simple")
    return {**kinds, **dict.fromkeys(turn.book.chances, simple)}


def allow_highest(turn: RouletteTurn, minimum: int) -> None:
    """Reject a minimum of which the highest stakes are not multiples that the decree allows."""
    law = turn.book.laws.get("bet_limit")
    stakes.require_lawful(turn.settings.highest, bands(turn.book), minimum, law)


def concerns(fault: str, current: WheelRound) -> bool:
    """Also a failed launch, which has launched nothing."""
    return fault == "failed_launch" or current.launched


def silent(turn: RouletteTurn, reading: Reading) -> None:
    """Forget the wheel's movement and the rotor's last direction. After a short silence whose lines
    came late, the wheel's own counter may still show that no spin was missed.
    """
    short = isinstance(reading, LinkGap | LinkLate | WheelPhase | WheelNumber)
    turn.change(heard=False, rotor=turn.state.rotor if short else None)


def forget(turn: RouletteTurn) -> None:
    """Forget the rotor's direction: it may turn either way at the first launch of a session."""
    turn.change(rotor=None)


def voids(turn: RouletteTurn, round_: WheelRound | WheelEntry) -> None:
    """The ball goes back into the last valid number before it is launched again."""
    if (
        isinstance(round_, WheelRound)
        and round_.launched
        and turn.settings.rotor_after_void == "ignored"
    ):
        turn.change(rotor=turn.state.rotor_before)


class RouletteTurn(WheelTurn):
    """One step of a roulette table. No decree has a double zero."""

    book: Roulette
    settings: RouletteSettings
    state: RouletteState
    course = WheelCourse(
        opening=("bets_open",),
        breaches=BREACHES,
        put_back=True,
        numbers=lambda turn: range(turn.book.pockets),
        numbers_in_words=lambda turn: f"0–{turn.book.pockets - 1}",
        outcome=outcome,
        offered=offered,
        allow_highest=allow_highest,
        concerns=concerns,
        silent=silent,
        forget=forget,
        voids=voids,
    )


def bands(book: Roulette) -> dict[str, stakes.Band]:
    """The highest stakes that the decree allows each bet."""
    return {
        name: stakes.Band(bet.limits, raised=book.limits_raised) for name, bet in book.bets.items()
    }
