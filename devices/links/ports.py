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
from devices.links.networks import network_card_behind_port
from devices.links.serial_port import SYSFS

__all__ = ["Holder", "SerialPort", "holders", "ports", "stable_names"]

LIST_ATTEMPTS = 5
"""How often the ports are listed while adapters are pulled out."""


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
    """Why it is refused: the network card in the same device."""
    holders: tuple[Holder, ...] = ()


def ports() -> list[SerialPort]:
    """All existing serial ports, by name."""
    found = []
    for port in _list_ports():
        with suppress(OSError):  # pulled out meanwhile
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
    """What pyserial lists. It fails on an adapter that is pulled out while it reads what the system
    says of it; the next list is without that one.
    """
    for _ in range(LIST_ATTEMPTS):
        with suppress(OSError, TypeError, ValueError):
            return comports()
    return ()


def stable_names(node: str, folder: str = "/dev") -> tuple[str, ...]:
    """The links below ``folder`` that lead to a node, best first: the site's own, by-id (which
    device), by-path (which socket).
    """
    real = os.path.realpath(node)
    links = (Path(place, name) for place, _, inside in os.walk(folder) for name in inside)
    found = [str(link) for link in links if link.is_symlink() and os.path.realpath(link) == real]
    return tuple(sorted(found, key=lambda name: ("/by-path/" in name, "/by-id/" in name, name)))
