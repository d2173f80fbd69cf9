"""The serial ports of this machine, their stable names, and the processes that have them open."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import msgspec
from serial.tools.list_ports import comports

from devices.links.networks import behind_port
from devices.links.serial_port import SYSTEM


class Holder(msgspec.Struct, frozen=True):
    """A process that has a port open. Only root sees those of other users."""

    pid: int
    name: str


class Port(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One serial port. ``name`` is the best name for a configuration: one that survives
    replugging.
    """

    name: str
    node: str
    names: tuple[str, ...] = ()
    usb: str | None = None
    """Vendor and product id, ``0403:6001``."""
    serial_number: str | None = None
    product: str | None = None
    manufacturer: str | None = None
    refused: str | None = None
    """Why it is refused: the network card in the same device."""
    holders: tuple[Holder, ...] = ()


def ports() -> list[Port]:
    """All existing serial ports, by name."""
    found = []
    for port in comports():
        others = names(port.device)
        found.append(
            Port(
                name=others[0] if others else port.device,
                node=port.device,
                names=others,
                usb=f"{port.vid:04x}:{port.pid:04x}"
                if port.vid is not None and port.pid is not None
                else None,
                serial_number=port.serial_number,
                product=port.product,
                manufacturer=port.manufacturer,
                refused=behind_port(port.device, SYSTEM),
                holders=tuple(holders(port.device)),
            )
        )
    return sorted(found, key=lambda port: port.name)


def names(node: str, folder: str = "/dev") -> tuple[str, ...]:
    """The links below ``folder`` that lead to a node, best first: the site's own, by-id (which
    device), by-path (which socket).
    """
    real = os.path.realpath(node)
    links = (Path(place, name) for place, _, inside in os.walk(folder) for name in inside)
    found = [str(link) for link in links if link.is_symlink() and os.path.realpath(link) == real]
    return tuple(sorted(found, key=lambda name: ("/by-path/" in name, "/by-id/" in name, name)))


def holders(node: str) -> Iterator[Holder]:
    """The processes that have a node open, as far as we may see them."""
    real = os.path.realpath(node)
    for process in Path("/proc").glob("[0-9]*"):
        try:
            if any(os.path.realpath(fd) == real for fd in (process / "fd").iterdir()):
                yield Holder(int(process.name), (process / "comm").read_text().strip())
        except OSError:  # ended meanwhile, or not visible to us
            continue
