"""Links: the connections to devices. An address opens a link; its scheme selects the module.

=============  ============================================  ==============================
Scheme         Address                                       Link
=============  ============================================  ==============================
``serial``     ``serial:///dev/serial/by-id/NAME?baud=9600``  local serial port
``tcp``        ``tcp://host:port``                           device server, raw socket
``rfc2217``    ``rfc2217://host:port?baud=9600``             device server, sets the line
``usb``        ``usb://vid:pid/serial``                      USB HID device
``mqtt``       ``mqtt://host:port/base/topic``               topic of the device's broker
``http``       ``http://host:port/path?secret_file=PATH``    where the device posts; ``https``
``replay``     ``replay:///path/of/a.rec?speed=1``           recording, played as if live
=============  ============================================  ==============================
"""

from __future__ import annotations

from importlib import import_module
from typing import Protocol, cast

from common.line import LINE_ERRORS
from common.suggestions import suggest
from devices.links.holders import refuse_other_readers
from devices.links.link import (
    Address,
    InvalidOptionsError,
    Link,
    LinkFailedError,
    WriteTimedOutError,
    parse_address,
)

__all__ = [
    "NETWORK_SCHEMES",
    "SCHEME_MODULES",
    "Link",
    "LinkFailedError",
    "WriteTimedOutError",
    "check_link",
    "connect",
    "driver_scheme",
    "link_mistakes",
    "local_port",
    "open_link",
]

SCHEME_MODULES = {
    "serial": "devices.links.serial_port",
    "tcp": "devices.links.tcp",
    "rfc2217": "devices.links.rfc2217",
    "usb": "devices.links.usb",
    "mqtt": "devices.links.mqtt",
    "http": "devices.links.http",
    "https": "devices.links.http",
    "replay": "devices.links.replay",
}
"""Scheme -> module, imported on first use. Each module has ``check(address)`` and
``connect(address)``.
"""


NETWORK_SCHEMES = ("tcp", "rfc2217", "mqtt", "http", "https")
"""Schemes of devices that any machine on the network can reach, or that reach any machine."""


def driver_scheme(url: str) -> str:
    """Return the scheme that the driver of a device with this address must have."""
    scheme = url.partition("://")[0]
    return {"usb": "usb", "mqtt": "mqtt", "http": "http", "https": "http"}.get(scheme, "serial")


class _Scheme(Protocol):
    def check(self, address: Address) -> None:
        """Raise ``ValueError`` if the address is invalid."""
        ...

    def connect(self, address: Address) -> Link:
        """Open the link. Raises :class:`LinkFailedError`."""
        ...


def local_port(url: str) -> str | None:
    """Return the path of the serial port of this machine in an address, None in all others."""
    try:
        address = parse_address(url)
    except ValueError:
        return None
    return address.path if address.scheme == "serial" else None


def open_link(url: str) -> Link:
    """Open the link of an address. Blocks. Raises :class:`LinkFailedError`, also for an invalid
    address, and for a serial port that another program has open.
    """
    port = local_port(url)
    if port is not None:
        refuse_other_readers(port)  # before its settings would be changed
    link = connect(url)
    if port is not None:
        try:
            refuse_other_readers(port)
        except LinkFailedError:
            link.close()
            raise
    return link


def connect(url: str) -> Link:
    """Open the link of an address, as :func:`open_link` does, but look for no other program."""
    try:
        scheme, address = _find(url)
    except ValueError as error:
        raise LinkFailedError(f"{url}: {error}") from None
    try:
        return scheme.connect(address)
    except LINE_ERRORS as error:  # for example, an adapter is unplugged meanwhile
        raise LinkFailedError(f"{url}: {error}") from error


def check_link(url: str) -> str | None:
    """Return what is wrong with an address, or None. Opens nothing and does not check that the port
    exists.
    """
    return "; ".join(link_mistakes(url)) or None


def link_mistakes(url: str) -> tuple[str, ...]:
    """Return the errors of an address one by one, as :func:`check_link` does in one text."""
    try:
        _find(url)
    except InvalidOptionsError as error:
        return error.mistakes
    except ValueError as error:
        return (str(error),)
    return ()


def _find(url: str) -> tuple[_Scheme, Address]:
    """Return the module of an address, and the checked address. Raises ``ValueError``."""
    address = parse_address(url)
    if address.scheme not in SCHEME_MODULES:
        raise ValueError(
            f"no link of scheme {address.scheme!r}; {suggest(address.scheme, SCHEME_MODULES)}"
        )
    scheme = cast("_Scheme", import_module(SCHEME_MODULES[address.scheme]))
    scheme.check(address)
    return scheme, address
