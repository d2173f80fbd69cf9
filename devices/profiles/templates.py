"""Builds the readings of a profile: templates filled with the values of fields."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cache
from string import Formatter
from typing import Any, cast

import msgspec

from common.readings import DAEMON_READINGS, READINGS, AnyReading, Reading
from devices.profiles.fields import UnfitFieldError, Values
from devices.profiles.language import Conditions, Profile, ReadingSpec

READING_TYPES: Mapping[str, type[Reading]] = {
    str(kind.__struct_config__.tag): kind for kind in READINGS if kind not in DAEMON_READINGS
}
"""Name of a reading -> its type. Readings that only the daemon produces are excluded; a device
reports its own serial number as a ``device.report``.
"""

CARDS = frozenset(rank + suit for rank in "A23456789TJQK" for suit in "cdhs") | {"X"}
"""All cards."""


def may_hide_cards(profile: Profile) -> bool:
    """Return whether a device's bytes may reveal cards that are face down. If so, only
    ``card.drawn`` shows its frame.
    """
    names = (
        spec.reading
        for specs in (profile.say, *(message.say for message in profile.message))
        for spec in specs
    )
    return profile.kind in ("shoe", "shuffler") or any(
        reading.startswith(("card.", "shuffler.")) for reading in names
    )


def conditions_hold(when: Conditions, unless: Conditions, values: Values) -> bool:
    """Return whether every condition of ``when`` holds and none of ``unless``."""
    return all(_is_wanted(values.get(name), wanted) for name, wanted in when.items()) and not any(
        _is_wanted(values.get(name), wanted) for name, wanted in unless.items()
    )


def _is_wanted(value: Any, wanted: Any) -> bool:
    actual = "" if value is None else value
    return any(
        actual == allowed and isinstance(actual, bool) == isinstance(allowed, bool)
        for allowed in (wanted if isinstance(wanted, list) else [wanted])
    )


def template_fields(template: Any) -> Iterator[str]:
    """Yield the fields in a template. Raises ``ValueError`` for malformed braces."""
    if isinstance(template, list):
        for item in template:
            yield from template_fields(item)
    elif isinstance(template, str):
        for _, name, form, conversion in Formatter().parse(template):
            if name is not None:
                if form or conversion or not name:
                    raise ValueError(
                        f"{template!r}: write a field as {{name}}, without anything else "
                        "in the braces"
                    )
                yield name


def fill_template(template: Any, values: Values) -> Any:
    """Fill in a template: ``{name}`` alone gives the value itself; within text, the value as
    text.
    """
    if isinstance(template, list):
        return [fill_template(item, values) for item in template]
    if not isinstance(template, str):
        return template
    parts = list(Formatter().parse(template))
    if len(parts) == 1 and not parts[0][0] and parts[0][1]:
        return values[parts[0][1]]
    return "".join(
        text + ("" if name is None else _text(values[name])) for text, name, _, _ in parts
    )


def _text(value: Any) -> str:
    return "" if value is None else str(value)


def make_reading(spec: ReadingSpec, values: Values) -> AnyReading:
    """Build a reading, without its frame. Raises :class:`UnfitFieldError` if a value is invalid."""
    kind = READING_TYPES[spec.reading]
    fields = reading_fields(kind)
    filled = {
        key: suit_type(fields[key], fill_template(template, values))
        for key, template in spec.fill.items()
    }
    present = {
        key: value for key, value in filled.items() if value is not None or fields[key].required
    }
    if isinstance(present.get("card"), str) and present["card"] not in CARDS:
        raise UnfitFieldError
    try:
        return cast(
            "AnyReading", msgspec.convert({**present, "type": spec.reading, "at": 0.0}, kind)
        )
    except msgspec.ValidationError:
        raise UnfitFieldError from None


@cache
def reading_fields(kind: type[Reading]) -> Mapping[str, msgspec.structs.FieldInfo]:
    """Return the fields of a reading by name."""
    return {field.name: field for field in msgspec.structs.fields(kind)}


def suit_type(field: msgspec.structs.FieldInfo, value: Any) -> Any:
    """Convert a number to text if the field accepts only text."""
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    return str(value) if is_number and field.type in (str, str | None) else value
