"""The pace of a hand: what came faster than cards can be drawn had waited in a buffer, and is late.

A shoe speaks only when a card is drawn, so a silence before a card proves nothing. Two cards that come closer together than any
hand draws them do: the second is true, but not live. The first of such a burst cannot be told from a card that was just drawn.
"""

from __future__ import annotations

from devices.readings import LinkLate


class Pace:
    """``min_draw``: seconds that two cards are apart at least; 0: nothing is ever late."""

    def __init__(self, device: str, min_draw: float) -> None:
        self._device = device
        self._min_draw = min_draw
        self._card: float | None = None  # when the last card came
        self._report: float | None = None  # when anything came
        self._quiet = 0.0  # the silence before what was live last
        self._late = 0

    @property
    def deadline(self) -> float | None:
        """When a burst is over, if nothing more of it comes."""
        return self._report + self._min_draw if self._late and self._report is not None else None

    def is_late(self, now: float, card: bool) -> bool:
        """Whether the report that came now is late; what comes right behind a late card is as late as the card."""
        before = self._card if card or self._late else None
        late = before is not None and now - before < self._min_draw
        if not late:
            self._quiet = 0.0 if self._report is None else now - self._report
        self._late += late
        self._report = now
        if card:
            self._card = now
        return late

    def burst(self, now: float) -> list[LinkLate]:
        """The burst that is over by now, told once."""
        if self.deadline is None or now < self.deadline:
            return []
        frames, self._late = self._late, 0
        return [LinkLate(at=now, device=self._device, frames=frames, silence=round(self._quiet, 3))]
