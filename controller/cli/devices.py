"""``novamas devices``: what is plugged in, how to address it, who holds it, and what could drive it."""

from __future__ import annotations

import argparse

import msgspec

from devices.codec import Driver
from devices.drivers import DRIVERS, driver
from devices.links.ports import Port, ports

HELP = "list what is plugged in, and the drivers there are"


def arguments(parser: argparse.ArgumentParser) -> None:
    """--json."""
    parser.add_argument("--json", action="store_true", help="one JSON object per line, for machines")


def run(arguments: argparse.Namespace) -> int:
    """Print ports, then drivers."""
    found, known = ports(), [driver(name) for name in sorted(DRIVERS)]
    lines = _json(found, known) if arguments.json else _text(found, known)
    print("\n".join(lines))
    return 0


def link(port: Port, driver: Driver) -> str:
    """The address to write in a configuration for this driver on this port."""
    return f"serial://{port.name}?{driver.line}"


def _json(found: list[Port], known: list[Driver]) -> list[str]:
    rows: list[dict[str, object]] = [
        {"type": "port", **msgspec.to_builtins(port), "links": {driver.name: link(port, driver) for driver in known}}
        for port in found
    ]
    rows += [
        {"type": "driver", **{key: getattr(driver, key) for key in ("name", "kind", "title", "evidence", "line", "commands")}}
        for driver in known
    ]
    return [msgspec.json.encode(row).decode() for row in rows]


def _text(found: list[Port], known: list[Driver]) -> list[str]:
    lines = ["Serial ports" if found else "No serial port is plugged in."]
    for port in found:
        lines += [f"  {port.name}"]
        lines += [f"    also     {name}" for name in (*port.names[1:], *((port.node,) if port.name != port.node else ()))]
        if port.usb:
            told = ", ".join(filter(None, (port.manufacturer, port.product, port.serial_number)))
            lines += [f"    usb      {port.usb} {told}"]
        lines += [f"    held by  {', '.join(f'{holder.name} (pid {holder.pid})' for holder in port.holders) or 'nobody'}"]
        lines += [f"    link     {link(port, driver)}  for {driver.name}" for driver in known]
    lines += ["Drivers"]
    lines += [f"  {driver.name:<16}{driver.kind:<10}{driver.title} ({driver.evidence}; {driver.line})" for driver in known]
    return lines
