"""``novamas devices``: what is plugged in, how to address it, who uses it, and which
drivers fit.
"""

from __future__ import annotations

import argparse

import msgspec

from devices.codec import Driver
from devices.drivers import DRIVERS, driver
from devices.links.ports import Port, ports
from devices.links.usb_devices import HidDevice, hid_devices

HELP = "list what is plugged in, and every driver"


def arguments(parser: argparse.ArgumentParser) -> None:
    """--json."""
    parser.add_argument(
        "--json", action="store_true", help="print one JSON object per line, for machines"
    )


def run(arguments: argparse.Namespace) -> int:
    """Print the ports, the USB devices that may be card readers, and the drivers."""
    found, readers, known = ports(), hid_devices(), [driver(name) for name in sorted(DRIVERS)]
    lines = _json(found, readers, known) if arguments.json else _text(found, readers, known)
    print("\n".join(lines))
    return 0


def link(port: Port, driver: Driver) -> str:
    """The address to configure for this driver on this port."""
    return f"serial://{port.name}?{driver.line}".removesuffix("?")


def of_scheme(known: list[Driver], scheme: str) -> list[Driver]:
    """The drivers for what is plugged in this way."""
    return [driver for driver in known if driver.scheme == scheme]


def _json(found: list[Port], readers: list[HidDevice], known: list[Driver]) -> list[str]:
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


def _text(found: list[Port], readers: list[HidDevice], known: list[Driver]) -> list[str]:
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
        holders = ", ".join(f"{holder.name} (pid {holder.pid})" for holder in port.holders)
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
