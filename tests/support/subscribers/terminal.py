"""The terminal as it gets the messages of tables in play, without broker or terminal."""

from __future__ import annotations

from io import StringIO
from typing import Any

import msgspec
from rich.console import Console, RenderableType
from rich.segment import Segment

from common.readings import LinkLost, WheelNumber
from subscribers.feed.tables import ConnectionChange, FeedMessage
from subscribers.terminal.display import WatchedTables
from subscribers.terminal.screen import draw
from subscribers.terminal.table import TerminalTable
from tests.support.games import scripts
from tests.support.subscribers.played import BY, ID, Play

Size = tuple[int, int]
"""Columns and lines."""


class TerminalScreen:
    """A terminal that shows one table."""

    def __init__(self, language: str | None = "en", table: str = ID) -> None:
        self.watch = WatchedTables([table], language=language)
        self._table = table
        self._retained: dict[str, bytes | None] = {}
        self.link(ConnectionChange(up=True))

    def link(self, change: ConnectionChange) -> None:
        self.watch.on_message(change)

    def daemon(self, boot: str, status: str = "online") -> None:
        body = msgspec.json.encode({"status": status, "boot": boot})
        self.watch.on_message(FeedMessage("node/n1/status", body))

    def event(self, body: bytes) -> None:
        self.watch.on_message(FeedMessage("event", body, self._table))

    def publish(self, leaf: str, body: Any) -> None:
        """A retained topic; None clears it."""
        encoded = b"" if body is None else msgspec.json.encode(body)
        self.watch.on_message(FeedMessage(leaf, encoded, self._table))

    def retained(self, bodies: dict[str, bytes | None]) -> None:
        """What changed of these comes in, as the publisher sends it."""
        for leaf, body in bodies.items():
            if self._retained.get(leaf, b"") != body:
                self._retained[leaf] = body
                self.watch.on_message(FeedMessage(leaf, body or b"", self._table))

    def state(self) -> Any:
        """The last state of the table, to be changed and published again."""
        return msgspec.json.decode(self._retained["state"] or b"")

    @property
    def table(self) -> TerminalTable:
        [shown] = self.watch.drawn_tables()
        return shown

    def drawn(self, size: Size = (80, 24)) -> str:
        return drawn(draw(self.table, size[0]), size)

    def segments(self, size: Size = (80, 24)) -> list[Segment]:
        console = Console(width=size[0], height=size[1], file=StringIO(), force_terminal=True)
        options = console.options.update(height=size[1])
        return list(console.render(draw(self.table, size[0]), options))


def drawn(picture: RenderableType, size: Size) -> str:
    """The text of a picture, which fits."""
    width, height = size
    console = Console(width=width, height=height, file=StringIO(), force_terminal=True, record=True)
    console.print(picture, height=height)
    text = console.export_text()
    lines = text.rstrip("\n").split("\n")
    assert len(lines) <= height
    assert all(len(line) <= width for line in lines)
    return text


def on_terminal(
    game: str, decree: str, settings: dict[str, Any] | None = None, language: str | None = "en"
) -> tuple[Play, TerminalScreen]:
    """A table, and a terminal that gets its messages."""
    screen = TerminalScreen(language)
    return Play(game, decree, settings, others=(screen,)), screen


def spin(play: Play, number: int) -> None:
    """A round of roulette with this number."""
    play.say("bets.open", **BY)
    play.say("bets.close", **BY)
    play._at += 1.0
    count = int(play._at)
    reading = WheelNumber(at=play._at, device="wheel", number=number, spin=count, witness="both")
    assert play.take(reading)


def roulette(language: str | None = "en") -> tuple[Play, TerminalScreen]:
    """A roulette with a red, a zero, a void spin, an unresolved one and a black number; bets are
    closed for the sixth.
    """
    play, screen = on_terminal("roulette-french", "ARA02", {"phases": "person"}, language)
    play.say("session.open", minimum=500, currency="EUR", **BY)
    spin(play, 1)
    spin(play, 0)
    play.say("bets.open", **BY)
    play.say("round.void", reason="bad_launch", **BY)
    play.say("bets.open", **BY)
    play.say("bets.close", **BY)
    play.take(LinkLost(at=play._at, device="wheel", reason="cut"))
    play.say("link.up", device="wheel")
    play.say("wheel.number", device="wheel", number=12, spin=4, late=True, frame="")
    spin(play, 2)
    play.say("bets.open", **BY)
    play.say("bets.close", **BY)
    return play, screen


def after(name: str, steps: int | None = None, language: str | None = "en") -> TerminalScreen:
    """The terminal after this number of inputs of a script; by default after all."""
    read, screen = scripts.read(name), TerminalScreen(language)
    play = Play(read.game, read.decree, read.settings, others=(screen,))
    for given in read.inputs[:steps]:
        play.take(given)
    return screen


class Narrator:
    """Numbers the events of one boot of a table."""

    def __init__(self, boot: str = "b1") -> None:
        self.boot, self.seq = boot, 0

    def event(self, kind: str, **fields: Any) -> bytes:
        self.seq += 1
        envelope = {"type": kind, "boot": self.boot, "seq": self.seq, "session": 1}
        return msgspec.json.encode({**envelope, **fields})

    def result(self, number: int) -> bytes:
        return self.event("round.result", round=number, outcome={"number": 1})
