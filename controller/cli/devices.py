"""``novamas devices``: lists what is plugged in, its address, the programs that use it, and the
drivers that fit. It can also listen at each port that no program uses, and name the device.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Mapping
from types import MappingProxyType

import msgspec

from controller.cli.identify import ending_by_signal, listen, summary
from controller.cli.numbers import seconds
from devices.codec import Driver
from devices.drivers import driver, driver_names
from devices.links import LinkFailedError
from devices.links.ports import SerialPort, holders, ports
from devices.links.takers import (
    KNOWN_PROGRAMS,
    AdapterTaker,
    AdapterWithoutPort,
    adapters_without_port,
    running_takers,
)
from devices.links.usb_devices import HidDevice, hid_devices

IDENTIFY_SECONDS = 10.0
"""Default seconds at each port."""


def arguments(parser: argparse.ArgumentParser) -> None:
    """--json, --identify."""
    parser.add_argument(
        "--json", action="store_true", help="print one JSON object per line, for machines"
    )

    parser.add_argument(
        "--identify",
        type=seconds,
        nargs="?",
        const=IDENTIFY_SECONDS,
        metavar="SECONDS",
        help=(
            "listen this long at each serial port that no program uses, and name the device "
            f"(default: {IDENTIFY_SECONDS:.0f}); nothing is sent"
        ),
    )


def run(arguments: argparse.Namespace) -> int:
    """Print the ports, the USB devices that may be card readers, and the drivers."""
    serial_ports, readers, drivers = (
        ports(),
        hid_devices(),
        [driver(name) for name in driver_names()],
    )
    claimed = adapters_without_port(), running_takers()
    sent = {} if arguments.identify is None else identify(serial_ports, arguments.identify)
    if arguments.json:
        lines = [*_as_json(serial_ports, readers, drivers, sent), *_claimed_as_json(*claimed)]
    else:
        lines = [*_as_text(serial_ports, readers, drivers, sent), *_claimed_as_text(*claimed)]
    print("\n".join(lines))
    return 0


def identify(serial_ports: list[SerialPort], limit: float) -> dict[str, str]:
    """Listen at each port that no program uses. Return what was found, by name of the port."""
    sent: dict[str, str] = {}
    with ending_by_signal() as signals:
        for port in serial_ports:
            if port.holders or port.refused or signals:
                continue
            print(f"listening at {port.name}; nothing is sent", file=sys.stderr)
            try:
                results = listen(f"serial://{port.name}", limit, signals)
            except LinkFailedError as error:
                sent[port.name] = str(error)
            else:
                sent[port.name] = summary(results)
    return sent


def link(port: SerialPort, driver: Driver) -> str:
    """Return the link address for this driver on this port."""
    return f"serial://{port.name}?{driver.line}".removesuffix("?")


def of_scheme(drivers: list[Driver], scheme: str) -> list[Driver]:
    """Return the drivers for devices plugged in this way."""
    return [driver for driver in drivers if driver.scheme == scheme]


def _as_json(
    serial_ports: list[SerialPort],
    readers: list[HidDevice],
    drivers: list[Driver],
    sent: Mapping[str, str] = MappingProxyType({}),
) -> list[str]:
    serial, usb = of_scheme(drivers, "serial"), of_scheme(drivers, "usb")
    rows: list[dict[str, object]] = [
        {
            "type": "port",
            **msgspec.to_builtins(port),
            "links": {driver.name: link(port, driver) for driver in serial},
            **({"sends": sent[port.name]} if port.name in sent else {}),
        }
        for port in serial_ports
    ]
    rows += [
        {
            "type": "usb",
            **msgspec.to_builtins(reader),
            "links": {driver.name: reader.links for driver in usb},
        }
        for reader in readers
    ]
    facts = ("name", "kind", "title", "evidence", "scheme", "line", "commands")
    rows += [
        {"type": "driver", **{key: getattr(driver, key) for key in facts}} for driver in drivers
    ]
    return [msgspec.json.encode(row).decode() for row in rows]


def _claimed_as_json(
    unported: list[AdapterWithoutPort], takers: tuple[AdapterTaker, ...]
) -> list[str]:
    rows = [{"type": "unported", **msgspec.to_builtins(adapter)} for adapter in unported]
    rows += [
        {"type": "taker", **msgspec.to_builtins(taker), "does": KNOWN_PROGRAMS[taker.name]}
        for taker in takers
    ]
    return [msgspec.json.encode(row).decode() for row in rows]


def _claimed_as_text(
    unported: list[AdapterWithoutPort], takers: tuple[AdapterTaker, ...]
) -> list[str]:
    """Describe adapters without a port, and the programs that may have claimed them."""
    lines = ["Adapters without a port"] if unported else []
    for adapter in unported:
        claimed = (
            "a program has claimed it" if adapter.claimed else "the kernel has no driver for it"
        )
        claimants = holders(adapter.node) if adapter.node and adapter.claimed else ()
        names = ", ".join(f"{holder.name} (pid {holder.pid})" for holder in claimants)
        lines += [
            f"  {adapter.usb} {adapter.product or ''}".rstrip(),
            f"    at       {adapter.location}",
            f"    why      {claimed}{': ' if names else ''}{names}",
        ]
    lines += ["Programs that take adapters, and run"] if takers else []
    lines += [f"  {taker.name} (pid {taker.pid}): {KNOWN_PROGRAMS[taker.name]}" for taker in takers]
    return lines


def _as_text(
    serial_ports: list[SerialPort],
    readers: list[HidDevice],
    drivers: list[Driver],
    sent: Mapping[str, str] = MappingProxyType({}),
) -> list[str]:
    lines = ["Serial ports" if serial_ports else "No serial port is plugged in."]
    for port in serial_ports:
        lines += [f"  {port.name}"]
        lines += [
            f"    also     {name}"
            for name in (*port.names[1:], *((port.node,) if port.name != port.node else ()))
        ]
        if port.usb:
            usb = ", ".join(filter(None, (port.manufacturer, port.product, port.serial_number)))
            lines += [f"    usb      {port.usb} {usb}"]
        lines += [f"    refused  it is also a network card: {port.refused}"] if port.refused else []
        holders = ", ".join(map(str, port.holders))
        lines += [f"    held by  {holders or 'nobody'}"]
        lines += [f"    sends    {sent[port.name]}"] if port.name in sent else []
        lines += [
            f"    link     {link(port, driver)}  for {driver.name}"
            for driver in of_scheme(drivers, "serial")
        ]
    lines += ["USB devices that may be card readers, or keyboards"] if readers else []
    for reader in readers:
        usb = ", ".join(filter(None, (reader.manufacturer, reader.product, reader.serial_number)))
        lines += [f"  {reader.usb} {usb}", f"    at       {reader.location}"]
        lines += (
            [f"    refused  it is also a modem or a network card: {reader.refused}"]
            if reader.refused
            else []
        )
        lines += [
            f"    link     {address}  for {driver.name}"
            for driver in of_scheme(drivers, "usb")
            for address in reader.links
        ]
    lines += ["Drivers"]
    lines += [
        f"  {driver.name:<16}{driver.kind:<10}{driver.title} ({driver.evidence}; "
        f"{driver.line or driver.scheme})"
        for driver in drivers
    ]
    return lines
