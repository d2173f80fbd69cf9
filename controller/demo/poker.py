"""The demo's croupier at poker against the dealer, and the cards of each round.

The devices report that cards were dealt, but not which. If the decree does not allow the shuffler
to deal, the croupier deals. The croupier turns the cards face up and announces them as the players
and the rules require.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from common.randomness import Random
from controller.demo.people import CommandFields, TableSeen, void
from controller.games.cards import DECK
from controller.games.hands.evaluator import value

DEALER = "dealer"
STACKED_DECK_ROUNDS = 6
"""Rounds between an award and the next stacked deck."""
TABLE_MINIMUM = 1000
"""The table minimum, in minor units."""
RANKINGS: Mapping[int, str] = {5: "five-52", 3: "three"}
"""The ranking of hands, by the number of cards in a hand."""
PLAY_RANKS: Mapping[int, str] = {5: "AK", 3: "AKQ"}
"""The ranks with which a player without a pair or better plays on, by the number of cards: all of
these ranks in a hand of five, any one of them in a hand of three.
"""
OUTCOMES = ("round.result", "round.void", "round.unresolved")
VOID_REASONS = {
    "card_order": "wrong_order",
    "packet_wrong": "wrong_count",
    "card_extra": "wrong_count",
    "deck_wrong": "deck_defective",
}
"""The reason for which a suspended deal is void, by irregularity. Any other is a misdeal."""


def croupier(seen: TableSeen) -> CommandFields | None:
    """The croupier's next command, in the order of a round: bets, deal, decisions, showdown."""
    shown, asks, phase = seen.shown, seen.shown["asks"], seen.shown["phase"]
    if phase == "closed":
        return "session.open", {"minimum": TABLE_MINIMUM, "currency": "EUR"}
    if shown["unresolved"]:
        return void(shown["unresolved"][0])
    if phase == "waiting":
        return "bets.open", {}
    if "round.opened" not in seen.latest_events:  # an earlier demo's round: its cards are unknown
        return void(shown["round"], "misdeal")
    if phase == "bets_open":
        return _bets(seen)
    if phase == "dealing" and shown["settings"]["dealt"] == "singly" and shown["expected"]:
        return "cards.deal", {"who": shown["expected"]}
    if phase == "decision":
        return _after_stop(seen, asks)
    if phase in ("decisions", "dealer", "showdown"):
        return _showdown(seen, phase)
    return None


def _bets(seen: TableSeen) -> CommandFields | None:
    """Before the deal: fill the boxes, place the side bets of one box, and close the bets once the
    deck is verified.
    """
    shown, boxes = seen.shown, seen.shown["hands"]
    if not boxes:
        return _all_boxes(shown)
    box = f"box:{shown['round'] % shown['boxes'] + 1}"
    for bet in shown["side_bets"]:
        if bet not in boxes[box]["bets"]:
            return "bet.place", {"who": box, "bet": bet, "amount": TABLE_MINIMUM // 2}
    return ("bets.close", {}) if _may_deal(seen) else None


def _all_boxes(shown: Mapping[str, Any]) -> CommandFields:
    return "boxes.set", {"boxes": list(range(1, shown["boxes"] + 1))}


def _may_deal(seen: TableSeen) -> bool:
    """True if the deck was checked for this round and is correct, and the shuffler is ready."""
    return (
        bool(seen.shown["deck"])
        and seen.shown["shuffler"] is None
        and seen.since("deck.checked", *OUTCOMES)
    )


def _after_stop(seen: TableSeen, asks: list[str]) -> CommandFields | None:
    """The command after an irregularity: continue the deal, or declare the round void."""
    shown, what = seen.shown, seen.what
    if "cards.show" in asks and (who := seen.latest_events["irregularity"].get("detail", "")) in (
        *shown["hands"],
        DEALER,
    ):
        return "cards.show", {"who": who, "cards": _cards(seen)[who]}
    if what == "shuffler_unready":
        return ("card.decide", {"action": "accept"}) if shown["shuffler"] is None else None
    # The croupier was slower than the shuffler; any other deal before the close is void.
    if what == "card_before_close" and _may_deal(seen):
        return ("bets.close", {}) if shown["hands"] else _all_boxes(shown)
    return void(shown["round"], VOID_REASONS.get(what or "", "misdeal"))


def _showdown(seen: TableSeen, phase: str) -> CommandFields | None:
    """The next command after the deal: the dealer's face-up card, each player's decision, the
    dealer's hand, then the players' hands.
    """
    shown, cards = seen.shown, _cards(seen)
    if phase == "dealer":
        return "cards.show", {"who": DEALER, "cards": cards[DEALER]}
    if phase == "decisions":
        size = len(shown["dealer"])
        if size == 5 and shown["dealer"][-1] is None:
            return "cards.show", {"who": DEALER, "cards": cards[DEALER][-1:], "index": size}
        who = shown["undecided"][0]
        return "hand.act", {"who": who, "action": "go" if _plays_on(cards[who]) else "pass"}
    hands = shown["hands"]
    # hands with a side bet come first: they are shown regardless of the dealer's hand
    covered = [
        who
        for who in sorted(hands, key=lambda who: not hands[who]["bets"])
        if None in hands[who]["cards"]
    ]
    if not covered:
        return None
    who = covered[0]
    slip = (
        seen.slips
        and shown["round"] % seen.slips == 0
        and seen.latest_events.get("irregularity", {}).get("round") != shown["round"]
        and who != _lucky(seen)
    )
    announced = [*cards[who][:-1], cards[DEALER][0]] if slip else cards[who]
    return "cards.show", {"who": who, "cards": announced}


def _cards(seen: TableSeen) -> dict[str, list[str]]:
    """Return the hands of the round in progress, from a deck that is determined by the seed and may
    be stacked.
    """
    shown = seen.shown
    size = len(shown["dealer"])
    random = Random(f"{seen.seed} {shown['session']} {shown['round']}")
    lucky = _lucky(seen)
    stacked = seen.stacked.hand if seen.stacked and lucky else ()
    deck = [card for card in random.sample(DECK, len(DECK)) if card not in stacked]
    return {
        who: list(stacked) if who == lucky else [deck.pop() for _ in range(size)]
        for who in (*shown["hands"], DEALER)
    }


def _lucky(seen: TableSeen) -> str | None:
    """Return who gets the stacked hand in this round: the first box in the jackpot."""
    if seen.stacked is None:
        return None
    shown, first = seen.shown, seen.stacked.first
    if seen.since("award.qualified", "session.opened"):
        first = max(first, seen.latest_events["award.qualified"]["round"] + STACKED_DECK_ROUNDS)
    if shown["round"] < first:
        return None
    return next((who for who, own in shown["hands"].items() if "jackpot" in own["bets"]), None)


def _plays_on(cards: list[str]) -> bool:
    size, ranks = len(cards), {card[0] for card in cards}
    hand = value(cards, RANKINGS[size])
    high_ranks = set(PLAY_RANKS[size])
    return hand.category != "high_card" or (
        high_ranks <= ranks if size == 5 else bool(high_ranks & ranks)
    )
