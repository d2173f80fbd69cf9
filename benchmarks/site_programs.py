"""The programs of a site: brokers, four daemons and every consumer, each with its configuration;
started and killed all at once.
"""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from benchmarks.processes import STOP_TIMEOUT_SECONDS, Process, head, roulettes
from tests.support.brokers.mosquitto import free_port

DAEMONS = 4
TABLES_PER_LINKED = 50
"""One of this many tables of a daemon is linked to the jackpot."""
JACKPOT = "linked"
COINS = """
[[table]]
id = "{table}"
game = "poker-no-draw"
decree = "ARA02"
simulated = true
jackpot = "{jackpot}"
[[table.device]]
id = "slots"
driver = "slot-board"
link = "{link}"
stale_after = 600.0
"""
CONSUMERS = """
[web]
listen = "127.0.0.1:{port}"
displays = "open"
path = "{folder}/web"
[carrousel]
path = "{folder}/carrousel.sqlite3"
[archive]
{archive}
[[jackpot]]
id = "{jackpot}"
decree = "ARA02"
games = ["poker-no-draw"]
currency = "EUR"
simulated = true
[jackpot.authorisation]
number = "1"
date = "2026-01-15"
authority = "bench"
percentage = [1, 1]
tables = {linked}
"""


class SiteLayout(NamedTuple):
    """Files, ports and programs of a site. ``commands``: the programs, by name."""

    commands: dict[str, tuple[str, ...]]
    journals: list[Path]
    archive: str
    """File of the archive, or address of its database."""
    web: int
    """Port of the web server."""
    wheels: int
    linked: list[str]
    """Tables linked to the jackpot."""


def shares(tables: int) -> list[tuple[int, int]]:
    """Return the number of wheels and of linked tables of each daemon."""
    counts = [tables // DAEMONS + (number < tables % DAEMONS) for number in range(DAEMONS)]
    return [(count - (linked := max(1, count // TABLES_PER_LINKED)), linked) for count in counts]


def lay_out(
    folder: Path,
    ports: Sequence[int],
    protocol: str,
    tables: int,
    links: Sequence[str],
    database: str | None,
) -> SiteLayout:
    """Write the configurations. ``ports``: of the brokers, to which the daemons are distributed;
    ``links``: of the wheels, then of the coin slots; ``database``: of the archive, instead of a
    file.
    """
    wheels = sum(count for count, _ in shares(tables))
    commands: dict[str, tuple[str, ...]] = {}
    parts: list[str] = []
    journals: list[Path] = []
    linked: list[str] = []
    first = 1
    for number, (count, linked_count) in enumerate(shares(tables), 1):
        own = folder / f"daemon-{number}"
        own.mkdir()
        names = [f"poker-{len(linked) + at}" for at in range(1, linked_count + 1)]
        lines = links[wheels + len(linked) :]
        pokers = (
            COINS.format(table=table, jackpot=JACKPOT, link=link)
            for table, link in zip(names, lines, strict=False)
        )
        part = roulettes(links[first - 1 : first - 1 + count], first) + "".join(pokers)
        broker = ports[(number - 1) % len(ports)]
        file = own / "novamas.toml"
        file.write_text(head(own, broker, f"pit-{number}", protocol) + part)
        commands[f"daemon {number}"] = novamas("run", str(file))
        journals.append(own / "journal.sqlite3")
        parts.append(part)
        linked += names
        first += count
    port, place = free_port(), database or str(folder / "archive.sqlite3")
    key = "path" if database is None else "database"
    file = folder / "site.toml"
    file.write_text(
        head(folder, ports[0], "site", protocol)
        + CONSUMERS.format(
            port=port,
            folder=folder,
            archive=f"{key} = {json.dumps(place)}",
            jackpot=JACKPOT,
            linked=json.dumps(linked),
        )
        + "".join(parts)
    )
    commands["web"] = novamas("web", str(file))
    commands["surveillance"] = novamas("surveillance", str(file))
    commands["carrousel"] = novamas("carrousel", str(file))
    commands["watch"] = novamas("watch", str(file), "--json")
    return SiteLayout(commands, journals, place, port, wheels, linked)


def novamas(*words: str) -> tuple[str, ...]:
    """Return the command line of ``novamas`` with these words."""
    return sys.executable, "-m", "controller.cli", *words


class Programs:
    """Running programs, by name. Their output goes to ``<name>.log`` in the folder."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self.running: dict[str, Process] = {}

    def start(self, commands: Mapping[str, Sequence[str]]) -> None:
        """Start all programs without waiting until they are ready."""
        for name, command in commands.items():
            with (self._folder / f"{name.replace(' ', '-')}.log").open("ab") as log:
                self.running[name] = subprocess.Popen(
                    command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=log
                )

    @property
    def pids(self) -> dict[str, int]:
        """Process ids by name."""
        return {name: process.pid for name, process in self.running.items()}

    def check(self) -> None:
        """Raise ``TimeoutError`` if a program has ended."""
        for name, process in self.running.items():
            if process.poll() is not None:
                log = self._folder / f"{name.replace(' ', '-')}.log"
                output = log.read_text(errors="replace")[-2000:]
                raise TimeoutError(f"{name} has ended with {process.returncode}: {output}")

    def cut(self) -> None:
        """Kill all of them at once, as in a power failure."""
        for process in self.running.values():
            process.kill()
        for process in self.running.values():
            process.wait()
        self.running.clear()

    def close(self) -> None:
        """Kill the programs that still run."""
        for process in self.running.values():
            process.terminate()
        for process in self.running.values():
            try:
                process.wait(STOP_TIMEOUT_SECONDS)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
        self.running.clear()
