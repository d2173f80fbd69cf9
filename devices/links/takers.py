"""Detects programs that are known to take over serial adapters, and adapters without a port.

Sources: the udev rules of brltty, gpsd and ModemManager, and user reports. brltty claims the
adapter itself, so its port disappears; gpsd and ModemManager open the port.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import msgspec

from devices.links.usb_devices import read_fact

KNOWN_PROGRAMS: dict[str, str] = {
    "brltty": (
        "a screen reader for braille displays, claims adapters with common chips, so that their "
        "port disappears; remove it (apt remove brltty) or mask its udev rules"
    ),
    "ModemManager": (
        "opens a new port for some seconds to look for a modem, and writes to it; install "
        "systemd/70-novamas.rules, or remove it"
    ),
    "gpsd": (
        "opens adapters that a GPS receiver may have; set USBAUTO=false in /etc/default/gpsd, or "
        "remove it"
    ),
}
"""Name of the program in ``/proc`` -> what it does to an adapter, and what to do."""

ADAPTER_VENDORS = frozenset({"0403", "067b", "10c4", "1a86"})
"""Vendor ids of nearly all adapters: FTDI, Prolific, Silicon Labs, QinHeng."""


class AdapterTaker(msgspec.Struct, frozen=True):
    """A running program that is known to take over adapters."""

    pid: int
    name: str


class AdapterWithoutPort(msgspec.Struct, frozen=True, kw_only=True):
    """An adapter without a port. ``claimed``: a program has claimed it; otherwise the kernel has no
    driver for it.
    """

    usb: str
    """Vendor and product id, ``1a86:7523``."""
    location: str
    """The port path, ``1-1.4``."""
    product: str | None = None
    node: str | None = None
    """The device file that a claiming program has open."""
    claimed: bool = False


def running_takers(processes: Path = Path("/proc")) -> tuple[AdapterTaker, ...]:
    """Return the known programs that are running, as far as they are visible."""
    found = []
    for process in processes.glob("[0-9]*"):
        name = read_fact(process, "comm")
        if name in KNOWN_PROGRAMS:
            found.append(AdapterTaker(int(process.name), name))
    return tuple(sorted(found, key=lambda program: (program.name, program.pid)))


def adapters_without_port(folder: Path = Path("/sys/bus/usb/devices")) -> list[AdapterWithoutPort]:
    """Return the adapters of the usual makers that have no port."""
    return [
        AdapterWithoutPort(
            usb=f"{vendor}:{read_fact(path, 'idProduct')}",
            location=path.name,
            product=read_fact(path, "product"),
            node=_usb_node(path),
            claimed="usbfs" in set(_interface_drivers(path)),
        )
        for path in sorted(folder.glob("*-*"))
        if ":" not in path.name
        and (vendor := read_fact(path, "idVendor")) in ADAPTER_VENDORS
        and not any(path.parent.glob(f"{path.name}:*/tty*"))
    ]


def describe_suspects() -> str:
    """Return the programs that may have taken over a missing port, as text."""
    found = ", ".join(f"{program.name} (pid {program.pid})" for program in running_takers())
    if found:
        return f"running, and known to take adapters: {found}; see docs/technician/links.md"
    return f"{', '.join(KNOWN_PROGRAMS)} can take an adapter away; see docs/technician/links.md"


def _usb_node(path: Path) -> str | None:
    bus, device = read_fact(path, "busnum"), read_fact(path, "devnum")
    if bus is None or device is None or not (bus.isdecimal() and device.isdecimal()):
        return None
    return f"/dev/bus/usb/{int(bus):03}/{int(device):03}"


def _interface_drivers(path: Path) -> Iterator[str]:
    for interface in path.parent.glob(f"{path.name}:*"):
        driver = interface / "driver"
        if driver.exists():
            yield driver.resolve().name
