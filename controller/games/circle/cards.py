"""Cards that persons deal, burn, show and turn at a table of circle poker."""

from __future__ import annotations

from msgspec.structs import replace

from controller.contract.commands import CardsBurn, CardsDeal, CardsShow, CardsTurn
from controller.contract.refusals import RejectedError
from controller.games.cards import is_card
from controller.games.circle.state import CircleCard
from controller.games.circle.turn import CircleTurn


def deal(turn: CircleTurn, given: CardsDeal) -> None:
    """Cards were dealt by hand: to one receiver, or where the next ones go. Face-up cards are
    named.
    """
    proper(given.cards)
    _begin(turn)
    count = max(given.count, len(given.cards))
    if given.who is not None:
        if given.who.startswith("board"):
            _skip_burn(turn)
        _first(turn, given.who, count)
    if count < 1 or count > len(turn.current.due):
        raise RejectedError("cards_due", due=len(turn.current.due), count=count)
    _put(turn, count, given.cards)


def burn(turn: CircleTurn, given: CardsBurn) -> None:
    """Cards were burned, unseen."""
    _begin(turn)
    if given.count < 1 or not all(
        place.to in ("burn", "dead") for place in turn.current.due[: given.count]
    ):
        raise RejectedError("next_card_not_burned", who=turn.current.due[0].to)
    _put(turn, given.count, ())


def show(turn: CircleTurn, given: CardsShow) -> None:
    """A hand or a board is face up, with these cards."""
    proper(given.cards)
    hand = turn.state.current
    if hand is None:
        raise RejectedError("no_round_in_progress")
    if given.low:
        raise RejectedError("no_low_hand")
    if given.who.startswith("board"):
        _show_board(turn, given)
    elif hand.seat(given.who) in hand.live:
        _show_seat(turn, given)
    else:
        raise RejectedError("not_in_the_pot", who=given.who, players=hand.live_names)
    turn.settle()
    turn.expect()


def turn_up(turn: CircleTurn, given: CardsTurn) -> None:
    """Turn face up cards that were read when they were dealt."""
    hand = turn.state.current
    if hand is None:
        raise RejectedError("no_round_in_progress")
    if given.who is not None and given.who.startswith("board"):
        _turn_board(turn, given.who)
    else:
        if given.who is None and not hand.showdown:
            raise RejectedError("who_required")
        seats = [seat for seat in hand.live if given.who in (None, seat.who) and not seat.shown]
        if not seats and given.who is None:
            raise RejectedError("nothing_to_turn")
        if not seats:
            raise RejectedError("no_cards_down", who=given.who or "")
        for seat in seats:
            own = [each for each in hand.of(seat.who) if given.index in (None, each.index)]
            unread = not own or any(each.card is None for each in own)
            if unread and given.who is None:
                continue
            if unread:
                raise RejectedError("hand_cards_unknown", who=seat.who)
            for card in own:
                if not card.up:
                    turn.turn(card, card.card or "")
            opened(turn, seat.who)
        if turn.state.current == hand:
            raise RejectedError("nothing_to_turn")
    turn.settle()
    turn.expect()


# Boards


def _show_board(turn: CircleTurn, given: CardsShow) -> None:
    lying = turn.current.of(given.who)
    if given.index is not None:
        _correct(turn, given)
        return
    unread = [each for each in lying if each.up and each.card is None]
    if unread:
        if len(unread) != len(given.cards):
            raise RejectedError(
                "cards_unread", who=given.who, unread=len(unread), count=len(given.cards)
            )
        if contradicted(turn, given.who, given.cards):
            return
        for card, value in zip(unread, given.cards, strict=True):
            turn.turn(card, value)
        return
    due = turn.current.due
    if due and due[0].turn and due[0].to == given.who:
        _uncover(turn, given)
        return
    _begin(turn)
    _skip_burn(turn)
    _first(turn, given.who, len(given.cards))
    _put(turn, len(given.cards), given.cards)


def _correct(turn: CircleTurn, given: CardsShow) -> None:
    """Correct a face-up common card that was read or reported wrongly."""
    card = next(
        (each for each in turn.current.of(given.who) if each.index == given.index and each.up), None
    )
    if len(given.cards) != 1:
        raise RejectedError("one_card_with_index", count=len(given.cards))
    if card is None:
        raise RejectedError("no_such_card_up", who=given.who, index=given.index or 0)
    if card.card == given.cards[0]:
        raise RejectedError("card_unchanged", who=given.who, index=card.index, card=card.card)
    if card.card is not None:
        turn.trouble("shown_differs", who=given.who)
    if not contradicted(turn, given.who, given.cards, [card]):
        turn.turn(card, given.cards[0])


