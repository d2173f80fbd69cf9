"""The daemon as a separate process, and a wheel on a pseudo-terminal that is fed by hand."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
import tty
from contextlib import suppress
from pathlib import Path
from typing import IO, Any

from tests.support.prepared import PreparedProgram, may_be_forked
from tests.support.waiting import TIMEOUT_SECONDS, until


class Wheel:
    """A wheel that repeats its status line, as an SS2 does, until it is set to show another."""

    PERIOD = 0.1

    def __init__(self, link: Path) -> None:
        self.link = link
        self.line = b"*X;6;001;  ;0;000;0"
        self._master: int | None = None
        self._received = bytearray()
        self._plug = threading.RLock()
        self._repeated = threading.Condition(self._plug)
        self._times = 0
        """How often it has repeated its line."""
        self._end = threading.Event()
        self.plug()
        self._thread = threading.Thread(target=self._repeat)
        self._thread.start()

    @property
    def url(self) -> str:
        return f"serial://{self.link}?baud=9600"

    def plug(self) -> None:
        with self._plug:
            master, slave = os.openpty()
            tty.setraw(slave)
            os.set_blocking(master, False)
            self.link.unlink(missing_ok=True)
            self.link.symlink_to(os.ttyname(slave))
            os.close(slave)
            self._master = master

    def unplug(self) -> None:
        with self._plug:
            if self._master is not None:
                self.link.unlink()
                os.close(self._master)
                self._master = None

    def show(
        self,
        state: int,
        spin: int,
        number: str,
        warning: str = "0",
        rpm: int = 200,
        direction: int = 0,
    ) -> None:
        """Show this status from now on, and return once it was sent twice: two lines have to agree.
        They come at the wheel's own pace: faster ones would have waited somewhere.
        """
        with self._repeated:
            self.line = (
                f"*X;{state};{spin:03d};{number:>2};{warning};{rpm:03d};{direction}".encode()
            )
            shown = self._times + 2
            self._repeated.wait_for(lambda: self._times >= shown, TIMEOUT_SECONDS)

    def send(self, line: bytes) -> None:
        with self._plug:
            if self._master is None:
                return
            try:
                os.write(self._master, line + b"\r\n")
            except OSError:  # no reader: a pseudo-terminal is full, or its other side is closed
                return

    def received(self) -> bytes:
        """The bytes sent to the wheel so far."""
        with self._plug, suppress(OSError):
            if self._master is not None:
                self._received += os.read(self._master, 4096)
        return bytes(self._received)

    def _repeat(self) -> None:
        while not self._end.wait(self.PERIOD):
            with self._repeated:
                self.send(self.line)
                self._times += 1
                self._repeated.notify_all()

    def close(self) -> None:
        self._end.set()
        self._thread.join()
        self.unplug()


class Daemon:
    """``novamas run`` with one configuration. Its log comes through a pipe, so that a limit on
    files does not touch it.
    """

    def __init__(self, folder: Path, configuration: str) -> None:
        self.folder = folder
        self.file = folder / "novamas.toml"
        self.file.write_text(configuration)
        self.program: tuple[str, ...] = (
            "-c",
            "import sys; from controller.cli import main; sys.exit(main())",
        )
        self.python = sys.executable
        """The interpreter; another environment has other packages."""
        self.prepared = True
        """Whether it is forked where it can be. A new interpreter loads all modules itself."""
        self.process: PreparedProgram | subprocess.Popen[bytes] | None = None
        self.stderr = subprocess.STDOUT
        """Where it writes its log. Another descriptor is not read here: hand it to :meth:`listen`.
        """
        self._lines: list[str] = []
        self._since = 0
        """Lines of the log before this life."""
        self._listening: threading.Thread | None = None

    def start(self, **environment: str) -> None:
        self._since = len(self._lines)
        self.start_program(*self.program, "run", str(self.file), **environment)

    def start_program(self, *words: str, **environment: str) -> None:
        """Start Python with these words."""
        given = {**os.environ, "STATE_DIRECTORY": str(self.folder), **environment}
        own = self.prepared and self.python == sys.executable
        if own and may_be_forked(words, given):
            self.process = PreparedProgram(
                words, stdout=subprocess.PIPE, stderr=self.stderr, environment=given
            )
        else:
            self.process = subprocess.Popen(
                [self.python, *words], stdout=subprocess.PIPE, stderr=self.stderr, env=given
            )
        assert self.process.stdout is not None
        self._listening = threading.Thread(target=self.listen, args=(self.process.stdout,))
        self._listening.start()

    def listen(self, stream: IO[bytes]) -> None:
        """Take what comes as lines of the log, until the stream ends."""
        with stream as lines:
            self._lines += (line.decode().rstrip("\n") for line in lines)

    def signal(self, number: signal.Signals) -> None:
        assert self.process is not None
        self.process.send_signal(number)

    def stop(self) -> int:
        """End it as the service manager does, and give the exit code."""
        self.signal(signal.SIGTERM)
        return self.wait()

    def wait(self) -> int:
        assert self.process is not None
        assert self._listening is not None
        code = self.process.wait(TIMEOUT_SECONDS)
        self._listening.join()
        self.process = None
        return code

    def kill(self) -> None:
        if self.process is not None:
            self.process.kill()
            self.wait()

    def log(self) -> str:
        return "\n".join(self._lines)

    def boot(self) -> str | None:
        """The boot id of this run of the daemon, once it is logged."""
        up = [
            json.loads(line)
            for line in self._lines[self._since :]
            if '"event": "daemon up"' in line
        ]
        return up[0]["boot"] if up else None

    def lines(self) -> list[dict[str, Any]]:
        """The lines of its log, in all its lives."""
        return [json.loads(line) for line in list(self._lines) if line.startswith("{")]

    def logged(self, event: str) -> list[dict[str, Any]]:
        """The log lines with that fixed text."""
        body = json.dumps(event, ensure_ascii=False)
        lines = (json.loads(line) for line in list(self._lines) if body in line and line[0] == "{")
        return [line for line in lines if line.get("event") == event]

    def until_logged(self, event: str, count: int = 1) -> dict[str, Any]:
        def enough() -> bool:
            assert self.process is None or self.process.poll() is None, (
                f"the daemon ended\n{self.log()}"
            )
            return len(self.logged(event)) >= count

        until(f"log line {event!r}", enough, self.log)
        return self.logged(event)[count - 1]


def table(
    id: str,  # noqa: A002
    wheel: Wheel | None,
    *,
    game: str = "roulette-french",
    decree: str = "ARA02",
    simulated: bool = False,
    commands: bool = False,
    stale_after: float = 60.0,
    period: float | None = 60.0,
    settings: str = "",
) -> str:
    """The ``[[table]]`` of a roulette with one Cammegh wheel. ``settings``: lines of TOML. A test
    wheel that a busy machine keeps silent for some seconds is neither stale nor late: one that is
    plugged in again is late until it has sent at the pace of its ``period``.
    """
    text = f'\n[[table]]\nid = "{id}"\ngame = "{game}"\ndecree = "{decree}"\n'
    if simulated:
        text += "simulated = true\n"
    text += settings
    if wheel is not None:
        text += f'\n[[table.device]]\nid = "wheel"\ndriver = "cammegh-ss2"\nlink = "{wheel.url}"\n'
        text += f"commands = {str(commands).lower()}\nstale_after = {stale_after}\n"
        if period is not None:
            text += f"options = {{ period = {period} }}\n"
    return text


UNSIGNED = '[people]\nrequired = "accept-the-risk"\n'


def configuration(
    port: int,
    *tables: str,
    broker: str = "",
    scheme: str = "mqtt",
    people: str = UNSIGNED,
    keepalive: int = 60,
) -> str:
    """A whole configuration file. Without ``people``, commands need no signature. A broker that is
    starved for longer than ``keepalive`` looks gone to the daemon.
    """
    return f"""[site]
id = "palma"
node = "pit-1"

[broker]
url = "{scheme}://127.0.0.1:{port}"
keepalive = {keepalive}
{broker}
{people}""" + "".join(tables)
