"""Errors of the deal, and what the decree makes of them: the rulebook's ``errors`` says which
remedy an error has.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

import msgspec
from msgspec.structs import replace

from controller.contract.commands import CardDecide, DealError, VoidReason
from controller.contract.events import CardDealt
from controller.contract.refusals import RejectedError
from controller.games.circle.acts import leave, settle
from controller.games.circle.state import CircleSeat
from controller.games.circle.streets import around, places, streets
from controller.games.circle.turn import CircleTurn
from controller.games.roles import IN_CHARGE, allow_role
from controller.games.session import confirmer, sent
from controller.rulebooks.circle import Remedy

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
OF_THE_PACK = ("missing_card", "foreign_card", "defective")
"""Errors after which the deck may not be used."""
DISBELIEVED = ("card_duplicate", "card_foreign", "shown_differs")
"""After these a person has decided that the cards are right: then what a reader said of the covered
ones is not. After a ``silence`` it is, as long as every card that was due comes from the reader
(``Turn.doubt``).
"""


class CircleDealError(msgspec.Struct, frozen=True, kw_only=True):
    """An error of the deal. ``by``: the command that reported it, None if a device saw it."""

    name: str
    who: str | None = None
    index: int | None = None
    count: int = 1
    seen: bool = False
    by: DealError | None = None

    @property
    def what(self) -> str:
        """The irregularity."""
        return f"deal_{self.name}"


def report(turn: CircleTurn, given: DealError) -> None:
    """A person reports an error."""
    name = named(given)
    if not given.valid:
        _take_back(turn, given, f"deal_{name}")
        return
    if name not in turn.book.errors:
        raise RejectedError("deal_error_without_rule", error=name, errors=tuple(turn.book.errors))
    apply(
        turn,
        CircleDealError(
            name=name,
            who=given.who,
            index=given.index,
            count=given.count,
            seen=given.seen,
            by=given,
        ),
    )


def named(given: DealError) -> str:
    """The rulebook's name of the error: one more common card, and cards that a player shows by
    mistake, have their own.
    """
    if given.error == "too_many" and (given.who or "").startswith("board"):
        return "extra_common"
    return (
        "shown_by_player" if given.error == "exposed" and given.fault == "player" else given.error
    )


def _take_back(turn: CircleTurn, given: DealError, what: str) -> None:
    """Withdraw an error that did not happen: the person in charge confirms it, and the table goes
    on.
    """
    allow_role(given.role, IN_CHARGE)
    trouble = next(
        (
            each
            for each in turn.state.troubles
            if each.what == what and given.who in (None, each.who)
        ),
        None,
    )
    if trouble is None:
        raise RejectedError("no_such_deal_error", error=given.error)
    turn.change(troubles=tuple(each for each in turn.state.troubles if each != trouble))
    if turn.state.current is not None:
        turn.change_current(confirmed_by=confirmer(given))
    turn.settle()
    turn.expect()


def apply(turn: CircleTurn, error: CircleDealError) -> None:
    """Apply the decree's remedy for an error that a person or a device reported."""
    name = turn.book.errors[error.name]
    remedy = turn.remedies[name] if name in turn.remedies else REMEDIES[name]
    remedy(turn, error)


def _restart(turn: CircleTurn, error: CircleDealError) -> None:
    """All cards are collected and the round begins anew; once bets are made a person decides."""
    _in_round(turn)
    if turn.current.begun:
        _ask(turn, error)
    else:
        _collect(turn, error)


def _restart_if_several(turn: CircleTurn, error: CircleDealError) -> None:
    """As ``restart`` for more than one card; about a single one a person decides."""
    if error.count > 1:
        _restart(turn, error)
    else:
        _ask(turn, error)


def _restart_if_seen(turn: CircleTurn, error: CircleDealError) -> None:
    """As ``restart`` for a card that a player has seen; about another a person decides."""
    if error.seen:
        _restart(turn, error)
    else:
        _ask(turn, error)


def _collect(turn: CircleTurn, error: CircleDealError) -> None:
    """All cards are collected and the round begins anew."""
    _in_round(turn)
    turn.irregular(error.what, detail=error.who)
    if error.name in OF_THE_PACK:
        turn.change(deck=False)
        turn.raise_alert("deck_defective")
    turn.void(
        turn.current, REASONS.get(error.name, "misdeal"), turn.book.laws[error.what], error.by
    )


def _ask(turn: CircleTurn, error: CircleDealError) -> None:
    """A person says whether it was put right."""
    _in_round(turn)
    turn.trouble(error.what, who=error.who)


def _put_right(turn: CircleTurn, error: CircleDealError) -> None:
    """Before betting begins, a person says whether it was put right. Later it cannot be: the round
    is void, unless the error is withdrawn.
    """
    _in_round(turn)
    if turn.current.begun:
        turn.trouble(error.what, who=error.who, asks=("round.void", "deal.error"))
    else:
        _ask(turn, error)


def _note(turn: CircleTurn, error: CircleDealError) -> None:
    """Report it; the play stays valid."""
    turn.irregular(error.what, detail=of_a_player(turn, error).who)


