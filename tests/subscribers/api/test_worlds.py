"""Two worlds that differ in one unseen card: a program that reads over HTTP gets the same bytes."""

from __future__ import annotations

import random

import msgspec
import pytest

from common.contract.notation import Input
from common.contract.topics import Topics
from common.readings import CardDrawn
from subscribers.api.bodies import history_body, table_body
from subscribers.api.event_log import LoggedEvent, NewEvent
from subscribers.api.event_service import EventService
from subscribers.api.frames import frame
from subscribers.api.settings import ApiSettings
from subscribers.feed.connection import ServiceConnection
from subscribers.feed.tables import BrokerLogin
from tests.controller.confidential.test_two_worlds import (
    GAMES,
    SEEDS,
    Evening,
    Settings,
    World,
    compare,
    twin,
)
from tests.support.subscribers.played import ID, Screen

CARDS = 3
"""Cards of a table's evenings in whose place another is put."""
TOPICS = Topics("casino")


class ApiWorld(World):
    """One table, and all that a program is sent of it: its resources and its streams."""

    def __init__(
        self, game_id: str, decree: str, settings: Settings, saved: bytes | None = None
    ) -> None:
        super().__init__(game_id, decree, settings, saved)
        self._screen = Screen()
        self._screen.daemon(self.table.boot)
        self._position = 0

    def take(self, given: Input | None) -> tuple[list[bytes], set[str]]:
        """The bytes of each answer after a step, and the cards in the step's events."""
        lines, told = super().take(given)
        self._screen.daemon(self.table.boot)
        sent = []
        for line in lines:
            if line.startswith(b'{"type":'):
                self._screen.event(line)
                sent += self._frames(line)
        self._screen.retained(self.table.retained())
        floor = self._screen.floor
        bodies = (table_body(floor, ID), history_body(floor, ID))
        return [lines[0] if lines else b"", *sent, *map(msgspec.json.encode, bodies)], told

    def _frames(self, body: bytes) -> list[bytes]:
        """A message of each kind of stream."""
        self._position += 1
        event = LoggedEvent(self._position, NewEvent(ID, "b", self._position, "x", body), None)
        return [
            frame(event, TOPICS, form, merged=merged, late=late)
            for form in ("json", "cloudevents")
            for merged in (False, True)
            for late in (False, True)
        ]


@pytest.mark.parametrize(("game_id", "decree", "settings"), GAMES)
def test_a_program_cannot_distinguish_two_worlds(
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
        one, other = (ApiWorld(game_id, decree, settings, saved) for _ in range(2))
        instead = twin(drawn, chance.choice(others))
        following = [each for _, each in evening.course[step + 1 :]]
        compared += compare(one, other, drawn, instead, following)
    assert compared, "no card lay face down: the test plays badly"


def test_it_never_subscribes_to_sealed_cards(
    tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch
) -> None:
    topics: list[str] = []
    monkeypatch.setattr(ServiceConnection, "listen", lambda _, topic: topics.append(topic))
    service = EventService(
        ApiSettings(tokens="tokens.jsonl"),
        BrokerLogin(url="mqtt://127.0.0.1:1", username="web"),
        {"r1": TOPICS},
        tmp_path_factory.mktemp("log"),
    )
    service.log.close()
    leaves = {topic.split("/", 4)[-1] for topic in topics}
    assert leaves == {"event", "state", "reply/web"}
