"""The brokers of a site."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import ExitStack
from pathlib import Path
from typing import Protocol
from urllib.parse import urlsplit

from benchmarks.processes import mosquitto_command
from benchmarks.site_programs import Programs
from tests.support.brokers.mosquitto import free_port
from tests.support.brokers.nats import Cluster


class Engine(Protocol):
    """A broker. ``ports``: MQTT ports of its programs; ``protocol``: protocol for the daemons."""

    ports: list[int]
    protocol: str

    def start(self) -> None:
        """Start the broker without waiting until it accepts connections."""

    def check(self) -> None:
        """Raise ``TimeoutError`` if one of its programs has ended."""

    def cut(self) -> None:
        """Kill all its programs at once."""

    @property
    def pids(self) -> dict[str, int]:
        """Process ids of its programs by name, for measuring CPU and memory."""
        ...


class Mosquitto:
    """One Mosquitto without persistence, as by default."""

    protocol = "5"

    def __init__(self, folder: Path, stack: ExitStack) -> None:
        self.ports = [free_port()]
        self._commands = {"mosquitto": mosquitto_command(folder, self.ports[0])}
        self._programs = Programs(folder)
        stack.callback(self._programs.close)

    def start(self) -> None:
        """See :class:`Engine`."""
        self._programs.start(self._commands)

    def check(self) -> None:
        """See :class:`Engine`."""
        self._programs.check()

    def cut(self) -> None:
        """See :class:`Engine`."""
        self._programs.cut()

    @property
    def pids(self) -> dict[str, int]:
        """See :class:`Engine`."""
        return self._programs.pids


class Nats:
    """A cluster of three nodes, which store everything on disk."""

    protocol = "3.1.1"

    def __init__(self, folder: Path, stack: ExitStack) -> None:
        self._cluster = Cluster(folder / "nats", stack)
        self.ports = [urlsplit(url).port or 0 for url in self._cluster.mqtt]

    def start(self) -> None:
        """See :class:`Engine`."""
        for number in range(len(self._cluster.nodes)):
            self._cluster.launch(number)

    def check(self) -> None:
        """See :class:`Engine`."""
        for node in self._cluster.nodes:
            if node.program is not None and not node.program.runs():
                raise TimeoutError(f"{node.name} has ended")

    def cut(self) -> None:
        """See :class:`Engine`."""
        for number in range(len(self._cluster.nodes)):
            self._cluster.kill(number)

    @property
    def pids(self) -> dict[str, int]:
        """See :class:`Engine`."""
        return {
            node.name: node.program.process.pid
            for node in self._cluster.nodes
            if node.program is not None
        }


ENGINES: Mapping[str, Callable[[Path, ExitStack], Engine]] = {"mosquitto": Mosquitto, "nats": Nats}
"""Factories: each creates an engine in a folder, and ends it with the stack."""
