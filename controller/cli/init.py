"""``novamas init``: writes a first configuration from what is plugged in."""

from __future__ import annotations

import argparse
import json
import socket
import tempfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple
from urllib.parse import urlsplit

from controller.cli import CommandLineError
from controller.cli.configured import DEFAULT
from devices.new_file import named_in_errors
from devices.suggestions import unknown_word

if TYPE_CHECKING:
    from devices.codec import Driver
    from devices.links.ports import SerialPort
    from devices.links.usb_devices import HidDevice


BROKER = "mqtt://127.0.0.1:1883"
OWN = "embedded://127.0.0.1:1883"
"""Where nothing answers at :data:`BROKER`: a broker inside the daemon."""
PATIENCE = 0.5
"""Seconds for a broker to take a connection."""
AT = "127.0.0.1:4001"
"""Where the simulated device is."""
SITE = """\
# Written by `novamas init`. Every key and its meaning: docs/technician/configuration.md.
# `novamas check` reports each mistake with its line; `novamas doctor` looks at the machine.

[site]
id = {site:<19} # this casino: a part of every topic
node = "node-1"          # {node}
decree = {decree:<15} # the rules that hold at every table

"""
BROKER_WITHIN = """\
[broker]                 # inside the daemon, for this machine only; for others: mqtt://host:1883
url = {url}

"""
BROKER_BESIDE = """\
[broker]
url = {url}

"""
ANYBODY_SIMULATED = """\
[people]
required = false # anybody may command, at simulated tables alone: docs/inspector/security.md

"""
ANYBODY = """\
[people]
# Whoever may publish at the broker may command, in any name. Enrol your people before guests play,
# and write true here: docs/inspector/security.md.
required = "accept-the-risk"

"""
SURVEILLANCE = """\
[surveillance]           # who alone may read face-down cards
public_key = {key}

"""
STANDBY = """\
[standby]             # a second daemon, with the same file, takes over: docs/technician/standby.md
servers = [{servers}]    # the NATS cluster that keeps their lease
# replicas = 1           # where the cluster is one node alone, for trials
# instance = "sala-1"    # this machine in the pair; without it, its host name
# lease = 10.0           # seconds after which the other takes over
# creds_credential = "nats.creds" # our user of NATS, if it asks for one: docs/technician/systemd.md

"""
TABLE = """\
{remarks}[[table]]
id = "mesa-{number}"     # a part of every topic of this table
game = {game}

# Is it this device? Try it before the first guest comes:
#   novamas record '{shown}' try-{number}.rec --driver {driver}
[[table.device]]
id = "{kind}"
driver = "{driver}"
link = {link}
commands = false         # true: commands that change the device may be sent
# maker = ""             # as on its plate
# serial = ""            # another one that the device tells is an alert

"""
TABLE_SIMULATED = """\
# No real device: this table is simulated, and says so in every message.
{how}[[table]]
id = "mesa-1"            # a part of every topic of this table
game = {game}
simulated = true

[[table.device]]
id = "{kind}"
driver = "{driver}"
link = {link}

"""
MORE = """\
# More tables may stand here, or in files of their own beside this one:
# docs/technician/configuration.md.
# `novamas devices` lists the drivers, and the address of each port for each of them.
"""
SIMULATE = f"novamas simulate {{kind}} --protocol {{driver}} --tcp {AT}"
GAMES: Mapping[str, str] = {
    "wheel": "roulette-french",
    "dice": "craps",
    "shoe": "punto-banca",
    "shuffler": "poker-no-draw",
    "slot": "poker-no-draw",
}
"""What a table plays with a device of each kind, if nobody says."""


def arguments(parser: argparse.ArgumentParser) -> None:
    """[FILE] and its options."""
    parser.add_argument(
        "file",
        nargs="?",
        type=Path,
        default=DEFAULT,
        metavar="FILE",
        help=f"what to write; must not exist yet (default: {DEFAULT})",
    )
    parser.add_argument("--site", default="casino", metavar="ID", help="the site's id")
    parser.add_argument(
        "--decree",
        default="BAL05",
        metavar="D",
        help="the decree that holds there: BAL05, BAL09, ARA02, EUS96 or GAL07 (default: BAL05)",
    )
    parser.add_argument(
        "--driver",
        default="cammegh-ss2",
        metavar="NAME",
        help="what the devices are: a name that `novamas devices` lists (default: cammegh-ss2)",
    )
    parser.add_argument(
        "--game", metavar="G", help="what is played with them; `novamas games` lists the games"
    )
    parser.add_argument(
        "--surveillance",
        metavar="KEY",
        help="the public key of surveillance, for games with face-down cards: `novamas keygen`",
    )
    parser.add_argument(
        "--broker",
        metavar="URL",
        help=f"the broker's address (default: {BROKER} if one answers there, else {OWN})",
    )
    parser.add_argument(
        "--standby",
        action="append",
        default=[],
        metavar="URL",
        help="a node of the NATS cluster that keeps the lease of two daemons with these tables, "
        "of which one takes over from the other; once for each node",
    )
    parser.add_argument(
        "--simulated",
        action="store_true",
        help="one simulated table, whatever is plugged in",
    )


