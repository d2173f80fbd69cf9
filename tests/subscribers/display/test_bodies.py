"""Every card game has a picture at every step, whatever happens at the table."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any

import pytest

from tests.conftest import cases
from tests.controller.games.test_every_input import DEALT
from tests.support.games import scripts
from tests.support.subscribers.played import Play, every_language, script, wild

CARD_GAMES = [
    name
    for name in sorted(scripts.scripts())
    if name.split("/")[0] not in ("roulette", "boule", "craps", "fortune-wheel")
]
STEPS = 160
EACH = cases(4, 1)
"""One in this number of pictures is checked in every language."""


def turns_a_card(name: str) -> bool:
    """Return whether an event of a script names a card of a hand or of the board."""
    for line in (scripts.SCRIPTS / f"{name}.events").read_text().splitlines():
        event = json.loads(line)
        if event.get("type") in ("card.dealt", "card.turned") and event["to"] != "burn":
            if event.get("card") is not None:
                return True
        elif event.get("type") == "round.result" and re.search(r'"[2-9TJQKA][cdhs]"', line):
            return True
    return False


def hands(body: Any) -> Iterator[dict[str, Any]]:
    """All hands of a body, wherever they are."""
    if isinstance(body, dict):
        if "cards" in body:
            yield body
        for each in body.values():
            yield from hands(each)
    elif isinstance(body, list):
        for each in body:
            yield from hands(each)


def face_up(play: Play) -> set[str]:
    """The cards that the body draws face up, as on the wire."""
    body = play.screen.picture()["body"]
    return {
        "X" if card["suit"] is None else card["rank"].replace("10", "T") + card["suit"]
        for hand in hands(body)
        for card in (*hand["cards"], *hand.get("low", ()))
        if card["rank"] is not None
    }


def raw(text: str) -> bool:
    """Whether it is an untranslated word on the wire."""
    return "_" in text or ":" in text.split(" ")[0].rstrip(":")


def check(play: Play) -> None:
    """What holds of every picture."""
    pictures = every_language(play)
    for language, told in pictures.items():
        body = told["body"]
        assert body is not None, told["view"]
        ended = body["finish"]["ended"]
        playing = ended is None
        for hand in hands(body):
            assert hand["name"]
            assert not raw(hand["name"]), (language, hand)
            assert playing or ended["kind"] == "result" or not hand["cards"]
            assert hand["outcome"] is None or not playing
            assert all(card["label"] for card in hand["cards"])
        if ended is not None and ended["kind"] != "result":
            assert ended["winner"] is None
    shapes = {str(shape(told["body"])) for told in pictures.values()}
    assert len(shapes) == 1, "only texts differ from language to language"


def shape(body: Any) -> Any:
    if isinstance(body, dict):
        return {key: shape(each) for key, each in body.items()}
    if isinstance(body, list):
        return [shape(each) for each in body]
    return type(body).__name__


@pytest.mark.parametrize("name", CARD_GAMES)
def test_every_step_of_every_script_has_a_picture(name: str) -> None:
    drawn = 0
    for play in script(name):
        check(play)
        drawn += len(face_up(play)) > 0
    assert (drawn > 0) == turns_a_card(name)


@pytest.mark.parametrize("noise", [0.02, 0.3])
@pytest.mark.parametrize(("game", "decree"), DEALT)
def test_every_game_of_every_decree_has_a_picture_in_every_state(
    game: str, decree: str, noise: float
) -> None:
    phases = set()
    for step, play in enumerate(wild(game, decree, "display", noise, STEPS)):
        if step % EACH == 0:
            check(play)
        phases.add(play.screen.picture()["phase"]["id"])
    assert len(phases) > 1
