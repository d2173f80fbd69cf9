"""A simulated Bee-Tek shoe: a line of text for each card; it reports no coups, no cut card and no
new cards.

Assumptions where public facts are missing: cards are burned with the key in burn mode, and a reset
is not reported.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import inf

from simulators.shoe.shoe import Scene, SimulatedShoe

GAME_MODE, BURN_MODE = "[Game]", "[Manual Burn Cards]"


class BeeTekShoe(SimulatedShoe):
    """One shoe. ``suit_first``: it sends ``S4`` instead of ``4S``, and 10 for a ten."""

    baud = 9600

    def __init__(
        self,
        seed: int = 0,
        decks: int = 6,
        cut: int = 52,
        games_per_hour: int = 120,
        burn: bool = True,
        cards: Sequence[str] = (),
        suit_first: bool = False,
    ) -> None:
        super().__init__(seed, decks, cut, games_per_hour, burn, cards)
        self._suit_first = suit_first
        self._turned_until = -inf

    def report_card(self, card: str, to: str, index: int) -> None:  # noqa: ARG002 - it does not know the card's place in a hand
        """Send the card with the mode, which is all that the shoe knows about its destination."""
        rank, suit = card[0], card[1].upper()
        code = suit + ("10" if rank == "T" else rank) if self._suit_first else rank + suit
        turned = self.take_fault("wrong_mode")
        if turned is not None:
            self._turned_until = self.time + turned
        mode = BURN_MODE if to in ("first", "burn") or self.time < self._turned_until else GAME_MODE
        self._send_line(f"{mode}<Card:{code}>")

    def unread(self, card: str, to: str, index: int, seconds: float) -> Scene:  # noqa: ARG002 - the card was not read
        """Report an unknown card and an alarm."""
        self._send_line(f"{GAME_MODE}<Game>")
        yield 0.05
        self._send_line(f"{GAME_MODE}<Alarm:E3 Card Not Read>")
        yield seconds

    def overdrawn(self, card: str, seconds: float) -> Scene:
        """Report the card like any other: the shoe does not know that it was one too many."""
        self.report_card(card, "player", 1)
        yield from super().overdrawn(card, seconds)

    def alarm(self, seconds: float) -> Scene:
        """Report a warning, then an alarm."""
        self._send_line("<W0x01>")
        yield 1.0
        self._send_line("[GameAlarm]<Alarm:E5 Card Jam>")
        yield seconds

    def _send_line(self, text: str) -> None:
        if self.take_fault("repeated") is not None:
            text += text[-1] * 3
        if self.take_fault("lost_report") is None:
            self.send(f" {text} \r\n".encode("ascii"))
