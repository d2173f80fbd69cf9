"""Two worlds that differ in one unseen card: a receiver gets the same requests."""

from __future__ import annotations

import random
import re
from typing import Any

import msgspec
import pytest

from common.contract.notation import Input
from common.readings import CardDrawn
from subscribers.feed.event_intake import EventIntake
from subscribers.webhooks.routing import letters_for
from subscribers.webhooks.settings import WebhookSettings
from tests.controller.confidential.test_two_worlds import (
    GAMES,
    SEEDS,
    Evening,
    Settings,
    World,
    compare,
    twin,
)

SEQ = re.compile(rb'"seq":(\d+),')
CARDS = 3
"""Cards of a table's evenings in whose place another is put."""
SHOP = WebhookSettings(id="shop", address="http://shop.example/", secret_file="key")


class Up:
    """A connection that is up, and sends nothing."""

    up = True

    def send(self, topic: str, body: bytes) -> None:
        pass


class WebhookWorld(World):
    """One table, and all that a receiver is sent of it."""

    def __init__(
        self, game_id: str, decree: str, settings: Settings, saved: bytes | None = None
    ) -> None:
        super().__init__(game_id, decree, settings, saved)
        self._begin()

    def _begin(self) -> None:
        """The service starts with the daemon, and follows its run."""
        connection: Any = Up()
        self._intake = EventIntake(
            "casino", connection, followed={}, client="webhooks", signer=None
        )
        self._last = 0

    def take(self, given: Input | None) -> tuple[list[bytes], set[str]]:
        """The requests after a step, and the cards in the step's events."""
        if given is None:
            self._begin()
        lines, told = super().take(given)
        new = []
        for line in lines:
            found = SEQ.search(line) if line.startswith(b'{"type":') else None
            if found is not None and int(found[1]) == self._last + 1:  # no retained result
                self._last += 1
                new.append(line)
        for line in new:
            self._intake.on_message("novamas/v1/casino/t1/event", line, False)
        letters = [letter for item in self._intake.pending for letter in letters_for(item, (SHOP,))]
        self._intake.pending.clear()
        assert [letter.body for letter in letters] == new
        return [lines[0] if lines else b"", *map(msgspec.json.encode, letters)], told


@pytest.mark.parametrize(("game_id", "decree", "settings"), GAMES)
def test_a_receiver_cannot_distinguish_two_worlds(
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
        one, other = (WebhookWorld(game_id, decree, settings, saved) for _ in range(2))
        instead = twin(drawn, chance.choice(others))
        following = [each for _, each in evening.course[step + 1 :]]
        compared += compare(one, other, drawn, instead, following)
    assert compared, "no card lay face down: the test plays badly"
