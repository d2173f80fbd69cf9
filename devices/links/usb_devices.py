"""Lists possible card readers on USB: the human interface devices that are plugged in. Opens
none.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from urllib.parse import quote

import msgspec

from devices.links.networks import MODEMS, NETWORK_CARDS, network_card_in_device

HID_CLASS, MOUSE_PROTOCOL = "03", "02"
"""Interface class, and the protocol of a mouse, which cannot be a reader."""


class HidDevice(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One device. ``links``: the address of each interface that may send reports."""

    links: tuple[str, ...]
    usb: str
    """Vendor and product id, ``0c2e:0b61``."""
    location: str
    """The port path, ``1-1.4``, which identifies the socket."""
    serial_number: str | None = None
    product: str | None = None
    manufacturer: str | None = None
    refused: str | None = None
    """The network card or modem in the same device, for which it is refused."""


def hid_devices(folder: Path = Path("/sys/bus/usb/devices")) -> list[HidDevice]:
    """Return every human interface device except mice, sorted by port."""
    found = []
    for path in sorted(folder.glob("*-*")):
        with suppress(OSError):  # unplugged meanwhile
            if ":" not in path.name and (device := _read_device(path)) is not None:
                found.append(device)
    numbers = Counter((device.usb, device.serial_number) for device in found)
    return [
        _with_addresses(device, shared=numbers[device.usb, device.serial_number] > 1)
        for device in found
    ]


def _read_device(path: Path) -> HidDevice | None:
    """Read a device; its ``links`` contain only interface numbers for now."""
    vendor, product = read_fact(path, "idVendor"), read_fact(path, "idProduct")
    interfaces = tuple(_interfaces(path))
    if vendor is None or product is None or not interfaces:
        return None
    return HidDevice(
        links=interfaces,
        usb=f"{vendor}:{product}",
        location=path.name,
        serial_number=read_fact(path, "serial"),
        product=read_fact(path, "product"),
        manufacturer=read_fact(path, "manufacturer"),
        refused=network_card_in_device(path, NETWORK_CARDS | MODEMS),
    )


def _interfaces(path: Path) -> Iterator[str]:
    for interface in sorted(path.parent.glob(f"{path.name}:*")):
        number = read_fact(interface, "bInterfaceNumber")
        if (
            number
            and read_fact(interface, "bInterfaceClass") == HID_CLASS
            and read_fact(interface, "bInterfaceProtocol") != MOUSE_PROTOCOL
        ):
            yield str(int(number, 16))


def _with_addresses(device: HidDevice, *, shared: bool) -> HidDevice:
    """Fill in the addresses, with the serial number, or the port if the number is missing or not
    unique.
    """
    name = device.location if shared or not device.serial_number else device.serial_number
    link = f"usb://{device.usb}/{quote(name, safe='')}"
    several = len(device.links) > 1
    links = tuple(f"{link}?interface={number}" if several else link for number in device.links)
    return msgspec.structs.replace(device, links=links)


def read_fact(path: Path, name: str) -> str | None:
    """Read a fact from the system; None if it is missing or the device was just unplugged."""
    try:
        return (path / name).read_text(errors="replace").strip() or None
    except OSError:
        return None
