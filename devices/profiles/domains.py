"""Which values a field of a profile can have, so that what can never be is found before any device
says anything.

A domain is never too small: what it excludes cannot be.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from fractions import Fraction
from typing import Any

import msgspec

from devices.profiles.language import FieldSpec
from devices.readings import MAX_EXACT_INTEGER

_BASE = {"decimal": 10, "hex": 16}
_MAX_DIGITS = 18
"""Digits of the longest number that is read."""


class NumberDomain(msgspec.Struct, frozen=True):
    """Whole numbers from ``least`` to ``most``, then scaled: ``times``, ``plus``, ``decimals``."""

    least: int
    most: int
    times: int = 1
    plus: int = 0
    decimals: int = 0

    def may_be(self, value: Any) -> bool:
        """Whether it can have this value."""
        if isinstance(value, bool) or not isinstance(value, int | float):
            return False
        shifted = Fraction(str(value)) * 10**self.decimals - self.plus
        if not self.times:
            return bool(shifted == 0)
        raw = shifted / self.times
        return bool(raw.denominator == 1 and self.least <= raw <= self.most)

    def key(self, text: str) -> bool:
        """Whether a value, as it is written in a map, can be this text."""
        for kind in (int, float):
            try:
                value = kind(text)
            except (ValueError, OverflowError):
                continue
            if str(value) == text and self.may_be(value):
                return True
        return False


class TextDomain(msgspec.Struct, frozen=True):
    """Text of ``width`` characters; None: of any number. ``stripped``: without blanks around it,
    and perhaps shorter. ``fits``: whether it can be a text, as far as anything else is known.
    """

    width: int | None = None
    stripped: bool = False
    fits: Callable[[str], bool] = lambda _: True

    def may_be(self, value: Any) -> bool:
        """Whether it can have this value."""
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
        """The same of a key in a map, where the text is as it was received."""
        return self.may_be(text) or not text.isprintable()


class ValueDomain(msgspec.Struct, frozen=True):
    """Some values and no others."""

    values: tuple[Any, ...]

    def may_be(self, value: Any) -> bool:
        """Whether it can have this value."""
        return any(
            value == own and isinstance(value, bool) == isinstance(own, bool) for own in self.values
        )

    def key(self, text: str) -> bool:
        """Whether a value, as it is written in a map, can be this text."""
        return any(str(own) == text for own in self.values if own is not None)


class AnyDomain(msgspec.Struct, frozen=True):
    """Of which nothing is known."""

    def may_be(self, value: Any) -> bool:  # noqa: ARG002
        """Whether it can have this value."""
        return True

    def key(self, text: str) -> bool:  # noqa: ARG002
        """Whether a value, as it is written in a map, can be this text."""
        return True


ValueKind = NumberDomain | TextDomain | ValueDomain | AnyDomain


class FieldDomain(msgspec.Struct, frozen=True):
    """What a field can be. ``absent``: it may have no value. ``kinds``: its values otherwise; none:
    it never has one.
    """

    kinds: tuple[ValueKind, ...]
    absent: bool = False

    def may_be(self, value: Any) -> bool:
        """Whether a condition on this value can hold."""
        return (self.absent and value == "") or any(kind.may_be(value) for kind in self.kinds)

    def key(self, text: str) -> bool:
        """Whether a value can be this key of a map."""
        return (self.absent and not text) or any(kind.key(text) for kind in self.kinds)


NO_VALUE = FieldDomain((), absent=True)
ANYTHING = FieldDomain((AnyDomain(),), absent=True)


def field_domain(
    text: FieldDomain, field: FieldSpec, table: Mapping[str, Any] | None
) -> FieldDomain:
    """The domain of a field whose source has this domain: what the map, if there is one, makes of
    it.
    """
    if field.value is not None:
        return FieldDomain((ValueDomain((field.value,)),))
    kinds = [each for kind in text.kinds for each in _before_map(kind, field)]
    # a blank is no value whatever the map says
    unmapped = text.absent and field.blank is None and not field.fixed
    domain = FieldDomain(tuple(kinds), unmapped)
    if table is not None:
        domain = _mapped(domain, field, table)
    absent = domain.absent or field.blank is not None or field.optional or field.keep
    # what is kept may be of another message
    return FieldDomain((*domain.kinds, AnyDomain()) if field.keep else domain.kinds, absent)


def _before_map(kind: ValueKind, field: FieldSpec) -> list[ValueKind]:
    """A field before its map."""
    if isinstance(kind, AnyDomain):
        if field.fixed:
            return [ValueDomain((field.fixed,))]
        return [kind if field.encoding == "text" else _unbounded_numbers(field)]
    if isinstance(kind, ValueDomain):
        # of a map or a constant: the words of the profile itself
        texts = [each for each in kind.values if isinstance(each, str)]
        numbers = [
            each
            for each in kind.values
            if isinstance(each, int | float) and not isinstance(each, bool)
        ]
        rest = tuple(each for each in kind.values if isinstance(each, bool))
        kinds: list[ValueKind] = [ValueDomain(rest)] if rest else []
        if field.encoding != "text":
            return [*kinds, *([_unbounded_numbers(field)] if texts or numbers else [])]
        if field.fixed:
            return [ValueDomain((field.fixed,))] if field.fixed in texts else []
        texts = [each.strip() if field.strip else each for each in texts]
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
    """Numbers of which nothing is known."""
    return NumberDomain(-MAX_EXACT_INTEGER, MAX_EXACT_INTEGER, 1, 0, 9 if field.decimals else 0)


def _numbers_of_width(width: int | None, field: FieldSpec) -> NumberDomain:
    """All numbers that a text of this width can be."""
    if field.encoding in ("big", "little"):
        return NumberDomain(0, (1 << 8 * (8 if width is None else min(width, 8))) - 1)
    digits = _MAX_DIGITS if width is None else min(width, _MAX_DIGITS)
    return NumberDomain(0, _BASE[field.encoding] ** digits - 1)


def _within_bounds(numbers: NumberDomain, field: FieldSpec) -> list[ValueKind]:
    """Numbers after the mask, the bounds and the scale of a field."""
    least, most = numbers.least, numbers.most
    if field.bits is not None:
        lowest, count = field.bits
        least, most = 0, min(max(most, 0) >> lowest, (1 << count) - 1)
        if numbers.least < 0:
            most = (1 << count) - 1
    least = least if field.min is None else max(least, field.min)
    most = most if field.max is None else min(most, field.max)
    return (
        [NumberDomain(least, most, field.times, field.plus, field.decimals)]
        if least <= most
        else []
    )


def _mapped(unmapped: FieldDomain, field: FieldSpec, table: Mapping[str, Any]) -> FieldDomain:
    values = tuple(value for key, value in table.items() if unmapped.key(key))
    others = () if field.otherwise is None else (field.otherwise,)
    kinds = (ValueDomain((*values, *others)),) if values or others else ()
    return FieldDomain(kinds if unmapped.kinds or unmapped.absent else ())