def _uncover(turn: CircleTurn, given: CardsShow) -> None:
    """Turn common cards: one in an interval; extra ones do not count."""
    covered = sorted(
        (each for each in turn.current.of(given.who) if not each.up), key=lambda each: each.index
    )
    if len(given.cards) > len(covered):
        raise RejectedError("cards_down", who=given.who, down=len(covered), count=len(given.cards))
    own = covered[: len(given.cards)]
    if any(card.card not in (None, value) for card, value in zip(own, given.cards, strict=True)):
        turn.trouble("shown_differs", who=given.who)
    if contradicted(turn, given.who, given.cards, own):
        return
    turn.change_current(due=turn.current.due[1:])
    for card, value in zip(own, given.cards, strict=True):
        turn.turn(card, value)
    if len(own) > 1:
        law = turn.book.laws["deal_extra_common"]
        turn.irregular("deal_extra_common", detail=f"{len(own)} cards of {given.who}")
        for card, value in zip(own[1:], given.cards[1:], strict=True):
            turn.remove(replace(card, up=True, card=value), "extra_common", law)
    turn.dealt()


def _turn_board(turn: CircleTurn, who: str) -> None:
    due = turn.current.due
    if not (due and due[0].turn and due[0].to == who):
        raise RejectedError("not_to_be_turned", who=who)
    card = min((each for each in turn.current.of(who) if not each.up), key=lambda each: each.index)
    if card.card is None:
        raise RejectedError("hand_cards_unknown", who=who)
    turn.change_current(due=due[1:])
    turn.turn(card, card.card)
    turn.dealt()


# Hands


def _show_seat(turn: CircleTurn, given: CardsShow) -> None:
    own = [each for each in turn.current.of(given.who) if given.index in (None, each.index)]
    if not own and given.index is None:
        raise RejectedError("no_cards", who=given.who)
    if not own:
        raise RejectedError("no_card_at_index", who=given.who, index=given.index or 0)
    unread = [each for each in own if each.up and each.card is None]
    if len(unread) == len(given.cards):
        own = unread
    if all(each.told for each in own) and {each.card for each in own} == {*given.cards}:
        raise RejectedError("cards_already_up", who=given.who)
    if len(own) != len(given.cards):
        raise RejectedError("cards_counted", who=given.who, cards=len(own), count=len(given.cards))
    read = {each.card for each in own if each.card is not None}
    if read - {*given.cards}:
        turn.trouble("shown_differs", who=given.who)
    if contradicted(turn, given.who, given.cards, own):
        return
    left = [value for value in given.cards if value not in read]
    for card in own:
        value = card.card if card.card in given.cards else left.pop(0)
        if not card.up or card.card != value:
            turn.turn(card, value or "")
    opened(turn, given.who)


def contradicted(
    turn: CircleTurn, who: str, cards: tuple[str, ...], own: list[CircleCard] | None = None
) -> bool:
    """Whether these cards are impossible: foreign to the deck, named twice, or already elsewhere.
    If so, a person must decide.
    """
    if any(card not in turn.pack for card in cards):
        turn.trouble("card_foreign", who=who)
        return True
    elsewhere = list(turn.current.known)
    for card in own or ():
        if card.card is not None:
            elsewhere.remove(card.card)
    if len({*cards}) < len(cards) or {*cards} & {*elsewhere}:
        turn.trouble("card_duplicate", who=who)
        return True
    return False


def opened(turn: CircleTurn, who: str) -> None:
    """Mark the hand as shown if all its cards are face up."""
    if all(each.told for each in turn.current.of(who)):
        turn.change_seat(who, shown=True)


# The deal


def _begin(turn: CircleTurn) -> None:
    """Reject cards that may not come now. The first ones close the antes."""
    hand = turn.state.current
    if hand is None:
        raise RejectedError("no_round_in_progress")
    if hand.open:
        raise RejectedError("betting_open")
    if any(each.what == "deal_exposed_in_cut" for each in turn.state.troubles):
        raise RejectedError("cut_card_seen")
    if not hand.closed:
        turn.close_antes()
    if not turn.current.due or turn.current.due[0].turn:
        raise RejectedError("no_more_cards_due")


def _skip_burn(turn: CircleTurn) -> None:
    """Report the burn card before the common cards as missing if nobody reported it."""
    due = turn.current.due
    if due and due[0].to == "burn":
        turn.irregular("burn_missing")
        turn.change_current(due=tuple(place for place in due if place.to != "burn"))


def _first(turn: CircleTurn, who: str, count: int) -> None:
    """Deal the next cards to ``who``, as the person says."""
    own = [place for place in turn.current.due if place.to == who][:count]
    if len(own) < count:
        raise RejectedError("cards_due_to", due=len(own), who=who, count=count)
    left = list(turn.current.due)
    for place in own:
        left.remove(place)
    turn.change_current(due=(*own, *left))


def _put(turn: CircleTurn, count: int, cards: tuple[str, ...]) -> None:
    """Place cards where they are due; the named ones are those dealt face up."""
    up = sum(place.up for place in turn.current.due[:count])
    if len(cards) not in (0, up):
        raise RejectedError("cards_faced_up", up=up, count=len(cards))
    turn.doubt()
    named = iter(cards)
    places = turn.current.due[:count]
    for place in places:
        if turn.state.current is None or turn.current.due[:1] != (place,):
            return  # the deal has taken another course
        turn.put(next(named, None) if place.up else None)


def proper(cards: tuple[str, ...]) -> None:
    """Reject names that are not cards."""
    for card in cards:
        if not is_card(card):
            raise RejectedError("not_a_card", card=card)
