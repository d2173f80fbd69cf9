"""Checks the tables of a configuration: their games, their settings and their devices."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import msgspec

from common.contract.event_fields import WITNESS_KEYPAD
from common.places import KeyPath
from common.sections import Notes, read_section
from common.suggestions import CERTAIN_LIKENESS, closest
from controller.configuration.codec_options import ASK_OPTION
from controller.configuration.flaws import Flaws, duplicates, text_of
from controller.configuration.jackpots import RESERVED_JACKPOT_IDS as OF_TABLES
from controller.configuration.settings import (
    DeviceConfig,
    TableConfig,
)
from controller.games.game import Game
from controller.games.games import GAMES, make_game, settings_of
from controller.rulebooks.chapters import decrees, games_of
from devices.codec import Driver, RequestingCodec
from devices.drivers import driver, driver_names
from devices.links import driver_scheme, link_mistakes
from devices.profiles.mistakes import ProfileError

RESERVED_TABLE_IDS = ("node", "jackpot")
"""Names below ``novamas/v1/<site>/`` that no table may have."""
CARD_DEVICES = ("shoe", "shuffler", "slot")
DEVICES_BY_GAME: Mapping[str, tuple[str, ...]] = {
    **dict.fromkeys(("roulette-french", "roulette-american", "boule", "fortune-wheel"), ("wheel",)),
    "craps": ("dice",),
    "pai-gow": ("dice", *CARD_DEVICES),
}
"""Kinds of devices that a game accepts; games not listed accept ``CARD_DEVICES``."""
WITNESSED_GAMES = frozenset(
    game for game, kinds in DEVICES_BY_GAME.items() if kinds in (("wheel",), ("dice",))
)
"""Games that a second witness may report. A witness of cards could reveal one that is face down."""
JACKPOT_SETTINGS: Mapping[str, str] = {
    **dict.fromkeys(("blackjack", "blackjack-triple"), "accumulated_bets = true"),
    **dict.fromkeys(("poker-no-draw", "poker-draw-house"), "jackpot_stake"),
}
"""Setting that a game needs for a bet on a jackpot, where the decree makes the bet optional."""


def deals_face_down(table: TableConfig) -> bool:
    """True if cards can be face down at this table; False if its game is invalid."""
    game = game_of(table)
    return game is not None and game.face_down


def game_of(table: TableConfig) -> Game | None:
    """Return the game of a table, or None if it is invalid, which is reported elsewhere."""
    try:
        return make_game(table.game, table.decree, table.settings)
    except ValueError:
        return None


def table_flaws(at: KeyPath, table: TableConfig) -> Flaws:
    if table.id in RESERVED_TABLE_IDS:
        yield (
            (*at, "id"),
            f"{table.id!r} is reserved for topics that belong to no table; choose another id",
        )
    if not table.device:
        yield at, "has no device; add [[table.device]]"
    if table.speed != 1.0 and not table.simulated:
        yield (*at, "speed"), "only a table with `simulated = true` may have a speed other than 1"
    yield from _witness_keypad(at, table)
    if table.device and all(device.witness for device in table.device):
        yield (
            at,
            "has only witnesses, which give no result; remove `witness` from the device that does",
        )
    yield from duplicates(
        [((*at, "device", d, "id"), device.id) for d, device in enumerate(table.device)],
        "another device has the id",
    )
    yield from _game(at, table)
    yield from _jackpot(at, table)


def _witness_keypad(at: KeyPath, table: TableConfig) -> Flaws:
    """Check that a table whose people are a second witness can have one."""
    if table.witness_keypad is None:
        return
    if table.game not in WITNESSED_GAMES:
        yield (*at, "witness_keypad"), f"{table.game} cannot have a second witness; remove it"
    for d, device in enumerate(table.device):
        if device.id == WITNESS_KEYPAD:
            yield (
                (*at, "device", d, "id"),
                "with [table.witness_keypad] the id is that of the people at the table; rename it",
            )


def _jackpot(at: KeyPath, table: TableConfig) -> Flaws:
    """Check that a table linked to a jackpot has a bet on it."""
    if table.jackpot in OF_TABLES:
        yield (
            (*at, "jackpot"),
            f"{table.jackpot!r} is reserved for topics of tables; choose another id",
        )
    game = game_of(table)
    if game is None:
        return  # which is reported elsewhere
    if table.jackpot is None:
        if table.settings.get("out_of_play") == "mark":
            yield (
                (*at, "settings", "out_of_play"),
                "the table is not linked to a jackpot; set `jackpot`, or remove this key",
            )
    elif game.jackpot_bet is None:
        advice = (
            f"set {JACKPOT_SETTINGS[table.game]} in its settings, or "
            if table.game in JACKPOT_SETTINGS
            else ""
        )
        yield (
            (*at, "jackpot"),
            f"this table has no bet on a jackpot: {advice}remove the key",
        )


def _game(at: KeyPath, table: TableConfig) -> Flaws:
    """Check that the game exists, that the decree has it, and that its settings are valid."""
    notes: Notes = []
    if table.decree:
        try:
            games_of(table.decree)
        except KeyError as error:
            yield (*at, "decree"), text_of(error)
    if not table.game:
        return
    if (
        table.game not in GAMES
        and (near := closest(table.game, GAMES, CERTAIN_LIKENESS)) is not None
    ):
        yield from _options(settings_of(near), table.settings, (*at, "settings"))
    key = "game"
    try:
        read_section(settings_of(table.game), table.settings, (*at, "settings"), notes)
        if table.decree in decrees():
            key = "decree"
            make_game(table.game, table.decree, {})
            key = "settings"
            if not notes:
                make_game(table.game, table.decree, table.settings)
    except ValueError as error:
        yield (*at, key), text_of(error)
    yield from notes


def _options(kind: type[msgspec.Struct], options: Mapping[str, Any], at: KeyPath) -> Flaws:
    """Yield the errors in the settings of a game, or the options of a driver, whose name is
    probably misspelt.
    """
    notes: Notes = []
    read_section(kind, options, at, notes)
    yield from notes


def device_flaws(at: KeyPath, device: DeviceConfig) -> Flaws:
    if device.answers_within is not None and not device.witness:
        yield (*at, "answers_within"), "applies only with `witness = true`; remove it"
    if device.link:
        yield from (((*at, "link"), wrong) for wrong in link_mistakes(device.link))
    if not device.driver:
        return
    try:
        driver_ = driver(device.driver)
    except KeyError as error:
        yield (*at, "driver"), text_of(error)
        near = closest(device.driver, driver_names(), CERTAIN_LIKENESS)
        if near is not None and driver(near).described is None:
            yield from _options(driver(near).options, device.options, (*at, "options"))
        return
    notes: Notes = []
    options = read_section(driver_.options, device.options, (*at, "options"), notes)
    if driver_.described is not None:
        if not device.options.get("text"):
            return  # the profile could not be read, which is already reported
        try:
            driver_ = driver_.described(options)
        except ProfileError as mistaken:
            for mistake in mistaken.mistakes:
                yield (*at, "options", "file"), mistake.describe(device.options["file"])
            return
    scheme = device.link.partition("://")[0]
    if scheme != "replay" and driver_scheme(device.link) != driver_.scheme:
        yield (*at, "link"), f"the driver {driver_.name} needs a {driver_.scheme}:// link"
    yield from notes
    if device.options.get(ASK_OPTION) is True and not device.commands:
        yield (*at, "options", ASK_OPTION), "needs `commands = true` for this device, or remove it"
    if device.commands and not driver_.commands:
        yield (*at, "commands"), f"the driver {driver_.name} can send no commands; remove the key"
    if device.tap:
        requests = options is not None and isinstance(
            driver_.make(device.id, options), RequestingCodec
        )
        yield from _tap_flaws((*at, "tap"), device, driver_.name, requests)


def _tap_flaws(at: KeyPath, device: DeviceConfig, driver_name: str, requests: bool) -> Flaws:
    """Check that a tapped device can be read without a word to it. ``requests``: whether the driver
    reads only the answers to its own requests.
    """
    if device.commands:
        yield at, "nothing is written to a tapped device; remove `commands`"
    if requests:
        problem = "reads only the answers to its own requests, so its device cannot be tapped"
        yield at, f"the driver {driver_name} {problem}"


def suitability_flaws(at: KeyPath, table: TableConfig) -> Flaws:
    """Check that each device fits the table's game. A table can use only one wheel."""
    if table.game not in GAMES:
        return
    wheels = 0
    for d, device in enumerate(table.device):
        driver_ = _driver_of(device)
        if driver_ is None:
            continue
        wheels += driver_.kind == "wheel" and not device.witness
        if device.witness and table.game not in WITNESSED_GAMES:
            yield (
                (*at, "device", d, "witness"),
                (
                    f"{table.game} cannot have a second witness: a witness of cards could reveal "
                    "one that is face down; only wheels and craps can; remove the key"
                ),
            )
        elif (problem := unsuited(driver_, device.driver, table.game)) is not None:
            yield (*at, "device", d, "driver"), problem
        elif driver_.kind == "wheel" and not device.witness and wheels > 1:
            yield (
                (*at, "device", d),
                "is a second wheel; a table can have only one, and others with `witness = true`",
            )
        else:
            yield from _pockets((*at, "device", d), device, driver_, table)


