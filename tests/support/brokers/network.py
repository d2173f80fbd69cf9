"""Hosts on a switch, each a network namespace: a host that is cut off falls silent in both
directions, as when a cable is pulled beyond a switch. No party is notified: no connection is reset,
no link goes down.

All of it ends with the processes that hold it, so a test that is killed leaves nothing behind.
"""

from __future__ import annotations

import json
import os
import shlex
import signal
import subprocess
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from functools import cache
from pathlib import Path
from typing import NoReturn

import msgspec
import pytest

from tests.support.waiting import until

ROOT = () if os.geteuid() == 0 else ("sudo", "-n")
"""What may make a namespace."""
REFUSED = "Operation not permitted"
RANGE = "198.18"
"""Addresses that are kept for tests (RFC 2544): one /24 for each network."""
NETWORKS = 250
LINK = "novamas"
"""How our links begin."""
AS_US = (f"--setuid={os.getuid()}", f"--setgid={os.getgid()}")
START = 'echo $$ >"$0.new" && mv "$0.new" "$0" && exec "$@"'
"""Print the pid of the program, also if it is started through sudo."""


class Host(msgspec.Struct, frozen=True):
    """A separate machine as far as its network is concerned. ``holder``: the process that is there
    as long as the host is.
    """

    name: str
    address: str
    holder: int

    def command(self, program: Sequence[str], pid: Path, **environment: str) -> list[str]:
        """The words that run a program there, as the user that we are. Its number is in the file
        ``pid`` as soon as it runs.
        """
        there = ("nsenter", f"--target={self.holder}", "--net", *AS_US)
        set_there = ("env", *(f"{key}={value}" for key, value in environment.items()))
        return [*ROOT, *there, *set_there, "sh", "-c", START, str(pid), *program]


class Program:
    """A program on a host, or on this machine, and its children: signals reach all of them. It runs
    in its folder, so that what it leaves behind when it crashes is not in the checkout.
    """

    def __init__(
        self,
        host: Host | None,
        words: Sequence[str],
        folder: Path,
        environment: Mapping[str, str] | None = None,
    ) -> None:
        pid = folder / "pid"
        pid.unlink(missing_ok=True)
        if host is None:
            started = ["env", *(f"{k}={v}" for k, v in (environment or {}).items())]
            command = [*started, "sh", "-c", START, str(pid), *words]
        else:
            command = host.command(words, pid, **(environment or {}))
        self._said = folder / "said.log"
        with self._said.open("ab") as said:
            self.process = subprocess.Popen(
                command, cwd=folder, stdout=said, stderr=said, start_new_session=True
            )
        until("the program runs", lambda: pid.exists() or self.process.poll() is not None, self.log)
        assert pid.exists(), self.log()

    def log(self) -> str:
        """Its log, including earlier runs in this folder."""
        return self._said.read_text(errors="replace")

    def pids(self) -> list[int]:
        """It, and all that it has started."""
        every = ((path.parent, path.read_text()) for path in Path("/proc").glob("[0-9]*/stat"))
        group = str(self.process.pid)
        return [
            int(folder.name)
            for folder, stat in every
            if stat.rpartition(")")[2].split()[2] == group
        ]

    def runs(self) -> bool:
        return self.process.poll() is None

    def signal(self, number: signal.Signals) -> None:
        os.killpg(self.process.pid, number)

    def kill(self) -> None:
        if self.runs():
            self.signal(signal.SIGKILL)
        self.process.wait()


