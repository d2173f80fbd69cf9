"""The topic ``motion`` as received: how fast a wheel turns, and how old that is. It is decoration:
anything that is not as expected is ignored.
"""

from __future__ import annotations

from typing import Annotated

import msgspec

from common.contract.motion import Motion
from common.contract.times import parse_utc
from common.readings import Direction, Phase

FRESH_SECONDS = 2.0
"""Age at which a message says nothing any more: the next one is a second overdue."""
MAX_BYTES = 1024
"""Maximum size of a message; a daemon's has some 300 bytes."""

Rpm = Annotated[float, msgspec.Meta(ge=0, le=300)]
Age = Annotated[float, msgspec.Meta(ge=0, le=600)]


class ReceivedMotion(msgspec.Struct, frozen=True):
    """The motion of a table's wheel, with ages in place of times: the receiver's clock may be
    wrong. ``since`` and ``launched``: seconds before the message.
    """

    table: str
    phase: Phase
    since: Age
    rpm: Rpm | None
    direction: Direction | None
    launched: Age | None


def read_motion(table: str, body: bytes) -> ReceivedMotion | None:
    """Return the motion in a message on a table's topic; None if a value is not credible."""
    if len(body) > MAX_BYTES:
        return None
    try:
        motion = msgspec.json.decode(body, type=Motion)
        now = parse_utc(motion.time)
        fields = {
            "table": motion.table,
            "phase": motion.phase,
            "since": now - parse_utc(motion.since),
            "rpm": motion.rpm,
            "direction": motion.direction,
            "launched": None if motion.launched_at is None else now - parse_utc(motion.launched_at),
        }
        found = msgspec.convert(fields, ReceivedMotion)
    except (ValueError, RecursionError):
        return None
    return found if found.table == table else None
