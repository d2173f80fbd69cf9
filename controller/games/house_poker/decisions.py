"""Commands about cards at a table of poker against the dealer: what was dealt, what is face up,
what hands decide.

A shown card that is impossible, or not the one that was read, suspends the round: nothing is
overwritten silently.
"""

from __future__ import annotations

from msgspec.structs import replace

from common.contract.commands import CardDecide, CardsDeal, CardsShow, CardsTurn, HandAct
from common.contract.events import CardRemoved
from common.contract.refusals import RejectedError
from controller.games.dealt import cards as on_table
from controller.games.dealt.arrivals import follow_all
from controller.games.dealt.cards import (
    Table,
    Trouble,
    dealt,
    is_known,
    is_up,
    show,
    show_one,
    trouble,
    unread,
    up,
)
from controller.games.dealt.guards import cards_as_seen, decided_first
from controller.games.dealt.phases import Phase
from controller.games.dealt.state import Held
from controller.games.guards import FieldCheck, Refused, Row, Rows, bets_closed, has_round, is_open
from controller.games.house_poker import course, moves
from controller.games.house_poker.moves import HousePokerTurn
from controller.games.house_poker.state import DEALER, HousePokerSeat
from controller.games.poker.deal import packet
from controller.games.roles import AT_THE_TABLE
from controller.games.session import confirmer, sent
from controller.rulebooks.house_poker import HousePoker

# What hands do


def act(turn: HousePokerTurn, command: HandAct) -> None:
    """Handle a hand's decision: to go, pass, buy a card, or discard."""
    hand, seat = turn.current, of_a_player(turn, command)
    if not command.valid:
        _undo(turn, command, seat)
        return
    if seat.who in course.to_come(turn.rules, hand):
        raise RejectedError("cards_still_due", who=seat.who)
    match command.action:
        case "go" | "pass":
            _go_or_pass(turn, command, seat)
        case "buy":
            _buy(turn, command, seat)
        case "discard":
            _discard(turn, command, seat)
        case _:
            raise RejectedError(
                "action_not_allowed", action=command.action, actions=actions(turn.book)
            )


def actions(book: HousePoker) -> tuple[str, ...]:
    """The choices of a hand under this decree."""
    buys = ("buy",) if book.purchase is not None else ()
    return ("go", "pass", *buys, *(("discard",) if book.discards else ()))


def _go_or_pass(turn: HousePokerTurn, command: HandAct, seat: HousePokerSeat) -> None:
    _not_decided(seat)
    ante = turn.current.amounts.get(seat.who, {}).get("ante")
    second = None if ante is None else ante * turn.book.second
    if command.action == "go" and second is not None and command.amount not in (None, second):
        raise RejectedError(
            "second_bet_amount", second=second, times=turn.book.second, ante=ante or 0
        )
    assert command.action in ("go", "pass")
    moves.decide(turn, replace(seat, decision=command.action), command.action, command.by)


def _buy(turn: HousePokerTurn, command: HandAct, seat: HousePokerSeat) -> None:
    if turn.book.purchase is None:
        raise RejectedError("no_purchase")
    _not_decided(seat)
    if seat.bought:
        raise RejectedError("already_bought", who=seat.who)
    moves.decide(turn, replace(seat, bought=True), "buy", command.by)


def _discard(turn: HousePokerTurn, command: HandAct, seat: HousePokerSeat) -> None:
    most, hand = turn.book.discards, turn.current
    if not most:
        raise RejectedError("no_discards")
    if seat.decision != "go" or course.undecided(hand) or is_up(hand.cards, DEALER):
        raise RejectedError("discards_too_early")
    if seat.discards is not None:
        raise RejectedError("already_discarded", who=seat.who)
    if command.count is None or not 0 <= command.count <= most:
        raise RejectedError("discards_counted", most=most)
    moves.decide(turn, replace(seat, discards=command.count), "discard", command.by, command.count)


def _undo(turn: HousePokerTurn, command: HandAct, seat: HousePokerSeat) -> None:
    """Withdraw the last decision of a hand that was sent by mistake; what followed from it cannot
    be undone.
    """
    cards = turn.current.cards
    last = (
        "discard"
        if seat.discards is not None
        else seat.decision or ("buy" if seat.bought else None)
    )
    if last is None or last != command.action:
        raise RejectedError("not_the_last_action", who=seat.who, action=command.action)
    if course.begun_to_show(turn.rules, turn.current):
        raise RejectedError("too_late_to_withdraw")
    if last in ("buy", "discard") and len(dealt(cards, seat.who)) > turn.book.hand:
        raise RejectedError("card_came_for_it", who=seat.who)
    moves.take_back(turn, seat, last, command.by)


