"""Whether a configuration makes sense: what no single value shows. Each check gives the flaws it
finds, with their paths.

A field that is empty or at its default here may have been mistaken in the file; that was noted when
it was read.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from urllib.parse import urlsplit

import msgspec

from controller.confidential.boxes import public_key
from controller.configuration.settings import BROKER_FILES, Broker, Configuration, Device, Table
from controller.games.game import Game
from controller.games.games import GAMES, make_game, settings_of
from controller.mqtt.embedded_broker import NotLoopbackError, loopback
from devices.codec import Driver
from devices.drivers import driver
from devices.links import check_link
from devices.places import Path
from devices.profiles import profile
from devices.sections import Notes, read

Flaws = Iterator[tuple[Path, str]]

RESERVED = ("node",)
"""Names below ``novamas/v1/<site>/`` that no table may have."""

CARDS = ("shoe", "shuffler", "slot")

SERVE: Mapping[str, tuple[str, ...]] = {
    **dict.fromkeys(("roulette-french", "roulette-american", "boule", "fortune-wheel"), ("wheel",)),
    "craps": ("dice",),
    "pai-gow": ("dice", *CARDS),
}
"""The kinds of devices that a game listens to; those that are not here, to ``CARDS``."""

CREDENTIALS = "/run/credentials/"
"""Files below are shown by systemd to the running service only."""


def flaws(configuration: Configuration) -> Notes:
    """Everything that does not fit, of the whole configuration."""
    tables = list(enumerate(configuration.table))
    devices = [
        (("table", t, "device", d), device)
        for t, table in tables
        for d, device in enumerate(table.device)
    ]
    return [
        *([] if tables else [(("table",), "there is no table: add [[table]]")]),
        *_broker(configuration.broker),
        *_surveillance(configuration),
        *_once([(("table", t, "id"), table.id) for t, table in tables], "another table has the id"),
        *(flaw for t, table in tables for flaw in _table(("table", t), table)),
        *(flaw for at, device in devices for flaw in _device(at, device)),
        *(flaw for t, table in tables for flaw in _served(("table", t), table)),
        *_once(
            [((*at, "link"), _line(device.link)) for at, device in devices], "another device is on"
        ),
    ]


def _broker(broker: Broker) -> Flaws:
    try:
        address = urlsplit(broker.url)
        scheme, host, _ = address.scheme, address.hostname, address.port
    except ValueError as error:
        yield ("broker", "url"), f"is no address: {error}"
        return
    if address.username is not None or address.password is not None:
        yield (
            ("broker", "url"),
            (
                "holds a name or password: use `username`, and `password_file` or "
                "`password_credential`"
            ),
        )
    if (
        scheme not in ("mqtt", "mqtts", "embedded")
        or not host
        or address.path.strip("/")
        or address.query
        or address.fragment
    ):
        yield (
            ("broker", "url"),
            "expected mqtt://host:port, mqtts://host:port or embedded://127.0.0.1:port",
        )
    elif scheme == "embedded":
        try:
            loopback(host)
        except NotLoopbackError as error:
            yield ("broker", "url"), _words(error)
    if (broker.cert_file is None) != (broker.key_file is None):
        has, lacks = (
            ("cert_file", "key_file") if broker.key_file is None else ("key_file", "cert_file")
        )
        yield ("broker", has), f"needs `{lacks}` too"
    if broker.password_file and broker.password_credential:
        yield (
            ("broker", "password_credential"),
            "the password is in `password_file` already; leave one of them out",
        )
    if (broker.password_file or broker.password_credential) and not broker.username:
        yield ("broker",), "a password needs a `username`"
    for key in ("ca_file", "cert_file", "key_file"):
        if getattr(broker, key) and scheme != "mqtts":
            yield ("broker", key), "is used with an mqtts:// address only"
    for key in BROKER_FILES:
        name = getattr(broker, key)
        if name and not name.startswith(CREDENTIALS) and not os.access(name, os.R_OK):
            yield ("broker", key), f"cannot be read: {name}"


def _surveillance(configuration: Configuration) -> Flaws:
    """Whether there is somebody to seal the cards for that lie face down. Simulated tables make a
    key of their own.
    """
    key = configuration.surveillance.public_key
    if key is not None:
        try:
            public_key(key)
        except ValueError as error:
            yield ("surveillance", "public_key"), _words(error)
        return
    for t, table in enumerate(configuration.table):
        if not table.simulated and deals_face_down(table):
            yield (
                ("table", t, "game"),
                (
                    f"{table.game} deals cards face down: set surveillance.public_key (`novamas "
                    "keygen`)"
                ),
            )


def deals_face_down(table: Table) -> bool:
    """Whether cards ever lie face down at this table; no, if its game cannot be made."""
    game = _made(table)
    return game is not None and game.face_down


def _made(table: Table) -> Game | None:
    """The game of a table, or None if it cannot be made, which is told elsewhere."""
    try:
        return make_game(table.game, table.decree, table.settings)
    except ValueError:
        return None


def _table(at: Path, table: Table) -> Flaws:
    if table.id in RESERVED:
        yield (*at, "id"), f"{table.id!r} is a name that the topics need themselves"
    if not table.device:
        yield at, "has no device: add [[table.device]]"
    if table.speed != 1.0 and not table.simulated:
        yield (*at, "speed"), "only a table with `simulated = true` may run at another speed than 1"
    yield from _once(
        [((*at, "device", d, "id"), device.id) for d, device in enumerate(table.device)],
        "another device has the id",
    )
    yield from _game(at, table)


def _game(at: Path, table: Table) -> Flaws:
    """Whether there is the game, it has the settings, and the decree has it."""
    if not table.game:
        return
    notes: Notes = []
    key = "game"
    try:
        read(settings_of(table.game), table.settings, (*at, "settings"), notes)
        key = "decree"
        if table.decree:
            make_game(table.game, table.decree, {})
            key = "settings"
            if not notes:
                make_game(table.game, table.decree, table.settings)
    except ValueError as error:
        yield (*at, key), _words(error)
    yield from notes


def _device(at: Path, device: Device) -> Flaws:
    if device.link and (wrong := check_link(device.link)):
        yield (*at, "link"), wrong
    if not device.driver:
        return
    try:
        known = driver(device.driver)
    except KeyError as error:
        yield (*at, "driver"), _words(error)
        return
    notes: Notes = []
    options = read(known.options, device.options, (*at, "options"), notes)
    if known.described is not None:
        if not device.options.get("text"):
            return  # it could not be read, which is told already
        try:
            known = known.described(options)
        except profile.ProfileError as mistaken:
            for mistake in mistaken.mistakes:
                yield (*at, "options", "file"), mistake.of(device.options["file"])
            return
    scheme = device.link.partition("://")[0]
    if scheme != "replay" and (scheme == "usb") != (known.scheme == "usb"):
        yield (*at, "link"), f"the driver {known.name} reads a {known.scheme}:// device"
    yield from notes
    if device.commands and not known.commands:
        yield (*at, "commands"), f"the driver {known.name} has no commands to send"


def _served(at: Path, table: Table) -> Flaws:
    """Whether each device is one for the table's game: of another it could make nothing, and of two
    wheels only nonsense.
    """
    if table.game not in GAMES:
        return
    serve = SERVE.get(table.game, CARDS)
    wheels = 0
    for d, device in enumerate(table.device):
        known = _described(device)
        if known is None:
            continue
        wheels += known.kind == "wheel"
        if known.games and table.game not in known.games:
            what = (
                f"the driver {device.driver} is for {' and '.join(known.games)}; this table "
                f"plays {table.game}"
            )
            yield (*at, "device", d, "driver"), what
        elif known.kind not in serve:
            what = (
                f"the driver {device.driver} is of the kind {known.kind}; {table.game} takes: "
                f"{', '.join(serve)}"
            )
            yield (*at, "device", d, "driver"), what
        elif known.kind == "wheel" and wheels > 1:
            yield (
                (*at, "device", d),
                "a second wheel: a table has one, and could not tell their numbers apart",
            )
        else:
            yield from _pockets((*at, "device", d), device, known, table)


def _pockets(at: Path, device: Device, known: Driver, table: Table) -> Flaws:
    """Whether a roulette wheel is said to have as many pockets as the decree gives it."""
    allowed = getattr(getattr(_made(table), "book", None), "pockets", None)
    notes: Notes = []
    told = getattr(read(known.options, device.options, at, notes), "pockets", allowed)
    if allowed is not None and told != allowed and not notes:
        yield (*at, "options", "pockets"), f"{table.game} has {allowed} under {table.decree}"


def _described(device: Device) -> Driver | None:
    """The driver of a device, after its profile if it has one; None if it cannot be known, which is
    told elsewhere.
    """
    try:
        known = driver(device.driver)
        return (
            known.described(msgspec.convert(device.options, known.options))
            if known.described is not None
            else known
        )
    except (KeyError, ValueError):
        return None


def _once(values: list[tuple[Path, str]], what: str) -> Flaws:
    """A value that stands in two places is wrong in the second."""
    seen = set()
    for at, value in values:
        if value and value in seen:
            yield at, f"{what} {value} too"
        seen.add(value)


def _line(link: str) -> str:
    """What a link reaches, to compare it with others: without settings, a name in /dev as its node.
    A recording may serve many.
    """
    scheme, _, rest = link.partition("://")
    target = (
        rest.partition("?")[0].lower()
        if scheme != "serial"
        else os.path.realpath(rest.partition("?")[0])
    )
    return "" if scheme == "replay" else target


def _words(error: Exception) -> str:
    return str(error.args[0] if error.args else error)
