"""``python -m tests.support.chaos.linked_daemon PLAY run CONFIG``: ``novamas run``, whose coins,
cards and croupiers are in the same process.

Only the serial line and the command's way over the broker are left out: the daemon hands each table
the readings and commands of :mod:`tests.support.chaos.poker_script`, and everything behind that is
its own: games, journal, publisher, recalls, the standing of the jackpot, restarts.

``PLAY`` is a file with :class:`Play`, which may be replaced at any time.
"""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from random import Random
from typing import Any

import msgspec

from common import clock
from common.contract.refusals import RejectedError
from common.readings import CardDrawn, SlotCoin
from controller.cli import main
from controller.configuration.settings import BrokerConfig
from controller.service import daemon
from controller.tables.runner import TableRunner
from tests.support.chaos.poker_script import BOXES, DEALER, Script, script
from tests.support.games.play import make_command

CHUNK = 12
"""Coins in one report of a board."""
FULL = 400
"""Inputs pending on the disk at which play pauses."""
STAKE = 100
LOOK = 0.1
"""Seconds between two looks at the file."""


class Play(msgspec.Struct, frozen=True):
    """How it is played. ``hits``: the part of the rounds in which something is won; ``coins``: the
    most of a box; ``pause``: seconds between two chunks of a table; ``ahead``: by how many seconds
    the clock of this daemon is ahead; ``on``: a new round may begin; ``calm``: no hits.
    """

    seed: int
    hits: float
    coins: dict[str, int]
    pause: float = 0.0
    ahead: float = 0.0
    on: bool = True
    calm: bool = False


class Clock:
    """The daemon's clock, as far ahead as the file says."""

    def __init__(self, path: Path) -> None:
        self._path, self._true = path, clock.wall
        self.play = self.read()
        clock.wall = lambda: self._true() + self.play.ahead

    def read(self) -> Play:
        return msgspec.json.decode(self._path.read_bytes(), type=Play)

    async def follow(self) -> None:
        """Look at the file again and again."""
        while True:
            await asyncio.sleep(LOOK)
            self.play = self.read()


