"""Notifications to the service manager (readiness, status, watchdog), sent as datagrams to
``$NOTIFY_SOCKET`` (sd_notify(3)).
"""

from __future__ import annotations

import os
import socket


def notify(*lines: str) -> None:
    """Send ``READY=1``, ``STATUS=...``, ``STOPPING=1`` or ``WATCHDOG=1``. Without a service
    manager, do nothing.
    """
    address = os.environ.get("NOTIFY_SOCKET")
    if not address:
        return
    if address.startswith("@"):  # an abstract socket
        address = "\0" + address[1:]
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM | socket.SOCK_CLOEXEC) as channel:
        try:
            channel.sendto("\n".join(lines).encode(), address)
        except OSError:  # the tables do not depend on the service manager
            return


def watchdog_interval() -> float | None:
    """Return the seconds between two keep-alive messages, half of ``WatchdogSec=``; None if there
    is no watchdog.
    """
    usec = os.environ.get("WATCHDOG_USEC", "")
    pid = os.environ.get("WATCHDOG_PID", "")
    if not usec.isdigit() or not int(usec) or (pid and pid != str(os.getpid())):
        return None
    return int(usec) / 2_000_000
