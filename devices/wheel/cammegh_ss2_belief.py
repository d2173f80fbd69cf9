"""Which status lines of a Slingshot 2 are believed.

A line has no checksum: one flipped bit turns state 4 into 5, and the number of the spin before into
a result. A status is therefore believed when two lines agree on it. These are two status lines
running, whatever their speed; or, for the number of a spin, the bare number and one status line.
"""

from __future__ import annotations

import msgspec
from msgspec.structs import replace

from devices.readings import Number
from devices.wheel.cammegh_ss2_frames import BALL_IN_RIM, LINE_END, NO_MORE_BETS, SETTLED, Status


class Believed(msgspec.Struct, frozen=True):
    """A status that is believed. ``lines``: what it stands on, as received; ``since``: when the
    first of them came.
    """

    lines: bytes
    since: float


class _Doubted(msgspec.Struct, frozen=True):
    """The last status line, where nothing agrees with it yet."""

    said: Status
    line: bytes
    at: float
    late: bool


class HeardTwice:
    """``twice``: two lines have to agree; otherwise each line is believed by itself."""

    def __init__(self, twice: bool) -> None:
        self._twice = twice
        self._said: Status | None = None
        self._doubted: _Doubted | None = None

    def heard(
        self, status: Status, line: bytes, now: float, late: bool, bare: Number | None
    ) -> Believed | None:
        """Take a status line that arrived at ``now``; None: nothing agrees with it yet. ``bare``:
        the bare number of this spin.
        """
        said = replace(
            status, speed=min(status.speed, 1)
        )  # a speed trembles: whether the rotor turns is all that is compared
        doubted, self._doubted = self._doubted, None
        if not self._twice or said == self._said or self._follows(said, bare):
            believed = Believed(line, now)
        elif doubted is not None and said == doubted.said:
            believed = Believed(doubted.line + LINE_END + line, now if doubted.late else doubted.at)
        else:
            self._doubted = _Doubted(said, line, now, late)
            return None
        self._said = said
        return believed

    def _follows(self, said: Status, bare: Number | None) -> bool:
        """Whether one line is enough: no more bets after the ball in the rim, which may not wait; a
        number that was said bare.
        """
        last = self._said
        if last is None:
            return False
        if last.state == BALL_IN_RIM:
            return said == replace(last, state=NO_MORE_BETS)
        return (
            last.state == NO_MORE_BETS
            and bare is not None
            and said == replace(last, state=SETTLED, number=bare)
        )
