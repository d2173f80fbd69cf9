"""Checks of a configuration that no single value shows. Each check yields the mistakes it finds,
with their paths.

A field that is empty or has its default here may have been wrong in the file; that was noted when
the file was read.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Container, Iterator, Mapping
from ipaddress import ip_address, ip_network
from typing import Any
from urllib.parse import urlsplit

import msgspec

from controller.broker.address import addresses
from controller.broker.loopback import NotLoopbackError, loopback
from controller.confidential.boxes import parse_public_key
from controller.configuration.archives import archives
from controller.configuration.jackpots import RESERVED as OF_TABLES
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
from controller.contract.commands import COMMANDS
from controller.contract.orders import RECALL
from controller.games.game import Game
from controller.games.games import GAMES, make_game, settings_of
from controller.people.authority import LAUNCH, rights
from controller.people.register import LARGEST, PeopleError, read_people, unspelled
from controller.people.roles import HELD
from controller.people.two_persons import MARKED
from controller.rulebooks.chapters import decrees, games_of
from devices.codec import Driver
from devices.drivers import DRIVERS, driver
from devices.links import link_mistakes
from devices.places import Path
from devices.profiles.mistakes import ProfileError
from devices.sections import Notes, read
from devices.suggestions import SURE, meant, unknown

Flaws = Iterator[tuple[Path, str]]

RESERVED = ("node", "jackpot")
"""Names below ``novamas/v1/<site>/`` that no table may have."""

CARDS = ("shoe", "shuffler", "slot")

SERVE: Mapping[str, tuple[str, ...]] = {
    **dict.fromkeys(("roulette-french", "roulette-american", "boule", "fortune-wheel"), ("wheel",)),
    "craps": ("dice",),
    "pai-gow": ("dice", *CARDS),
}
"""The kinds of devices that a game accepts; a game not listed here accepts ``CARDS``."""

BET: Mapping[str, str] = {
    **dict.fromkeys(("blackjack", "blackjack-triple"), "accumulated_bets = true"),
    **dict.fromkeys(("poker-no-draw", "poker-draw-house"), "jackpot_stake"),
}
"""What a game whose decree has a bet on a jackpot needs, lest the table has none."""

KEY = 32
"""The bytes of a public key."""

CREDENTIALS = "/run/credentials/"
"""systemd shows the files below this folder to the running service only."""


NO_TABLE = "no table is configured; add [[table]]"


def flaws(
    configuration: Configuration,
    file: Callable[[Path], str] = lambda _: "",
    sections: Container[str] = (),
) -> Notes:
    """Every mistake in the whole configuration. ``file``: the name of the file in which a path
    stands; ``sections``: those that are there.
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
        *_once(
            [(("table", t, "id"), table.id) for t, table in tables],
            "another table has the id",
            file,
        ),
        *_once(
            [(("jackpot", j, "id"), each.id) for j, each in enumerate(configuration.jackpot)],
            "another jackpot has the id",
            file,
        ),
        *(flaw for t, table in tables for flaw in _table(("table", t), table)),
        *(flaw for at, device in devices for flaw in _device(at, device)),
        *(flaw for t, table in tables for flaw in _served(("table", t), table)),
        *_once(
            [((*at, "link"), _line(device.link)) for at, device in devices],
            "another device is on",
            file,
        ),
        *_once(
            [(("sign", s, "port"), sign.port) for s, sign in enumerate(configuration.sign)],
            "another sign is at the port",
        ),
    ]


def _site(site: SiteConfig) -> Flaws:
    if site.decree is not None:
        try:
            games_of(site.decree)
        except KeyError as error:
            yield ("site", "decree"), _words(error)


