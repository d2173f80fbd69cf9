"""Hostile senders at the listener for devices that post, while a wheel turns: every result comes,
and the device that posts is received again afterwards.
"""

from __future__ import annotations

import http.client
import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager, suppress
from itertools import cycle
from pathlib import Path

from tests.support.brokers.mosquitto import Mosquitto, Subscriber, free_port
from tests.support.daemon.play import command, spin, until_up
from tests.support.daemon.process import Daemon, Wheel, configuration, table
from tests.support.devices.described import FOLDER
from tests.support.waiting import until

TOKEN = "6f1ed002ab5595859014ebf0951522d9"
HEAD = b"POST /camera HTTP/1.1\r\nHost: x\r\n"
ATTACKS = (
    b"",
    HEAD,
    b"\x16\x03\x01" + b"\xff" * 500,
    HEAD + b"X: y\r\n" * 2000,
    HEAD + b"Authorization: Bearer wrong\r\nContent-Length: 2\r\n\r\n17",
    HEAD + f"Authorization: Bearer {TOKEN}\r\nContent-Length: 9000\r\n\r\n".encode() + b"1" * 9000,
    HEAD + f"Authorization: Bearer {TOKEN}\r\nContent-Length: 4\r\n\r\n".encode() + b'"x"\n' * 50,
)
"""What the connections of the flood send; those without an end remain open."""
SENDERS = 4
SPINS = 6


@contextmanager
def flooded(port: int) -> Iterator[list[int]]:
    """Connect as fast as possible until the end of the block; gives the number of connections."""
    ended = threading.Event()
    counts = [0] * SENDERS

    def flood(sender: int) -> None:
        opened: list[socket.socket] = []
        for attack in cycle(ATTACKS):
            if ended.is_set():
                break
            with suppress(OSError):
                peer = socket.create_connection(("127.0.0.1", port), 0.2)
                opened.append(peer)
                counts[sender] += 1
                peer.setblocking(False)
                peer.send(attack)
            while len(opened) > 50:
                opened.pop(0).close()
        for peer in opened:
            peer.close()

    threads = [threading.Thread(target=flood, args=(sender,)) for sender in range(SENDERS)]
    for thread in threads:
        thread.start()
    try:
        yield counts
    finally:
        ended.set()
        for thread in threads:
            thread.join()


def posted(port: int) -> bool:
    """Whether the device's own message is taken."""
    with closing(http.client.HTTPConnection("127.0.0.1", port, timeout=5)) as connection:
        try:
            body = '{"response":"result","arg":{"res":20,"err":0}}'
            connection.request("POST", "/camera", body, {"Authorization": f"Bearer {TOKEN}"})
            return connection.getresponse().status == 200
        except (OSError, http.client.HTTPException):
            return False


def test_a_flood_at_the_listener_does_not_reach_the_table(
    mosquitto: Mosquitto,
    wheel: Wheel,
    daemon: Callable[[str], Daemon],
    subscribe: Callable[..., Subscriber],
    tmp_path: Path,
) -> None:
    (tmp_path / "camera.toml").write_text((FOLDER / "idp-roulette-http.toml").read_text())
    secret = tmp_path / "camera.token"
    secret.write_text(f"{TOKEN}\n")
    port = free_port()
    witness = f"""
[[table.device]]
id = "camera"
driver = "profile"
link = "http://127.0.0.1:{port}/camera?secret_file={secret}"
options = {{ file = "camera.toml" }}
witness = true
"""
    subscriber = subscribe(mosquitto.port)
    made = daemon(configuration(mosquitto.port, table("r1", wheel), witness))
    made.start()
    until_up(subscriber, made)
    assert command(subscriber, "session.open")["ok"]
    with flooded(port) as counts:
        until("the flood has begun", lambda: sum(counts) > 100, made.log)
        for count in range(1, SPINS + 1):
            result = spin(wheel, subscriber, str(count), count)
            assert (result["round"], result["outcome"]["number"]) == (count, count)
    about = {event.get("device") for event in subscriber.events("alert.raised")}
    assert "wheel" not in about
    until("the camera is received again", lambda: posted(port), made.log)
