"""Notifications to the service manager (readiness, status, watchdog), sent as datagrams to
``$NOTIFY_SOCKET`` (sd_notify(3)).
"""

from __future__ import annotations

import os
import socket

SEND_TIMEOUT_SECONDS = 2.0
"""Maximum time for which a service manager that does not read holds up a notification. A keep-alive
is dropped at once: another one follows.
"""
KEEP_ALIVE = "WATCHDOG=1"


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
        channel.settimeout(0.0 if lines == (KEEP_ALIVE,) else SEND_TIMEOUT_SECONDS)
        try:
            channel.connect(address)  # the timeout of an unconnected socket is a busy loop
            channel.send("\n".join(lines).encode())
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
