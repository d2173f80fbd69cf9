"""Sample values of fields, to check a profile against the readings before a device is connected."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import suppress
from itertools import islice, product
from typing import Any

import msgspec

from common.plain_errors import describe
from common.readings import Reading
from devices.profiles.fields import DOUBLE_ZERO, UnfitFieldError, scale
from devices.profiles.language import Conditions, FieldSpec
from devices.profiles.templates import (
    CARDS,
    conditions_hold,
    fill_template,
    reading_fields,
    suit_type,
    template_fields,
)

ZEROS = ("00", "000", "0000")
"""Pockets that are not numbers."""
MAX_SAMPLES = 512
"""Maximum number of samples of a template that are checked."""


class Sample(msgspec.Struct, frozen=True):
    """Sample of a field. ``values``: all or some of its possible values; ``span``: the range of its
    whole numbers, if bounded.
    """

    values: tuple[Any, ...]
    span: range | None = None


Samples = dict[str, Sample]

TEXT_SAMPLE = Sample(("?",))
"""Any text other than the words that a reading defines."""


def sample_field(field: FieldSpec, source: Sample, table: Mapping[str, Any] | None) -> Sample:
    """Return sample values of a field with this source, after its map if it has one."""
    nothing = (None,) if field.optional or field.keep or field.blank is not None else ()
    zeros = () if field.double_zero is None else (DOUBLE_ZERO,)
    if field.value is not None:
        return Sample((field.value,))
    if table is not None:
        others = () if field.otherwise is None else (field.otherwise,)
        return Sample((*table.values(), *others, *nothing))
    if field.encoding == "text" and not any(isinstance(value, int) for value in source.values):
        return Sample((field.fixed,) if field.fixed else (*source.values, *nothing))
    span = _number_range(field, source)
    bounds = (
        (span[0], span[-1])
        if span
        else (field.min or 0, field.max if field.max is not None else (field.min or 0) + 1)
    )
    return Sample(
        (*_bound_values(msgspec.structs.replace(field, bits=None), bounds), *zeros, *nothing), span
    )


def _bound_values(field: FieldSpec, bounds: tuple[int, int]) -> Iterator[int | float]:
    """Scaled values of the bounds. A frame with a larger number than a reading may contain is not
    decoded.
    """
    for bound in bounds:
        with suppress(UnfitFieldError):
            yield scale(field, bound)


def _number_range(field: FieldSpec, source: Sample) -> range | None:
    """Range of the numbers before scaling, if bounded."""
    if field.times != 1 or field.plus or field.decimals:
        return None
    if field.min is not None and field.max is not None:
        return range(field.min, field.max + 1)
    return (
        range(1 << field.bits[1]) if field.bits is not None and field.bits[1] <= 10 else source.span
    )


def narrow(known: Samples, when: Conditions, unless: Conditions) -> Samples:
    """Restrict samples by conditions. A field that may be any text gets the required values."""
    narrowed = dict(known)
    for name in {*when, *unless} & set(known):
        one_when = {name: when[name]} if name in when else {}
        one_unless = {name: unless[name]} if name in unless else {}
        remaining = tuple(
            value
            for value in known[name].values
            if conditions_hold(one_when, one_unless, {name: value})
        )
        wanted = when[name] if name in when and not remaining else remaining
        narrowed[name] = Sample(
            tuple(wanted) if isinstance(wanted, list | tuple) else (wanted,), known[name].span
        )
    return narrowed


def missing_keys(field: FieldSpec, source: Sample, table: Mapping[str, Any]) -> list[int]:
    """Return numbers that may be received but are missing from a map: all of them, or at least
    six.
    """
    if field.otherwise is not None or field.optional or field.keep:
        return []
    span = _number_range(field, source)
    return [number for number in islice(span or (), len(table) + 6) if str(number) not in table]


def field_flaw(kind: type[Reading], key: str, template: Any, known: Samples) -> str | None:
    """Return why a reading's field may get an invalid value. None: it cannot."""
    names = list(dict.fromkeys(template_fields(template)))
    field = reading_fields(kind)[key]
    for values in islice(product(*(known[name].values for name in names)), MAX_SAMPLES):
        found = suit_type(field, fill_template(template, dict(zip(names, values, strict=True))))
        if found is None and not field.required:
            continue
        try:
            msgspec.convert(found, field.type)
        except msgspec.ValidationError as error:
            return f"may be {found!r}, which {key} does not accept: {describe(error, field.type)}"
        if key in ("number", "conflict") and isinstance(found, str) and found not in ZEROS:
            return (
                f"may be {found!r}, which is not a pocket; give it `encoding`, or a map to "
                'whole numbers and "00", "000" or "0000"'
            )
        if key == "card" and isinstance(found, str) and found not in CARDS:
            return f"may be {found!r}, which is not a card; write rank, then suit, as in 7h or Td"
    return None
