"""``novamas init``: writes a first configuration from what is plugged in."""

from __future__ import annotations

import argparse
import tempfile
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from common.new_file import create_file, named_in_errors
from common.suggestions import unknown_word
from controller.cli import CommandLineError
from controller.cli.configured import DEFAULT_CONFIG
from controller.setup.first_file import (
    BROKER_BESIDE,
    BROKER_WITHIN,
    DEFAULT_BROKER,
    EMBEDDED_BROKER,
    GAMES,
    MORE,
    SIMULATE,
    SIMULATOR_ADDRESS,
    SITE,
    TABLE,
    TABLE_SIMULATED,
    is_listening,
    printable,
    quoted,
)

if TYPE_CHECKING:
    from devices.codec import Driver
    from devices.links.ports import SerialPort
    from devices.links.usb_devices import HidDevice


ANYBODY_SIMULATED = """\
[people]
required = false # anybody may give commands, at simulated tables alone: docs/inspector/people.md

"""
ANYBODY = """\
[people]
# Anyone who can publish to the broker can give commands, in any name. Enrol your people before
# guests play, and write true here: docs/inspector/people.md.
required = "accept-the-risk"

"""
SURVEILLANCE = """\
[surveillance]           # the only reader of face-down cards
public_key = {key}

"""
STANDBY = """\
[standby]             # a second daemon, with the same file, takes over: docs/technician/standby.md
servers = [{servers}]    # the NATS cluster that stores their lease
# replicas = 1           # where the cluster is one node alone, for trials
# instance = "sala-1"    # this machine in the pair; without it, its host name
# lease = 10.0           # seconds after which the other takes over
# creds_credential = "nats.creds" # NATS user, if required: docs/technician/systemd.md

"""


def arguments(parser: argparse.ArgumentParser) -> None:
    """[FILE] and its options."""
    parser.add_argument(
        "file",
        nargs="?",
        type=Path,
        default=DEFAULT_CONFIG,
        metavar="FILE",
        help=f"file to write; must not exist yet (default: {DEFAULT_CONFIG})",
    )
    parser.add_argument("--site", default="casino", metavar="ID", help="the site's id")
    parser.add_argument(
        "--decree",
        metavar="D",
        help="the decree that applies there: BAL05 or BAL09 (Balearic Islands), ARA02 (Aragon), "
        "EUS96 (Basque Country) or GAL07 (Galicia); required",
    )
    parser.add_argument(
        "--driver",
        default="cammegh-ss2",
        metavar="NAME",
        help="driver of the devices: a name that `novamas devices` lists (default: cammegh-ss2)",
    )
    parser.add_argument(
        "--game", metavar="G", help="game of the tables; `novamas games` lists the games"
    )
    parser.add_argument(
        "--surveillance",
        metavar="KEY",
        help="the public key of surveillance, for games with face-down cards: `novamas keygen`",
    )
    parser.add_argument(
        "--broker",
        metavar="URL",
        help=f"the broker's address (default: {DEFAULT_BROKER} if one answers there, else "
        f"{EMBEDDED_BROKER})",
    )
    parser.add_argument(
        "--standby",
        action="append",
        default=[],
        metavar="URL",
        help="a node of the NATS cluster that stores the lease of two daemons with these tables, "
        "either of which takes over from the other; repeat for each node",
    )
    parser.add_argument(
        "--simulated",
        action="store_true",
        help="one simulated table, regardless of what is plugged in",
    )


