"""What poker against the dealer pays: whether the bank plays, what each bet of a hand does, what
the meter gives. Pure.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from itertools import groupby
from typing import Literal

import msgspec

from common.contract.events import Settled
from controller.games.hands.evaluator import RANKINGS, Value
from controller.rulebooks.house_poker import HousePayouts, HousePoker, JackpotRules, Threshold

Outcome = Literal["win", "lose", "tie"]
EVEN_MONEY = (1, 1)


def qualifies(hand: Value, ranking_id: str, threshold: Threshold) -> bool:
    """Whether the bank plays with this hand."""
    ranking = RANKINGS[ranking_id]
    order: list[str] = list(ranking.categories)
    if hand.category != threshold.category:
        return order.index(hand.category) < order.index(threshold.category)
    own = [ranking.ranks.index(card[0]) for card in hand.cards]
    return own[: len(threshold.ranks)] >= [ranking.ranks.index(rank) for rank in threshold.ranks]


def outcome(player: Value, bank: Value) -> Outcome:
    """The outcome of a hand against the bank's."""
    return "tie" if player.key == bank.key else "win" if player.key > bank.key else "lose"


def settle(
    book: HousePoker, player: Value | None, bank: Value | None
) -> tuple[Outcome, tuple[Settled, ...]]:
    """Ante, second bet and bonus of a hand that goes. ``bank``: None where the bank does not play;
    then ``player`` may be None.

    The bank does not play: the ante is paid even, the second bet goes back.
    """
    if bank is None or player is None:
        result: Outcome = "win"
        bets = (Settled("ante", "win", EVEN_MONEY), Settled("second", "void"))
    else:
        result = outcome(player, bank)
        pays = book.pays[player.category] if result == "win" else None
        bets = (
            Settled("ante", result, EVEN_MONEY if result == "win" else None),
            Settled("second", result, pays),
        )
    bonus = (
        (Settled("bonus", "win", book.bonus[player.category]),)
        if player and player.category in book.bonus
        else ()
    )
    return result, (*bets, *bonus)


def side(bet: str, table: HousePayouts, player: Value) -> Settled:
    """The outcome of a side bet, by the highest category of the hand."""
    pays = table.get(player.category)
    return Settled(bet, "lose") if pays is None else Settled(bet, "win", pays)


class HousePokerWinner(msgspec.Struct, frozen=True):
    """A hand with a prize. ``discarded``: it was made by discarding. ``share``: None where the
    decree does not say.
    """

    who: str
    hand: Value
    discarded: bool = False
    share: tuple[int, int] | None = None


def prizes(
    jackpot: JackpotRules,
    hands: Mapping[str, Value],
    discarded: Sequence[str],
    *,
    of_whole: bool = False,
) -> list[HousePokerWinner]:
    """The shares of the meter as it was before the prizes of this play, in the order in which they
    are paid. If the decree pays the highest only, a lower hand of the same category has no share.

    Those made without discarding come first, then the higher hand. What one takes is not there for
    the next, unless each has its part ``of_whole``; equal hands take theirs of the whole.
    """
    found = [
        HousePokerWinner(who, hand, who in discarded)
        for who, hand in hands.items()
        if hand.category in (jackpot.discarded if who in discarded else jackpot.shares)
    ]
    found.sort(key=lambda claim: (not claim.discarded, claim.hand.key), reverse=True)
    if jackpot.several is None and len(found) > 1:
        return found
    if jackpot.several == "highest":
        best = {claim.hand.category: claim.hand.key for claim in reversed(found)}
        found = [claim for claim in found if claim.hand.key == best[claim.hand.category]]
    left, paid = Fraction(1), []
    for place, (_, group) in enumerate(
        groupby(found, key=lambda claim: (claim.discarded, claim.hand.key))
    ):
        equal = list(group)
        table = jackpot.discarded if equal[0].discarded else jackpot.shares
        rate = Fraction(*table[equal[0].hand.category])
        share: Fraction | None = (
            Fraction(1, len(equal))
            if rate == 1
            else rate
            if of_whole or len(equal) > 1
            else rate * left
        )
        if left <= 0 or (
            jackpot.several == "highest" and (place > 0 or (len(equal) > 1 and rate < 1))
        ):
            share = None
        else:
            left -= (share or 0) * len(equal)
        paid += [
            msgspec.structs.replace(
                claim, share=None if share is None else share.as_integer_ratio()
            )
            for claim in equal
        ]
    return paid
