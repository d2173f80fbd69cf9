"""Restricts the embedded broker to loopback addresses."""

from __future__ import annotations

import ipaddress

from common.errors import NovamasError


class NotLoopbackError(NovamasError, ValueError):
    """Not a loopback address. The embedded broker has no passwords, so it serves this machine
    only.
    """


def loopback(host: str) -> str:
    """Return the loopback address of ``host`` in numbers. Raises :class:`NotLoopbackError`."""
    if host == "localhost":
        return "127.0.0.1"
    try:
        if ipaddress.IPv4Address(host).is_loopback:
            return host
    except ValueError:
        pass
    raise NotLoopbackError(
        f"the embedded broker listens on 127.0.0.1 only, not on {host!r}: on a network, use a "
        "broker of your own"
    )
