"""A pair of daemons on separate hosts, a NATS cluster of three nodes as broker and lease store, a
wheel on the network, and recording subscribers at every node.
"""

from __future__ import annotations

import json
import random
import signal
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import ExitStack, closing
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import urlsplit

import msgspec
import paho.mqtt.client as paho
from paho.mqtt.enums import CallbackAPIVersion

from common.chain.schema import Entry
from common.contract.times import parse_utc
from controller.journal.reader import JournalReader
from controller.journal.setup import Boot
from tests.support.brokers.nats import Cluster
from tests.support.brokers.network import Host, Network, Program
from tests.support.daemon.pair import NAMES, NetworkWheel, in_pair
from tests.support.daemon.process import Wheel, table
from tests.support.daemon.spins import show_spin
from tests.support.waiting import until

ROOT = "novamas/v1/palma"
PROGRAM = ("-c", "import sys; from controller.cli import main; sys.exit(main())")
AGAIN = 0.3
"""Seconds after which a daemon that ended is started again, unless a machine is away for longer."""


class Said(NamedTuple):
    """A message as received by a subscriber. ``again``: the broker's flag for a redelivery."""

    topic: str
    body: bytes
    again: bool
    at: float


class Listener:
    """A subscriber at one node, with a session that outlives its connections."""

    def __init__(self, node: str, name: str) -> None:
        self.said: list[Said] = []
        address = urlsplit(node)
        self.client = paho.Client(
            CallbackAPIVersion.VERSION2, name, clean_session=False, protocol=paho.MQTTv311
        )
        self.client.on_connect = lambda client, *_: client.subscribe(
            [(f"{ROOT}/+/event", 1), (f"{ROOT}/+/state", 1), (f"{ROOT}/node/+/status", 1)]
        )
        self.client.on_message = self._hear
        self.client.reconnect_delay_set(1, 1)
        self.client.connect_async(address.hostname or "", address.port or 0, keepalive=3)
        self.client.loop_start()

    def _hear(self, _: Any, __: Any, message: paho.MQTTMessage) -> None:
        self.said.append(Said(message.topic, bytes(message.payload), message.dup, time.time()))

    def state(self) -> dict[str, Any]:
        """The table's latest state."""
        bodies = (said.body for said in reversed(list(self.said)) if said.topic.endswith("/state"))
        body = next(bodies, b"")
        found: dict[str, Any] = json.loads(body) if body else {}
        return found

    def events(self) -> Iterator[tuple[Said, dict[str, Any]]]:
        for said in list(self.said):
            if said.topic.endswith("/event"):
                yield said, json.loads(said.body)

    def close(self) -> None:
        self.client.loop_stop()


class Machine:
    """A daemon of the pair on its host. It is started again whenever it ends."""

    def __init__(self, host: Host, folder: Path, text: str) -> None:
        self.host, self.folder = host, folder
        folder.mkdir()
        self.file = folder / "novamas.toml"
        self.file.write_text(text)
        self.program: Program | None = None
        self.statuses: list[int] = []
        self.away = AGAIN
        self._ending = threading.Event()
        self._thread = threading.Thread(target=self._serve)

    def start(self) -> None:
        self._thread.start()

    def log(self) -> list[dict[str, Any]]:
        said = self.folder / "said.log"
        lines = said.read_text(errors="replace").splitlines() if said.exists() else []
        return [json.loads(line) for line in lines if line.startswith("{") and line.endswith("}")]

    def logged(self, event: str) -> list[dict[str, Any]]:
        return [line for line in self.log() if line.get("event") == event]

    def send(self, number: signal.Signals) -> None:
        if self.program is not None and self.program.runs():
            self.program.signal(number)

    def close(self) -> None:
        self._ending.set()
        self.send(signal.SIGCONT)
        self.send(signal.SIGKILL)
        if self._thread.ident is not None:
            self._thread.join()

    def _serve(self) -> None:
        words = [sys.executable, *PROGRAM, "run", str(self.file)]
        while not self._ending.is_set():
            environment = {"STATE_DIRECTORY": str(self.folder)}
            self.program = Program(self.host, words, self.folder, environment)
            self.statuses.append(self.program.process.wait())
            self._ending.wait(self.away)


