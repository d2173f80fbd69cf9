"""Every number that a site may write has a minimum and a maximum: none overflows at a table."""

from __future__ import annotations

import math
from collections.abc import Iterator
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from typing import Annotated, Any

import msgspec
import pytest
from msgspec import inspect

from controller.configuration.file import load
from controller.configuration.settings import Configuration, ConfigurationError
from controller.games.games import GAMES, settings_of
from devices.drivers import DRIVERS, driver
from devices.links import mqtt, replay, serial_port, usb
from devices.profiles.language import Profile
from tests.support.for_each import for_each

SECTIONS: dict[str, type[msgspec.Struct]] = {
    "configuration": Configuration,
    "profile": Profile,
    "address serial": serial_port.PortSettings,
    "address usb": usb.UsbSettings,
    "address mqtt": mqtt.MqttSettings,
    "address replay": replay.ReplaySettings,
    **{f"settings of {game}": settings_of(game) for game in GAMES},
    **{f"options of {name}": driver(name).options for name in DRIVERS},
}

BOUNDS = ("ge", "gt", "le", "lt", "multiple_of")
WORDS = {
    f".checksum.{name}"
    for name in ("keep", "set", "crc.polynomial", "crc.initial", "crc.final_xor")
}
"""Numbers of a profile's check, of up to 64 bits, for which msgspec has no bound: ``test_mistakes``
shows that they must fit in it.
"""


def numbers(kind: Any, at: str = "") -> Iterator[tuple[str, Any]]:
    match kind:
        case inspect.IntType() | inspect.FloatType():
            yield at, kind
        case inspect.StructType():
            for field in kind.fields:
                yield from numbers(field.type, f"{at}.{field.name}")
        case inspect.UnionType():
            for each in kind.types:
                yield from numbers(each, at)
        case (
            inspect.VarTupleType()
            | inspect.ListType()
            | inspect.SetType()
            | inspect.FrozenSetType()
        ):
            yield from numbers(kind.item_type, f"{at}[]")
        case inspect.TupleType():
            for each in kind.item_types:
                yield from numbers(each, f"{at}[]")
        case inspect.DictType():
            yield from numbers(kind.key_type, f"{at}{{}}")
            yield from numbers(kind.value_type, f"{at}{{}}")
        case inspect.Metadata():
            yield from numbers(kind.type, at)


@for_each("section", SECTIONS)
def test_every_number_has_a_minimum_and_a_maximum(section: str) -> None:
    found = [
        at
        for at, kind in numbers(inspect.type_info(SECTIONS[section]))
        if ((kind.ge is None and kind.gt is None) or (kind.le is None and kind.lt is None))
        and at not in WORDS
    ]
    assert found == [], found


@for_each("section", SECTIONS)
@for_each("number", [1 << 70, -(1 << 70), 10**400, 1e300, -1e300, math.inf, -math.inf, math.nan])
def test_no_number_beyond_its_bounds_is_accepted(section: str, number: float) -> None:
    """Each number of a section alone, as it would be in a file."""
    for at, kind in numbers(inspect.type_info(SECTIONS[section])):
        if at not in WORDS:
            meta = msgspec.Meta(
                **{name: value for name in BOUNDS if (value := getattr(kind, name)) is not None}
            )
            plain = int if isinstance(kind, inspect.IntType) else float
            with pytest.raises(msgspec.ValidationError):
                msgspec.convert(number, Annotated[plain, meta])


@for_each("number", ["99999999999999999999", "-1", "0", "1e300", "inf", "nan"])
@for_each(
    "key",
    ["journal.keep_days", "recordings.max_days", "recordings.max_files", "recordings.max_bytes"],
)
def test_a_wrong_number_is_reported_by_its_line(tmp_path: Path, key: str, number: str) -> None:
    section, name = key.split(".")
    file = tmp_path / "novamas.toml"
    file.write_text(f'[site]\nid = "palma"\n[{section}]\n{name} = {number}\n')
    with pytest.raises(ConfigurationError) as mistaken:
        load(file)
    assert [
        mistake.what for mistake in mistaken.value.mistakes if mistake.place == f"line 4: {key}"
    ]


def test_the_longest_retention_overflows_on_no_day() -> None:
    [most] = [
        kind.le
        for at, kind in numbers(inspect.type_info(Configuration))
        if at == ".journal.keep_days"
    ]
    assert (date.fromisoformat("1970-01-01") - timedelta(most)).isoformat()
    assert datetime.fromtimestamp(0, UTC) - timedelta(days=most)
