"""The hands' decisions at black jack, by the croupier's keys, and a person's decisions about a
card.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Literal

from msgspec.structs import replace

from common.contract.commands import (
    BetWithdraw,
    CardDecide,
    HandDouble,
    HandDraw,
    HandEvenMoney,
    HandSplit,
    HandStand,
    HandSurrender,
)
from common.contract.events import CardsBurned, HandDecided
from common.contract.refusals import RejectedError
from common.readings import CardDrawn
from controller.games import shoe, stakes, talla
from controller.games.blackjack import course, moves
from controller.games.blackjack.moves import BlackjackTurn
from controller.games.blackjack.state import DEALER, BlackjackDeal, BlackjackSeat
from controller.games.cards import is_card
from controller.games.dealt.guards import has_shoe
from controller.games.dealt.state import Held
from controller.games.guards import FieldCheck, Refused, Row, Rows, by_moves, is_open
from controller.games.roles import AT_THE_TABLE, IN_CHARGE
from controller.games.session import confirmer

Key = HandStand | HandDraw | HandDouble | HandSplit | HandSurrender | HandEvenMoney
Decision = Literal["stand", "draw", "double", "split", "surrender", "even_money"]

DECISION_MOVES: dict[type[Key], tuple[Decision, Callable[[BlackjackSeat], BlackjackSeat]]] = {
    HandStand: ("stand", lambda seat: replace(seat, stood=True)),
    HandDraw: ("draw", lambda seat: replace(seat, asked=True)),
    HandDouble: ("double", lambda seat: replace(seat, doubled=True)),
    HandSurrender: ("surrender", lambda seat: replace(seat, surrendered=True)),
    HandEvenMoney: ("even_money", lambda seat: replace(seat, even_money=True)),
    HandSplit: ("split", lambda seat: seat),
}
"""The decision of each key, and its effect on the hand."""


def on_key(turn: BlackjackTurn, command: Key) -> None:
    """Handle a hand's decision."""
    deal = turn.current
    seat = _seat(turn, deal, command)
    if why := course.refusal(turn.rules, deal, seat, type(command)):
        law = turn.book.laws.get("even_money") if isinstance(command, HandEvenMoney) else None
        key, fields = why
        raise RejectedError(key, law=law.cited if law else turn.book.article, **fields)
    decision, done = DECISION_MOVES[type(command)]
    turn.change(
        current=_split(deal, seat) if isinstance(command, HandSplit) else deal.with_seat(done(seat))
    )
    turn.emit(HandDecided(round=deal.round, who=seat.who, decision=decision, by=command.by))
    if decision == "even_money":
        _end_insurance(turn, seat.who, command)


def _end_insurance(turn: BlackjackTurn, box: str, command: Key) -> None:
    """Return the insurance of a hand that is paid at par: it insures no bet any longer."""
    deal = turn.state.current
    assert deal is not None
    ends = [bet for bet in deal.bets if bet.bet == "insurance" and bet.who.partition("/")[0] == box]
    turn.change_current(bets=tuple(bet for bet in deal.bets if bet not in ends))
    for bet in ends:
        back = BetWithdraw(
            at=command.at, by=command.by, role=command.role, who=bet.who, bet=bet.bet
        )
        turn.emit(stakes.bet_event(deal.round, back))


def _seat(turn: BlackjackTurn, deal: BlackjackDeal, command: Key) -> BlackjackSeat:
    """The hand that the key is for: the one to act, or for surrender and even money any hand that
    may still act.
    """
    now = course.turn(turn.rules, deal)
    named = deal.seat(command.who) if command.who is not None else now
    if named is None:
        if command.who is not None:
            raise RejectedError(
                "who_not_in_play", who=command.who, hands=tuple(seat.who for seat in deal.seats)
            )
        raise RejectedError("no_hand_to_act")
    if isinstance(command, HandSurrender | HandEvenMoney) or named == now:
        return named
    if now is not None:
        raise RejectedError("hand_acts_now", who=now.who)
    if (to := course.next_card(turn.rules, deal)) is not None:
        raise RejectedError("card_due", who=to)
    raise RejectedError("no_hand_to_act")


