"""Honest rounds at stud and at draw, checked against what really lies on the table: who wins, and
whose opening was false.
"""

from __future__ import annotations

import random

import pytest

from common.contract.events import Irregularity, RoundResult
from controller.games.circle.opening import FIRST_DEAL_CARDS, lowest, opens
from controller.games.circle.streets import pack, ranking
from controller.games.hands.evaluator import best, value
from tests.support.games.circle_play import Play, table
from tests.support.games.outcomes import outcome_of
from tests.support.games.play import of_kind

ROUND_COUNT = 100


class Truth:
    """A round of draw as it really is: ``deck``, ``hands``, and the first cards and discards of
    each.
    """

    def __init__(self, decree: str, players: int, seed: int) -> None:
        self.chance = random.Random(seed)
        self.play = table(decree, "circle-draw", tuple(range(1, players + 1)))
        self.pack = pack(self.play.game.book, players)
        self.name = ranking(self.play.game.book, players)
        self.short = 0

    def draw(self, who: str) -> None:
        card = self.deck.pop()
        self.hands[who].append(card)
        self.play.cards(card)
        self.mix()

    def mix(self) -> None:
        """Mix the discards into the pack where the table requires it."""
        for seat in self.play.current.seats:
            if seat.returned and seat.who not in self.mixed:
                self.mixed.add(seat.who)
                self.deck += self.thrown[seat.who]
                self.chance.shuffle(self.deck)
                self.short += 1

    def round(self) -> None:
        self.deck = self.chance.sample(self.pack, len(self.pack))
        self.thrown: dict[str, list[str]] = {}
        self.mixed: set[str] = set()
        self.play.bets()
        self.hands: dict[str, list[str]] = {seat.who: [] for seat in self.play.current.seats}
        while self.play.current.due:
            self.draw(self.play.current.due[0].to)
        self.first = {who: tuple(own) for who, own in self.hands.items()}
        opener = self.chance.choice(self.play.current.seats).number
        self.play.act(
            opener,
            "open" if self.play.game.book.draw and self.play.game.book.draw.opening else "bet",
        )
        self.play.close()
        while self.play.state.current is not None and self.play.current.due:
            place = self.play.current.due[0]
            if place.turn:
                self.discard(place.to)
            else:
                self.draw(place.to)
        self.play.close()
        self.show(f"seat:{opener}")

    def discard(self, who: str) -> None:
        most = self.play.game.book.draw.most if self.play.game.book.draw else 0
        thrown = self.chance.sample(self.hands[who], self.chance.randint(0, min(most, 3)))
        self.thrown[who] = thrown
        self.hands[who] = [card for card in self.hands[who] if card not in thrown]
        self.play.send("hand.act", who=who, action="discard", count=len(thrown))
        self.mix()

    def show(self, opener: str) -> None:
        begun = len(self.play.events)
        for who in self.chance.sample(sorted(self.hands), len(self.hands)):
            self.play.show(who, " ".join(self.chance.sample(self.hands[who], FIRST_DEAL_CARDS)))
        if self.play.state.current is not None:
            self.play.show("discards", " ".join(self.thrown[opener]))
        said = self.play.events[begun:]
        [result] = of_kind(said, RoundResult)
        rank = lowest(self.play.game.book.draw, 0) if self.play.game.book.draw else None
        false = rank is not None and not opens(self.first[opener], rank, self.name)
        worth = {who: value(own, self.name).key for who, own in self.hands.items()}
        ahead = {who for who in worth if worth[who] == max(worth.values())}
        if false and opener in ahead:
            del worth[opener]
            ahead = {who for who in worth if worth[who] == max(worth.values())}
            assert "deal_false_opening" in {event.what for event in of_kind(said, Irregularity)}
        else:
            assert {event.what for event in of_kind(said, Irregularity)} <= {"opening_unproven"}
        assert {hand.who for hand in outcome_of(result).hands if hand.outcome != "lose"} == ahead


@pytest.mark.parametrize(("decree", "players"), [("BAL09", 5), ("BAL09", 8), ("EUS96", 5)])
def test_draw(decree: str, players: int) -> None:
    truth = Truth(decree, players, 1)
    for _ in range(ROUND_COUNT):
        truth.round()
    assert truth.short


@pytest.mark.parametrize("decree", ["BAL09", "EUS96"])
@pytest.mark.parametrize("game", ["five-card-stud", "seven-card-stud"])
def test_stud(decree: str, game: str) -> None:
    chance, play = random.Random(1), table(decree, game)
    cards, name = pack(play.game.book, 4), ranking(play.game.book, 4)
    for _ in range(ROUND_COUNT):
        hands = dealt(play, chance.sample(cards, len(cards)))
        [result] = of_kind(play.turn(), RoundResult)
        worth = {
            who: found.key for who, own in hands.items() if (found := best(own, name)) is not None
        }
        won = {hand.who for hand in outcome_of(result).hands if hand.outcome != "lose"}
        assert won == {who for who in worth if worth[who] == max(worth.values())}


def dealt(play: Play, deck: list[str]) -> dict[str, list[str]]:
    """All cards of a round, and their owners."""
    play.bets()
    hands: dict[str, list[str]] = {seat.who: [] for seat in play.current.seats}
    while not play.current.showdown:
        while play.current.due:
            hands.setdefault(play.current.due[0].to, []).append(deck[-1])
            play.cards(deck.pop())
        play.close()
    hands.pop("dead", None)
    return hands
