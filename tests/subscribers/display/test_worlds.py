"""Two worlds that differ in one unseen card: a browser gets the same bytes."""

from __future__ import annotations

import random

import msgspec
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from common.contract.messages.messages import LANGUAGES
from common.contract.notation import Input, write
from common.readings import CardDrawn
from controller.games.games import make_game
from tests.conftest import cases
from tests.controller.confidential.test_two_worlds import (
    CARD_NAME,
    GAMES,
    SEEDS,
    Evening,
    Settings,
    World,
    compare,
    twin,
)
from tests.subscribers.display.test_bodies import CARD_GAMES
from tests.support.games import scripts
from tests.support.games.monkey import MANNERS, Manners
from tests.support.subscribers.played import Screen

CARDS = 3
"""Cards of a table's evenings in whose place another is put."""


class ScreenWorld(World):
    """One table, and all that a browser is sent of it."""

    def __init__(
        self, game_id: str, decree: str, settings: Settings, saved: bytes | None = None
    ) -> None:
        super().__init__(game_id, decree, settings, saved)
        self._screen = Screen()
        self._screen.daemon(self.table.boot)

    def take(self, given: Input | None) -> tuple[list[bytes], set[str]]:
        """The bytes sent after a step, in every language, and the cards in the step's events."""
        lines, told = super().take(given)
        self._screen.daemon(self.table.boot)
        for line in lines:
            if line.startswith(b'{"type":'):
                self._screen.event(line)
        self._screen.retained(self.table.retained())
        return [lines[0] if lines else b"", *map(self._screen.sent, LANGUAGES)], told


@pytest.mark.parametrize(("game_id", "decree", "settings"), GAMES)
def test_a_browser_cannot_distinguish_two_worlds(
    game_id: str, decree: str, settings: Settings, long: bool
) -> None:
    chance, compared = random.Random(0), 0
    down: list[tuple[Evening, int, bytes, CardDrawn, list[str]]] = []
    for seed in range(SEEDS):
        if seed and down and not long:
            break
        evening = Evening(game_id, decree, settings, seed)
        free = evening.free()
        down += [
            (evening, step, saved, drawn, others)
            for step, (saved, drawn) in enumerate(evening.course)
            if isinstance(drawn, CardDrawn) and drawn.card in evening.pack
            if (others := [card for card in free if card != drawn.card])
            if World(game_id, decree, settings, saved).table.handle(drawn, "now", 0).confidential
        ]
    for evening, step, saved, drawn, others in chance.sample(down, min(CARDS, len(down))):
        one, other = (ScreenWorld(game_id, decree, settings, saved) for _ in range(2))
        instead = twin(drawn, chance.choice(others))
        following = [each for _, each in evening.course[step + 1 :]]
        compared += compare(one, other, drawn, instead, following)
    assert compared, "no card lay face down: the test plays badly"


HIDING = [
    name
    for name in CARD_GAMES
    if make_game((told := scripts.read(name)).game, told.decree, told.settings).face_down
    and any(isinstance(each, CardDrawn) for each in told.inputs)
]


@settings(deadline=None, max_examples=cases(12, 30), suppress_health_check=[HealthCheck.too_slow])
@given(st.sampled_from(HIDING), st.data())
def test_nor_in_any_script(name: str, data: st.DataObject) -> None:
    script = scripts.read(name)
    drawn = [
        (index, each)
        for index, each in enumerate(script.inputs)
        if isinstance(each, CardDrawn) and each.card is not None
    ]
    index, card = data.draw(st.sampled_from(drawn))
    named = {found.decode() for each in script.inputs for found in CARD_NAME.findall(write(each))}
    free = [each for each in MANNERS.get(script.game, Manners()).pack if each not in named]
    if not free:
        return
    instead = twin(card, data.draw(st.sampled_from(free)))
    one, other = (ScreenWorld(script.game, script.decree, script.settings) for _ in range(2))
    for each in script.inputs[:index]:
        assert one.take(each) == other.take(each)
    before = msgspec.json.encode(one.table.snapshot())
    hidden = World(script.game, script.decree, script.settings, before).table
    if hidden.handle(card, "now", 0).confidential and hidden.handle(instead, "now", 0).confidential:
        compare(one, other, card, instead, list(script.inputs[index + 1 :]))
