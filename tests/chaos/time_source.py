"""A time source in a separate network namespace: Debian's chrony, whose time can be shifted and
whose cable can be pulled, and the chrony that asks it, as it runs beside the daemon. Neither sets
the clock of this machine.
"""

from __future__ import annotations

import getpass
import os
import subprocess
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from functools import partial
from pathlib import Path

import pytest

from tests.support.brokers.mosquitto import free_port
from tests.support.brokers.network import ours
from tests.support.chaos.faked_clock import Clock

ROOT = () if os.geteuid() == 0 else ("sudo", "-n")
"""What may make a namespace."""
DRIFT = 0.02
"""Seconds between two changes of a time that drifts."""
REFUSED = "Operation not permitted"
POLL = "minpoll -4 maxpoll -4 iburst maxdelay 3"
"""Sixteen questions a second: what takes chrony minutes is seen in seconds."""


class TimeSource:
    """``clock`` shifts the source's time. ``address``: where the chrony of this machine answers."""

    def __init__(self, folder: Path, stack: ExitStack) -> None:
        self._folder, self._stack = folder, stack
        self.clock = Clock(folder)
        self._ends: list[Callable[[], None]] = []
        self._name = f"novamas-{os.getpid()}"
        self._near, self._far = f"nm{os.getpid()}a", f"nm{os.getpid()}b"
        third = os.getpid() % 250
        self._here, self._there = ours() or f"10.213.{third}.1", f"10.213.{third}.2"
        self.address = f"127.0.0.1:{free_port()}"

    @property
    def source(self) -> str:
        """The address of the source."""
        return self._there

    def start(self) -> None:
        """Join the namespace and start both. Skips the test where the kernel does not let us."""
        self._make()
        self._near_ip("link", "set", self._near, "addrgenmode", "none")
        # else no address comes or goes here: see tests/support/brokers/network.py
        if ours() is None:
            self._near_ip("addr", "add", f"{self._here}/30", "dev", self._near)
        self._far_ip("addr", "add", f"{self._there}/30", "dev", self._far)
        self._far_ip("link", "set", self._far, "up")
        self._far_ip("route", "replace", f"{self._here}/32", "dev", self._far)
        self.plug()
        self._chrony(
            "source",
            "port 11123\nallow all\nlocal stratum 1\ncmdport 0\n",
            within=("ip", "netns", "exec", self._name),
            environment=self.clock.environment,
        )
        port = self.address.rpartition(":")[2]
        self._chrony(
            "chrony",
            f"server {self._there} port 11123 {POLL}\nport 0\n"
            f"cmdport {port}\nbindcmdaddress 127.0.0.1\n",
        )

    def plug(self) -> None:
        """Put the cable in."""
        self._near_ip("link", "set", self._near, "up")
        source = ("src", self._here)
        self._near_ip("route", "replace", f"{self._there}/32", "dev", self._near, *source)

    def unplug(self) -> None:
        """Pull the cable."""
        self._near_ip("link", "set", self._near, "down")

    @contextmanager
    def drifting(self, rate: float, away: float) -> Iterator[None]:
        """Start the source's time ``away`` seconds from this machine's and let it gain ``drift``
        seconds per second, in small steps.
        """
        end, begun = threading.Event(), time.monotonic()

        def drift() -> None:
            while not end.wait(DRIFT):
                self.clock.set(away + (time.monotonic() - begun) * rate)

        thread = threading.Thread(target=drift)
        thread.start()
        try:
            yield
        finally:
            end.set()
            thread.join()

    def _make(self) -> None:
        made = subprocess.run(
            [*ROOT, "ip", "netns", "add", self._name], capture_output=True, text=True, check=False
        )
        if made.returncode == 0:
            self._stack.callback(self._root, "ip", "netns", "del", self._name)
            words = ("type", "veth", "peer", "name", self._far, "netns", self._name)
            made = subprocess.run(
                [*ROOT, "ip", "link", "add", self._near, *words],
                capture_output=True,
                text=True,
                check=False,
            )
        if made.returncode:
            told = f"a network namespace cannot be made: {made.stderr.strip()}"
            if os.environ.get("CI") and REFUSED not in made.stderr:
                pytest.fail(told)
            pytest.skip(told)

    def _chrony(
        self,
        name: str,
        settings: str,
        within: tuple[str, ...] = (),
        environment: Mapping[str, str] | None = None,
    ) -> None:
        """Start a chrony that sets no clock (``-x``), and end it with the test."""
        folder = self._folder
        file, pid = folder / f"{name}.conf", folder / f"{name}.pid"
        file.write_text(f"{settings}bindcmdaddress /\npidfile {pid}\n")
        with (folder / f"{name}.log").open("wb") as log:
            process = subprocess.Popen(
                [
                    *(ROOT if within else ()),
                    *within,
                    *("env", *(f"{key}={value}" for key, value in (environment or {}).items())),
                    *("/usr/sbin/chronyd", "-d", "-x", "-U"),
                    *("-u", "root" if within else getpass.getuser(), "-f", str(file)),
                ],
                stdout=log,
                stderr=log,
            )
        end = partial(self._end, process, pid, within)
        self._ends.append(end)
        self._stack.callback(end)

    def end(self) -> None:
        """End the source and the chrony that asks it."""
        for end in self._ends:
            end()

    def _end(self, process: subprocess.Popen[bytes], pid: Path, within: tuple[str, ...]) -> None:
        if process.poll() is None and pid.exists():
            self._root("kill", pid.read_text().strip()) if within else process.terminate()
        else:
            process.terminate()
        process.wait()

    def _root(self, *words: str) -> None:
        subprocess.run([*ROOT, *words], check=True)

    def _near_ip(self, *words: str) -> None:
        self._root("ip", *words)

    def _far_ip(self, *words: str) -> None:
        self._root("ip", "-n", self._name, *words)
