"""Commands about sessions, bets and rounds at a table of poker against the dealer.

Commands about cards and decisions are in ``house_poker.decisions``. A command that cannot be
followed is rejected, with the reason.
"""

from __future__ import annotations

from collections.abc import Mapping

from msgspec.structs import replace

from common.contract.commands import (
    BetPlace,
    BetsClose,
    BetsOpen,
    BetWithdraw,
    BoxesSet,
    CardDecide,
    DealError,
    DeckCheck,
    LastRoundsAnnounce,
    ResultCorrect,
    RoundConfirm,
    RoundVoid,
    SessionClose,
    SessionOpen,
    VoidReason,
)
from common.contract.events import SessionClosed
from common.contract.refusals import RejectedError
from controller.games import stakes
from controller.games.dealt.arrivals import follow_all
from controller.games.dealt.cards import drop
from controller.games.dealt.guards import bets_open, between_rounds, nothing_to_decide
from controller.games.dealt.phases import Phase
from controller.games.dealt.state import DealtEntry
from controller.games.guards import (
    FieldCheck,
    Refused,
    Row,
    Rows,
    above_zero,
    has_result,
    has_round,
    has_unresolved,
    is_closed,
    is_open,
    rounds_left,
    voidable,
)
from controller.games.house_poker import decisions, moves
from controller.games.house_poker.correction import decided_otherwise
from controller.games.house_poker.moves import HousePokerTurn
from controller.games.house_poker.outcome import outcome
from controller.games.house_poker.readings import CARDS, check_deck
from controller.games.house_poker.state import DEALER, HousePokerRound, HousePokerSeat
from controller.games.jackpot import require_in_play
from controller.games.poker import moves as poker
from controller.games.poker.correction import (
    correct_settled,
    published,
    replace_result,
    right_cards,
)
from controller.games.poker.guards import not_withdrawn, shuffler_ready
from controller.games.poker.readings import counted
from controller.games.roles import AT_THE_TABLE, IN_CHARGE, VOIDERS
from controller.games.session import (
    LAST_ROUNDS,
    confirmer,
    round_to_void,
    undecided,
    void_law,
)

ERRORS: Mapping[str, VoidReason] = {
    "too_many": "wrong_count",
    "too_few": "wrong_count",
    "missing_card": "wrong_count",
    "order": "wrong_order",
    "wrong_hand": "wrong_order",
    "skipped": "wrong_order",
    "premature": "misdeal",
    "wrong_discard": "misdeal",
    "exposed": "card_exposed",
    "exposed_in_cut": "card_exposed",
    "exposed_in_deck": "card_exposed",
    "foreign_card": "deck_defective",
    "defective": "deck_defective",
}
"""Errors of the deal that a person reports: any of them makes the whole play void."""


# Sessions


def open_session(turn: HousePokerTurn, command: SessionOpen) -> None:
    """Open the table."""
    turn.open_table(command)
    turn.change(last=None, played=())


def close_session(turn: HousePokerTurn, command: SessionClose) -> None:
    """Close the table. A round whose bets are closed is left unresolved."""
    hand = turn.state.current
    if hand is not None and hand.closed:
        poker.unresolved(turn, *(seat.who for seat in hand.seats), DEALER)
    moves.leave(turn)
    turn.change(open=False)
    turn.course.expect(turn)
    turn.emit(SessionClosed(by=command.by, role=command.role, locked=command.locked))


def check_cards(turn: HousePokerTurn, command: DeckCheck) -> None:
    """Record a person's check of the deck. If it is right, it may be dealt regardless of the
    shuffler.
    """
    found = counted(command, CARDS)
    turn.change(shuffler=None if found.right else turn.state.shuffler)
    check_deck(turn, found)


# Bets


def open_bets(turn: HousePokerTurn, command: BetsOpen) -> None:
    """Open bets for a new round."""
    turn.open_bets(command.by)


def set_boxes(turn: HousePokerTurn, command: BoxesSet) -> None:
    """Set the boxes with an ante in this round, until bets close."""
    boxes, most = tuple(sorted(command.boxes)), turn.rules.boxes
    if not boxes or len(set(boxes)) < len(boxes) or not set(boxes) <= set(range(1, most + 1)):
        raise RejectedError("boxes_out_of_range", most=most)
    turn.change_current(seats=tuple(HousePokerSeat(who=f"box:{box}") for box in boxes))


def place_bet(turn: HousePokerTurn, command: BetPlace) -> None:
    """Place a bet beside the ante, or record the ante's amount."""
    hand = turn.current
    _require_bet(turn, command.bet)
    if "/" in command.who:
        _beside(turn, command)
        return
    if command.who not in {f"box:{box}" for box in range(1, turn.rules.boxes + 1)}:
        raise RejectedError("no_such_box", who=command.who, boxes=turn.rules.boxes)
    if command.bet == "jackpot":
        require_in_play(turn)
    _allow_stake(turn, command)
    if command.bet == "jackpot" and (why := moves.no_jackpot(turn, command.amount)):
        raise why.error()
    held = hand.amounts.get(command.who, {}).get(command.bet)
    moves.bet(
        turn,
        command.who,
        command.bet,
        held if command.amount is None else command.amount,
        command.by,
    )


