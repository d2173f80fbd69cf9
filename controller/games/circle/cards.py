"""Handlers of cards that people deal, burn, show and turn at a table of circle poker."""

from __future__ import annotations

from collections.abc import Iterable

from common.contract.commands import CardsBurn, CardsDeal, CardsShow, CardsTurn
from common.contract.refusals import RejectedError
from controller.games.cards import is_card
from controller.games.circle import doubts, moves
from controller.games.circle.state import CircleRound
from controller.games.circle.streets import streets
from controller.games.circle.turn import CircleDealError, CircleTurn
from controller.games.dealt.cards import TableCard
from controller.games.guards import Refused, require

DEAD_PLACES = ("burn", "dead")
"""Cards that belong to no hand."""


def deal(turn: CircleTurn, command: CardsDeal) -> None:
    """Record cards dealt by hand: to one receiver, or where the next ones go. Face-up cards are
    named.
    """
    _begin(turn)
    count = max(command.count, len(command.cards))
    if command.who is not None:
        if command.who.startswith("board"):
            _skip_burn(turn)
        _first(turn, command.who, count)
    if count < 1 or count > len(turn.current.due):
        raise RejectedError("cards_due", due=len(turn.current.due), count=count)
    _put(turn, count, command.cards)


def burn(turn: CircleTurn, command: CardsBurn) -> None:
    """Record cards burned unseen."""
    _begin(turn)
    if command.count < 1 or not all(
        place.to in DEAD_PLACES for place in turn.current.due[: command.count]
    ):
        raise RejectedError("next_card_not_burned", who=turn.current.due[0].to)
    _put(turn, command.count, ())


def show(turn: CircleTurn, command: CardsShow) -> None:
    """Turn a hand or a board face up: these are its cards."""
    proper(command.cards)
    if command.low:
        raise RejectedError("no_low_hand")
    if command.who.startswith("board"):
        _show_board(turn, command)
    else:
        moves.player(turn, command.who)
        _show_seat(turn, command)
    turn.settle()


def turn_up(turn: CircleTurn, command: CardsTurn) -> None:
    """Turn face up cards that were read when they were dealt."""
    hand = turn.current
    if command.who is not None and command.who.startswith("board"):
        _turn_board(turn, command.who)
    else:
        if command.who is None and not hand.showdown:
            raise RejectedError("who_required")
        seats = [seat for seat in hand.live if command.who in (None, seat.who) and not seat.shown]
        if not seats and command.who is None:
            raise RejectedError("nothing_to_turn")
        if not seats:
            raise RejectedError("no_cards_down", who=command.who or "")
        for seat in seats:
            own = _own(hand, seat.who, command.index)
            if command.who is not None or _is_known(own):
                turn_known(turn, seat.who, own)
                opened(turn, seat.who)
                _shown_in_betting(turn, hand, seat.who)
        if turn.state.current == hand:
            raise RejectedError("nothing_to_turn")
    turn.settle()


def _shown_in_betting(turn: CircleTurn, before: CircleRound, who: str) -> None:
    """Record that a player shows cards by mistake during betting."""
    seat = before.seat(who)
    betting = before.open and not before.showdown and turn.state.current is not None
    if betting and seat is not None and not seat.shown:
        moves.apply(turn, CircleDealError(name="shown_by_player", who=who))


# Boards


def _show_board(turn: CircleTurn, command: CardsShow) -> None:
    lying = turn.current.by_index(command.who)
    if command.index is not None:
        _correct(turn, command)
        return
    if not command.cards:
        raise RejectedError("no_cards", who=command.who)
    if unread := _unread(lying):
        if len(unread) != len(command.cards):
            raise RejectedError(
                "cards_unread", who=command.who, unread=len(unread), count=len(command.cards)
            )
        reveal(turn, command.who, unread, command.cards)
        return
    due = turn.current.due
    if due and due[0].turn and due[0].to == command.who:
        _uncover(turn, command)
        return
    _begin(turn)
    _skip_burn(turn)
    _first(turn, command.who, len(command.cards))
    _put(turn, len(command.cards), command.cards)


