"""Corrections of decisions in a finished round: a hand reported as passing that played, or the
reverse.

Its result may have come at once because no hand seemed to play. The correction then names the cards
that were face up.
"""

from __future__ import annotations

from msgspec.structs import replace

from common.contract.commands import ResultCorrect
from common.contract.refusals import RejectedError
from controller.games.dealt.state import DealtEntry
from controller.games.house_poker.course import HousePokerRules
from controller.games.house_poker.state import DEALER, HousePokerRound
from controller.games.poker.correction import came_to_lie


def decided_otherwise(
    rules: HousePokerRules, hand: HousePokerRound, entry: DealtEntry, command: ResultCorrect
) -> tuple[HousePokerRound, DealtEntry]:
    """The round and its result with the true decisions and the cards that were face up. Raises
    ``RejectedError`` for impossible decisions.
    """
    complete = {hand.who for hand in entry.hands if len(hand.cards) == rules.book.hand}
    after, incomplete = hand, set() if DEALER in complete else {DEALER}
    for who, decision in (command.decisions or {}).items():
        seat = hand.seat(who)
        if seat is None or seat.told or seat.decision in (None, decision):
            raise RejectedError("decision_not_wrong", who=who, round=hand.round, decision=decision)
        if decision == "pass" and who in complete:
            raise RejectedError("hand_had_not_passed", who=who)
        if decision == "go" and rules.book.discards and hand.has_bet(who, "jackpot"):
            raise RejectedError("discards_unknown", who=who)
        after = after.with_seat(replace(seat, decision=decision))
        incomplete |= {who} if decision == "go" else set()
    sizes = dict.fromkeys(sorted(incomplete), rules.book.hand) if command.decisions else {}
    return after, came_to_lie(entry, command, sizes)
