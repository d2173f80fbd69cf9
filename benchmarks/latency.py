"""Latency from the last byte on the wire to a subscriber, for three programs, interleaved in one
run over one Mosquitto.

``floor``: the line piped into ``mosquitto_pub -l``. ``integrator``: a loop of pyserial and
paho-mqtt. ``novamas``: the daemon, which checks the line, plays it by the rules, and commits it to
disk before it publishes.
"""

from __future__ import annotations

import contextlib
import os
import pty
import socket
import statistics
import subprocess
import sys
import tempfile
import threading
import time
import tty
from collections.abc import Iterator
from pathlib import Path

import paho.mqtt.client as paho
from paho.mqtt.enums import CallbackAPIVersion

SPEED = 10
"""The wheel's half second is 50 ms here, so that a run ends in minutes; the path is the same."""
PACE = 0.5 / SPEED
SETTLE = 0.01
PATIENCE = 10.0

CONFIGURATION = """
[site]
id = "bench"
[journal]
path = "{folder}/journal.sqlite3"
[recordings]
path = "{folder}/recordings"
[broker]
url = "mqtt://127.0.0.1:{broker}"
[log]
format = "json"
level = "warning"
[[table]]
id = "table-1"
game = "roulette-french"
decree = "ARA02"
simulated = true
speed = {speed}
[[table.device]]
id = "wheel"
driver = "cammegh-ss2"
link = "serial://{wire}?baud=9600"
stale_after = 600.0
"""


class Subscriber:
    """Counts messages and records the time of the latest one per program."""

    def __init__(self, broker: int) -> None:
        self.arrived: dict[str, float] = {}
        self.heard = threading.Condition()
        self.client = paho.Client(CallbackAPIVersion.VERSION2)
        self.client.on_message = self._message
        self.client.connect("127.0.0.1", broker)
        self.client.subscribe(
            [("floor", 1), ("integrator", 1), ("novamas-sim/v1/bench/table-1/event", 1)]
        )
        self.client.loop_start()

    def _message(self, _client: paho.Client, _data: object, message: paho.MQTTMessage) -> None:
        now = time.perf_counter()
        way = message.topic if message.topic in {"floor", "integrator"} else "novamas"
        last = (
            b'"round.result"' in message.payload
            if way == "novamas"
            else message.payload.startswith(b"*X;5")
        )
        if last:
            with self.heard:
                self.arrived[way] = now
                self.heard.notify_all()

    def wait(self, way: str, since: float) -> float:
        """Seconds from ``since`` until that program's message arrives. Raises ``TimeoutError``."""
        with self.heard:
            if not self.heard.wait_for(lambda: self.arrived.get(way, 0.0) >= since, PATIENCE):
                raise TimeoutError(f"no message from {way!r} within {PATIENCE:.0f} s")
            return self.arrived[way] - since


def free_port() -> int:
    """A loopback port that is free now."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def wire() -> tuple[int, str]:
    """A pseudo-terminal: the wheel's end as a file descriptor, and the other end's name."""
    wheel, line = pty.openpty()
    tty.setraw(line)
    return wheel, os.ttyname(line)


@contextlib.contextmanager
def running(*command: str, stdin: int | None = None) -> Iterator[subprocess.Popen[bytes]]:
    """Run a process until the end of the block."""
    process = subprocess.Popen(command, stdin=stdin, stderr=None)
    try:
        yield process
    finally:
        process.terminate()
        process.wait(10)


def spin(number: int) -> list[bytes]:
    """The lines of one short round; the last one carries the result."""
    count = f"{number % 256 + 1:03d}"
    before, result = f"{(number - 1) * 7 % 37:2d}", f"{number * 7 % 37:2d}"
    turn = number % 2
    statuses = [
        f"*X;{state};{count};{before};0;165;{turn}\r\n".encode() for state in (2, 2, 3, 3, 4)
    ]
    # the bare number comes just before the status that shows it
    statuses[-1] += f"{result}\r\n".encode()
    return [*statuses, f"*X;5;{count};{result};0;165;{turn}\r\n".encode()]


def measure(rounds: int) -> dict[str, list[float]]:
    """The latencies in seconds of ``rounds`` results for each program."""
    spent: dict[str, list[float]] = {"floor": [], "integrator": [], "novamas": []}
    with tempfile.TemporaryDirectory() as name, contextlib.ExitStack() as stack:
        folder = Path(name)
        broker = free_port()
        (folder / "mosquitto.conf").write_text(
            f"listener {broker} 127.0.0.1\nallow_anonymous true\nset_tcp_nodelay true\n"
        )
        stack.enter_context(running("mosquitto", "-c", str(folder / "mosquitto.conf")))
        for _ in range(100):
            with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", broker), 1):
                break
            time.sleep(0.05)
        subscriber = Subscriber(broker)
        for_novamas, novamas_line = wire()
        for_integrator, integrator_line = wire()
        settings = CONFIGURATION.format(
            folder=folder, broker=broker, speed=SPEED, wire=novamas_line
        )
        (folder / "novamas.toml").write_text(settings)
        stack.enter_context(
            running(sys.executable, "-m", "controller.cli", "run", str(folder / "novamas.toml"))
        )
        stack.enter_context(
            running(
                sys.executable,
                "-m",
                "benchmarks.integrator",
                integrator_line,
                str(broker),
                "integrator",
            )
        )
        pipe, floor = os.pipe()
        stack.enter_context(
            running(
                "mosquitto_pub",
                "-h",
                "127.0.0.1",
                "-p",
                str(broker),
                "-q",
                "1",
                "-l",
                "-t",
                "floor",
                stdin=pipe,
            )
        )
        ends = {"floor": floor, "integrator": for_integrator, "novamas": for_novamas}
        time.sleep(3)
        opened = b'{"by": "benchmark", "role": "table_head"}'
        subscriber.client.publish(
            "novamas-sim/v1/bench/table-1/command/session-open", opened, qos=1
        ).wait_for_publish(5)
        for number in range(1, rounds + 1):
            *lines, last = spin(number)
            for line in lines:
                os.write(for_novamas, line)
                time.sleep(PACE)
            order = (
                ("novamas", "floor", "integrator")
                if number % 2
                else ("novamas", "integrator", "floor")
            )
            for way in order:
                since = time.perf_counter()
                os.write(ends[way], last)
                try:
                    spent[way].append(subscriber.wait(way, since))
                except TimeoutError as error:
                    print(f"round {number}: {error}", file=sys.stderr)
                time.sleep(SETTLE)
        subscriber.client.loop_stop()
    return spent


def percentile(values: list[float], part: float) -> float:
    """The value below which ``part`` percent of the values are."""
    return statistics.quantiles(values, n=1000, method="inclusive")[round(part * 10) - 1]
