"""What every message of a table has, for tests that write bodies by hand."""

from __future__ import annotations

from typing import Any

ENVELOPE: dict[str, Any] = {
    "table": "ruleta-1",
    "boot": "b1",
    "session": 1,
    "game": "roulette-french",
    "decree": "ARA02",
    "simulated": True,
}
