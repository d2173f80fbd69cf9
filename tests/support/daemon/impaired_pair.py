"""A pair of daemons, each with its own way to the broker and to the wheel, its own disk, and a
service manager that starts it again; a wheel that never stops, and a person who opens each session
that a takeover closed.
"""

from __future__ import annotations

import json
import random
import subprocess
import threading
import time
from collections.abc import Callable
from contextlib import ExitStack
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple, Protocol
from urllib.parse import urlsplit

import paho.mqtt.client as paho
from nacl.public import PrivateKey
from paho.mqtt.enums import CallbackAPIVersion

from common.confidential.boxes import format_public_key
from common.contract.times import parse_utc
from tests.support.brokers import paho_client
from tests.support.brokers.gate import Gate
from tests.support.brokers.mosquitto import Mosquitto
from tests.support.daemon.pair import NAMES, Nats, NetworkWheel, in_pair
from tests.support.daemon.play import HEAD, TABLE
from tests.support.daemon.process import Daemon, Wheel, table
from tests.support.daemon.spins import show_spin
from tests.support.disk import Disk, Full, disk
from tests.support.waiting import until

DISK_BYTES = 64_000_000
"""Bytes of each machine's disk: room for the journal of hours, and filled in a moment."""
RESTART = 2.0
"""Seconds after which a daemon that ended is started again, as by its unit."""
TAKEOVER_TIMEOUT_SECONDS = 120.0
FACE_DOWN = """
[surveillance]
public_key = "{key}"

[recordings]
enabled = false

[[table]]
id = "p1"
game = "poker-no-draw"
decree = "ARA02"

[[table.device]]
id = "reader"
driver = "bee-tek"
link = "tcp://127.0.0.1:9"
"""
"""A table whose cards require a key; no cards are dealt there."""


class Listener:
    """Subscribe to the table, and open a session there. ``events``: in order of arrival, doubles
    too; ``state``: the last one.
    """

    def __init__(self, port: int) -> None:
        self.events: list[dict[str, Any]] = []
        self.state: dict[str, Any] = {}
        self._client = paho.Client(CallbackAPIVersion.VERSION2, protocol=paho.MQTTv311)
        self._client.on_connect = lambda client, *_: client.subscribe(
            [(f"{TABLE}/event", 1), (f"{TABLE}/state", 1)]
        )
        self._client.on_message = self._hear
        self._client.connect("127.0.0.1", port)
        self._client.loop_start()

    def open_session(self) -> None:
        self._client.publish(f"{TABLE}/command/session-open", json.dumps(HEAD), qos=0)

    def close(self) -> None:
        paho_client.end(self._client)

    def _hear(self, _: Any, __: Any, message: paho.MQTTMessage) -> None:
        body = json.loads(message.payload) if message.payload else {}
        if message.topic.endswith("/event"):
            self.events.append(body)
        else:
            self.state = body


class Machine(Daemon):
    """A daemon of the pair, started again whenever it ends. ``away``: seconds until then."""

    def __init__(self, folder: Path, text: str, broker: Gate, wheel: Gate) -> None:
        super().__init__(folder, text)
        self.broker, self.wheel = broker, wheel
        self.disk: Disk | None = None
        self.away = RESTART
        self.statuses: list[int] = []
        self._ending = threading.Event()
        self._manager = threading.Thread(target=self._manage)

    def begin(self) -> None:
        self._manager.start()

    def close(self) -> None:
        self._ending.set()
        while self._manager.is_alive():
            if (process := self.process) is not None:
                process.kill()
            self._manager.join(0.1)

    def _manage(self) -> None:
        while not self._ending.is_set():
            self.start()
            assert self.process is not None
            assert self._listening is not None
            self.statuses.append(self.process.wait())
            self._listening.join()
            self._ending.wait(self.away)

    def end(self, away: float) -> None:
        """Kill it; it is back after that number of seconds."""
        self.away = away
        assert self.process is not None
        self.process.kill()


class Term(NamedTuple):
    number: int
    at: float
    by: Machine