def of_a_player(turn: CircleTurn, error: CircleDealError) -> CircleSeat:
    """The live player whose cards it is about."""
    _in_round(turn)
    seat = turn.current.seat(error.who)
    if seat is None or seat not in turn.current.live:
        raise RejectedError("who_one_of", players=turn.current.live_names)
    return seat


def _replace(turn: CircleTurn, error: CircleDealError) -> None:
    """A common card does not count: it came too early, or was one too many in its interval. Another
    replaces it later.
    """
    _in_round(turn)
    hand, law = turn.current, turn.book.laws[error.what]
    boards = [each for each in hand.cards if each.to.startswith("board")]
    if not hand.open:
        raise RejectedError("betting_not_open")
    turn.irregular(error.what, detail=error.who)
    covered = sorted((each for each in boards if not each.up), key=lambda each: each.index)
    for card in covered[: error.count]:
        turn.remove(card, error.name, law)
    if not covered and hand.used is not None:
        turn.change_current(used=hand.used + error.count)


def _annul(turn: CircleTurn, error: CircleDealError) -> None:
    """Cards of two players touched: both hands are void. They are reported one after the other."""
    seat = of_a_player(turn, error)
    law = turn.book.laws[error.what]
    first = next((each for each in turn.state.troubles if each.what == error.what), None)
    leave(turn, seat.who, "annulled")
    turn.collect(seat.who, error.name, law)
    if first is None:
        turn.trouble(error.what, who=seat.who, asks=("deal.error", "round.void"))
        return
    turn.change(troubles=tuple(each for each in turn.state.troubles if each != first))
    turn.irregular(error.what, detail=seat.who)
    if turn.current.live:
        settle(turn)
    else:
        turn.void(turn.current, "misdeal", law, error.by)


def _reshuffle(turn: CircleTurn, error: CircleDealError) -> None:
    """The deck must be shuffled again before a card is dealt."""
    hand = turn.state.current
    if hand is not None and hand.closed:
        raise RejectedError("cut_over")
    turn.trouble(error.what, asks=("card.decide",))


def _seat(turn: CircleTurn, error: CircleDealError) -> None:
    """A card went to an absent player or an empty seat: no misdeal. The seat is dealt in, and its
    cards are collected.
    """
    _in_round(turn)
    number = _number(error.who)
    turn.irregular(error.what, detail=error.who)
    if turn.current.seat(error.who) is not None:
        return  # he has his cards; where he is not back in his turn, his hand is given up
    was = turn.current
    if was.street != 0 or not was.due:
        raise RejectedError("seat_too_late")
    order = [seat.number for seat in was.seats]
    order = list(around(turn.book, turn.settings, {*order, number}, order[0]))
    known = {seat.number: seat for seat in was.seats}
    seats = tuple(known.get(each, CircleSeat(number=each, status="away")) for each in order)
    street = places(streets(turn.book, turn.settings)[0], seats, ())
    turn.change_current(seats=seats, cards=(), due=street[len(was.cards) :])
    for card, place in zip(was.cards, street, strict=False):
        index = len(turn.current.of(place.to)) + 1
        turn.change_current(cards=(*turn.current.cards, replace(card, to=place.to, index=index)))
        if (place.to, index) != (card.to, card.index):
            turn.say(
                CardDealt(round=was.round, to=place.to, index=index, card=card.told, was=card.to)
            )
    turn.dealt()


REMEDIES: Mapping[Remedy, Callable[[CircleTurn, CircleDealError], None]] = {
    "restart": _restart,
    "restart_if_several": _restart_if_several,
    "restart_if_seen": _restart_if_seen,
    "collect": _collect,
    "ask": _ask,
    "put_right": _put_right,
    "note": _note,
    "replace": _replace,
    "annul": _annul,
    "reshuffle": _reshuffle,
    "seat": _seat,
}
"""By the rulebook's name. A variant adds its own remedies."""


def decide(turn: CircleTurn, given: CardDecide) -> None:
    """A person decides: the trouble was put right, or the waiting card leaves the game."""
    if not turn.state.troubles:
        raise RejectedError("nothing_to_decide")
    trouble, *others = turn.state.troubles
    if "card.decide" not in trouble.asks:
        raise RejectedError("decide_first", what=trouble.what, commands=sent(trouble.asks))
    if given.action not in ("accept", "remove"):
        raise RejectedError("action_not_allowed", action=given.action, actions=("accept", "remove"))
    hand = turn.state.current
    if given.action == "remove":
        if hand is None or not hand.held:
            raise RejectedError("no_card_waiting")
        gone = tuple(each.card for each in hand.held if each.card is not None)
        turn.change_current(held=(), gone=(*hand.gone, *gone))
    turn.change(troubles=tuple(others))
    if hand is not None:
        turn.change_current(confirmed_by=confirmer(given))
        if trouble.what in DISBELIEVED:
            turn.disbelieve()
    turn.settle()
    turn.expect()


def _number(who: str | None) -> int:
    kind, _, number = (who or "").partition(":")
    if kind != "seat" or not number.isdecimal():
        raise RejectedError("seat_required")
    return int(number)


def _in_round(turn: CircleTurn) -> None:
    if turn.state.current is None or not turn.current.closed:
        raise RejectedError("no_cards_dealt")
