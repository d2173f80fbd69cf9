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
    """``ports``: where each of its programs speaks MQTT; ``protocol``: what a daemon speaks
    there.
    """

    ports: list[int]
    protocol: str

    def start(self) -> None:
        """Start it, and wait for nothing."""

    def check(self) -> None:
        """Raises ``TimeoutError`` if one of its programs has ended by itself."""

    def cut(self) -> None:
        """Kill all of it at once."""

    @property
    def pids(self) -> dict[str, int]:
        """Its processes, by name."""
        ...


class Mosquitto:
    """One Mosquitto, which forgets everything when it is killed."""

    protocol = "5"

    def __init__(self, folder: Path, stack: ExitStack) -> None:
        self.ports = [free_port()]
        self._commands = {"mosquitto": mosquitto_command(folder, self.ports[0])}
        self._programs = Programs(folder)
        stack.callback(self._programs.close)

    def start(self) -> None:
        """As of every engine."""
        self._programs.start(self._commands)

    def check(self) -> None:
        """As of every engine."""
        self._programs.check()

    def cut(self) -> None:
        """As of every engine."""
        self._programs.cut()

    @property
    def pids(self) -> dict[str, int]:
        """As of every engine."""
        return self._programs.pids


class Nats:
    """A cluster of three nodes, each of which keeps everything on the disk."""

    protocol = "3.1.1"

    def __init__(self, folder: Path, stack: ExitStack) -> None:
        self._cluster = Cluster(folder / "nats", stack)
        self.ports = [urlsplit(url).port or 0 for url in self._cluster.mqtt]

    def start(self) -> None:
        """As of every engine."""
        for number in range(len(self._cluster.nodes)):
            self._cluster.launch(number)

    def check(self) -> None:
        """As of every engine."""
        for node in self._cluster.nodes:
            if node.program is not None and not node.program.runs():
                raise TimeoutError(f"{node.name} has ended")

    def cut(self) -> None:
        """As of every engine."""
        for number in range(len(self._cluster.nodes)):
            self._cluster.kill(number)

    @property
    def pids(self) -> dict[str, int]:
        """As of every engine."""
        return {
            node.name: node.program.process.pid
            for node in self._cluster.nodes
            if node.program is not None
        }


ENGINES: Mapping[str, Callable[[Path, ExitStack], Engine]] = {"mosquitto": Mosquitto, "nats": Nats}
"""Each made in a folder, and ended with the stack."""