def run(arguments: argparse.Namespace) -> int:
    """Write a file that ``novamas check`` accepts. Raises :class:`CommandLineError`."""
    from devices.drivers import driver, driver_names
    from devices.links.ports import ports
    from devices.links.usb_devices import hid_devices

    if arguments.file.exists():
        raise CommandLineError(f"{arguments.file} already exists; not overwritten")
    if arguments.driver not in driver_names():
        raise CommandLineError(unknown_word("driver", arguments.driver, driver_names()), 2)
    if arguments.decree is None:
        raise CommandLineError(f"which decree do the tables play under?\n{decree_choices()}", 2)
    device_driver = driver(arguments.driver)
    if device_driver.described is not None:
        raise CommandLineError(
            f"--driver {arguments.driver}: write its table by hand: docs/technician/profiles.md", 2
        )
    if arguments.standby:
        check_shared_broker(arguments.broker)
    plan = Plan(
        site=arguments.site,
        decree=arguments.decree,
        game=arguments.game or (device_driver.games or (GAMES[device_driver.kind],))[0],
        broker=arguments.broker
        or (DEFAULT_BROKER if is_listening(DEFAULT_BROKER) else EMBEDDED_BROKER),
        surveillance=arguments.surveillance,
        standby=tuple(arguments.standby),
    )
    serial_ports, readers = ports(), hid_devices()
    places = [] if arguments.simulated else plugged_in(device_driver, serial_ports, readers)
    if arguments.standby and (places or device_driver.scheme == "usb"):
        where = ", ".join(place.link for place in places) or f"a {device_driver.name}"
        raise CommandLineError(
            f"--standby: {where} is plugged into one machine, so the other one of the pair cannot "
            "read it. Connect devices to a device server, and add their tables by hand to the "
            "file that --simulated writes, with another --driver if necessary: "
            "docs/technician/standby.md",
            2,
        )
    text = page(plan, device_driver, places, serial_ports, readers)
    check_text(text, arguments.file)
    create_file(arguments.file, text.encode())
    print(f"{arguments.file}: written, {summary(device_driver, places)}")
    print("\n".join(next_steps(arguments.file, device_driver, places)))
    if plan.standby:
        print("and the same file on the other machine: docs/technician/standby.md")
    return 0


def decree_choices() -> str:
    """List the options that choose a decree. None is a default: a wrong one would judge a whole
    evening by the law of another region.
    """
    from controller.rulebooks.chapters import decrees, head

    return "\n".join(f"  --decree {decree}  {head(decree).title}" for decree in decrees())


class Plan(NamedTuple):
    """The choices of the person, with defaults."""

    site: str
    decree: str
    game: str
    broker: str
    surveillance: str | None
    standby: tuple[str, ...] = ()


def check_shared_broker(broker: str | None) -> None:
    """Raise :class:`CommandLineError` if the daemons of a pair cannot share this broker."""
    if broker is None:
        raise CommandLineError("--standby: give --broker too, one that both machines can reach", 2)
    if broker.startswith("embedded:"):
        raise CommandLineError(
            f"--broker {broker}: it is part of one daemon, so the other one of the pair cannot "
            "reach it; give the address of a separate broker",
            2,
        )


class DevicePlace(NamedTuple):
    """A place where a device may be."""

    link: str
    remarks: tuple[str, ...]


def plugged_in(
    device_driver: Driver, serial_ports: Sequence[SerialPort], readers: Sequence[HidDevice]
) -> list[DevicePlace]:
    """Return the usable places where a device of this driver may be. Serial ports of the machine
    itself are left out: they exist even if nothing is plugged in.
    """
    if device_driver.scheme == "usb":
        return [
            DevicePlace(link, _facts(reader.manufacturer, reader.product, reader.serial_number))
            for reader in readers
            if reader.refused is None
            for link in reader.links
        ]
    if device_driver.scheme != "serial":
        return []
    return [
        DevicePlace(
            f"serial://{port.name}?{device_driver.line}".removesuffix("?"),
            (
                *_facts(port.manufacturer, port.product, port.serial_number),
                *(f"held by {holder}" for holder in port.holders),
            ),
        )
        for port in serial_ports
        if port.refused is None and port.usb is not None
    ]


def _facts(*facts: str | None) -> tuple[str, ...]:
    words = ", ".join(filter(None, facts))
    return (f"on USB: {words}",) if words else ()


def summary(device_driver: Driver, places: Sequence[DevicePlace]) -> str:
    """Describe the tables written."""
    if not places:
        return "with a simulated table"
    count = "one table" if len(places) == 1 else f"{len(places)} tables"
    return f"with {count}: each device that was found is taken for a {device_driver.name}"


def next_steps(file: Path, device_driver: Driver, places: Sequence[DevicePlace]) -> Iterator[str]:
    """Yield the next steps."""
    if places or device_driver.scheme != "serial":
        yield "review it, and correct what is wrong; then:"
        yield f"  novamas check {file}"
        yield f"  novamas doctor {file}"
    else:
        yield "next, in terminals of their own:"
        yield f"  {SIMULATE.format(kind=device_driver.kind, driver=device_driver.name)}"
    yield f"  novamas run {file}"
    yield (f'  novamas send mesa-1 session.open --by "A. Riera" --role inspector --config {file}')
    yield f"  novamas watch {file}"


