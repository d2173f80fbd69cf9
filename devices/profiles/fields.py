"""Decodes fields: parts of a frame as text, as numbers, or through a map."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

from common.errors import NovamasError
from common.readings import MAX_EXACT_INTEGER, escape
from devices.profiles.language import FieldSpec

Values = dict[str, Any]
"""Field -> its value; None: absent."""

LATE, NOTHING = "late", "nothing"
"""Built-in fields of every profile: whether the current reading is late, and a value that is always
absent.
"""
DOUBLE_ZERO = "00"
"""Value of a field whose bytes are its ``double_zero``."""
BYTE_ENCODINGS = ("big", "little", "bcd")
"""Encodings of a number in bytes, not in characters."""
SIGNED_ENCODINGS = ("decimal", "big", "little")
"""Encodings that may have a sign."""

MAX_DIGITS = 18
"""Maximum number of digits of a number."""
_DIGITS = {
    "decimal": ("0123456789", 10),
    "bcd": ("0123456789", 10),
    "hex": ("0123456789abcdefABCDEF", 16),
}


class UnfitFieldError(NovamasError):
    """A part of a frame does not fit its field."""


def decode_fields(
    fields: Mapping[str, FieldSpec],
    frame: bytes,
    separator: bytes,
    known: Values,
    kept_values: Values,
    maps: Mapping[str, Any],
) -> Values:
    """Decode fields in order, in addition to those already ``known``. Raises
    :class:`UnfitFieldError`.
    """
    values = {LATE: False, NOTHING: None, **known}
    pieces = frame.split(separator) if separator else []
    for name, field in fields.items():
        try:
            value = _decode_field(name, field, frame, pieces, bool(separator), values, maps)
        except UnfitFieldError:
            if not field.optional and not field.keep:
                raise
            value = None
        values[name] = kept_values.get(name) if value is None and field.keep else value
    return values


def _decode_field(
    name: str,
    field: FieldSpec,
    frame: bytes,
    pieces: list[bytes],
    separated: bool,
    values: Values,
    maps: Mapping[str, Any],
) -> Any:
    if field.value is not None:
        return field.value
    part = None if field.at is None else _field_bytes(field, field.at, frame, pieces, separated)
    value = values.get(field.of or name) if part is None else part.decode("latin-1")
    if isinstance(value, str) and field.strip:
        value = value.strip()
    if field.blank is not None and value in (field.blank, None):
        return None
    if field.fixed and value != field.fixed:
        raise UnfitFieldError
    if field.double_zero is not None and value == field.double_zero:
        return DOUBLE_ZERO
    if field.encoding != "text" and isinstance(value, str):
        value = _parse_number(field, value)
    if isinstance(value, int) and not isinstance(value, bool):
        value = scale(field, value)
        if abs(value) > MAX_EXACT_INTEGER:
            raise UnfitFieldError
    if field.map is None:
        return (
            escape(value.encode("latin-1"))
            if isinstance(value, str) and not value.isprintable()
            else value
        )
    table = maps[field.map] if isinstance(field.map, str) else field.map
    found = table.get(_map_key(value), field.otherwise)
    if found is None:
        raise UnfitFieldError
    return found


def _field_bytes(
    field: FieldSpec, at: int, frame: bytes, pieces: list[bytes], separated: bool
) -> bytes:
    """The bytes of a field: a piece between separators, or a range of bytes."""
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


def _parse_number(field: FieldSpec, text: str) -> int:
    if field.encoding in ("big", "little"):
        order: Literal["big", "little"] = "big" if field.encoding == "big" else "little"
        return int.from_bytes(text.encode("latin-1"), order, signed=field.signed)
    negative = False
    if field.encoding == "bcd":
        text = text.encode("latin-1").hex()
    elif field.signed and text[:1] in ("+", "-"):
        negative, text = text[0] == "-", text[1:]
    digits, base = _DIGITS[field.encoding]
    if not text or text.strip(digits) or len(text) > MAX_DIGITS:
        raise UnfitFieldError
    return -int(text, base) if negative else int(text, base)


def scale(field: FieldSpec, value: int) -> int | float:
    """Apply mask, bounds and scale to a number."""
    if field.bits is not None:
        lowest, count = field.bits
        value = value >> lowest & (1 << count) - 1
    if (field.min is not None and value < field.min) or (
        field.max is not None and value > field.max
    ):
        raise UnfitFieldError
    value = value * field.times + field.plus
    return value / 10**field.decimals if field.decimals else value


def _map_key(value: Any) -> str:
    """Format a value as a key of a map: text unchanged, a number in digits, an absent value as the
    empty string.
    """
    return "" if value is None else str(value)
