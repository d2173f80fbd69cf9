"""The jackpot of black jack, which three sevens of one suit take: the accumulated bet. Pure.

It is in play with the first of the dealer's hands, and settled after it (EUS96 L526, L586, L594).
"""

from __future__ import annotations

from common.contract.events import AwardQualified, JackpotStaked
from controller.games.blackjack.course import BlackjackRules, first_cards
from controller.games.blackjack.hands import sevens_mark
from controller.games.blackjack.state import BlackjackDeal

FULL_METER_AWARD = "sevens_3_suited"


def jackpot_events(
    rules: BlackjackRules, deal: BlackjackDeal
) -> tuple[AwardQualified | JackpotStaked, ...]:
    """The awards of the accumulated sum, and the amount that the play added to it. The decree does
    not mention several winners.
    """
    staked = [bet for bet in deal.bets if bet.bet == "accumulated"] if deal.play == 1 else []
    boxes = {seat.who: first_cards(rules, deal, seat) for seat in deal.seats if "." not in seat.who}
    won = [
        bet.who
        for bet in staked
        if sevens_mark(boxes.get(bet.who.partition("/")[0], ())) == FULL_METER_AWARD
    ]
    awards = tuple(
        AwardQualified(
            round=deal.round,
            award="jackpot",
            box=who,
            hand=FULL_METER_AWARD,
            cards=boxes[who.partition("/")[0]],
            share=(1, 1) if len(won) == 1 else None,
            of="all_tables" if rules.settings.linked else "table",
            out_of_play=who in deal.marked,
        )
        for who in won
    )
    amount = sum(bet.amount or 0 for bet in staked)
    return (*awards, JackpotStaked(round=deal.round, amount=amount)) if staked else ()
