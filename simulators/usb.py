"""A virtual USB bus as a backend of pyusb: its devices are data, their reports are queues.

A device can be plugged in and unplugged, stall, fail, be denied or held by another program while it
is being read. Its ``log`` lists the operations on it. As on a real machine, its reports are typed
into the console while the kernel's driver is attached.
"""

from __future__ import annotations

import errno
from array import array
from collections import deque
from collections.abc import Iterator
from itertools import count
from threading import Condition
from types import SimpleNamespace
from typing import Any, NamedTuple

from usb.backend import IBackend
from usb.core import USBError, USBTimeoutError

from common import clock

BULK, INTERRUPT = 2, 3
IN = 0x80
GET_DESCRIPTOR, STRING = 6, 3
REQUESTS = {0x0A: "idle", 0x0B: "protocol"}
"""Requests to a keyboard."""


class Endpoint(NamedTuple):
    """An endpoint. ``address``: direction in bit 7; ``packet``: bytes per packet."""

    address: int = 0x81
    packet: int = 8
    attributes: int = INTERRUPT


class Interface(NamedTuple):
    """An interface. ``kind``: class, subclass and protocol; by default a boot keyboard."""

    kind: tuple[int, int, int] = (3, 1, 1)
    endpoints: tuple[Endpoint, ...] = (Endpoint(),)


class UsbDevice(NamedTuple):
    """A device. ``port``: the ports on the path to it. ``strings``: manufacturer, product, serial
    number.
    """

    vendor: int = 0x0C2E
    product: int = 0x0B61
    interfaces: tuple[Interface, ...] = (Interface(),)
    kind: tuple[int, int, int] = (0, 0, 0)
    strings: tuple[str, str, str] = ("Acme", "Scanner", "")
    port: tuple[int, ...] = (1,)
    bus: int = 1


VENDOR_READER = UsbDevice(
    interfaces=(
        Interface((3, 1, 1)),
        Interface((0xFF, 0, 0), (Endpoint(0x82, 64, BULK), Endpoint(0x02, 64, BULK))),
    )
)
POS_SCANNER = UsbDevice(interfaces=(Interface((3, 0, 0), (Endpoint(packet=64),)),))
RNDIS_GADGET = UsbDevice(
    interfaces=(Interface((0xE0, 1, 3), (Endpoint(),)), Interface((0x0A, 0, 0), ()), Interface())
)


class PluggedDevice:
    """A device on the bus. All methods may be called from any thread."""

    def __init__(self, device: UsbDevice, address: int, changed: Condition) -> None:
        self.device = device
        self.address = address
        self.log: list[str] = []
        self.typed: list[bytes] = []
        self.written: list[bytes] = []
        self.deaf = False
        self.gone = False
        self.denied = False
        self.held = False
        self.stalled = False
        self.configured = True
        self.kernel = {n for n, interface in enumerate(device.interfaces) if interface.kind[0] == 3}
        self.claimed: dict[int, int] = {}
        self._failures: deque[int] = deque()
        self._reports: deque[bytes] = deque()
        self._changed = changed

    def report(self, *reports: bytes, interface: int = 0) -> None:
        """Send a report."""
        with self._changed:
            (self.typed if interface in self.kernel else self._reports).extend(reports)
            self._changed.notify_all()

    def fail(self, number: int) -> None:
        """Make the next transfer fail with this error."""
        with self._changed:
            self._failures.append(number)
            self._changed.notify_all()

    def next(self, timeout: float) -> bytes:
        """Return the next report. Raises the errors of pyusb's backends."""
        until = clock.monotonic() + timeout
        with self._changed:
            while True:
                if self.gone:
                    raise usb_error(errno.ENODEV)
                if self.stalled:
                    raise usb_error(errno.EPIPE)
                if self._failures:
                    raise usb_error(self._failures.popleft())
                if self._reports:
                    return self._reports.popleft()
                if not self._changed.wait(until - clock.monotonic()):
                    raise usb_error(errno.ETIMEDOUT)


def usb_error(number: int) -> USBError:
    """Create an error as libusb's backend does."""
    kind = USBTimeoutError if number == errno.ETIMEDOUT else USBError
    created: USBError = kind(errno.errorcode[number], None, number)
    return created


class Handle(NamedTuple):
    """An open device."""

    number: int
    plugged: PluggedDevice


