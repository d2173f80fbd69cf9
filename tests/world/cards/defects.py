"""Defects of the daemon, for the checkers of tables with cards to find."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import pytest
from msgspec.structs import replace

import controller.games.punto_banca.course
from common.confidential.boxes import CardCipher
from common.contract.commands import CardsTurn
from common.contract.events import CardDealt
from common.readings import AnyReading, CardDrawn, LinkUp
from controller.games.baccarat import points
from controller.tables.runner import TableRunner
from controller.tables.table import InputResult, Table
from devices.pace import HandPace
from devices.profiles.losses import LossTracker
from devices.reader import LinkReader


def card_in_an_event(patch: pytest.MonkeyPatch) -> None:
    """The event of a face-down card has its value in another field."""
    handle = Table.handle

    def revealing(table: Table, item: Any, time: str, mono_ns: int) -> InputResult:
        result = handle(table, item, time, mono_ns)
        events = [
            replace(event, was=item.card)
            if isinstance(event, CardDealt) and isinstance(item, CardDrawn)
            else event
            for event in result.events
        ]
        return result._replace(events=events)

    patch.setattr(Table, "handle", revealing)


def card_in_the_log(patch: pytest.MonkeyPatch) -> None:
    """What a table gets is logged."""
    on_readings = TableRunner.on_readings

    def logging(runner: TableRunner, readings: Sequence[AnyReading], **more: Any) -> None:
        runner._log.info("readings", readings=readings)
        on_readings(runner, readings, **more)

    patch.setattr(TableRunner, "on_readings", logging)


def input_in_clear(patch: pytest.MonkeyPatch) -> None:
    """A face-down card is stored as any other."""
    patch.setattr(Table, "_is_confidential", lambda *_: False)


def state_in_clear(patch: pytest.MonkeyPatch) -> None:
    """The state of a table is stored as it is."""
    patch.setattr(CardCipher, "lock", lambda _cipher, body: body)


def card_taken_twice(patch: pytest.MonkeyPatch) -> None:
    """The first card after a connection counts twice."""
    on_readings = TableRunner.on_readings
    connected: set[int] = set()

    def repeating(runner: TableRunner, readings: Sequence[AnyReading], **more: Any) -> None:
        on_readings(runner, readings, **more)
        if any(isinstance(reading, LinkUp) for reading in readings):
            connected.add(id(runner))
        cards = [reading for reading in readings if isinstance(reading, CardDrawn)]
        if cards and id(runner) in connected:
            connected.discard(id(runner))
            on_readings(runner, cards, **more)

    patch.setattr(TableRunner, "on_readings", repeating)


def late_card_counts_as_live(patch: pytest.MonkeyPatch) -> None:
    """Nobody asks how long a card has waited."""
    patch.setattr(LinkReader, "_waited", lambda _: 0.0)
    patch.setattr(HandPace, "is_late", lambda *_args, **_more: False)


def damaged_card_is_dropped(patch: pytest.MonkeyPatch) -> None:
    """What no message of a profile describes is no gap."""
    patch.setattr(LossTracker, "on_loss", lambda *_: [])


def copies_turn_any_card(patch: pytest.MonkeyPatch) -> None:
    """Nobody looks which cards a command has turned."""
    handle = Table.handle

    def careless(table: Table, item: Any, time: str, mono_ns: int) -> InputResult:
        if isinstance(item, CardsTurn):
            item = replace(item, round=None, count=None)
        return handle(table, item, time, mono_ns)

    patch.setattr(Table, "handle", careless)


def bank_wins_ties(patch: pytest.MonkeyPatch) -> None:
    """A tie is the bank's at punto y banca."""

    def winner(player: tuple[str, ...], banker: tuple[str, ...]) -> str:
        return "player" if points(player) > points(banker) else "banker"

    patch.setattr(controller.games.punto_banca.course, "winner_of", winner)


DEFECTS: tuple[Callable[[pytest.MonkeyPatch], None], ...] = (
    card_in_an_event,
    card_in_the_log,
    input_in_clear,
    state_in_clear,
    card_taken_twice,
    late_card_counts_as_live,
    copies_turn_any_card,
    bank_wins_ties,
)
