"""``usb://vid:pid/name``: a USB device through pyusb: either the reports of a HID device, such as a
card reader, or the bytes of two endpoints.

The link has exclusive access: the kernel's driver is detached from the interface, which is then
claimed, so that a reader posing as a keyboard does not type into the console. On closing, the
kernel's driver is attached again.

Each transfer of a HID device is one report and all have the same length, so frame boundaries are
known. A report of another length ends the link, because misaligned bytes could decode as other
cards. If the address names an endpoint (``read=81``), bulk or interrupt, of any class, its bytes
are a stream like those of a serial port.
"""

from __future__ import annotations

import errno
import re
from contextlib import suppress
from pathlib import Path
from typing import Annotated, Any, Literal
from urllib.parse import urlsplit

import libusb_package
import msgspec
import usb.core
import usb.util
from usb.backend import libusb1

from common.line import LINE_ERRORS
from devices.links.link import (
    WRITE_TIMEOUT_SECONDS,
    Address,
    Link,
    LinkFailedError,
    WriteTimedOutError,
    parse_options,
)
from devices.links.networks import MODEMS, NETWORK_CARDS, match_class, network_interfaces

SYSFS = Path("/sys")
HID_CLASS, BOOT_SUBCLASS, KEYBOARD_PROTOCOL = 3, 1, 1
"""Interface class of human interface devices; subclass and protocol of a keyboard with fixed
reports (boot protocol).
"""
BOOT_REPORT_BYTES = 8
"""Size of a report of such a keyboard."""

SET_IDLE, SET_PROTOCOL = 0x0A, 0x0B
BOOT_PROTOCOL, REPORT_PROTOCOL = 0, 1
CLASS_REQUEST_TO_INTERFACE = 0x21
"""Request type: host to device, class, interface."""

_PRODUCT = re.compile(r"([0-9A-Fa-f]{4}):([0-9A-Fa-f]{4})")


class UsbSettings(msgspec.Struct, frozen=True):
    """Options of an address. ``interface``: its number, if the device has several; ``timeout``:
    seconds for which one transfer waits for a report; ``report``: size of a report, if neither a
    boot keyboard's nor a full packet. ``read`` and ``write``: endpoints in hexadecimal, as ``lsusb
    -v`` shows them. ``network``: whether to refuse a device that contains a network card.
    """

    interface: Annotated[int, msgspec.Meta(ge=0, le=255)] | None = None
    timeout: Annotated[float, msgspec.Meta(ge=0.2, le=0.5)] = 0.3
    report: Annotated[int, msgspec.Meta(ge=1, le=1024)] | None = None
    read: Annotated[str, msgspec.Meta(pattern=r"^(0x)?8[1-9a-fA-F]\Z")] | None = None
    write: Annotated[str, msgspec.Meta(pattern=r"^(0x)?0[1-9a-fA-F]\Z")] | None = None
    network: Literal["refuse", "allow"] = "refuse"


class UsbSelector(msgspec.Struct, frozen=True):
    """Selects a device: vendor and product, and a serial number or port path if there are
    several.
    """

    vendor: int
    product: int
    name: str

    def __str__(self) -> str:
        return f"usb {self.vendor:04x}:{self.product:04x}" + (f" {self.name}" if self.name else "")


def usb_backend() -> Any:
    """Return the USB library as a backend of pyusb, or None. Tests replace it with a virtual
    bus.
    """
    return libusb_package.get_libusb1_backend() or libusb1.get_backend()


def check(address: Address) -> None:
    """Raise ``ValueError`` if the address is invalid."""
    _selector(address)
    settings = parse_options(address, UsbSettings)
    if settings.write and not settings.read:
        raise ValueError(f"write={settings.write}: add read=, the endpoint that answers")
    if settings.read and settings.report:
        raise ValueError(
            f"report={settings.report}: remove it; the endpoint of read= is a stream and "
            "has no reports"
        )