def unsuited(driver_: Driver, name: str, game: str) -> str | None:
    """Return why a table with this game cannot use what the driver reads, or None."""
    accepted = DEVICES_BY_GAME.get(game, CARD_DEVICES)
    if driver_.games and game not in driver_.games:
        return (
            f"the driver {name} is for {' and '.join(driver_.games)}, but this table plays {game}"
        )
    if driver_.kind not in accepted:
        return f"the driver {name} is for a {driver_.kind}; {game} accepts: {', '.join(accepted)}"
    return None


def _pockets(at: KeyPath, device: DeviceConfig, driver_: Driver, table: TableConfig) -> Flaws:
    """Check that a roulette wheel has as many pockets as the decree requires."""
    allowed = getattr(getattr(game_of(table), "book", None), "pockets", None)
    notes: Notes = []
    configured = getattr(
        read_section(driver_.options, device.options, at, notes), "pockets", allowed
    )
    if allowed is not None and configured != allowed and not notes:
        yield (
            (*at, "options", "pockets"),
            f"must be {allowed}: {table.game} has {allowed} pockets under {table.decree}",
        )


def _driver_of(device: DeviceConfig) -> Driver | None:
    """Return the driver of a device, from its profile if it has one; None if it is unknown, which
    is reported elsewhere.
    """
    try:
        driver_ = driver(device.driver)
        return (
            driver_.described(msgspec.convert(device.options, driver_.options))
            if driver_.described is not None
            else driver_
        )
    except (KeyError, ValueError):
        return None
