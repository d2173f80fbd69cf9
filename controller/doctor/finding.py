"""What a look at the machine found."""

from __future__ import annotations

from typing import Literal

import msgspec

Level = Literal["ok", "note", "warning", "fault"]
"""``note``: it could not be looked at, or is a matter of taste; ``warning``: it will do harm one
day; ``fault``: the daemon cannot work so.
"""


class Finding(msgspec.Struct, frozen=True, omit_defaults=True):
    """One thing that was looked at."""

    level: Level
    about: str
    """What it is: ``disk /var/lib/novamas``."""
    what: str
    """How it is."""
    do: str = ""
    """What to do; empty where nothing is to be done."""
