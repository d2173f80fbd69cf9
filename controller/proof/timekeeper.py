"""The timekeeper: counts how long the journal's daemons have run, by the monotonic clock, and
judges whether the wall clock is believed.

Age is counted in seconds during which a daemon ran, which no setting of a clock can change. Time
without a daemon is not counted: only the wall clock knows of it. Both are stored in each ``boot``
entry, from which the next run continues.
"""

from __future__ import annotations

from datetime import datetime

import msgspec

from common.chain.schema import Entry
from common.contract.times import format_utc
from common.mono import elapsed_ns
from controller.journal.setup import Boot, ClockState
from controller.proof.belief import Belief, BelievedTime, update_belief
from controller.proof.clocks import read_clocks


class Timekeeper:
    """Continues from the last ``boot`` entry and the last entry of all. ``counted``: the minimum
    count of seconds, as the segments show it.
    """

    def __init__(self, boot: Entry | None, last: Entry | None, counted: int = 0) -> None:
        before, belief = _before(boot, last)
        self._counted = max(before, counted)
        self._began = self._now = read_clocks()
        self._belief = update_belief(belief, self._now)

    @property
    def doubt(self) -> str | None:
        """Why the wall clock is not believed, or None."""
        return self._belief.doubt

    @property
    def counted(self) -> int:
        """Seconds for which the journal's daemons had run at the last reading."""
        return self._counted + int(self._now.awake - self._began.awake)

    def update(self) -> None:
        """Read the clocks, and decide again whether the wall clock is believed."""
        self._now = read_clocks()
        self._belief = update_belief(self._belief, self._now)

    def clock(self) -> ClockState:
        """Return the state of the clocks, for a ``boot`` entry."""
        known = self._belief.known
        if known is None:
            return ClockState(
                counted=self.counted,
                believed=None,
                synchronised=self._now.synchronised,
                doubt=self.doubt,
            )
        passed = 0.0 if known.machine is None else self._now.machine - known.machine
        return ClockState(
            counted=self.counted,
            believed=format_utc(known.wall + passed),
            confirmed=known.confirmed,
            synchronised=self._now.synchronised,
            doubt=self.doubt,
        )


def _before(boot: Entry | None, last: Entry | None) -> tuple[int, Belief]:
    """Return the seconds counted until the last entry, and the belief then."""
    if boot is None or last is None:
        return 0, Belief()
    try:
        clock = msgspec.json.decode(boot.body, type=Boot).clock
    except ValueError:  # a damaged file; its reader reports it
        clock = None
    if clock is None:
        return 0, Belief()  # of a release that did not count
    ran = elapsed_ns(boot.mono_ns, last.mono_ns) / 1e9 if last.boot == boot.boot else 0.0
    if clock.believed is None:
        return clock.counted + int(ran), Belief()
    until = datetime.fromisoformat(clock.believed).timestamp() + ran
    return clock.counted + int(ran), Belief(BelievedTime(until, clock.confirmed, None))
