"""Links: the one seam to the outside. A link is opened by its address; the scheme picks the module.

=============  ==============================================  ===================================
Scheme         Address                                         What it is
=============  ==============================================  ===================================
``serial``     ``serial:///dev/serial/by-id/NAME?baud=9600``   a port of this machine
``tcp``        ``tcp://host:port``                             a raw socket of a device server
``rfc2217``    ``rfc2217://host:port?baud=9600``               a port of a device server, with its settings
``usb``        ``usb://vid:pid/serial``                        the reports of a USB HID device
``mqtt``       ``mqtt://host:port/base/topic``                 a device that speaks below a topic of a broker of its own
``replay``     ``replay:///path/of/a.rec?speed=1``             a recording, played as if it were live
=============  ==============================================  ===================================
"""

from __future__ import annotations

from importlib import import_module
from typing import Protocol, cast

from devices.links.link import Address, Link, LinkFailedError, WriteTimedOutError, parse
from devices.links.recorded import RecordedLink

__all__ = [
    "SCHEMES",
    "Link",
    "LinkFailedError",
    "RecordedLink",
    "WriteTimedOutError",
    "check_link",
    "open_link",
]

SCHEMES = {
    "serial": "devices.links.serial_port",
    "tcp": "devices.links.tcp",
    "rfc2217": "devices.links.rfc2217",
    "usb": "devices.links.usb",
    "mqtt": "devices.links.mqtt",
    "replay": "devices.links.replay",
}
"""Scheme -> its module, imported when it is first asked for. Each has ``check(address)`` and
``connect(address)``.
"""


class _Scheme(Protocol):
    def check(self, address: Address) -> None:
        """Raises ``ValueError`` when the address cannot be right."""
        ...

    def connect(self, address: Address) -> Link:
        """Raises :class:`LinkFailedError`."""
        ...


def open_link(url: str) -> Link:
    """Open the link at that address. Raises :class:`LinkFailedError`, also for an address that
    cannot be right.
    """
    try:
        scheme, address = _find(url)
    except ValueError as error:
        raise LinkFailedError(f"{url}: {error}") from None
    return scheme.connect(address)


def check_link(url: str) -> str | None:
    """What is wrong with an address, or None. Opens nothing and does not look whether the port is
    there.
    """
    try:
        _find(url)
    except ValueError as error:
        return str(error)
    return None


def _find(url: str) -> tuple[_Scheme, Address]:
    """The module of an address, and the address checked by it. Raises ``ValueError``."""
    address = parse(url)
    if address.scheme not in SCHEMES:
        raise ValueError(f"no link of scheme {address.scheme!r}; there are: {', '.join(SCHEMES)}")
    scheme = cast("_Scheme", import_module(SCHEMES[address.scheme]))
    scheme.check(address)
    return scheme, address
