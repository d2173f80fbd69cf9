"""Confirmation of status lines of a Slingshot 2.

A line has no checksum: one flipped bit turns state 4 into 5, and the number of the previous spin
into a result. So a status is accepted only if two lines agree: two consecutive status lines (rotor
speed ignored) or, for the number of a spin, the bare number and one status line.
"""

from __future__ import annotations

import msgspec
from msgspec.structs import replace

from common.cammegh_ss2_frames import BALL_IN_RIM, LINE_END, NO_MORE_BETS, SETTLED, Status
from common.readings import Number


class ConfirmedStatus(msgspec.Struct, frozen=True):
    """A confirmed status. ``lines``: the lines that confirm it, as received; ``since``: when the
    first of them arrived; ``again``: it equals the previous one, except for the speed.
    """

    lines: bytes
    since: float
    again: bool = False


class _Unconfirmed(msgspec.Struct, frozen=True):
    """The last status line, not yet confirmed by another."""

    status: Status
    line: bytes
    at: float
    late: bool


class StatusConfirmation:
    """Decides which status lines are confirmed. ``twice``: two lines must agree; otherwise every
    line is accepted.
    """

    def __init__(self, twice: bool) -> None:
        self._twice = twice
        self._last: Status | None = None
        self._unconfirmed: _Unconfirmed | None = None

    def confirm(
        self, status: Status, line: bytes, now: float, late: bool, bare: Number | None
    ) -> ConfirmedStatus | None:
        """Handle a status line that arrived at ``now``. Return None if it is not confirmed yet.
        ``bare``: the bare number of this spin, if received.
        """
        # the speed fluctuates, so only whether the rotor turns is compared
        comparable = replace(status, speed=min(status.speed, 1))
        unconfirmed, self._unconfirmed = self._unconfirmed, None
        repeated = comparable == self._last
        if not self._twice or repeated or self._follows(comparable, bare):
            confirmed = ConfirmedStatus(line, now, repeated)
        elif unconfirmed is not None and comparable == unconfirmed.status:
            confirmed = ConfirmedStatus(
                unconfirmed.line + LINE_END + line, now if unconfirmed.late else unconfirmed.at
            )
        else:
            self._unconfirmed = _Unconfirmed(comparable, line, now, late)
            return None
        self._last = comparable
        return confirmed

    def _follows(self, status: Status, bare: Number | None) -> bool:
        """Whether one line is enough: no-more-bets after ball-in-rim, which must not wait, or a
        number that was also received bare.
        """
        last = self._last
        if last is None:
            return False
        if last.state == BALL_IN_RIM:
            return status == replace(last, state=NO_MORE_BETS)
        return (
            last.state == NO_MORE_BETS
            and bare is not None
            and status == replace(last, state=SETTLED, number=bare)
        )
