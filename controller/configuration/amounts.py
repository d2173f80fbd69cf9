"""Converts the amounts of a configuration from the notation ``5.00`` to minor units."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cache
from types import UnionType
from typing import Annotated, Any, Union, get_args, get_origin

import msgspec

from common.money import AMOUNT_META, EURO, parse_amount
from common.places import KeyPath, WrittenDecimal
from common.sections import Notes
from common.suggestions import CERTAIN_LIKENESS, closest
from controller.configuration.settings import JackpotConfig
from controller.games.games import GAMES, settings_of
from devices.drivers import driver, driver_names


def in_minor_units(content: dict[str, Any], notes: Notes) -> dict[str, Any]:
    """Convert the content of a file: amounts to minor units, and every other decimal number to
    ``float``. Notes every amount that is not in the notation of its currency, such as ``500``.
    """
    site = content.get("site")
    currency = site.get("currency", EURO) if isinstance(site, dict) else EURO
    currencies = dict(_amounts(content, currency if isinstance(currency, str) else EURO))
    converted: dict[str, Any] = _convert(content, (), currencies, notes)
    return converted


def section_in_minor_units(
    kind: type[msgspec.Struct], section: dict[str, Any], notes: Notes
) -> dict[str, Any]:
    """Convert the settings of a game or the options of a driver likewise, in euros."""
    converted: dict[str, Any] = _convert(
        section, (), dict(_in_section(kind, section, (), EURO)), notes
    )
    return converted


def _convert(value: Any, at: KeyPath, currencies: Mapping[KeyPath, str], notes: Notes) -> Any:
    if isinstance(value, dict):
        return {key: _convert(part, (*at, key), currencies, notes) for key, part in value.items()}
    if isinstance(value, list):
        return [_convert(part, (*at, index), currencies, notes) for index, part in enumerate(value)]
    if at in currencies and isinstance(value, int | str) and not isinstance(value, bool):
        try:
            return parse_amount(str(value).replace("_", ""), currencies[at])
        except ValueError as error:
            notes.append((at, str(error)))
            return 1  # a valid amount, so that no other error is reported
    return as_float(value)


def as_float(value: Any) -> Any:
    """Convert every decimal number to ``float``, for readers that do not handle amounts."""
    if isinstance(value, dict):
        return {key: as_float(part) for key, part in value.items()}
    if isinstance(value, list):
        return [as_float(part) for part in value]
    return float(value) if isinstance(value, WrittenDecimal) else value


def _amounts(content: dict[str, Any], currency: str) -> Iterator[tuple[KeyPath, str]]:
    """Yield the path and currency of each amount."""
    for at, jackpot in _sections(content, "jackpot"):
        own = jackpot.get("currency")
        yield from _in_section(
            JackpotConfig, jackpot, at, own if isinstance(own, str) else currency
        )
    for at, table in _sections(content, "table"):
        game = _closest(table.get("game"), GAMES)
        if game is not None:
            kind = settings_of(game)
            yield from _in_section(kind, table.get("settings"), (*at, "settings"), currency)
        for place, device in _sections(table, "device"):
            name = _closest(device.get("driver"), driver_names())
            if name is not None:
                kind, given_options = driver(name).options, device.get("options")
                yield from _in_section(kind, given_options, (*at, *place, "options"), currency)


def _sections(content: dict[str, Any], name: str) -> Iterator[tuple[KeyPath, dict[str, Any]]]:
    listed = content.get(name)
    for index, section in enumerate(listed if isinstance(listed, list) else ()):
        if isinstance(section, dict):
            yield (name, index), section


def _in_section(
    kind: type[msgspec.Struct], section: Any, at: KeyPath, currency: str
) -> Iterator[tuple[KeyPath, str]]:
    if isinstance(section, dict):
        for key, part in _fields(kind).items():
            if key in section:
                yield from _amounts_in(part, section[key], (*at, key), currency)


@cache
def _fields(kind: type[msgspec.Struct]) -> dict[str, Any]:
    """Return the types of the keys that may contain amounts. Cached, because resolving the
    annotations of a class takes longer than reading a section.
    """
    return {
        field.encode_name: field.type
        for field in msgspec.structs.fields(kind)
        if _has_amounts(field.type)
    }


def _has_amounts(kind: Any) -> bool:
    if get_origin(kind) is Annotated and any(
        getattr(meta, "extra", None) == AMOUNT_META for meta in kind.__metadata__
    ):
        return True
    return any(_has_amounts(part) for part in get_args(kind))


def _closest(name: Any, known: Any) -> str | None:
    """Return the name, or the known name that it probably misspells."""
    if not isinstance(name, str):
        return None
    return name if name in known else closest(name, known, CERTAIN_LIKENESS)


def _amounts_in(kind: Any, value: Any, at: KeyPath, currency: str) -> Iterator[tuple[KeyPath, str]]:
    """Yield the amounts in a value of this type."""
    parts = get_args(kind)
    if get_origin(kind) is Annotated:
        if any(getattr(meta, "extra", None) == AMOUNT_META for meta in kind.__metadata__):
            yield at, currency
        else:
            yield from _amounts_in(parts[0], value, at, currency)
    elif get_origin(kind) in (UnionType, Union):
        for part in parts:
            yield from _amounts_in(part, value, at, currency)
    elif get_origin(kind) is dict and isinstance(value, dict):
        for key, part in value.items():
            yield from _amounts_in(parts[1], part, (*at, key), currency)
    elif get_origin(kind) is tuple and isinstance(value, list):
        kinds = [parts[0]] * len(value) if parts[1:] == (...,) else parts
        for index, (part, inner) in enumerate(zip(value, kinds, strict=False)):
            yield from _amounts_in(inner, part, (*at, index), currency)