def withdraw_bet(turn: HousePokerTurn, command: BetWithdraw) -> None:
    """Withdraw a bet before the deal."""
    hand = turn.current
    if "/" in command.who:
        turn.change_current(bets=stakes.without_bet(hand.bets, command))
        turn.emit(stakes.bet_event(hand.round, command))
        return
    moves.bet(turn, command.who, command.bet, by=command.by, withdrawn=True)


def _beside(turn: HousePokerTurn, command: BetPlace) -> None:
    """Place another player's bet on a box. All antes on a box together may not exceed the limit of
    one.
    """
    book, hand = turn.book, turn.current
    most = book.bets_per_box if turn.settings.others_bet or not book.others_optional else 1
    box = f"box:{stakes.bettor(command.who, turn.rules.boxes, most, book.laws.get('box_bettors'))}"
    if command.bet != "ante":
        raise RejectedError("others_bet_ante_only", bet=command.bet)
    lie = (hand.amounts.get(box, {}).get("ante") or 0) + _others(turn, box, command.who)
    least, highest = moves.stakes(turn, "ante")
    between = stakes.Bounds(least, None if highest is None else highest - lie)
    stakes.within(
        "ante",
        command.amount,
        between,
        book.laws["ante_limit"],
        minimum=book.laws["bet_minimum"],
        box=box,
    )
    turn.change_current(bets=stakes.with_bet(hand.bets, command))
    turn.emit(stakes.bet_event(hand.round, command))


def _require_bet(turn: HousePokerTurn, bet: str) -> None:
    names = ("ante", *turn.book.sides)
    if bet not in names:
        raise RejectedError("unknown_bet", bet=bet, bets=names)


def _allow_stake(turn: HousePokerTurn, command: BetPlace) -> None:
    ante, laws = command.bet == "ante", turn.book.laws
    least, most = moves.stakes(turn, command.bet)
    if ante and most is not None:
        most -= _others(turn, command.who)
    stakes.within(
        command.bet,
        command.amount,
        stakes.Bounds(least, most),
        laws.get("ante_limit" if ante else "stake_limit"),
        minimum=laws["bet_minimum"] if ante else None,
    )


def _others(turn: HousePokerTurn, box: str, but: str | None = None) -> int:
    """The sum of others' bets on a box."""
    return sum(
        bet.amount or 0
        for bet in turn.current.bets
        if bet.who.partition("/")[0] == box and bet.who != but
    )


def close_bets(turn: HousePokerTurn, command: BetsClose) -> None:
    """Close the bets. A bet without an ante is returned."""
    hand = turn.current
    early = turn.state.held
    turn.change(held=())
    turn.close_bets(command.by)
    for who, bets in hand.amounts.items():
        if hand.seat(who) is None:
            for bet in bets:
                turn.irregular("bet_without_ante", detail=f"{who}: {bet}")
                moves.bet(turn, who, bet, by=command.by, withdrawn=True)
    if hand.gap:
        turn.irregular("silence", asks=turn.state.asks)
    elif set(turn.state.silent) - set(turn.state.slots):
        moves.lose_place(turn)
    follow_all(turn, (replace(held, trouble=None) for held in early))


# Rounds


def void(turn: HousePokerTurn, command: RoundVoid) -> None:
    """Void the round by decision of the person in charge."""
    round_ = round_to_void(turn, command)
    turn.void(round_.round, command.reason, void_law(turn, command), command)


def deal_error(turn: HousePokerTurn, command: DealError) -> None:
    """Void the whole play for an error of the deal; a player who shows cards loses all bets."""
    hand = turn.current
    if command.fault == "player" and command.error == "exposed":
        seat = hand.seat(command.who)
        if seat is None or seat.told or not hand.closed:
            raise RejectedError(
                "who_not_in_play",
                who=command.who or "",
                hands=tuple(seat.who for seat in hand.seats),
            )
        if "hand_told" not in turn.book.laws:
            raise RejectedError("no_law_for_shown_hand")
        turn.change(
            current=replace(
                hand.with_seat(replace(seat, told=True)), cards=drop(hand.cards, seat.who)
            )
        )
        turn.irregular("hand_told", detail=seat.who)
    elif command.error not in ERRORS:
        raise RejectedError("deal_error_without_rule", error=command.error, errors=tuple(ERRORS))
    else:
        reason = ERRORS[command.error]
        turn.void(hand.round, reason, turn.book.void[reason], command)


def confirm(turn: HousePokerTurn, command: RoundConfirm) -> None:
    """Confirm that a round is over: it is settled by the face-up cards, the rest was settled at the
    table.
    """
    round_, by = round_to_confirm(turn, command), confirmer(command)
    if isinstance(round_, HousePokerRound):
        moves.settle_bets(turn, by)
    else:
        poker.confirmed(turn, round_, by)


