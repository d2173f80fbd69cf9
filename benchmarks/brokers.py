"""Time from a message to its acknowledgement at each engine, interleaved in one run: the same
message, one at a time, with another client subscribed. Also the memory of each engine.
"""

from __future__ import annotations

import socket
import tempfile
import time
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from pathlib import Path

from benchmarks.figures import milliseconds, percentile, row
from controller.mqtt.outgoing import OutgoingMessage, publish_packet
from tests.support.brokers.engines import Engine, OfMosquitto, OfNats, OfRabbit
from tests.support.brokers.mosquitto import Subscriber
from tests.support.brokers.nats import ALWAYS, CONNACK, connect_packet
from tests.support.brokers.rabbitmq import FOLDER

TOPIC = "novamas/v1/bench/table-1/event"
BODY = b"x" * 700
"""As long as the result of a wheel."""
WARM_UP_MESSAGES = 20
"""Messages at the beginning that are not measured."""
REFERENCE = "mosquitto"

ENGINE_FACTORIES: dict[str, Callable[[Path, ExitStack], Engine]] = {
    REFERENCE: OfMosquitto,
    "nats 1": lambda folder, stack: OfNats(folder, stack, size=1),
    "nats 3": OfNats,
    "nats 3 synced": lambda folder, stack: OfNats(folder, stack, settings=ALWAYS),
    "rabbitmq 1": lambda folder, stack: OfRabbit(folder, stack, size=1),
    "rabbitmq 3": OfRabbit,
}
"""Engines, with the number of nodes. ``synced``: each message is forced to the disk."""


class RawPublisher:
    """A connection that publishes one message at a time, without a client library."""

    def __init__(self, address: tuple[str, int]) -> None:
        self._line = socket.create_connection(address, 30)
        self._line.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self._line.sendall(connect_packet("bench", keepalive=0))
        if self._line.recv(4) != CONNACK:
            raise TimeoutError(f"{address}: the broker refuses the connection")
        self._number = 0

    def publish(self) -> float:
        """Publish, and return the seconds until the acknowledgement."""
        self._number = self._number % 60_000 + 1
        packet = publish_packet(OutgoingMessage(TOPIC, BODY), self._number, v5=False)
        start = time.perf_counter()
        self._line.sendall(packet)
        answer = self._line.recv(4)
        spent = time.perf_counter() - start
        if answer != b"\x40\x02" + self._number.to_bytes(2):
            raise TimeoutError(f"no acknowledgement, but {answer!r}")
        return spent

    def close(self) -> None:
        """Close the connection."""
        self._line.close()


def resident(engine: Engine) -> int:
    """Return the bytes of memory of all processes of an engine."""
    return sum(_resident(pid) for pid in engine.processes())


def _resident(pid: int) -> int:
    lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    return sum(int(line.split()[1]) * 1024 for line in lines if line.startswith("VmRSS"))


def measure(messages: int, ways: Sequence[str]) -> tuple[dict[str, list[float]], dict[str, int]]:
    """Return the seconds of each message and the memory at the end, for each engine."""
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        engines = {
            way: ENGINE_FACTORIES[way](folder / way.replace(" ", "-"), stack) for way in ways
        }
        lines: dict[str, RawPublisher] = {}
        for way, engine in engines.items():
            receiver = Subscriber(0, TOPIC, **engine.hears, session="hears")
            stack.callback(receiver.close)
            lines[way] = RawPublisher(engine.nodes[0])
            stack.callback(lines[way].close)
        spent: dict[str, list[float]] = {way: [] for way in ways}
        for number in range(WARM_UP_MESSAGES + messages):
            turn = number % len(ways)
            for way in (*ways[turn:], *ways[:turn]):
                seconds = lines[way].publish()
                if number >= WARM_UP_MESSAGES:
                    spent[way].append(seconds)
        return spent, {way: resident(engine) for way, engine in engines.items()}


def available() -> list[str]:
    """Return the installed engines."""
    return [way for way in ENGINE_FACTORIES if "rabbit" not in way or FOLDER.is_dir()]


def main(messages: int, runs: int) -> None:
    """Measure ``runs`` times; print each run, with the ratios to Mosquitto."""
    ways = available()
    print(f"From a message to its acknowledgement, {messages} messages, interleaved, milliseconds")
    for run in range(1, runs + 1):
        spent, memory = measure(messages, ways)
        print(row(f"run {run}", "p50", "p99", "max", "ratio p50", "ratio p99", "MB"))
        for way, values in spent.items():
            ratios = (
                percentile(values, part) / percentile(spent[REFERENCE], part) for part in (50, 99)
            )
            print(row(way, *milliseconds(values), *ratios, memory[way] / 1e6), flush=True)
