"""Two daemons with the same tables, and what they share: the wheel on the network, the store of
their lease.
"""

from __future__ import annotations

import socket
import subprocess
import sys
import threading
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, suppress
from pathlib import Path

from controller.service.systemd_notify import KEEP_ALIVE
from tests.support.brokers.mosquitto import free_port
from tests.support.daemon.process import UNSIGNED, Daemon, Wheel
from tests.support.waiting import until

NATS = Path(sys.executable).parent / "nats-server"
NAMES = ("north", "south")


CALM_PERIOD_SECONDS = 0.25
"""Time between two lines of a wheel whose lines never look kept, however busy the machine is."""


class NetworkWheel(Wheel):
    """A wheel behind a device server, which sends to every client. ``kept``: what it stored, and
    delivers first to the next client. ``period``: seconds between two of its lines. At the usual
    one, which is the shortest of any device, lines that a busy machine delivers together look as if
    something had kept them.
    """

    def __init__(self, address: str = "127.0.0.1", period: float = Wheel.PERIOD) -> None:
        self.PERIOD = period
        self.kept = b""
        self._door = socket.create_server((address, 0))
        self._clients: list[socket.socket] = []
        self._taking = threading.Thread(target=self._take)
        self._taking.start()
        super().__init__(Path("no file"))

    @property
    def url(self) -> str:
        host, port = self._door.getsockname()
        return f"tcp://{host}:{port}"

    def plug(self) -> None:
        self._master = None

    def unplug(self) -> None:
        with self._plug:
            for client in self._clients:
                client.close()
            self._clients.clear()

    def send(self, line: bytes) -> None:
        with self._plug:
            for client in list(self._clients):
                try:
                    client.send(line + b"\r\n", socket.MSG_DONTWAIT)
                except BlockingIOError:  # a frozen client has received the bytes before
                    continue
                except OSError:
                    self._clients.remove(client)
                    client.close()

    @property
    def readers(self) -> int:
        """How many read it now."""
        self.send(b"")
        return len(self._clients)

    def close(self) -> None:
        with suppress(OSError):
            self._door.shutdown(socket.SHUT_RDWR)
        self._door.close()
        self._taking.join()
        super().close()

    def _take(self) -> None:
        with suppress(OSError):
            while True:
                client, _ = self._door.accept()
                with self._plug:
                    kept, self.kept = self.kept, b""
                    client.sendall(kept)
                    self._clients.append(client)


def spins(first: int, before: str, numbers: Sequence[str]) -> bytes:
    """The bytes of a wheel for several spins in a row, starting with open bets."""
    said = b""
    for spin, number in enumerate(numbers, first):
        lines = [(2, before)] * 8 + [(3, before)] * 12 + [(4, before)] * 8 + [(5, number)] * 6
        for at, (state, shown) in enumerate(lines):
            if at == 28:
                said += f"{number}\r\n".encode()
            said += f"*X;{state};{spin:03d};{shown};0;150;{spin % 2}\r\n".encode()
        before = number
    return said


class Manager:
    """A service manager that receives notifications."""

    def __init__(self, place: Path) -> None:
        self.place, self._said = place, ""
        self._socket = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        self._socket.bind(str(place))
        self._reading = threading.Thread(target=self._read)

    def __enter__(self) -> Manager:
        self._reading.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._socket.shutdown(socket.SHUT_RDWR)
        self._reading.join()
        self._socket.close()

    def until(self, *words: str) -> str:
        """All notifications, once the last one but the watchdog's contains these words."""
        until(f"{words} is said", lambda: self._has(words), lambda: self._said)
        return self._said

    def _read(self) -> None:
        """Read all the time, as a service manager does: its queue is short."""
        while said := self._socket.recv(4096).decode():
            if said != KEEP_ALIVE:
                self._said += f"{said}\n\n"

    def _has(self, words: tuple[str, ...]) -> bool:
        last = self._said.rstrip("\n").rpartition("\n\n")[2]
        return all(word in last for word in words)


class Nats:
    """One server of NATS with JetStream, for the lease alone. ``settings``: more lines of its
    configuration.
    """

    def __init__(self, folder: Path, *settings: str, scheme: str = "nats") -> None:
        self.folder, self.port = folder, free_port()
        self.url = f"{scheme}://127.0.0.1:{self.port}"
        self.settings = settings
        self.process: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        self.folder.mkdir(exist_ok=True)
        file = self.folder / "nats.conf"
        listens, keeps = f'listen: "127.0.0.1:{self.port}"', f'store_dir: "{self.folder / "js"}"'
        file.write_text("\n".join((listens, f"jetstream {{ {keeps} }}", *self.settings)) + "\n")
        with (self.folder / "log").open("ab") as log:
            self.process = subprocess.Popen([NATS, "-c", file], stderr=log, stdout=log)
        until("NATS listens", self._listens)

    def kill(self) -> None:
        if self.process is not None:
            self.process.kill()
            self.process.wait()
            self.process = None

    def _listens(self) -> bool:
        try:
            socket.create_connection(("127.0.0.1", self.port), 1).close()
        except OSError:
            return False
        return True


def in_pair(servers: list[str], name: str, broker: str, tables: str, **settings: object) -> str:
    """The configuration of one of the two."""
    more = "".join(f"{key} = {value}\n" for key, value in settings.items())
    listed = ", ".join(f'"{server}"' for server in servers)
    return f"""[site]
id = "palma"
node = "pit-1"

[broker]
url = "{broker}"
keepalive = 2
{'protocol = "3.1.1"' if len(servers) > 1 else ""}

[standby]
servers = [{listed}]
instance = "{name}"
{more}
{UNSIGNED}{tables}"""


def daemons(folder: Path, stack: ExitStack, files: Iterator[str]) -> list[Daemon]:
    """The two, not yet started."""
    made = []
    for name, text in zip(NAMES, files, strict=True):
        (folder / name).mkdir()
        one = Daemon(folder / name, text)
        stack.callback(one.kill)
        made.append(one)
    return made
