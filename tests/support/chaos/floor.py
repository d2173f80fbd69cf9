"""The floor: simulated wheels on pseudo-terminals, the daemon, a real broker and an archive, each a
separate program.
"""

from __future__ import annotations

import json
import re
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Mapping, Sequence
from contextlib import closing, suppress
from functools import partial
from pathlib import Path
from typing import Any, Protocol

import msgspec

from controller.journal.reader import JournalReader
from controller.mqtt.connection import MAX_UNACKNOWLEDGED
from controller.mqtt.outbox import MAX_UNACKNOWLEDGED_EVENTS
from tests.support.brokers.mosquitto import Mosquitto
from tests.support.chaos.archive import Archive, Verdict, entries_of, key_of
from tests.support.chaos.schedule import Step
from tests.support.daemon.process import Daemon
from tests.support.waiting import TIMEOUT_SECONDS, until

SPEED, GAMES_PER_HOUR = 30.0, 80
"""A spin takes a second and a half. At a higher speed a busy machine cannot distinguish live from
late.
"""
_STATUS = re.compile(r"\*X;(?P<state>\d);(?P<spin>\d{3});(?P<number>[ 0-9]{2});")


class Spin(msgspec.Struct, frozen=True):
    """A spin that the wheel has really played, and where its ball fell."""

    spin: int
    number: int


class Wheel:
    """``python -m simulators wheel``: it prints each line that it sends, with or without a reader.
    ``played`` is the truth.
    """

    def __init__(self, link: Path, seed: int, speed: float) -> None:
        self.link = link
        self.states: list[int] = []
        self.played: list[Spin] = []
        command = [
            sys.executable,
            "-m",
            "simulators",
            "wheel",
            "--link",
            str(link),
            "--seed",
            str(seed),
            "--speed",
            str(speed),
        ]
        command += ["--games-per-hour", str(GAMES_PER_HOUR), "--tell-lines", "--end-with-stdin"]
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self._listening = threading.Thread(target=self._listen)
        self._listening.start()

    @property
    def state(self) -> int:
        """Its latest reported state; 0 before the first report."""
        return self.states[-1] if self.states else 0

    def fault(self, switch: str) -> None:
        """Switch a fault on: ``unplug 3``."""
        assert self.process.stdin is not None
        self.process.stdin.write(switch.encode() + b"\n")
        self.process.stdin.flush()

    def _listen(self) -> None:
        assert self.process.stdout is not None
        with self.process.stdout as stdout:
            for line in stdout:
                if match := _STATUS.match(json.loads(line).get("line", "")):
                    self._note(int(match["state"]), int(match["spin"]), match["number"])

    def _note(self, state: int, spin: int, number: str) -> None:
        if state == 5 and (self.state != 5 or self.played[-1].spin != spin):
            self.played.append(Spin(spin, int(number)))
        if self.state != state:
            self.states.append(state)

    def close(self) -> None:
        self.link.unlink(
            missing_ok=True
        )  # first: the next terminal that anybody makes may have the same number
        self.process.kill()
        self.process.wait()
        self._listening.join()
        if self.process.stdin is not None:
            self.process.stdin.close()


class Broker(Protocol):
    """The broker of a floor."""

    port: int

    def start(self) -> None: ...

    def kill(self) -> None: ...

    def signal(self, number: signal.Signals) -> None: ...

    def log(self) -> str: ...


