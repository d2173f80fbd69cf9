"""What is called otherwise than at the commit that was recorded: the one table that explains every
difference.

Both functions work on JSON values. Where nothing was renamed since, both give back what they get.
"""

from __future__ import annotations

from typing import Any


def given_now(line: dict[str, Any]) -> dict[str, Any]:
    """An input as it was recorded, in the words of this checkout."""
    return line


def told_then(told: Any) -> Any:
    """What a table of this checkout says, in the words of the recording."""
    return told
