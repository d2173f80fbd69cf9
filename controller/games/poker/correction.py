"""Correction of a published result of poker: what a person may state, and which events follow.

The right cards of hands that were shown replace those that were published. The game then settles
the round again, by the same function that settled it first. Cards that lay face down are no longer
known: they are not requested and not used.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any

import msgspec
from msgspec.structs import replace

from common.contract.commands import ResultCorrect
from common.contract.events import AwardQualified, Hand, ResultCorrected
from common.contract.refusals import RejectedError
from controller.games.dealt.state import HISTORY_ROUNDS, DealtEntry
from controller.games.dealt.turn import Turn
from controller.games.poker.state import MAX_REMEMBERED_ROUNDS


class PokerOutcome(msgspec.Struct, frozen=True, kw_only=True):
    """The outcome of a round's face-up cards. ``awards``: in the order in which they are paid."""

    hands: tuple[Hand, ...]
    marks: tuple[str, ...] = ()
    winner: str | None = None
    awards: tuple[AwardQualified, ...] = ()


def published(state: Any, command: ResultCorrect, *, decisions: bool = False) -> DealtEntry:
    """The result to correct. ``decisions``: whether decisions may be corrected. Raises
    ``RejectedError``.
    """
    number = command.round
    if command.decisions is not None and not decisions:
        raise RejectedError("decisions_not_corrected")
    entry: DealtEntry | None = state.entry(number)
    if entry is None:
        if 0 < number <= state.round:
            raise RejectedError(
                "round_too_old", round=number, remembered=MAX_REMEMBERED_ROUNDS, last=state.round
            )
        raise RejectedError("round_not_remembered", round=number)
    if entry.kind != "result":
        raise RejectedError("no_result_to_correct", round=number)
    return entry


def right_cards(
    entry: DealtEntry,
    command: ResultCorrect,
    deck: Collection[str],
    seen: Iterable[str | None] = (),
) -> dict[str, tuple[str, ...]]:
    """The cards of all hands that lay open, as they are right. Raises ``RejectedError`` for what
    cannot be.

    ``seen``: other cards that lay face up in the round.
    """
    if command.number is not None or command.dice is not None or command.winner is not None:
        raise RejectedError("result_from_cards")
    shown = {hand.who: hand.cards for hand in entry.hands if hand.cards}
    if not command.hands and command.decisions:
        return shown
    if not command.hands:
        raise RejectedError("hands_required")
    if not shown:
        raise RejectedError("hands_not_remembered", round=entry.round, rounds=HISTORY_ROUNDS)
    for who, cards in command.hands.items():
        if who not in shown:
            raise RejectedError("hand_not_up", who=who, round=entry.round, hands=tuple(shown))
        if len(cards) != len(shown[who]):
            raise RejectedError("hand_size", who=who, cards=len(shown[who]), count=len(cards))
    right = shown | {
        who: cards for who, cards in command.hands.items() if set(cards) != set(shown[who])
    }
    all_cards = [card for cards in right.values() for card in cards]
    if foreign := set(all_cards) - set(deck):
        raise RejectedError("cards_foreign", cards=tuple(sorted(foreign)))
    if len(set(all_cards)) < len(all_cards) or set(all_cards) & set(seen):
        raise RejectedError("card_twice")
    return right


def came_to_lie(entry: DealtEntry, command: ResultCorrect, sizes: Mapping[str, int]) -> DealtEntry:
    """The result with the cards of hands that were face up after all, as a corrected decision
    implies. ``sizes``: the size of each hand.
    """
    hands = command.hands or {}
    for who, size in sizes.items():
        if len(hands.get(who, ())) not in (0, size):
            raise RejectedError("hand_size", who=who, cards=size, count=len(hands[who]))
    there = [
        replace(hand, cards=hands[hand.who]) if hands.get(hand.who) and hand.who in sizes else hand
        for hand in entry.hands
    ]
    names = {hand.who for hand in there}
    return replace(
        entry,
        hands=(
            *(
                Hand(who=who, cards=hands[who])
                for who in sizes
                if who in hands and who not in names
            ),
            *there,
        ),
    )


def relaid(hands: tuple[Hand, ...], right: Mapping[str, tuple[str, ...]]) -> tuple[Hand, ...]:
    """The hands with their right cards, for a round that a person settled."""
    return tuple(
        Hand(who=hand.who, cards=right.get(hand.who, ()), outcome=hand.outcome) for hand in hands
    )


def replace_result(
    turn: Turn,
    entry: DealtEntry,
    before: PokerOutcome,
    after: PokerOutcome,
    command: ResultCorrect,
    was: str | None = None,
) -> None:
    """Replace the result. Awards that no longer hold are withdrawn, and new ones are given.

    ``was``: the published winner, if a person names another. Raises ``RejectedError`` if nothing
    changes.
    """
    if after == before:
        raise RejectedError("hands_unchanged", round=entry.round)
    new = replace(entry, hands=after.hands, marks=after.marks, winner=after.winner, corrected=True)
    turn.state = turn.state.with_entry(new)
    turn.emit(
        ResultCorrected(
            round=entry.round,
            replaces=None,
            replaces_boot=None,
            outcome=turn.course.outcome_of(turn, new),
            was=was,
            by=command.by,
            role=command.role,
        )
    )
    emit_awards(turn, before.awards, after.awards)


def correct_settled(
    turn: Turn, entry: DealtEntry, command: ResultCorrect, deck: Collection[str]
) -> None:
    """Correct the cards of a round that a person settled at the table. Its bets are not settled
    again.
    """
    if command.decisions:
        raise RejectedError("round_settled_at_table", round=entry.round)
    right = right_cards(entry, command, deck)
    before, after = PokerOutcome(hands=entry.hands), PokerOutcome(hands=relaid(entry.hands, right))
    replace_result(turn, entry, before, after, command)


def emit_awards(
    turn: Turn, before: Sequence[AwardQualified], after: Sequence[AwardQualified]
) -> None:
    """Withdraw awards that are no longer due, and publish new ones."""
    for award in before:
        if award not in after:
            turn.emit(replace(award, valid=False))
    for award in after:
        if award not in before:
            turn.emit(award)
