"""How hands that have drawn are shown: the five cards shown tell which were discarded."""

from __future__ import annotations

from msgspec.structs import replace

from controller.contract.commands import CardsShow, CardsTurn
from controller.contract.refusals import RejectedError
from controller.games.circle import cards
from controller.games.circle.opening import FIRST, PILE
from controller.games.circle.state import CircleCard, CircleSeat
from controller.games.circle.turn import CircleTurn


def show(turn: CircleTurn, given: CardsShow) -> None:
    """As in the base game; of a hand that has drawn, and of the opener's ``discards``."""
    hand = turn.state.current
    seat = hand.seat(given.who) if hand is not None else None
    if hand is not None and given.who == PILE:
        _show_pile(turn, given)
    elif (
        hand is not None
        and seat is not None
        and seat in hand.live
        and seat.discards
        and given.index is None
    ):
        _show_hand(turn, given, seat)
    else:
        cards.show(turn, given)
        return
    turn.settle()
    turn.expect()


def turn_up(turn: CircleTurn, given: CardsTurn) -> None:
    """As in the base game for a player who kept all cards; which cards another kept, only a person
    can tell.
    """
    hand = turn.state.current
    if hand is not None and given.who == PILE:
        _turn_pile(turn)
        return
    if hand is None or given.who is not None:
        seat = None if hand is None else hand.seat(given.who)
        if seat is not None and seat.discards:
            raise RejectedError("kept_cards_unknown", who=seat.who)
        cards.turn_up(turn, given)
        return
    ready = [
        seat
        for seat in hand.live
        if not (seat.discards or seat.shown) and all(each.card for each in hand.of(seat.who))
    ]
    if not ready:
        raise RejectedError("nothing_to_turn")
    for seat in ready:
        if turn.state.current is not None:
            cards.turn_up(turn, replace(given, who=seat.who))


# Hands


def _show_hand(turn: CircleTurn, given: CardsShow, seat: CircleSeat) -> None:
    own = turn.current.of(seat.who)
    if any(place.to == seat.who for place in turn.current.due):
        raise RejectedError("cards_still_due", who=seat.who)
    cards.proper(given.cards)
    forget(turn, given.cards, but=seat.who)
    if len(given.cards) != len(own) - seat.discards:
        raise RejectedError(
            "cards_counted", who=seat.who, cards=len(own) - seat.discards, count=len(given.cards)
        )
    if cards.contradicted(turn, seat.who, given.cards, list(own)):
        return
    laid = _laid(own, given.cards)
    if laid is None:
        turn.trouble("shown_differs", who=seat.who)
        return
    unread = any(each.card is None for each in own)
    gone = [card for card in own if card not in laid]
    _discard(turn, seat, gone)
    for card, value in laid.items():
        if not card.up or card.card != value:
            turn.turn(card, value)
    turn.change_seat(seat.who, discards=0, drawn=unread)
    cards.opened(turn, seat.who)


def _laid(own: tuple[CircleCard, ...], shown: tuple[str, ...]) -> dict[CircleCard, str] | None:
    """Match the shown cards to dealt ones; None if impossible. All drawn cards are among them, and
    the kept first ones.
    """
    laid: dict[CircleCard, str] = {
        each: each.card for each in own if each.card is not None and each.card in shown
    }
    left = [value for value in shown if value not in laid.values()]
    drawn = [each for each in own if each.index > FIRST]
    if any(each.card is not None and each not in laid for each in drawn):
        return None
    unread = [each for each in (*drawn, *own) if each.card is None]
    for card in dict.fromkeys(unread):
        if left:
            laid[card] = left.pop(0)
    return None if left or any(each not in laid for each in drawn) else laid


def _discard(turn: CircleTurn, seat: CircleSeat, gone: list[CircleCard]) -> None:
    """Discard these cards. The opener's are kept apart."""
    hand = turn.current
    left = tuple(card for card in hand.cards if card not in gone)
    if seat.number == hand.opener:
        pile = tuple(
            replace(card, to=PILE, index=place, up=False) for place, card in enumerate(gone, 1)
        )
        turn.change_current(cards=(*left, *pile))
    else:
        known = () if seat.returned else tuple(card.card for card in gone if card.card is not None)
        turn.change_current(cards=left, gone=(*hand.gone, *known))


def forget(turn: CircleTurn, named: tuple[str | None, ...], but: str | None = None) -> None:
    """A card that went back into the deck comes again: its former holder had discarded it."""
    back = {seat.who for seat in turn.current.seats if seat.returned and seat.discards} - {but}
    cards = tuple(
        replace(each, card=None, frame=None)
        if each.to in back and not each.up and each.card in named and each.card
        else each
        for each in turn.current.cards
    )
    turn.change_current(cards=cards)


# The discards of the opener


def _show_pile(turn: CircleTurn, given: CardsShow) -> None:
    pile = _pile(turn)
    cards.proper(given.cards)
    if len(given.cards) != len(pile):
        raise RejectedError("cards_counted", who=PILE, cards=len(pile), count=len(given.cards))
    read = {each.card for each in pile if each.card is not None}
    if read - {*given.cards}:
        turn.trouble("shown_differs", who=PILE)
        return
    if cards.contradicted(turn, PILE, given.cards, list(pile)):
        return
    left = [value for value in given.cards if value not in read]
    for card in pile:
        turn.turn(card, card.card if card.card is not None else left.pop(0))


def _turn_pile(turn: CircleTurn) -> None:
    pile = _pile(turn)
    if any(each.card is None for each in pile):
        raise RejectedError("hand_cards_unknown", who=PILE)
    for card in pile:
        turn.turn(card, card.card or "")
    turn.settle()
    turn.expect()


def _pile(turn: CircleTurn) -> tuple[CircleCard, ...]:
    pile = tuple(each for each in turn.current.of(PILE) if not each.up)
    if not pile:
        raise RejectedError("discards_not_shown_yet")
    return pile
