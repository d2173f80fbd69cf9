"""A device server that refuses, greets or hangs up: what it says is a reason and never a card, and
the pauses between attempts grow.
"""

from __future__ import annotations

import asyncio
import socket
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import closing, suppress
from pathlib import Path

import msgspec
import pytest

from common.readings import (
    AnyReading,
    CardDrawn,
    LinkGap,
    LinkGarbage,
    LinkLost,
    LinkOpen,
    LinkUp,
)
from devices import device
from devices.calls import LinkClosed
from devices.codec import STABLE_LINK_SECONDS, Codec
from devices.links import Link, LinkFailedError, open_link
from devices.links.link import MAX_SHOWN_GREETING_BYTES
from devices.watch import Watch
from tests.devices.test_device import running
from tests.devices.test_proof import CODECS
from tests.support.devices.parts import Lines, Pty, TcpPeer, read_some
from tests.support.devices.ser2net import Ser2net
from tests.support.waiting import TIMEOUT_SECONDS, until_async

TAKEN = b"Port already in use\r\n"
CARD = b"HT\r\n"
"""A card by the default table of a barcode scanner."""
NEGOTIATION = bytes.fromhex("fffb03fffb01fffd00fffb00fffd2c")
"""The first bytes of an RFC 2217 server."""

rfc2217 = pytest.mark.filterwarnings(
    "ignore:set(Daemon|Name):DeprecationWarning"
)  # how pyserial makes its thread


@pytest.fixture
def pty(tmp_path: Path) -> Iterator[Pty]:
    port = Pty(tmp_path)
    yield port
    port.unplug()


class Refusing:
    """A server that says something to each client and hangs up. ``rudely``: it does not wait until
    the client has done so too.
    """

    def __init__(self, words: bytes, *, rudely: bool = False) -> None:
        self._words = words
        self._rudely = rudely
        self._peer = TcpPeer()
        self.url = self._peer.url
        self.clients = 0
        self._thread = threading.Thread(target=self._serve, daemon=True)
        self._thread.start()

    def _serve(self) -> None:
        with suppress(OSError):
            while True:
                with self._peer.accept() as connection:
                    self.clients += 1
                    connection.sendall(self._words)
                    if self._rudely:
                        continue
                    connection.shutdown(socket.SHUT_WR)
                    with suppress(OSError):
                        while connection.recv(1000):
                            pass

    def close(self) -> None:
        self._peer.close()


@pytest.fixture
def refusing() -> Iterator[Callable[..., Refusing]]:
    made: list[Refusing] = []

    def make(words: bytes, *, rudely: bool = False) -> Refusing:
        made.append(Refusing(words, rudely=rudely))
        return made[-1]

    yield make
    for each in made:
        each.close()


@pytest.fixture
def hurry(monkeypatch: pytest.MonkeyPatch) -> None:
    """Attempts follow each other at once."""
    monkeypatch.setattr(device, "MIN_RECONNECT_PAUSE_SECONDS", 0.0)


def serial_codecs() -> list[str]:
    return sorted(name for name in CODECS if name not in ("sicbo-shaker", "barcode-hid"))


@pytest.mark.usefixtures("hurry")
@pytest.mark.parametrize("name", serial_codecs())
async def test_a_refusal_is_a_reason_and_nothing_else(
    name: str, refusing: Callable[..., Refusing]
) -> None:
    server, codec = refusing(TAKEN), CODECS[name]()
    async with running(server.url, codec=codec) as floor:
        await until_async(lambda: floor.device._failures >= 6)
        kinds = [type(reading) for reading in floor.readings]
        opened = [] if codec.steady else [LinkOpen]
        assert [each for each in kinds if each is not LinkGarbage] == [
            *opened,
            *([LinkGap] if LinkGap in kinds else []),
            LinkLost,
        ]
        [lost] = [reading for reading in floor.readings if isinstance(reading, LinkLost)]
        assert lost.reason.endswith(
            'the device server closed the connection; it sent "Port already in use"'
        )
        assert floor.device.health().error == lost.reason
        assert floor.logged() == ["device down"]
        assert floor.logs.entries[0]["reason"] == lost.reason


