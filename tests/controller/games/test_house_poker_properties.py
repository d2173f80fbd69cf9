"""Invariants of a table of house poker: rounds of each game, with errors among them."""

from __future__ import annotations

import random
from collections import Counter

import msgspec
import pytest

from common.contract.commands import CardsShow
from common.contract.events import (
    AnyEvent,
    CardDealt,
    CardRemoved,
    CardTurned,
    Irregularity,
    RoundResult,
    RoundUnresolved,
    RoundVoid,
)
from common.contract.notation import Input, read_event, write
from controller.games.cards import DECK
from tests.conftest import cases
from tests.support.games.corrections import Standing, there_and_back
from tests.support.games.holds import step
from tests.support.games.outcomes import outcome_of
from tests.support.games.poker_play import PAIRS, Croupier, Play

MIN_ROUNDS, MAX_ROUNDS = cases(40, 334), 334
"""Rounds of a play: more than the first number only until enough has happened in it."""
MAX_STEPS_PER_ROUND = 200
"""More than any round takes: after them the person in charge ends it."""
SOURCES = ("reader", "packets", "told")


class Watch:
    """Compares published cards with those that were read or shown in the round."""

    def __init__(self) -> None:
        self.named: set[str] = set()
        self.outcomes: Counter[tuple[int, int]] = Counter()
        self.irregular: Counter[str] = Counter()
        self.results = 0

    def see(self, given: Input, events: list[AnyEvent]) -> None:
        card = getattr(given, "card", None)
        self.named |= {card} if card else set()
        self.named |= set(getattr(given, "cards", ())) if isinstance(given, CardsShow) else set()
        for event in events:
            if isinstance(event, CardDealt | CardTurned | CardRemoved):
                assert event.card is None or event.card in self.named, f"out of nowhere: {event}"
            if isinstance(event, RoundResult):
                self.results += 1
                cards = [card for hand in outcome_of(event).hands for card in hand.cards]
                assert set(cards) <= self.named & set(DECK)
                assert len(cards) == len(set(cards)), f"a card twice: {event}"
            if isinstance(event, RoundResult | RoundVoid):
                self.outcomes[event.session, event.round] += 1
            if isinstance(event, Irregularity):
                self.irregular[event.what] += 1
                assert read_event(write(event)) == event

    def whole(self, last: tuple[int, int], unresolved: set[tuple[int, int]]) -> None:
        """Every round has one outcome, except undecided ones that a closed session left."""
        assert set(self.outcomes.values()) <= {1}
        for number in range(1, last[1] + 1):
            assert (last[0], number) in self.outcomes or (last[0], number) in unresolved


def corrects(play: Play, chance: random.Random, events: list[AnyEvent]) -> bool:
    """A person corrects the published result, and corrects it back."""
    results = [event for event in events if isinstance(event, RoundResult)]
    standing = Standing()
    standing.see([event for event in events if event.round == results[0].round] if results else [])
    return bool(results) and there_and_back(play, chance, standing, results[0].round, DECK)


@pytest.mark.parametrize(
    ("game", "decree", "source"),
    [
        (*pair, source)
        for pair in PAIRS
        for source in SOURCES
        if source != "packets" or pair[1] not in ("ARA02", "BAL09")
    ],
)
def test_rounds_with_errors(game: str, decree: str, source: str) -> None:
    play = Play(
        game,
        decree,
        dealt="packets" if source == "packets" else "singly",
        misdeal="void" if source == "told" else "ask",
    )
    croupier, watch = Croupier(f"{game} {decree} {source}", source, play.game.book.hand), Watch()
    unresolved: set[tuple[int, int]] = set()
    chance, corrected = random.Random(f"{game} {decree}"), 0
    for number in range(MAX_ROUNDS):
        if number >= MIN_ROUNDS and corrected > 20 and len(watch.irregular) > 5:
            break
        watch.named.clear()
        for count in range(MAX_STEPS_PER_ROUND):
            given = croupier.next(play.shown)
            events = step(play, given)
            watch.see(given, events)
            croupier.note(events)
            unresolved |= {
                (event.session, event.round)
                for event in events
                if isinstance(event, RoundUnresolved)
            }
            if any(isinstance(event, RoundResult | RoundVoid) for event in events):
                corrected += corrects(play, chance, events)
                break
            if (number + count) % 50 == 0:
                before = play.state
                play.again()
                assert play.state == before
        else:
            pytest.fail(f"a round that does not end: {play.shown}")
        play.events.clear()
        play.sealed.clear()
    watch.whole(
        (play.state.session, play.state.round - (play.state.current is not None)), unresolved
    )
    assert watch.results > number // 5
    assert corrected > 20
    assert len(watch.irregular) > 5
    assert msgspec.json.encode(play.game.view(play.state).history())
