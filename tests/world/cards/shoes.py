"""Shoes from which the people of the world draw, card by card: the simulators' own, without their
own hand.

The first 52 cards of each shoe are all different, as those of a poker table's pack are: so a name
that is read anywhere is one card. A reader sees a card as it is drawn, and what it says of it may
come later, again, or never.
"""

from __future__ import annotations

from collections import deque
from math import inf
from typing import NamedTuple

from common.readings import escape
from simulators.shoe import baccarat
from simulators.shoe.angel_eye import HANDS, AngelEyeShoe, _card_byte, _place_byte
from simulators.shoe.barcode import BarcodeShoe, card_code
from simulators.shoe.bee_tek import BeeTekShoe
from simulators.shoe.shoe import Scene, SimulatedShoe
from tests.world.device import Device
from tests.world.loop import WorldLoop

TRACED = {"damaged", "duplicate", "split", "burst", "cut_card", "alarm", "unread", "repeated"}
"""Faults after which bytes of every report arrive."""
READ_SECONDS = 0.3
"""How soon after a card the next one can be read."""


class Reported(NamedTuple):
    """A card that a shoe has reported, and when."""

    at: float
    card: str


class HandShoe(SimulatedShoe):
    """Reports what :meth:`draw` draws. ``reports``: in order; ``behind``: cards behind the cut
    card.
    """

    def __init__(self, seed: int, behind: int) -> None:
        self.reports: list[Reported] = []
        self._waiting: deque[tuple[str, str, int]] = deque()
        self._off_until = -inf
        super().__init__(seed, decks=1, cut=1)
        self._behind = behind
        self._refill()

    @property
    def left(self) -> int:
        """Cards in the shoe."""
        return len(self._cards)

    def codes(self, card: str) -> tuple[str, ...]:  # noqa: ARG002 - those of a family do
        """What the bytes of a report of the card look like in a text."""
        return ()

    def change_cards(self, now: float) -> None:
        """Put other cards into the shoe."""
        self.time = max(self.time, now)
        self._refill()
        if now >= self._off_until:
            self.report_new_shoe()

    def lose(self, card: str) -> None:
        """Take a card out of those in the shoe."""
        self._cards.remove(card)

    def draw(self, to: str, index: int, now: float) -> str:
        """Draw a card, for a place that some shoes work out by themselves."""
        self.time = max(self.time, now)
        card = self._draw_card()
        if now >= self._off_until:
            self._waiting.append((card, to, index))
            self._wake = min(self._wake, now)
        return card

    def fault(self, name: str, value: float, now: float) -> None:
        """Trigger a fault. What is drawn while the power is off is not read."""
        if name == "reset":
            self._off_until = now + value
        super().fault(name, value, now)

    def report_card(self, card: str, to: str, index: int) -> None:
        """Note the card, and report it."""
        self.reports.append(Reported(self.time, card))
        super().report_card(card, to, index)

    def _refill(self) -> None:
        self.shoes += 1
        self._cards = baccarat.shuffled(1, self.random)
        self._cut_seen = False

    def _play(self) -> Scene:
        while True:
            while not self._waiting:
                yield inf
            yield from self._read(*self._waiting.popleft())

    def _reset(self, seconds: float) -> Scene:
        self._waiting.clear()
        yield seconds
        self.report_reset()
        yield from self._play()

    def _read(self, card: str, to: str, index: int) -> Scene:
        alarm = self.take_fault("alarm")
        if alarm is not None:
            yield from self.alarm(alarm)
        if not self._cut_seen and (
            self.left < self._behind or self.take_fault("cut_card") is not None
        ):
            self._cut_seen = True
            self.report_cut()
            yield READ_SECONDS
        seconds = self.take_fault("unread")
        if seconds is not None:
            yield from self.unread(card, to, index, seconds)
        else:
            self.report_card(card, to, index)
        yield READ_SECONDS


class HandAngelEye(HandShoe, AngelEyeShoe):
    """A baccarat shoe."""

    def codes(self, card: str) -> tuple[str, ...]:
        """See :class:`HandShoe`."""
        code = _card_byte(card)
        places = [_place_byte(to, index) for to in HANDS for index in range(4)]
        return tuple(escape(place + code) for place in places)


class HandBeeTek(HandShoe, BeeTekShoe):
    """A shoe that sends lines of text."""

    def codes(self, card: str) -> tuple[str, ...]:
        """See :class:`HandShoe`."""
        return (card[0] + card[1].upper(),)


class HandBarcode(HandShoe, BarcodeShoe):
    """A scanner at a shoe."""

    def codes(self, card: str) -> tuple[str, ...]:
        """See :class:`HandShoe`."""
        return (card_code(card),)


class Shoe(Device):
    """A shoe with its line, on an adapter that can be unplugged."""

    def __init__(
        self, loop: WorldLoop, name: str, protocol: str, model: HandShoe, seed: int
    ) -> None:
        self.model = model
        self.loses_unseen = False
        """Whether it or its line may have lost a report without a trace."""
        self.held_until = -inf
        """Until when the line may hold back what the shoe has sent."""
        super().__init__(loop, name, protocol, model, seed)

    def fault(self, name: str, value: float) -> None:
        """See :class:`Device`."""
        self.loses_unseen = self.loses_unseen or name not in TRACED
        if name == "burst":
            self.held_until = max(self.held_until, self.now + value)
        super().fault(name, value)

    def draw(self, to: str, index: int) -> str:
        """Draw a card."""
        card = self.model.draw(to, index, self.now)
        self.wake()
        return card

    def change_cards(self) -> None:
        """Put other cards into the shoe."""
        self.model.change_cards(self.now)
        self.wake()