def correct(turn: HousePokerTurn, command: ResultCorrect) -> None:
    """Correct wrong cards or decisions of a published result: every bet is settled again. A round
    that a person confirmed is not settled again.
    """
    entry = result(turn, command)
    hand = turn.state.round_of(entry.round)
    if hand is None:
        correct_settled(turn, entry, command, turn.rules.deck)
        return
    after, there = decided_otherwise(turn.rules, hand, entry, command)
    right = right_cards(there, command, turn.rules.deck, [card.card for card in hand.cards])
    judged = bool(entry.marks) or (
        bool(command.decisions) and len(right.get(DEALER, ())) == turn.book.hand
    )
    if command.decisions and not judged and any(seat.decision == "go" for seat in after.seats):
        raise RejectedError("hands_also_required", hands=(DEALER,))
    published_outcome = outcome(
        turn.rules, hand, {hand.who: hand.cards for hand in entry.hands}, judged=bool(entry.marks)
    )
    replace_result(
        turn, entry, published_outcome, outcome(turn.rules, after, right, judged=judged), command
    )
    turn.change(played=tuple(after if result is hand else result for result in turn.state.played))


# Guards


def bets_not_closed(turn: HousePokerTurn) -> Refused | None:
    """The bets of the round are open."""
    if turn.current.closed:
        return Refused("bets_closed")
    return None


def is_placed(turn: HousePokerTurn, command: BetWithdraw) -> None:
    """Reject a bet that is not placed."""
    hand = turn.current
    if "/" in command.who:
        stakes.without_bet(hand.bets, command)
    elif not hand.has_bet(command.who, command.bet):
        raise RejectedError("bet_not_placed", who=command.who, bet=command.bet)


def any_placed(turn: HousePokerTurn) -> bool:
    """A bet is placed."""
    hand = turn.current
    return bool(hand.bets or any(hand.amounts.values()))


def has_boxes(turn: HousePokerTurn) -> Refused | None:
    """A box is in play."""
    return None if turn.current.seats else Refused("no_boxes")


def deck_whole(turn: HousePokerTurn) -> Refused | None:
    """The last check of the deck found nothing wrong."""
    return Refused("deck_not_whole") if turn.state.deck is False else None


def round_to_confirm(turn: HousePokerTurn, command: RoundConfirm) -> HousePokerRound | DealtEntry:
    """The round that is over. Raises ``RejectedError`` unless exactly one matches."""
    round_: HousePokerRound | DealtEntry = undecided(turn.state, turn.state.current, command.round)
    if isinstance(round_, HousePokerRound) and not _is_over(turn):
        raise RejectedError("round_not_over", round=round_.round)
    return round_


def unconfirmed(turn: HousePokerTurn) -> bool:
    """The round in progress is over, or one is unresolved."""
    over = turn.state.current is not None and _is_over(turn)
    return over or has_unresolved(turn)


def _is_over(turn: HousePokerTurn) -> bool:
    return moves.going(turn) in (Phase.DEALER, Phase.SHOWDOWN)


def result(turn: HousePokerTurn, command: ResultCorrect) -> DealtEntry:
    """The result that is to be corrected."""
    return published(turn.state, command, decisions=True)


COMMANDS: Rows = {
    SessionOpen: Row(IN_CHARGE, (is_closed, FieldCheck(above_zero)), open_session),
    SessionClose: Row(IN_CHARGE, (is_open,), close_session),
    RoundVoid: Row(VOIDERS, (FieldCheck(round_to_void, voidable),), void),
    DealError: Row(VOIDERS, (FieldCheck(not_withdrawn), has_round), deal_error),
    RoundConfirm: Row(IN_CHARGE, (FieldCheck(round_to_confirm, unconfirmed),), confirm),
    ResultCorrect: Row(IN_CHARGE, (FieldCheck(result, has_result),), correct),
    CardDecide: Row(IN_CHARGE, (has_round, decisions.is_stopped), decisions.decide),
    LastRoundsAnnounce: LAST_ROUNDS,
    DeckCheck: Row(AT_THE_TABLE, (), check_cards),
    BetsOpen: Row(
        AT_THE_TABLE, (is_open, between_rounds, nothing_to_decide, rounds_left), open_bets
    ),
    BoxesSet: Row(AT_THE_TABLE, (has_round, bets_not_closed), set_boxes),
    BetPlace: Row(AT_THE_TABLE, (is_open, has_round, bets_not_closed), place_bet),
    BetWithdraw: Row(
        AT_THE_TABLE,
        (is_open, has_round, bets_not_closed, FieldCheck(is_placed, any_placed)),
        withdraw_bet,
    ),
    BetsClose: Row(
        AT_THE_TABLE, (is_open, bets_open, has_boxes, shuffler_ready, deck_whole), close_bets
    ),
    **decisions.COMMANDS,
}
"""The commands of every such table."""
