"""Network cards in disguise: a device that is plugged in as a reader or a serial port and brings a
network card along.

Such a gadget opens a second way into this machine, past every firewall between it and the floor.
What a device is, it says itself; so this keeps out what is careless, and what lies about its class
is for the locks on the ports.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path

Kind = tuple[int, int, int]
"""Class, subclass and protocol of a device or an interface."""
Row = tuple[int, int | None, int | None]
"""The same; None: any."""

CARDS: dict[Row, str] = {
    (0x02, 0x06, None): "CDC ECM",
    (0x02, 0x0C, None): "CDC EEM",
    (0x02, 0x0D, None): "CDC NCM",
    (0x02, 0x0E, None): "CDC MBIM",
    (0x02, 0x02, 0xFF): "RNDIS",
    (0xE0, 0x01, 0x03): "RNDIS",
    (0xEF, 0x04, None): "RNDIS",
}
"""Network cards, as the USB standards and Linux's own drivers of such cards name them."""

MODEMS: dict[Row, str] = {
    (0x02, None, None): "modem",
    (0x0A, None, None): "modem",
    (0xE0, None, None): "wireless controller",
}
"""What a reader has no business to be either. A serial port may well be a modem of the class 02/02,
and most are.
"""


def network(kinds: Iterable[Kind], rows: dict[Row, str]) -> str | None:
    """The first of the kinds that is one of the rows, with its name: ``RNDIS, class e0/01/03``;
    None: there is none.
    """
    for kind in kinds:
        for row, name in rows.items():
            if all(want in (None, have) for want, have in zip(row, kind, strict=True)):
                return f"{name}, class {'/'.join(f'{part:02x}' for part in kind)}"
    return None


def behind_port(node: str, system: Path) -> str | None:
    """The network card in the USB device that a port of this machine belongs to; None: it has none,
    or is no USB device.

    Found by the classes of all its interfaces, and by what the kernel has made of them already: a
    name such as ``usb0``.
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
    return None if device is None else in_device(device, CARDS)


def in_device(device: Path, rows: dict[Row, str]) -> str | None:
    """The network card in a USB device, by its folder in ``/sys``; ``rows``: what counts as one."""
    if found := made_of(device):
        return found
    interfaces = sorted(device.glob(f"{device.name}:*"))
    kinds = (
        kind
        for folder, prefix in ((device, "bDevice"), *((each, "bInterface") for each in interfaces))
        for kind in _kind(folder, prefix)
    )
    return network(kinds, rows)


def made_of(device: Path) -> str | None:
    """The network cards that the kernel has made of a USB device, whatever it says it is."""
    cards = sorted(card.name for card in device.glob(f"{device.name}:*/net/*"))
    return f"network interface {', '.join(cards)}" if cards else None


def _kind(folder: Path, prefix: str) -> Iterator[Kind]:
    """What stands in the folder of a device or an interface; nothing, if it goes away just now."""
    try:
        kind, subclass, protocol = (
            int((folder / f"{prefix}{part}").read_text(), 16)
            for part in ("Class", "SubClass", "Protocol")
        )
    except (OSError, ValueError):
        return
    yield kind, subclass, protocol