def _split(deal: BlackjackDeal, seat: BlackjackSeat) -> BlackjackDeal:
    """Split one hand into two. The first stays to the player's right and plays first; the other is
    named by its number in the box.
    """
    box = seat.who.partition(".")[0]
    count = sum(seat.who.partition(".")[0] == box for seat in deal.seats)
    pair: Literal["aces", "others"] = (
        "aces" if seat.cards[0][0] == seat.cards[1][0] == "A" else "others"
    )
    first = replace(seat, cards=(), split=pair)
    other = BlackjackSeat(who=f"{box}.{count + 1}", split=pair)
    at = next(at for at, hand in enumerate(deal.hands) if hand.who == seat.who)
    second = max(at for at, card in enumerate(deal.cards) if card.to == seat.who)
    cards = tuple(
        replace(card, to=other.who) if number == second else card
        for number, card in enumerate(deal.cards)
    )
    hands = (*deal.hands[:at], first, other, *deal.hands[at + 1 :])
    return replace(deal, hands=hands, cards=cards)


# Decisions about a card


def decide(turn: BlackjackTurn, command: CardDecide) -> None:
    """Decide about the first waiting card, about what a silence hid, or remove the latest card."""
    decision = DECISIONS[command.action]
    decision(turn, command)
    turn.changed_since |= command.action in ("remove", "exposed")
    if turn.state.current is not None:
        turn.change_current(confirmed_by=confirmer(command))


def _read(turn: BlackjackTurn, command: CardDecide) -> None:
    """Read the unread card, or one that came in a silence and goes where the next one belongs."""
    state, card = turn.state, talla.read_card(command)
    assert state.shoe is not None
    if state.doubt in ("silence", "shoe_reset"):
        to = moves.belongs(turn)
        if to is None:
            raise RejectedError("decision_before_card")
        counted, trouble = shoe.draw(state.shoe, card)
        turn.change(shoe=counted)
        moves.place(turn, CardDrawn(at=command.at, card=card), to)
        if trouble is not None:
            turn.irregular(trouble)
        return
    head = _head(turn)
    if head.trouble not in ("card_unread", "card_foreign"):
        raise RejectedError("card_was_read")
    counted, trouble = (
        shoe.read(state.shoe, card) if head.given.card is None else shoe.draw(state.shoe, card)
    )
    if head.given.card is not None:
        counted = replace(counted, drawn=counted.drawn - 1)
    turn.change(shoe=counted)
    _replace_head(turn, replace(head, given=replace(head.given, card=card), trouble=trouble))


def _accept(turn: BlackjackTurn, _command: CardDecide) -> None:
    """Accept the card as it came, or confirm that none was missed. While the shoe is silent, that
    is certain only if no card is due.
    """
    state = turn.state
    if state.doubt in ("silence", "shoe_reset"):
        if state.silent and (state.current is not None or moves.belongs(turn) is not None):
            raise RejectedError("shoe_silent")
        turn.change(doubt=None)
        return
    head = _head(turn)
    if not state.burn and (head.given.card is None or not is_card(head.given.card)):
        raise RejectedError("card_not_read")
    if head.trouble is None:
        deal = state.current
        hands = tuple(seat.who for seat in deal.seats) if deal is not None else ()
        raise RejectedError("who_one_of", players=(*hands, DEALER))
    _replace_head(turn, replace(head, trouble=None))


def _remove(turn: BlackjackTurn, _command: CardDecide) -> None:
    """Remove the first waiting card, else the latest one dealt, which was face up in the shoe."""
    state, why = turn.state, moves.question(turn)
    if state.held and (not state.burn or why == "card_exposed"):
        head = state.held[0]
        turn.change(held=state.held[1:])
        moves.remove_card(
            turn,
            head.trouble or why or "card_exposed",
            None if head.trouble == "card_exposed" else head.given.card,
        )
        return
    deal = state.current
    if deal is None or deal.latest is None:
        raise RejectedError("no_card_to_remove")
    moves.remove_card(turn, "card_exposed", moves.take_back(turn, deal.latest))


def _exposed(turn: BlackjackTurn, command: CardDecide) -> None:
    """Publish the first waiting card, which did come face up, and remove it from the game."""
    state = turn.state
    if moves.question(turn) != "card_exposed":
        raise RejectedError("face_up_none")
    card = state.held[0].given.card if command.card is None else command.card
    if command.card is not None and card != state.held[0].given.card:
        assert state.shoe is not None
        turn.change(
            shoe=shoe.reread(state.shoe, state.held[0].given.card, talla.read_card(command))[0]
        )
    turn.change(held=state.held[1:])
    moves.remove_card(turn, "card_exposed", card)