@pytest.mark.usefixtures("hurry")
async def test_a_device_that_is_cut_off_at_once_each_time_is_tried_less_and_less_often(
    refusing: Callable[..., Refusing],
) -> None:
    """As by a server that gives the port to the latest client."""
    async with running(refusing(b"ok 1\n").url) as floor:
        await until_async(lambda: floor.device._failures >= 6)
        assert floor.links()[:2] == ["up", "lost"]


@pytest.mark.usefixtures("hurry")
async def test_a_link_that_lasted_resets_the_pauses(monkeypatch: pytest.MonkeyPatch) -> None:
    """Also one without any bytes: a shoe from which no card is drawn."""
    peer = TcpPeer()
    async with running(peer.url, codec=Lines(steady=False)) as floor:
        for _ in range(4):
            (await asyncio.to_thread(peer.accept)).close()
        await until_async(lambda: floor.device._failures >= 4)
        monkeypatch.setattr(device, "STABLE_LINK_SECONDS", 0.0)
        (await asyncio.to_thread(peer.accept)).close()
        await until_async(lambda: floor.device._failures == 1)
    peer.close()


@pytest.mark.usefixtures("hurry")
@pytest.mark.parametrize("words", [CARD, TAKEN, NEGOTIATION + CARD], ids=["card", "text", "telnet"])
@pytest.mark.parametrize("scheme", ["tcp", "rfc2217"])
@rfc2217
async def test_where_cards_lie_face_down_the_words_are_not_shown(
    scheme: str, words: bytes, refusing: Callable[..., Refusing]
) -> None:
    server = refusing(words, rudely=scheme == "rfc2217")
    url = server.url.replace("tcp:", f"{scheme}:")
    codec = CODECS["barcode-serial"]()
    notes: list[object] = []
    async with running(url, codec=codec, confidential=True, on_call=notes.append) as floor:
        await until_async(lambda: floor.device._failures >= 2)
        readings = [reading for reading in floor.readings if not isinstance(reading, CardDrawn)]
        lost = next(each for each in readings if isinstance(each, LinkLost))
        assert lost.reason.endswith("it sent something, which is not shown: cards lie face down")
        shown = f"{floor.logs.entries} {floor.device.health()} {msgspec.json.encode(readings)!r}"
        lasts = [str(note) for note in notes if isinstance(note, LinkClosed)]
        for text in ("HT", "in use", str(len(words))):
            assert text not in lost.reason.split(": ", 1)[1]
        for text in ("HT", "already in use"):
            assert text not in shown
            assert text not in str(lasts)


def test_words_are_escaped_and_few(refusing: Callable[..., Refusing]) -> None:
    link = open_link(refusing(b"\x1b[2J\xff\n" * 1000).url)
    with pytest.raises(LinkFailedError) as failed:
        read_some(link, 1_000_000)
    link.close()
    said = str(failed.value)
    assert said.isascii()
    assert said.isprintable()
    assert "\\x1b[2J\\xff" in said
    assert len(failed.value.words) == MAX_SHOWN_GREETING_BYTES
    assert len(said) < len(failed.value.reason) + 5 * MAX_SHOWN_GREETING_BYTES