def _correct(turn: CircleTurn, command: CardsShow) -> None:
    """Correct a face-up common card that was read or reported wrongly."""
    index = command.index or 0
    card = turn.current.by_index(command.who).get(index)
    if len(command.cards) != 1:
        raise RejectedError("one_card_with_index", count=len(command.cards))
    if card is None or not card.up:
        raise RejectedError("no_such_card_up", who=command.who, index=index)
    if card.card == command.cards[0]:
        raise RejectedError("card_unchanged", who=command.who, index=index, card=card.card)
    if card.card is not None:
        doubts.doubt(turn, "shown_differs", who=command.who)
    reveal(turn, command.who, {index: card}, command.cards)


def _uncover(turn: CircleTurn, command: CardsShow) -> None:
    """Turn common cards: one in an interval; extra ones do not count."""
    lying = turn.current.by_index(command.who)
    covered = sorted(index for index, card in lying.items() if not card.up)
    if len(command.cards) > len(covered):
        raise RejectedError(
            "cards_down", who=command.who, down=len(covered), count=len(command.cards)
        )
    indexes = covered[: len(command.cards)]
    own = [lying[index] for index in indexes]
    if any(card.card not in (None, value) for card, value in zip(own, command.cards, strict=True)):
        doubts.doubt(turn, "shown_differs", who=command.who)
    if contradicted(turn, command.who, command.cards, own):
        return
    turn.change_current(due=turn.current.due[1:])
    for index, value in zip(indexes, command.cards, strict=True):
        moves.turn_up(turn, command.who, index, value)
    if len(own) > 1:
        law = turn.book.laws["deal_extra_common"]
        turn.irregular("deal_extra_common", detail=f"{len(own)} cards of {command.who}")
        for index in indexes[1:]:
            moves.remove(turn, command.who, index, "extra_common", law)
    turn.variant.dealt(turn)


def _turn_board(turn: CircleTurn, who: str) -> None:
    due = turn.current.due
    if not (due and due[0].turn and due[0].to == who):
        raise RejectedError("not_to_be_turned", who=who)
    lying = turn.current.by_index(who)
    index = min(index for index, card in lying.items() if not card.up)
    turn.change_current(due=due[1:])
    turn_known(turn, who, {index: lying[index]})
    turn.variant.dealt(turn)


# Hands


def _show_seat(turn: CircleTurn, command: CardsShow) -> None:
    lying = _own(turn.current, command.who, command.index)
    if not lying and command.index is None:
        raise RejectedError("no_cards", who=command.who)
    if not lying:
        raise RejectedError("no_card_at_index", who=command.who, index=command.index or 0)
    if len(unread := _unread(lying)) == len(command.cards):
        lying = unread
    own = list(lying.values())
    if all(card.face for card in own) and {card.card for card in own} == {*command.cards}:
        raise RejectedError("cards_already_up", who=command.who)
    if len(own) != len(command.cards):
        raise RejectedError(
            "cards_counted", who=command.who, cards=len(own), count=len(command.cards)
        )
    if {card.card for card in own} - {None, *command.cards}:
        doubts.doubt(turn, "shown_differs", who=command.who)
    before = turn.current
    if reveal(turn, command.who, lying, command.cards):
        opened(turn, command.who)
        _shown_in_betting(turn, before, command.who)


def reveal(turn: CircleTurn, who: str, lying: dict[int, TableCard], cards: tuple[str, ...]) -> bool:
    """Turn these cards up: known ones where they lie, the others in order. Returns False for
    impossible cards.
    """
    if contradicted(turn, who, cards, lying.values()):
        return False
    read = {card.card for card in lying.values()}
    left = [value for value in cards if value not in read]
    for index, card in lying.items():
        value = card.card if card.card is not None and card.card in cards else left.pop(0)
        if not card.up or card.card != value:
            moves.turn_up(turn, who, index, value)
    return True


def turn_known(turn: CircleTurn, who: str, lying: dict[int, TableCard]) -> None:
    """Turn these cards up, which were read when they were dealt."""
    if not _is_known(lying):
        raise RejectedError("hand_cards_unknown", who=who)
    for index, card in lying.items():
        if not card.up:
            moves.turn_up(turn, who, index, card.card or "")


def _is_known(lying: dict[int, TableCard]) -> bool:
    return bool(lying) and all(card.card is not None for card in lying.values())


def _unread(lying: dict[int, TableCard]) -> dict[int, TableCard]:
    return {index: card for index, card in lying.items() if card.up and card.card is None}