def _broker(broker: BrokerConfig) -> Flaws:
    for url in addresses(broker.url):
        yield from _address(url, alone=url == broker.url)
    scheme = broker.url.partition("://")[0]
    if (broker.cert_file is None) != (broker.key_file is None):
        has, lacks = (
            ("cert_file", "key_file") if broker.key_file is None else ("key_file", "cert_file")
        )
        yield ("broker", has), f"`{lacks}` is required too"
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
        if name and not name.startswith(CREDENTIALS) and not os.access(name, os.R_OK):
            yield ("broker", key), f"cannot be read: {name}"


def _address(url: str, *, alone: bool) -> Flaws:
    """Of one node of the broker; ``alone``: there is no other."""
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
            yield ("broker", "url"), _words(error)


def _clock(clock: ClockConfig) -> Flaws:
    """Where chrony answers is an address: looking a name up would keep the tables waiting."""
    if not clock.chrony:
        return
    try:
        found = urlsplit(f"//{clock.chrony}")
        ip_address(found.hostname or "")
        sound = bool(found.port) and clock.chrony == found.netloc and "@" not in clock.chrony
    except ValueError:
        sound = False
    if not sound:
        yield (
            ("clock", "chrony"),
            'expected an address and a port, as "127.0.0.1:323", or "" to ask nobody',
        )


def _surveillance(configuration: Configuration) -> Flaws:
    """Whether there is a key to seal face-down cards with. Simulated tables make their own."""
    key = configuration.surveillance.public_key
    if key is not None:
        try:
            parse_public_key(key)
        except ValueError as error:
            yield ("surveillance", "public_key"), _words(error)
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
    """Whether it is known who may act, or the site may do without."""
    people, at = configuration.people, ("people",)
    if people is None:
        if not _harmless(configuration):
            yield (
                at,
                (
                    "is missing: who may give commands? docs/inspector/security.md says how to "
                    'enrol people; required = "accept-the-risk" lets whoever may publish at the '
                    "broker command"
                ),
            )
        return
    if people.required is False and not _harmless(configuration):
        yield (
            (*at, "required"),
            (
                "without signatures, whoever may publish at the broker is anybody; allowed with an "
                'embedded:// broker or simulated tables only. Write true, or "accept-the-risk"'
            ),
        )
    for key in ("file", "key"):
        if getattr(people, key) is None and people.required is True:
            yield at, f"the key `{key}` is missing; docs/inspector/security.md says how to make it"
    if people.key is not None and people.file is not None:
        yield from _people_file(people.file, people.key, configuration.site.id)
    for index, mark in enumerate(people.two_persons):
        if mark not in MARKED:
            yield (*at, "two_persons", index), unknown("command", mark, MARKED)
    yield from _narrowed(people.may, configuration.table)


def _web(configuration: Configuration) -> Flaws:
    """Whether its proxies are known, and people can sign in at the console, if there is one."""
    web, people = configuration.web, configuration.people
    if (web.cert_file is None) != (web.key_file is None):
        has, lacks = ("key_file", "cert_file") if web.key_file else ("cert_file", "key_file")
        yield ("web", has), f"`{lacks}` is required too"
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
            yield at, f"{proxy!r} is no address or network; write it as 10.20.0.1 or 10.20.0.0/24"
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
        signer = unspelled(key)
        if len(signer) != KEY:
            raise ValueError
    except ValueError:
        yield ("people", "key"), "is not a public key as `novamas people key` prints it"
        return
    try:
        with open(file, "rb") as opened:  # noqa: PTH123
            read_people(opened.read(LARGEST + 1), site, signer)
    except OSError as error:
        yield ("people", "file"), f"{file}: {error.strerror}"
    except PeopleError as error:
        yield ("people", "file"), f"{file}: {error}"


def _harmless(configuration: Configuration) -> bool:
    """Whether nobody but this machine can give commands, or none is to a real table."""
    return configuration.broker.url.startswith("embedded://") or all(
        table.simulated for table in configuration.table
    )


