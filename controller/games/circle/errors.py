"""Handlers of errors of the deal. The rulebook's ``errors`` has the remedy of each."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping

from msgspec.structs import replace

from common.contract.commands import DealError, VoidReason
from common.contract.events import CardDealt
from common.contract.refusals import RejectedError
from controller.games.circle import doubts, moves
from controller.games.circle.acts import leave_round, settle
from controller.games.circle.state import EARLY_PLACE, CircleRound, CircleSeat
from controller.games.circle.streets import around, places, streets
from controller.games.circle.turn import CircleDealError, CircleTurn
from controller.games.guards import allow_role
from controller.games.roles import IN_CHARGE
from controller.games.session import confirmer

REASONS: Mapping[str, VoidReason] = {
    "order": "wrong_order",
    "too_many": "wrong_count",
    "too_few": "wrong_count",
    "exposed": "card_exposed",
    "exposed_in_deck": "card_exposed",
    "missing_card": "deck_defective",
    "foreign_card": "deck_defective",
    "defective": "deck_defective",
}
"""The void reason of each error; any other error is a ``misdeal``."""
DECK_ERRORS = ("missing_card", "foreign_card", "defective")
"""Errors after which the deck may not be used."""


RESTARTS: Mapping[str, Callable[[CircleDealError], bool]] = {
    "restart": lambda _: True,
    "restart_if_several": lambda error: error.count > 1,
    "restart_if_seen": lambda error: error.seen,
}
"""The errors after which the round is dealt again, by the name of the remedy."""


def report(turn: CircleTurn, command: DealError) -> None:
    """Handle an error that a person reports."""
    name = named(command)
    if not command.valid:
        _withdraw(turn, command, f"deal_{name}")
        return
    if name not in turn.book.errors:
        raise RejectedError("deal_error_without_rule", error=name, errors=tuple(turn.book.errors))
    moves.apply(
        turn,
        CircleDealError(
            name=name,
            who=command.who,
            index=command.index,
            count=command.count,
            seen=command.seen,
            by=command,
        ),
    )


def any_error(turn: CircleTurn) -> bool:
    """Cards are dealt, an error may be withdrawn, or the deck may be shuffled again."""
    hand = turn.state.current
    dealt = hand is not None and hand.closed
    return dealt or bool(turn.state.doubts) or "reshuffle" in turn.book.errors.values()


def named(command: DealError) -> str:
    """The rulebook's name of the error: one more common card, and cards that a player shows by
    mistake, have their own.
    """
    if command.error == "too_many" and (command.who or "").startswith("board"):
        return "extra_common"
    return (
        "shown_by_player"
        if command.error == "exposed" and command.fault == "player"
        else command.error
    )


def _withdraw(turn: CircleTurn, command: DealError, what: str) -> None:
    """Withdraw an error that did not happen: confirmed by the person in charge, and the table
    continues.
    """
    allow_role(command.role, IN_CHARGE)
    about = (doubt for doubt in turn.state.doubts if command.who in (None, doubt.who))
    doubt = next((doubt for doubt in about if doubt.what == what), None)
    if doubt is None:
        raise RejectedError("no_such_deal_error", error=command.error)
    doubts.resolve(turn, doubt)
    if turn.state.current is not None:
        turn.change_current(confirmed_by=confirmer(command))
    turn.settle()


def _restart(turn: CircleTurn, error: CircleDealError) -> None:
    """All cards are collected and the round is dealt again; once bets are made, or if the decree
    does not provide for this error, a person decides. A wrong number of cards cannot be put right
    then: the round is void, unless the error is withdrawn.
    """
    if in_round(turn).bets_begun and REASONS.get(error.name) == "wrong_count":
        _corrected(turn, error)
    elif in_round(turn).bets_begun or not RESTARTS[turn.book.errors[error.name]](error):
        _ask_whether_corrected(turn, error)
    else:
        _collect(turn, error)


def _collect(turn: CircleTurn, error: CircleDealError) -> None:
    """All cards are collected and the round is dealt again."""
    in_round(turn)
    turn.irregular(error.what, detail=error.who)
    if error.name in DECK_ERRORS:
        turn.change(deck=False)
        turn.raise_alert("deck_defective")
    moves.void(
        turn, turn.number, REASONS.get(error.name, "misdeal"), turn.book.laws[error.what], error.by
    )


def _ask_whether_corrected(turn: CircleTurn, error: CircleDealError) -> None:
    """Ask a person whether the error was corrected."""
    in_round(turn)
    doubts.doubt(turn, error.what, who=error.who)


def _corrected(turn: CircleTurn, error: CircleDealError) -> None:
    """Before betting begins, ask a person whether the error was corrected. Later it cannot be: void
    the round, unless the error is withdrawn.
    """
    if in_round(turn).bets_begun:
        doubts.doubt(turn, error.what, who=error.who, asks=("round.void", "deal.error"))
    else:
        _ask_whether_corrected(turn, error)


def _note(turn: CircleTurn, error: CircleDealError) -> None:
    turn.irregular(error.what, detail=of_a_player(turn, error).who)


def of_a_player(turn: CircleTurn, error: CircleDealError) -> CircleSeat:
    """The live player whose cards the error concerns."""
    hand = in_round(turn)
    seat = hand.seat(error.who)
    if seat is None or seat not in hand.live:
        raise RejectedError("who_one_of", players=hand.live_names)
    return seat


def _replace(turn: CircleTurn, error: CircleDealError) -> None:
    """A common card does not count: it came too early, or was one too many in its interval. Another
    replaces it later.
    """
    hand, law = in_round(turn), turn.book.laws[error.what]
    if not hand.open:
        raise RejectedError("betting_not_open")
    turn.irregular(error.what, detail=error.who)
    covered = sorted(
        (index, row)
        for row in hand.boards
        for index, card in hand.by_index(row).items()
        if not card.up
    )
    for index, row in covered[: error.count]:
        moves.remove(turn, row, index, error.name, law)
    if not covered:
        moves.count_used(turn, error.count)


def _annul(turn: CircleTurn, error: CircleDealError) -> None:
    """Cards of two players touched: both hands are void. They are reported one after the other."""
    seat = of_a_player(turn, error)
    law = turn.book.laws[error.what]
    first = next((doubt for doubt in turn.state.doubts if doubt.what == error.what), None)
    leave_round(turn, seat.who, "annulled")
    moves.collect(turn, seat.who, error.name, law)
    if first is None:
        doubts.doubt(turn, error.what, who=seat.who, asks=("deal.error", "round.void"))
        return
    doubts.resolve(turn, first)
    turn.irregular(error.what, detail=seat.who)
    if turn.current.live:
        settle(turn)
    else:
        moves.void(turn, turn.number, "misdeal", law, error.by)


def _reshuffle(turn: CircleTurn, error: CircleDealError) -> None:
    """The deck must be shuffled again before a card is dealt."""
    hand = turn.state.current
    if hand is not None and hand.closed:
        raise RejectedError("cut_over")
    doubts.doubt(turn, error.what, asks=("card.decide",))


def _seat(turn: CircleTurn, error: CircleDealError) -> None:
    """A card went to an absent player or an empty seat: no misdeal. The seat is dealt in, and its
    cards are collected.
    """
    hand, number = in_round(turn), _number(error.who)
    turn.irregular(error.what, detail=error.who)
    if hand.seat(error.who) is not None:
        return  # he has his cards; where he is not back in his turn, his hand is given up
    if hand.street != 0 or not hand.due:
        raise RejectedError("seat_too_late")
    order = [seat.number for seat in hand.seats]
    order = list(around(turn.book, turn.settings, {*order, number}, order[0]))
    seats_by_number = {seat.number: seat for seat in hand.seats}
    seats = tuple(
        seats_by_number.get(number, CircleSeat(number=number, status="away")) for number in order
    )
    street = places(streets(turn.book, turn.settings)[0], seats)
    others = tuple(card for card in hand.cards if card.gone or card.to == EARLY_PLACE)
    turn.change_current(seats=seats, cards=others, due=street[len(hand.lying) :])
    before: Counter[str] = Counter()
    for card, place in zip(hand.lying, street, strict=False):
        before[card.to] += 1
        index = turn.current.next_index(place.to)
        moves.add(turn, replace(card, to=place.to))
        if (place.to, index) != (card.to, before[card.to]):
            turn.emit(
                CardDealt(round=hand.round, to=place.to, index=index, card=card.face, was=card.to)
            )
    turn.variant.dealt(turn)


REMEDIES: Mapping[str, Callable[[CircleTurn, CircleDealError], None]] = {
    **dict.fromkeys(RESTARTS, _restart),
    "collect": _collect,
    "ask": _ask_whether_corrected,
    "put_right": _corrected,
    "note": _note,
    "replace": _replace,
    "annul": _annul,
    "reshuffle": _reshuffle,
    "seat": _seat,
}
"""By the rulebook's name. A variant adds its own remedies."""


def _number(who: str | None) -> int:
    kind, _, number = (who or "").partition(":")
    if kind != "seat" or not number.isdecimal():
        raise RejectedError("seat_required")
    return int(number)


def in_round(turn: CircleTurn) -> CircleRound:
    """The round in progress, once cards may lie. Raises ``RejectedError`` before."""
    hand = turn.state.current
    if hand is None or not hand.closed:
        raise RejectedError("no_cards_dealt")
    return hand
