"""The topic ``motion``: how fast a wheel turns and whether the ball runs, for pictures that move
with it.
"""

from __future__ import annotations

import msgspec

from common.readings import Direction, Phase


class Motion(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """The message on the topic ``motion``. It is decoration: derive nothing from it. It is neither
    stored nor retained, it may be dropped, and it never has a number or a card.
    """

    site: str
    """The site's id."""
    table: str
    """The table's id."""
    time: str
    """When this was published: UTC, ISO 8601. ``since`` and ``launched_at`` are on the same clock,
    so that their age is known without another.
    """
    phase: Phase
    """The phase of the game as the wheel sees it. That of the table is in ``state``."""
    since: str
    """Since when the wheel has this phase: UTC, ISO 8601."""
    rpm: float | None = None
    """The rotor's speed in revolutions per minute, as of its last report; absent where the device
    does not report it.
    """
    direction: Direction | None = None
    """The direction in which the rotor turns, seen from above; absent where the device does not
    report it.
    """
    launched_at: str | None = None
    """When the ball or the wheel was launched: UTC, ISO 8601; absent once it has come to rest."""
    simulated: bool = False
    """The table plays with simulated devices."""