def _narrowed(may: Mapping[str, tuple[str, ...]], tables: tuple[TableConfig, ...]) -> Flaws:
    """Whether each command is one of some table, and each role may have it there. Where a table is
    mistaken, any command that there is may be one of its.
    """
    known = [table for table in tables if _made(table) is not None]
    of = [rights(table.game, table.decree) for table in known]
    names = {name for each in of for name in each}
    if len(known) < len(tables):
        names |= {str(command.__struct_config__.tag) for command in COMMANDS} | {LAUNCH, RECALL}
    for command, roles in may.items():
        at = ("people", "may", command)
        if command not in names:
            yield at, unknown("command", command, sorted(names))
        for role in set(roles) - set(HELD):
            yield at, f"{role} may not have it at any table: {unknown('role', role, HELD)}"
        found = [each[command] for each in of if command in each]
        for role in roles:
            if found and role in HELD and not any(role in right.roles for right in found):
                law = next((f"; {right.law}" for right in found if right.law), "")
                yield at, f"{role} may not have it at any table{law}"
        if not set(roles) <= set(HELD):
            continue  # which is reported
        for table, each in zip(known, of, strict=True):
            if command in each and not set(roles) & set(each[command].roles):
                yield (
                    at,
                    (
                        f"nobody could give it at {table.id}; name one of "
                        f"{', '.join(each[command].roles)}"
                    ),
                )


def deals_face_down(table: TableConfig) -> bool:
    """Whether cards are ever face down at this table; False if its game cannot be made."""
    game = _made(table)
    return game is not None and game.face_down


def _made(table: TableConfig) -> Game | None:
    """The game of a table, or None if it cannot be made, which is reported elsewhere."""
    try:
        return make_game(table.game, table.decree, table.settings)
    except ValueError:
        return None


def _table(at: Path, table: TableConfig) -> Flaws:
    if table.id in RESERVED:
        yield (
            (*at, "id"),
            f"{table.id!r} is reserved: topics that are no table's use it; choose another id",
        )
    if not table.device:
        yield at, "has no device; add [[table.device]]"
    if table.speed != 1.0 and not table.simulated:
        yield (*at, "speed"), "only a table with `simulated = true` may have a speed other than 1"
    yield from _once(
        [((*at, "device", d, "id"), device.id) for d, device in enumerate(table.device)],
        "another device has the id",
    )
    yield from _game(at, table)
    yield from _jackpot(at, table)


def _jackpot(at: Path, table: TableConfig) -> Flaws:
    """Whether a table that is linked with a jackpot has a bet on it."""
    if table.jackpot in OF_TABLES:
        yield (
            (*at, "jackpot"),
            f"{table.jackpot!r} is reserved: topics of tables are called so; choose another id",
        )
    game = _made(table)
    if game is None:
        return  # which is reported elsewhere
    if table.jackpot is None:
        if table.settings.get("out_of_play") == "mark":
            yield (
                (*at, "settings", "out_of_play"),
                "the table is linked with no jackpot; set `jackpot`, or remove this key",
            )
    elif getattr(game, "jackpot_bet", None) is None:
        asks = f"set {BET[table.game]} in its settings, or " if table.game in BET else ""
        yield (
            (*at, "jackpot"),
            f"this table has no bet on a jackpot: {asks}remove the key",
        )


def _game(at: Path, table: TableConfig) -> Flaws:
    """Whether the game exists, the decree has it, and its settings are valid."""
    notes: Notes = []
    if table.decree:
        try:
            games_of(table.decree)
        except KeyError as error:
            yield (*at, "decree"), _words(error)
    if not table.game:
        return
    if table.game not in GAMES and (near := meant(table.game, GAMES, SURE)) is not None:
        yield from _options(settings_of(near), table.settings, (*at, "settings"))
    key = "game"
    try:
        read(settings_of(table.game), table.settings, (*at, "settings"), notes)
        if table.decree in decrees():
            key = "decree"
            make_game(table.game, table.decree, {})
            key = "settings"
            if not notes:
                make_game(table.game, table.decree, table.settings)
    except ValueError as error:
        yield (*at, key), _words(error)
    yield from notes