def _not_decided(seat: HousePokerSeat) -> None:
    if seat.decision is not None:
        raise RejectedError("already_decided", who=seat.who, decision=seat.decision)


# Dealt cards, and those face up


def deal(turn: HousePokerTurn, command: CardsDeal) -> None:
    """Record cards that a person reports as dealt: without a device, or after a silence."""
    hand, due = turn.current, dues(turn, command)
    faced: list[tuple[str, int]] = []
    for who in due[: command.count]:
        if course.faces_up(turn.rules, turn.current, who):
            faced.append((who, len(dealt(turn.current.cards, who)) + 1))
        moves.deal_cards(turn, who)
    if len(command.cards) > len(faced):
        raise RejectedError("cards_faced_up", up=len(faced), count=len(command.cards))
    if hand.gap:
        turn.change(held=())
        if not course.to_come(turn.rules, turn.current):
            turn.change_current(gap=False)
    for (who, index), card in zip(faced, command.cards, strict=False):
        if turn.state.doubt is None:
            one = CardsShow(
                at=command.at, by=command.by, role=command.role, who=who, cards=(card,), index=index
            )
            _reveal(turn, one)


def turn_up(turn: HousePokerTurn, command: CardsTurn) -> None:
    """Turn known cards face up."""
    hand, ready = turn.current, hands_to_turn(turn, command)
    for who in ready:
        turn.put(on_table.turn(turn.current.cards, who, command.index))
    if turn.current == hand:
        raise RejectedError("no_cards_down", who=tuple(ready))


def show_cards(turn: HousePokerTurn, command: CardsShow) -> None:
    """Turn a hand, or one of its cards, face up as a person names it."""
    if _is_bank_reshown(turn, command):
        moves.undo_discards(turn)
    hand = turn.current
    lie = (
        command.index is None
        and not course.unseen_discards(hand, command.who)
        and set(up(hand.cards, command.who)) == set(command.cards)
    )
    if lie and turn.state.stop is None:
        raise RejectedError("cards_already_up", who=command.who)
    turn.change(doubt=None, shown=None)
    _reveal(turn, command)
    _continue(turn)


def _is_bank_reshown(turn: HousePokerTurn, command: CardsShow) -> bool:
    """Whether a person names the bank's first cards again before a card for its discards came."""
    hand, first = turn.current, turn.book.hand
    if command.who != DEALER or hand.discards is None or len(dealt(hand.cards, DEALER)) > first:
        return False
    return len(command.cards) == first if command.index is None else 0 < command.index <= first


def _reveal(turn: HousePokerTurn, command: CardsShow) -> None:
    found = _shown(turn, command, trust=False)
    if isinstance(found, str):
        moves.doubt(turn, found, shown=command, detail=command.who)
    else:
        turn.put(found)


def _shown(turn: HousePokerTurn, command: CardsShow, *, trust: bool) -> Table | Trouble:
    """The table with these cards face up, or the trouble with them. ``trust``: believe the person
    where the reader disagrees.
    """
    cards, seat = turn.current.cards, turn.current.seat(command.who)
    cards = unread(cards, command.who, command.cards) if trust else cards
    if command.index is None:
        if why := trouble(cards, command.cards, turn.rules.deck, but=command.who):
            return why
        dropped = (
            seat.dropped
            if seat is not None and course.unseen_discards(turn.current, command.who)
            else 0
        )
        return show(
            cards, command.who, command.cards, dropped=dropped, first=turn.book.hand, trust=trust
        )
    [card] = command.cards
    found = show_one(cards, command.who, command.index, card, trust=trust)
    others = tuple(
        card for card in cards if card is not dealt(cards, command.who)[command.index - 1]
    )
    return trouble(others, command.cards, turn.rules.deck) or found


def may_be_face_up(turn: HousePokerTurn, who: str, index: int | None) -> bool:
    """Whether a hand may be face up now, or its ``index``-th card."""
    hand, rules = turn.current, turn.rules
    seat = hand.seat(who)
    if moves.going(turn) in (Phase.DEALER, Phase.SHOWDOWN):
        plays_on = seat is not None and (
            seat.decision == "go" or bool(course.side_bets(rules, hand, seat))
        )
        return who == DEALER or (plays_on and seat is not None and not seat.told)
    if index is None or not 0 < index <= len(dealt(hand.cards, who)):
        return False
    if who == DEALER:
        return index == rules.exposed or index > rules.book.hand
    return seat is not None and seat.bought and rules.bought_up and index > rules.book.hand


