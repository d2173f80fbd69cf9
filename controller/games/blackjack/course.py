"""The course of a round of black jack: whose turn it is, what a hand may do, where the next card
belongs, what the result is.

Pure functions of the round, the rulebook and the settings. Nothing here is remembered, so a card
taken back leaves no trace.
"""

from __future__ import annotations

from collections.abc import Mapping

import msgspec

from common.contract.commands import (
    Command,
    HandDouble,
    HandDraw,
    HandEvenMoney,
    HandSplit,
    HandStand,
    HandSurrender,
)
from common.contract.events import Hand, Settled
from common.contract.refusals import Field
from controller.games.blackjack.hands import (
    Outcome,
    both,
    compare,
    dealer_draws,
    is_blackjack,
    is_pair,
    pair_mark,
    points,
    sevens_mark,
    three_sevens,
)
from controller.games.blackjack.settings import BlackjackSettings
from controller.games.blackjack.state import DEALER, TABLE, BlackjackDeal, BlackjackSeat
from controller.games.dealt.phases import Phase
from controller.rulebooks.blackjack import Blackjack

Why = tuple[str, Mapping[str, Field]]
"""A refusal's key and its fields."""

HAND_COMMANDS = ("hand.stand", "hand.draw", "hand.double", "hand.split", "hand.surrender")
"""The choices of the hand in turn."""


class BlackjackRules(msgspec.Struct, frozen=True):
    """The settings and rules of a table."""

    book: Blackjack
    settings: BlackjackSettings

    @property
    def boxes(self) -> int:
        """Boxes marked on the table."""
        return self.settings.boxes or self.book.boxes[0]

    @property
    def surrender(self) -> bool:
        """Whether a hand may surrender for half its bet."""
        return self.book.surrender == "right" or (
            self.book.surrender == "option" and self.settings.surrender
        )


def keys(rules: BlackjackRules) -> tuple[str, ...]:
    """The keys that a hand may have."""
    return HAND_COMMANDS if rules.surrender else HAND_COMMANDS[:-1]


def worth(rules: BlackjackRules, seat: BlackjackSeat) -> int:
    """The points of a hand. If the decree requires it, an ace among the first two cards of a
    doubled one counts 1.
    """
    return points(seat.cards, 2 if seat.doubled and rules.book.double_ace_low else 0)


def natural(seat: BlackjackSeat) -> bool:
    """Black jack: 21 with the first two cards, not of a pair that was split."""
    return seat.split is None and is_blackjack(seat.cards)


def closed(rules: BlackjackRules, seat: BlackjackSeat) -> bool:
    """Whether a hand is complete: 21 or more, its own decision, or its one card after a doubling or
    on a split ace.
    """
    if seat.surrendered or seat.stood:
        return True
    if len(seat.cards) < 2:
        return False
    if seat.split == "aces":
        return not (
            rules.settings.resplit_aces == "yes"
            and len(seat.cards) == 2
            and seat.cards[1][0] == "A"
        )
    return worth(rules, seat) >= 21 or (seat.doubled and len(seat.cards) > 2)


def against(rules: BlackjackRules, deal: BlackjackDeal) -> bool:
    """Whether a hand still plays against the dealer in this play."""
    return any(not seat.even_money and remains(rules, seat) for seat in deal.seats)


def remains(rules: BlackjackRules, seat: BlackjackSeat) -> bool:
    """Whether a hand is neither surrendered nor over 21, so that it plays against the dealer's
    later hands too.
    """
    return not seat.surrendered and worth(rules, seat) <= 21


def between_plays(deal: BlackjackDeal) -> bool:
    """Whether the dealer has kept his first card for another play, and it has not begun."""
    return (
        deal.play > 1 and len(deal.dealer) == 1 and not any(seat.even_money for seat in deal.seats)
    )


def turn(rules: BlackjackRules, deal: BlackjackDeal) -> BlackjackSeat | None:
    """The hand to act; None while a card is due or once all are complete."""
    return (
        None
        if next_card(rules, deal) is not None
        else next((seat for seat in deal.seats if not closed(rules, seat)), None)
    )


def next_card(rules: BlackjackRules, deal: BlackjackDeal) -> str | None:
    """Where the next card belongs; None if a hand must act first, or no card may come."""
    seats = deal.seats
    if not seats:
        return None if rules.settings.keys else TABLE
    split = any(seat.split for seat in seats)
    for seat in seats:
        if not seat.cards:
            return seat.who
    if not deal.dealer:
        return DEALER
    for seat in seats:
        if len(seat.cards) == 1 and (not split or rules.settings.split_cards == "at_once"):
            return seat.who
    if not rules.settings.keys:
        return TABLE
    for seat in seats:
        if not closed(rules, seat):
            due = len(seat.cards) < 2 or seat.asked or seat.doubled
            return seat.who if due else None
    alone = rules.settings.dealer_alone == "stops" and not against(rules, deal)
    if alone and len(deal.dealer) == 1 and any(bet.bet == "insurance" for bet in deal.bets):
        return DEALER  # his second card decides the insurance
    return DEALER if dealer_draws(deal.dealer) and not alone else None