def connect(address: Address) -> Link:
    """Find the device and claim it. Raises :class:`LinkFailedError`."""
    return UsbLink(_selector(address), parse_options(address, UsbSettings))


def _selector(address: Address) -> UsbSelector:
    match = _PRODUCT.fullmatch(urlsplit(address.url).netloc)
    if match is None:
        raise ValueError("give vendor and product, as in usb://0c2e:0b61 or usb://0c2e:0b61/SERIAL")
    # stripped as a device's serial number is
    name = address.path.removeprefix("/").strip("\0 ")
    return UsbSelector(int(match[1], 16), int(match[2], 16), name)


class UsbLink:
    """A claimed interface."""

    def __init__(self, wanted: UsbSelector, settings: UsbSettings) -> None:
        self._name = str(wanted)
        self._timeout = settings.timeout
        self._detached = False
        self._is_keyboard = False
        self._output: int | None = None
        self._device: Any = None
        try:
            self._device = find_device(wanted)
            self._claim(settings)
        except LinkFailedError:
            self.close()
            raise
        except LINE_ERRORS as error:
            self.close()
            raise LinkFailedError(f"{self._name}: {_failure_reason(error)}") from error

    def _claim(self, settings: UsbSettings) -> None:
        device = self._device
        if settings.network == "refuse":
            refuse_network_card(device, self._name)
        boot_keyboard = False
        if settings.read:
            interface, endpoint, self._output = choose_stream_endpoints(
                configuration(device), settings, self._name
            )
        else:
            interface, endpoint = choose_hid_endpoint(
                configuration(device), settings.interface, self._name
            )
            boot_keyboard = (interface.bInterfaceSubClass, interface.bInterfaceProtocol) == (
                BOOT_SUBCLASS,
                KEYBOARD_PROTOCOL,
            )
        self._interface: int = interface.bInterfaceNumber
        self._endpoint: int = endpoint.bEndpointAddress
        packet = endpoint.wMaxPacketSize & 0x7FF
        self._report = (
            None
            if settings.read
            else settings.report or (BOOT_REPORT_BYTES if boot_keyboard else packet)
        )
        self._room = max(self._report or 0, packet)
        if device.is_kernel_driver_active(self._interface):
            device.detach_kernel_driver(self._interface)
            self._detached = True
        usb.util.claim_interface(device, self._interface)
        self._is_keyboard = boot_keyboard
        if boot_keyboard:
            self._control(SET_PROTOCOL, BOOT_PROTOCOL)
            self._control(SET_IDLE, 0)  # report only changes
        with suppress(usb.core.USBError):  # a stall left by the previous program
            device.clear_halt(self._endpoint)
        self._facts = {**facts(device), "interface": str(self._interface)}

    def _control(self, request: int, value: int) -> None:
        with suppress(*LINE_ERRORS):  # a device may not support this request
            self._device.ctrl_transfer(CLASS_REQUEST_TO_INTERFACE, request, value, self._interface)

    def read(self, timeout: float) -> bytes:
        """See :class:`devices.links.link.Link`. Waits for the time in the address, if that is
        longer: some controllers fail if transfers are cancelled many times a second.
        """
        try:
            data = bytes(
                self._device.read(
                    self._endpoint, self._room, int(max(timeout, self._timeout) * 1000)
                )
            )
        except usb.core.USBTimeoutError:
            return b""
        except LINE_ERRORS as error:
            if isinstance(error, usb.core.USBError) and error.errno == errno.ETIMEDOUT:
                return b""
            raise LinkFailedError(f"{self._name}: {_failure_reason(error)}") from error
        if data and self._report not in (None, len(data)):
            raise LinkFailedError(
                f"{self._name}: got a report of {len(data)} bytes, expected "
                f"{self._report}; check the reader's mode or set report="
            )
        return data

    def write(self, data: bytes) -> None:
        """See :class:`devices.links.link.Link`. Works only if the address names an endpoint with
        ``write=``.
        """
        if self._output is None:
            raise LinkFailedError(
                f"{self._name}: a USB reader accepts no data; name an endpoint with write= to send"
            )
        try:
            written = self._device.write(self._output, data, int(WRITE_TIMEOUT_SECONDS * 1000))
        except LINE_ERRORS as error:
            timed_out = isinstance(error, OSError) and error.errno == errno.ETIMEDOUT
            if timed_out or isinstance(error, usb.core.USBTimeoutError):
                raise WriteTimedOutError(f"{self._name}: the device accepts no data") from error
            raise LinkFailedError(f"{self._name}: {_failure_reason(error)}") from error
        if written != len(data):
            raise WriteTimedOutError(
                f"{self._name}: only {written} of {len(data)} bytes were accepted"
            )

    def close(self) -> None:
        """See :class:`devices.links.link.Link`. Attaches the kernel's driver again if there was
        one.
        """
        if self._device is None:
            return
        if self._is_keyboard:
            self._control(SET_PROTOCOL, REPORT_PROTOCOL)
        device, self._device = self._device, None
        if self._detached:
            with suppress(*LINE_ERRORS):
                usb.util.release_interface(device, self._interface)
            with suppress(*LINE_ERRORS):
                device.attach_kernel_driver(self._interface)
        with suppress(*LINE_ERRORS):
            usb.util.dispose_resources(device)

    def describe(self) -> dict[str, str]:
        """See :class:`devices.links.link.Link`."""
        return dict(self._facts)