def _next_round(turn: BlackjackTurn, _command: CardDecide) -> None:
    """End the burn after a silence: the next card is the first of a round."""
    state = turn.state
    if not state.burn or state.doubt is None:
        raise RejectedError("card_waits_already")
    assert isinstance(turn.book.shoe.burn, int)
    turn.emit(CardsBurned(count=turn.book.shoe.burn - state.burn))
    turn.change(burn=0, doubt=None)


def _for(turn: BlackjackTurn, command: CardDecide) -> None:
    """Deal the first waiting card to this hand by decision of the person in charge, regardless of
    the order.
    """
    deal, head = turn.state.current, _head(turn)
    if deal is None:
        raise RejectedError("hands_none_in_play")
    if turn.state.doubt is not None:
        raise RejectedError("table_in_doubt", doubt=turn.state.doubt)
    if head.given.card is None or not is_card(head.given.card):
        raise RejectedError("card_not_read")
    seat = deal.seat(command.who or "")
    if seat is None and command.who != DEALER:
        raise RejectedError(
            "who_not_in_play", who=command.who or "", hands=tuple(seat.who for seat in deal.seats)
        )
    if seat is not None and (seat.surrendered or course.worth(turn.rules, seat) >= 21):
        raise RejectedError("hand_out", who=seat.who, law=turn.book.article)
    turn.change(held=turn.state.held[1:])
    moves.place(turn, head.given, command.who or "")


DECISIONS: dict[str, Callable[[BlackjackTurn, CardDecide], None]] = {
    "read": _read,
    "accept": _accept,
    "remove": _remove,
    "next_round": _next_round,
    "for": _for,
    "exposed": _exposed,
}


def _head(turn: BlackjackTurn) -> Held:
    if not turn.state.held:
        raise RejectedError("no_card_to_decide")
    return turn.state.held[0]


def _replace_head(turn: BlackjackTurn, head: Held) -> None:
    turn.change(held=(head, *turn.state.held[1:]))


# Guards


def has_keys(turn: BlackjackTurn) -> Refused | None:
    """The croupier reports the hands' decisions."""
    return None if turn.settings.keys else Refused("keys_none")


def hands_play(turn: BlackjackTurn) -> Refused | None:
    """Hands are in play."""
    none = turn.state.current is None or turn.state.doubt == "hands_too_few"
    return Refused("hands_none_in_play") if none else None


def _may_use(kind: type[Key], turn: BlackjackTurn) -> bool:
    """Some hand may decide so."""
    rules, deal = turn.rules, turn.current
    to_act = course.turn(rules, deal)
    any_hand = issubclass(kind, HandSurrender | HandEvenMoney)
    seats = deal.seats if any_hand else () if to_act is None else (to_act,)
    return any(course.refusal(rules, deal, seat, kind) is None for seat in seats)


def is_action(turn: BlackjackTurn, command: CardDecide) -> None:  # noqa: ARG001 - at any table
    """Reject an unknown action."""
    if command.action not in DECISIONS:
        raise RejectedError("action_not_allowed", action=command.action, actions=tuple(DECISIONS))


def is_asked(turn: BlackjackTurn, command: CardDecide) -> None:
    """Reject a decision that nothing waits for; the latest card may be removed."""
    if moves.question(turn) is None and command.action != "remove":
        raise RejectedError("no_card_to_decide")


def card_waits(turn: BlackjackTurn) -> bool:
    """Something waits for a person, or the latest card may be removed."""
    deal = turn.state.current
    latest = deal is not None and deal.latest is not None
    return moves.question(turn) is not None or bool(turn.state.held) or latest


CARD_DECIDE = Row(
    IN_CHARGE,
    (is_open, FieldCheck(is_action), has_shoe, FieldCheck(is_asked, card_waits)),
    decide,
)
KEYS: Rows = {
    kind: Row(
        AT_THE_TABLE,
        (is_open, has_keys, hands_play, by_moves(partial(_may_use, kind))),
        on_key,
    )
    for kind in DECISION_MOVES
}