class Floor:
    """Everything that a run needs. ``state`` is where the daemon keeps its journal; ``broker`` one
    that another floor has; ``heard``: topics below the root to which the archive subscribes, if not
    all; ``clock``: lines of that section.

    ``url`` and ``settings``: the broker's address and other lines of its section; ``hears``:
    options of the archive's connection.
    """

    def __init__(
        self,
        folder: Path,
        *,
        site: str = "palma",
        tables: int = 1,
        speed: float = SPEED,
        seed: int = 1,
        stale_after: float = 60.0,
        state: Path | None = None,
        broker: Broker | None = None,
        url: str = "",
        settings: str = "",
        hears: Mapping[str, Any] | None = None,
        keepalive: int = 2,
        read_back_every: float = 21_600.0,
        heard: Sequence[str] = (),
        clock: str = "",
    ) -> None:
        self.folder, self.site, self.speed, self.seed = folder, site, speed, seed
        self.stale_after = stale_after
        self.read_back_every = read_back_every
        self.clock = clock
        self.root = f"novamas-sim/v1/{site}"
        self._heard = [f"{self.root}/{topic}" for topic in heard] or ["#"]
        folder.mkdir(parents=True, exist_ok=True)
        self.journal = (state or folder) / "journal.sqlite3"
        self.tables = [f"r{n + 1}" for n in range(tables)]
        self.broker: Broker = broker or Mosquitto(folder / "mosquitto")
        self._url = url or f"mqtt://127.0.0.1:{self.broker.port}"
        self._settings, self._hears = settings, hears or {}
        self._keepalive = keepalive
        self._borrowed = broker is not None
        self.wheels: dict[str, Wheel] = {}
        self.archive: Archive | None = None
        self.daemon = Daemon(folder, self.configuration())
        self._since = 0  # lines of the log before this life of the daemon

    def configuration(self, broker: str = "") -> str:
        """The daemon's configuration file; ``broker`` are more lines of that section."""
        text = f"""[site]
id = "{self.site}"
node = "pit-1"

[journal]
path = "{self.journal}"
read_back_every = {self.read_back_every}

[recordings]
path = "{self.folder / "recordings"}"

[broker]
url = "{self._url}"
keepalive = {self._keepalive}
{self._settings}
{broker}
[people]
required = "accept-the-risk"

[clock]
{self.clock}
"""
        for table in self.tables:
            text += f"""
[[table]]
id = "{table}"
game = "roulette-french"
decree = "ARA02"
simulated = true
speed = {self.speed}

[[table.device]]
id = "wheel"
driver = "cammegh-ss2"
link = "serial://{self.folder / table}?baud=9600"
stale_after = {self.stale_after}
"""
        return text

    def start(
        self,
        username: str | None = None,
        password: str | None = None,
        sessions: Sequence[str] | None = None,
        **environment: str,
    ) -> Archive:
        """Start everything, and open a session at each table or at those of ``sessions``. The
        archive may need a name; ``environment`` is the daemon's.
        """
        if not self._borrowed:
            self.broker.start()
        self.archive = Archive(
            self.broker.port,
            self.root,
            self._heard,
            username=username,
            password=password,
            **self._hears,
        )
        self.plug_in()
        self.start_daemon(**environment)
        self.open_sessions(sessions)
        return self.archive

    def plug_in(self) -> None:
        """Start the wheels."""
        for number, table in enumerate(self.tables):
            if not (self.folder / table).is_symlink():  # a test has put its own device there
                self.wheels[table] = Wheel(self.folder / table, self.seed + number, self.speed)
        for wheel in self.wheels.values():
            until("the wheel's port", wheel.link.is_symlink)

    def start_daemon(self, **environment: str) -> None:
        self._since = len(self.daemon.log().splitlines())
        self.daemon.start(**environment)

    def logged(self, event: str) -> int:
        """How often the daemon has logged that since its start."""
        return sum(
            f'"event": "{event}"' in line for line in self.daemon.log().splitlines()[self._since :]
        )

    def open_sessions(self, tables: Sequence[str] | None = None) -> None:
        """Wait for each wheel to be up, and open its table."""
        assert self.archive is not None
        for table in tables or self.tables:
            until(f"{table} is up", partial(self.has_status, table, "closed"), self.daemon.log)
            reply = self.archive.command(table, "session.open")
            # One that is refused has been followed all the same: handed over twice by a broker that
            # had thrown the daemon out,
            # or stored by a disk that was too slow for the reply.
            until(f"{table} is open, {reply}", partial(self._in_session, table), self.daemon.log)

    def _in_session(self, table: str) -> bool:
        assert self.archive is not None
        return bool(self.archive.latest(f"{table}/state")["shown"]["phase"] != "closed")

    def status(self, table: str) -> str | None:
        """The word that the retained topic has for a table."""
        assert self.archive is not None
        state = self.archive.latest(f"{table}/state")
        return None if state is None else str(state["status"])

    def has_status(self, table: str, *statuses: str) -> bool:
        """Whether the retained topic has one of these words for a table."""
        return self.status(table) in statuses

    def results(self, table: str | None = None) -> int:
        """How many results the archive holds."""
        assert self.archive is not None
        self.archive.take()
        held = list(self.archive.held.values())
        return sum(
            event["type"] == "round.result" and event["table"] == (table or event["table"])
            for event in held
        )

    def until_results(self, more: int, table: str | None = None) -> None:
        """Wait for more results, of one table or of any. A machine that is too busy to be live has
        fewer of them.
        """
        known = self.results(table)
        for wanted in range(known + 1, known + more + 1):
            until(
                f"{wanted} results",
                partial(self._enough, table, wanted),
                self.daemon.log,
                timeout=3 * TIMEOUT_SECONDS,
            )

    def _enough(self, table: str | None, wanted: int) -> bool:
        return self.results(table) >= wanted

    def kill_broker_in_step(self) -> None:
        """Kill the broker when the archive has everything the broker acknowledged, while the daemon
        has more to publish.

        Messages that a broker has acknowledged but not forwarded die with it, and only a recall
        restores them. So the daemon is stopped until the archive has received more marks behind
        everything else than the daemon has messages in flight: at each turn Mosquitto forwards one
        message of each client.
        """
        assert self.archive is not None
        self.daemon.signal(signal.SIGSTOP)
        for turn in range(MAX_UNACKNOWLEDGED_EVENTS + MAX_UNACKNOWLEDGED):
            self.archive.line.publish(f"turn/{turn}", turn)
            until(
                "the word comes back", partial(self.archive.line.on, f"turn/{turn}"), self._lacking
            )
        self.broker.kill()
        self.daemon.signal(signal.SIGCONT)

    # The steps of a schedule

    def follow(self, step: Step) -> None:
        """Wait for what the step waits for, and do it."""
        self._wait(step)
        time.sleep(step.offset)
        match step.do:
            case "kill daemon":
                self.daemon.kill()
            case "start daemon":
                self.start_daemon()
            case "kill broker":
                self.broker.kill()
            case "start broker":
                self.broker.start()
            case "freeze broker":
                self.broker.signal(signal.SIGSTOP)
            case "thaw broker":
                self.broker.signal(signal.SIGCONT)

    def _wait(self, step: Step) -> None:
        said = {"up": "daemon up", "connected": "broker connected"}
        if step.when in said:
            until(str(step), lambda: self.logged(said[step.when]), self.daemon.log)
        elif step.when == "events":
            assert self.archive is not None
            wanted = self.archive.take() + step.count
            until(
                str(step),
                lambda: self.archive is not None and self.archive.take() >= wanted,
                self.daemon.log,
            )
        elif step.when == "writes":
            log = Path(f"{self.journal}-wal")
            times: set[int] = set()
            until(str(step), partial(_written, log, times, step.count), self.daemon.log)
        elif step.when == "state":
            wheel = self.wheels[self.tables[0]]
            known = len(wheel.states)
            until(str(step), lambda: step.count in wheel.states[known:], self.daemon.log)

    # The end

    def settle(self, *, recall: bool = True) -> Verdict:
        """Let the wheels fall silent and the archive catch up, and compare. The daemon runs, and
        the broker too.

        Without ``recall`` everything has to come by itself.
        """
        assert self.archive is not None
        archive = self.archive
        until(
            "the daemon reaches the broker",
            lambda: self.logged("broker connected"),
            self.daemon.log,
        )
        for wheel in self.wheels.values():
            wheel.close()
        for table in self.wheels:
            until(
                f"{table} knows that its wheel is gone", partial(self._lost, table), self.daemon.log
            )

        def verdict() -> Verdict | None:
            for table in self.tables if recall else ():
                archive.catch_up(table)
            found = archive.verdict(self.journal)
            return None if found.lost else found

        found: Verdict = until("the archive holds everything", verdict, self._lacking)
        return found

    def _lacking(self) -> str:
        """The events that the archive lacks, and the logs of broker and daemon, for diagnosis of a
        failed test.
        """
        assert self.archive is not None
        self.archive.take()
        events = [
            (entry.position, json.loads(entry.body))
            for entry in entries_of(self.journal)
            if entry.kind == "event"
        ]
        lacking = [
            (position, body) for position, body in events if key_of(body) not in self.archive.held
        ]
        with closing(JournalReader(self.journal)) as journal:
            cursor = journal.cursors().get("mqtt", 0)
        head = f"the archive lacks {len(lacking)} events; the broker has acknowledged all up to "
        head += f"position {cursor}; the first are"
        first = [
            f"position {at}: {body['type']}, table {body['table']}, {body['boot']} {body['seq']}"
            for at, body in lacking[:20]
        ]
        return "\n".join(
            [
                head,
                *first,
                "the broker said",
                self.broker.log(),
                "the daemon said",
                self.daemon.log(),
            ]
        )

    def _lost(self, table: str) -> bool:
        assert self.archive is not None
        state: Any = self.archive.latest(f"{table}/state") or {}
        return (
            bool(state)
            and state["devices"].get("wheel", {}).get("state") == "lost"
            and state["boot"] == self.boot()
        )

    def boot(self) -> str:
        """The running daemon's."""
        line = next(
            line
            for line in self.daemon.log().splitlines()[self._since :]
            if '"event": "daemon up"' in line
        )
        return str(json.loads(line)["boot"])

    def diagnosis(self) -> str:
        """The end of the daemon's log, and what each wheel has played last: for a person who
        wonders why a test failed.
        """
        played = [
            f"{table}: state {wheel.state}, {wheel.played[-9:]}"
            for table, wheel in self.wheels.items()
        ]
        return "\n".join([*self.daemon.log().splitlines()[-200:], *played])

    def close(self) -> None:
        """End everything."""
        self.daemon.kill()
        for wheel in self.wheels.values():
            wheel.close()
        if self.archive is not None:
            self.archive.close()
        if not self._borrowed:
            self.broker.kill()


def _written(path: Path, times: set[int], count: int) -> bool:
    """Whether the file was seen to change so often since the first look."""
    with suppress(FileNotFoundError):
        times.add(path.stat().st_mtime_ns)
    return len(times) > count