def find_device(wanted: UsbSelector) -> Any:
    """Return the one matching device. Raises :class:`LinkFailedError` if none or several match."""
    bus = usb_backend()
    if bus is None:
        raise LinkFailedError(
            f"{wanted}: libusb is missing or has no access to the bus; install "
            "libusb-1.0-0 (docs/technician/systemd.md)"
        )
    equal = list(
        usb.core.find(find_all=True, backend=bus, idVendor=wanted.vendor, idProduct=wanted.product)
    )
    found = [
        device
        for device in equal
        if not wanted.name or wanted.name in (port_path(device), serial_number(device))
    ]
    for device in equal:
        if len(found) != 1 or device is not found[0]:
            usb.util.dispose_resources(device)
    present = ", ".join(
        port_path(device) + (f" ({number})" if (number := serial_number(device)) else "")
        for device in equal
    )
    if not found:
        raise LinkFailedError(
            f"{wanted}: not plugged in" + (f"; same model at: {present}" if equal else "")
        )
    if len(found) > 1:
        raise LinkFailedError(
            f"{wanted}: several are plugged in; add a serial number or port to the address: "
            f"{present}"
        )
    return found[0]


def port_path(device: Any) -> str:
    """Return the port path as the system writes it, ``1-2.4``: the bus, then the ports along the
    way.
    """
    return f"{device.bus}-{'.'.join(map(str, device.port_numbers or ()))}"


def serial_number(device: Any) -> str | None:
    """Return the serial number; None if it is missing or not readable."""
    return _text(device, "serial_number")


def facts(device: Any) -> dict[str, str]:
    """Return the device's own descriptors, as in :meth:`devices.links.link.Link.describe`."""
    texts = {key: _text(device, key) for key in ("serial_number", "manufacturer", "product")}
    return {
        "usb": f"{device.idVendor:04x}:{device.idProduct:04x}",
        **{key: value for key, value in texts.items() if value},
        "location": port_path(device),
    }


def _text(device: Any, name: str) -> str | None:
    try:
        found = getattr(device, name)
    except LINE_ERRORS:  # not available or not permitted
        return None
    return str(found).strip("\0 ") if found else None


def configuration(device: Any) -> Any:
    """Return the active configuration. Set one only if none is active: setting it again resets the
    device.
    """
    try:
        return device.get_active_configuration()
    except usb.core.USBError as error:
        if error.errno is not None:
            raise
    device.set_configuration()
    return device.get_active_configuration()