class ImpairedPair:
    """``lease``: its seconds. Ended with the ``stack``."""

    def __init__(self, folder: Path, stack: ExitStack, lease: float, seed: int) -> None:
        self.lease, self.random = lease, random.Random(seed)
        self.nats = Nats(folder / "nats")
        stack.callback(self.nats.kill)
        self.nats.start()
        mosquitto = Mosquitto(folder / "mosquitto")
        stack.callback(mosquitto.kill)
        mosquitto.start()
        self.broker = mosquitto
        self.wheel = NetworkWheel()
        stack.callback(self.wheel.close)
        self.machines: list[Machine] = []
        for name in NAMES:
            self.machines.append(self._machine(folder / name, name, stack))
        self.subscriber = Listener(mosquitto.port)
        stack.callback(self.subscriber.close)
        self.spins = 0
        self._ending = threading.Event()
        people = [threading.Thread(target=work) for work in (self._spin, self._open)]
        for person in people:
            stack.callback(person.join)
        stack.callback(self._ending.set)
        for machine in self.machines:
            machine.begin()
            machine.until_logged("daemon waits for the lease of its tables")
        for person in people:
            person.start()

    def _machine(self, folder: Path, name: str, stack: ExitStack) -> Machine:
        place = disk(partial(Full, size=DISK_BYTES), folder)
        stack.callback(place.close)
        gates = Gate(self.broker.port), Gate(urlsplit(self.wheel.url).port or 0)
        for gate in gates:
            stack.callback(gate.close)
        text = in_pair(
            [self.nats.url],
            name,
            f"mqtt://127.0.0.1:{gates[0].port}",
            table("r1", self.wheel, period=Wheel.PERIOD, stale_after=3.0).replace(
                self.wheel.url, f"tcp://127.0.0.1:{gates[1].port}"
            )
            + FACE_DOWN.format(key=format_public_key(PrivateKey.generate().public_key)),
            lease=self.lease,
            replicas=1,
        )
        made = Machine(place.folder, text, *gates)
        made.disk = place
        stack.callback(made.close)
        return made

    def terms(self) -> list[Term]:
        """Each time that the lease was taken, in order."""
        return sorted(
            (
                Term(line["term"], parse_utc(line["timestamp"]), machine)
                for machine in self.machines
                for line in machine.logged("lease taken")
            ),
            key=lambda term: term.number,
        )

    def other(self, machine: Machine) -> Machine:
        [found] = [each for each in self.machines if each is not machine]
        return found

    def results(self) -> list[dict[str, Any]]:
        """Live results, in order."""
        events = list(self.subscriber.events)
        return [e for e in events if e["type"] == "round.result" and "historical" not in e]

    def until_played(self, boot: str | None = None) -> dict[str, Any]:
        """One more result from now on, of that run."""
        known = len(self.results())

        def more() -> list[dict[str, Any]]:
            return [e for e in self.results()[known:] if boot is None or e["boot"] == boot]

        found: list[dict[str, Any]] = until("a result", more, self.log, TAKEOVER_TIMEOUT_SECONDS)
        return found[0]

    def until_steady(self) -> tuple[Machine, Machine]:
        """Wait until one plays and the other one waits and could serve. Gives both."""

        def both() -> tuple[Machine, Machine] | None:
            terms = self.terms()
            if not terms or terms[-1].by.boot() is None:
                return None
            serving = terms[-1].by
            waiting = self.other(serving)
            return (serving, waiting) if self._waits(waiting) else None

        found: tuple[Machine, Machine] = until(
            "one serves and one waits", both, self.log, TAKEOVER_TIMEOUT_SECONDS
        )
        self.until_played()
        return found

    def _waits(self, machine: Machine) -> bool:
        """Whether its last words are that it waits and could serve."""
        last = ""
        for line in machine.lines():
            if line.get("event") in ("lease taken", *ABILITY):
                last = line["event"]
        return last == ABILITY[0]

    def until_taken(self, by: Machine, terms: int) -> Term:
        """Wait until that machine has taken the tables over, after that number of terms."""

        def taken() -> Term | None:
            return next((term for term in self.terms()[terms:] if term.by is by), None)

        found: Term = until(
            f"{by.folder.name} takes over", taken, self.log, TAKEOVER_TIMEOUT_SECONDS
        )
        return found

    def log(self) -> str:
        return "\n".join(f"--- {m.folder.name}\n{m.log()[-6000:]}" for m in self.machines)

    def _spin(self) -> None:
        while not self._ending.is_set():
            self.spins += 1
            show_spin(self.wheel, self.spins, self._ending)

    def _open(self) -> None:
        while not self._ending.wait(0.2):
            if self.subscriber.state.get("status") == "closed":
                self.subscriber.open_session()


ABILITY = ("this daemon could serve", "this daemon could not serve")


class Fault(Protocol):
    """A fault of a pair in play, of which ``one`` serves. ``begin``: gives the machine that must
    play, and from when on it could; ``end`` heals it.
    """

    def begin(self, one: Machine, other: Machine, /) -> tuple[Machine, float]: ...

    def end(self, one: Machine, other: Machine, /) -> None: ...


class _Fault:
    def __init__(self, pair: ImpairedPair) -> None:
        self._pair = pair


