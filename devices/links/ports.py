"""The serial ports of this machine, their stable names, and the processes that have them open."""

from __future__ import annotations

import os
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

import msgspec
from serial.tools.list_ports import comports
from serial.tools.list_ports_linux import SysFS

from devices.links.holders import Holder, holders
from devices.links.networks import behind_port
from devices.links.serial_port import SYSTEM

__all__ = ["Holder", "Port", "holders", "names", "ports"]

ATTEMPTS = 5
"""How often the ports are listed while adapters are pulled out."""


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
    for port in _plugged_in():
        with suppress(OSError):  # pulled out meanwhile
            refused = behind_port(port.device, SYSTEM)
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
                    refused=refused,
                    holders=holders(port.device),
                )
            )
    return sorted(found, key=lambda port: port.name)


def _plugged_in() -> Sequence[SysFS]:
    """What pyserial lists. It fails on an adapter that is pulled out while it reads what the system
    says of it; the next list is without that one.
    """
    for _ in range(ATTEMPTS):
        with suppress(OSError, TypeError, ValueError):
            return comports()
    return ()


def names(node: str, folder: str = "/dev") -> tuple[str, ...]:
    """The links below ``folder`` that lead to a node, best first: the site's own, by-id (which
    device), by-path (which socket).
    """
    real = os.path.realpath(node)
    links = (Path(place, name) for place, _, inside in os.walk(folder) for name in inside)
    found = [str(link) for link in links if link.is_symlink() and os.path.realpath(link) == real]
    return tuple(sorted(found, key=lambda name: ("/by-path/" in name, "/by-id/" in name, name)))
