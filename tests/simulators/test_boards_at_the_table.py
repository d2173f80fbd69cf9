"""Hours at tables that their boards run, with faults and silences of every length: no result is
wrong, reported twice or lost.
"""

from __future__ import annotations

from itertools import pairwise
from random import Random
from typing import Any

import msgspec
import pytest

from common.contract.events import (
    AnyEvent,
    Irregularity,
    RoundResult,
    RoundUnresolved,
    RoundVoid,
)
from common.contract.notation import Input, read_input
from common.contract.refusals import RejectedError
from common.readings import LinkStale, LinkUp
from controller.games.games import make_game
from simulators.board import Scene
from simulators.dice.dice import DiceReader
from simulators.wheel.boule import BoulePlate
from simulators.wheel.fortune import SimulatedFortuneWheel
from tests.support.devices.board_pens import make
from tests.support.games.outcomes import outcome_of, shown

STALE = 5.0
"""Seconds without a word that count as silence."""


class Plate(BoulePlate):
    """``truth``: when each ball had come to lie, and in which hole; None where in none."""

    truth: list[tuple[float, Any]]

    def _come_to_rest(self, hole: int) -> Scene:
        astray = bool(self._armed["ball_out"] or self._armed["between_holes"])
        yield from super()._come_to_rest(hole)
        self.truth.append((self.time, None if astray else hole))


class Wheel(SimulatedFortuneWheel):
    """``truth``: when the wheel stopped, and in which cell; 0: on a pin."""

    truth: list[tuple[float, Any]]

    def _fall_back(self) -> Scene:
        yield from super()._fall_back()
        self.truth.append((self.time, 0 if self._armed["on_pin"] else self._cell))


class Reader(DiceReader):
    """``truth``: when the dice lay, and what they showed."""

    truth: list[tuple[float, Any]]

    def _throw(self) -> Scene:
        yield from super()._throw()
        self.truth.append(
            (self.time, tuple(int(die[0]) if die[0].isdigit() else None for die in self._seen))
        )


BOARDS: dict[str, tuple[Any, int, str, str, dict[str, str], tuple[str, ...]]] = {
    "boule": (
        Plate,
        90,
        "boule",
        "BAL05",
        {"phases": "device"},
        ("ball_out", "between_holes", "flicker", "stuck_sensor", "blind_sensor"),
    ),
    "fortune": (
        Wheel,
        90,
        "fortune-wheel",
        "EUS96",
        {"phases": "device"},
        ("weak_push", "encoder", "on_pin", "turned_back"),
    ),
    "dice": (
        Reader,
        150,
        "craps",
        "GAL07",
        {"rounds": "dice", "serials": "unwatched", "shooter": "unwatched"},
        ("unreadable", "cocked", "die_missing", "die_extra", "unmoved", "reader"),
    ),
}
"""Kind -> the simulator, its rounds an hour, the game, the decree, the table's settings, the
faults.
"""


class Table:
    """A board, the line between, the codec and the table, and people who look now and then."""

    def __init__(self, kind: str, seed: int) -> None:
        simulator, pace, game, decree, settings, self.faults = BOARDS[kind]
        self.chance = Random(f"{kind} {seed}")
        self.board = simulator(seed, pace)
        self.board.truth = []
        self.codec = make(f"{kind}-board")
        self.game: Any = make_game(game, decree, settings)
        self.state = self.game.begin()
        self.events: list[tuple[float, AnyEvent]] = []
        self.now, self.heard, self.stale = 0.0, 0.0, False
        self.trouble, self.until = "", 0.0
        self.held = b""
        self.say("session.open", minimum=500)

    def take(self, given: Input) -> None:
        try:
            self.state, events = self.game.step(self.state, given)
        except RejectedError:
            return
        self.events += [(self.now, event) for event in events]

    def say(self, kind: str, **fields: Any) -> None:
        self.take(
            read_input(
                msgspec.json.encode(
                    {"at": self.now, "type": kind, "by": "M. Lasa", "role": "table_head", **fields}
                )
            )
        )

    def hear(self, data: bytes) -> None:
        if self.stale:
            self.take(LinkUp(at=self.now, device="board"))
        self.heard, self.stale = self.now, False
        for reading in self.codec.feed(data, self.now):
            self.take(reading)

    def play(self, hours: float) -> None:
        while self.now < hours * 3600:
            self.now += 0.05
            for _, line in self.board.advance(self.now):
                if self.trouble == "held":
                    self.held += line
                elif not self.trouble:
                    self.hear(line if self.chance.random() > 0.002 else line[:5] + b"X" + line[6:])
            self._trouble()
            if not self.stale and self.now - self.heard > STALE:
                self.stale = True
                self.take(LinkStale(at=self.now, device="board", age=STALE))
            if self.chance.random() < 0.004:
                self._decide()

    def _trouble(self) -> None:
        chance = self.chance
        if chance.random() < 0.0004:
            self.board.fault(
                chance.choice((*self.faults, "restart", "lost_report")),
                chance.choice([1.0, 3.0, 8.0]),
                self.now,
            )
        if not self.trouble and chance.random() < 0.0006:
            self.trouble, self.until = (
                chance.choice(["held", "held", "lost"]),
                self.now + chance.choice([0.5, 0.9, 1.5, 3, 6, 10, 20]),
            )
        elif self.trouble and self.now >= self.until:
            held, self.held, self.trouble = self.held, b"", ""
            if held:
                self.hear(held)

    def _decide(self) -> None:
        told = shown(self.game, self.state)
        for number in told["unresolved"] or ([None] if told["asks"] else []):
            self.say("round.void", reason="inspector", round=number)


def told(kind: str, event: RoundResult) -> Any:
    field = {"boule": "number", "fortune": "cell", "dice": "dice"}[kind]
    return getattr(outcome_of(event), field)


def true(kind: str, value: Any) -> Any:
    return (value - 1) % 9 + 1 if kind == "boule" and value else value


@pytest.mark.parametrize("seed", [1, 2, 3])
@pytest.mark.parametrize("kind", BOARDS)
def test_no_result_is_wrong_reported_twice_or_lost(kind: str, seed: int) -> None:
    table = Table(kind, seed)
    table.play(1.5)
    truth: list[tuple[float, Any]] = table.board.truth
    results: dict[int, RoundResult] = {}
    for at, event in table.events:
        if isinstance(event, RoundResult) and not event.confirmed_by:
            last = sum(lay <= at for lay, _ in truth) - 1
            assert told(kind, event) == true(kind, truth[last][1]), (at, event)
            assert last not in results, (at, event)
            results[last] = event
    assert len(results) > len(truth) / 2
    for number, ((lay, _), (following, _)) in enumerate(pairwise(truth)):
        until = following + 25  # where a silence hid it whole, the round after waits for a person
        said = [
            e
            for at, e in table.events
            if lay - 12 <= at < until and isinstance(e, RoundUnresolved | Irregularity | RoundVoid)
        ]
        assert said or number in results, (lay, truth[number])