class Network:
    """A switch that this process can reach; ``here``: our own address there. Skips the test where
    the kernel lets us make none.

    Change no address of this machine if one is usable: a browser ends all its connections when an
    address of its machine changes, also those of other tests.
    """

    def __init__(self, stack: ExitStack) -> None:
        self._stack = stack
        self._hosts: dict[str, str] = {}  # name and port at the switch
        self._switch = self._hold()
        self._number = self._plug_in()
        self.here = ours() or f"{RANGE}.{self._number}.1"
        for switch in ("switch", "apart"):
            self._there(self._switch, f"link add name {switch} type bridge")
            self._there(self._switch, f"link set {switch} up")
        self._there(self._switch, "link set uplink master switch up")
        link = self._name(self._number)
        self._near(f"link set {link} addrgenmode none")
        if ours() is None:
            self._near(f"addr add {self.here}/24 dev {link}")
        self._near(f"link set {link} up")
        if ours() is not None:
            self._near(f"route add {RANGE}.{self._number}.0/24 dev {link} src {self.here}")

    def host(self, name: str) -> Host:
        """Another host."""
        number = len(self._hosts) + 2
        made = Host(name, f"{RANGE}.{self._number}.{number}", self._hold())
        self._hosts[name] = port = f"port{number}"
        self._there(self._switch, f"link add {port} type veth peer name eth0 netns {made.holder}")
        self._there(self._switch, f"link set {port} master switch up")
        self._there(made.holder, f"addr add {made.address}/24 dev eth0")
        self._there(made.holder, "link set eth0 up")
        self._there(made.holder, "link set lo up")
        self._there(made.holder, f"route replace {self.here}/32 dev eth0")
        self._there(made.holder, f"route add default via {self.here}")
        return made

    def cut_off(self, *names: str) -> None:
        """Connect these hosts, and those already cut off, only to each other."""
        for name in names:
            self._there(self._switch, f"link set {self._hosts[name]} master apart")

    def join(self, *names: str) -> None:
        """The hosts are back among the others."""
        for name in names:
            self._there(self._switch, f"link set {self._hosts[name]} master switch")

    def _hold(self) -> int:
        """A network namespace, that is there until the test or this process ends."""
        holder = subprocess.Popen(
            [*ROOT, "unshare", "--net", "sh", "-c", "echo $$ && exec cat >&2"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )
        self._stack.callback(holder.communicate)  # closes its input, which ends it
        assert holder.stdout is not None
        if not (number := holder.stdout.readline()):
            refuse(holder.communicate()[1].decode())
        return int(number)

    def _plug_in(self) -> int:
        """The number of an unused network: the process that created the link first owns it."""
        for number in range(os.getpid(), os.getpid() + NETWORKS):
            words = f"link add {self._name(number % NETWORKS)} type veth peer name uplink netns"
            made = ip(f"{words} {self._switch}")
            if made.returncode == 0:
                return number % NETWORKS
            if "File exists" not in made.stderr:
                refuse(made.stderr)
        pytest.fail(f"{NETWORKS} networks of tests are here already: ip link shows them")

    @staticmethod
    def _name(number: int) -> str:
        return f"{LINK}{number}"

    @staticmethod
    def _near(words: str) -> None:
        made = ip(words)
        assert made.returncode == 0, f"ip {words}: {made.stderr}"

    @staticmethod
    def _there(holder: int, words: str) -> None:
        made = ip(words, "nsenter", f"--target={holder}", "--net")
        assert made.returncode == 0, f"ip {words}: {made.stderr}"


def ip(words: str, *within: str) -> subprocess.CompletedProcess[str]:
    """The program of that name, as root."""
    command = [*ROOT, *within, "ip", *shlex.split(words)]
    return subprocess.run(command, capture_output=True, text=True, check=False)


@cache
def ours() -> str | None:
    """An address that this machine has for others; Always None."""
    found = ip("-json -4 addr show scope global up")
    if found.returncode != 0:
        return None
    links = [link for link in json.loads(found.stdout) if not link["ifname"].startswith(LINK)]
    return next((each["local"] for link in links for each in link["addr_info"]), None)


def refuse(said: str) -> NoReturn:
    """There can be no network of our own here: no test of it either, but on CI where the kernel
    allows it.
    """
    told = f"no network namespace can be made: {said.strip()}"
    if os.environ.get("CI") and REFUSED not in said:
        pytest.fail(told)
    pytest.skip(told)