def _options(kind: type[msgspec.Struct], given: Mapping[str, Any], at: Path) -> Flaws:
    """What is wrong in the settings of a game, or the options of a driver, whose name is almost
    that of one there is.
    """
    notes: Notes = []
    read(kind, given, at, notes)
    yield from notes


def _device(at: Path, device: DeviceConfig) -> Flaws:
    if device.link:
        yield from (((*at, "link"), wrong) for wrong in link_mistakes(device.link))
    if not device.driver:
        return
    try:
        known = driver(device.driver)
    except KeyError as error:
        yield (*at, "driver"), _words(error)
        near = meant(device.driver, DRIVERS, SURE)
        if near is not None and driver(near).described is None:
            yield from _options(driver(near).options, device.options, (*at, "options"))
        return
    notes: Notes = []
    options = read(known.options, device.options, (*at, "options"), notes)
    if known.described is not None:
        if not device.options.get("text"):
            return  # it could not be read, which is already reported
        try:
            known = known.described(options)
        except ProfileError as mistaken:
            for mistake in mistaken.mistakes:
                yield (*at, "options", "file"), mistake.of(device.options["file"])
            return
    scheme = device.link.partition("://")[0]
    if scheme != "replay" and (scheme == "usb") != (known.scheme == "usb"):
        yield (*at, "link"), f"the driver {known.name} needs a {known.scheme}:// link"
    yield from notes
    if device.commands and not known.commands:
        yield (*at, "commands"), f"the driver {known.name} can send no commands; remove the key"


def _served(at: Path, table: TableConfig) -> Flaws:
    """Whether each device fits the table's game. A table can use one wheel only."""
    if table.game not in GAMES:
        return
    wheels = 0
    for d, device in enumerate(table.device):
        known = _described(device)
        if known is None:
            continue
        wheels += known.kind == "wheel"
        if (what := unsuited(known, device.driver, table.game)) is not None:
            yield (*at, "device", d, "driver"), what
        elif known.kind == "wheel" and wheels > 1:
            yield (
                (*at, "device", d),
                "is a second wheel; a table can have only one",
            )
        else:
            yield from _pockets((*at, "device", d), device, known, table)


def unsuited(known: Driver, name: str, game: str) -> str | None:
    """Why a table with this game can make nothing of what the driver reads, or None."""
    accepted = SERVE.get(game, CARDS)
    if known.games and game not in known.games:
        return f"the driver {name} is for {' and '.join(known.games)}, but this table plays {game}"
    if known.kind not in accepted:
        return f"the driver {name} is for a {known.kind}; {game} accepts: {', '.join(accepted)}"
    return None


def _pockets(at: Path, device: DeviceConfig, known: Driver, table: TableConfig) -> Flaws:
    """Whether a roulette wheel has as many pockets as the decree requires."""
    allowed = getattr(getattr(_made(table), "book", None), "pockets", None)
    notes: Notes = []
    configured = getattr(read(known.options, device.options, at, notes), "pockets", allowed)
    if allowed is not None and configured != allowed and not notes:
        yield (
            (*at, "options", "pockets"),
            f"must be {allowed}: {table.game} has {allowed} pockets under {table.decree}",
        )


def _described(device: DeviceConfig) -> Driver | None:
    """The driver of a device, from its profile if it has one; None if it is unknown, which is
    reported elsewhere.
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


def _once(
    values: list[tuple[Path, str]], what: str, file: Callable[[Path], str] = lambda _: ""
) -> Flaws:
    """A value that occurs twice is wrong the second time."""
    seen = dict[str, Path]()
    for at, value in values:
        if value and value in seen:
            first = file(seen[value])
            yield at, f"{what} {value} too{f', in {first}' if first != file(at) else ''}"
        seen.setdefault(value, at)


def _line(link: str) -> str:
    """What a link reaches, for comparison with other links: without its settings, a name in /dev as
    its node. Several devices may replay one recording.
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
