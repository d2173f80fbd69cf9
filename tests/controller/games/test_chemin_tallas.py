"""Whole tallas: six decks to the cut card and beyond, restored after every input, each result
checked against the cards.
"""

from __future__ import annotations

import random

import msgspec
import pytest

from common.contract.events import RoundResult, ShoeCut, ShoeEnded
from controller.games.cards import DECK
from controller.games.chemin.state import CheminState
from tests.support.games.chemin_play import PAIRS, Play
from tests.support.games.outcomes import outcome_of
from tests.support.games.play import of_kind, only

WORTH: dict[str, int] = {rank: at if at < 10 else 0 for at, rank in enumerate("A23456789TJQK", 1)}


def worth(cards: list[str]) -> int:
    made: int = sum(WORTH[card[0]] for card in cards)
    return made % 10


class ShoeTopic:
    """A shuffled shoe, and a table whose players follow the rules as far as the cards show them."""

    def __init__(self, game: str, decree: str, seed: int) -> None:
        self.play = Play(decree, game)
        self.play.open()
        self.chance = random.Random(seed)
        self.cards = list(DECK) * 6
        self.chance.shuffle(self.cards)
        self.hands: dict[str, list[str]] = {}

    @property
    def behind(self) -> int:
        return self.play.book.shoe.behind

    def next(self, who: str) -> None:
        """Deal the next card to a hand; the table must expect it there, and is then restored."""
        assert self.play.state.expected == who
        if len(self.cards) == self.behind:
            self.play.cut()
        card = self.cards.pop()
        self.hands[who].append(card)
        self.play.cards(card)
        self.restore()

    def restore(self) -> None:
        self.play.state = msgspec.json.decode(
            msgspec.json.encode(self.play.state), type=CheminState
        )

    def round(self) -> RoundResult:
        play, book, start = self.play, self.play.book, len(self.play.events)
        self.hands = {who: [] for who in book.everyone}
        play.bets()
        for _ in range(2):
            for who in book.everyone:
                self.next(who)
        for who in book.hands:
            if worth(self.hands[who]) >= 8:
                play.turn(who)
            elif self.wants(self.hands[who]):
                play.draw(who)
            else:
                play.stand(who)
            self.restore()
        naturals = [who for who in book.everyone if worth(self.hands[who]) >= 8]
        if book.bank in naturals:
            play.turn(book.bank)
        else:
            for who in book.hands:
                if (
                    who not in naturals
                    and play.state.current
                    and play.state.current.words[who] == "draw"
                ):
                    self.next(who)
            if play.state.expected == book.bank:
                self.bank()
        if play.state.current is not None:
            play.turn()
        return only(play.events[start:], RoundResult)

    def wants(self, cards: list[str]) -> bool:
        return worth(cards) < 5 or (worth(cards) == 5 and self.chance.random() < 0.5)

    def bank(self) -> None:
        """The banker draws to zero and by the table; where it leaves both hands open he tosses a
        coin.
        """
        play, book = self.play, self.play.book
        made = worth(self.hands[book.bank])
        drawn = [
            len(self.hands[who]) > 2 and WORTH[self.hands[who][2][0]]
            for who in book.hands
            if not self.natural(who)
        ]
        cells = {book.third.banker[made][10 if third is False else third % 10] for third in drawn}
        laid_down = len(drawn) < len(book.hands)
        if (
            made == 0
            or cells == {"T"}
            or (cells == {"O"} and (laid_down or self.chance.random() < 0.5))
        ):
            self.next(book.bank)
        else:
            play.stand(book.bank)

    def natural(self, who: str) -> bool:
        return worth(self.hands[who][:2]) >= 8

    def outcome(self, who: str) -> str:
        bank = self.hands[self.play.book.bank]
        own, other = self.hands[who], bank
        if (
            self.play.book.natural_beats
            and len(own) != len(other)
            and max(worth(own), worth(other)) >= 8
        ):
            natural = own if len(own) == 2 else other
            if worth(natural) == 8 or worth(own) == worth(other) == 9:
                return "win" if natural is own else "lose"
        return (
            "tie" if worth(own) == worth(other) else "win" if worth(own) > worth(other) else "lose"
        )


@pytest.mark.parametrize(("game", "decree"), PAIRS)
@pytest.mark.parametrize("seed", [1, 2])
def test_a_talla_from_the_first_card_to_the_last(game: str, decree: str, seed: int) -> None:
    talla = ShoeTopic(game, decree, seed)
    play, rounds = talla.play, 0
    while not of_kind(play.events, ShoeEnded):
        result = talla.round()
        rounds += 1
        told = {hand.who: (list(hand.cards), hand.points) for hand in outcome_of(result).hands}
        assert told == {who: (cards, worth(cards)) for who, cards in talla.hands.items()}
        for hand in outcome_of(result).hands[:-1]:
            assert hand.outcome == talla.outcome(hand.who)
        assert result.confirmed_by is None
    cut = only(play.events, ShoeCut)
    assert (cut.left, cut.rounds_left) == (talla.behind, 1)
    assert only(play.events, ShoeEnded).left == len(talla.cards) < talla.behind
    assert not [event for event in play.events if getattr(event, "what", None)]
    assert rounds > 40 // len(play.book.hands)