class PairFloor:
    """``serving()``: the machine that has the tables, as the logs say."""

    def __init__(self, folder: Path, stack: ExitStack, lease: float, seed: int) -> None:
        self.lease, self.random = lease, random.Random(seed)
        folder.mkdir()
        network = self.network = Network(stack)
        self.cluster = Cluster(folder, stack, network=network)
        self.cluster.start()
        self.wheel = NetworkWheel(network.here)
        stack.callback(self.wheel.close)
        self.machines = []
        # as fast as the wheel is: otherwise, all that follows a cut would be late for ever
        tables = table("r1", self.wheel, period=Wheel.PERIOD)
        for number, name in enumerate(NAMES):
            text = in_pair(
                *(self.cluster.nats, name, self.cluster.mqtt[number], tables),
                lease=lease,
            )
            one = Machine(network.host(name), folder / name, text)
            stack.callback(one.close)
            self.machines.append(one)
        self.listeners = [
            Listener(node, f"listener-{number}") for number, node in enumerate(self.cluster.mqtt)
        ]
        for listener in self.listeners:
            stack.callback(listener.close)
        self.spins = 0
        self._ending = threading.Event()
        people = [threading.Thread(target=work) for work in (self._spin, self._open)]
        for one_of_them in people:
            stack.callback(one_of_them.join)
        stack.callback(self._ending.set)
        for machine in self.machines:
            machine.start()
        for one_of_them in people:
            one_of_them.start()

    def taken(self) -> list[tuple[int, float, Machine]]:
        """Each time that the lease was taken: term, when, by whom; in order."""
        return sorted(
            (
                (line["term"], parse_utc(line["timestamp"]), machine)
                for machine in self.machines
                for line in machine.logged("lease taken")
            ),
            key=lambda each: each[0],
        )

    def until_both(self) -> tuple[int, float, Machine]:
        """Wait until one serves and the other one waits. Gives who serves, since when, its term."""

        def both() -> tuple[int, float, Machine] | None:
            taken = self.taken()
            if not taken:
                return None
            term, _, serving = taken[-1]
            [other] = [machine for machine in self.machines if machine is not serving]
            waits = other.logged("another daemon has the lease")
            return taken[-1] if waits and waits[-1]["term"] == term else None

        found: tuple[int, float, Machine] = until("one serves, and one waits", both, timeout=180.0)
        return found

    def until_played(self, since: float, timeout: float = 120.0) -> None:
        """Wait until a result has arrived that happened after that time."""

        def arrived() -> bool:
            return any(
                events.at > since and event["type"] == "round.result" and "historical" not in event
                for listener in self.listeners
                for events, event in listener.events()
            )

        until("a result", arrived, lambda: str(self.listeners[0].state()), timeout)

    def journals(self) -> dict[tuple[str, str, int], dict[str, Any]]:
        """All events of both journals."""
        return {
            (entry.table, entry.boot, entry.seq): json.loads(entry.body)
            for entry in self._entries()
            if entry.kind == "event"
        }

    def terms(self) -> dict[str, int]:
        """The term of each run."""
        found = {}
        for entry in self._entries():
            if entry.kind == "boot":
                tenure = msgspec.json.decode(entry.body, type=Boot).standby
                if tenure is not None:
                    found[entry.boot] = tenure.term
        return found

    def _entries(self) -> Iterator[Entry]:
        for machine in self.machines:
            with closing(JournalReader(machine.folder / "journal.sqlite3")) as reader:
                yield from reader.entries()

    def _spin(self) -> None:
        """The croupier and the wheel."""
        while not self._ending.is_set():
            self.spins += 1
            show_spin(self.wheel, self.spins, self._ending)

    def _open(self) -> None:
        """The head of the table opens each session that was closed by a takeover."""
        while not self._ending.wait(0.2):
            for listener in self.listeners:
                if listener.state().get("status") == "closed":
                    body = {"by": "M. Lasa", "role": "table_head"}
                    topic = f"{ROOT}/r1/command/session-open"
                    listener.client.publish(topic, json.dumps(body), qos=0)
