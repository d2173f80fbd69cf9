"""Fields: what a part of a frame is taken for. Text, number, or what a table makes of it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from devices.errors import NovamasError
from devices.profiles.language import Field
from devices.readings import EXACT, escape

Values = dict[str, Any]
"""Field -> its value; None: it is not there."""

LATE, NOTHING = "late", "nothing"
"""The fields that every profile has: whether what is said now is late, and one that is
never there.
"""

_DIGITS = {"decimal": ("0123456789", 10), "hex": ("0123456789abcdefABCDEF", 16)}


class UnfitFieldError(NovamasError):
    """A part of a frame is not what the field takes."""


def decoded(
    fields: Mapping[str, Field],
    frame: bytes,
    separator: bytes,
    known: Values,
    kept: Values,
    maps: Mapping[str, Any],
) -> Values:
    """The values of fields in their order, behind those that are ``known``. Raises
    :class:`UnfitFieldError`.
    """
    values = {LATE: False, NOTHING: None, **known}
    pieces = frame.split(separator) if separator else []
    for name, field in fields.items():
        try:
            value = _value(name, field, frame, pieces, bool(separator), values, maps)
        except UnfitFieldError:
            if not field.optional and not field.keep:
                raise
            value = None
        values[name] = kept.get(name) if value is None and field.keep else value
    return values


def _value(
    name: str,
    field: Field,
    frame: bytes,
    pieces: list[bytes],
    separated: bool,
    values: Values,
    maps: Mapping[str, Any],
) -> Any:
    if field.value is not None:
        return field.value
    part = None if field.at is None else _part(field, field.at, frame, pieces, separated)
    value = values[field.of or name] if part is None else part.decode("latin-1")
    if isinstance(value, str) and field.strip:
        value = value.strip()
    if field.blank is not None and value in (field.blank, None):
        return None
    if field.fixed and value != field.fixed:
        raise UnfitFieldError
    if field.encoding != "text" and isinstance(value, str):
        value = _number(field, value)
    if isinstance(value, int) and not isinstance(value, bool):
        value = scaled(field, value)
        if abs(value) > EXACT:
            raise UnfitFieldError
    if field.map is None:
        return (
            escape(value.encode("latin-1"))
            if isinstance(value, str) and not value.isprintable()
            else value
        )
    table = maps[field.map] if isinstance(field.map, str) else field.map
    found = table.get(_key(value), field.otherwise)
    if found is None:
        raise UnfitFieldError
    return found


def _part(field: Field, at: int, frame: bytes, pieces: list[bytes], separated: bool) -> bytes:
    """The bytes of a field: a piece between separators, or so many from a place on."""
    if separated:
        if not -len(pieces) <= at < len(pieces):
            raise UnfitFieldError
        found = pieces[at]
    else:
        begin = at if at >= 0 else len(frame) + at
        end = len(frame) if field.width is None else begin + field.width
        if not 0 <= begin <= end <= len(frame):
            raise UnfitFieldError
        found = frame[begin:end]
    if field.width is not None and len(found) != field.width:
        raise UnfitFieldError
    return found


def _number(field: Field, text: str) -> int:
    if field.encoding in ("big", "little"):
        return int.from_bytes(
            text.encode("latin-1"), "big" if field.encoding == "big" else "little"
        )
    digits, base = _DIGITS[field.encoding]
    if not text or text.strip(digits) or len(text) > 18:
        raise UnfitFieldError
    return int(text, base)


def scaled(field: Field, value: int) -> int | float:
    """The bits that count, within their bounds, on their scale."""
    if field.bits is not None:
        lowest, count = field.bits
        value = value >> lowest & (1 << count) - 1
    if (field.min is not None and value < field.min) or (
        field.max is not None and value > field.max
    ):
        raise UnfitFieldError
    value = value * field.times + field.plus
    return value / 10**field.decimals if field.decimals else value


def _key(value: Any) -> str:
    """A value as it is written in a map: text as it stands, a number in digits; what is not there
    is the empty text.
    """
    return "" if value is None else str(value)
