"""Where the embedded broker may listen."""

from __future__ import annotations

import ipaddress

from devices.errors import NovamasError


class NotLoopbackError(NovamasError, ValueError):
    """The address is not a loopback address. The embedded broker has no passwords, so it serves
    this machine only.
    """


def loopback(host: str) -> str:
    """The numeric loopback address of ``host``. Raises :class:`NotLoopbackError` if it has none."""
    if host == "localhost":
        return "127.0.0.1"
    try:
        if ipaddress.IPv4Address(host).is_loopback:
            return host
    except ValueError:
        pass
    raise NotLoopbackError(
        f"the embedded broker listens on 127.0.0.1 only, not on {host!r}: use a broker of your "
        "own for a network"
    )