def refuse_network_card(device: Any, name: str) -> None:
    """Raise :class:`LinkFailedError` for a device that contains a network card or a modem."""
    kinds = [(device.bDeviceClass, device.bDeviceSubClass, device.bDeviceProtocol)]
    kinds += [
        (interface.bInterfaceClass, interface.bInterfaceSubClass, interface.bInterfaceProtocol)
        for setting in device
        for interface in setting
    ]
    if found := match_class(kinds, NETWORK_CARDS | MODEMS) or network_interfaces(
        SYSFS / "bus" / "usb" / "devices" / port_path(device)
    ):
        raise LinkFailedError(
            f"{name}: refused: the device also contains a modem or a network card "
            f"({found}); if it is a reader in serial mode, use "
            "serial:///dev/serial/by-id/..."
        )


def choose_hid_endpoint(setting: Any, number: int | None, name: str) -> tuple[Any, Any]:
    """Return the interface and endpoint that send reports. Raises :class:`LinkFailedError` if
    ambiguous.
    """
    found = {}
    for interface in setting:
        if interface.bInterfaceClass == HID_CLASS and interface.bAlternateSetting == 0:
            inputs = [endpoint for endpoint in interface if _is_interrupt_in(endpoint)]
            if inputs:
                found[interface.bInterfaceNumber] = (interface, inputs[0])
    listed = ", ".join(map(str, found)) or "none"
    if number is not None and number not in found:
        raise LinkFailedError(
            f"{name}: interface {number} sends no HID reports; those that do: {listed}"
        )
    if number is None and len(found) != 1:
        why = (
            "several interfaces send HID reports, choose one with interface="
            if found
            else "no interface sends HID reports; found"
        )
        raise LinkFailedError(f"{name}: {why}: {listed}")
    return found[number] if number is not None else next(iter(found.values()))


def choose_stream_endpoints(
    setting: Any, settings: UsbSettings, name: str
) -> tuple[Any, Any, int | None]:
    """Return the interface with the endpoint to read, that endpoint, and the address of the one to
    write. Raises :class:`LinkFailedError`.
    """
    wanted = [int(address, 16) for address in (settings.read, settings.write) if address]
    present = []
    for interface in setting:
        if interface.bAlternateSetting != 0 or settings.interface not in (
            None,
            interface.bInterfaceNumber,
        ):
            continue
        endpoints = {endpoint.bEndpointAddress: endpoint for endpoint in interface}
        present += [
            f"{address:02x} of interface {interface.bInterfaceNumber}" for address in endpoints
        ]
        if set(wanted) <= endpoints.keys():
            kinds = {usb.util.endpoint_type(endpoints[address].bmAttributes) for address in wanted}
            if not kinds <= {usb.util.ENDPOINT_TYPE_BULK, usb.util.ENDPOINT_TYPE_INTR}:
                raise LinkFailedError(
                    f"{name}: only bulk and interrupt endpoints can be read and written"
                )
            return interface, endpoints[wanted[0]], wanted[1] if settings.write else None
    shown = " and ".join(f"{address:02x}" for address in wanted)
    raise LinkFailedError(
        f"{name}: no interface has the endpoint {shown}; there are: {', '.join(present) or 'none'}"
    )


def _is_interrupt_in(endpoint: Any) -> bool:
    kind = (
        usb.util.endpoint_type(endpoint.bmAttributes),
        usb.util.endpoint_direction(endpoint.bEndpointAddress),
    )
    return bool(kind == (usb.util.ENDPOINT_TYPE_INTR, usb.util.ENDPOINT_IN))


def _failure_reason(error: Exception) -> str:
    """Describe the failure for people, and what to do if known."""
    number = error.errno if isinstance(error, usb.core.USBError) else None
    if number == errno.EACCES:
        return (
            "no permission; add a udev rule that gives the device to the service's group "
            "(docs/technician/links.md)"
        )
    if number == errno.EBUSY:
        return "another program has the device open"
    if number in {errno.ENODEV, errno.EIO, errno.EPIPE, errno.ENOENT}:
        return f"the device is gone: it was unplugged or reset ({error})"
    return str(error)
