"""A published result of circle poker that a person corrects: by the cards of the hands that were
shown, or by the winner.

Where hands were compared, the cards decide. Where the pot went without a showdown, or the hands are
no longer remembered, a person names the winner.
"""

from __future__ import annotations

from msgspec.structs import replace

from common.contract.commands import ResultCorrect
from common.contract.refusals import RejectedError
from controller.games.circle.commands import against_cards
from controller.games.circle.showdown import TIE, compare, laid_open
from controller.games.circle.state import CircleRound
from controller.games.circle.streets import pack
from controller.games.circle.turn import CircleTurn
from controller.games.dealt.state import DealtEntry
from controller.games.poker.correction import (
    PokerOutcome,
    published,
    relaid,
    replace_result,
    right_cards,
)


def correct(turn: CircleTurn, command: ResultCorrect) -> None:
    """Replace a published result that was wrong; it is never erased."""
    entry = result(turn, command)
    hand: CircleRound | None = turn.state.round_of(entry.round)
    if hand is not None and any(hand.settled for hand in entry.hands):
        right = _right(turn, entry, command, hand)
        before = _outcome(turn, hand, {hand.who: hand.cards for hand in entry.hands})
        replace_result(turn, entry, before, _outcome(turn, hand, right), command)
    else:
        _by_word(turn, entry, hand, command)


def result(turn: CircleTurn, command: ResultCorrect) -> DealtEntry:
    """The result that is to be corrected."""
    return published(turn.state, command)


def has_winner(turn: CircleTurn) -> bool:
    """A remembered round has a result, and its pot was opened: otherwise it cannot be won."""
    return any(
        entry.kind == "result" and "blank" not in entry.marks for entry in turn.state.entries
    )


def _outcome(turn: CircleTurn, hand: CircleRound, lie: dict[str, tuple[str, ...]]) -> PokerOutcome:
    shown = compare(turn.book, laid_open(hand, lie))
    return PokerOutcome(hands=shown.hands, marks=shown.marks, winner=shown.winner)


def _right(
    turn: CircleTurn, entry: DealtEntry, command: ResultCorrect, hand: CircleRound | None
) -> dict[str, tuple[str, ...]]:
    cards = pack(turn.book, hand.players) if hand is not None else ()
    return right_cards(
        entry, command, cards, [card.face for card in hand.cards] if hand is not None else ()
    )


def _by_word(
    turn: CircleTurn, entry: DealtEntry, hand: CircleRound | None, command: ResultCorrect
) -> None:
    """Correct the winner and face-up cards of a round whose hands were not compared."""
    previous_winner = entry.winner
    if command.winner is None and not command.hands:
        raise RejectedError("winner_or_hands_required")
    if "blank" in entry.marks:
        raise RejectedError("pot_was_not_opened", round=entry.round)
    hands = (
        relaid(entry.hands, _right(turn, entry, replace(command, winner=None), hand))
        if command.hands
        else entry.hands
    )
    before = PokerOutcome(hands=entry.hands, marks=entry.marks, winner=entry.winner)
    if command.winner is None:
        replace_result(turn, entry, before, replace(before, hands=hands), command)
        return
    _require_player(command.winner, hand)
    if command.winner == previous_winner:
        raise RejectedError("winner_unchanged", round=entry.round, winner=previous_winner)
    if hand is not None:
        against_cards(
            turn, laid_open(hand, {hand.who: hand.cards for hand in hands}), command.winner
        )
    marks = ("no_showdown",) if {"no_showdown", "pot_stays"} & {*entry.marks} else ()
    after = PokerOutcome(
        hands=hands, marks=("split",) if command.winner == TIE else marks, winner=command.winner
    )
    replace_result(turn, entry, before, after, command, previous_winner)


def _require_player(who: str, hand: CircleRound | None) -> None:
    """Reject a winner who was not in the round, if it is remembered."""
    in_round = who.startswith("seat:") if hand is None else hand.seat(who) is not None
    if who != TIE and not in_round:
        seats = ("seat:1",) if hand is None else tuple(seat.who for seat in hand.seats)
        raise RejectedError("winner_one_of", winners=(*seats, TIE))