# What waits


def decide(turn: HousePokerTurn, command: CardDecide) -> None:
    """Decide about what stopped the round."""
    hand, state, stop = turn.current, turn.state, turn.state.stop
    assert stop is not None
    turn.change_current(confirmed_by=confirmer(command))
    if state.shown is not None:
        found = _shown(turn, state.shown, trust=True)
        if command.action != "accept" or isinstance(found, str):
            raise RejectedError("shown_cards_impossible", commands=sent(stop.asks))
        turn.change(doubt=None, shown=None)
        turn.put(found)
    elif state.doubt is None and state.held and state.held[0].trouble is not None:
        turn.change(held=state.held[1:])
        _about(turn, command, state.held[0])
    elif command.action != "accept":
        raise RejectedError("accept_nothing_missing", commands=sent(stop.asks))
    else:
        turn.change(doubt=None)
        turn.change_current(gap=hand.gap and stop.what != "silence")
    _continue(turn)


def _continue(turn: HousePokerTurn) -> None:
    """Deal the waiting cards, unless a silence hid where they belong."""
    hand, state = turn.state.current, turn.state
    if hand is None or (state.stop is not None and state.stop.what != "silence"):
        return
    if hand.gap and course.to_come(turn.rules, hand):
        turn.irregular("silence", asks=state.asks)
        return
    turn.change(held=())
    turn.change_current(gap=hand.gap and not hand.closed)
    follow_all(turn, state.held)


def _about(turn: HousePokerTurn, command: CardDecide, held: Held) -> None:
    """Decide about a waiting card or packet: it counts, it is another card, or it leaves the
    game.
    """
    hand, drawn = turn.current, held.given
    if command.action == "remove":
        count = 1 if held.packet is None else min(held.packet, len(turn.rules.deck))
        for _ in range(count):
            turn.emit(CardRemoved(round=hand.round, why=held.trouble or "", card=None))
        return
    if not hand.closed:
        raise RejectedError("bets_still_open")
    to_come = course.to_come(turn.rules, hand)
    if not to_come:
        raise RejectedError("waiting_card_not_due")
    actions = ("accept", "remove") if held.packet is not None else ("accept", "read", "remove")
    if command.action not in actions:
        raise RejectedError("action_not_allowed", action=command.action, actions=actions)
    if held.packet is not None:
        moves.place(turn, drawn, to_come[0], count=packet(to_come))
        return
    card = command.card if command.action == "read" else drawn.card
    if card is None and moves.faces_up(turn, to_come[0]):
        raise RejectedError("card_needs_reading")
    if card is not None and trouble(hand.cards, [card], turn.rules.deck):
        raise RejectedError("card_impossible")
    moves.place(turn, replace(drawn, card=card), to_come[0])


# Guards


def is_stopped(turn: HousePokerTurn) -> Refused | None:
    """Something stops the round."""
    return Refused("nothing_to_decide") if turn.state.stop is None else None


def no_other_stop(turn: HousePokerTurn) -> Refused | None:
    """Nothing but a silence stops the round."""
    stop = turn.stop
    return None if stop is not None and stop.what == "silence" else decided_first(turn)


def shown_again(turn: HousePokerTurn) -> Refused | None:
    """Nothing stops the round but cards that were shown and are impossible."""
    return decided_first(turn) if turn.state.shown is None else None


def of_a_player(turn: HousePokerTurn, command: HandAct) -> HousePokerSeat:
    """The seat of the hand. Raises ``RejectedError`` for the bank and a hand that is not dealt."""
    if command.who == DEALER:
        raise RejectedError("bank_has_no_choice")
    seat = turn.current.seat(command.who)
    if seat is None:
        hands = tuple(seat.who for seat in turn.current.seats)
        raise RejectedError("who_not_in_play", who=command.who, hands=hands)
    return seat


def is_dealt(turn: HousePokerTurn) -> Refused | None:
    """The hands are dealt."""
    dealt_all = course.is_dealt(turn.rules, turn.current)
    return None if dealt_all else Refused("cards_not_dealt")