def page(
    plan: Plan,
    device_driver: Driver,
    places: Sequence[DevicePlace],
    serial_ports: Iterable[SerialPort],
    readers: Iterable[HidDevice],
) -> str:
    """Return the text of the configuration."""
    tables = [
        TABLE.format(
            remarks="".join(f"# {printable(remark)}\n" for remark in place.remarks),
            table=quoted(f"mesa-{number}"),
            name=f"try-{number}",
            game=quoted(plan.game),
            shown=printable(place.link),
            kind=device_driver.kind,
            driver=device_driver.name,
            link=quoted(place.link),
        )
        for number, place in enumerate(places, 1)
    ]
    return "".join(
        (
            SITE.format(
                by="init",
                site=quoted(plan.site),
                decree=quoted(plan.decree),
                node="both machines of the pair" if plan.standby else "this machine",
            ),
            *_broker(plan, simulated=not places),
            *_standby(plan.standby),
            *(tables or [_simulated(plan, device_driver)]),
            MORE,
            *(
                f"# {printable(line)}\n"
                for line in _other_finds(device_driver, serial_ports, readers)
            ),
        )
    )


def _broker(plan: Plan, *, simulated: bool) -> Iterator[str]:
    """Yield the broker, who may give commands, and who may read face-down cards."""
    own = plan.broker.startswith("embedded:")
    yield (BROKER_WITHIN if own else BROKER_BESIDE).format(url=quoted(plan.broker))
    if not own:
        yield ANYBODY_SIMULATED if simulated else ANYBODY
    if plan.surveillance is not None:
        yield SURVEILLANCE.format(key=quoted(plan.surveillance))


def _standby(servers: Sequence[str]) -> Iterator[str]:
    """Yield the section of a pair."""
    if servers:
        yield STANDBY.format(servers=", ".join(map(quoted, servers)))


def _simulated(plan: Plan, device_driver: Driver) -> str:
    """Return a table with a simulated device."""
    if device_driver.scheme == "usb":
        raise CommandLineError(
            f"no USB reader for {device_driver.name} is plugged in: `novamas devices`"
        )
    serial = device_driver.scheme == "serial"
    return TABLE_SIMULATED.format(
        table=quoted("mesa-1"),
        how=f"#   {SIMULATE.format(kind=device_driver.kind, driver=device_driver.name)}\n"
        if serial
        else "",
        game=quoted(plan.game),
        kind=device_driver.kind,
        driver=device_driver.name,
        link=quoted(
            f"tcp://{SIMULATOR_ADDRESS}" if serial else f"mqtt://{SIMULATOR_ADDRESS}/device"
        ),
    )


def _other_finds(
    device_driver: Driver, serial_ports: Iterable[SerialPort], readers: Iterable[HidDevice]
) -> Iterator[str]:
    """Yield what else is plugged in, and what it could be."""
    for port in serial_ports:
        if port.refused is not None:
            yield f"{port.name} was skipped, it is also a network card: {port.refused}"
        elif device_driver.scheme != "serial" or port.usb is None:
            yield f"A serial port{'' if port.usb else ' of the machine'}: serial://{port.name}"
    for reader in readers:
        if reader.refused is None and device_driver.scheme != "usb":
            facts = " ".join(_facts(reader.manufacturer, reader.product))
            for link in reader.links:
                yield f"A card reader, or a keyboard, {facts}: driver barcode-hid, link {link}"


def check_text(text: str, file: Path) -> None:
    """Raise :class:`CommandLineError` if the text is not a valid configuration; the options are
    then wrong.
    """
    from controller.configuration.file import inspect_configuration

    with named_in_errors(file), tempfile.TemporaryDirectory() as folder:
        trial = Path(folder, "novamas.toml")
        with named_in_errors(trial):
            trial.write_text(text, encoding="utf-8")
        mistakes = inspect_configuration(trial).mistakes
    if mistakes:
        reasons = "; ".join(
            f"{mistake.place.rpartition(': ')[2]}: {mistake.what}" for mistake in mistakes
        )
        raise CommandLineError(f"{file}: not written: {reasons}", 2)