class VirtualBus(IBackend):
    """The bus, with the interface that pyusb expects."""

    def __init__(self) -> None:
        super().__init__()
        self._changed = Condition()
        self._plugged: list[PluggedDevice] = []
        self._addresses = count(2)
        self._handles = count(1)

    def plug(self, device: UsbDevice) -> PluggedDevice:
        """Plug in a device: always a new one, even if it was there before."""
        with self._changed:
            plugged = PluggedDevice(device, next(self._addresses), self._changed)
            self._plugged.append(plugged)
            return plugged

    def unplug(self, plugged: PluggedDevice) -> None:
        """Unplug a device."""
        with self._changed:
            plugged.gone = True
            self._plugged.remove(plugged)
            self._changed.notify_all()

    # called by pyusb

    def enumerate_devices(self) -> Iterator[PluggedDevice]:
        """Return the devices that are plugged in."""
        return iter(tuple(self._plugged))

    def get_parent(self, dev: PluggedDevice) -> None:
        """Return None: the virtual bus has no hubs."""

    def get_device_descriptor(self, dev: PluggedDevice) -> Any:
        """Return vendor, product, class and location."""
        device = dev.device
        maker, product, serial = (
            index if text else 0 for index, text in enumerate(device.strings, 1)
        )
        return SimpleNamespace(
            bLength=18,
            bDescriptorType=1,
            bcdUSB=0x200,
            bMaxPacketSize0=64,
            bcdDevice=0x100,
            bNumConfigurations=1,
            speed=2,
            bDeviceClass=device.kind[0],
            bDeviceSubClass=device.kind[1],
            bDeviceProtocol=device.kind[2],
            idVendor=device.vendor,
            idProduct=device.product,
            iManufacturer=maker,
            iProduct=product,
            iSerialNumber=serial,
            bus=device.bus,
            address=dev.address,
            port_number=device.port[-1],
            port_numbers=device.port,
        )

    def get_configuration_descriptor(self, dev: PluggedDevice, config: int) -> Any:
        """Return the only configuration."""
        return SimpleNamespace(
            bLength=9,
            bDescriptorType=2,
            wTotalLength=0,
            bNumInterfaces=len(dev.device.interfaces),
            bConfigurationValue=config + 1,
            iConfiguration=0,
            bmAttributes=0x80,
            bMaxPower=50,
            extra_descriptors=[],
        )

    def get_interface_descriptor(self, dev: PluggedDevice, intf: int, alt: int, config: int) -> Any:  # noqa: ARG002
        """Return the only setting of an interface. Raises ``IndexError`` beyond the last
        interface.
        """
        if alt:
            raise IndexError(alt)
        interface = dev.device.interfaces[intf]
        return SimpleNamespace(
            bLength=9,
            bDescriptorType=4,
            bInterfaceNumber=intf,
            bAlternateSetting=0,
            bNumEndpoints=len(interface.endpoints),
            bInterfaceClass=interface.kind[0],
            bInterfaceSubClass=interface.kind[1],
            bInterfaceProtocol=interface.kind[2],
            iInterface=0,
            extra_descriptors=[],
        )

    def get_endpoint_descriptor(
        self,
        dev: PluggedDevice,
        ep: int,
        intf: int,
        alt: int,  # noqa: ARG002
        config: int,  # noqa: ARG002
    ) -> Any:
        """Return an endpoint. Raises ``IndexError`` beyond the last."""
        endpoint = dev.device.interfaces[intf].endpoints[ep]
        return SimpleNamespace(
            bLength=7,
            bDescriptorType=5,
            bEndpointAddress=endpoint.address,
            bmAttributes=endpoint.attributes,
            wMaxPacketSize=endpoint.packet,
            bInterval=10,
            bRefresh=0,
            bSynchAddress=0,
            extra_descriptors=[],
        )

    def open_device(self, dev: PluggedDevice) -> Handle:
        """Open a device; fails if access is denied."""
        if dev.gone or dev.denied:
            raise usb_error(errno.ENODEV if dev.gone else errno.EACCES)
        dev.log.append("open")
        return Handle(next(self._handles), dev)

    def close_device(self, dev_handle: Handle) -> None:
        """Release the interfaces that the handle has claimed."""
        dev_handle.plugged.log.append("close")
        claimed = dev_handle.plugged.claimed
        for intf in [intf for intf, owner in claimed.items() if owner == dev_handle.number]:
            del claimed[intf]

    def set_configuration(self, dev_handle: Handle, config_value: int) -> None:
        """Set the configuration, which is a light reset on real hardware."""
        self._do(dev_handle, f"configure {config_value}").configured = True

    def get_configuration(self, dev_handle: Handle) -> int:
        """Return 1, or 0 if no configuration is set."""
        return int(dev_handle.plugged.configured)

    def claim_interface(self, dev_handle: Handle, intf: int) -> None:
        """Claim an interface; fails while the kernel or another handle has it."""
        device = dev_handle.plugged
        if (
            device.held
            or intf in device.kernel
            or device.claimed.get(intf, dev_handle.number) != dev_handle.number
        ):
            raise usb_error(errno.EBUSY)
        self._do(dev_handle, f"claim {intf}").claimed[intf] = dev_handle.number

    def release_interface(self, dev_handle: Handle, intf: int) -> None:
        """Release an interface."""
        self._do(dev_handle, f"release {intf}").claimed.pop(intf)

    def intr_read(
        self,
        dev_handle: Handle,
        ep: int,  # noqa: ARG002
        intf: int,
        buff: array[int],
        timeout: int,
    ) -> int:
        """Read a report; fails if the handle has not claimed the interface."""
        device = dev_handle.plugged
        if device.claimed.get(intf) != dev_handle.number:
            raise usb_error(errno.EBUSY)
        data = device.next(timeout / 1000)
        if len(data) > len(buff):
            raise usb_error(errno.EOVERFLOW)
        buff[: len(data)] = array("B", data)
        return len(data)

    bulk_read = intr_read

    def bulk_write(
        self,
        dev_handle: Handle,
        ep: int,
        intf: int,
        data: array[int],
        timeout: int,  # noqa: ARG002
    ) -> int:
        """Write; fails if the handle has not claimed the interface, times out if the device is
        deaf.
        """
        device = dev_handle.plugged
        if device.claimed.get(intf) != dev_handle.number:
            raise usb_error(errno.EBUSY)
        if device.deaf:
            raise usb_error(errno.ETIMEDOUT)
        self._do(dev_handle, f"write {ep:02x}").written.append(data.tobytes())
        return len(data)

    intr_write = bulk_write

    def ctrl_transfer(
        self,
        dev_handle: Handle,
        bmRequestType: int,  # noqa: N803 - names of the standard
        bRequest: int,  # noqa: N803
        wValue: int,  # noqa: N803
        wIndex: int,  # noqa: N803
        data: array[int],
        timeout: int,  # noqa: ARG002
    ) -> int:
        """Handle requests for strings and to a keyboard. Any other request stalls, as on a real
        device.
        """
        if bRequest in REQUESTS:
            self._do(dev_handle, f"{REQUESTS[bRequest]} {wValue} of {wIndex}")
            return 0
        if bmRequestType & IN and bRequest == GET_DESCRIPTOR and wValue >> 8 == STRING:
            index = wValue & 0xFF
            text = (
                dev_handle.plugged.device.strings[index - 1].encode("utf-16-le")
                if index
                else b"\x09\x04"
            )
            answer = array("B", bytes((len(text) + 2, STRING)) + text)[: len(data)]
            data[: len(answer)] = answer
            return len(answer)
        raise usb_error(errno.EPIPE)

    def clear_halt(self, dev_handle: Handle, ep: int) -> None:
        """Clear a stall."""
        self._do(dev_handle, f"clear_halt {ep:02x}").stalled = False

    def is_kernel_driver_active(self, dev_handle: Handle, intf: int) -> bool:
        """Return whether reports are typed into the console."""
        return intf in dev_handle.plugged.kernel

    def detach_kernel_driver(self, dev_handle: Handle, intf: int) -> None:
        """Stop typing reports into the console."""
        self._do(dev_handle, f"detach {intf}").kernel.remove(intf)

    def attach_kernel_driver(self, dev_handle: Handle, intf: int) -> None:
        """Attach the kernel's driver; fails while the interface is claimed."""
        if intf in dev_handle.plugged.claimed:
            raise usb_error(errno.EBUSY)
        self._do(dev_handle, f"attach {intf}").kernel.add(intf)

    def _do(self, handle: Handle, action: str) -> PluggedDevice:
        if handle.plugged.gone:
            raise usb_error(errno.ENODEV)
        handle.plugged.log.append(action)
        return handle.plugged