def plays(turn: HousePokerTurn, command: HandAct) -> None:
    """Reject a hand that has lost for showing its cards."""
    if of_a_player(turn, command).told:
        raise RejectedError("hand_lost", who=command.who)


def any_acts(turn: HousePokerTurn) -> bool:
    """A hand must still decide, or may withdraw its decision."""
    hand = turn.current
    deciding = moves.going(turn) in (Phase.DECISIONS, Phase.DISCARDS)
    open_still = deciding or not course.begun_to_show(turn.rules, hand)
    return open_still and any(not seat.told for seat in hand.seats)


def dues(turn: HousePokerTurn, command: CardsDeal) -> tuple[str, ...]:
    """The hands that the next cards belong to, or the named one. Raises ``RejectedError`` for more
    cards than are due.
    """
    to_come = course.to_come(turn.rules, turn.current)
    due = to_come if command.who is None else tuple(who for who in to_come if who == command.who)
    if not 0 < command.count <= len(due):
        if command.who is None:
            raise RejectedError("cards_due", due=len(due), count=command.count)
        raise RejectedError("cards_due_to", due=len(due), who=command.who, count=command.count)
    return due


def any_due(turn: HousePokerTurn) -> bool:
    """Cards are due."""
    return bool(course.to_come(turn.rules, turn.current))


def hands_to_turn(turn: HousePokerTurn, command: CardsTurn) -> list[str]:
    """The hands that may be turned, all or the named one. Raises ``RejectedError`` if there is
    none.
    """
    names = _names(turn) if command.who is None else (command.who,)
    ready = [who for who in names if _may_be_turned(turn, who, command.index)]
    if ready:
        return ready
    if command.who is None:
        raise RejectedError("nothing_to_turn")
    raise RejectedError("cannot_be_turned", who=command.who)


def any_to_turn(turn: HousePokerTurn) -> bool:
    """Some hand may be turned, or a card of it."""
    return any(
        _may_be_turned(turn, who, index) for who in _names(turn) for index in _places(turn, who)
    )


def _may_be_turned(turn: HousePokerTurn, who: str, index: int | None) -> bool:
    hand = turn.current
    known = is_known(hand.cards, who) and not is_up(hand.cards, who)
    return known and not course.unseen_discards(hand, who) and may_be_face_up(turn, who, index)


def one_with_index(turn: HousePokerTurn, command: CardsShow) -> None:  # noqa: ARG001 - at any table
    """Reject several cards for one place."""
    if command.index is not None and len(command.cards) != 1:
        raise RejectedError("one_card_with_index", count=len(command.cards))


def is_showable(turn: HousePokerTurn, command: CardsShow) -> None:
    """Reject a hand that may not be face up."""
    if not _is_bank_reshown(turn, command) and not may_be_face_up(turn, command.who, command.index):
        raise RejectedError("cannot_be_shown", who=command.who)


def any_to_show(turn: HousePokerTurn) -> bool:
    """Some hand may be face up, or a card of it."""
    hand = turn.current
    reshown = hand.discards is not None and len(dealt(hand.cards, DEALER)) <= turn.book.hand
    return reshown or any(
        may_be_face_up(turn, who, index) for who in _names(turn) for index in _places(turn, who)
    )


def _names(turn: HousePokerTurn) -> tuple[str, ...]:
    return (DEALER, *(seat.who for seat in turn.current.seats))


def _places(turn: HousePokerTurn, who: str) -> tuple[int | None, ...]:
    """A whole hand, and each of its cards."""
    return (None, *range(1, len(dealt(turn.current.cards, who)) + 1))


COMMANDS: Rows = {
    HandAct: Row(
        AT_THE_TABLE,
        (
            has_round,
            FieldCheck(of_a_player),
            decided_first,
            is_dealt,
            FieldCheck(plays, any_acts),
        ),
        act,
    ),
    CardsDeal: Row(
        AT_THE_TABLE, (has_round, bets_closed, no_other_stop, FieldCheck(dues, any_due)), deal
    ),
    CardsTurn: Row(
        AT_THE_TABLE,
        (
            is_open,
            has_round,
            FieldCheck(cards_as_seen),
            decided_first,
            FieldCheck(hands_to_turn, any_to_turn),
        ),
        turn_up,
    ),
    CardsShow: Row(
        AT_THE_TABLE,
        (has_round, FieldCheck(one_with_index), shown_again, FieldCheck(is_showable, any_to_show)),
        show_cards,
    ),
}
"""The commands about cards and hands."""
