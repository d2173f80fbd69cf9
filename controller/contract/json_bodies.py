"""JSON that others may have written: read as a type, or refused with ``ValueError``, whatever it
is.
"""

from __future__ import annotations

from typing import Annotated, Any, TypeVar

import msgspec

Stored = Annotated[int, msgspec.Meta(ge=0, le=2**63 - 1)]
"""A position, a number or a time that a journal can hold."""

ENDLESS = "objects or lists nested without end"
_Kind = TypeVar("_Kind")


def read_body(body: bytes | str, kind: type[_Kind]) -> _Kind:
    """A body as a ``kind``. Raises ``ValueError``, also where brackets stand within brackets
    without end.
    """
    try:
        return msgspec.json.decode(body, type=kind)
    except RecursionError:
        raise ValueError(ENDLESS) from None


def read_whole(body: bytes, kind: type[_Kind]) -> _Kind:
    """The same of what this software wrote itself. Raises ``ValueError`` also where something of it
    has no place in a ``kind``: another release wrote it, and it would be lost.
    """
    read = read_body(body, kind)
    try:
        whole = _within(msgspec.json.decode(body), msgspec.json.decode(msgspec.json.encode(read)))
    except RecursionError:
        raise ValueError(ENDLESS) from None
    if not whole:
        raise ValueError("it holds what this release does not know")
    return read


def _within(part: Any, whole: Any) -> bool:
    """Whether all that is in ``part`` is in ``whole``, which may have more fields."""
    if isinstance(part, dict) and isinstance(whole, dict):
        return all(key in whole and _within(part[key], whole[key]) for key in part)
    if isinstance(part, list) and isinstance(whole, list):
        return len(part) == len(whole) and all(map(_within, part, whole))
    return bool(part == whole)