def run(given: argparse.Namespace) -> int:
    """Write the file, which ``novamas check`` accepts. Raises :class:`CommandLineError`."""
    from devices.drivers import DRIVERS, driver
    from devices.links.ports import ports
    from devices.links.usb_devices import hid_devices

    if given.file.exists():
        raise CommandLineError(f"{given.file} already exists; not overwritten")
    if given.driver not in DRIVERS:
        raise CommandLineError(unknown_word("driver", given.driver, sorted(DRIVERS)), 2)
    known = driver(given.driver)
    if known.described is not None:
        raise CommandLineError(
            f"--driver {given.driver}: write its table by hand: docs/technician/profiles.md", 2
        )
    if given.standby:
        reached_by_both(given.broker)
    plan = Plan(
        site=given.site,
        decree=given.decree,
        game=given.game or (known.games or (GAMES[known.kind],))[0],
        broker=given.broker or (BROKER if answers(BROKER) else OWN),
        surveillance=given.surveillance,
        standby=tuple(given.standby),
    )
    found, readers = ports(), hid_devices()
    places = [] if given.simulated else plugged_in(known, found, readers)
    if given.standby and (places or known.scheme == "usb"):
        where = ", ".join(place.link for place in places) or f"a {known.name}"
        raise CommandLineError(
            f"--standby: {where} is plugged into one machine, and the other one of the pair cannot "
            "read it. Connect devices to a device server, and write their tables by hand into the "
            "file that --simulated writes, with another --driver if need be: "
            "docs/technician/standby.md",
            2,
        )
    text = page(plan, known, places, found, readers)
    sound(text, given.file)
    with named_in_errors(given.file), given.file.open("x", encoding="utf-8") as file:
        file.write(text)
    print(f"{given.file}: written, {told(known, places)}")
    print("\n".join(after(given.file, known, places)))
    if plan.standby:
        print("and the same file on the other machine: docs/technician/standby.md")
    return 0


class Plan(NamedTuple):
    """What the person has chosen, or we for him."""

    site: str
    decree: str
    game: str
    broker: str
    surveillance: str | None
    standby: tuple[str, ...] = ()


def reached_by_both(broker: str | None) -> None:
    """Raises :class:`CommandLineError` if the daemons of a pair cannot share that broker."""
    if broker is None:
        raise CommandLineError("--standby: give --broker too, one that both machines reach", 2)
    if broker.startswith("embedded:"):
        raise CommandLineError(
            f"--broker {broker}: it is part of one daemon, and the other one of the pair cannot "
            "reach it; give the address of one that runs by itself",
            2,
        )


class Place(NamedTuple):
    """Where a device may be."""

    link: str
    remarks: tuple[str, ...]


def answers(url: str) -> bool:
    """Whether something takes connections there."""
    address = urlsplit(url)
    try:
        with socket.create_connection((address.hostname, address.port), PATIENCE):
            return True
    except OSError:
        return False


def plugged_in(
    known: Driver, found: Sequence[SerialPort], readers: Sequence[HidDevice]
) -> list[Place]:
    """The places where a device of this driver may be, as far as they may be used. A serial port of
    the machine itself is there with nothing in it too.
    """
    if known.scheme == "usb":
        return [
            Place(link, _facts(reader.manufacturer, reader.product, reader.serial_number))
            for reader in readers
            if reader.refused is None
            for link in reader.links
        ]
    if known.scheme != "serial":
        return []
    return [
        Place(
            f"serial://{port.name}?{known.line}".removesuffix("?"),
            (
                *_facts(port.manufacturer, port.product, port.serial_number),
                *(f"held by {each}" for each in port.holders),
            ),
        )
        for port in found
        if port.refused is None and port.usb is not None
    ]


def _facts(*facts: str | None) -> tuple[str, ...]:
    words = ", ".join(filter(None, facts))
    return (f"on USB: {words}",) if words else ()


def told(known: Driver, places: Sequence[Place]) -> str:
    """What was found, in words."""
    if not places:
        return "with a simulated table"
    count = "one table" if len(places) == 1 else f"{len(places)} tables"
    return f"with {count}: each device that was found is taken for a {known.name}"


