"""Decodes JSON from untrusted sources into a type, or raises ``ValueError``."""

from __future__ import annotations

from typing import Annotated, Any, TypeVar

import msgspec

from common.plain_errors import NESTED_TOO_DEEPLY

Stored = Annotated[int, msgspec.Meta(ge=0, le=2**63 - 1)]
"""A position, a number or a time that a journal can hold."""

_Kind = TypeVar("_Kind")


def read_body(body: bytes | str, kind: type[_Kind]) -> _Kind:
    """Decode a body as a ``kind``. Raises ``ValueError``, also if it is nested too deeply."""
    try:
        return msgspec.json.decode(body, type=kind)
    except RecursionError:
        raise ValueError(NESTED_TOO_DEEPLY) from None


def read_own_body(body: bytes, kind: type[_Kind]) -> _Kind:
    """Decode a body that this software wrote. Like :func:`read_body`, but raises ``ValueError``
    also if a field would be dropped: then another release wrote the body.
    """
    read = read_body(body, kind)
    try:
        whole = _contains(msgspec.json.decode(body), msgspec.json.decode(msgspec.json.encode(read)))
    except RecursionError:
        raise ValueError(NESTED_TOO_DEEPLY) from None
    if not whole:
        raise ValueError("it holds what this release does not know")
    return read


def _contains(part: Any, whole: Any) -> bool:
    """Return True if ``whole`` has everything that ``part`` has; it may have more fields."""
    if isinstance(part, dict) and isinstance(whole, dict):
        return all(key in whole and _contains(part[key], whole[key]) for key in part)
    if isinstance(part, list) and isinstance(whole, list):
        return len(part) == len(whole) and all(map(_contains, part, whole))
    return bool(part == whole)
