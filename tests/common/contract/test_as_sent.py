"""What the schemas require is in every message: all scripts are played, and what their tables
publish is held against the schemas.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from typing import Any

import msgspec
import pytest
from jsonschema import Draft202012Validator, ValidationError

from common.contract.schemas import EVENT_NAMES
from tests.support import contract
from tests.support.games import scripts
from tests.support.subscribers.played import Play, wild

TOPICS = {"info": "Info", "state": "State", "history": "History", "shoe": "ShoeTopic"}
GAMES_BY_CHANCE = (("roulette-french", "ARA02"), ("blackjack", "BAL05"), ("craps", "EUS96"))
PARTS = {name: event.__name__ for event, name in EVENT_NAMES.items()}


@cache
def validator(family: str, part: str) -> Draft202012Validator:
    schema = contract.schema(family)
    return Draft202012Validator({"$ref": f"#/$defs/{part}", "$defs": schema["$defs"]})


class Published:
    """One message of each shape that was published: by type and the fields that it has."""

    def __init__(self) -> None:
        self.shapes: dict[tuple[str, str, frozenset[str]], Any] = {}

    def daemon(self, boot: str) -> None:
        pass

    def retained(self, bodies: dict[str, bytes | None]) -> None:
        for leaf, body in bodies.items():
            found = None if body is None else msgspec.json.decode(body)
            if found is not None:
                part = PARTS[found["type"]] if leaf == "result" else TOPICS.get(leaf, "Alert")
                self._add("retained", part, found)

    def event(self, body: bytes) -> None:
        found = msgspec.json.decode(body)
        for family in ("events", "replies"):
            self._add(family, PARTS[found["type"]], found)

    def _add(self, family: str, part: str, found: dict[str, Any]) -> None:
        self.shapes.setdefault((family, part, frozenset(found)), found)


@pytest.fixture(scope="module")
def published() -> Published:
    found = Published()
    for name in sorted(scripts.scripts()):
        script = scripts.read(name)
        play = Play(script.game, script.decree, script.settings, others=(found,))
        for given in script.inputs:
            play.take(given)
    return found


def refused(found: Published) -> Iterator[tuple[str, str, str]]:
    for (family, part, _), body in found.shapes.items():
        try:
            validator(family, part).validate(body)
        except ValidationError as error:
            yield family, part, error.message


def test_every_published_message_has_what_its_schema_requires(published: Published) -> None:
    assert list(refused(published)) == []
    assert len(published.shapes) > 200


@pytest.mark.parametrize(("game", "decree"), GAMES_BY_CHANCE)
def test_so_has_play_by_chance(game: str, decree: str) -> None:
    found = Published()
    for play in wild(game, decree, "as sent", noise=0.3, count=400):
        found.retained(play.table.retained())
    assert list(refused(found)) == []


def test_each_required_field_can_be_missed(published: Published) -> None:
    """A message without a field of its round is refused in each place that has it."""
    results = [
        (family, body)
        for (family, part, _), body in published.shapes.items()
        if part == "RoundResult"
    ]
    assert {family for family, _ in results} == {"events", "replies", "retained"}
    for family, body in results:
        for field in ("boot", "seq", "time", "session", "round", "outcome"):
            without = {name: value for name, value in body.items() if name != field}
            assert not validator(family, "RoundResult").is_valid(without), field