def test_what_came_on_a_link_that_lasted_is_no_reason(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("devices.links.tcp.STABLE_LINK_SECONDS", 0.0)
    peer = TcpPeer()
    link = open_link(peer.url)
    with peer.accept() as other:
        other.sendall(b"words")
        assert read_some(link, 5) == b"words"
    with pytest.raises(LinkFailedError, match=r"closed the connection$"):
        link.read(5)
    link.close()
    peer.close()


def write_on(link: Link) -> None:
    while True:
        link.write(b"*O\r\n")


def test_a_server_that_hangs_up_on_a_request_is_read_to_the_end() -> None:
    peer = TcpPeer()
    link = open_link(peer.url)
    with peer.accept() as other:
        other.sendall(TAKEN)
    with pytest.raises(LinkFailedError, match='it sent "Port already in use"'):
        write_on(link)
    link.close()
    peer.close()


@rfc2217
@pytest.mark.parametrize("words", [NEGOTIATION + TAKEN, TAKEN], ids=["telnet", "raw"])
def test_rfc2217_reports_the_servers_answer_and_writes_no_traceback(
    words: bytes,
    refusing: Callable[..., Refusing],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    died: list[object] = []
    monkeypatch.setattr(threading, "excepthook", died.append)
    peer = TcpPeer()

    def hang_up() -> None:
        for _ in range(5):
            with peer.accept() as connection:
                connection.sendall(words)

    thread = threading.Thread(target=hang_up)
    thread.start()
    for _ in range(5):  # the moment at which it hangs up differs
        with pytest.raises(LinkFailedError, match='it sent "Port already in use"'):
            open_link(peer.url.replace("tcp:", "rfc2217:"))
    thread.join()
    peer.close()
    assert not died


def read_all(url: str) -> None:
    with closing(open_link(url)) as link:
        read_some(link, 1000)


def once_free(url: str) -> Link:
    """A link to a greeting server that has closed the port behind its last client."""
    give_up = time.monotonic() + TIMEOUT_SECONDS
    while time.monotonic() < give_up:
        link = open_link(url)
        with suppress(LinkFailedError):
            if read_some(link, 9) == b"Welcome\r\n":
                return link
        link.close()
    raise AssertionError("never free")


@pytest.mark.usefixtures("programs")
@rfc2217
def test_a_real_server_whose_port_is_in_use_absent_or_greeting(pty: Pty, tmp_path: Path) -> None:
    server = Ser2net(tmp_path, str(pty.path))
    with server.running():
        with server.taken():
            for url in (server.tcp, server.rfc2217):
                with pytest.raises(LinkFailedError, match=r'it sent "Port.* already in use"'):
                    read_all(url)
        with pytest.raises(LinkFailedError, match='it sent "Device open failure: '):
            read_all(server.absent)
        link = once_free(server.greeting)
        pty.say(CARD)
        assert read_some(link, 5) == CARD
        link.close()


@pytest.mark.usefixtures("hurry", "programs")
async def test_a_real_server_s_banner_is_no_card(pty: Pty, tmp_path: Path) -> None:
    server = Ser2net(tmp_path, str(pty.path))
    with server.running():
        async with running(server.greeting, codec=CODECS["barcode-serial"]()) as floor:
            greeted = LinkGarbage(at=0.0, device="device", bytes=len(b"Welcome"))

            def up() -> bool:
                pty.say(CARD)  # again: the server drops what came before it opened the port
                return LinkUp in map(type, floor.readings)

            await until_async(up)
            garbage = [reading for reading in floor.readings if isinstance(reading, LinkGarbage)]
            assert greeted in [msgspec.structs.replace(each, at=0.0) for each in garbage]
            drawn = [reading.card for reading in floor.readings if isinstance(reading, CardDrawn)]
            assert set(drawn) == {"Th"}


def play(codec: Codec, steps: list[tuple[str, float]]) -> list[AnyReading]:
    watch = Watch(codec, "shoe", 5.0)
    readings: list[AnyReading] = []
    for step, at in steps:
        if step == "open":
            readings += watch.tick(at)
            readings += watch.opened(at, kept=True)
        elif step == "lost":
            readings += watch.lost(at, "refused")
        else:
            readings += watch.feed(b"ok\n" if step == "frame" else b"", at)
    return readings


def test_an_opening_that_follows_a_refusal_is_reported_once_it_has_lasted() -> None:
    lost, opened = (
        LinkLost(at=1.0, device="shoe", reason="refused"),
        LinkOpen(at=0.0, device="shoe"),
    )
    refused = [("open", 0.0), ("lost", 1.0), ("open", 2.0), ("lost", 3.0), ("open", 4.0)]
    codec = Lines(steady=False)
    assert play(codec, [*refused, ("tick", 4.0 + STABLE_LINK_SECONDS - 0.1)]) == [opened, lost]
    again = LinkOpen(at=4.0 + STABLE_LINK_SECONDS, device="shoe")
    assert play(Lines(steady=False), [*refused, ("tick", 100.0)]) == [opened, lost, again]
    spoken = play(Lines("shoe", steady=False), [*refused, ("frame", 4.5), ("tick", 100.0)])
    assert [type(each) for each in spoken[2:]] == [LinkUp, *[type(spoken[-1])]]
    assert play(Lines(steady=False), [*refused, ("lost", 20.0), ("open", 21.0)])[2:] == [
        again,
        LinkLost(at=20.0, device="shoe", reason="refused"),
        LinkOpen(at=21.0, device="shoe"),
    ]
