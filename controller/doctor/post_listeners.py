"""Checks the addresses at which the daemon listens for devices that post."""

from __future__ import annotations

import socket
from collections.abc import Iterator
from contextlib import closing

from controller.configuration.listening import post_addresses, reachable
from controller.configuration.settings import Configuration
from controller.doctor.finding import Finding

CONNECT_TIMEOUT_SECONDS = 1.0


def check(configuration: Configuration) -> Iterator[Finding]:
    """Check each address once: whether a program listens there, or could."""
    addresses = {(each.host, each.port or 0) for _, each in post_addresses(configuration)}
    for host, port in sorted(addresses):
        about = f"listener {host}:{port}"
        try:
            socket.create_connection((reachable(host), port), CONNECT_TIMEOUT_SECONDS).close()
        except OSError:
            yield _bindable(about, host, port)
        else:
            yield Finding("ok", about, "a program listens there, as the daemon does while it runs")


def _bindable(about: str, host: str, port: int) -> Finding:
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    try:
        with closing(socket.create_server((host, port), family=family)):
            return Finding(
                "note", about, "no program listens there",
                "devices cannot post until the daemon runs: start it",
            )  # fmt: skip
    except OSError as error:
        return Finding(
            "fault", about, f"the daemon cannot listen there: {error.strerror or error}",
            "write an address of this machine and a port from 1024 up in `link` of the device",
        )  # fmt: skip
