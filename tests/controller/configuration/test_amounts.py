"""Every amount of a configuration is written as ``5.00``; a bare ``500`` is refused, because
earlier releases read it as cents.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from types import UnionType
from typing import Any, Union, get_args, get_origin

import msgspec
import pytest

from common.money import AMOUNT_META
from common.places import KeyPath as Place
from common.places import format_path, loads
from controller.cli import main
from controller.configuration.amounts import in_minor_units
from controller.configuration.settings import JackpotConfig
from controller.games.games import GAMES, settings_of
from devices.drivers import DRIVERS, driver

Shape = tuple[str, str]
"""A key, and a TOML value for it with ``%s`` in place of an amount."""


def shapes(kind: type[msgspec.Struct]) -> Iterator[Shape]:
    """The keys of a section that have amounts."""
    for field in msgspec.structs.fields(kind):
        if (shape := shape_of(field.type)) is not None:
            yield field.encode_name, shape


def shape_of(kind: Any) -> str | None:
    if any(
        getattr(each, "extra", None) == AMOUNT_META for each in getattr(kind, "__metadata__", ())
    ):
        return "%s"
    parts = get_args(kind)
    inner = [shape_of(part) for part in parts]
    if get_origin(kind) in (UnionType, Union):
        return next((each for each in inner if each is not None), None)
    if get_origin(kind) is dict and inner[1] is not None:
        return f'{{ "x" = {inner[1]} }}'
    if get_origin(kind) is tuple and any(inner):
        if parts[-1] is ...:
            return f"[{inner[0]}]"
        return f"[{', '.join('1' if each is None else each for each in inner)}]"
    return None


def settings() -> Iterator[tuple[str, str]]:
    """Every amount: its name, and TOML with ``%s`` in its place."""
    for key, shape in shapes(JackpotConfig):
        yield f"jackpot.{key}", f'[[jackpot]]\ncurrency = "EUR"\n{key} = {shape}\n'
    for game in GAMES:
        for key, shape in shapes(settings_of(game)):
            yield f"{game}.{key}", f'[[table]]\ngame = "{game}"\nsettings.{key} = {shape}\n'
    for name in DRIVERS:
        for key, shape in shapes(driver(name).options):
            head = f'[[table]]\n[[table.device]]\ndriver = "{name}"\n'
            yield f"{name}.{key}", f"{head}options.{key} = {shape}\n"


def leaves(value: Any) -> Iterator[Any]:
    if isinstance(value, dict | list):
        for part in value.values() if isinstance(value, dict) else value:
            yield from leaves(part)
    else:
        yield value


def test_every_amount_is_written_with_its_decimals() -> None:
    found = dict(settings())
    assert {
        *("jackpot.stake", "jackpot.seed", "jackpot.least", "jackpot.limit"),
        *("poker-no-draw.jackpot_stake", "craps.highest_simple", "punto-banca.highest"),
        *("boule.authorised_minimum", "blackjack.accumulated_stake", "cctalk-acceptor.coins"),
    } <= set(found)
    for name, text in found.items():
        for written in ("12.34", '"12.34"'):
            notes: list[tuple[Place, str]] = []
            read = in_minor_units(loads(text % written, decimals=True), notes)
            assert (notes, 1234 in leaves(read)) == ([], True), name
        for wrong in ("1234", "12.3", "12.345", "1e3", "inf"):
            notes = []
            in_minor_units(loads(text % wrong, decimals=True), notes)
            assert [format_path(at).rpartition(".")[0] != "" for at, _ in notes] == [True], (
                name,
                wrong,
            )


def test_the_currency_is_that_of_the_section() -> None:
    text = (
        '[site]\ncurrency = "JPY"\n'
        '[[table]]\ngame = "poker-no-draw"\nsettings.jackpot_stake = 500\nspeed = 1.5\n'
        '[[jackpot]]\ncurrency = "KWD"\nstake = 5.000\n[[jackpot]]\nstake = 5\n'
    )
    notes: list[tuple[Place, str]] = []
    read = in_minor_units(loads(text, decimals=True), notes)
    assert notes == []
    assert read["table"][0] == {
        "game": "poker-no-draw",
        "settings": {"jackpot_stake": 500},
        "speed": 1.5,
    }
    assert [each["stake"] for each in read["jackpot"]] == [5000, 5]


def test_check_prints_what_to_write(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "novamas.toml"
    file.write_text(
        '[site]\nid = "palma"\ndecree = "EUS96"\n[people]\nrequired = "accept-the-risk"\n'
        '[[table]]\nid = "p1"\ngame = "poker-no-draw"\nsettings.jackpot_stake = 500\n'
        '[[table.device]]\nid = "s"\ndriver = "slot-board"\nlink = "serial:///dev/ttyS0"\n'
    )
    assert main(["check", str(file)]) == 1
    errors = capsys.readouterr().err
    assert (
        "line 9: table[0].settings.jackpot_stake: 500 may mean 500.00 or 5.00 EUR: write it with "
        "its decimals"
    ) in errors


def test_a_setting_at_the_command_line(capsys: pytest.CaptureFixture[str]) -> None:
    words = ["play", "poker-no-draw", "--decree", "EUS96", "/dev/null"]
    assert main([*words, "--set", "jackpot_stake=5.00"]) == 0
    capsys.readouterr()
    assert main([*words, "--set", "jackpot_stake=5"]) != 0
    assert "--set jackpot_stake: 5 may mean 5.00 or 0.05 EUR" in capsys.readouterr().err
