"""What a field may come to, by samples: so that a profile is held against the readings before a
device says anything.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import suppress
from itertools import islice, product
from typing import Any

import msgspec

from devices.profiles.fields import UnfitFieldError, scaled
from devices.profiles.language import Conditions, Field
from devices.profiles.saying import CARDS, fields_in, fields_of, filled, hold, suited
from devices.readings import Reading
from devices.sections import choices

MOST = 512
"""As many samples of one template are looked at."""


class Sample(msgspec.Struct, frozen=True):
    """``values``: what the field may be, all of them or some; ``span``: the whole numbers that it
    may be, if they are bounded.
    """

    values: tuple[Any, ...]
    span: range | None = None


Samples = dict[str, Sample]

TEXT = Sample(("?",))
"""Any text: none of the words that a reading knows."""


def sampled(field: Field, source: Sample, table: Mapping[str, Any] | None) -> Sample:
    """What a field may be that is taken from ``source``, through its map if it has one."""
    nothing = (None,) if field.optional or field.keep or field.blank is not None else ()
    if field.value is not None:
        return Sample((field.value,))
    if table is not None:
        others = () if field.otherwise is None else (field.otherwise,)
        return Sample((*table.values(), *others, *nothing))
    if field.encoding == "text" and not any(isinstance(value, int) for value in source.values):
        return Sample((field.fixed,) if field.fixed else (*source.values, *nothing))
    span = _span(field, source)
    bounds = (
        (span[0], span[-1])
        if span
        else (field.min or 0, field.max if field.max is not None else (field.min or 0) + 1)
    )
    return Sample((*_reached(msgspec.structs.replace(field, bits=None), bounds), *nothing), span)


def _reached(field: Field, bounds: tuple[int, int]) -> Iterator[int | float]:
    """The values at these bounds; a frame with a number beyond what a reading may hold is not
    understood.
    """
    for bound in bounds:
        with suppress(UnfitFieldError):
            yield scaled(field, bound)


def _span(field: Field, source: Sample) -> range | None:
    """The numbers before they are scaled, where they are bounded."""
    if field.times != 1 or field.plus or field.decimals:
        return None
    if field.min is not None and field.max is not None:
        return range(field.min, field.max + 1)
    return (
        range(1 << field.bits[1]) if field.bits is not None and field.bits[1] <= 10 else source.span
    )


def narrowed(known: Samples, when: Conditions, unless: Conditions) -> Samples:
    """What fields may be where the conditions hold. Of a text that may be any, only what
    is wanted.
    """
    made = dict(known)
    for name in {*when, *unless} & set(known):
        one_when = {name: when[name]} if name in when else {}
        one_unless = {name: unless[name]} if name in unless else {}
        left = tuple(
            value for value in known[name].values if hold(one_when, one_unless, {name: value})
        )
        wanted = when[name] if name in when and not left else left
        made[name] = Sample(
            tuple(wanted) if isinstance(wanted, list | tuple) else (wanted,), known[name].span
        )
    return made


def missing(field: Field, source: Sample, table: Mapping[str, Any]) -> list[int]:
    """The numbers that come and that a map has nothing for: all of them, or six at least."""
    if field.otherwise is not None or field.optional or field.keep:
        return []
    span = _span(field, source)
    return [number for number in islice(span or (), len(table) + 6) if str(number) not in table]


def flaw(kind: type[Reading], key: str, template: Any, known: Samples) -> str | None:
    """Why a field of a reading may come to something that it does not take; None: it does not."""
    names = list(dict.fromkeys(fields_in(template)))
    field = fields_of(kind)[key]
    for values in islice(product(*(known[name].values for name in names)), MOST):
        found = suited(field, filled(template, dict(zip(names, values, strict=True))))
        if found is None and not field.required:
            continue
        try:
            msgspec.convert(found, field.type)
        except msgspec.ValidationError as error:
            words = (
                f"; there are: {', '.join(choices(field.type))}"
                if isinstance(found, str) and choices(field.type)
                else ""
            )
            return (
                f"may be {found!r}, which {key} is not: "
                f"{str(error)[0].lower()}{str(error)[1:]}{words}"
            )
        if key == "card" and isinstance(found, str) and found not in CARDS:
            return f"may be {found!r}, which is no card: rank, then suit, as in 7h or Td"
    return None
