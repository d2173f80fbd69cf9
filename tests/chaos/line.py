"""The line between a web server and its broker, and a display at the server's other side."""

from __future__ import annotations

import http.client
import json
import socket
import threading
import time
from contextlib import closing, suppress
from typing import Any, Literal
from urllib.parse import urlsplit

import msgspec

from tests.support.waiting import TIMEOUT_SECONDS

How = Literal["open", "cut", "mute", "silent"]
"""``cut``: no connection can be made. ``mute``: what the server says arrives, nothing comes back.
``silent``: neither arrives, and the connections stay.
"""


class Line:
    """A port that is connected with another one of this machine, as long as it is ``open``."""

    def __init__(self, port: int) -> None:
        self._broker = port
        self._how: How = "open"
        self._ends: set[socket.socket] = set()
        self._lock = threading.Lock()
        self._door = socket.create_server(("127.0.0.1", 0))
        self.port = int(self._door.getsockname()[1])
        threading.Thread(target=self._accept, daemon=True).start()

    def set(self, how: Literal["cut", "mute", "silent"]) -> None:
        """Trouble begins."""
        self._how = how
        if how == "cut":
            self._hang_up()

    def mend(self) -> None:
        """Connections can be made again. Those that have lost something are over."""
        self.set("cut")
        self._how = "open"

    def close(self) -> None:
        self._how = "cut"
        with suppress(OSError):
            self._door.shutdown(socket.SHUT_RDWR)
        self._door.close()
        self._hang_up()

    def _cut(self) -> bool:
        return self._how == "cut"

    def _hang_up(self) -> None:
        with self._lock:
            ends, self._ends = self._ends, set()
        for end in ends:
            with suppress(OSError):
                end.shutdown(socket.SHUT_RDWR)

    def _accept(self) -> None:
        with suppress(OSError):
            while True:
                near = self._door.accept()[0]
                try:
                    if self._cut():
                        near.close()
                        continue
                    far = socket.create_connection(("127.0.0.1", self._broker))
                except OSError:
                    near.close()
                    continue
                with self._lock:
                    self._ends |= {near, far}
                if self._cut():  # since we looked
                    self._hang_up()
                for way in ((near, far, False), (far, near, True)):
                    threading.Thread(target=self._pass, args=way, daemon=True).start()

    def _pass(self, source: socket.socket, to: socket.socket, back: bool) -> None:
        with suppress(OSError):
            while data := source.recv(1 << 16):
                if self._how == "open" or (self._how == "mute" and not back):
                    to.sendall(data)
        for end in (source, to):
            with suppress(OSError):
                end.shutdown(socket.SHUT_RDWR)
        source.close()
        with self._lock:
            self._ends.discard(source)


class Shown(msgspec.Struct, frozen=True):
    """A picture as it came."""

    at: float
    """On the monotonic clock."""
    body: dict[str, Any]

    @property
    def current(self) -> bool:
        return bool(self.body["current"])

    @property
    def last(self) -> tuple[int | None, str | None]:
        """Round and number of the last result, as it is drawn large."""
        spin = (self.body["body"] or {}).get("last") or {}
        return spin.get("round"), spin.get("number")

    @property
    def spins(self) -> list[tuple[int | None, str | None]]:
        """Round and number of the latest, newest first."""
        found = (self.body["body"] or {}).get("spins") or []
        return [(each["round"], each.get("number")) for each in found]


class Display:
    """Reads the stream of a table as a screen does, and comes back when it ends."""

    def __init__(self, address: str, table: str) -> None:
        self._host, self._path = urlsplit(address).netloc, f"/stream?table={table}&lang=en"
        self.pictures: list[Shown] = []
        self._id = ""
        self._over = threading.Event()
        threading.Thread(target=self._watch, daemon=True).start()

    @property
    def latest(self) -> Shown | None:
        return self.pictures[-1] if self.pictures else None

    def since(self, moment: float) -> list[Shown]:
        """The pictures that came after a moment."""
        return [picture for picture in list(self.pictures) if picture.at >= moment]

    def close(self) -> None:
        self._over.set()

    def _watch(self) -> None:
        while not self._over.is_set():
            with suppress(OSError, http.client.HTTPException):
                self._read()
            time.sleep(0.05)

    def _read(self) -> None:
        asked = {"Last-Event-ID": self._id} if self._id else {}
        with closing(http.client.HTTPConnection(self._host, timeout=TIMEOUT_SECONDS)) as line:
            line.request("GET", self._path, headers=asked)
            with line.getresponse() as answer:
                event = b""
                while not self._over.is_set() and (said := answer.readline()):
                    if said.startswith(b"id: "):
                        self._id = said[4:].decode().strip()
                    elif said.startswith(b"event: "):
                        event = said[7:].strip()
                    elif said == b"\n":
                        event = b""
                    elif said.startswith(b"data: {") and event != b"motion":
                        self.pictures.append(Shown(time.monotonic(), json.loads(said[6:])))
