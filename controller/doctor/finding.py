"""The result of a check of the machine."""

from __future__ import annotations

from typing import Literal

import msgspec

Level = Literal["ok", "note", "warning", "fault"]
"""``note``: not checked, or optional; ``warning``: it will cause trouble eventually; ``fault``: the
daemon cannot work like this.
"""


class Finding(msgspec.Struct, frozen=True, omit_defaults=True):
    """One result."""

    level: Level
    about: str
    """Object of the check: ``disk /var/lib/novamas``."""
    what: str
    """Its state."""
    do: str = ""
    """What to do; empty if nothing."""
    explain: str = ""
    """Argument of ``novamas explain`` for more about it; empty if there is no entry."""
