"""The pace of a device: what came faster than it speaks had waited in a buffer, and is late. True,
but not live.

:class:`Pace` is that of a hand. A shoe speaks only when a card is drawn, so a silence before a card
proves nothing. Two cards that come closer together than any hand draws them do: the second is late.
The first of such a burst cannot be told from a card that was just drawn. :class:`Beat` is that of a
device which repeats itself at a steady pace, so that its silence means something.
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
        """Whether the report that came now is late; what comes right behind a late card is as late
        as the card.
        """
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


SILENCE = 1.5
"""In periods: without a frame for longer than this, what follows is late."""
PACED = 0.8
"""In periods: a frame at least this long after the one before it was not waiting in a buffer, so it
is live.
"""


class Beat:
    """``period``: seconds between two frames that the device sends by itself, or is asked for."""

    def __init__(self, device: str, period: float) -> None:
        self.late = False
        self._device = device
        self._period = period
        self._last: float | None = None  # when the last frame came
        self._reopened = False
        self._frames = 0
        self._silence = 0.0

    def reopened(self) -> None:
        """The link was closed: what comes next is late until it is paced."""
        self._reopened = True

    def heard(self, now: float) -> list[LinkLate]:
        """A frame came: decide whether it is :attr:`late`, and tell of a burst that is over."""
        told = []
        gap = 0.0 if self._last is None else now - self._last
        if self._last is not None and (self._reopened or gap > SILENCE * self._period):
            self.late = True
            self._silence = max(self._silence, gap)
        elif self.late and gap >= PACED * self._period:
            told = [
                LinkLate(
                    at=now,
                    device=self._device,
                    frames=self._frames,
                    silence=round(self._silence, 3),
                )
            ]
            self.late, self._frames, self._silence = False, 0, 0.0
        self._last = now
        self._reopened = False
        self._frames += self.late
        return told

    def beside(self, now: float) -> bool:
        """Whether a frame that came now is late, which is none of those that repeat themselves:
        while they are, or are missing.
        """
        silent = self._last is not None and (
            self._reopened or now - self._last > SILENCE * self._period
        )
        self._frames += self.late or silent
        return self.late or silent