class StartLoop(_Fault):
    """The one that serves dies, and each start of it fails once it has the lease: its key for
    face-down cards is damaged.
    """

    def begin(self, one: Machine, other: Machine, /) -> tuple[Machine, float]:
        key = one.folder / "journal.sqlite3.secret"
        self._key = key.read_text()
        key.write_text("damaged")
        one.end(0.3)
        return other, time.time()

    def end(self, one: Machine, _: Machine, /) -> None:
        (one.folder / "journal.sqlite3.secret").write_text(self._key)


class DiesAgain(_Fault):
    """The one that serves is killed soon after each time that it has taken the lease."""

    def begin(self, one: Machine, other: Machine, /) -> tuple[Machine, float]:
        one.end(0.1)
        begun = time.time()
        self._ending = threading.Event()
        self._thread = threading.Thread(target=self._kill, args=(one,))
        self._thread.start()
        return other, begun

    def _kill(self, one: Machine) -> None:
        known = len(one.logged("lease taken"))
        while not self._ending.wait(0.05):
            if len(one.logged("lease taken")) > known:
                known += 1
                self._ending.wait(0.5)
                if (process := one.process) is not None:
                    process.kill()

    def end(self, _: Machine, __: Machine, /) -> None:
        self._ending.set()
        self._thread.join()


class FullWaiting(_Fault):
    """The disk of the one that waits is full, and the one that serves is away for some leases."""

    def begin(self, one: Machine, other: Machine, /) -> tuple[Machine, float]:
        known = len(other.logged(ABILITY[1]))
        assert other.disk is not None
        other.disk.fail(other)
        other.until_logged(ABILITY[1], known + 1)
        away = self._pair.random.uniform(1.2, 2.5) * self._pair.lease
        one.end(away)
        return one, time.time() + away

    def end(self, _: Machine, other: Machine, /) -> None:
        assert other.disk is not None
        other.disk.cure(other)


class FullServing(_Fault):
    """The disk of the one that serves is full."""

    def begin(self, one: Machine, other: Machine, /) -> tuple[Machine, float]:
        assert one.disk is not None
        one.disk.fail(one)
        return other, time.time()

    def end(self, one: Machine, _: Machine, /) -> None:
        assert one.disk is not None
        one.disk.cure(one)


class NoBroker(_Fault):
    """The one that serves reaches the store, and not the broker."""

    def begin(self, one: Machine, other: Machine, /) -> tuple[Machine, float]:
        self._pair.random.choice((one.broker.shut, one.broker.hold))()
        return other, time.time()

    def end(self, one: Machine, _: Machine, /) -> None:
        one.broker.open()


class NoBrokerWaiting(_Fault):
    """The one that waits reaches the store, and not the broker; the one that serves is away for
    some leases.
    """

    def begin(self, one: Machine, other: Machine, /) -> tuple[Machine, float]:
        known = len(other.logged(ABILITY[1]))
        other.broker.shut()
        other.until_logged(ABILITY[1], known + 1)
        away = self._pair.random.uniform(1.2, 6.0) * self._pair.lease
        one.end(away)
        return one, time.time() + away

    def end(self, _: Machine, other: Machine, /) -> None:
        other.broker.open()


class NoWheel(_Fault):
    """The one that serves reaches store and broker, and no device."""

    def begin(self, one: Machine, other: Machine, /) -> tuple[Machine, float]:
        one.wheel.shut()
        return other, time.time()

    def end(self, one: Machine, _: Machine, /) -> None:
        one.wheel.open()


class HungCommit(_Fault):
    """A commit of the one that serves hangs for longer than any lease."""

    def begin(self, one: Machine, other: Machine, /) -> tuple[Machine, float]:
        assert one.process is not None
        words = ["strace", "-f", "-qq", "-o", "/dev/null", "-e", "trace=fdatasync"]
        words += ["-e", "inject=fdatasync:delay_enter=60000000", "-p", str(one.process.pid)]
        self._tracer = subprocess.Popen(words, stderr=subprocess.DEVNULL)
        status = Path(f"/proc/{one.process.pid}/task/{one.process.pid}/status")
        traced = f"TracerPid:\t{self._tracer.pid}"
        until("it is traced", lambda: traced in status.read_text())
        return other, time.time()

    def end(self, _: Machine, __: Machine, /) -> None:
        self._tracer.kill()
        self._tracer.wait()


FAULTS: dict[str, Callable[[ImpairedPair], Fault]] = {
    "start loop": StartLoop,
    "dies again": DiesAgain,
    "full disk, waiting": FullWaiting,
    "full disk, serving": FullServing,
    "no broker, serving": NoBroker,
    "no broker, waiting": NoBrokerWaiting,
    "no wheel, serving": NoWheel,
    "hung commit": HungCommit,
}