def stage(rules: BlackjackRules, deal: BlackjackDeal) -> Phase:
    """The phase of the round."""
    if not deal.begun:
        return Phase.DEALING if deal.closed else Phase.BETS_OPEN
    if next_card(rules, deal) == DEALER and deal.dealer:
        return Phase.DEALER
    whole = bool(deal.dealer) and all(len(seat.cards) > 1 or seat.split for seat in deal.seats)
    return Phase.PLAYERS if whole else Phase.DEALING


def is_over(rules: BlackjackRules, deal: BlackjackDeal) -> bool:
    """Whether the round has its result."""
    return (
        rules.settings.keys
        and bool(deal.seats)
        and next_card(rules, deal) is None
        and all(closed(rules, seat) for seat in deal.seats)
    )


def refusal(
    rules: BlackjackRules, deal: BlackjackDeal, seat: BlackjackSeat, kind: type[Command]
) -> Why | None:
    """The refusal, key and fields, of a decision of this hand; None if it is allowed."""
    cards, who = seat.cards, seat.who
    if kind is HandSurrender:
        return _no_surrender(rules, deal, seat)
    if kind is HandEvenMoney:
        return _no_even_money(rules, deal, seat)
    if seat.split == "aces" and kind not in (HandSplit, HandStand):
        return "split_ace_done", {"who": who}
    if kind is HandDraw:
        return None
    if kind is HandDouble:
        if len(cards) != 2:
            return "double_two_cards", {"who": who, "count": len(cards)}
        if cards[0][0] == cards[1][0] == "A":
            return "double_aces", {"who": who}
        if rules.book.double_on and not both(cards) & set(rules.book.double_on):
            return "double_not_on", {
                "who": who,
                "points": worth(rules, seat),
                "may": tuple(map(str, rules.book.double_on)),
            }
    if kind is HandSplit and not is_pair(cards):
        return "not_a_pair", {"who": who}
    return None


def _no_surrender(rules: BlackjackRules, deal: BlackjackDeal, seat: BlackjackSeat) -> Why | None:
    if not rules.surrender:
        return "surrender_not_here", {}
    if not deal.dealer or closed(rules, seat):
        return "surrender_not_now", {"who": seat.who}
    if deal.dealer[0][0] == "A":
        return "dealer_ace_no_surrender", {}
    if len(seat.cards) != 2 or seat.split or seat.doubled or seat.asked:
        return "surrender_late", {"who": seat.who}
    first_two = 2 * sum("." not in seat.who for seat in deal.seats)
    if (
        rules.book.surrender_until == "table"
        and sum(len(seat.cards) for seat in deal.seats) > first_two
    ):
        return "surrender_over", {}
    return None


def _no_even_money(rules: BlackjackRules, deal: BlackjackDeal, seat: BlackjackSeat) -> Why | None:
    if "even_money" not in rules.book.laws:
        return "even_money_not_here", {}
    if not natural(seat):
        return "no_black_jack", {"who": seat.who}
    if deal.dealer[:1] and deal.dealer[0][0] != "A":
        return "dealer_has_no_ace", {}
    if seat.even_money:
        return "even_money_taken", {"who": seat.who}
    if not at_par(deal):
        return ("even_money_over" if deal.dealer else "dealer_has_no_card"), {}
    return None


def at_par(deal: BlackjackDeal) -> bool:
    """Whether a black jack may be paid at par now: while insurance is offered, and before each
    later play of the dealer.
    """
    if deal.play > 1:
        return len(deal.dealer) == 1 and deal.dealer[0][0] == "A"
    return bool(deal.insurance)


def even_money_hands(rules: BlackjackRules, deal: BlackjackDeal) -> tuple[str, ...]:
    """The hands that may take their win at par now."""
    return tuple(seat.who for seat in deal.seats if _no_even_money(rules, deal, seat) is None)


# The result


def hands(rules: BlackjackRules, deal: BlackjackDeal) -> tuple[Hand, ...]:
    """All hands as they are settled: from the croupier's right to his left, the dealer's own last.
    A hand that lost all its bets in the first play takes no part in later ones.
    """
    seats = [seat for seat in deal.seats if deal.play == 1 or remains(rules, seat)]
    mine = [
        Hand(
            who=seat.who,
            cards=seat.cards,
            points=worth(rules, seat),
            kind=_kind(rules, seat),
            outcome=_outcome(rules, deal, seat),
            settled=_settled(rules, deal, seat),
        )
        for seat in reversed(seats)
    ]
    return (*mine, dealer_hand(deal.dealer))


