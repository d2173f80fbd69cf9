"""Starts the programs of a benchmark (Mosquitto, the daemon and others) on free loopback ports, and
ends them with the block that started them.
"""

from __future__ import annotations

import contextlib
import getpass
import json
import os
import pty
import resource
import shutil
import socket
import subprocess
import sys
import time
import tty
from collections.abc import Iterator, Sequence
from pathlib import Path

Process = subprocess.Popen[bytes]

SYSTEM_PATH = "/usr/local/sbin:/usr/sbin:/usr/local/bin:/usr/bin"
"""Debian's paths of brokers, which are not in every user's ``PATH``."""
START_TIMEOUT_SECONDS = 30.0
"""Maximum seconds for a program to start."""
STOP_TIMEOUT_SECONDS = 60.0
"""Maximum seconds for a program to end."""

CONFIGURATION = """
[site]
id = "bench"
node = "{node}"
[journal]
path = "{folder}/journal.sqlite3"
[recordings]
path = "{folder}/recordings"
[broker]
url = "mqtt://127.0.0.1:{broker}"
protocol = "{protocol}"
[people]
required = "accept-the-risk"
[log]
format = "json"
level = "{log}"
"""
TABLE = """
[[table]]
id = "table-{number}"
game = "roulette-french"
decree = "ARA02"
simulated = true
speed = {speed}
[[table.device]]
id = "wheel"
driver = "cammegh-ss2"
link = "{link}"
stale_after = 600.0
"""


@contextlib.contextmanager
def running(
    *command: str,
    stdin: int | None = None,
    stdout: int | None = None,
    stderr: int | None = None,
    cwd: Path | None = None,
) -> Iterator[Process]:
    """Run a program until the end of the block."""
    process = subprocess.Popen(command, stdin=stdin, stdout=stdout, stderr=stderr, cwd=cwd)
    try:
        yield process
    finally:
        process.terminate()
        try:
            process.wait(STOP_TIMEOUT_SECONDS)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
            print(f"{command[0]} did not end within {STOP_TIMEOUT_SECONDS:.0f} s", file=sys.stderr)


def many_files() -> None:
    """Raise the limit of open files as far as allowed, for this process and its children."""
    _, maximum = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (maximum, maximum))


def program(name: str) -> str:
    """Return the path of an installed program. Ends the benchmark if it is missing."""
    found = shutil.which(name, path=f"{os.environ.get('PATH', '')}:{SYSTEM_PATH}")
    if found is None:
        sys.exit(f"benchmarks: {name} is not installed; make bench installs what is missing")
    return found


def mosquitto_command(folder: Path, port: int) -> tuple[str, ...]:
    """Return the command of a Mosquitto on this port that drops nothing for slow subscribers,
    stores nothing, and logs to a file.
    """
    settings = folder / "mosquitto.conf"
    settings.write_text(
        f"user {getpass.getuser()}\nlistener {port} 127.0.0.1\nallow_anonymous true\n"
        "set_tcp_nodelay true\npersistence false\nmax_queued_messages 0\nmax_inflight_messages 0\n"
        f"log_dest file {folder / 'mosquitto.log'}\n"
    )
    return program("mosquitto"), "-c", str(settings)


@contextlib.contextmanager
def mosquitto(folder: Path, port: int) -> Iterator[Process]:
    """Run Mosquitto until the end of the block."""
    command = mosquitto_command(folder, port)
    with running(*command, stderr=subprocess.DEVNULL) as process:
        end = time.monotonic() + START_TIMEOUT_SECONDS
        while True:
            with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", port), 1):
                break
            if process.poll() is not None or time.monotonic() > end:
                sys.exit(f"benchmarks: mosquitto does not start; its settings: {command[-1]}")
            time.sleep(0.02)
        yield process


def configure(
    folder: Path, broker: int, links: Sequence[str], speed: float = 1.0, log: str = "error"
) -> Path:
    """Write the configuration of a daemon with one roulette table for each link. ``speed``: of the
    tables' clock; ``log``: the level of its log.
    """
    path = folder / "novamas.toml"
    path.write_text(head(folder, broker, log=log) + roulettes(links, speed=speed))
    return path


def head(
    folder: Path, broker: int, node: str = "node-1", protocol: str = "5", log: str = "error"
) -> str:
    """Return a configuration without its tables."""
    return CONFIGURATION.format(folder=folder, broker=broker, node=node, protocol=protocol, log=log)


def roulettes(links: Sequence[str], first: int = 1, speed: float = 1.0) -> str:
    """Return the configuration of a roulette table for each link. ``first``: number of the
    first.
    """
    return "".join(
        TABLE.format(number=number, speed=speed, link=link)
        for number, link in enumerate(links, first)
    )


def daemon(
    configuration: Path, log: int | None = None, checkout: Path | None = None
) -> contextlib.AbstractContextManager[Process]:
    """Run the daemon, with its log in the file, or else on standard error. ``checkout``: a folder
    with the code to run, if not this one.
    """
    program = (sys.executable, "-m", "controller.cli", "run", str(configuration))
    return running(*program, stderr=log, cwd=checkout)


@contextlib.contextmanager
def pseudo_terminals(count: int) -> Iterator[list[tuple[int, str]]]:
    """Yield pseudo-terminals: the wheel's end as a file descriptor, and the name of the other
    end.
    """
    opened = [pty.openpty() for _ in range(count)]
    try:
        for _, line in opened:
            tty.setraw(line)
        yield [(wheel, os.ttyname(line)) for wheel, line in opened]
    finally:
        for pair in opened:
            for end in pair:
                os.close(end)


def serial(name: str) -> str:
    """Return the daemon's link to this terminal."""
    return f"serial://{name}?baud=9600"


def machine() -> str:
    """Return the kind of this machine and the date, to be printed above the figures."""
    system = os.uname()
    debian = Path("/etc/debian_version")
    return json.dumps(
        {
            "day": time.strftime("%Y-%m-%d"),
            "cores": os.cpu_count(),
            "architecture": system.machine,
            "kernel": system.release.split("-")[0],
            "debian": debian.read_text().strip() if debian.exists() else None,
            "python": sys.version.split()[0],
        }
    )
