"""Any value at any key of a configuration or a profile, or in a recording, is read or reported as a
mistake.
"""

from __future__ import annotations

import tomllib
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any, get_args, get_origin

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec import Struct
from msgspec.structs import fields

from common import places, sections
from controller.configuration.file import load
from controller.configuration.settings import Configuration, ConfigurationError
from controller.games.games import GAMES, make_game, settings_of
from controller.rulebooks.rulebook import rulebook
from devices.drivers import DRIVERS, driver
from devices.profiles.language import Profile
from devices.profiles.profile import ProfileError as ProfileMistaken
from devices.profiles.profile import parse_profile
from devices.recording import RecordingError, read_recording
from tests.support.for_each import for_each
from tests.support.hostile import TOML, in_turn

GOOD: dict[str, Any] = {
    "site": {"id": "casino"},
    "table": [
        {
            "id": "r1",
            "game": "roulette-french",
            "decree": "BAL05",
            "device": [{"id": "wheel", "driver": "cammegh-ss2", "link": "tcp://127.0.0.1:4001"}],
        }
    ],
}


def values() -> list[str]:
    """The pieces that are valid TOML: for invalid ones, one file is enough."""
    found = []
    for piece in TOML:
        with suppress(ValueError, RecursionError):
            places.loads(f"x = {piece}")
            found.append(piece)
    return found


VALUES = values()


def keys(kind: type[Struct], at: tuple[str, ...] = ()) -> Iterator[tuple[str, ...]]:
    """The path of every key of a file of this type, through its sections; of a list the first, of
    named ones (``*``) too.
    """
    for field in fields(kind):
        yield (*at, field.encode_name)
        for part in (field.type, *get_args(field.type)):
            if isinstance(part, type) and issubclass(part, Struct):
                named = ("*",) if get_origin(field.type) is dict else ()
                yield from keys(part, (*at, field.encode_name, *named))


def spelt(value: Any) -> str:
    """A value of a good file as TOML."""
    if isinstance(value, dict):
        return "{ " + ", ".join(f'"{key}" = {spelt(each)}' for key, each in value.items()) + " }"
    if isinstance(value, list):
        return "[" + ", ".join(map(spelt, value)) + "]"
    return value if isinstance(value, Piece) else f'"{value}"'


class Piece(str):
    """TOML source text."""

    __slots__ = ()


def spoiled(good: dict[str, Any], way: tuple[str, ...], piece: str) -> dict[str, Any]:
    """Return the good file with that piece at that place."""
    key, rest = way[0] if way[0] != "*" else next(iter(good), "x"), way[1:]
    if not rest:
        return {**good, key: Piece(piece)}
    inner = good.get(key, {})
    if isinstance(inner, list):
        return {**good, key: [spoiled(inner[0], rest, piece), *inner[1:]]}
    return {**good, key: spoiled(inner, rest, piece)}


def text_of(file: dict[str, Any]) -> str:
    return "".join(f"{key} = {spelt(value)}\n" for key, value in file.items())


@for_each(
    ("turn", "way"),
    list(enumerate(keys(Configuration))),
    ids=lambda part: ".".join(part) if isinstance(part, tuple) else "",
)
def test_every_key_of_the_configuration(tmp_path: Path, turn: int, way: tuple[str, ...]) -> None:
    file = tmp_path / "novamas.toml"
    refused = 0
    for piece in in_turn(VALUES, turn):
        file.write_text(text_of(spoiled(GOOD, way, piece)))
        try:
            load(file)
        except ConfigurationError:
            refused += 1
    assert refused


@pytest.mark.parametrize(
    "piece", [piece for piece in TOML if piece not in VALUES], ids=lambda piece: piece[:8]
)
def test_invalid_toml_is_a_mistake(tmp_path: Path, piece: str) -> None:
    file = tmp_path / "novamas.toml"
    file.write_text(text_of(spoiled(GOOD, ("site", "id"), piece)))
    with pytest.raises(ConfigurationError):
        load(file)
    with pytest.raises(ProfileMistaken):
        parse_profile(f"name = {piece}\n")


@pytest.mark.parametrize("game", list(GAMES))
def test_every_setting_of_every_game(game: str) -> None:
    decree = next(
        each
        for each in ("ARA02", "EUS96", "BAL05", "BAL09", "GAL07")
        if getattr(rulebook(each), game.replace("-", "_"))
    )
    for field in fields(settings_of(game)):
        for piece in VALUES:
            with suppress(ValueError):
                make_game(game, decree, {field.encode_name: tomllib.loads(f"x = {piece}")["x"]})


@pytest.mark.parametrize("name", list(DRIVERS))
def test_every_option_of_every_driver(name: str) -> None:
    found = driver(name)
    for field in fields(found.options):
        for piece in VALUES:
            notes: sections.Notes = []
            given_options = tomllib.loads(f"x = {piece}")["x"]
            options = sections.read_section(
                found.options, {field.encode_name: given_options}, (), notes
            )
            if not notes:
                with suppress(ProfileMistaken):
                    found.make("device", options)


@for_each("way", list(keys(Profile)), ids=".".join)
def test_every_key_of_a_profile(way: tuple[str, ...]) -> None:
    good = tomllib.loads(
        (Path(__file__).parents[3] / "devices/profiles/zvonimir-king.toml").read_text()
    )
    for piece in VALUES:
        with suppress(ProfileMistaken):
            parse_profile(text_of(spoiled(good, way, piece)))


TIMES = (
    *(
        "0",
        "1e9",
        "-1",
        "nan",
        "inf",
        "9" * 400,
        "9" * 20 + ".5",
        "253402300800",
        "0001-01-01T00:00:00+23:59",
        "9999-12-31T23:59:59-23:59",
    ),
    *("2026-01-01", "2026-01-01T00:00:00Z", "²", "\x00", ""),
)


@given(
    st.lists(
        st.tuples(
            st.sampled_from(TIMES),
            st.sampled_from("<>="),
            st.text("\\x0aZ\udcff\n\r\0é", max_size=8),
        ),
        max_size=6,
    )
)
def test_every_line_of_a_recording(
    tmp_path_factory: pytest.TempPathFactory, lines: list[tuple[str, str, str]]
) -> None:
    path = tmp_path_factory.getbasetemp() / "hostile.rec"
    path.write_text(
        "".join(f"{time} {way} {payload}\n" for time, way, payload in lines),
        "utf-8",
        "surrogateescape",
    )
    with suppress(RecordingError):
        recording = read_recording(path)
        assert all(0 <= chunk.at < 10**12 for chunk in recording.chunks)
