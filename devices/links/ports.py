"""Lists the serial ports of this machine, their stable names, and the processes that have them
open.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

import msgspec
from serial.tools.list_ports import comports
from serial.tools.list_ports_linux import SysFS

from devices.links.holders import Holder, holders
from devices.links.networks import network_card_behind_port
from devices.links.serial_port import SYSFS

__all__ = ["Holder", "SerialPort", "holders", "ports", "stable_names"]

LIST_ATTEMPTS = 5
"""Maximum number of attempts to list the ports while adapters are unplugged."""


class SerialPort(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
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
    """The network card in the same device, for which the port is refused."""
    holders: tuple[Holder, ...] = ()


def ports() -> list[SerialPort]:
    """Return all serial ports, sorted by name."""
    found = []
    for port in _list_ports():
        with suppress(OSError):  # unplugged meanwhile
            refused = network_card_behind_port(port.device, SYSFS)
            others = stable_names(port.device)
            found.append(
                SerialPort(
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


def _list_ports() -> Sequence[SysFS]:
    """List the ports with pyserial. It fails if an adapter is unplugged while it reads the system's
    facts; the next attempt is without that adapter.
    """
    for _ in range(LIST_ATTEMPTS):
        with suppress(OSError, TypeError, ValueError):
            return comports()
    return ()


def stable_names(node: str, folder: str = "/dev") -> tuple[str, ...]:
    """Return the symbolic links below ``folder`` to a node, best first: the site's own, by-id (the
    device), by-path (the socket).
    """
    real = os.path.realpath(node)
    links = (Path(place, name) for place, _, inside in os.walk(folder) for name in inside)
    found = [str(link) for link in links if link.is_symlink() and os.path.realpath(link) == real]
    return tuple(sorted(found, key=lambda name: ("/by-path/" in name, "/by-id/" in name, name)))