def after(file: Path, known: Driver, places: Sequence[Place]) -> Iterator[str]:
    """What to do next."""
    if places or known.scheme != "serial":
        yield "look at it, and correct what is not so; then:"
        yield f"  novamas check {file}"
        yield f"  novamas doctor {file}"
    else:
        yield "next, in terminals of their own:"
        yield f"  {SIMULATE.format(kind=known.kind, driver=known.name)}"
    yield f"  novamas run {file}"
    yield (f'  novamas send mesa-1 session.open --by "A. Riera" --role inspector --config {file}')
    yield f"  novamas watch {file}"


def page(
    plan: Plan,
    known: Driver,
    places: Sequence[Place],
    found: Iterable[SerialPort],
    readers: Iterable[HidDevice],
) -> str:
    """The configuration."""
    tables = [
        TABLE.format(
            remarks="".join(f"# {_printable(each)}\n" for each in place.remarks),
            number=number,
            game=_quoted(plan.game),
            shown=_printable(place.link),
            kind=known.kind,
            driver=known.name,
            link=_quoted(place.link),
        )
        for number, place in enumerate(places, 1)
    ]
    return "".join(
        (
            SITE.format(
                site=_quoted(plan.site),
                decree=_quoted(plan.decree),
                node="both machines of the pair" if plan.standby else "this machine",
            ),
            *_broker(plan, simulated=not places),
            *_standby(plan.standby),
            *(tables or [_simulated(plan, known)]),
            MORE,
            *(f"# {_printable(line)}\n" for line in _also(known, found, readers)),
        )
    )


def _broker(plan: Plan, *, simulated: bool) -> Iterator[str]:
    """The broker, who may command, and who may read face-down cards."""
    own = plan.broker.startswith("embedded:")
    yield (BROKER_WITHIN if own else BROKER_BESIDE).format(url=_quoted(plan.broker))
    if not own:
        yield ANYBODY_SIMULATED if simulated else ANYBODY
    if plan.surveillance is not None:
        yield SURVEILLANCE.format(key=_quoted(plan.surveillance))


def _standby(servers: Sequence[str]) -> Iterator[str]:
    """The pair, if it is to be one of two daemons."""
    if servers:
        yield STANDBY.format(servers=", ".join(map(_quoted, servers)))


def _simulated(plan: Plan, known: Driver) -> str:
    """A table whose device is simulated."""
    if known.scheme == "usb":
        raise CommandLineError(f"no USB reader for {known.name} is plugged in: `novamas devices`")
    serial = known.scheme == "serial"
    return TABLE_SIMULATED.format(
        how=f"#   {SIMULATE.format(kind=known.kind, driver=known.name)}\n" if serial else "",
        game=_quoted(plan.game),
        kind=known.kind,
        driver=known.name,
        link=_quoted(f"tcp://{AT}" if serial else f"mqtt://{AT}/device"),
    )


def _also(
    known: Driver, found: Iterable[SerialPort], readers: Iterable[HidDevice]
) -> Iterator[str]:
    """What else is there, and what it could be."""
    for port in found:
        if port.refused is not None:
            yield f"{port.name} was passed over, it is also a network card: {port.refused}"
        elif known.scheme != "serial" or port.usb is None:
            yield f"A serial port{'' if port.usb else ' of the machine'}: serial://{port.name}"
    for reader in readers:
        if reader.refused is None and known.scheme != "usb":
            facts = " ".join(_facts(reader.manufacturer, reader.product))
            for link in reader.links:
                yield f"A card reader, or a keyboard, {facts}: driver barcode-hid, link {link}"


def sound(text: str, file: Path) -> None:
    """Raises :class:`CommandLineError` with what is wrong with a page, which is what was asked
    for.
    """
    from controller.configuration.file import inspect_configuration

    with named_in_errors(file), tempfile.TemporaryDirectory() as folder:
        tried = Path(folder, "novamas.toml")
        with named_in_errors(tried):
            tried.write_text(text, encoding="utf-8")
        wrong = inspect_configuration(tried).mistakes
    if wrong:
        told = "; ".join(f"{each.place.rpartition(': ')[2]}: {each.what}" for each in wrong)
        raise CommandLineError(f"{file}: not written: {told}", 2)


def _quoted(text: str) -> str:
    """A string of TOML, which JSON's are too."""
    return json.dumps(text)


def _printable(text: str) -> str:
    """What a device says of itself, in a comment."""
    return "".join(each if each.isprintable() else "?" for each in text)
