"""A real table with its messages at the broker, as received by a display, game by game."""

from __future__ import annotations

import contextlib
from collections.abc import Iterable, Iterator
from typing import Any

import msgspec

from common.contract.commands import BetsClose, BetsOpen, SessionOpen
from common.contract.notation import Input, write
from common.contract.refusals import RejectedError
from common.contract.retained import About
from common.contract.times import format_utc
from common.readings import WheelNumber
from controller.games.games import make_game
from controller.rulebooks.rulebook import rulebook
from controller.tables.table import Table
from subscribers.display.picture import Picture, table_picture
from subscribers.display.rounds import EndingEvent, PlayedRound, merge_rounds, round_from_event
from subscribers.feed.table_snapshot import Outdated, TableSnapshot, fold
from tests.support.games import scripts

Message = tuple[str, bytes | None]
"""The last level of the topic, and the body."""


class RealTable:
    """A table of a game, and its retained messages. ``known`` and ``rounds``: what a display has
    made of that.
    """

    def __init__(
        self,
        game: str,
        decree: str,
        settings: dict[str, Any] | None = None,
        name: str = "table-1",
        boot: str = "b1",
    ) -> None:
        page = getattr(rulebook(decree), game.replace("-", "_"))
        self.table = Table(
            site="casino-mayor",
            id=name,
            game_id=game,
            decree=decree,
            game=make_game(game, decree, settings or {}),
            boot=boot,
            about=About(title=page.title, languages=rulebook(decree).languages),
        )
        self.known = TableSnapshot(table=name)
        self.rounds: tuple[PlayedRound, ...] = ()
        self._said: dict[str, bytes | None] = {}

    def hear(self, given: Input) -> list[Message]:
        """What an input makes it say, in the order of the wire; nothing where it is refused."""
        try:
            taken = self.table.handle(given, format_utc(given.at), round(given.at * 1e9))
        except RejectedError:
            return []
        messages: list[Message] = [("event", write(event)) for event in taken.events]
        retained = self.table.retained()
        messages += [each for each in retained.items() if self._said.get(each[0]) != each[1]]
        self._said.update(retained)
        for leaf, body in messages:
            self.tell(leaf, body or b"")
        return messages

    def tell(self, leaf: str, body: bytes) -> None:
        """Deliver this to a display of the table."""
        self.known = fold(self.known, leaf, body, "2026-03-20T02:10:16.215319Z")
        if leaf == "event":
            with contextlib.suppress(msgspec.ValidationError):
                ending = round_from_event(msgspec.json.decode(body, type=EndingEvent))
                self.rounds = merge_rounds(self.rounds, [] if ending is None else [ending])

    def shown(self, language: str | None = None, outdated: Outdated | None = None) -> Picture:
        """Its picture now."""
        return table_picture(self.known, self.rounds, outdated, language)


def scripted(name: str) -> Iterator[RealTable]:
    """The table of a script, after each of its inputs."""
    script = scripts.read(name)
    table = RealTable(script.game, script.decree, script.settings)
    for given in script.inputs:
        table.hear(given)
        yield table


def after(name: str) -> RealTable:
    """The table of a script at its end."""
    *_, table = scripted(name)
    return table


def spun(numbers: Iterable[int], decree: str = "ARA02") -> RealTable:
    """A roulette on which these numbers came, whose croupier opens and closes bets."""
    table = RealTable("roulette-french", decree, {"phases": "person"}, name="ruleta-1")
    for given in spins(numbers):
        table.hear(given)
    return table


def spins(numbers: Iterable[int]) -> Iterator[Input]:
    """The inputs and readings for these numbers."""
    who: dict[str, Any] = {"by": "M. Lasa", "role": "table_head"}
    yield SessionOpen(at=0.0, minimum=500, currency="EUR", **who)
    for spin, number in enumerate(numbers, 1):
        yield BetsOpen(at=spin * 50.0, **who)
        yield BetsClose(at=spin * 50.0 + 20.0, **who)
        yield WheelNumber(
            at=spin * 50.0 + 40.0, device="wheel", number=number, spin=spin, witness="both"
        )
