"""Tables in real play, and the bytes a browser gets at every step."""

from __future__ import annotations

import atexit
import random
import shutil
from collections.abc import Iterable, Iterator
from pathlib import Path
from tempfile import mkdtemp
from typing import Any, Protocol

import msgspec

from common.contract.messages.messages import LANGUAGES
from common.contract.notation import Input, read_input, write
from common.contract.refusals import RejectedError
from common.contract.retained import About
from common.contract.times import format_utc
from controller.games.cards import DECK
from controller.games.games import make_game
from controller.rulebooks.rulebook import rulebook
from controller.tables.table import Table
from subscribers.display.round_store import RoundStore
from subscribers.feed.floor import Floor
from subscribers.feed.tables import ConnectionChange, FeedMessage
from subscribers.web.tables import Pictures
from tests.support.games import scripts
from tests.support.games.trial import Trial

NOW = "2026-03-20T02:10:16.215319Z"
ID = "mesa-1"
FOLDER = mkdtemp(dir="/dev/shm" if Path("/dev/shm").is_dir() else None)
"""The rounds that screens keep, in memory where that can be, until the tests end."""
atexit.register(shutil.rmtree, FOLDER)
BY = {"by": "M. Lasa", "role": "table_head"}


class Hears(Protocol):
    """A consumer of a daemon's messages about a table."""

    def daemon(self, boot: str) -> None: ...

    def event(self, body: bytes) -> None: ...

    def retained(self, bodies: dict[str, bytes | None]) -> None: ...


class Screen:
    """The server's knowledge of one table, without broker or browser."""

    def __init__(self) -> None:
        self.floor = Floor({ID: False}, lambda: NOW)
        self.pictures = Pictures(self.floor, RoundStore(Path(mkdtemp(dir=FOLDER))))
        self.floor.on_message(False, ConnectionChange(up=True))
        self._retained: dict[str, bytes | None] = {}

    def daemon(self, boot: str) -> None:
        status = msgspec.json.encode({"status": "online", "boot": boot})
        self.floor.on_message(False, FeedMessage("node/n1/status", status))

    def event(self, body: bytes) -> None:
        self.floor.on_message(False, FeedMessage("event", body, ID))

    def retained(self, bodies: dict[str, bytes | None]) -> None:
        """What changed of these goes out, as the publisher does it."""
        for leaf, body in bodies.items():
            if self._retained.get(leaf, b"") != body:
                self._retained[leaf] = body
                self.floor.on_message(False, FeedMessage(leaf, body or b"", ID))

    def sent(self, language: str | None) -> bytes:
        return self.pictures.json(ID, language)

    def picture(self, language: str | None = "es") -> Any:
        return msgspec.json.decode(self.sent(language))


class Play:
    """A table, and a screen that gets its messages; ``others`` get them as well."""

    def __init__(
        self,
        game: str,
        decree: str,
        settings: dict[str, Any] | None = None,
        boot: str = "boot",
        table: str = ID,
        others: tuple[Hears, ...] = (),
    ) -> None:
        page = getattr(rulebook(decree), game.replace("-", "_"))
        self.table = Table(
            "casino-mayor",
            table,
            game,
            decree,
            make_game(game, decree, settings or {}),
            boot,
            about=About(title=page.title, languages=rulebook(decree).languages),
            node="n1",
        )
        self._at = 0.0
        self.screen = Screen()
        self._hear: tuple[Hears, ...] = (self.screen, *others)
        for each in self._hear:
            each.daemon(boot)
            each.retained(self.table.retained())

    def say(self, kind: str, **fields: Any) -> None:
        """One input that is not refused, a second after the one before."""
        self._at += 1.0
        told = {"at": self._at, "type": kind, **fields}
        assert self.take(read_input(msgspec.json.encode(told))), told

    def take(self, given: Input) -> bool:
        """One input. False: it was refused."""
        try:
            mono_ns = round(given.at * 1e9) + 1  # no event of a daemon is of its very start
            taken = self.table.handle(given, format_utc(given.at), mono_ns)
        except RejectedError:
            return False
        for each in self._hear:
            for event in taken.events:
                each.event(write(event))
            each.retained(self.table.retained())
        return True


def script(name: str) -> Iterator[Play]:
    """A script, step by step."""
    script = scripts.read(name)
    yield from steps(Play(script.game, script.decree, script.settings), script.inputs)


def steps(play: Play, inputs: Iterable[Input]) -> Iterator[Play]:
    for given in inputs:
        play.take(given)
        yield play


def wild(game: str, decree: str, seed: str, noise: float, count: int) -> Iterator[Play]:
    """Play by chance, sensible or not."""
    play, trial = Play(game, decree), Trial(game, decree, seed, noise=noise)
    for _ in range(count):
        trial.state = play.table._state
        if play.take(trial.next()):  # where it is refused nothing goes out
            yield play


def every_language(play: Play) -> dict[str, Any]:
    return {language: play.screen.picture(language) for language in LANGUAGES}


def coups(play: Play, count: int, chance: random.Random) -> None:
    """That number of coups of punto y banca; a table that was never open is opened first."""
    say = play.say
    if not msgspec.json.decode(play.table.retained()["state"] or b"")["shown"]["session"]:
        say("session.open", minimum=1000, currency="EUR", **BY)
        say("shoe.start", shoe="7", **BY)
    done, left = 0, chance.sample(DECK * 6, 6 * len(DECK))
    while done < count:
        shown = msgspec.json.decode(play.table.retained()["state"] or b"")["shown"]
        if shown["expected"] is not None:
            say("card.drawn", device="shoe", card=left.pop(), frame="C")
        elif shown["phase"] == "waiting":
            say("bets.open", **BY)
        elif shown["phase"] == "bets_open":
            say("bets.close", **BY)
        else:
            down = [who for who, cards in shown["hands"].items() if None in cards]
            say("cards.turn", who=down[0], **BY)
            shown = msgspec.json.decode(play.table.retained()["state"] or b"")["shown"]
            done += shown["phase"] == "waiting"
