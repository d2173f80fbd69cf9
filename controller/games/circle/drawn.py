"""How hands that have drawn are shown: the five cards shown reveal the discarded ones."""

from __future__ import annotations

from msgspec.structs import replace

from common.contract.commands import CardsShow, CardsTurn
from common.contract.refusals import RejectedError
from controller.games.circle import cards, doubts, moves
from controller.games.circle.opening import DISCARD_PILE, FIRST_DEAL_CARDS
from controller.games.circle.state import CircleSeat
from controller.games.circle.turn import CircleTurn
from controller.games.dealt.cards import TableCard


def show(turn: CircleTurn, command: CardsShow) -> None:
    """As in the base game; of a hand that has drawn, and of the opener's ``discards``."""
    hand = turn.state.current
    seat = hand.seat(command.who) if hand is not None else None
    if hand is not None and command.who == DISCARD_PILE:
        _show_pile(turn, command)
    elif (
        hand is not None
        and seat is not None
        and seat in hand.live
        and seat.discards
        and command.index is None
    ):
        _show_hand(turn, command, seat)
    else:
        cards.show(turn, command)
        return
    turn.settle()


def turn_up(turn: CircleTurn, command: CardsTurn) -> None:
    """As in the base game for a player who kept all cards; for another, only a person can state
    which he kept.
    """
    hand = turn.state.current
    if hand is not None and command.who == DISCARD_PILE:
        _turn_pile(turn)
        return
    if hand is None or command.who is not None:
        seat = None if hand is None else hand.seat(command.who)
        if seat is not None and seat.discards:
            raise RejectedError("kept_cards_unknown", who=seat.who)
        cards.turn_up(turn, command)
        return
    ready = [
        seat
        for seat in hand.live
        if not (seat.discards or seat.shown) and all(card.card for card in hand.cards_of(seat.who))
    ]
    if not ready:
        raise RejectedError("nothing_to_turn")
    for seat in ready:
        if turn.state.current is not None:
            cards.turn_up(turn, replace(command, who=seat.who))


# Hands


def _show_hand(turn: CircleTurn, command: CardsShow, seat: CircleSeat) -> None:
    own = turn.current.by_index(seat.who)
    if any(place.to == seat.who for place in turn.current.due):
        raise RejectedError("cards_still_due", who=seat.who)
    cards.proper(command.cards)
    forget(turn, command.cards, but=seat.who)
    if len(command.cards) != len(own) - seat.discards:
        raise RejectedError(
            "cards_counted", who=seat.who, cards=len(own) - seat.discards, count=len(command.cards)
        )
    if cards.contradicted(turn, seat.who, command.cards, own.values()):
        return
    laid = _laid(own, command.cards)
    if laid is None:
        doubts.doubt(turn, "shown_differs", who=seat.who)
        return
    unread = any(card.card is None for card in own.values())
    _discard(turn, seat, {index: card for index, card in own.items() if index not in laid})
    for index, value in laid.items():
        if not own[index].up or own[index].card != value:
            moves.turn_up(turn, seat.who, index, value)
    turn.change_seat(seat.who, discards=0, drawn=unread)
    cards.opened(turn, seat.who)


def _laid(own: dict[int, TableCard], shown: tuple[str, ...]) -> dict[int, str] | None:
    """Match the shown cards to dealt ones, by their index; None if impossible. All drawn cards are
    among them, and the kept first ones.
    """
    laid = {
        index: card.card
        for index, card in own.items()
        if card.card is not None and card.card in shown
    }
    left = [value for value in shown if value not in laid.values()]
    drawn = [index for index in own if index > FIRST_DEAL_CARDS]
    if any(own[index].card is not None and index not in laid for index in drawn):
        return None
    unread = [index for index in (*drawn, *own) if own[index].card is None]
    for index in dict.fromkeys(unread):
        if left:
            laid[index] = left.pop(0)
    return None if left or any(index not in laid for index in drawn) else laid


def _discard(turn: CircleTurn, seat: CircleSeat, discarded: dict[int, TableCard]) -> None:
    """Discard these cards. The opener's are kept apart."""
    apart = seat.number == turn.current.opener
    for index, card in discarded.items():
        remaining = None if apart or seat.returned else card.card
        turn.change_card(seat.who, index, card=remaining, up=False, gone=True, reading=None)
        if apart:
            moves.add(turn, replace(card, to=DISCARD_PILE, up=False))


def forget(turn: CircleTurn, named: tuple[str | None, ...], but: str | None = None) -> None:
    """A card that went back into the deck comes again: its former holder had discarded it."""
    back = {seat.who for seat in turn.current.seats if seat.returned and seat.discards} - {but}
    cards = tuple(
        replace(card, card=None)
        if card.to in back and not card.up and card.card in named and card.card
        else card
        for card in turn.current.cards
    )
    turn.change_current(cards=cards)


# The discards of the opener


def _show_pile(turn: CircleTurn, command: CardsShow) -> None:
    pile = _pile(turn)
    cards.proper(command.cards)
    if len(command.cards) != len(pile):
        raise RejectedError(
            "cards_counted", who=DISCARD_PILE, cards=len(pile), count=len(command.cards)
        )
    if {card.card for card in pile.values()} - {None, *command.cards}:
        doubts.doubt(turn, "shown_differs", who=DISCARD_PILE)
    else:
        cards.reveal(turn, DISCARD_PILE, pile, command.cards)


def _turn_pile(turn: CircleTurn) -> None:
    cards.turn_known(turn, DISCARD_PILE, _pile(turn))
    turn.settle()


def _pile(turn: CircleTurn) -> dict[int, TableCard]:
    pile = {
        index: card for index, card in turn.current.by_index(DISCARD_PILE).items() if not card.up
    }
    if not pile:
        raise RejectedError("discards_not_shown_yet")
    return pile
