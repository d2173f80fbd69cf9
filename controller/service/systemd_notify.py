"""The service manager: readiness, status text and watchdog, as datagrams to ``$NOTIFY_SOCKET``
(sd_notify(3)).
"""

from __future__ import annotations

import os
import socket


def notify(*lines: str) -> None:
    """Send ``READY=1``, ``STATUS=...``, ``STOPPING=1`` or ``WATCHDOG=1``. Does nothing without a
    service manager.
    """
    address = os.environ.get("NOTIFY_SOCKET")
    if not address:
        return
    if address.startswith("@"):  # an abstract socket
        address = "\0" + address[1:]
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM | socket.SOCK_CLOEXEC) as channel:
        try:
            channel.sendto("\n".join(lines).encode(), address)
        except OSError:  # a service manager that went away must not take the table with it
            return


def watchdog_interval() -> float | None:
    """Seconds between two signs of life: half of ``WatchdogSec=``; None where no watchdog
    listens.
    """
    usec = os.environ.get("WATCHDOG_USEC", "")
    pid = os.environ.get("WATCHDOG_PID", "")
    if not usec.isdigit() or not int(usec) or (pid and pid != str(os.getpid())):
        return None
    return int(usec) / 2_000_000
