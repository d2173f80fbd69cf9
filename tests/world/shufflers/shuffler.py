"""The shuffler of ``simulators/``, which the croupier loads, and whose decks he takes."""

from __future__ import annotations

from collections.abc import Generator
from math import inf
from typing import NamedTuple

from simulators.board import Scene
from simulators.shuffler.shuffler import DECK, Shuffler
from tests.world.device import Device
from tests.world.loop import WorldLoop


class Verdict(NamedTuple):
    """What a shuffler has found in a deck, and when. ``missing``: a card that is not there."""

    at: float
    cards: int
    is_right: bool
    missing: str


class Deck(NamedTuple):
    """A deck that can be taken out."""

    verdict: Verdict

    @property
    def is_whole(self) -> bool:
        """Whether it has all 52 cards, once each."""
        return self.verdict.is_right


class DeckShuffler(Shuffler):
    """Shuffles when it is loaded. ``verdicts``: all that it has found; ``deck``: what can be taken
    out now.
    """

    def __init__(self, seed: int) -> None:
        self.verdicts: list[Verdict] = []
        self.deck: Deck | None = None
        self._is_loaded = False
        super().__init__(seed, packet=0)

    @property
    def doing(self) -> str:
        """Its state."""
        return self._doing[0]

    @property
    def is_idle(self) -> bool:
        """Whether it waits to be loaded."""
        return self._wake == inf

    def load(self, now: float) -> None:
        """Put a deck into it, if it is idle."""
        if self.is_idle:
            self.time = max(self.time, now)
            self.deck, self._is_loaded, self._wake = None, True, now

    def take(self) -> Deck:
        """Take the deck out."""
        deck, self.deck = self.deck, None
        assert deck is not None
        return deck

    def report(self, word: object, *fields: object) -> None:
        """Note a verdict before it is reported, or lost."""
        if word == "verdict":
            _, count, count_right, set_right, missing, _extra = fields
            is_right = bool(count_right and set_right)
            verdict = Verdict(
                self.time, int(str(count)), is_right, "" if missing == "-" else str(missing)
            )
            self.verdicts.append(verdict)
            if count == DECK or not count_right:
                self.deck = Deck(verdict)
        super().report(word, *fields)

    def _check_deck(self) -> Generator[float, None, bool]:
        wrong = yield from super()._check_deck()
        if wrong:
            self.deck = None  # it is unloaded, and another one is loaded
        else:  # the deck can be taken out all the same
            yield from self._interrupt("jam", "jam")
            yield from self._interrupt("door_open", "door_open")
        return wrong

    def _rounds(self) -> Scene:
        while True:
            while not self._is_loaded:
                yield inf
            self._is_loaded = False
            yield from self.round()
            self.rounds += 1


class ShufflerAtTable(Device):
    """A shuffler with its line, on an adapter that can be unplugged."""

    def __init__(self, loop: WorldLoop, name: str, model: DeckShuffler, seed: int) -> None:
        self.model = model
        super().__init__(loop, name, "shuffler-board", model, seed)

    def load(self) -> None:
        """Put a deck into it."""
        self.model.load(self.now)
        self.wake()
