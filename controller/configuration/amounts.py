"""The amounts of a configuration: the file has them as ``5.00``, all else in minor units."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cache
from types import UnionType
from typing import Annotated, Any, Union, get_args, get_origin

import msgspec

from controller.configuration.settings import JackpotConfig
from controller.games.games import GAMES, settings_of
from devices.drivers import DRIVERS, driver
from devices.money import AMOUNT, EURO, minor_units
from devices.places import Decimal, Path
from devices.sections import Notes
from devices.suggestions import SURE, meant


def in_minor_units(given: dict[str, Any], notes: Notes) -> dict[str, Any]:
    """What a file gives, its amounts in minor units and every other number with a point a
    ``float``. Notes every amount that is not written as its currency is, such as a bare ``500``.
    """
    site = given.get("site")
    currency = site.get("currency", EURO) if isinstance(site, dict) else EURO
    places = dict(_amounts(given, currency if isinstance(currency, str) else EURO))
    found: dict[str, Any] = _put(given, (), places, notes)
    return found


def section_in_minor_units(
    kind: type[msgspec.Struct], given: dict[str, Any], notes: Notes
) -> dict[str, Any]:
    """The same of the settings of a game or the options of a driver, in euros."""
    found: dict[str, Any] = _put(given, (), dict(_in_section(kind, given, (), EURO)), notes)
    return found


def _put(value: Any, at: Path, places: Mapping[Path, str], notes: Notes) -> Any:
    if isinstance(value, dict):
        return {key: _put(part, (*at, key), places, notes) for key, part in value.items()}
    if isinstance(value, list):
        return [_put(part, (*at, index), places, notes) for index, part in enumerate(value)]
    if at in places and isinstance(value, int | str) and not isinstance(value, bool):
        try:
            return minor_units(str(value).replace("_", ""), places[at])
        except ValueError as error:
            notes.append((at, str(error)))
            return 1  # no further mistake follows from it
    return as_float(value)


def as_float(value: Any) -> Any:
    """The value with its numbers with a point as ``float``, for readers that know no amounts."""
    if isinstance(value, dict):
        return {key: as_float(part) for key, part in value.items()}
    if isinstance(value, list):
        return [as_float(part) for part in value]
    return float(value) if isinstance(value, Decimal) else value


def _amounts(given: dict[str, Any], currency: str) -> Iterator[tuple[Path, str]]:
    """Where there are amounts, and the currency of each."""
    for at, jackpot in _sections(given, "jackpot"):
        own = jackpot.get("currency")
        yield from _in_section(
            JackpotConfig, jackpot, at, own if isinstance(own, str) else currency
        )
    for at, table in _sections(given, "table"):
        game = _near(table.get("game"), GAMES)
        if game is not None:
            kind = settings_of(game)
            yield from _in_section(kind, table.get("settings"), (*at, "settings"), currency)
        for place, device in _sections(table, "device"):
            name = _near(device.get("driver"), DRIVERS)
            if name is not None:
                kind, given_options = driver(name).options, device.get("options")
                yield from _in_section(kind, given_options, (*at, *place, "options"), currency)


def _sections(given: dict[str, Any], name: str) -> Iterator[tuple[Path, dict[str, Any]]]:
    listed = given.get(name)
    for index, section in enumerate(listed if isinstance(listed, list) else ()):
        if isinstance(section, dict):
            yield (name, index), section


def _in_section(
    kind: type[msgspec.Struct], section: Any, at: Path, currency: str
) -> Iterator[tuple[Path, str]]:
    if isinstance(section, dict):
        for key, part in _fields(kind).items():
            if key in section:
                yield from _of(part, section[key], (*at, key), currency)


@cache
def _fields(kind: type[msgspec.Struct]) -> dict[str, Any]:
    """The types of the keys that may have amounts. Kept: to resolve the annotations of a class
    takes longer than to read a section.
    """
    return {
        field.encode_name: field.type
        for field in msgspec.structs.fields(kind)
        if _has_amounts(field.type)
    }


def _has_amounts(kind: Any) -> bool:
    if get_origin(kind) is Annotated and any(
        getattr(each, "extra", None) == AMOUNT for each in kind.__metadata__
    ):
        return True
    return any(_has_amounts(part) for part in get_args(kind))


def _near(name: Any, known: Any) -> str | None:
    """The name, or the one that it is a misspelling of: its settings are read as that one's."""
    if not isinstance(name, str):
        return None
    return name if name in known else meant(name, known, SURE)


def _of(kind: Any, value: Any, at: Path, currency: str) -> Iterator[tuple[Path, str]]:
    """Where a value of this type has amounts."""
    parts = get_args(kind)
    if get_origin(kind) is Annotated:
        if any(getattr(each, "extra", None) == AMOUNT for each in kind.__metadata__):
            yield at, currency
        else:
            yield from _of(parts[0], value, at, currency)
    elif get_origin(kind) in (UnionType, Union):
        for part in parts:
            yield from _of(part, value, at, currency)
    elif get_origin(kind) is dict and isinstance(value, dict):
        for key, part in value.items():
            yield from _of(parts[1], part, (*at, key), currency)
    elif get_origin(kind) is tuple and isinstance(value, list):
        kinds = [parts[0]] * len(value) if parts[1:] == (...,) else parts
        for index, (part, inner) in enumerate(zip(value, kinds, strict=False)):
            yield from _of(inner, part, (*at, index), currency)