def dealer_hand(cards: tuple[str, ...]) -> Hand:
    """The dealer's hand."""
    total = points(cards)
    kind = "bust" if total > 21 else "blackjack" if is_blackjack(cards) else None
    return Hand(who=DEALER, cards=cards, points=total, kind=kind)


def _kind(rules: BlackjackRules, seat: BlackjackSeat) -> str | None:
    kinds = {
        "surrender": seat.surrendered,
        "bust": worth(rules, seat) > 21,
        "even_money": seat.even_money,
        "blackjack": natural(seat),
        "three_sevens": "three_sevens" in rules.book.pays and three_sevens(seat.cards),
        "doubled": seat.doubled,
    }
    return next((kind for kind, is_so in kinds.items() if is_so), None)


def _outcome(rules: BlackjackRules, deal: BlackjackDeal, seat: BlackjackSeat) -> Outcome:
    if seat.surrendered or worth(rules, seat) > 21:
        return "lose"
    if seat.even_money:
        return "win"
    outcome = compare(worth(rules, seat), natural(seat), deal.dealer)
    settings = rules.settings
    better = (natural(seat) and settings.blackjack_tie == "wins") or (
        _kind(rules, seat) == "three_sevens"
        and settings.three_sevens == "wins"
        and not three_sevens(deal.dealer)
    )
    return "win" if outcome == "tie" and better else outcome


def _settled(
    rules: BlackjackRules, deal: BlackjackDeal, seat: BlackjackSeat
) -> tuple[Settled, ...]:
    """The outcome of the bet on a hand. Half of a surrendered one is returned, which is neither won
    nor lost.
    """
    if seat.surrendered:
        return ()
    outcome, pays = _outcome(rules, deal, seat), rules.book.pays
    kind = _kind(rules, seat)
    won = pays[kind] if kind in ("blackjack", "three_sevens") else pays["win"]
    return (Settled(bet="bet", outcome=outcome, pays=won if outcome == "win" else None),)


def side_bets(rules: BlackjackRules, deal: BlackjackDeal) -> tuple[Settled, ...]:
    """The outcomes of the side bets that are decided: insurance, and by box the bet on pairs."""
    found = []
    if deal.insurance is not None and len(deal.dealer) > 1:
        won = is_blackjack(deal.dealer)
        found.append(
            Settled(
                bet="insurance",
                outcome="win" if won else "lose",
                pays=rules.book.pays["insurance"] if won else None,
            )
        )
    for seat in deal.seats if deal.play == 1 and rules.settings.pair_bets else ():
        if "." not in seat.who:
            mark = pair_mark(first_cards(rules, deal, seat)[:2])
            pays = rules.book.pair_bets[mark] if mark else None
            found.append(
                Settled(bet="pairs", who=seat.who, outcome="win" if mark else "lose", pays=pays)
            )
    return tuple(found)


def marks(rules: BlackjackRules, deal: BlackjackDeal) -> tuple[str, ...]:
    """What else wins or loses bets: insurance, and by box the bets on pairs and the accumulated
    ones, where the table has them.

    Insurance is undecided where the dealer has not drawn, since no hand was left against him. Side
    bets are settled with the first of the dealer's hands.
    """
    found = [f"play {deal.play}"] if rules.book.plays > 1 else []
    if deal.insurance is not None:
        drew = len(deal.dealer) > 1
        found.append(
            "insurance_wins"
            if is_blackjack(deal.dealer)
            else "insurance_loses"
            if drew
            else "insurance_undecided"
        )
    for seat in deal.seats if deal.play == 1 else ():
        if "." in seat.who:
            continue
        first = first_cards(rules, deal, seat)
        pair = pair_mark(first[:2]) if rules.settings.pair_bets else None
        sevens = sevens_mark(first) if rules.settings.accumulated_bets else None
        found += [f"{seat.who} {mark}" for mark in (pair, sevens) if mark]
    return tuple(found)


def first_cards(rules: BlackjackRules, deal: BlackjackDeal, seat: BlackjackSeat) -> tuple[str, ...]:
    """The first cards of a box, three at most: of a pair that was split, the pair, and the next
    card where that counts.
    """
    if seat.split is None:
        return seat.cards[:3]
    other = deal.seat(f"{seat.who}.2")
    assert other is not None
    pair = (seat.cards[0], other.cards[0])
    if rules.settings.split_sevens == "pair":
        return pair
    if deal.seats[deal.seats.index(seat) + 1] == other:
        return (*pair, *seat.cards[1:2])
    next_split = deal.seat(
        f"{seat.who}.3"
    )  # the first half was split again: the next card belongs to the new hand
    assert next_split is not None
    return (*pair, next_split.cards[0])
