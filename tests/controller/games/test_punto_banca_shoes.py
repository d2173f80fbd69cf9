"""Whole shoes of six decks through the whole state machine: to their end under each decree, and
many against the odds.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator
from typing import Any

import pytest

from common.contract.commands import BetsClose, BetsOpen, CardsTurn, ShoeStart
from common.contract.events import (
    AnyEvent,
    CardsBurned,
    Irregularity,
    RoundResult,
    RoundUnresolved,
    ShoeCut,
    ShoeEnded,
)
from common.contract.notation import write
from common.readings import CardCut, CardDrawn
from controller.games.baccarat import is_natural
from controller.games.cards import pips
from tests.support.for_each import for_each
from tests.support.games.outcomes import outcome_of
from tests.support.games.play import of_kind, only
from tests.support.games.punto_banca_play import DECREES, Play, coups

PERSON: dict[str, Any] = {"at": 1.0, "by": "M. Lasa", "role": "croupier"}


def deal(play: Play, cards: list[str]) -> Iterator[list[AnyEvent]]:
    """A shoe from its burn to its cut card, as croupier and shoe play it; return the events of each
    coup.
    """
    behind = play.game.book.shoe.behind
    drawn = 0

    def card() -> list[AnyEvent]:
        nonlocal drawn
        events: list[AnyEvent] = []
        if drawn == len(cards) - behind:
            events = play.take(CardCut(at=1.0, device="shoe"))
        drawn += 1
        return events + play.take(
            CardDrawn(at=1.0, device="shoe", frame=f"f{drawn}", card=cards[drawn - 1])
        )

    play.take(ShoeStart(**PERSON, shoe="S1", cards=312))
    events: list[AnyEvent] = []
    while play.state.burn is not None:
        events += card()
    yield events
    while play.state.shoe is not None and not play.state.shoe.over:
        events = play.take(BetsOpen(**PERSON), BetsClose(**PERSON))
        while play.state.current is not None:
            events += card() if play.state.expected else play.take(CardsTurn(**PERSON))
        yield events


@pytest.mark.rule(
    "BAL05-104",
    "ARA02-082",
    "EUS96-126",
    "GAL07-048",
    "ARA02-072",
    "BAL05-095",
    "EUS96-117",
    "GAL07-047",
)
@for_each("decree", DECREES)
@for_each("seed", [1, 2])
def test_a_shoe_to_its_end_restored_at_every_step(decree: str, seed: int) -> None:
    play = Play(decree)
    play.send("session.open")
    cards = play.shuffled(seed)
    said: list[AnyEvent] = []
    for coup in deal(play, cards):
        said += coup
        play.again()
    burned = pips(cards[0]) + 1
    results = of_kind(said, RoundResult)
    dealt = coups(play.game.book.third, cards[burned:])
    assert only(said, CardsBurned).count == burned - 1
    assert only(said, ShoeCut).left == 7
    assert of_kind(said, Irregularity) == []
    assert [event.round for event in results] == list(range(1, len(results) + 1))
    assert only(said, ShoeEnded).drawn == burned + sum(map(len, dealt[: len(results)]))
    for result, own in zip(results, dealt, strict=False):
        player, banker = (hand.cards for hand in outcome_of(result).hands)
        assert sorted([*player, *banker]) == sorted(own)
        assert (player[:2], banker[:2]) == ((own[0], own[2]), (own[1], own[3]))
        assert len(play.evidence(result)) == len(own)
    told = b"".join(map(write, play.events)).decode()
    assert all(f'"{card}"' in told for own in dealt[: len(results)] for card in own)
    assert len(play.sealed) == burned - 1 + sum(map(len, dealt[: len(results)]))


@pytest.mark.parametrize("decree", DECREES)
def test_a_restart_in_the_middle_of_a_shoe(decree: str) -> None:
    """A restart is a silence: the current coup is unresolved, all others are unchanged, and the
    talla continues.
    """
    play, whole = Play(decree), Play(decree)
    play.send("session.open")
    whole.send("session.open")
    results = [
        result for said in deal(whole, whole.shuffled(3)) for result in of_kind(said, RoundResult)
    ]
    coup = deal(play, play.shuffled(3))
    for _ in range(20):
        next(coup)
    play.bets()
    play.cards("Kc Qd")
    play.again()
    play.gap()
    assert len(of_kind(play.cards("7h"), RoundUnresolved)) == 1
    play.send("round.confirm", winner="tie")
    play.coup("Kc Qd 7h 6s")
    assert [outcome_of(event).hands for event in of_kind(play.events, RoundResult)][:19] == [
        outcome_of(event).hands for event in results
    ][:19]


SHOE_COUNT = 120
"""About 7 300 coups, in a few seconds."""


def test_many_shoes_match_the_odds() -> None:
    """The exact odds of the first coup of a shoe, which hold for every coup on average (each order
    of the cards is as likely as another): bank 0.458653, player 0.446279, tie 0.095069; naturals
    0.343117; four, five, six cards 0.379, 0.303, 0.318 as in ``test_baccarat``. The seeds are
    fixed. Tolerance: five standard deviations of as many independent coups.
    """
    play = Play("ARA02", turn="when_complete")
    play.send("session.open")
    found: Counter[Any] = Counter()
    for seed in range(SHOE_COUNT):
        for said in deal(play, play.shuffled(seed)):
            for result in of_kind(said, RoundResult):
                found[outcome_of(result).winner] += 1
                found["natural"] += any(is_natural(hand.cards) for hand in outcome_of(result).hands)
                found[sum(len(hand.cards) for hand in outcome_of(result).hands)] += 1
    total = found["player"] + found["banker"] + found["tie"]
    assert total > 55 * SHOE_COUNT
    odds = {
        "banker": 0.458653,
        "player": 0.446279,
        "tie": 0.095069,
        "natural": 0.343117,
        4: 0.379,
        5: 0.303,
        6: 0.318,
    }
    for what, share in odds.items():
        assert abs(found[what] - share * total) < 5 * math.sqrt(total * share * (1 - share)), what
