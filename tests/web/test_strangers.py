"""Strangers at a real server: their guesses lock out nobody at another address, and a connection
that never finishes its handshake ends.
"""

from __future__ import annotations

import socket
from contextlib import closing, suppress
from pathlib import Path

from subscribers.console.attempts import MAX_WRONG_PINS
from subscribers.web.connections import HANDSHAKE_TIMEOUT_SECONDS
from tests.support.daemon.certificates import Authority
from tests.support.web.pit import BADGES, PINS, Client, console
from tests.support.web.server import SITE
from tests.web.conftest import Serve

STRANGER = "127.0.0.66"
PIN = PINS["m-lasa"]


def test_strangers_lock_no_one_out(tmp_path: Path, serve: Serve) -> None:
    server = serve([("ruleta-1", False)], pit=console(tmp_path / "pit", SITE))
    at_the_pit = Client(server.address)
    assert at_the_pit.sign_in("m-lasa", PIN)[1] == {"ok": True}
    stranger = Client(server.address, source=STRANGER)
    for number in range(MAX_WRONG_PINS):
        typed = ("m-lasa", BADGES["m-lasa"], "M. Lasa")[number % 3]
        assert stranger.sign_in(typed, "000000")[1]["denied"] == "wrong"
    assert stranger.sign_in("m-lasa", PIN)[1]["denied"] == "wrong"
    # an unknown browser, at another address
    assert Client(server.address).sign_in("m-lasa", PIN)[1] == {"ok": True}
    # one that is known, at the address of the stranger
    stranger.browser = at_the_pit.browser
    assert stranger.sign_in("m-lasa", PIN)[1] == {"ok": True}
    assert f"address {STRANGER}" in server.log()
    assert PIN not in server.log()


def test_behind_a_proxy_the_address_is_that_of_the_browser(tmp_path: Path, serve: Serve) -> None:
    """As the proxy names it, and not as the stranger does; through no proxy it means nothing."""
    server = serve(
        [("ruleta-1", False)], pit=console(tmp_path / "pit", SITE), proxies=["127.0.0.1"]
    )
    token: dict[str, str | None] = {"X-Novamas-Token": "sign-in"}

    def answer(client: Client, pin: str, forwarded: str) -> bool:
        body = {"who": "m-lasa", "pin": pin}
        given = {**token, "X-Forwarded-For": forwarded}
        return bool(client.ask("POST", "/sign-in", body, given)[1]["ok"])

    proxy, stranger = Client(server.address), Client(server.address, source=STRANGER)
    for number in range(MAX_WRONG_PINS):
        assert not answer(proxy, "000000", f"198.51.100.{number}, 203.0.113.9")
        assert not answer(stranger, "000000", f"198.51.100.{number}")
    assert not answer(proxy, PIN, "203.0.113.9")
    assert not answer(stranger, PIN, "203.0.113.10")
    assert answer(proxy, PIN, "203.0.113.10")


def test_a_handshake_has_a_deadline(tmp_path: Path, serve: Serve) -> None:
    cert, key = Authority(tmp_path, "authority").sign("server")
    server = serve([("ruleta-1", False)], cert_file=str(cert), key_file=str(key))
    for begun in (b"", b"\x16\x03\x01\x02\x00"):
        with closing(socket.create_connection(("127.0.0.1", server.port))) as made:
            made.settimeout(4 * HANDSHAKE_TIMEOUT_SECONDS)  # less than what it has by default
            made.sendall(begun)
            with suppress(ConnectionResetError):
                assert made.recv(1) == b""
    with closing(socket.create_connection(("127.0.0.1", server.port))) as made:
        made.sendall(b"GET / HTTP/1.1\r\n\r\n")  # no TLS at all
        with suppress(ConnectionResetError):
            while made.recv(1 << 12):
                pass
