"""Real parts for the tests of links: ptys that can be pulled out, a TCP peer, an RFC 2217 server;
and the smallest codec.
"""

from __future__ import annotations

import os
import select
import socket
import threading
import time
import tty
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import serial.rfc2217

from common.device_health import Counters
from common.readings import AnyReading, DeviceReport
from devices.codec import FrameProof
from devices.links import Link
from tests.support.waiting import TIMEOUT_SECONDS


def read_some(link: Link, wanted: int) -> bytes:
    """Read that number of bytes."""
    data = b""
    give_up = time.monotonic() + TIMEOUT_SECONDS
    while len(data) < wanted and time.monotonic() < give_up:
        data += link.read(0.05)
    return data


class Lines:
    """A codec of lines: one that begins with ``ok`` is a frame; ``boom`` is a defect; the rest is
    damaged.
    """

    proof = FrameProof.FORM

    def __init__(
        self,
        device: str = "wheel",
        polls: tuple[tuple[float, bytes], ...] = (),
        steady: bool = True,
    ) -> None:
        self.steady = steady
        self.counters = Counters()
        self.reconnects = 0
        self._device = device
        self._polls = polls
        self._rest = b""

    @property
    def deadline(self) -> float | None:
        return None

    def feed(self, data: bytes, now: float) -> list[AnyReading]:
        self.counters.bytes += len(data)
        *lines, self._rest = (self._rest + data).split(b"\n")
        self._rest = self._rest[-200:]
        readings: list[AnyReading] = []
        for line in lines:
            if line.startswith(b"boom"):
                raise RuntimeError("a defect")
            if line.startswith(b"ok"):
                self.counters.frames += 1
                readings.append(
                    DeviceReport(at=now, device=self._device, report="line", value=line.decode())
                )
            else:
                self.counters.damaged += 1
        return readings

    def reconnected(self, now: float) -> None:  # noqa: ARG002
        self.reconnects += 1
        self._rest = b""

    def polls(self) -> tuple[tuple[float, bytes], ...]:
        return self._polls

    def encode(self, command: str, argument: str = "") -> bytes:
        if command != "say":
            raise ValueError(f"no command {command!r}; there is: say")
        return argument.encode() + b"\n"


class Pty:
    """A serial port under a stable name. ``unplug`` hangs it up; ``plug`` puts a new one under the
    same name.
    """

    def __init__(self, folder: Path) -> None:
        self.path = folder / "port"
        self.url = f"serial://{self.path}"
        self._master: int | None = None
        self.plug()

    def plug(self) -> None:
        self._master, slave = os.openpty()
        tty.setraw(slave)
        name = os.ttyname(slave)
        os.close(slave)
        self.path.symlink_to(name)

    def unplug(self) -> None:
        if self._master is not None:
            self.path.unlink()
            os.close(self._master)
            self._master = None

    def say(self, data: bytes) -> None:
        assert self._master is not None
        os.write(self._master, data)

    def hears(self, within: float = 0.2) -> bool:
        """Whether the other side writes, in that number of seconds."""
        return self._master is not None and bool(select.select([self._master], [], [], within)[0])

    def hear(self, wanted: int) -> bytes:
        """Read that number of bytes from the other side."""
        assert self._master is not None
        data = b""
        give_up = time.monotonic() + TIMEOUT_SECONDS
        while len(data) < wanted and time.monotonic() < give_up:
            if select.select([self._master], [], [], 0.05)[0]:
                with suppress(OSError):  # the port is not open yet
                    data += os.read(self._master, 4096)
        return data


@contextmanager
def nobody() -> Iterator[int]:
    """A port of this machine without a listener, reserved for this process."""
    with socket.socket() as holder:
        holder.bind(("127.0.0.1", 0))
        yield holder.getsockname()[1]


class TcpPeer:
    """A device server with one raw socket."""

    def __init__(self) -> None:
        self._listening = socket.create_server(("127.0.0.1", 0))
        self._listening.settimeout(TIMEOUT_SECONDS)
        self.port: int = self._listening.getsockname()[1]
        self.url = f"tcp://127.0.0.1:{self.port}"

    def accept(self) -> socket.socket:
        connection, _ = self._listening.accept()
        connection.settimeout(TIMEOUT_SECONDS)
        return connection

    def close(self) -> None:
        self._listening.close()


class Rfc2217Peer:
    """A device server that speaks RFC 2217, with a ``loop://`` port behind it: what is written
    comes back.
    """

    def __init__(self) -> None:
        self._tcp = TcpPeer()
        self.url = f"rfc2217://127.0.0.1:{self._tcp.port}"
        self.behind = serial.serial_for_url("loop://", timeout=0)
        self._connection: socket.socket | None = None
        self._thread = threading.Thread(target=self._serve)
        self._thread.start()

    def write(self, data: bytes) -> None:
        """Called by pyserial's port manager for what goes to the client."""
        assert self._connection is not None
        self._connection.sendall(data)

    def hang_up(self) -> None:
        if self._connection is not None:
            with suppress(OSError):
                self._connection.shutdown(socket.SHUT_RDWR)

    def close(self) -> None:
        self.hang_up()
        self._tcp.close()
        self._thread.join()
        self.behind.close()

    def _serve(self) -> None:
        with suppress(OSError), self._tcp.accept() as self._connection:
            make_manager: Any = serial.rfc2217.PortManager  # its stub asks for more than it needs
            manager = make_manager(self.behind, self)
            while True:
                if select.select([self._connection], [], [], 0.01)[0]:
                    data = self._connection.recv(1024)
                    if not data:
                        return
                    self.behind.write(b"".join(manager.filter(data)))
                waiting = self.behind.read(self.behind.in_waiting)
                if waiting:
                    self.write(b"".join(manager.escape(waiting)))
