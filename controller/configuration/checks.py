"""Checks of a configuration that involve several values. Each check yields the errors that it
finds, with their paths.

A field that is empty or has its default here may have been invalid in the file; that error was
noted when the file was read.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Container, Iterator, Mapping
from ipaddress import ip_address, ip_network
from typing import Any
from urllib.parse import urlsplit

import msgspec

from common.broker.address import addresses
from common.broker.loopback import NotLoopbackError, loopback
from common.confidential.boxes import parse_public_key
from common.contract.commands import COMMANDS
from common.contract.orders import RECALL
from common.people.register import MAX_FILE_BYTES, PeopleError, from_base64url, read_people
from common.people.roles import ENROLLABLE_ROLES
from common.people.two_persons import MARKED_BY_DEFAULT
from common.places import KeyPath
from common.sections import Notes, read_section
from common.suggestions import CERTAIN_LIKENESS, closest, unknown_word
from controller.configuration.archives import archives
from controller.configuration.jackpots import RESERVED_JACKPOT_IDS as OF_TABLES
from controller.configuration.jackpots import jackpots, signs
from controller.configuration.listening import listening
from controller.configuration.pairs import standby
from controller.configuration.pictures import pictures
from controller.configuration.settings import (
    BROKER_FILES,
    BrokerConfig,
    ClockConfig,
    Configuration,
    DeviceConfig,
    SiteConfig,
    TableConfig,
)
from controller.games.game import Game
from controller.games.games import GAMES, make_game, settings_of
from controller.people.authority import LAUNCH_COMMAND, command_rights
from controller.rulebooks.chapters import decrees, games_of
from devices.codec import Driver
from devices.drivers import DRIVERS, driver
from devices.links import link_mistakes
from devices.profiles.mistakes import ProfileError

Flaws = Iterator[tuple[KeyPath, str]]

RESERVED_TABLE_IDS = ("node", "jackpot")
"""Names below ``novamas/v1/<site>/`` that no table may have."""

CARD_DEVICES = ("shoe", "shuffler", "slot")

DEVICES_BY_GAME: Mapping[str, tuple[str, ...]] = {
    **dict.fromkeys(("roulette-french", "roulette-american", "boule", "fortune-wheel"), ("wheel",)),
    "craps": ("dice",),
    "pai-gow": ("dice", *CARD_DEVICES),
}
"""Kinds of devices that a game accepts; games not listed accept ``CARD_DEVICES``."""

JACKPOT_SETTINGS: Mapping[str, str] = {
    **dict.fromkeys(("blackjack", "blackjack-triple"), "accumulated_bets = true"),
    **dict.fromkeys(("poker-no-draw", "poker-draw-house"), "jackpot_stake"),
}
"""Setting that a game needs for a bet on a jackpot, where the decree makes the bet optional."""

PUBLIC_KEY_BYTES = 32
"""Bytes of a public key."""

CREDENTIALS_FOLDER = "/run/credentials/"
"""systemd shows files below this folder to the running service only."""


NO_TABLE = "no table is configured; add [[table]]"


def flaws(
    configuration: Configuration,
    file: Callable[[KeyPath], str] = lambda _: "",
    sections: Container[str] = (),
) -> Notes:
    """Return all errors in the configuration. ``file`` returns the name of the file that contains a
    path; ``sections``: names of the sections that are present.
    """
    tables = list(enumerate(configuration.table))
    devices = [
        (("table", t, "device", d), device)
        for t, table in tables
        for d, device in enumerate(table.device)
    ]
    return [
        *(
            []
            if tables or configuration.jackpot or "archive" in sections
            else [(("table",), NO_TABLE)]
        ),
        *_site(configuration.site),
        *_broker(configuration.broker),
        *_clock(configuration.clock),
        *_surveillance(configuration),
        *_people(configuration),
        *_web(configuration),
        *jackpots(configuration),
        *signs(configuration),
        *pictures(configuration),
        *archives(configuration),
        *listening(configuration),
        *standby(configuration),
        *_duplicates(
            [(("table", t, "id"), table.id) for t, table in tables],
            "another table has the id",
            file,
        ),
        *_duplicates(
            [(("jackpot", j, "id"), jackpot.id) for j, jackpot in enumerate(configuration.jackpot)],
            "another jackpot has the id",
            file,
        ),
        *(flaw for t, table in tables for flaw in _table(("table", t), table)),
        *(flaw for at, device in devices for flaw in _device(at, device)),
        *(flaw for t, table in tables for flaw in _suitability(("table", t), table)),
        *_duplicates(
            [((*at, "link"), _target(device.link)) for at, device in devices],
            "another device is on",
            file,
        ),
        *_duplicates(
            [(("sign", s, "port"), sign.port) for s, sign in enumerate(configuration.sign)],
            "another sign is at the port",
        ),
    ]


def _site(site: SiteConfig) -> Flaws:
    if site.decree is not None:
        try:
            games_of(site.decree)
        except KeyError as error:
            yield ("site", "decree"), _message(error)


def _broker(broker: BrokerConfig) -> Flaws:
    for url in addresses(broker.url):
        yield from _address(url, alone=url == broker.url)
    scheme = broker.url.partition("://")[0]
    if (broker.cert_file is None) != (broker.key_file is None):
        has_settings, lacks = (
            ("cert_file", "key_file") if broker.key_file is None else ("key_file", "cert_file")
        )
        yield ("broker", has_settings), f"`{lacks}` is required too"
    if broker.password_file and broker.password_credential:
        yield (
            ("broker", "password_credential"),
            "`password_file` is set too; remove one of them",
        )
    if (broker.password_file or broker.password_credential) and not broker.username:
        yield ("broker",), "a password is set without `username`"
    for key in ("ca_file", "cert_file", "key_file"):
        if getattr(broker, key) and scheme != "mqtts":
            yield (
                ("broker", key),
                "is used only with an mqtts:// address; change `url`, or remove the key",
            )
    for key in BROKER_FILES:
        name = getattr(broker, key)
        if name and not name.startswith(CREDENTIALS_FOLDER) and not os.access(name, os.R_OK):
            yield ("broker", key), f"cannot be read: {name}"


def _address(url: str, *, alone: bool) -> Flaws:
    """Check the address of one broker node; ``alone``: it is the only one."""
    try:
        address = urlsplit(url)
        scheme, host, _ = address.scheme, address.hostname, address.port
    except ValueError as error:
        yield ("broker", "url"), f"is not an address: {error}"
        return
    if address.username is not None or address.password is not None:
        yield (
            ("broker", "url"),
            (
                "contains a user name or password; use `username`, and `password_file` or "
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
            (
                "expected mqtt://host:port, mqtts://host:port or embedded://127.0.0.1:port; the "
                "nodes of a cluster as mqtt://host:port,host:port"
            ),
        )
    elif scheme == "embedded" and not alone:
        yield ("broker", "url"), "a broker inside the daemon has one address"
    elif scheme == "embedded":
        try:
            loopback(host)
        except NotLoopbackError as error:
            yield ("broker", "url"), _message(error)


def _clock(clock: ClockConfig) -> Flaws:
    """Check the address of chrony. A host name is not allowed: resolving it could block."""
    if not clock.chrony:
        return
    try:
        url = urlsplit(f"//{clock.chrony}")
        ip_address(url.hostname or "")
        sound = bool(url.port) and clock.chrony == url.netloc and "@" not in clock.chrony
    except ValueError:
        sound = False
    if not sound:
        yield (
            ("clock", "chrony"),
            'expected an address and a port, as "127.0.0.1:323", or "" for no chrony',
        )


def _surveillance(configuration: Configuration) -> Flaws:
    """Check that there is a key to seal face-down cards with. Simulated tables create their own."""
    key = configuration.surveillance.public_key
    if key is not None:
        try:
            parse_public_key(key)
        except ValueError as error:
            yield ("surveillance", "public_key"), _message(error)
        return
    for t, table in enumerate(configuration.table):
        if not table.simulated and deals_face_down(table):
            yield (
                ("table", t, "game"),
                (
                    f"{table.game} deals cards face down; set surveillance.public_key (`novamas "
                    "keygen` makes one)"
                ),
            )


def _people(configuration: Configuration) -> Flaws:
    """Check that it is known who may give commands, or that the site may do without."""
    people, at = configuration.people, ("people",)
    if people is None:
        if not _is_harmless(configuration):
            yield (
                at,
                (
                    "is missing: who may give commands? docs/inspector/people.md says how to "
                    'enrol people; with required = "accept-the-risk", anyone who can publish to '
                    "the broker can give commands"
                ),
            )
        return
    if people.required is False and not _is_harmless(configuration):
        yield (
            (*at, "required"),
            (
                "without signatures, anyone who can publish to the broker can give commands; "
                "allowed with an embedded:// broker or simulated tables only. Write true, or "
                '"accept-the-risk"'
            ),
        )
    for key in ("file", "key"):
        if getattr(people, key) is None and people.required is True:
            yield at, f"the key `{key}` is missing; docs/inspector/people.md says how to make it"
    if people.key is not None and people.file is not None:
        yield from _people_file(people.file, people.key, configuration.site.id)
    for index, mark in enumerate(people.two_persons):
        if mark not in MARKED_BY_DEFAULT:
            yield (*at, "two_persons", index), unknown_word("command", mark, MARKED_BY_DEFAULT)
    yield from _rights(people.may, configuration.table)


def _web(configuration: Configuration) -> Flaws:
    """Check the proxies of the web server, and that people can sign in at its console."""
    web, people = configuration.web, configuration.people
    if (web.cert_file is None) != (web.key_file is None):
        has_settings, lacks = (
            ("key_file", "cert_file") if web.key_file else ("cert_file", "key_file")
        )
        yield ("web", has_settings), f"`{lacks}` is required too"
    if web.tls is not None and web.cert_file is not None:
        yield ("web", "tls"), "`cert_file` is set too: TLS ends here or at the proxy; remove one"
    for key in ("tls", "base"):
        if getattr(web, key) and not web.proxies:
            yield ("web", key), "`proxies` is required too: the addresses from which the proxy asks"
    for index, proxy in enumerate(web.proxies):
        try:
            ip_network(proxy)
        except ValueError:
            at = ("web", "proxies", index)
            yield at, f"{proxy!r} is not an address or network; write 10.20.0.1 or 10.20.0.0/24"
    if web.pepper_file and web.pepper_credential:
        yield ("web", "pepper_credential"), "`pepper_file` is set too; remove one of them"
    if web.pin_keys is None:
        return
    if not (web.pepper_file or web.pepper_credential):
        yield ("web", "pin_keys"), "`pepper_file` or `pepper_credential` is required too"
    if people is None or people.file is None:
        yield ("web", "pin_keys"), "signed commands need [people] with `file`"


def _people_file(file: str, key: str, site: str) -> Flaws:
    try:
        signer = from_base64url(key)
        if len(signer) != PUBLIC_KEY_BYTES:
            raise ValueError
    except ValueError:
        yield ("people", "key"), "is not a public key as `novamas people key` prints it"
        return
    try:
        with open(file, "rb") as opened:  # noqa: PTH123
            read_people(opened.read(MAX_FILE_BYTES + 1), site, signer)
    except OSError as error:
        yield ("people", "file"), f"{file}: {error.strerror}"
    except PeopleError as error:
        yield ("people", "file"), f"{file}: {error}"


def _is_harmless(configuration: Configuration) -> bool:
    """True if only this machine can give commands, or all tables are simulated."""
    return configuration.broker.url.startswith("embedded://") or all(
        table.simulated for table in configuration.table
    )


def _rights(may: Mapping[str, tuple[str, ...]], tables: tuple[TableConfig, ...]) -> Flaws:
    """Check that each command exists at some table, and each role may have it there. While a table
    is invalid, any existing command may be one of its commands.
    """
    valid = [table for table in tables if _game_of(table) is not None]
    rights_by_table = [command_rights(table.game, table.decree) for table in valid]
    names = {name for table_rights in rights_by_table for name in table_rights}
    if len(valid) < len(tables):
        names |= {str(command.__struct_config__.tag) for command in COMMANDS} | {
            LAUNCH_COMMAND,
            RECALL,
        }
    for command, roles in may.items():
        at = ("people", "may", command)
        if command not in names:
            yield at, unknown_word("command", command, sorted(names))
        for role in set(roles) - set(ENROLLABLE_ROLES):
            yield (
                at,
                (
                    f"{role} may not have it at any table: "
                    f"{unknown_word('role', role, ENROLLABLE_ROLES)}"
                ),
            )
        matching = [
            table_rights[command] for table_rights in rights_by_table if command in table_rights
        ]
        for role in roles:
            if (
                matching
                and role in ENROLLABLE_ROLES
                and not any(role in right.roles for right in matching)
            ):
                law = next((f"; {right.law}" for right in matching if right.law), "")
                yield at, f"{role} may not have it at any table{law}"
        if not set(roles) <= set(ENROLLABLE_ROLES):
            continue  # which is reported
        for table, table_rights in zip(valid, rights_by_table, strict=True):
            if command in table_rights and not set(roles) & set(table_rights[command].roles):
                yield (
                    at,
                    (
                        f"nobody could give it at {table.id}; name one of "
                        f"{', '.join(table_rights[command].roles)}"
                    ),
                )


def deals_face_down(table: TableConfig) -> bool:
    """True if cards can be face down at this table; False if its game is invalid."""
    game = _game_of(table)
    return game is not None and game.face_down


def _game_of(table: TableConfig) -> Game | None:
    """Return the game of a table, or None if it is invalid, which is reported elsewhere."""
    try:
        return make_game(table.game, table.decree, table.settings)
    except ValueError:
        return None


def _table(at: KeyPath, table: TableConfig) -> Flaws:
    if table.id in RESERVED_TABLE_IDS:
        yield (
            (*at, "id"),
            f"{table.id!r} is reserved for topics that belong to no table; choose another id",
        )
    if not table.device:
        yield at, "has no device; add [[table.device]]"
    if table.speed != 1.0 and not table.simulated:
        yield (*at, "speed"), "only a table with `simulated = true` may have a speed other than 1"
    yield from _duplicates(
        [((*at, "device", d, "id"), device.id) for d, device in enumerate(table.device)],
        "another device has the id",
    )
    yield from _game(at, table)
    yield from _jackpot(at, table)


def _jackpot(at: KeyPath, table: TableConfig) -> Flaws:
    """Check that a table linked to a jackpot has a bet on it."""
    if table.jackpot in OF_TABLES:
        yield (
            (*at, "jackpot"),
            f"{table.jackpot!r} is reserved for topics of tables; choose another id",
        )
    game = _game_of(table)
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
            yield (*at, "decree"), _message(error)
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
        yield (*at, key), _message(error)
    yield from notes


def _options(kind: type[msgspec.Struct], options: Mapping[str, Any], at: KeyPath) -> Flaws:
    """Yield the errors in the settings of a game, or the options of a driver, whose name is
    probably misspelt.
    """
    notes: Notes = []
    read_section(kind, options, at, notes)
    yield from notes


def _device(at: KeyPath, device: DeviceConfig) -> Flaws:
    if device.link:
        yield from (((*at, "link"), wrong) for wrong in link_mistakes(device.link))
    if not device.driver:
        return
    try:
        driver_ = driver(device.driver)
    except KeyError as error:
        yield (*at, "driver"), _message(error)
        near = closest(device.driver, DRIVERS, CERTAIN_LIKENESS)
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
    if scheme != "replay" and (scheme == "usb") != (driver_.scheme == "usb"):
        yield (*at, "link"), f"the driver {driver_.name} needs a {driver_.scheme}:// link"
    yield from notes
    if device.commands and not driver_.commands:
        yield (*at, "commands"), f"the driver {driver_.name} can send no commands; remove the key"


def _suitability(at: KeyPath, table: TableConfig) -> Flaws:
    """Check that each device fits the table's game. A table can use only one wheel."""
    if table.game not in GAMES:
        return
    wheels = 0
    for d, device in enumerate(table.device):
        driver_ = _driver_of(device)
        if driver_ is None:
            continue
        wheels += driver_.kind == "wheel"
        if (problem := unsuited(driver_, device.driver, table.game)) is not None:
            yield (*at, "device", d, "driver"), problem
        elif driver_.kind == "wheel" and wheels > 1:
            yield (
                (*at, "device", d),
                "is a second wheel; a table can have only one",
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
    allowed = getattr(getattr(_game_of(table), "book", None), "pockets", None)
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


def _duplicates(
    values: list[tuple[KeyPath, str]], problem: str, file: Callable[[KeyPath], str] = lambda _: ""
) -> Flaws:
    """Report each repetition of a value."""
    seen = dict[str, KeyPath]()
    for at, value in values:
        if value and value in seen:
            first = file(seen[value])
            yield at, f"{problem} {value} too{f', in {first}' if first != file(at) else ''}"
        seen.setdefault(value, at)


def _target(link: str) -> str:
    """Return the target of a link, to compare it with other links: without settings, with a path in
    /dev resolved. Empty for replayed recordings, which several devices may share.
    """
    scheme, _, rest = link.partition("://")
    target = (
        rest.partition("?")[0].lower()
        if scheme != "serial"
        else os.path.realpath(rest.partition("?")[0])
    )
    return "" if scheme == "replay" else target


def _message(error: Exception) -> str:
    return str(error.args[0] if error.args else error)
