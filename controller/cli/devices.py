"""``novamas devices``: what is plugged in, how to address it, who uses it, and which
drivers fit.
"""

from __future__ import annotations

import argparse

import msgspec

from devices.codec import Driver
from devices.drivers import DRIVERS, driver
from devices.links.ports import SerialPort, holders, ports
from devices.links.takers import (
    KNOWN_PROGRAMS,
    AdapterTaker,
    AdapterWithoutPort,
    adapters_without_port,
    running_takers,
)
from devices.links.usb_devices import HidDevice, hid_devices


def arguments(parser: argparse.ArgumentParser) -> None:
    """--json."""
    parser.add_argument(
        "--json", action="store_true", help="print one JSON object per line, for machines"
    )


def run(arguments: argparse.Namespace) -> int:
    """Print the ports, the USB devices that may be card readers, and the drivers."""
    found, readers, known = ports(), hid_devices(), [driver(name) for name in sorted(DRIVERS)]
    taken = adapters_without_port(), running_takers()
    if arguments.json:
        lines = [*_json(found, readers, known), *_json_of_taken(*taken)]
    else:
        lines = [*_text(found, readers, known), *_text_of_taken(*taken)]
    print("\n".join(lines))
    return 0


def link(port: SerialPort, driver: Driver) -> str:
    """The address to configure for this driver on this port."""
    return f"serial://{port.name}?{driver.line}".removesuffix("?")


def of_scheme(known: list[Driver], scheme: str) -> list[Driver]:
    """The drivers for what is plugged in this way."""
    return [driver for driver in known if driver.scheme == scheme]


def _json(found: list[SerialPort], readers: list[HidDevice], known: list[Driver]) -> list[str]:
    serial, usb = of_scheme(known, "serial"), of_scheme(known, "usb")
    rows: list[dict[str, object]] = [
        {
            "type": "port",
            **msgspec.to_builtins(port),
            "links": {driver.name: link(port, driver) for driver in serial},
        }
        for port in found
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
    rows += [{"type": "driver", **{key: getattr(driver, key) for key in facts}} for driver in known]
    return [msgspec.json.encode(row).decode() for row in rows]


def _json_of_taken(
    unported: list[AdapterWithoutPort], takers: tuple[AdapterTaker, ...]
) -> list[str]:
    rows = [{"type": "unported", **msgspec.to_builtins(adapter)} for adapter in unported]
    rows += [
        {"type": "taker", **msgspec.to_builtins(taker), "does": KNOWN_PROGRAMS[taker.name]}
        for taker in takers
    ]
    return [msgspec.json.encode(row).decode() for row in rows]


def _text_of_taken(
    unported: list[AdapterWithoutPort], takers: tuple[AdapterTaker, ...]
) -> list[str]:
    """Adapters whose port is gone, and who may have taken it."""
    lines = ["Adapters without a port"] if unported else []
    for adapter in unported:
        claimed = (
            "a program has claimed it" if adapter.claimed else "the kernel has no driver for it"
        )
        found = holders(adapter.node) if adapter.node and adapter.claimed else ()
        by = ", ".join(f"{holder.name} (pid {holder.pid})" for holder in found)
        lines += [
            f"  {adapter.usb} {adapter.product or ''}".rstrip(),
            f"    at       {adapter.location}",
            f"    why      {claimed}{': ' if by else ''}{by}",
        ]
    lines += ["Programs that take adapters, and run"] if takers else []
    lines += [f"  {taker.name} (pid {taker.pid}): {KNOWN_PROGRAMS[taker.name]}" for taker in takers]
    return lines


def _text(found: list[SerialPort], readers: list[HidDevice], known: list[Driver]) -> list[str]:
    lines = ["Serial ports" if found else "No serial port is plugged in."]
    for port in found:
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
        lines += [
            f"    link     {link(port, driver)}  for {driver.name}"
            for driver in of_scheme(known, "serial")
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
            for driver in of_scheme(known, "usb")
            for address in reader.links
        ]
    lines += ["Drivers"]
    lines += [
        f"  {driver.name:<16}{driver.kind:<10}{driver.title} ({driver.evidence}; "
        f"{driver.line or driver.scheme})"
        for driver in known
    ]
    return lines