def _own(hand: CircleRound, who: str, index: int | None) -> dict[int, TableCard]:
    """The cards of a hand by their index, or only the one with this index."""
    return {place: card for place, card in hand.by_index(who).items() if index in (None, place)}


def contradicted(
    turn: CircleTurn, who: str, cards: tuple[str, ...], own: Iterable[TableCard] = ()
) -> bool:
    """Whether these cards are impossible: foreign to the deck, named twice, or already elsewhere. A
    person must decide then.
    """
    if any(card not in turn.pack for card in cards):
        doubts.doubt(turn, "card_foreign", who=who)
        return True
    elsewhere = list(turn.current.known)
    for card in own:
        if card.card is not None:
            elsewhere.remove(card.card)
    if len({*cards}) < len(cards) or {*cards} & {*elsewhere}:
        doubts.doubt(turn, "card_duplicate", who=who)
        return True
    return False


def opened(turn: CircleTurn, who: str) -> None:
    """Mark the hand as shown if all its cards are face up."""
    if all(card.face for card in turn.current.cards_of(who)):
        turn.change_seat(who, shown=True)


# The deal


def _begin(turn: CircleTurn) -> None:
    """Reject cards that may not come now. The first ones close the antes."""
    require(turn, *BEFORE_CARDS)
    if not turn.current.closed:
        moves.close_bets(turn, unobserved=True)
    require(turn, cards_due)


def _skip_burn(turn: CircleTurn) -> None:
    """Report the burn card before the common cards as missing if it was not reported."""
    due = turn.current.due
    if due and due[0].to == "burn":
        turn.irregular("burn_missing")
        moves.none_due(turn, "burn")


def _first(turn: CircleTurn, who: str, count: int) -> None:
    """Deal the next cards to ``who``, as reported by a person."""
    own = len(moves.due_first(turn, who, count))
    if own < count:
        raise RejectedError("cards_due_to", due=own, who=who, count=count)


def _put(turn: CircleTurn, count: int, cards: tuple[str, ...]) -> None:
    """Place cards where they are due; the named ones are those dealt face up."""
    up = sum(place.up for place in turn.current.due[:count])
    if len(cards) not in (0, up):
        raise RejectedError("cards_faced_up", up=up, count=len(cards))
    doubts.mistrust(turn)
    moves.deal_several(turn, turn.current.due[:count], cards)


# Guards


def card_settled(turn: CircleTurn) -> Refused | None:
    """No card waits whose exposure is unconfirmed."""
    return Refused("exposed_card_waits") if turn.state.held else None


def betting_closed(turn: CircleTurn) -> Refused | None:
    """No betting interval is open."""
    return Refused("betting_open") if turn.current.open else None


def cut_unseen(turn: CircleTurn) -> Refused | None:
    """No card was seen when the deck was cut."""
    seen = any(doubt.what == "deal_exposed_in_cut" for doubt in turn.state.doubts)
    return Refused("cut_card_seen") if seen else None


BEFORE_CARDS = (betting_closed, cut_unseen)
"""Guards: a card may come now, if one is due."""


def cards_due(turn: CircleTurn) -> Refused | None:
    """Cards are due, or will be once the antes are closed."""
    hand = turn.current
    if hand.closed and (not hand.due or hand.due[0].turn):
        return Refused("no_more_cards_due")
    return None


def are_cards(turn: CircleTurn, command: CardsDeal) -> None:  # noqa: ARG001 - at any table
    """Reject names that are not cards."""
    proper(command.cards)


def any_to_burn(turn: CircleTurn) -> bool:
    """The next card belongs to no hand."""
    hand = turn.current
    if hand.closed:
        return hand.due[0].to in DEAD_PLACES
    return streets(turn.book, turn.settings)[0][0].partition(" ")[0] in DEAD_PLACES


def any_to_show(turn: CircleTurn) -> bool:
    """Cards lie on the table, or the next ones are common."""
    hand = turn.state.current
    return hand is not None and (
        bool(hand.lying) or any(place.to.startswith("board") for place in hand.due)
    )


def any_to_turn(turn: CircleTurn) -> bool:
    """A card that was read lies face down."""
    return any(card.card is not None and not card.up for card in turn.current.lying)


def proper(cards: tuple[str, ...]) -> None:
    """Reject names that are not cards."""
    for card in cards:
        if not is_card(card):
            raise RejectedError("not_a_card", card=card)
