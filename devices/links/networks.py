"""Detects USB devices that act as a reader or serial port but also contain a network card.

Such a device opens a second way into this machine, past every firewall. Detection relies on the
device's own descriptors, so it prevents mistakes; against a device that lies about its class, lock
the ports.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path

UsbClass = tuple[int, int, int]
"""Class, subclass and protocol of a device or an interface."""
UsbClassPattern = tuple[int, int | None, int | None]
"""Pattern of class, subclass and protocol; None matches any value."""

NETWORK_CARDS: dict[UsbClassPattern, str] = {
    (0x02, 0x06, None): "CDC ECM",
    (0x02, 0x0C, None): "CDC EEM",
    (0x02, 0x0D, None): "CDC NCM",
    (0x02, 0x0E, None): "CDC MBIM",
    (0x02, 0x02, 0xFF): "RNDIS",
    (0xE0, 0x01, 0x03): "RNDIS",
    (0xEF, 0x04, None): "RNDIS",
}
"""Network cards, as the USB standards and the Linux drivers for such cards define them."""

MODEMS: dict[UsbClassPattern, str] = {
    (0x02, None, None): "modem",
    (0x0A, None, None): "modem",
    (0xE0, None, None): "wireless controller",
}
"""Classes that a reader must not contain either. A serial port may be a modem of class 02/02; most
are.
"""


def match_class(kinds: Iterable[UsbClass], rows: dict[UsbClassPattern, str]) -> str | None:
    """Return the first class that matches a pattern, with its name: ``RNDIS, class e0/01/03``.
    None: no match.
    """
    for kind in kinds:
        for row, name in rows.items():
            if all(want in (None, have) for want, have in zip(row, kind, strict=True)):
                return f"{name}, class {'/'.join(f'{part:02x}' for part in kind)}"
    return None


def network_card_behind_port(node: str, system: Path) -> str | None:
    """Return the network card in the USB device behind a serial port. None: no network card, or not
    USB.

    It is found by the classes of all interfaces of the device, and by the network interfaces
    (``usb0``) that the kernel has created for it.
    """
    place = system / "class" / "tty" / Path(node).resolve().name / "device"
    if not place.exists():
        return None
    device = next(
        (
            folder
            for folder in (place.resolve(), *place.resolve().parents)
            if (folder / "idVendor").exists()
        ),
        None,
    )
    return None if device is None else network_card_in_device(device, NETWORK_CARDS)


def network_card_in_device(device: Path, rows: dict[UsbClassPattern, str]) -> str | None:
    """Return the network card in a USB device, by its folder in ``/sys``. ``rows``: the classes
    that count as one.
    """
    if found := network_interfaces(device):
        return found
    interfaces = sorted(device.glob(f"{device.name}:*"))
    kinds = (
        kind
        for folder, prefix in (
            (device, "bDevice"),
            *((interface, "bInterface") for interface in interfaces),
        )
        for kind in _read_class(folder, prefix)
    )
    return match_class(kinds, rows)


def network_interfaces(device: Path) -> str | None:
    """Return the network interfaces that the kernel has created for a USB device of any class."""
    cards = sorted(card.name for card in device.glob(f"{device.name}:*/net/*"))
    return f"network interface {', '.join(cards)}" if cards else None


def _read_class(folder: Path, prefix: str) -> Iterator[UsbClass]:
    """Read the class of a device or interface from its folder; empty if it was just unplugged."""
    try:
        kind, subclass, protocol = (
            int((folder / f"{prefix}{part}").read_text(), 16)
            for part in ("Class", "SubClass", "Protocol")
        )
    except (OSError, ValueError):
        return
    yield kind, subclass, protocol
