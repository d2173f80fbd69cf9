"""JSON that others may have written: read as a type, or refused with ``ValueError``, whatever it
is.
"""

from __future__ import annotations

from typing import Annotated, TypeVar

import msgspec

Stored = Annotated[int, msgspec.Meta(ge=0, le=2**63 - 1)]
"""A position, a number or a time that a journal can hold."""

ENDLESS = "objects or lists within each other without end"
_Kind = TypeVar("_Kind")


def read_body(body: bytes | str, kind: type[_Kind]) -> _Kind:
    """A body as a ``kind``. Raises ``ValueError``, also where brackets stand within brackets
    without end.
    """
    try:
        return msgspec.json.decode(body, type=kind)
    except RecursionError:
        raise ValueError(ENDLESS) from None
