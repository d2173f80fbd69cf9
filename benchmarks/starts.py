"""CPU of a start: the processor time of a program from its first instruction to its exit.

A service is stopped with SIGTERM as soon as it is ready, so its figure includes the stop. The time
is the one that the kernel charged to the process in user and system mode (``wait4``): other
programs on the machine affect it less than the elapsed time.
"""

from __future__ import annotations

import contextlib
import os
import signal
import statistics
import subprocess
import sys
import tempfile
import time
from collections import defaultdict
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from benchmarks.figures import row
from benchmarks.processes import daemon, mosquitto, pseudo_terminals, serial
from benchmarks.subscriber import Subscriber
from tests.support.brokers.mosquitto import free_port

CONFIGURATION = """
[site]
id = "bench"
node = "node-1"
[broker]
url = "mqtt://127.0.0.1:{broker}"
[people]
required = "accept-the-risk"
[web]
listen = "127.0.0.1:{web}"
[log]
format = "json"
level = "{level}"
[[table]]
id = "table-1"
game = "roulette-french"
decree = "ARA02"
simulated = true
[[table.device]]
id = "wheel"
driver = "cammegh-ss2"
link = "{link}"
stale_after = 600.0
[archive]
[[jackpot]]
id = "gran"
title = {{ es = "Gran carrusel" }}
decree = "ARA02"
games = ["poker-no-draw"]
currency = "EUR"
stake = 1.00
simulated = true
"""


CONFIG = "novamas.toml"
Figures = dict[tuple[str, str], list[float]]
"""Measurements by program and name of the start."""
READY_SECONDS = 60.0
"""Maximum seconds until a service is ready."""


class Start(NamedTuple):
    """A program to start. ``ready``: text that a service prints, or that one of its retained topics
    contains, once it is ready; it is then stopped. None: the program ends by itself.
    """

    words: Sequence[str]
    ready: bytes | None = None
    beside_daemon: bool = False
    """True if it needs the daemon of the same configuration."""


STARTS: Mapping[str, Start] = {
    "--help": Start(["--help"]),
    "--version": Start(["--version"]),
    "games": Start(["games"]),
    "check": Start(["check", CONFIG]),
    "run": Start(["run", CONFIG], b'"broker connected"'),
    "web": Start(["web", CONFIG], b'"web server answers"'),
    "carrousel": Start(["carrousel", CONFIG], b"carrousel is online"),
    "surveillance": Start(["surveillance", CONFIG], b"surveillance is online"),
    "send": Start(
        ["send", "table-1", "recall", "boot=none", "from=1", "--config", CONFIG], beside_daemon=True
    ),
}
"""The measured starts, by name."""


def cpu(program: Path, start: Start, folder: Path, status: Subscriber) -> float:
    """Start the program in the folder of its configuration, and wait for its end. Return the
    seconds of CPU. Raises ``TimeoutError`` if a service does not become ready.
    """
    status.latest.clear()
    output = folder / "output"
    with output.open("wb") as opened:
        process = subprocess.Popen(
            [program, *start.words],
            cwd=folder,
            stdin=subprocess.DEVNULL,
            stdout=opened,
            stderr=opened,
        )
    if start.ready is not None:
        end = time.monotonic() + READY_SECONDS
        while start.ready not in output.read_bytes() + _online(status):
            ended = os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOHANG | os.WNOWAIT)
            if ended is not None or time.monotonic() > end:
                process.kill()
                raise TimeoutError(f"novamas {start.words[0]} is not ready: {output.read_text()}")
            time.sleep(0.01)
        process.send_signal(signal.SIGTERM)
    _, ended_with, used = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(ended_with)
    if process.returncode:
        raise RuntimeError(f"novamas {start.words[0]} failed: {output.read_text()}")
    return used.ru_utime + used.ru_stime


def _online(status: Subscriber) -> bytes:
    """Return one line for each node that is online."""
    return b"".join(
        f"{topic.split('/')[-2]} is online\n".encode()
        for topic, body in dict(status.latest).items()
        if b'"online"' in body
    )


def measure(programs: Mapping[str, Path], names: Sequence[str], runs: int) -> Figures:
    """Return the CPU seconds of each run. The programs take turns, so that a disturbance of the
    machine affects all of them.
    """
    found: Figures = defaultdict(list)
    with contextlib.ExitStack() as stack:
        root = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        port = free_port()
        stack.enter_context(mosquitto(root, port))
        status = stack.enter_context(Subscriber(port, ["+/v1/bench/node/+/status"]))
        [(_, line)] = stack.enter_context(pseudo_terminals(1))

        def folder(name: str, level: str = "info") -> Path:
            made = root / name
            made.mkdir()
            (made / CONFIG).write_text(
                CONFIGURATION.format(broker=port, web=free_port(), level=level, link=serial(line))
            )
            return made

        for name in names:
            start = STARTS[name]
            with contextlib.ExitStack() as beside:
                if start.beside_daemon:
                    beside.enter_context(daemon(folder(f"{name}-daemon", "error") / CONFIG))
                    status.online()
                for run in range(runs):
                    for label, program in programs.items():
                        of_run = folder(f"{name}-{label}-{run}")
                        found[label, name].append(cpu(program, start, of_run, status))
    return found


def main(runs: int) -> None:
    """Measure and print."""
    program = Path(sys.executable).with_name("novamas")
    found = measure({"": program}, list(STARTS), runs)
    print(f"CPU of {runs} starts each, of a service with its stop, in seconds")
    print(row("", "median", "least", "most"))
    for name in STARTS:
        times = found["", name]
        print(row(name, statistics.median(times), min(times), max(times)), flush=True)
