"""Checks of lights and relays."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from ipaddress import AddressValueError, IPv4Address

from common.suggestions import unknown_word
from controller.configuration.flaws import Flaws, duplicates
from controller.configuration.settings import Configuration, LightConfig, LightScene

KeyFlaws = Iterator[tuple[str, str]]

PROTOCOLS_BY_KEY: Mapping[str, tuple[str, ...]] = {
    "interface": ("sacn", "artnet"),
    "universe": ("sacn", "artnet"),
    "priority": ("sacn",),
    "line": ("relay",),
    "rest": ("sacn", "artnet"),
}
"""Keys that apply to some protocols only, and these protocols."""
UNIVERSES = {"sacn": range(1, 64_000), "artnet": range(32_768)}
WHEELS = ("roulette-french", "roulette-american", "boule", "fortune-wheel")
_SERVER_PORT = re.compile(r"rfc2217://[A-Za-z0-9._-]+:[1-9][0-9]{0,4}")


def lights(configuration: Configuration) -> Flaws:
    """Yield all errors."""
    yield from duplicates(
        [(("light", index, "id"), light.id) for index, light in enumerate(configuration.light)],
        "another light has the id",
    )
    for index, light in enumerate(configuration.light):
        for key, problem in _light(light):
            yield ("light", index, key), problem
        for number, scene in enumerate(light.scene):
            for key, problem in (*_scene(light, scene), *_cause(configuration, light, scene)):
                yield ("light", index, "scene", number, key), problem


def _light(light: LightConfig) -> KeyFlaws:
    if light.protocol not in ("sacn", "artnet", "relay"):  # reported when the file was read
        return
    defaults = LightConfig(id=light.id, protocol=light.protocol)
    for key, protocols in PROTOCOLS_BY_KEY.items():
        if light.protocol not in protocols and getattr(light, key) != getattr(defaults, key):
            yield key, f"applies only to {' and '.join(protocols)}; remove it from this light"
    if not light.scene:
        yield "scene", "no scene; add [[light.scene]]"
    if light.protocol == "relay":
        address = light.address or ""
        if not address.startswith("/") and not _SERVER_PORT.fullmatch(address):
            yield "address", "write the path of a serial port, or rfc2217://host:port"
        return
    allowed = UNIVERSES[light.protocol]
    if light.universe not in allowed:
        yield "universe", f"{light.protocol} has the universes {allowed[0]} to {allowed[-1]}"
    if light.address is None and light.protocol == "artnet":
        yield "address", "Art-Net is not broadcast; write the IP address of the node"
    for key in ("address", "interface"):
        text = getattr(light, key)
        if text is not None and not _is_address(text):
            yield key, f"{text!r} is not an IPv4 address, as 10.0.0.9; names are not looked up"


def _scene(light: LightConfig, scene: LightScene) -> KeyFlaws:
    if (scene.jackpot is None) == (scene.table is None):
        yield "jackpot", "name either a jackpot, or a table and its numbers"
    elif (scene.table is None) != (not scene.numbers):
        yield (
            "numbers",
            "a scene of a table needs `numbers`; a scene of a jackpot must not have them",
        )
    if light.protocol == "relay" and scene.channels:
        yield "channels", "a relay has no channels; remove it"
    if light.protocol != "relay" and not scene.channels:
        yield "channels", "no channel is set; write as { 1 = 255 }"


def _cause(configuration: Configuration, light: LightConfig, scene: LightScene) -> KeyFlaws:
    """Check that the table or jackpot of a scene is known. In a file without jackpots, they are of
    another machine.
    """
    tables = {table.id: table.simulated for table in configuration.table}
    jackpots = {jackpot.id: jackpot.simulated for jackpot in configuration.jackpot}
    games = {table.id: table.game for table in configuration.table}
    for key, name, known in (("table", scene.table, tables), ("jackpot", scene.jackpot, jackpots)):
        if not name or (key == "jackpot" and not known):
            continue
        if name not in known:
            yield key, unknown_word(key, name, sorted(known))
        elif known[name] != light.simulated:
            kind = "simulated" if known[name] else "not simulated"
            yield key, f"{name} is {kind}; set `simulated` of the light as it has it"
        elif key == "table" and games[name] not in WHEELS:
            yield key, f"{name} plays {games[name]}, which has no wheel"


def _is_address(text: str) -> bool:
    try:
        IPv4Address(text)
    except AddressValueError:
        return False
    return True
