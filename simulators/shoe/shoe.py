"""Base class of the simulated shoes: a shoe and the person who draws from it, coup after coup of
punto y banca.

The model consists of scenes, generators that yield the seconds to wait. Each device family defines
how a card is reported and how a fault is handled. After the cut card a new shoe follows.
"""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Generator, Sequence
from heapq import heappop, heappush
from math import inf

from common.randomness import Random
from simulators.device import Timed
from simulators.shoe import baccarat

Scene = Generator[float, None, None]


class SimulatedShoe:
    """A shoe. ``decks``: number of decks; ``cut``: cards behind the cut card; ``games_per_hour``:
    the pace; ``burn``: whether cards are burned first; ``cards``: the first cards drawn; the rest
    are shuffled.

    ``drawn``: all cards drawn, in order. ``coups``: the hands of each completed coup.
    """

    baud = 9600

    def __init__(
        self,
        seed: int = 0,
        decks: int = 6,
        cut: int = 52,
        games_per_hour: int = 120,
        burn: bool = True,
        cards: Sequence[str] = (),
    ) -> None:
        if not 0 < cut < decks * 52 - 20:
            raise ValueError(
                f"{cut} cards behind the cut card of {decks} decks leave nothing to deal; use fewer"
            )
        self.random = Random(seed)
        self.drawn: list[str] = []
        self.coups: list[baccarat.Hands] = []
        self.shoes = 0
        self.time = 0.0
        self._decks, self._behind, self._burn = decks, cut, burn
        self._pause = 3600 / games_per_hour
        self._next = list(cards)
        self._cards: list[str] = []
        self._cut_seen = True
        self._held: list[str] = []  # an overdrawn card that will be the first of the next coup
        self._armed: defaultdict[str, deque[float]] = defaultdict(deque)
        self._sending: list[tuple[float, int, bytes]] = []
        self._sent = 0
        self._scene = self._play()
        self._wake = 0.0

    # the device contract

    @property
    def rounds(self) -> int:
        """Number of completed coups."""
        return len(self.coups)

    @property
    def deadline(self) -> float:
        """When the next card is drawn, or bytes are sent."""
        return min(self._wake, self._sending[0][0] if self._sending else inf)

    def advance(self, now: float) -> list[Timed]:
        """Advance the time to ``now``; return the bytes sent."""
        sent: list[Timed] = []
        while (due := self.deadline) <= now:
            self.time = max(self.time, due)
            if self._wake <= due:
                self._wake = self.time + next(self._scene)
            else:
                at, _, data = heappop(self._sending)
                sent.append((at, data))
        self.time = max(self.time, now)
        return sent

    def receive(self, data: bytes, now: float) -> None:
        """Ignore the data: this shoe accepts no commands."""

    def fault(self, name: str, value: float, now: float) -> None:
        """Trigger a fault: ``reset`` at once (the coup is abandoned and the next begins), all
        others at the next opportunity.
        """
        self.time = max(self.time, now)
        if name == "reset":
            self._sending.clear()
            self._scene = self._reset(value)
            self._wake = now
        else:
            self._armed[name].append(value)

    # defined by each device family

    def report_new_shoe(self) -> None:
        """Report that the cards were changed."""

    def report_card(self, card: str, to: str, index: int) -> None:
        """Report a card that was drawn and read."""

    def report_result(self, winner: str, pairs: tuple[str, ...]) -> None:
        """Report the end of a coup."""

    def report_cut(self) -> None:
        """Report that the cut card was drawn."""

    def report_reset(self) -> None:
        """Report that power is back."""

    def unread(self, card: str, to: str, index: int, seconds: float) -> Scene:  # noqa: ARG002 - for device families
        """Handle a card that could not be read; a person resolves it after ``seconds``."""
        yield seconds

    def overdrawn(self, card: str, seconds: float) -> Scene:
        """Handle an extra card. By default it is kept for the next coup."""
        self._held.append(card)
        yield seconds

    def alarm(self, seconds: float) -> Scene:
        """Raise an alarm for ``seconds``."""
        yield seconds

    def ready(self) -> Scene:
        """Wait until cards may be drawn."""
        yield 0.0

    # shared by all device families

    def send(self, data: bytes, after: float = 0.0) -> None:
        """Send bytes after a delay in seconds."""
        self._sent += 1
        heappush(self._sending, (self.time + after, self._sent, data))

    def take_fault(self, fault: str) -> float | None:
        """Return the value of a triggered fault, once. None: it was not triggered."""
        armed = self._armed[fault]
        return armed.popleft() if armed else None

    def discard_held(self) -> None:
        """Take the overdrawn card out of play."""
        self._held.clear()

    def _reset(self, seconds: float) -> Scene:
        yield seconds
        self.report_reset()
        yield 3.0
        yield from self._coups()
        yield from self._play()

    def _play(self) -> Scene:
        while True:
            yield from self._new_shoe()
            yield from self._coups()

    def _new_shoe(self) -> Scene:
        self.shoes += 1
        self._cards = [*baccarat.shuffled(self._decks, self.random), *reversed(self._next)]
        self._next.clear()
        self._held.clear()
        self._cut_seen = False
        yield 1.0
        self.report_new_shoe()
        yield 5.0
        if self._burn:
            shown = self._draw_card()
            self.report_card(shown, "first", 0)
            yield 2.0
            for index in range(baccarat.burned(shown)):
                self.report_card(self._draw_card(), "burn", index + 1)
                yield self.random.uniform(0.6, 0.9)
        yield 5.0

    def _coups(self) -> Scene:
        """Play coups until the cut card; the coup in which it is drawn is completed."""
        while not self._cut_seen:
            began = self.time
            yield from self._coup()
            yield max(5.0, self._pause - (self.time - began))

    def _coup(self) -> Scene:
        hands: baccarat.Hands = {"player": [], "banker": []}
        while (to := baccarat.next_hand(hands)) is not None:
            alarm = self.take_fault("alarm")
            if alarm is not None:
                yield from self.alarm(alarm)
            if not self._cut_seen and (
                len(self._cards) <= self._behind or self.take_fault("cut_card") is not None
            ):
                self._cut_seen = True
                self.report_cut()
                yield 2.0
            yield from self.ready()
            yield from self._deal(hands, to)
        self.report_result(baccarat.winner(hands), baccarat.pairs(hands))
        self.coups.append(hands)
        seconds = self.take_fault("overdraw")
        if seconds is not None:
            yield 1.0
            yield from self.overdrawn(self._draw_card(), seconds)

    def _deal(self, hands: baccarat.Hands, to: str) -> Scene:
        index = len(hands[to]) + 1
        if self._held:
            # the overdrawn card, already reported when the coup began
            hands[to].append(self._held.pop())
            return
        card = self._draw_card()
        hands[to].append(card)
        seconds = self.take_fault("unread")
        if seconds is not None:
            yield from self.unread(card, to, index, seconds)
        else:
            self.report_card(card, to, index)
        yield self.random.uniform(0.7, 1.5)

    def _draw_card(self) -> str:
        card = self._cards.pop()
        self.drawn.append(card)
        return card
