"""A simulated shuffler of one deck that deals packets by itself: one for each box and one for the
dealer.

It knows its cards, but no report of the board format can reveal their order.
"""

from __future__ import annotations

from collections.abc import Generator

from devices.shuffler.shuffler_board import NEW_DECK
from simulators.board import Scene, SimulatedBoard

DECK = 52


class Shuffler(SimulatedBoard):
    """A shuffler. ``boxes``: number of boxes; ``packet``: cards per packet, 0 if it only shuffles
    and a person deals.
    """

    kind = "shuffler"

    def __init__(
        self, seed: int = 0, games_per_hour: int = 60, boxes: int = 3, packet: int = 5
    ) -> None:
        if (boxes + 1) * packet > DECK:
            raise ValueError(
                f"{boxes} boxes and the dealer cannot have {packet} cards each from one "
                "deck; use fewer"
            )
        super().__init__(seed, games_per_hour)
        self._boxes, self._packet = boxes, packet
        self._doing: tuple[str, ...] = ("idle",)

    def state(self) -> tuple[object, ...]:
        """See :class:`simulators.board.SimulatedBoard`: its state, and the number of packets
        dealt.
        """
        return "state", self._doing[0], self.counted, *self._doing[1:]

    def round(self) -> Scene:
        """Load, shuffle and check a deck, deal its packets and unload the rest."""
        yield from self._interrupt("needs_service", "service")
        while True:
            yield from self._enter("loading", 2.0)
            yield from self._enter("shuffling", self.random.uniform(4.0, 6.0))
            wrong = yield from self._check_deck()
            if not wrong:
                break
        yield from self._enter("ready", 2.0)
        for to in (
            (*(f"box:{box}" for box in range(1, self._boxes + 1)), "dealer") if self._packet else ()
        ):
            yield from self._interrupt("jam", "jam")
            yield from self._interrupt("door_open", "door_open")
            yield from self._enter("dealing", 1.0)
            self.counted += 1
            self.report("packet", self.counted, self._packet, to)
        yield from self._enter("ready", 6.0)
        yield from self._enter("unloading", 2.0)
        yield from self._enter("idle", 1.0)

    def _check_deck(self) -> Generator[float, None, bool]:
        """Check the deck; return whether it is wrong. A wrong deck is unloaded after a while."""
        count, missing, extra = DECK, "-", "-"
        seconds = self.take_fault("count_wrong")
        wrong = "count_wrong" if seconds is not None else ""
        if seconds is not None:
            count, missing = DECK - 1, self._any_card()
        elif (seconds := self.take_fault("set_wrong")) is not None:
            wrong, missing, extra = "set_wrong", "Ks", self._any_card()
        self.report("verdict", 1, count, int(count == DECK), int(not wrong), missing, extra)
        if seconds is not None:
            yield from self._enter(wrong, seconds)
            yield from self._enter("unloading", 2.0)
        return bool(wrong)

    def _any_card(self) -> str:
        return NEW_DECK[self.random.randrange(DECK - 1)]

    def _interrupt(self, state: str, fault: str) -> Scene:
        """If a fault was triggered, stop for its time and then recover."""
        if (seconds := self.take_fault(fault)) is not None:
            yield from self._enter(state, seconds, "feed" if state == "jam" else "")
            yield from self._enter("recovering", 2.0)

    def _enter(self, state: str, seconds: float, detail: str = "") -> Scene:
        self._doing = (state, detail) if detail else (state,)
        self.report_state()
        yield seconds