class Croupier:
    """Plays one table."""

    def __init__(self, runner: TableRunner, clock: Clock, journal: Any) -> None:
        self._runner, self._clock, self._journal = runner, clock, journal
        self._round = 0
        """The round that was opened since the start."""
        self._coins: Iterator[list[SlotCoin]] = iter(())
        self._script: Script | None = None
        self._rest: Iterator[str] = iter(())
        self._chance = Random()

    async def run(self) -> None:
        while True:
            await asyncio.sleep(self._clock.play.pause or 0.001)
            if self._journal.waiting > FULL:
                continue
            shown = msgspec.json.decode(self._runner.table.retained()["state"] or b"{}")["shown"]
            try:
                await self._step(shown)
            except RejectedError as no:
                sys.stderr.write(f"{self._runner.table.id}: {no}\n")
                await asyncio.sleep(0.2)

    async def _step(self, shown: dict[str, Any]) -> None:
        phase = shown["phase"]
        if phase == "closed":
            await self._say("session.open", minimum=500, currency="EUR")
        elif shown["unresolved"]:
            await self._void(shown["unresolved"][0])
        elif phase == "waiting":
            await self._begin(shown)
        elif shown["round"] != self._round or self._script is None:
            await self._void(shown["round"])
        else:
            await self._play(phase, shown, self._script)

    async def _begin(self, shown: dict[str, Any]) -> None:
        standing = shown.get("jackpot_standing") or {}
        if not self._clock.play.on or (
            standing.get("in_play") is False and self._chance.random() < 0.95
        ):
            await asyncio.sleep(0.1)
            return
        await self._say("bets.open")
        await self._say("boxes.set", boxes=list(range(1, BOXES + 1)))
        table, play = self._runner.table, self._clock.play
        shown = msgspec.json.decode(table.retained()["state"] or b"{}")["shown"]
        self._round = shown["round"]
        self._script = script(
            play.seed,
            table.id,
            table.decree,
            shown["session"],
            self._round,
            hits=play.hits,
            coins=play.coins[table.decree],
        )
        self._coins, self._rest = self._chunks(self._script), iter(self._script.rest)

    def _chunks(self, dealt: Script) -> Iterator[list[SlotCoin]]:
        boxes = [int(box[4:]) for box, count in dealt.coins.items() for _ in range(count)]
        Random(len(boxes)).shuffle(boxes)
        for start in range(0, len(boxes), CHUNK):
            yield [
                SlotCoin(at=self._runner.clock(), device="slots", box=box, amount=STAKE)
                for box in boxes[start : start + CHUNK]
            ]

    async def _play(self, phase: str, shown: dict[str, Any], dealt: Script) -> None:
        names = [*dealt.coins]
        if phase == "bets_open":
            coins = next(self._coins, None)
            if coins is None:
                await self._say("bets.close")
            else:
                self._runner.on_readings(coins)
        elif phase == "dealing":
            order = [*names, DEALER]
            self._draw([dealt.dealt(who)[n] for n in range(5) for who in order])
        elif phase == "decisions":
            won = any(map(bool, dealt.made(set(names), corrected=False)))
            if dealt.void or (won and self._clock.play.calm):
                await self._void(shown["round"])
            else:
                await self._all([("hand.act", {"who": who, "action": "go"}) for who in names])
        elif phase == "discards":
            await self._all(
                [
                    (
                        "hand.act",
                        {"who": who, "action": "discard", "count": int(who in dealt.first)},
                    )
                    for who in names
                ]
            )
        elif phase == "drawing":
            who = shown["expected"]
            self._draw([dealt.hands[who][4] if who in dealt.first else next(self._rest)])
        elif phase == "dealer" and shown["expected"] == DEALER:
            self._draw([next(self._rest)])
        elif phase == "dealer":
            await self._say("cards.turn", who=DEALER)
        elif phase == "showdown":
            await self._end(shown, dealt)
        else:
            await self._void(shown["round"])

    async def _end(self, shown: dict[str, Any], dealt: Script) -> None:
        """The hands are shown; if one was reported wrongly, the head of the table corrects it
        before any other input of this process.
        """
        unseen = next((who for who in dealt.first if None in shown["hands"][who]["cards"]), None)
        if unseen is not None and "cards.show" in shown["asks"]:
            await self._say("cards.show", who=unseen, cards=dealt.hands[unseen])
            return
        right = {box: cards for box, cards in dealt.right.items() if dealt.coins[box]}
        said_right = {"round": shown["round"], "hands": right}
        await self._all([("cards.turn", {}), *([("result.correct", said_right)] if right else [])])

    def _draw(self, cards: list[str]) -> None:
        at = self._runner.clock()
        self._runner.on_readings(
            [CardDrawn(at=at, device="shoe", frame=card, card=card) for card in cards]
        )

    async def _void(self, number: int) -> None:
        await self._say("round.void", reason="inspector", round=number)

    async def _say(self, name: str, **fields: Any) -> None:
        await self._all([(name, fields)])

    async def _all(self, orders: list[tuple[str, dict[str, Any]]]) -> None:
        """Commands in one breath: they are stored together, or none is."""
        given = [make_command(name, self._runner.clock(), **fields) for name, fields in orders]
        told = await asyncio.gather(
            *(self._runner.execute(each) for each in given),  # type: ignore[arg-type]
            return_exceptions=True,
        )
        for each in told:
            if isinstance(each, BaseException):
                raise each


class PlayedDaemon(daemon.Daemon):
    """The daemon, with people at its tables."""

    async def _serve(self, broker: BrokerConfig, stop: asyncio.Event) -> None:
        clock = CLOCK[0]
        croupiers = [
            Croupier(place.runner, clock, self._journal) for place in self._places.values()
        ]
        playing = [
            asyncio.create_task(each) for each in (clock.follow(), *(c.run() for c in croupiers))
        ]
        for task in playing:
            task.add_done_callback(_died)
        try:
            await super()._serve(broker, stop)
        finally:
            for task in playing:
                task.cancel()


def _died(task: asyncio.Task[None]) -> None:
    with suppress(asyncio.CancelledError):
        if (error := task.exception()) is not None:
            sys.stderr.write(f"a croupier ended: {error!r}\n")


CLOCK: list[Clock] = []

if __name__ == "__main__":
    CLOCK.append(Clock(Path(sys.argv.pop(1))))
    daemon.Daemon = PlayedDaemon  # type: ignore[misc]
    sys.exit(main())
