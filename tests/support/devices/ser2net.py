"""A real ser2net on free ports of loopback, with one serial port behind it."""

from __future__ import annotations

import socket
import subprocess
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

from tests.support.brokers.mosquitto import free_port
from tests.support.waiting import TIMEOUT_SECONDS

SER2NET = "/usr/sbin/ser2net"


class Ser2net:
    """``tcp``, ``rfc2217``: the addresses of the port; ``absent``: of one whose adapter is gone;
    ``greeting``: as ``tcp``, with a banner.
    """

    def __init__(self, folder: Path, node: str) -> None:
        ports = {name: free_port() for name in ("tcp", "rfc2217", "absent", "greeting")}
        self.tcp, self.absent, self.greeting = (
            f"tcp://127.0.0.1:{ports[name]}" for name in ("tcp", "absent", "greeting")
        )
        self.rfc2217 = f"rfc2217://127.0.0.1:{ports['rfc2217']}?baud=9600"
        self.ports = ports
        served = {
            "tcp": ("tcp", node, ""),
            "rfc2217": ("telnet(rfc2217),tcp", node, ""),
            "absent": ("tcp", f"{folder}/no-such-port", ""),
            "greeting": ("tcp", node, 'options: {banner: "Welcome\\r\\n"}'),
        }
        lines = ["%YAML 1.1", "---"]
        for name, (accepter, device, options) in served.items():
            lines += [
                f"connection: &{name}",
                f"  accepter: {accepter},127.0.0.1,{ports[name]}",
                f"  connector: serialdev,{device},9600n81,local",
                f"  {options}",
            ]
        self._file = folder / "ser2net.yaml"
        self._file.write_text("\n".join(lines) + "\n")
        self._log = folder / "ser2net.log"

    @contextmanager
    def running(self) -> Iterator[None]:
        """It serves, until the end."""
        with (
            self._log.open("wb") as log,
            subprocess.Popen(
                [SER2NET, "-n", "-u", "-c", str(self._file)], stdout=log, stderr=log
            ) as program,
        ):
            try:
                give_up = time.monotonic() + TIMEOUT_SECONDS
                while not all(map(_answers, self.ports.values())):
                    assert program.poll() is None, self._log.read_text()
                    assert time.monotonic() < give_up, self._log.read_text()
                    time.sleep(0.02)
                yield
            finally:
                program.terminate()
                program.wait(TIMEOUT_SECONDS)

    @contextmanager
    def taken(self) -> Iterator[None]:
        """Another client has the port."""
        port = self.ports["tcp"]
        give_up = time.monotonic() + TIMEOUT_SECONDS
        while True:
            with closing(socket.create_connection(("127.0.0.1", port))) as client:
                # it may have closed the port behind the client before, or not yet
                if b"in use" in _said(port) and not _is_refused(client):
                    yield
                    return
            assert time.monotonic() < give_up


def _is_refused(client: socket.socket) -> bool:
    """Whether the server has sent it to this client, or hung up."""
    try:
        said = client.recv(1000, socket.MSG_DONTWAIT)
    except BlockingIOError:
        return False
    except OSError:
        return True
    return not said or b"in use" in said


def _answers(port: int) -> bool:
    try:
        with socket.create_connection(("127.0.0.1", port)):
            return True
    except OSError:
        return False


def _said(port: int) -> bytes:
    """The words of a server that hangs up at once; empty if it does not."""
    with socket.create_connection(("127.0.0.1", port)) as connection:
        connection.settimeout(0.5)
        try:
            return connection.recv(1000)
        except TimeoutError:
            return b""
