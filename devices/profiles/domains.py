"""Domains: the values that a field of a profile can have, to find impossible conditions before a
device is connected.

A domain is never too small: a value that it excludes cannot occur.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from fractions import Fraction
from typing import Any

import msgspec

from common.readings import MAX_EXACT_INTEGER
from devices.profiles.fields import DOUBLE_ZERO, MAX_DIGITS
from devices.profiles.language import FieldSpec

_BASE = {"decimal": 10, "bcd": 10, "hex": 16}


class NumberDomain(msgspec.Struct, frozen=True):
    """Whole numbers from ``least`` to ``most``, scaled by ``times``, ``plus`` and ``decimals``."""

    least: int
    most: int
    times: int = 1
    plus: int = 0
    decimals: int = 0

    def may_be(self, value: Any) -> bool:
        """Return whether the field can have this value."""
        if isinstance(value, bool) or not isinstance(value, int | float):
            return False
        shifted = Fraction(str(value)) * 10**self.decimals - self.plus
        if not self.times:
            return bool(shifted == 0)
        raw = shifted / self.times
        return bool(raw.denominator == 1 and self.least <= raw <= self.most)

    def key(self, text: str) -> bool:
        """Return whether a value, written as a key of a map, can be this text."""
        for kind in (int, float):
            try:
                value = kind(text)
            except (ValueError, OverflowError):
                continue
            if str(value) == text and self.may_be(value):
                return True
        return False


class TextDomain(msgspec.Struct, frozen=True):
    """Text of ``width`` characters; None: any number. ``stripped``: without blanks around it, and
    perhaps shorter. ``fits``: further restriction of the text.
    """

    width: int | None = None
    stripped: bool = False
    fits: Callable[[str], bool] = lambda _: True

    def may_be(self, value: Any) -> bool:
        """Return whether the field can have this value."""
        if not isinstance(value, str) or "\\" in value:
            return isinstance(value, str)  # an escaped text stands for bytes
        if not all(character.isprintable() and character <= "\xff" for character in value):
            return False
        if self.stripped and value != value.strip():
            return False
        if self.width is not None and (
            len(value) > self.width or (not self.stripped and len(value) != self.width)
        ):
            return False
        return self.stripped or self.fits(value)

    def key(self, text: str) -> bool:
        """Return whether the text can be a key of a map, where it is as received."""
        return self.may_be(text) or not text.isprintable()


class ValueDomain(msgspec.Struct, frozen=True):
    """A fixed set of values."""

    values: tuple[Any, ...]

    def may_be(self, value: Any) -> bool:
        """Return whether the field can have this value."""
        return any(
            value == own and isinstance(value, bool) == isinstance(own, bool) for own in self.values
        )

    def key(self, text: str) -> bool:
        """Return whether a value, written as a key of a map, can be this text."""
        return any(str(own) == text for own in self.values if own is not None)


class AnyDomain(msgspec.Struct, frozen=True):
    """Any value."""

    def may_be(self, value: Any) -> bool:  # noqa: ARG002
        """Return whether the field can have this value."""
        return True

    def key(self, text: str) -> bool:  # noqa: ARG002
        """Return whether a value, written as a key of a map, can be this text."""
        return True


ValueKind = NumberDomain | TextDomain | ValueDomain | AnyDomain


class FieldDomain(msgspec.Struct, frozen=True):
    """Possible values of a field. ``absent``: it may have no value. ``kinds``: its values
    otherwise; empty: it never has a value.
    """

    kinds: tuple[ValueKind, ...]
    absent: bool = False

    def may_be(self, value: Any) -> bool:
        """Return whether a condition on this value can hold."""
        return (self.absent and value == "") or any(kind.may_be(value) for kind in self.kinds)

    def key(self, text: str) -> bool:
        """Return whether a value can be this key of a map."""
        return (self.absent and not text) or any(kind.key(text) for kind in self.kinds)


NO_VALUE = FieldDomain((), absent=True)
ANYTHING = FieldDomain((AnyDomain(),), absent=True)


def field_domain(
    text: FieldDomain, field: FieldSpec, table: Mapping[str, Any] | None
) -> FieldDomain:
    """Return the domain of a field from the domain of its source, after its map if it has one."""
    if field.value is not None:
        return FieldDomain((ValueDomain((field.value,)),))
    kinds = [value_kind for kind in text.kinds for value_kind in _before_map(kind, field)]
    if field.double_zero is not None and kinds:
        kinds.append(ValueDomain((DOUBLE_ZERO,)))
    # a blank is no value, even if the map contains it
    unmapped = text.absent and field.blank is None and not field.fixed
    domain = FieldDomain(tuple(kinds), unmapped)
    if table is not None:
        domain = _mapped(domain, field, table)
    absent = domain.absent or field.blank is not None or field.optional or field.keep
    # a kept value may come from another message
    return FieldDomain((*domain.kinds, AnyDomain()) if field.keep else domain.kinds, absent)


def _before_map(kind: ValueKind, field: FieldSpec) -> list[ValueKind]:
    if isinstance(kind, AnyDomain):
        if field.fixed:
            return [ValueDomain((field.fixed,))]
        return [kind if field.encoding == "text" else _unbounded_numbers(field)]
    if isinstance(kind, ValueDomain):
        # from a map or a constant: the profile's own words
        texts = [item for item in kind.values if isinstance(item, str)]
        numbers = [
            item
            for item in kind.values
            if isinstance(item, int | float) and not isinstance(item, bool)
        ]
        rest = tuple(item for item in kind.values if isinstance(item, bool))
        kinds: list[ValueKind] = [ValueDomain(rest)] if rest else []
        if field.encoding != "text":
            return [*kinds, *([_unbounded_numbers(field)] if texts or numbers else [])]
        if field.fixed:
            return [ValueDomain((field.fixed,))] if field.fixed in texts else []
        texts = [item.strip() if field.strip else item for item in texts]
        unscaled = field.bits is None and field.min is None and field.max is None
        plain = unscaled and not (field.times != 1 or field.plus or field.decimals)
        if numbers and not plain:
            kinds.append(_unbounded_numbers(field))
        return [*kinds, ValueDomain((*texts, *(numbers if plain else ())))]
    if isinstance(kind, TextDomain):
        if field.fixed:
            stripped = TextDomain(kind.width, kind.stripped or field.strip, kind.fits)
            return [ValueDomain((field.fixed,))] if stripped.key(field.fixed) else []
        if field.encoding == "text":
            return [TextDomain(kind.width, kind.stripped or field.strip, kind.fits)]
        return _within_bounds(_numbers_of_width(kind.width, field), field)
    if field.fixed:
        return []
    if (kind.times, kind.plus, kind.decimals) != (1, 0, 0):
        return [_unbounded_numbers(field)]
    return _within_bounds(kind, field)


def _unbounded_numbers(field: FieldSpec) -> NumberDomain:
    """Numbers without known limits."""
    return NumberDomain(-MAX_EXACT_INTEGER, MAX_EXACT_INTEGER, 1, 0, 9 if field.decimals else 0)


def _numbers_of_width(width: int | None, field: FieldSpec) -> NumberDomain:
    """All numbers that a text of this width can represent."""
    if field.encoding in ("big", "little"):
        values = 1 << 8 * (8 if width is None else min(width, 8))
        return NumberDomain(-values // 2 if field.signed else 0, values - 1)
    if field.encoding == "bcd" and width is not None:
        width *= 2
    digits = MAX_DIGITS if width is None else min(width, MAX_DIGITS)
    most = _BASE[field.encoding] ** digits - 1
    return NumberDomain(-most if field.signed else 0, most)


def _within_bounds(numbers: NumberDomain, field: FieldSpec) -> list[ValueKind]:
    """Numbers after a field's mask, bounds and scale."""
    minimum, maximum = numbers.least, numbers.most
    if field.bits is not None:
        lowest, count = field.bits
        minimum, maximum = 0, min(max(maximum, 0) >> lowest, (1 << count) - 1)
        if numbers.least < 0:
            maximum = (1 << count) - 1
    minimum = minimum if field.min is None else max(minimum, field.min)
    maximum = maximum if field.max is None else min(maximum, field.max)
    return (
        [NumberDomain(minimum, maximum, field.times, field.plus, field.decimals)]
        if minimum <= maximum
        else []
    )


def _mapped(unmapped: FieldDomain, field: FieldSpec, table: Mapping[str, Any]) -> FieldDomain:
    values = tuple(value for key, value in table.items() if unmapped.key(key))
    others = () if field.otherwise is None else (field.otherwise,)
    kinds = (ValueDomain((*values, *others)),) if values or others else ()
    return FieldDomain(kinds if unmapped.kinds or unmapped.absent else ())
